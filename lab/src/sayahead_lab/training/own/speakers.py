"""Who speaks: recordings of another speaker than the rest, and which speaker of a family is the
nearest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from sayahead.errors import ConfigError
from sayahead.sound.pitch import pitch_hz
from sayahead.types import Floats

from sayahead_lab.eval.listening.likeness import load_embedder
from sayahead_lab.eval.listening.listeners import missing
from sayahead_lab.training.corpus.store import Item
from sayahead_lab.training.corpus.teacher import RATE
from sayahead_lab.training.heart.own_voice_task import HeartVoiceTask
from sayahead_lab.training.heart.speakers import folded
from sayahead_lab.training.loop.saved_run import load_weights
from sayahead_lab.training.loop.warm_start import Start

SAID = 3
"""Sentences that each speaker says to be compared."""


@dataclass(frozen=True, slots=True)
class SpeakerMeasure:
    """How alike two speakers are, by what is known of their sound."""

    name: str
    """What it is called."""
    describe: Callable[[Floats], Floats]
    """(D,) of samples (S,) at 24 kHz."""
    alike: Callable[[Floats, Floats], float]
    """Larger for descriptions of the same speaker."""
    least: float
    """Of a recording and the mean of the others, below which it is another speaker's."""


def load_measure() -> SpeakerMeasure:
    """Resemblyzer's embeddings where they are installed, whose own sentences are alike by 0.85 and
    more; else pitch."""
    if missing("resemblyzer") is None:
        embed = load_embedder()
        return SpeakerMeasure("Resemblyzer", lambda samples: embed(samples, RATE), cosine, 0.75)
    return SpeakerMeasure(
        "semitones of pitch", pitch, lambda one, other: -float(np.abs(one - other)[0]), -5.0
    )


def cosine(one: Floats, other: Floats) -> float:
    """Of two embeddings."""
    return float(one @ other / (np.linalg.norm(one) * np.linalg.norm(other)))


def pitch(samples: Floats) -> Floats:
    """(1,) the median pitch in semitones; 0 where there is no voice."""
    hertz = pitch_hz(samples, RATE)
    voiced = hertz[hertz > 0]
    return np.array([12 * np.log2(np.median(voiced)) if len(voiced) else 0.0], np.float32)


def middle(sounds: Sequence[Floats], measure: SpeakerMeasure) -> Floats:
    """(D,) the mean description of samples (S,) at 24 kHz each."""
    mean: Floats = np.mean(
        np.stack([measure.describe(one) for one in sounds]), axis=0, dtype=np.float32
    )
    return mean


def strangers(described: Sequence[Floats], measure: SpeakerMeasure) -> list[tuple[int, float]]:
    """Numbers of descriptions that are not like the middle of the others, and how like they are."""
    if len(described) < 3:
        return []
    middle = np.median(np.stack(described), axis=0)
    alike = [measure.alike(one, middle) for one in described]
    return [(number, value) for number, value in enumerate(alike) if value < measure.least]


@torch.no_grad()
def nearest_speaker(
    start: Start,
    task: HeartVoiceTask,
    items: Sequence[Item],
    theirs: Floats,
    measure: SpeakerMeasure,
) -> dict[str, float]:
    """The English speakers of a run and how like their saying the items is to a description, the
    nearest first.

    Empty for a run of one speaker; ConfigError where none speaks English.
    """
    languages: Mapping[str, str] = start.info.joined if start.info is not None else {}
    if not languages:
        return {}
    found = dict[str, float]()
    model = task.model().eval()
    for number, (name, language) in enumerate(languages.items()):
        if not language.lower().startswith("en"):
            continue
        load_weights(model, folded(start.learned, number), str(start.path))
        said = [task.speak(model, np.asarray(item.ids, np.int64)) for item in items[:SAID]]
        found[name] = measure.alike(middle(said, measure), theirs)
    if not found:
        raise ConfigError(f"{start.path} has no speaker of English: name another run with --start.")
    return dict(sorted(found.items(), key=lambda pair: -pair[1]))
