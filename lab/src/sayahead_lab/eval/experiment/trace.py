"""Traces: the events of one utterance's synthesis on two clocks. Every latency metric needs a trace
alone.

*Ideal* time is the text clock's: computing takes no time. *Elapsed* time adds the computing,
measured while the text's pace is only simulated: the engine is busy while it computes and free
while it waits, so an hour of text takes less than an hour.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sayahead.config import from_mapping
from sayahead.engine.playback import Playback
from sayahead.engine.session import Session
from sayahead.errors import ConfigError
from sayahead.sound.pcm import audible
from sayahead.types import AudioChunk, Floats, WordTiming

from sayahead_lab.eval.experiment.clock import Arrival


@dataclass(frozen=True, slots=True)
class TracedFragment:
    """A piece of text as it was read."""

    start: int
    """Its start in the source text, in characters."""
    end: int
    """Its end (exclusive)."""
    at_s: float
    """When it arrived (A)."""


@dataclass(frozen=True, slots=True)
class TracedWork:
    """Computing that yielded no sound: more text had to come first."""

    read: int
    """Characters of source text that had arrived."""
    generation_s: float
    """Computing time."""


@dataclass(frozen=True, slots=True)
class TracedChunk:
    """A chunk of sound as it was delivered."""

    start: int
    """Its first sample, counted from the utterance's start."""
    samples: int
    """Its length (d_j in samples)."""
    ideal_s: float
    """Arrival of the text that it needed."""
    ready_s: float
    """When it was ready (R_j): ideal time plus computing, earlier computing included."""
    generation_s: float
    """All computing since the previous chunk, ``before`` included."""
    read: int
    """Characters of source text that had arrived."""
    audible: int | None = None
    """Its first sample above -50 dBFS, counted within it; none where it is silent."""
    before: tuple[TracedWork, ...] = ()
    """The part of the computing that was done with less text, in order."""


@dataclass(frozen=True, slots=True)
class Trace:
    """One utterance."""

    index: int
    """Number of the utterance in its run."""
    source: str
    """The text."""
    sample_rate: int
    """Samples per second."""
    fragments: tuple[TracedFragment, ...]
    """The fragments read, in order."""
    chunks: tuple[TracedChunk, ...]
    """The chunks delivered, in order."""
    words: tuple[WordTiming, ...]
    """The words spoken, in order."""
    name: str = ""
    """Name of the utterance."""
    condition: str = ""
    """Name of its condition."""
    clock: str = ""
    """The text clock in words."""
    closing_s: float = 0.0
    """Computing time after the last chunk; on the wall clock, all processor time of the
    utterance."""
    repeat: int = 0
    """Which of several takes of the same utterance it is."""

    @property
    def duration_s(self) -> float:
        """Length of the sound."""
        return sum(chunk.samples for chunk in self.chunks) / self.sample_rate


class TraceRecorder:
    """Runs a session on a text clock and records it; a player takes the sound on the ideal
    clock."""

    # The player reports its position this long before it would run dry, to sessions that use it.
    EARLY_S = 0.05

    def __init__(self, session: Session, stopwatch: Callable[[], float]) -> None:
        self._stopwatch = stopwatch
        self.fragments = list[TracedFragment]()
        self.chunks = list[TracedChunk]()
        self.words = list[WordTiming]()
        self.sounds = list[Floats]()
        self.silent = list[TracedWork]()
        self._session = session
        self._read = 0
        self._at_s = 0.0
        self._free_s = 0.0
        self._playback = Playback()

    def run(self, arrivals: Sequence[Arrival]) -> None:
        """Speak a text with these arrivals."""
        for arrival in arrivals:
            early_s = self._playback.dry_at - self.EARLY_S
            if self._session.keeps_up and self._at_s < early_s < arrival.at_s:
                self._take(early_s)
            self._take(arrival.at_s, arrival.text)
        self._take(arrivals[-1].at_s if arrivals else 0.0, None)

    def _take(self, at_s: float, text: str | None = "") -> None:
        """Push the text that arrives at a time, or None for its end, and take all sound that is
        ready then."""
        self._at_s = at_s
        now_s = max(at_s, self._free_s)
        begun = self._stopwatch()
        if self.chunks:
            self._session.follow(self._playback, at_s)
        if text is None:
            self._session.finish()
        elif text:
            self.fragments.append(TracedFragment(self._read, self._read + len(text), at_s))
            self._read += len(text)
            self._session.push(text)
        while (chunk := self._session.pull()) is not None:
            spent_s = self._stopwatch() - begun
            now_s += spent_s
            self._keep(chunk, at_s, now_s, spent_s + seconds(self.silent))
            begun = self._stopwatch()
        self.silent.append(TracedWork(self._read, self._stopwatch() - begun))
        self._free_s = now_s + self.silent[-1].generation_s

    def _keep(self, chunk: AudioChunk, at_s: float, now_s: float, generation_s: float) -> None:
        loud = audible(chunk.samples)
        length = len(chunk.samples)
        first_loud = int(loud[0]) if len(loud) else None
        times = at_s, now_s, generation_s
        self.chunks.append(
            TracedChunk(
                chunk.start_samples, length, *times, self._read, first_loud, tuple(self.silent)
            )
        )
        self.silent.clear()
        self.words += chunk.words
        self.sounds.append(chunk.samples)
        self._playback.give(chunk.duration_s, at_s)


