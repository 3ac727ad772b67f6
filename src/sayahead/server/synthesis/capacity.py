"""Capacity: how many texts a machine can speak at once, measured when the server starts, and
watched while it speaks."""

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
"""Fraction of the real-time capacity, measured word by word, that is offered as places. The load
test passes with 1.5 times as many, since steps of several words cost less."""
MOST = 64
"""Most places per processor, however little speech costs."""
LATE_S = 0.05
SOON_S = 0.1
"""The server is overloaded if chunks are later than ``LATE_S`` on average: some are late enough
then to be heard. Chunks that are sent more than ``SOON_S`` before they are needed do not count."""
CHUNKS = 32
FADING_S = 3.0
"""Time constants of that exponential average, in chunks and in seconds without any."""
HELD = 0.75
"""Fraction of the places at which sound was late that are kept during an overload."""
RECENT_S = 1.0
MIN_S = 0.001
"""Time constant of ``ProcessorShare`` in seconds of synthesis, and the least processor time of a
job that counts: shorter ones compute no speech."""
THREADS_EACH = 2
"""Synthesis threads in each of several processes."""
QUOTA = Path("/sys/fs/cgroup/cpu.max")


def cost_of(voice: Voice, seconds: float, share: ProcessorShare | None = None) -> float:
    """Speak ``TEXT`` word by word for some seconds; return the processor time per second of sound.

    ``share``: also takes this measurement.
    """
    end = time.monotonic() + seconds
    processor_s = 0.0
    sound_s = 0.0
    elapsed_s = 0.0
    # The first text is not measured: caches are cold.
    speak_once(voice)
    while not sound_s or time.monotonic() < end:
        processor_start = time.thread_time()
        start = time.monotonic()
        sound_s += speak_once(voice)
        processor_s = processor_s + time.thread_time() - processor_start
        elapsed_s = elapsed_s + time.monotonic() - start
    if share is not None:
        share.add(processor_s, elapsed_s)
    return processor_s / sound_s


def speak_once(voice: Voice) -> float:
    """Speak ``TEXT`` word by word; return the seconds of sound, infinite if the voice has no sound
    for it."""
    session = voice.session()
    sound_s = 0.0
    for word in TEXT.split():
        session.push(word + " ")
        sound_s += sum(chunk.duration_s for chunk in session.chunks())
    session.finish()
    return sound_s + sum(chunk.duration_s for chunk in session.chunks()) or math.inf


def granted(threads: int, quota: Path = QUOTA) -> float:
    """Return how many processors ``threads`` threads can use: fewer if a container's quota limits
    them."""
    try:
        most, period = quota.read_text(encoding="ascii").split()
        return min(float(threads), int(most) / int(period))
    except (OSError, ValueError):
        return float(threads)


def processes_for(settings: Settings) -> int:
    """Return the number of processes of a server: as set, or one for each core that it may use."""
    return settings.processes or max(1, round(granted(cores())))


def threads_for(settings: Settings, processes: int) -> int:
    """Return the number of synthesis threads in each process: as set, or one for each core; with
    several processes two, one of which computes while the other has the interpreter lock."""
    return settings.workers or (cores() if processes == 1 else min(cores(), THREADS_EACH))


def processors_for(threads: int, processes: int) -> float:
    """Return how many processors ``processes`` processes with ``threads`` threads each can use."""
    return granted(threads if processes == 1 else min(threads * processes, cores()))


def places_for(cost: float, processors: float) -> int:
    """Return how many places a server offers, at least one, if nothing else uses the processors.

    ``cost``: of ``cost_of``; it is 0 for a voice whose speech another process makes.
    """
    return max(1, round(processors * min(MOST, PART / cost if cost else MOST)))


class ProcessorShare:
    """The fraction of recent synthesis time that was processor time.

    The rest went to other programs, or the threads waited for each other.
    """

    def __init__(self) -> None:
        # Exponentially decayed sums.
        self._processor_s = RECENT_S
        self._elapsed_s = RECENT_S

    def add(self, processor_s: float, elapsed_s: float) -> None:
        """Add a synthesis job. One without processor time is ignored: another process computed."""
        if processor_s > MIN_S:
            decay = max(0.0, 1 - elapsed_s / RECENT_S)
            self._processor_s = decay * self._processor_s + processor_s
            self._elapsed_s = decay * self._elapsed_s + elapsed_s

    @property
    def part(self) -> float:
        """The fraction, at most 1."""
        return min(1.0, self._processor_s / self._elapsed_s)


class Lateness:
    """Detects an overload: the average time by which chunks were sent later than needed, without
    the time that making them takes, and the places that were taken when they were late."""

    def __init__(self, taken: Callable[[], int] = lambda: 0) -> None:
        """``taken``: returns how many places are taken."""
        self._taken = taken
        # Exponential averages of the lateness, and of the lateness times the places taken; their
        # quotient is the number of places at which sound was late.
        self._mean_s = 0.0
        self._weighted_s = 0.0
        self._updated = 0.0

    def add(self, late_s: float) -> None:
        """Add a chunk that was sent ``late_s`` after it was needed, negative if before."""
        if late_s > -SOON_S:
            decay = self._decay * (1 - 1 / CHUNKS)
            part_s = max(0.0, late_s) / CHUNKS
            self._mean_s = decay * self._mean_s + part_s
            self._weighted_s = decay * self._weighted_s + part_s * self._taken()
            self._updated = time.monotonic()

    @property
    def _decay(self) -> float:
        """Factor on the average for the time since the last chunk."""
        return math.exp((self._updated - time.monotonic()) / FADING_S)

    @property
    def too_late(self) -> bool:
        """Whether the server is overloaded now, or was a moment ago."""
        return self._mean_s * self._decay > LATE_S

    @property
    def held(self) -> float:
        """Places that are kept during an overload: fewer than were taken when sound was late."""
        return HELD * self._weighted_s / self._mean_s if self._mean_s else 0.0
