"""The people who teach and choose: their clips' embeddings and pitch, by the list of who is for
what."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soundfile
from sayahead.sound.pitch import pitch_hz
from sayahead.types import Floats
from sayahead.voices.install.clip.embedding import Embedder, mel_frames

CLIP_S = 8.0
"""Seconds of a clip; the rest of the recording is who it is compared with."""


@dataclass(frozen=True, slots=True)
class Person:
    """One speaker."""

    name: str
    """Number in LibriSpeech."""
    partials: Floats
    """(N, 256) embeddings of windows half a window apart, of the whole recording."""
    f0: float
    """Median pitch in Hz."""


def listed(people: Path, part: str) -> list[str]:
    """The speakers who are for ``part``: train, validation or test."""
    with people.open(encoding="utf-8") as file:
        return [
            row["speaker"] for row in csv.DictReader(file, delimiter="\t") if row["part"] == part
        ]


def recording(folder: Path, name: str) -> tuple[Floats, int]:
    """The one recording of a speaker, and its rate."""
    samples, rate = soundfile.read(next(folder.glob(f"{name}-*.flac")), dtype="float32")
    return samples, rate


def median_pitch(samples: Floats, rate: int) -> float:
    """Hz, of what has a voice."""
    hertz = pitch_hz(samples, rate)
    return float(np.median(hertz[hertz > 0])) if (hertz > 0).any() else 0.0


def measured(folder: Path, names: list[str], embedder: Embedder, cache: Path) -> list[Person]:
    """People by name, measured once and kept in ``cache``."""
    if cache.exists():
        with np.load(cache) as file:
            known = {key: file[key] for key in file.files}
    else:
        known = {}
        for name in names:
            samples, rate = recording(folder, name)
            known[f"{name}.partials"] = embedder.partials(mel_frames(samples, rate))
            known[f"{name}.f0"] = np.array(median_pitch(samples, rate))
        np.savez(cache, **known)
    return [Person(name, known[f"{name}.partials"], float(known[f"{name}.f0"])) for name in names]


WINDOWS = 4.0
"""Windows of a clip as far as they say different things: of 8 s, there are nine, which overlap and
share a microphone."""
RIDGE = 0.05
"""Added to the variance within people, as a share of its mean."""


def person_estimate(people: Sequence[Person]) -> tuple[Floats, Floats]:
    """The mean of people's embeddings (256,), and the gain (256, 256) with which a clip's distance
    from it becomes the person's (Wiener): the variance between people over the whole variance."""
    means = np.stack([one.partials.mean(0) for one in people])
    between = np.cov(means.T)
    within = np.mean([np.cov(one.partials.T) for one in people if len(one.partials) > 4], axis=0)
    noise = within / WINDOWS + RIDGE * np.trace(within) / len(within) * np.eye(len(within))
    gain = between @ np.linalg.inv(between + noise)
    return np.asarray(means.mean(0), np.float32), np.asarray(gain, np.float32)
