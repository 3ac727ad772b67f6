"""The log-linear model that chooses among the readings of English homographs.

    python -m sayahead_lab.training.homographs DATA -o homograph_weights.txt
    python -m sayahead_lab.training.homographs DATA --test homograph_weights.txt

DATA is a checkout of google-research-datasets/WikipediaHomographData (Apache-2.0; Gorman et al.
2018, "Improving homograph disambiguation with machine learning"). ``lab/recipes/homographs`` has
the phonemes of its readings, and sentences of our own as people speak, which an encyclopedia lacks.

A reading's score is the sum of the weights of the features of
``sayahead.text.saying.english.homographs``. Some weights belong to its kind (``vrb``), whatever the
word, others to it alone (``abuse.vrb``): what hundreds of verbs show need not be learned for each.
The weights are those of the largest likelihood, with an L1 penalty, which leaves some 3,700. Every
sentence is seen twice: with a word to the right, and without.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from sayahead.text import front_end
from sayahead.text.saying.english.homographs import LEFT_WORDS, Chooser, chooser, features
from sayahead.text.saying.english.phonemizer import EnglishPhonemizer
from sayahead.types import Word

RECIPE = Path(__file__).parents[3] / "recipes/homographs"
L1 = 1.0
L2 = 0.02
OWN_COPIES = 5
"""How often each sentence of our own counts: there are few."""
LEAST = 0.1
"""Weights below this are left out."""
SMOOTH = 1e-6
"""Rounds off the corner of the L1 penalty, for a method that needs gradients."""
STAND_IN = "people"
"""What the voice heart reads after the words while a sentence goes on."""


@dataclass(frozen=True, slots=True)
class Example:
    """A homograph in its surroundings."""

    word: str
    """In small letters."""
    reading: str
    """The name of the right one (``vrb``)."""
    features: Sequence[str]


def name_of(reading: str) -> str:
    """The kind of a reading of the data: ``abuse_vrb`` is a ``vrb``."""
    return reading.partition("_")[2] or "plain"


def read_readings(path: Path) -> dict[str, dict[str, str]]:
    """Phonemes by word and kind."""
    found: dict[str, dict[str, str]] = {}
    with path.open(encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            found.setdefault(row["word"], {})[name_of(row["reading"])] = row["phonemes"]
    return found


def read_data(folder: Path, part: str) -> Iterator[tuple[str, str, int]]:
    """Readings, sentences, and where in them the homograph begins, of ``train`` or ``eval``."""
    for path in sorted((folder / "data" / part).glob("*.tsv")):
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file, delimiter="\t"):
                before = row["sentence"].encode()[: int(row["start"])]
                yield row["wordid"], row["sentence"], len(before.decode())


def read_own(path: Path) -> Iterator[tuple[str, str, int]]:
    """The same of sentences in which stars mark the homograph."""
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            yield row["reading"], row["sentence"].replace("*", ""), row["sentence"].index("*")


class Surroundings:
    """What a session sees of a homograph, at one word of lookahead or none."""

    def __init__(self) -> None:
        self._front = front_end("en")
        phonemizer = self._front.phonemizer({}, stand_in=STAND_IN)
        assert isinstance(phonemizer, EnglishPhonemizer)
        self._phonemizer = phonemizer

    def examples(
        self, rows: Iterator[tuple[str, str, int]], words: Mapping[str, object], lookahead: int
    ) -> Iterator[Example]:
        """The homographs that are among ``words``."""
        for reading, sentence, start in rows:
            normalizer = self._front.normalizer()
            spoken = [*normalizer.push(sentence), *normalizer.flush()]
            homograph = reading.partition("_")[0]
            at = next((i for i, word in enumerate(spoken) if word.start <= start < word.end), None)
            if homograph not in words or at is None:
                continue
            seen = self._features(spoken, at, homograph, lookahead)
            if seen is not None:
                yield Example(homograph, name_of(reading), seen)

    def _features(
        self, spoken: Sequence[Word], at: int, homograph: str, lookahead: int
    ) -> list[str] | None:
        """None where the homograph is no token of its own."""
        first = at
        while first and not spoken[first - 1].ends and at - first < LEFT_WORDS:
            first -= 1
        end = at + 1 if spoken[at].ends else at + 1 + lookahead
        window = spoken[first:end]
        goes_on = not window[-1].ends
        text = " ".join(word.text for word in window) + (f" {STAND_IN}" if goes_on else "")
        tokens = self._phonemizer.tagged(text)
        known = len(tokens) - goes_on
        left = len(" ".join(word.text for word in spoken[first:at]).split())
        places = [i for i in range(known) if tokens[i].text.lower() == homograph]
        if not places:
            return None
        return features(tokens, min(places, key=lambda i: abs(i - left)), known=known)


class Model:
    """The weights while they are learned: every feature has one for a kind and one for a word's
    reading."""

    def __init__(
        self, examples: Sequence[Example], readings: Mapping[str, Mapping[str, str]]
    ) -> None:
        self._keys: dict[tuple[str, str], int] = {}
        flat: list[int] = []
        starts: list[int] = []
        owners: list[int] = []
        right: list[int] = []
        for number, example in enumerate(examples):
            for name in readings[example.word]:
                if name == example.reading:
                    right.append(len(starts))
                starts.append(len(flat))
                owners.append(number)
                keys = itertools.product(example.features, (name, f"{example.word}.{name}"))
                flat += [self._keys.setdefault(key, len(self._keys)) for key in keys]
        self._flat, self._starts = torch.tensor(flat), torch.tensor(starts)
        self._owners, self._right = torch.tensor(owners), torch.tensor(right)
        self._weights = torch.zeros(len(self._keys), requires_grad=True)

    def _loss(self) -> torch.Tensor:
        """Negative log-likelihood and penalties."""
        weights = self._weights
        scores = torch.nn.functional.embedding_bag(
            self._flat, weights[:, None], self._starts, mode="sum"
        )[:, 0]
        count = len(self._right)
        top = torch.full((count,), -1e9).scatter_reduce(0, self._owners, scores, "amax").detach()
        total = torch.zeros(count).scatter_add(
            0, self._owners, torch.exp(scores - top[self._owners])
        )
        likelihood = (scores[self._right] - torch.log(total) - top).sum()
        return L2 * (weights**2).sum() + L1 * torch.sqrt(weights**2 + SMOOTH).sum() - likelihood

    def fit(self, steps: int) -> None:
        """Descend for so many steps of L-BFGS."""
        optimizer = torch.optim.LBFGS(
            [self._weights], max_iter=steps, history_size=10, line_search_fn="strong_wolfe"
        )

        def closure() -> torch.Tensor:
            optimizer.zero_grad()
            loss = self._loss()
            loss.backward()  # type: ignore[no-untyped-call]
            return loss

        optimizer.step(closure)  # type: ignore[no-untyped-call]

    @property
    def weights(self) -> dict[tuple[str, str], float]:
        """Those that count, in steps of a twentieth."""
        found = zip(self._keys, self._weights.detach().tolist(), strict=True)
        return {key: round(weight * 20) / 20 for key, weight in found if abs(weight) >= LEAST}


def right_share(examples: Sequence[Example], model: Chooser) -> float:
    """How many of the examples are read right, 0 to 1."""
    right = sum(
        model.reading(each.word, each.features) == model.readings[each.word][each.reading]
        for each in examples
    )
    return right / len(examples)


def written(model: Chooser) -> str:
    """The model as the product's file."""
    words = [
        " ".join([word, *(part for name in sorted(named) for part in (name, named[name]))])
        for word, named in sorted(model.readings.items())
    ]
    rows = [f"{what} {name} {weight:g}" for (what, name), weight in sorted(model.weights.items())]
    return "\n".join([*words, "", *rows]) + "\n"


