"""Traces: what one utterance's synthesis did, on two clocks. Every latency metric works from a trace alone.

*Ideal* time is the text clock's: computing takes none. *Elapsed* time adds the computing, measured while the text's own
pace is only simulated: the engine is busy while it computes and free while it waits, so an hour of text takes no hour.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sayahead.config import from_mapping
from sayahead.engine.session import Session
from sayahead.errors import ConfigError
from sayahead.eval.experiment.clock import Arrival
from sayahead.sound.pcm import audible
from sayahead.types import AudioChunk, Floats, WordTiming


@dataclass(frozen=True, slots=True)
class TracedFragment:
    """A piece of text that was read."""

    start: int
    """Where it begins in the source text, in characters."""
    end: int
    """Where it ends (exclusive)."""
    at_s: float
    """When it arrived (A)."""


@dataclass(frozen=True, slots=True)
class TracedWork:
    """Computing after which no sound was handed out: more text had to come first."""

    read: int
    """Characters of source text that had arrived."""
    generation_s: float
    """Computing time."""


@dataclass(frozen=True, slots=True)
class TracedChunk:
    """A piece of sound that was handed out."""

    start: int
    """Its first sample, from the first of the utterance."""
    samples: int
    """Its length (d_j in samples)."""
    ideal_s: float
    """Arrival of the text that allowed it."""
    ready_s: float
    """When it was ready (R_j): ideal time plus computing and what was computed before."""
    generation_s: float
    """All computing since the chunk before, ``before`` included."""
    read: int
    """Characters of source text that had arrived."""
    audible: int | None = None
    """Its first sample above -50 dBFS, counted within it; none where it is silent."""
    before: tuple[TracedWork, ...] = ()
    """The part of the computing that was done on less text, in order."""


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
    """What was read, in order."""
    chunks: tuple[TracedChunk, ...]
    """What was handed out, in order."""
    words: tuple[WordTiming, ...]
    """What was spoken, in order."""
    name: str = ""
    """What the utterance is called."""
    condition: str = ""
    """Under which condition it was made."""
    clock: str = ""
    """The text clock, as a person reads it."""
    closing_s: float = 0.0
    """Computing time after the last chunk."""

    @property
    def duration_s(self) -> float:
        """Length of the sound."""
        return sum(chunk.samples for chunk in self.chunks) / self.sample_rate


class Recorder:
    """Runs a session on a text clock and writes down what it does; a player takes the sound on the ideal clock."""

    # So long before it would run dry the player says how far it is, if the session goes by that.
    EARLY_S = 0.05

    def __init__(self, session: Session) -> None:
        self.fragments, self.chunks = list[TracedFragment](), list[TracedChunk]()
        self.words, self.sounds = list[WordTiming](), list[Floats]()
        self.silent = list[TracedWork]()
        self._session = session
        self._read, self._at_s, self._free_s, self._dry_s, self._handed_s = 0, 0.0, 0.0, -math.inf, 0.0

    def run(self, arrivals: Sequence[Arrival]) -> None:
        """Speak a text that arrives so."""
        for arrival in arrivals:
            early_s = self._dry_s - self.EARLY_S
            if self._session.keeps_up and self._at_s < early_s < arrival.at_s:
                self._take(early_s)
            self._take(arrival.at_s, arrival.text)
        self._take(arrivals[-1].at_s if arrivals else 0.0, None)

    def _take(self, at_s: float, text: str | None = "") -> None:
        """Push text that has arrived at a time, or None for its end, and take all sound that there is then."""
        self._at_s = at_s
        now_s, begun = max(at_s, self._free_s), time.perf_counter()
        if self.chunks and self._session.keeps_up:
            self._session.played(self._handed_s - max(0.0, self._dry_s - at_s))
        if text is None:
            self._session.finish()
        elif text:
            self.fragments.append(TracedFragment(self._read, self._read + len(text), at_s))
            self._read += len(text)
            self._session.push(text)
        while (chunk := self._session.pull()) is not None:
            spent_s = time.perf_counter() - begun
            now_s += spent_s
            self._keep(chunk, at_s, now_s, spent_s + seconds(self.silent))
            begun = time.perf_counter()
        self.silent.append(TracedWork(self._read, time.perf_counter() - begun))
        self._free_s = now_s + self.silent[-1].generation_s

    def _keep(self, chunk: AudioChunk, at_s: float, now_s: float, generation_s: float) -> None:
        loud, length = audible(chunk.samples), len(chunk.samples)
        first_loud = int(loud[0]) if len(loud) else None
        times = at_s, now_s, generation_s
        self.chunks.append(TracedChunk(chunk.start, length, *times, self._read, first_loud, tuple(self.silent)))
        self.silent.clear()
        self.words += chunk.words
        self.sounds.append(chunk.samples)
        self._dry_s = max(self._dry_s, at_s) + chunk.duration_s
        self._handed_s += chunk.duration_s


def timed_trace(session: Session, arrivals: Sequence[Arrival], *, index: int = 0, **about: str) -> tuple[Trace, Floats]:
    """Run a session on a text clock; its trace and all its samples (S,).

    A session that keeps up is told what a player has heard on the ideal clock, so its sound depends on no computer.
    """
    made = Recorder(session)
    made.run(arrivals)
    source, closing_s = "".join(arrival.text for arrival in arrivals), seconds(made.silent)
    fragments, chunks, words = tuple(made.fragments), tuple(made.chunks), tuple(made.words)
    trace = Trace(index, source, session.sample_rate, fragments, chunks, words, closing_s=closing_s, **about)
    return trace, np.concatenate([np.zeros(0, np.float32), *made.sounds])


def seconds(work: Iterable[TracedWork]) -> float:
    """Computing time of all of it."""
    return sum(one.generation_s for one in work)


def measure(session: Session, text: str, *, index: int = 0, **about: str) -> tuple[Trace, Floats]:
    """A trace from which those of all clocks follow (see ``retime``): the text comes letter by letter, all at time 0.

    So each chunk's ``read`` is exactly the text that it needs, and ``generation_s`` its computing once that is there.
    """
    return timed_trace(session, [Arrival(letter, 0.0) for letter in text], index=index, **about)


def retime(trace: Trace, arrivals: Sequence[Arrival], *, clock: str = "") -> Trace:
    """The measured utterance on another text clock: same text, same chunks, same computing times, other arrivals.

    Computing is begun when the last character it needs has arrived and the engine is free, whether or not it yields
    sound.
    """
    if "".join(arrival.text for arrival in arrivals) != trace.source:
        raise ConfigError(f"The arrivals of utterance {trace.index} are not those of its text.")
    ends = np.cumsum([len(arrival.text) for arrival in arrivals])
    starts = ends - np.array([len(arrival.text) for arrival in arrivals], np.int64)
    fragments = tuple(
        TracedFragment(int(start), int(end), arrival.at_s)
        for start, end, arrival in zip(starts, ends, arrivals, strict=True)
    )
    chunks, free_s = [], 0.0
    for chunk in trace.chunks:
        for work in chunk.before:
            free_s = max(needed(fragments, ends, work.read).at_s, free_s) + work.generation_s
        last = needed(fragments, ends, chunk.read)
        free_s = max(last.at_s, free_s) + chunk.generation_s - seconds(chunk.before)
        chunks.append(replace(chunk, ideal_s=last.at_s, ready_s=free_s, read=last.end))
    return replace(trace, fragments=fragments, chunks=tuple(chunks), clock=clock)


def needed(fragments: Sequence[TracedFragment], ends: NDArray[np.int64], read: int) -> TracedFragment:
    """The fragment with which ``read`` characters have arrived; ``ends`` (N,) are where fragments end."""
    return fragments[min(int(np.searchsorted(ends, read)), len(fragments) - 1)]


def as_json(trace: Trace) -> dict[str, Any]:
    """A trace as one JSON object: ours, and SimulEval's field names for speech output beside it (times in ms)."""
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


def read_traces(path: Path) -> Iterator[Trace]:
    """The traces of a file; ConfigError names a line that is not one."""
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
            yield from_mapping(Trace, {key: value for key, value in data.items() if key in fields}, where=where)
