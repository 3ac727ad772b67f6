"""What encoders cost beside speech, before and after: processor time for a second of sound, in
turns.

python lab/benchmarks/encoders.py --json lab/benchmarks/results/encoders.json

The same chunks, as a voice makes them, go through each encoder as it is and as it was (FFmpeg's, at
its own effort, Opus at 48 kHz). mp3 is quick only with lameenc; ``mp3_by`` tells whether it was
there. With ``--sounds FOLDER`` both are decoded into WAV files, for listeners and judges."""

from __future__ import annotations

import argparse
import io
import json
import statistics
import time
from pathlib import Path
from typing import Any
from unittest.mock import patch

import av
import numpy as np
from sayahead.sound import formats
from sayahead.sound.files import wav_file
from sayahead.types import Floats
from sayahead.voice import load_voice

from sayahead_lab.eval.experiment.machine import LoadWatch, processor

TEXTS = (
    "The museum opens at half past nine, and tickets cost twelve euros. Children pay nothing.",
    "She sells sea shells by the shore, though few of those who pass will ever stop to buy one.",
    "Please hold the line while I look up the details of your order; it will only take a moment.",
    "Fierce gusts of wind shook the old shutters, and sheets of rain swept across the square.",
)
ROUNDS = 9


def encoded(name: str, chunks: list[Floats], rate: int, *, before: bool) -> tuple[float, bytes]:
    """Processor time for a second of sound, in ms, and the bytes."""
    form = formats.AudioFormat(name, 48000 if before and name == "opus" else None)
    with patch.dict(formats.LIGHT, clear=before), patch.dict(formats.FAST, clear=before):
        begun = time.thread_time()
        encoder = formats.encoder(form, source_rate=rate)
        data = b"".join(encoder.push(chunk) for chunk in chunks) + encoder.finish()
        took_s = time.thread_time() - begun
    return 1000 * took_s * rate / sum(map(len, chunks)), data


def decoded(data: bytes) -> tuple[int, Floats]:
    """The samples of encoded sound, and how many a second has."""
    with av.open(io.BytesIO(data), "r") as container:
        frames = [frame.to_ndarray() for frame in container.decode(audio=0)]
        rate = container.streams.audio[0].rate
    samples = np.concatenate([frame.reshape(-1) for frame in frames])
    scale = 32768.0 if np.issubdtype(samples.dtype, np.integer) else 1.0
    return int(rate), (samples / scale).astype(np.float32)


def main() -> None:
    """Measure in turns, and write medians."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--json", type=Path)
    parser.add_argument("--sounds", type=Path)
    arguments = parser.parse_args()
    voice = load_voice("heart")
    texts = [[chunk.samples for chunk in voice.speak(text)] for text in TEXTS]
    chunks = [chunk for text in texts for chunk in text]
    names, watch = tuple(formats.LIGHT), LoadWatch(1)
    times: dict[tuple[str, bool], list[float]] = {(n, b): [] for n in names for b in (True, False)}
    for _ in range(ROUNDS):
        for (name, before), row in times.items():
            row.append(encoded(name, chunks, voice.sample_rate, before=before)[0])
    rows: dict[str, Any] = {
        name: {
            "before_ms": round(statistics.median(times[name, True]), 2),
            "now_ms": round(statistics.median(times[name, False]), 2),
        }
        for name in names
    }
    rows["mp3_by"] = "FFmpeg" if formats.Lame.module() is None else "lameenc"
    rows["machine"] = {"cpu": processor(), "other_cores": watch.load().other_cores}
    print(json.dumps(rows))
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    if arguments.sounds is not None:
        arguments.sounds.mkdir(parents=True, exist_ok=True)
        for name, before in times:
            for number, text in enumerate(texts):
                rate, samples = decoded(encoded(name, text, voice.sample_rate, before=before)[1])
                path = arguments.sounds / f"{name}-{'before' if before else 'now'}-{number}.wav"
                writer = wav_file(path, sample_rate=rate)
                writer.write(samples)
                writer.close()


if __name__ == "__main__":
    main()