def trained(folder: Path, own: Path, *, held_out: int, steps: int) -> tuple[Chooser, list[float]]:
    """The model, and its share of right readings among every ``held_out``-th sentence of the
    training data, which it then has not learned from (0: it learns from all), with a word of
    lookahead and without."""
    readings = read_readings(RECIPE / "readings.tsv")
    seen = Surroundings()
    learned: list[Example] = []
    kept: list[list[Example]] = []
    for lookahead in (1, 0):
        examples = list(seen.examples(read_data(folder, "train"), readings, lookahead))
        random.Random(1).shuffle(examples)
        kept.append(examples[::held_out] if held_out else [])
        learned += [each for i, each in enumerate(examples) if not (held_out and i % held_out == 0)]
        learned += OWN_COPIES * list(seen.examples(read_own(own), readings, lookahead))
    model = Model(learned, readings)
    model.fit(steps)
    result = Chooser(readings, model.weights)
    return result, [right_share(part, result) for part in kept if part]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--own", type=Path, default=RECIPE / "sentences.tsv", metavar="FILE.tsv")
    parser.add_argument("--steps", type=int, default=80)
    parser.add_argument(
        "--held-out", type=int, default=0, metavar="N", help="keep every N-th sentence to choose by"
    )
    parser.add_argument("-o", "--out", type=Path)
    parser.add_argument("--test", action="store_true", help="score the product's model on eval")
    options = parser.parse_args(arguments)
    if options.test:
        model = chooser()
        for lookahead in (1, 0):
            rows = read_data(options.data, "eval")
            examples = list(Surroundings().examples(rows, model.readings, lookahead))
            print(f"k={lookahead}: {right_share(examples, model):.4f} of {len(examples)}")
        return
    model, shares = trained(
        options.data, options.own, held_out=options.held_out, steps=options.steps
    )
    print(f"{len(model.weights)} weights; held out: {' '.join(f'{one:.4f}' for one in shares)}")
    if options.out:
        options.out.write_text(written(model), encoding="utf-8")


if __name__ == "__main__":
    main()
