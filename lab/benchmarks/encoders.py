"""What encoders cost beside speech, before and after: processor time for a second of sound, in
turns.

python lab/benchmarks/encoders.py --json lab/benchmarks/results/encoders.json

The same chunks, as a voice makes them, go through each encoder as it is and as it was (FFmpeg's, at
its own effort, Opus at 48 kHz). mp3 is quick only with lameenc; ``mp3_by`` tells whether it was
there."""

from __future__ import annotations

import statistics
import time
from typing import Any
from unittest.mock import patch

from sayahead.sound import formats
from sayahead.types import Floats
from sayahead.voice import load_voice

from sayahead_lab.eval.experiment.machine import LoadWatch, processor
from sayahead_lab.results import options, tell_figures

TEXTS = (
    "The museum opens at half past nine, and tickets cost twelve euros. Children pay nothing.",
    "She sells sea shells by the shore, though few of those who pass will ever stop to buy one.",
    "Please hold the line while I look up the details of your order; it will only take a moment.",
    "Fierce gusts of wind shook the old shutters, and sheets of rain swept across the square.",
)
ROUNDS = 9


def encoded(name: str, chunks: list[Floats], rate: int, *, before: bool) -> float:
    """Processor time for a second of sound, in ms."""
    form = formats.AudioFormat(name, 48000 if before and name == "opus" else None)
    with patch.dict(formats.LIGHT, clear=before), patch.dict(formats.FAST, clear=before):
        begun = time.thread_time()
        encoder = formats.encoder(form, source_rate=rate)
        for chunk in chunks:
            encoder.push(chunk)
        encoder.finish()
        took_s = time.thread_time() - begun
    return 1000 * took_s * rate / sum(map(len, chunks))


def main() -> None:
    """Measure in turns, and write medians."""
    arguments = options(__doc__, "json").parse_args()
    voice = load_voice("heart")
    chunks = [chunk.samples for text in TEXTS for chunk in voice.speak(text)]
    watch = LoadWatch(1)
    times: dict[str, dict[bool, list[float]]] = {
        name: {True: [], False: []} for name in formats.LIGHT
    }
    for _ in range(ROUNDS):
        for name, turns in times.items():
            for before, row in turns.items():
                row.append(encoded(name, chunks, voice.sample_rate, before=before))
    figures: dict[str, Any] = {
        name: {
            f"{'before' if before else 'now'}_ms": round(statistics.median(row), 2)
            for before, row in turns.items()
        }
        for name, turns in times.items()
    }
    figures["mp3_by"] = "FFmpeg" if formats.Lame.module() is None else "lameenc"
    figures["machine"] = {"cpu": processor(), "other_cores": watch.load().other_cores}
    tell_figures(figures, arguments.json)


if __name__ == "__main__":
    main()
