"""Whether a linear chooser tells homographs better than the order of the rules does.

    python lab/benchmarks/homographs.py WIKIPEDIAHOMOGRAPHDATA [-o RESULT.md]

The data is Google's (Gorman et al. 2018, Apache 2.0): 162 words, train and eval. All see three
words to the left and one to the right, as the phonemizer does where one word is awaited. Each
output of the phonemizer counts as the reading that it mostly stands for in train. The chooser is a
multinomial logistic regression for each word on its neighbours, their endings and tags and the
phonemizer's output, trained on train alone; of what occurs once it learns nothing. Where the
phonemizer has one output for all readings no choice can be said: the second table leaves those out.
"""

from __future__ import annotations

import argparse
import csv
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from output import tell
from sayahead.text.saying.english.phonemizer import EnglishPhonemizer

ROUNDS = 40
RATE = 0.5
DECAY = 0.01
"""Rounds of AdaGrad, its rate, and the weight of the squares."""
MARGINS = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0)
"""How much more must speak for a reading than for the phonemizer's, so that it is chosen."""
LEFT = 3
"""Words to the left that are looked at."""
_WORDS = re.compile(r"[\w'’.-]*\w|[^\w\s]")


_STRESS = str.maketrans("", "", "ˈˌ")


def features(words: Sequence[str], tags: Sequence[str], at: int, said: str) -> Iterator[str]:
    """What speaks for a reading of the word at a place; ``said`` is what it is without them.

    A word that is not in sight yet is none: what it would say is left out.
    """
    yield "bias"
    yield f"said={said.translate(_STRESS)}"
    yield f"t={tags[at]}"
    yield f"w={words[at]}"
    right = words[at + 1].lower() if at + 1 < len(words) else ""
    if right:
        yield f"r={right}"
        yield f"rs={right[-3:]}"
        yield f"rt={tags[at + 1]}"
    for back in range(1, min(LEFT, at) + 1):
        word = words[at - back].lower()
        yield f"l{back}={word}"
        yield f"ls{back}={word[-3:]}"
        yield f"lt{back}={tags[at - back]}"
        yield f"l={word}"
    if at and right:
        yield f"lr={words[at - 1].lower()} {right}"
        yield f"ltrt={tags[at - 1]} {tags[at + 1]}"


@dataclass(frozen=True, slots=True)
class Case:
    """A homograph in its sentence."""

    word: str
    reading: str
    words: tuple[str, ...]
    at: int


def cases(folder: Path) -> list[Case]:
    """The sentences of a split."""
    found: list[Case] = []
    for path in sorted(folder.glob("*.tsv")):
        with path.open(encoding="utf-8", newline="") as opened:
            for row in csv.DictReader(opened, delimiter="\t"):
                raw = row["sentence"].encode()
                start = int(row["start"])
                end = int(row["end"])
                left = _WORDS.findall(raw[:start].decode("utf-8", "ignore"))[-LEFT:]
                right = _WORDS.findall(raw[end:].decode("utf-8", "ignore"))[:1] or ["."]
                words = (*left, raw[start:end].decode(), *right)
                found.append(Case(row["homograph"], row["wordid"], words, len(left)))
    return found


@dataclass(frozen=True, slots=True)
class Seen:
    """A case, what is said of it, and what speaks for its readings."""

    case: Case
    said: str
    names: tuple[str, ...]


def seen(found: Sequence[Case]) -> list[Seen]:
    """Cases as the phonemizer sees them."""
    phonemizer = EnglishPhonemizer({}, stand_in="people")
    rows: list[Seen] = []
    for case in found:
        tokens = phonemizer.tokens(" ".join(case.words))
        words = [token.text for token in tokens]
        places = [at for at, word in enumerate(words) if word.lower() == case.word.lower()]
        if not places:
            continue
        at = min(places, key=lambda place: abs(place - case.at))
        said = tokens[at].phonemes or ""
        names = features(words, [token.tag for token in tokens], at, said)
        rows.append(Seen(case, said, tuple(names)))
    return rows


