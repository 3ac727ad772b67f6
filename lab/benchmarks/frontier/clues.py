"""What a word more is worth, by what stands at the word, and how much of it clues can tell.

    python lab/benchmarks/frontier/clues.py RUN [--results FILE]

RUN holds the tables of ``sayahead train tables``. The gain of a word is its distance to the
full sentence without lookahead less that with one word, 1 being the mean loss without lookahead. A
ridge regression on the train split tells how much of its variance on the val split is known by the
clues of the learned policy, by more axes of word vectors, and by the voice's distilled context
(Saeki-b)."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sayahead import Voice, load_voice
from sayahead.policies.learned import CLASSES, Clues
from sayahead.types import Floats

from sayahead_lab.training.learned.episodes import distances, scales
from sayahead_lab.training.learned.tables import ClueTable, load_tables
from sayahead_lab.training.learned.task import frequent, own_vectors, reader

Values = NDArray[np.float64]
NAMES = (
    "determiner, possessive|preposition,"
    " to|conjunction|pronoun|modal|verb|noun|name|adjective|adverb|number|other"
).split("|")
RIDGE = 30.0


def clued(tables: Sequence[ClueTable], voice: Voice, clues: Clues) -> Values:
    """(M, F) clues of all words but each sentence's last, where nothing after them is there."""
    rows = list[Floats]()
    for table in tables:
        texts = [word.text for word in table.words]
        places = range(len(texts) - 1)
        rows += [
            clues(texts[:at], table.words[at : at + 1], voice.phonemizer.phonemes) for at in places
        ]
    return np.array(rows, np.float64)


def distilled(tables: Sequence[ClueTable], voice: Voice) -> Values:
    """(M, D + 1) the voice's context at the same words, and its length."""
    rows = []
    for table in tables:
        texts = [word.text for word in table.words]
        for at in range(len(texts) - 1):
            found = voice.context("distilled").predict(texts[: at + 1]).embedding
            row = (
                np.zeros(voice.config.model["context"])
                if found is None
                else found.reshape(-1).astype(np.float64)
            )
            rows.append(np.append(row, np.linalg.norm(row)))
    return np.array(rows)


def gains(tables: Sequence[ClueTable], unit: Values) -> Values:
    """(M,) what one word of lookahead is worth at the same words."""
    lost = [distances(table.apart, unit)[:-1] for table in tables]
    return np.concatenate([one[:, 0] - one[:, 1] for one in lost])


def known(inputs: Values, gain: Values, held_inputs: Values, held: Values) -> float:
    """Share of the held-out variance that a ridge regression explains."""
    mean = inputs.mean(axis=0)
    spread = inputs.std(axis=0) + 1e-3
    ours = (inputs - mean) / spread
    theirs = (held_inputs - mean) / spread
    weight = np.linalg.solve(
        ours.T @ ours + RIDGE * np.eye(ours.shape[1]), ours.T @ (gain - gain.mean())
    )
    told = theirs @ weight + gain.mean()
    return float(1 - ((held - told) ** 2).mean() / held.var())


def by_kind(inputs: Values, gain: Values) -> list[str]:
    """The mean gain by the word's part of speech, and by what else is known of it."""
    kinds = len(CLASSES) + 1
    own = inputs[:, kinds + 6 : 2 * (kinds + 6)] > 0
    columns = {name: own[:, number] for number, name in enumerate(NAMES)}
    columns |= {
        "a comma or the like behind it": own[:, kinds],
        "read in several ways": own[:, kinds + 2],
    }
    lines = ["| word | of all words, % | what one word of lookahead is worth |", "|---|---|---|"]
    for name, there in columns.items():
        if there.sum() > 30:
            error = 1.96 * gain[there].std() / there.sum() ** 0.5
            lines.append(
                f"| {name} | {100 * there.mean():.1f} | {gain[there].mean():.2f} ± {error:.2f} |"
            )
    return [*lines, f"| all | 100 | {gain.mean():.2f} |"]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("run", type=Path)
    parser.add_argument("--voice", default="heart")
    parser.add_argument("--results", type=Path, help="write the tables here (Markdown)")
    arguments = parser.parse_args()
    voice = load_voice(arguments.voice)
    splits = [load_tables(arguments.run / f"{split}.npz") for split in ("train", "val")]
    unit = scales(splits[0])
    gain, held = (gains(tables, unit) for tables in splits)
    context, held_context = (distilled(tables, voice) for tables in splits)
    lines = list[str]()
    rows = [
        "| known of the word and those before it | of the variance of the gain, % |",
        "|---|---|",
    ]
    for axes in (0, 8, 32):
        words, vectors = frequent(own_vectors(arguments.voice), axes)
        clues = Clues(reader(voice), {word: row for row, word in enumerate(words)}, vectors)
        inputs, held_inputs = (clued(tables, voice, clues) for tables in splits)
        if not axes:
            lines = by_kind(inputs, gain)
            both = np.column_stack([inputs, context]), np.column_stack([held_inputs, held_context])
            rows.append(
                "| clues and the distilled context |"
                f" {100 * known(both[0], gain, both[1], held):.1f} |"
            )
            rows.append(
                f"| the distilled context | {100 * known(context, gain, held_context, held):.1f} |"
            )
        name = f"clues and {axes} axes of word vectors" if axes else "clues"
        rows.append(f"| {name} | {100 * known(inputs, gain, held_inputs, held):.1f} |")
    text = "\n".join([*lines, "", *rows]) + "\n"
    print(text)
    if arguments.results:
        arguments.results.parent.mkdir(parents=True, exist_ok=True)
        arguments.results.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
