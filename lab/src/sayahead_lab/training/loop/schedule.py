"""A run's progress and bounds, its learning rate, and the signals that end it early."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sayahead_lab.training.loop.task import TrainSettings


@dataclass(frozen=True, slots=True)
class Sampling:
    """Scheduled sampling, part of a task's [data]; not in the papers."""

    sampling_share: float = 0.0
    """Final share of previous frames that are the model's own."""
    sampling_start: int = 0
    """Step from which the share rises."""
    sampling_steps: int = 1
    """Steps over which it rises."""

    def sampling(self, step: int) -> float:
        """Share of previous frames that are the model's own, at a step."""
        return self.sampling_share * min(
            1.0, max(0.0, (step - self.sampling_start) / max(1, self.sampling_steps))
        )


@dataclass(slots=True)
class Counters:
    """Progress of a run."""

    step: int = 0
    """Steps taken, skipped ones included."""
    epoch: int = 0
    """Number of the epoch, from 0."""
    position: int = 0
    """Batches taken in this epoch."""
    updates: int = 0
    """Steps that changed the weights."""
    skipped: int = 0
    """Skipped steps: their loss or gradient was not finite."""
    seconds: float = 0.0
    """Time trained, over all invocations."""


@dataclass(slots=True)
class Budget:
    """Steps and minutes of an invocation, and the learning rate by the share of them used up."""

    settings: TrainSettings
    """The recipe's."""
    minutes: float | None
    """Limit of this invocation; None: only steps count."""
    begun_s: float
    """Its start, by the monotonic clock."""
    seconds: float = 0.0
    """Seconds since then, as of the last step; the same in all processes."""

    def gone(self, step: int) -> float:
        """Share of the run that is done, by steps or minutes, whichever is larger."""
        share = 0.0 if self.minutes is None else self.seconds / (60 * self.minutes)
        return min(1.0, max(share, step / self.settings.steps))

    def ended(self, step: int) -> str:
        """``steps`` or ``minutes`` if used up, otherwise empty."""
        if step >= self.settings.steps:
            return "steps"
        return "minutes" if self.minutes is not None and self.seconds >= 60 * self.minutes else ""

    def left_s(self, step: int, steps_per_s: float) -> float:
        """Seconds until the end at this pace."""
        left = (self.settings.steps - step) / steps_per_s if steps_per_s > 0 else float("inf")
        return (
            left if self.minutes is None else min(left, max(0.0, 60 * self.minutes - self.seconds))
        )

    def rate(self, step: int) -> float:
        """The learning rate of the step that follows ``step`` others: warm-up, hold, halving, final
        decay to 0."""
        s = self.settings
        rate = s.learning_rate * min(1.0, (step + 1) / max(1, s.warmup_steps))
        if s.half_life_steps is not None:
            least = min(rate, s.least_rate)
            rate *= 0.5 ** (max(0, step - s.warmup_steps - s.hold_steps) / s.half_life_steps)
            rate = max(rate, least)
        return rate * min(1.0, (1 - self.gone(step)) / s.final_share) if s.final_share > 0 else rate


def ema_decay(most: float, updates: int) -> float:
    """The moving average's decay at an update's number: small at first, so that early weights
    fade."""
    return min(most, (1 + updates) / (10 + updates))


class Interrupt:
    """Remembers SIGINT or SIGTERM, so that a step ends before the run does; a second one ends it at
    once."""

    def __init__(self) -> None:
        self.number = 0

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Handle the two signals inside the block; outside the main thread, which signals do not
        reach, do nothing."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        # A shell's background process ignores SIGINT, and must continue to.
        numbers = [
            n for n in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(n) != signal.SIG_IGN
        ]
        previous = {number: signal.signal(number, self._note) for number in numbers}
        try:
            yield
        finally:
            for number, handler in previous.items():
                signal.signal(number, handler)

    def _note(self, number: int, frame: object) -> None:
        if self.number:
            raise SystemExit(128 + number)
        self.number = number


@dataclass(frozen=True, slots=True)
class TrainingOutcome:
    """How an invocation ended."""

    reason: str
    """``steps``, ``minutes`` or ``signal``."""
    step: int
    """Steps taken, over all invocations."""
    signal: int = 0
    """The signal's number."""