def learn(rows: Sequence[Seen], readings: Sequence[str]) -> dict[str, np.ndarray]:
    """The weights of each feature that occurs twice, one for each reading."""
    counts = Counter(name for row in rows for name in row.names)
    places = {name: at for at, name in enumerate(n for n, count in counts.items() if count > 1)}
    weights = np.zeros((len(places), len(readings)))
    squares = np.full_like(weights, 1e-6)
    order = np.random.default_rng(0)
    known = [[places[name] for name in row.names if name in places] for row in rows]
    for _ in range(ROUNDS if len(readings) > 1 else 0):
        for at in order.permutation(len(rows)):
            scores = weights[known[at]].sum(0)
            slope = np.exp(scores - scores.max())
            slope /= slope.sum()
            slope[readings.index(rows[at].case.reading)] -= 1
            step = slope[None, :] + DECAY * weights[known[at]]
            squares[known[at]] += step**2
            weights[known[at]] -= RATE * step / np.sqrt(squares[known[at]])
    return {name: weights[at] for name, at in places.items()}


def scores(row: Seen, weights: dict[str, np.ndarray], readings: Sequence[str]) -> dict[str, float]:
    """What speaks for each reading."""
    known = [weights[name] for name in row.names if name in weights]
    sums = np.sum(known, axis=0) if known else np.zeros(len(readings))
    return dict(zip(readings, map(float, sums), strict=True))


def standing(rows: Sequence[Seen]) -> dict[str, str]:
    """The reading that each output mostly stands for."""
    stands: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        stands[row.said][row.case.reading] += 1
    return {said: counts.most_common(1)[0][0] for said, counts in stands.items()}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("-o", "--out", type=Path)
    arguments = parser.parse_args()
    train = seen(cases(arguments.folder / "data/train"))
    test = seen(cases(arguments.folder / "data/eval"))
    right: Counter[str] = Counter()
    sayable: Counter[str] = Counter()
    for word in sorted({row.case.word for row in test}):
        rows = [row for row in train if row.case.word == word]
        readings = sorted({row.case.reading for row in rows})
        most = Counter(row.case.reading for row in rows).most_common(1)[0][0]
        stands = standing(rows)
        weights = learn(rows, readings)
        for row in (row for row in test if row.case.word == word):
            ordered = stands.get(row.said, most)
            sums = scores(row, weights, readings)
            best = max(sums, key=lambda reading: sums[reading])
            right["the most frequent reading"] += most == row.case.reading
            right["the phonemizer: tagger, rules, their order"] += ordered == row.case.reading
            right["the chooser"] += best == row.case.reading
            if row.said not in stands or set(stands.values()) != set(readings):
                continue
            sayable["sentences"] += 1
            sayable["the phonemizer: tagger, rules, their order"] += ordered == row.case.reading
            for margin in MARGINS:
                taken = best if sums[best] - sums[ordered] >= margin else ordered
                sayable[f"the chooser, by a margin of {margin}"] += taken == row.case.reading
    tell(table(right, len(test), sayable), arguments.out)


def table(right: Counter[str], count: int, sayable: Counter[str]) -> list[str]:
    """The results as Markdown."""
    some = sayable.pop("sentences")
    return [
        "# Homographs",
        "",
        "Command: `python lab/benchmarks/homographs.py WIKIPEDIAHOMOGRAPHDATA`",
        "",
        f"| by | right of {count:,} |",
        "|---|--:|",
        *(f"| {name} | {one / count:.1%} |" for name, one in right.items()),
        "",
        f"| where all readings can be said | right of {some:,} |",
        "|---|--:|",
        *(f"| {name} | {one / some:.1%} |" for name, one in sayable.items()),
    ]


if __name__ == "__main__":
    main()
