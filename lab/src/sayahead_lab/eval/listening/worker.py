"""Scoring of single utterances by each listener and measurement, in this process or in several."""

from __future__ import annotations

import multiprocessing
import os
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from sayahead.errors import ConfigError
from sayahead.sound.files import read_wav
from sayahead.types import Floats

from sayahead_lab.eval.experiment.conditions import Condition
from sayahead_lab.eval.experiment.folder import wav_path
from sayahead_lab.eval.experiment.trace import Trace
from sayahead_lab.eval.listening.metrics import SpokenSentence, measured
from sayahead_lab.eval.listening.quality import METRIC, Listeners, Row, Stimulus
from sayahead_lab.eval.measures.streaming_effects import (
    TracedSound,
    against_full,
    at_seams,
    one_shot,
)

T = TypeVar("T")
R = TypeVar("R")
GROUPS = {
    "transcript": ("wer", "cer"),
    "distillmos": ("distillmos",),
    "dnsmos": ("dnsmos",),
    "utmos": ("utmos",),
}
"""Columns that are computed, and so stored, together."""
FIELDS = {"transcript": ("reference", "hypothesis", "errors", "characters", "character_errors")}
"""Fields of a row that a group fills, if not the one of its name."""


@dataclass(frozen=True, slots=True)
class ScoringTask:
    """What is to score of an utterance."""

    folder: Path
    """Folder of its condition."""
    trace: Trace
    """Its trace, without fragments."""
    sound: str
    """Checksum of its sound."""
    unscored: Mapping[str, str]
    """Groups and measurements to compute, each with its source: the listener or version, as
    scores.jsonl has it."""
    full_folder: Path | None
    """Folder of the condition with its full sentence."""
    full: Trace | None
    """The full sentence's trace."""
    condition: Condition | None
    """Its condition; none for a peer."""
    lm: str | None
    """Its language model."""
    reference: Path | None = None
    """A WAV file of the same sentence, with which metrics compare."""


@dataclass(frozen=True, slots=True)
class Result:
    """An utterance's scores."""

    name: str
    """Name of the utterance."""
    sound: str
    """Checksum of its sound."""
    by: Mapping[str, Mapping[str, Any]]
    """Fields of its row, by source."""

    @property
    def fields(self) -> dict[str, Any]:
        """All fields together."""
        return {field: value for row in self.by.values() for field, value in row.items()}


@contextmanager
def scorer(
    listeners: Listeners, jobs: int, work: Callable[[T], R]
) -> Iterator[Callable[[Sequence[T]], Iterator[R]]]:
    """Does work that asks for ``listening`` in this process, or in several that stay loaded;
    results come in the tasks' order.

    ``listeners`` must not be loaded yet where several jobs share the work.
    """
    if jobs == 1:
        begin(listeners)
        yield lambda tasks: map(work, tasks)
        return
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    # Spawned processes: models and their threads do not survive a fork.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, context, begin, (listeners,)) as pool:
        try:
            yield lambda tasks: pool.map(work, tasks)
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


_LISTENERS: list[Listeners] = []


def begin(listeners: Listeners) -> None:
    """Set the listeners of this process."""
    _LISTENERS[:] = [listeners]


def listening() -> Listeners:
    """The listeners of this process."""
    return _LISTENERS[0]


def listen(task: ScoringTask) -> Result:
    """Score one utterance by its listeners and measurements."""
    utterance = TracedSound(task.trace, read_wav(wav_path(task.folder, task.trace.name))[0])
    full = full_sentence(task)
    by: dict[str, dict[str, Any]] = {}
    columns = [column for group in task.unscored for column in GROUPS.get(group, ())]
    if columns:
        trace = utterance.trace
        stimulus = Stimulus(trace.name, trace.source, utterance.samples, trace.sample_rate)
        (row,) = listening().score([stimulus], columns)
        by |= {key: of_group(row, group) for group, key in task.unscored.items() if group in GROUPS}
    if "seams" in task.unscored:
        by[task.unscored["seams"]] = {"seams": at_seams(utterance, full)}
    if task.condition is not None:
        if "prosody" in task.unscored and full is not None:
            prosody = against_full(utterance, full, task.condition)
            by[task.unscored["prosody"]] = {"prosody": prosody}
        if "one-shot" in task.unscored:
            alone = one_shot(utterance, task.condition, task.lm)
            by[task.unscored["one-shot"]] = {"one_shot": alone}
    metrics = [group for group in task.unscored if group.startswith(METRIC)]
    if metrics:
        one = heard_by_metrics(utterance, task.reference)
        for group in metrics:
            by[task.unscored[group]] = {group: measured(group.removeprefix(METRIC), one)}
    return Result(utterance.trace.name, task.sound, by)


def full_sentence(task: ScoringTask) -> TracedSound | None:
    """The same utterance spoken as a full sentence, where there is one and a score needs it."""
    needed = task.unscored.keys() & {"seams", "prosody"}
    if task.full is None or task.full_folder is None or not needed:
        return None
    return TracedSound(task.full, read_wav(wav_path(task.full_folder, task.trace.name))[0])


def heard_by_metrics(utterance: TracedSound, reference: Path | None) -> SpokenSentence:
    """An utterance as metrics are given it."""
    trace = utterance.trace
    other = None
    if reference is not None:
        samples, rate = read_wav(reference)
        other = samples if rate == trace.sample_rate else resample(samples, rate, trace.sample_rate)
    return SpokenSentence(utterance.samples, trace.sample_rate, trace.source, other)


def resample(samples: Floats, rate: int, other: int) -> Floats:
    """Samples (S,) at another rate."""
    import soxr

    return np.asarray(soxr.resample(samples, rate, other), np.float32)


def of_group(row: Row, group: str) -> dict[str, Any]:
    """The fields of a row that a group of columns fills."""
    data = asdict(row)
    return {field: data[field] for field in FIELDS.get(group, (group,))}


def sound_of(folder: Path, name: str) -> str:
    """Checksum of an utterance's file; ConfigError where it cannot be read."""
    path = wav_path(folder, name)
    try:
        return f"{zlib.crc32(path.read_bytes()):08x}"
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be read: {error.strerror or error}. Run the experiment again."
        ) from error
