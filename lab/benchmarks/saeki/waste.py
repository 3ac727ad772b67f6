"""What guess, speak, verify costs: wrong guesses, and frames rendered but never heard.

    python lab/benchmarks/saeki/waste.py lab/benchmarks/saeki/verify.toml --texts test.csv \
        --lm lab/benchmarks/results/saeki/futures/verify.jsonl \
        -o lab/benchmarks/results/saeki/verify

A guess is right where its first word is the next one, case and marks aside. Every step renders
the words to speak and what is expected behind them; all of the latter is rendered again. Writes
``waste.md`` and ``waste.json``.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from sayahead.engine.stages import Frames
from sayahead.types import Rendering, Segment

from sayahead_lab.eval.experiment.conditions import (
    Condition,
    context,
    load_matrix,
    policy,
    voice_of,
)
from sayahead_lab.eval.measures.intervals import Estimate, estimate, quotient
from sayahead_lab.scripts import read_texts, strided

RIGHT = "guesses that are right, %"
AGAIN = "rendered again, of 100 frames heard"


@dataclass
class Counting:
    """An acoustic model that counts the frames it renders."""

    model: Any
    """The voice's own."""
    heard: int = 0
    """Frames that are final."""
    again: int = 0
    """Frames that are rendered again."""

    def initial(self) -> Any:
        return self.model.initial()

    def step(
        self, segment: Segment, state: Any, rendering: Rendering, *, hold_back: int
    ) -> tuple[Frames, Any]:
        frames, after = self.model.step(segment, state, rendering, hold_back=hold_back)
        self.heard += len(frames.final)
        self.again += len(frames.right)
        return frames, after


@dataclass
class Noted:
    """A context predictor whose first guesses are kept."""

    predictor: Any
    """The condition's own."""
    guesses: dict[int, str] = field(default_factory=dict)
    """The first expected word by the number of words before it."""

    def predict(self, words: Any) -> Any:
        prediction = self.predictor.predict(words)
        self.guesses[len(words)] = next(iter(prediction.words), "")
        return prediction


def bare(word: str) -> str:
    """A word without case and marks."""
    return "".join(letter for letter in word.lower() if letter.isalnum())


def measured(condition: Condition, texts: list[str], lm: str | None) -> dict[str, Estimate]:
    """Shares of a condition: guesses that are right, and frames rendered again to those heard."""
    synthesizer: Any = voice_of(condition).synthesizer
    rendering = synthesizer.acoustic
    guesses = list[tuple[float, float]]()
    frames = list[tuple[float, float]]()
    held = {} if condition.hold_back_s is None else {"hold_back_s": condition.hold_back_s}
    for text in texts:
        counting = Counting(rendering)
        noted = Noted(context(condition, text, lm))
        synthesizer.acoustic = counting
        options: dict[str, Any] = {"policy": policy(condition), "context": noted, **held}
        for _ in voice_of(condition).stream([text], **options):
            pass
        words = text.split()
        asked = [(words[at], guess) for at, guess in noted.guesses.items() if at < len(words)]
        guesses.append((sum(bare(word) == bare(guess) for word, guess in asked), len(asked)))
        frames.append((counting.again, counting.heard))
    synthesizer.acoustic = rendering
    found = {
        "rendered again, of 100 frames heard": estimate(np.array(frames, np.float64), quotient)
    }
    if condition.context_name != "none":
        found["guesses that are right, %"] = estimate(np.array(guesses, np.float64), quotient)
    return found


COLUMNS = ("guesses that are right, %", "rendered again, of 100 frames heard")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("experiment", type=Path)
    parser.add_argument("--texts", type=Path, required=True, help="id|text lines")
    parser.add_argument("--lm", help="futures, or a language model")
    parser.add_argument("-o", "--out", type=Path, required=True)
    arguments = parser.parse_args()
    matrix = load_matrix(arguments.experiment)
    texts = [one.text for one in strided(read_texts(arguments.texts), matrix.count)]
    found = {one.name: measured(one, texts, arguments.lm) for one in matrix.conditions}
    lines = [f"| {len(texts)} sentences | {RIGHT} | {AGAIN} |", "| --- | ---: | ---: |"]
    for name, row in found.items():
        cells = (cell(row.get(column)) for column in (RIGHT, AGAIN))
        lines.append(f"| {name} | {' | '.join(cells)} |")
    arguments.out.mkdir(parents=True, exist_ok=True)
    (arguments.out / "waste.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    values = {name: {key: one.value for key, one in row.items()} for name, row in found.items()}
    (arguments.out / "waste.json").write_text(json.dumps(values, indent=1) + "\n", encoding="utf-8")
    print("\n".join(lines))


def cell(one: Estimate | None) -> str:
    """A share in per cent with its interval."""
    if one is None:
        return "–"
    value, low, high = (100 * part for part in (one.value, one.low, one.high))
    return f"{value:.0f} ({low:.0f} to {high:.0f})"


if __name__ == "__main__":
    main()