STOPWATCHES: Mapping[str, Callable[[], float]] = {
    "wall": lambda: time.perf_counter(),
    "processor": lambda: time.process_time(),
}
"""What times computing: the wall clock, or this process's processor time, for a machine that others
use, too."""


def timed_trace(
    session: Session,
    arrivals: Sequence[Arrival],
    *,
    index: int = 0,
    computing: str = "wall",
    **about: Any,
) -> tuple[Trace, Floats]:
    """Run a session on a text clock; its trace and all its samples (S,). ``computing`` is a name of
    ``STOPWATCHES``.

    A session that keeps up gets the player's position on the ideal clock, so its sound does not
    depend on the computer."""
    recorder = TraceRecorder(session, STOPWATCHES[computing])
    recorder.run(arrivals)
    source = "".join(arrival.text for arrival in arrivals)
    closing_s = seconds(recorder.silent)
    fragments = tuple(recorder.fragments)
    chunks = tuple(recorder.chunks)
    words = tuple(recorder.words)
    trace = Trace(
        index, source, session.sample_rate, fragments, chunks, words, closing_s=closing_s, **about
    )
    return trace, np.concatenate([np.zeros(0, np.float32), *recorder.sounds])


def seconds(work: Iterable[TracedWork]) -> float:
    """All its computing time."""
    return sum(one.generation_s for one in work)


def measure(session: Session, text: str, *, index: int = 0, **about: str) -> tuple[Trace, Floats]:
    """A trace that yields the traces on all clocks (see ``retime``): the text comes letter by
    letter, all at time 0.

    So each chunk's ``read`` is exactly the text that it needs, and ``generation_s`` its computing
    once that is there."""
    return timed_trace(session, [Arrival(letter, 0.0) for letter in text], index=index, **about)


def retime(trace: Trace, arrivals: Sequence[Arrival], *, clock: str = "") -> Trace:
    """The measured utterance on another text clock: same text, same chunks, same computing times,
    other arrivals.

    Computing starts when the last character it needs has arrived and the engine is free, whether or
    not it yields sound.
    """
    if "".join(arrival.text for arrival in arrivals) != trace.source:
        raise ConfigError(f"The arrivals of utterance {trace.index} are not those of its text.")
    ends = np.cumsum([len(arrival.text) for arrival in arrivals])
    starts = ends - np.array([len(arrival.text) for arrival in arrivals], np.int64)
    fragments = tuple(
        TracedFragment(int(start), int(end), arrival.at_s)
        for start, end, arrival in zip(starts, ends, arrivals, strict=True)
    )
    chunks = []
    free_s = 0.0
    for chunk in trace.chunks:
        for work in chunk.before:
            free_s = max(needed(fragments, ends, work.read).at_s, free_s) + work.generation_s
        last = needed(fragments, ends, chunk.read)
        free_s = max(last.at_s, free_s) + chunk.generation_s - seconds(chunk.before)
        chunks.append(replace(chunk, ideal_s=last.at_s, ready_s=free_s, read=last.end))
    return replace(trace, fragments=fragments, chunks=tuple(chunks), clock=clock)


def needed(
    fragments: Sequence[TracedFragment], ends: NDArray[np.int64], read: int
) -> TracedFragment:
    """The fragment that completes ``read`` characters; ``ends`` (N,) are the fragments' ends."""
    return fragments[min(int(np.searchsorted(ends, read)), len(fragments) - 1)]


def as_json(trace: Trace) -> dict[str, Any]:
    """A trace as one JSON object: our fields, and SimulEval's for speech output beside them (times
    in ms)."""
    rate = trace.sample_rate
    return {
        **asdict(trace),
        "prediction": " ".join(word.text for word in trace.words),
        "delays": [1000 * chunk.ideal_s for chunk in trace.chunks],
        "elapsed": [1000 * chunk.ready_s for chunk in trace.chunks],
        "durations": [1000 * chunk.samples / rate for chunk in trace.chunks],
        "prediction_offset": 1000 * trace.chunks[0].ready_s if trace.chunks else 0.0,
        "reference": trace.source,
        "source_length": 1000 * trace.fragments[-1].at_s if trace.fragments else 0.0,
        "prediction_length": 1000 * trace.duration_s,
    }


def write_traces(path: Path, traces: Iterable[Trace]) -> None:
    """Append one line of JSON per utterance."""
    with path.open("a", encoding="utf-8") as file:
        for trace in traces:
            file.write(json.dumps(as_json(trace), ensure_ascii=False) + "\n")


def renewed(word: Any) -> Any:
    """A word of a file, with the names that its times had in version 0.1 as they are now."""
    if not isinstance(word, dict):
        return word
    now = {"onset": "onset_samples", "offset": "offset_samples"}
    return {now.get(key, key): value for key, value in word.items()}


def read_traces(path: Path) -> Iterator[Trace]:
    """The traces of a file; ConfigError names an invalid line."""
    fields = Trace.__dataclass_fields__
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            where = f"{path}, line {number}"
            try:
                data = json.loads(line)
            except ValueError as error:
                raise ConfigError(f"{where}: not JSON ({error}).") from error
            if not isinstance(data, dict):
                raise ConfigError(f"{where}: not a trace.")
            if isinstance(words := data.get("words"), list):
                data["words"] = [renewed(word) for word in words]
            yield from_mapping(
                Trace, {key: value for key, value in data.items() if key in fields}, where=where
            )
