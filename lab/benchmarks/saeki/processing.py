"""Processing time of segments (Saeki-b, Fig. 4): cumulative over time steps, and words a minute, by
context.

    python lab/benchmarks/saeki/processing.py voices test.csv LM -o \
        lab/benchmarks/results/saeki/processing.md

The voices are those of ``voices.py``; without saeki-base, saeki-lj speaks without context instead.
Processor time of this process, one thread: other work on the machine does not count."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sayahead import load_voice
from sayahead.contexts.language_model import LanguageModel
from sayahead.engine.context import ContextPredictor, NoContext, Prediction
from sayahead.policies.fixed import LookaheadK

from sayahead_lab.eval.report.drawing import Point, canvas, dots, legend, save, whole_steps
from sayahead_lab.results import Rows, options, publish, table
from sayahead_lab.scripts import texts_at


class Timed:
    """A predictor whose processor time is counted."""

    def __init__(self, inner: ContextPredictor) -> None:
        self._inner = inner
        self.spent_s = 0.0
        self.calls = 0

    def predict(self, words: Sequence[str]) -> Prediction:
        start_s = time.process_time()
        made = self._inner.predict(words)
        self.spent_s = self.spent_s + time.process_time() - start_s
        self.calls = self.calls + 1
        return made


def measured(voice: Any, context: ContextPredictor, texts: list[str]) -> dict[str, Any]:
    """Mean cumulative seconds by time step, milliseconds a prediction, and words a minute of
    processing."""
    timed = Timed(context)
    rows = list[list[float]]()
    words = 0
    for text in texts:
        session = voice.session(policy=LookaheadK(0, words=2), context=timed)
        session.push(text)
        session.finish()
        steps = list[float]()
        start_s = time.process_time()
        while (chunk := session.pull()) is not None:
            steps.append(time.process_time() - start_s)
            words += len(chunk.words)
        rows.append(steps)
    longest = max(len(row) for row in rows)
    by_step = [float(np.mean([row[at] for row in rows if len(row) > at])) for at in range(longest)]
    total = sum(row[-1] for row in rows)
    predicted = 1000 * timed.spent_s / max(1, timed.calls)
    return {
        "cumulative_s": by_step,
        "ms_a_prediction": predicted,
        "words_a_minute": 60 * words / total,
        "ms_a_step": 1000 * total / sum(len(row) for row in rows),
    }


def main() -> None:
    arguments = options(__doc__, "VOICES", "TEXTS", "LM", "out", count=20).parse_args()
    texts = texts_at(arguments.texts, arguments.count)
    import torch

    torch.set_num_threads(1)
    own = load_voice(arguments.voices / "saeki-lj")
    base = arguments.voices / "saeki-base"
    rows: dict[str, tuple[Any, ContextPredictor]] = {
        "independent": (load_voice(arguments.voices / "saeki-independent"), NoContext()),
        "unicontext": (load_voice(base) if base.exists() else own, NoContext()),
        "teacher": (own, LanguageModel(str(arguments.lm))),
        "student, medium": (own, own.context("distilled")),
    }
    for name in ("small", "large"):
        if (arguments.voices / f"saeki-{name}").exists():
            voice = load_voice(arguments.voices / f"saeki-{name}")
            rows[f"student, {name}"] = (voice, voice.context("distilled"))
    if (hidden := arguments.voices / "saeki-hidden").exists():
        voice = load_voice(hidden)
        rows["hidden states"] = (voice, voice.context("hidden", model=str(arguments.lm)))
    made = {name: measured(voice, context, texts) for name, (voice, context) in rows.items()}
    publish(arguments.out, contexts_table(made), {"texts": len(texts), "rows": made})
    draw(made, arguments.out.with_suffix(".png"))


def draw(made: dict[str, Any], path: Path) -> None:
    """Processing time of all steps so far; logarithmic, as a language model and a student do not
    fit one scale."""
    figure, axes = canvas(
        "Processing time until a step is spoken", "time step", "seconds (logarithmic)", height=5.2
    )
    for number, (name, row) in enumerate(made.items()):
        label = f"{name}: {row['words_a_minute']:.0f} words/min"
        points = [Point(name, step, value) for step, value in enumerate(row["cumulative_s"][:12])]
        dots(axes, points, number, label=label, line=True)
    axes.set_yscale("log")
    whole_steps(axes)
    legend(axes, 2)
    save(figure, path)


def contexts_table(made: dict[str, Any]) -> list[str]:
    """The rows as a table, with the cumulative time at some time steps."""
    shown = (0, 1, 3, 5, 7)
    rows = Rows()
    for name, row in made.items():
        steps = dict(enumerate(row["cumulative_s"]))
        rows.append(
            [
                name,
                f"{row['ms_a_prediction']:.1f}",
                f"{row['ms_a_step']:.0f}",
                f"{row['words_a_minute']:.0f}",
                *(f"{steps[at]:.2f}" if at in steps else "–" for at in shown),
            ]
        )
    times = "".join(f"|s, t = {at}" for at in shown)
    return table(f"|ms a prediction|ms a step, all|words/min{times}", rows)


if __name__ == "__main__":
    main()
