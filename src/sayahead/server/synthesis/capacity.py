"""How many conversations a machine holds: measured before a server takes any, and seen while it
speaks."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path

from sayahead.engine.onnx import cores
from sayahead.server.operation.settings import Settings
from sayahead.voice import Voice

TEXT = (
    "This machine speaks a sentence to nobody. So its server knows how many it can speak at once."
)
PART = 0.5
"""Places for each second of sound that all threads could make in a second, word by word. In the
load test half as many again pass, since speech in steps of several words costs less than that."""
MOST = 64
"""Conversations for each processor, however little its speech costs."""
LATE_S = 0.05
SOON_S = 0.1
"""Where sound comes so late on average, of that which is needed so soon, some of it is late enough
to be missed."""
CHUNKS = 32
FADING_S = 3.0
HELD = 0.75
"""Part of the places that were too many which are not."""
RECENT_S = 1.0
MIN_S = 0.001
"""Time of speech that a share is of; a job that computes less is none that speaks."""
THREADS_EACH = 2
"""Threads that make speech in each of several processes."""
QUOTA = Path("/sys/fs/cgroup/cpu.max")


def cost_of(voice: Voice, seconds: float, share: ProcessorShare | None = None) -> float:
    """Processor time for a second of sound, word by word, of as many texts as can be spoken in so
    many seconds.

    ``share`` learns how much of the time was processor time.
    """
    end = time.monotonic() + seconds
    spent_s = 0.0
    made_s = 0.0
    took_s = 0.0
    spoken(voice)
    # The first text finds nothing where it will be later, and does not count.
    while not made_s or time.monotonic() < end:
        begun = time.thread_time()
        at = time.monotonic()
        made_s += spoken(voice)
        spent_s = spent_s + time.thread_time() - begun
        took_s = took_s + time.monotonic() - at
    if share is not None:
        share.add(spent_s, took_s)
    return spent_s / made_s


def spoken(voice: Voice) -> float:
    """Seconds of sound of a text, word by word; endless where it has none."""
    session = voice.session()
    made_s = 0.0
    for word in TEXT.split():
        session.push(word + " ")
        made_s += sum(chunk.duration_s for chunk in session.chunks())
    session.finish()
    return made_s + sum(chunk.duration_s for chunk in session.chunks()) or math.inf


def granted(threads: int, quota: Path = QUOTA) -> float:
    """How many processors so many threads can have: fewer where a container may not have more."""
    try:
        most, period = quota.read_text(encoding="ascii").split()
        return min(float(threads), int(most) / int(period))
    except (OSError, ValueError):
        return float(threads)


def processes_for(settings: Settings) -> int:
    """How many processes a server of these settings has: one for each core that it may use, unless
    they say so."""
    return settings.processes or max(1, round(granted(cores())))


def threads_for(settings: Settings, processes: int) -> int:
    """How many threads make speech in each of so many processes: one for each core, but of several
    processes two, one of which computes while the other has the interpreter."""
    return settings.workers or (cores() if processes == 1 else min(cores(), THREADS_EACH))


def processors_for(threads: int, processes: int) -> float:
    """How many processors so many processes with so many threads each can have."""
    return granted(threads if processes == 1 else min(threads * processes, cores()))


def places_for(cost: float, processors: float) -> int:
    """How many conversations a server takes whose speech costs so much, where the processors are
    its own; one at least.

    Speech that another process makes seems to cost nothing.
    """
    return max(1, round(processors * min(MOST, PART / cost if cost else MOST)))


class ProcessorShare:
    """Which part of the time in which speech was made, lately, a processor was at hand for it.

    The rest went to other programs, or the threads waited for each other.
    """

    def __init__(self) -> None:
        self._spent_s = RECENT_S
        self._took_s = RECENT_S

    def add(self, spent_s: float, took_s: float) -> None:
        """Speech took so long, so much of it on a processor. Where nothing was computed, another
        process did it."""
        if spent_s > MIN_S:
            kept = max(0.0, 1 - took_s / RECENT_S)
            self._spent_s = kept * self._spent_s + spent_s
            self._took_s = kept * self._took_s + took_s

    @property
    def part(self) -> float:
        """At most 1."""
        return min(1.0, self._spent_s / self._took_s)


class Lateness:
    """How much later than it was needed sound is sent, beyond what its making takes: the average of
    the last times, which fades within seconds; and how many places were taken when it was late."""

    def __init__(self, taken: Callable[[], int] = lambda: 0) -> None:
        """``taken``: how many places are taken."""
        self._taken = taken
        self._mean_s = 0.0
        # The same, times the places: sound in time tells nothing of how many are too many.
        self._weighted_s = 0.0
        self._at = 0.0

    def add(self, late_s: float) -> None:
        """Sound was sent so late. What was made long before it was needed tells nothing."""
        if late_s > -SOON_S:
            kept = self._kept * (1 - 1 / CHUNKS)
            part_s = max(0.0, late_s) / CHUNKS
            self._mean_s = kept * self._mean_s + part_s
            self._weighted_s = kept * self._weighted_s + part_s * self._taken()
            self._at = time.monotonic()

    @property
    def _kept(self) -> float:
        """Which part of the average the time since the last sound has left."""
        return math.exp((self._at - time.monotonic()) / FADING_S)

    @property
    def too_late(self) -> bool:
        """Whether there are more conversations than the machine holds now, or were a moment ago."""
        return self._mean_s * self._kept > LATE_S

    @property
    def held(self) -> float:
        """Places that a machine holds even then: fewer than were taken where sound was late."""
        return HELD * self._weighted_s / self._mean_s if self._mean_s else 0.0
