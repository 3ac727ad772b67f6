"""Measures a voice on this machine: its loudness, and its cost word by word."""

from __future__ import annotations

import functools
import json
import time
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from sayahead.engine.stages import Vocoder
from sayahead.sound.loudness import loudness
from sayahead.types import Floats, subtags
from sayahead.voice import Voice

TARGET_LUFS = -26.0
"""Loudness of the default voice, which others are adjusted to."""
PEAK = 0.98
FILE = "measured.json"
KEEPS_UP = 0.8
"""Largest cost with which a voice keeps up with its own speech on a busy machine."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Measurements of a voice on this machine."""

    rtf: float
    """Processor seconds for a second of speech, word by word, with one thread."""
    lufs: float
    """Loudness without gain."""
    gain: float
    """Factor that makes it as loud as other voices, as far as its peaks allow."""

    @property
    def keeps_up(self) -> bool:
        """Whether it speaks word by word in real time here."""
        return self.rtf <= KEEPS_UP


@functools.cache
def samples() -> dict[str, list[str]]:
    """Return sentences of each language: the first of the Universal Declaration of Human Rights,
    and some others."""
    table = files("sayahead.voices.install").joinpath("samples.tsv").read_text(encoding="utf-8")
    return {
        language: sentences
        for language, *sentences in (line.split("\t") for line in table.splitlines())
    }


def sample(language: str) -> str:
    """Return a sentence for a BCP 47 tag; in Latin if the language has none."""
    return samples().get(subtags(language)[0], samples()["la"])[0]


def measure(voice: Voice) -> Measured:
    """Speak a sentence word by word, with the voice's defaults, and measure it."""
    text = sample(voice.config.language)
    start = time.thread_time()
    spoken = np.concatenate(
        [np.zeros(1, np.float32), *(chunk.samples for chunk in voice.stream([text]))]
    )
    cost = time.thread_time() - start
    lufs = loudness(spoken, voice.sample_rate)
    peak = float(np.abs(spoken).max())
    factor = 10 ** ((TARGET_LUFS - lufs) / 20) if np.isfinite(lufs) else 1.0
    return Measured(
        cost / (len(spoken) / voice.sample_rate), lufs, min(factor, PEAK / max(peak, 1e-3))
    )


def keep(folder: Path, measured: Measured) -> None:
    """Write measurements into a voice's folder."""
    (folder / FILE).write_text(json.dumps(asdict(measured), indent=1) + "\n", encoding="utf-8")


def kept(folder: Path) -> Measured | None:
    """Read the measurements of an added voice; None if there are none."""
    try:
        return Measured(**json.loads((folder / FILE).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def samples_in_steps(vocoder: Vocoder[Any], frames: Floats, size: int) -> Floats:
    """Return the samples (S,) of frames (T, C) that a vocoder gets ``size`` at a time, each time
    with the right context that it asks for: they must be those of all frames at once."""
    state = vocoder.initial(0)
    steps = list[Floats]()
    for begin in range(0, len(frames), size):
        end = begin + size
        right = frames[end:][: vocoder.context]
        ended = end >= len(frames)
        samples, state = vocoder.step(frames[begin:end], right, state, seed=0, ended=ended)
        steps.append(samples)
    return np.concatenate(steps)
