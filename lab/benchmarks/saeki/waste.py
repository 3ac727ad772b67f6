"""What guess, speak, verify costs: wrong guesses, and frames rendered but never heard.

    python lab/benchmarks/saeki/waste.py lab/benchmarks/saeki/verify.toml --texts test.csv \
        --lm lab/benchmarks/results/saeki/futures/verify.jsonl \
        -o lab/benchmarks/results/saeki/verify

A guess is right where its first word is the next one, case and marks aside. Every step renders
the words to speak and what is expected behind them; all of the latter is rendered again. Writes
``waste.md``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sayahead.engine.stages import Frames
from sayahead.types import Rendering, Segment

from sayahead_lab.eval.experiment.conditions import Condition, choices, load_matrix, voice_of
from sayahead_lab.eval.measures.intervals import Estimate, estimate, quotient
from sayahead_lab.results import options, publish, table
from sayahead_lab.scripts import texts_at

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
    for text in texts:
        counting = Counting(rendering)
        chosen = choices(condition, text, lm)
        noted = Noted(chosen["context"])
        synthesizer.acoustic = counting
        for _ in voice_of(condition).stream([text], **{**chosen, "context": noted}):
            pass
        words = text.split()
        asked = [(words[at], guess) for at, guess in noted.guesses.items() if at < len(words)]
        guesses.append((sum(bare(word) == bare(guess) for word, guess in asked), len(asked)))
        frames.append((counting.again, counting.heard))
    synthesizer.acoustic = rendering
    found = {AGAIN: estimate(np.array(frames, np.float64), quotient)}
    if condition.context_name != "none":
        found[RIGHT] = estimate(np.array(guesses, np.float64), quotient)
    return found


def main() -> None:
    arguments = options(__doc__, "experiment", "texts", "out", lm=str).parse_args()
    matrix = load_matrix(arguments.experiment)
    texts = texts_at(arguments.texts, matrix.count)
    found = {one.name: measured(one, texts, arguments.lm) for one in matrix.conditions}
    rows = [
        [name, *(f"{row[one].times(100):.0f}" if one in row else "–" for one in (RIGHT, AGAIN))]
        for name, row in found.items()
    ]
    values = {name: {key: one.value for key, one in row.items()} for name, row in found.items()}
    lines = table(f"{len(texts)} sentences|{RIGHT}|{AGAIN}", rows)
    publish(arguments.out / "waste.md", lines, values)


if __name__ == "__main__":
    main()
