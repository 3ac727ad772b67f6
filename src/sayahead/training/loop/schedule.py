"""How far a run is, how far it may go, what the learning rate is on the way, and what ends it early."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sayahead.training.loop.task import Settings


@dataclass(frozen=True, slots=True)
class Sampling:
    """Scheduled sampling, a part of a task's [data]; not of the papers."""

    sampling_share: float = 0.0
    """Share of previous frames that are the model's own, once it has risen."""
    sampling_start: int = 0
    """Step from which the share rises."""
    sampling_steps: int = 1
    """Steps in which it rises."""

    def sampling(self, step: int) -> float:
        """Share of previous frames that are the model's own, at a step."""
        return self.sampling_share * min(1.0, max(0.0, (step - self.sampling_start) / max(1, self.sampling_steps)))


@dataclass(slots=True)
class Counters:
    """How far a run is."""

    step: int = 0
    """Steps taken, the skipped ones too."""
    epoch: int = 0
    """Number of the pass over the train split, from 0."""
    position: int = 0
    """Batches taken of this pass."""
    updates: int = 0
    """Steps that changed the weights."""
    skipped: int = 0
    """Steps that did not: their loss or gradient was not finite."""
    seconds: float = 0.0
    """Time trained, over all invocations."""


@dataclass(slots=True)
class Budget:
    """Steps and minutes of an invocation, and the learning rate that follows from how much of them is gone."""

    settings: Settings
    """The recipe's."""
    minutes: float | None
    """Bound of this invocation; None: steps alone count."""
    begun_s: float
    """When it began, by the monotonic clock."""
    seconds: float = 0.0
    """Since then, as of the last step; the same in all processes."""

    def gone(self, step: int) -> float:
        """Share of the run that is over, by steps or minutes, whichever is more."""
        share = 0.0 if self.minutes is None else self.seconds / (60 * self.minutes)
        return min(1.0, max(share, step / self.settings.steps))

    def ended(self, step: int) -> str:
        """``steps`` or ``minutes`` where they are used up, otherwise nothing."""
        if step >= self.settings.steps:
            return "steps"
        return "minutes" if self.minutes is not None and self.seconds >= 60 * self.minutes else ""

    def left_s(self, step: int, steps_per_s: float) -> float:
        """Seconds until the end at this pace."""
        left = (self.settings.steps - step) / steps_per_s if steps_per_s > 0 else float("inf")
        return left if self.minutes is None else min(left, max(0.0, 60 * self.minutes - self.seconds))

    def rate(self, step: int) -> float:
        """The learning rate of the step that follows ``step`` others: warm-up, hold, halving, the fall to 0."""
        s = self.settings
        rate = s.learning_rate * min(1.0, (step + 1) / max(1, s.warmup_steps))
        if s.half_life_steps is not None:
            least = min(rate, s.least_rate)
            rate *= 0.5 ** (max(0, step - s.warmup_steps - s.hold_steps) / s.half_life_steps)
            rate = max(rate, least)
        return rate * min(1.0, (1 - self.gone(step)) / s.final_share) if s.final_share > 0 else rate


def ema_decay(most: float, updates: int) -> float:
    """The moving average's decay at an update's number: small at first, so that early weights are forgotten."""
    return min(most, (1 + updates) / (10 + updates))


class Interrupt:
    """Remembers SIGINT or SIGTERM, so that a step ends before the run does; a second one ends it at once."""

    def __init__(self) -> None:
        self.number = 0

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Take the two signals over, and give them back; outside the main thread, where they do not come, nothing."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        # A process in the background of a shell ignores SIGINT, and must go on doing so.
        numbers = [n for n in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(n) != signal.SIG_IGN]
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
class Outcome:
    """How an invocation ended."""

    reason: str
    """``steps``, ``minutes`` or ``signal``."""
    step: int
    """Steps taken, over all invocations."""
    signal: int = 0
    """The signal's number."""
