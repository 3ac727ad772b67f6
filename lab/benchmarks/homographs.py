"""Whether a linear chooser tells homographs better than the order of the rules does.

    python lab/benchmarks/homographs.py WIKIPEDIAHOMOGRAPHDATA [-o RESULT.md]

The data is Google's (Gorman et al. 2018, Apache 2.0): 162 words, train and eval. Both see three
words to the left and one to the right, as the phonemizer does where one word is awaited. Each
output of the phonemizer counts as the reading that it mostly stands for in train. The chooser is a
multinomial logistic regression for each word, on neighbouring words, their endings and tags, with
and without the phonemizer's own output among its features; it is trained on train alone.
"""

from __future__ import annotations

import argparse
import csv
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from output import tell
from sayahead.text.saying.english.phonemizer import EnglishPhonemizer

LEFT = 3
"""Words to the left that are seen."""
ROUNDS = 60
RATE = 0.5
DECAY = 0.01
"""Rounds of AdaGrad, its rate, and the weight of the squares."""
_WORDS = re.compile(r"[\w'’.-]*\w|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Case:
    """A homograph in its sentence."""

    word: str
    reading: str
    left: tuple[str, ...]
    right: str
    written: str


def cases(folder: Path) -> list[Case]:
    """The sentences of a split."""
    found: list[Case] = []
    for path in sorted(folder.glob("*.tsv")):
        with path.open(encoding="utf-8", newline="") as opened:
            for row in csv.DictReader(opened, delimiter="\t"):
                raw = row["sentence"].encode()
                start, end = int(row["start"]), int(row["end"])
                left = _WORDS.findall(raw[:start].decode("utf-8", "ignore"))
                right = _WORDS.findall(raw[end:].decode("utf-8", "ignore"))
                written = raw[start:end].decode()
                seen = tuple(left[-LEFT:])
                found.append(
                    Case(row["homograph"], row["wordid"], seen, (right or ["."])[0], written)
                )
    return found


def outputs(found: Sequence[Case]) -> list[str]:
    """The phonemes that each homograph gets."""
    phonemizer = EnglishPhonemizer({}, stand_in="people")
    said: list[str] = []
    for case in found:
        texts = [*case.left, case.written, case.right]
        said.append(re.sub("[ˈˌ]", "", phonemizer._read(texts)[len(case.left)]))
    return said


def tags(found: Sequence[Case]) -> list[list[str]]:
    """Tags of the words to the left and of the one to the right."""
    tagger = EnglishPhonemizer({}, stand_in="people")
    return [tagger.tags([*case.left, case.written, case.right]) for case in found]


def features(case: Case, tagged: Sequence[str], said: str) -> list[str]:
    """What speaks for a reading; ``said`` is empty where the phonemizer is not asked."""
    left = [word.lower() for word in case.left]
    right = case.right.lower()
    names = ["bias", f"r={right}", f"rs={right[-3:]}", f"w={case.written}", f"rt={tagged[-1]}"]
    for back, word in enumerate(reversed(left), 1):
        names += [f"l{back}={word}", f"ls{back}={word[-3:]}", f"lt{back}={tagged[-2 - back]}"]
    if left:
        names += [f"lr={left[-1]} {right}", f"ltrt={tagged[-3]} {tagged[-1]}"]
    names += [f"l={word}" for word in left]
    return [*names, f"t={tagged[-2]}", *([f"said={said}"] * bool(said))]


class Chooser:
    """Multinomial logistic regression of one word."""

    def __init__(self, rows: Sequence[tuple[Sequence[str], str]]) -> None:
        self.readings = sorted({reading for _, reading in rows})
        names = sorted({name for row, _ in rows for name in row})
        self._places = {name: place for place, name in enumerate(names)}
        self.weights = np.zeros((len(names), len(self.readings)))
        seen = [self._seen(row) for row, _ in rows]
        wanted = [self.readings.index(reading) for _, reading in rows]
        squares = np.full_like(self.weights, 1e-6)
        order = np.random.default_rng(0)
        for _ in range(ROUNDS if len(self.readings) > 1 else 0):
            for at in order.permutation(len(seen)):
                places = seen[at]
                slope = self._chances(places)
                slope[wanted[at]] -= 1
                step = slope[None, :] + DECAY * self.weights[places]
                squares[places] += step**2
                self.weights[places] -= RATE * step / np.sqrt(squares[places])

    def _seen(self, names: Iterable[str]) -> list[int]:
        return [self._places[name] for name in dict.fromkeys(names) if name in self._places]

    def _chances(self, places: list[int]) -> np.ndarray:
        scores = self.weights[places].sum(0)
        chances = np.exp(scores - scores.max())
        return np.asarray(chances / chances.sum())

    def choose(self, names: Iterable[str]) -> str:
        """The likeliest reading."""
        return self.readings[int(self._chances(self._seen(names)).argmax())]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("-o", "--out", type=Path)
    arguments = parser.parse_args()
    splits = [cases(arguments.folder / "data" / name) for name in ("train", "eval")]
    (train, test), said, tagged = splits, [outputs(s) for s in splits], [tags(s) for s in splits]
    words = sorted({case.word for case in test})
    most = {
        word: Counter(c.reading for c in train if c.word == word).most_common(1)[0][0]
        for word in words
    }
    stands: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for case, output in zip(train, said[0], strict=True):
        stands[case.word, output][case.reading] += 1
    right: Counter[str] = Counter()
    size = 0
    for word in words:
        rows = [at for at, case in enumerate(train) if case.word == word]
        asked = [at for at, case in enumerate(test) if case.word == word]
        for name, heard in (("chooser", False), ("chooser with the phonemizer's output", True)):
            seen = [
                (features(train[at], tagged[0][at], said[0][at] * heard), train[at].reading)
                for at in rows
            ]
            chooser = Chooser(seen)
            size += chooser.weights.size * heard
            right[name] += sum(
                chooser.choose(features(test[at], tagged[1][at], said[1][at] * heard))
                == test[at].reading
                for at in asked
            )
        for at in asked:
            known = stands.get((word, said[1][at]))
            reading = known.most_common(1)[0][0] if known else most[word]
            right["the phonemizer: tags, rules, their order"] += reading == test[at].reading
            right["the most frequent reading"] += most[word] == test[at].reading
    lines = [
        "# Homographs",
        "",
        "Command: `python lab/benchmarks/homographs.py WIKIPEDIAHOMOGRAPHDATA`",
        "",
        f"{len(train):,} sentences to learn from, {len(test):,} to test; {size:,} weights.",
        "",
        "| by | right |",
        "|---|--:|",
        *(
            f"| {name} | {count / len(test):.1%} |"
            for name, count in sorted(right.items(), key=lambda pair: pair[1])
        ),
    ]
    tell(lines, arguments.out)


if __name__ == "__main__":
    main()
