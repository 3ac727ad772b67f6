"""How far the listener of one text is: one clock for sessions, speech and the server."""

from __future__ import annotations

import math
from collections.abc import Callable

from sayahead.config import check_number
from sayahead.errors import ConfigError

TOLERANCE_S = 0.05
"""How far a player's clock may be ahead of the audio it was given, or fall back."""
GAP_S = 0.005
"""A shorter gap in the sound is not heard."""


class Playback:
    """What the player of one text was given, and how much of that it has played.

    The best source counts: a device that can be asked (``follow``), else what the listener reported
    (``report``), else a player that begins with the first sound and plays in real time. It reads no
    clock: callers pass ``now``, in seconds of one clock of theirs.
    """

    def __init__(self, rate: int = 1, *, extrapolate_s: float = 0.0) -> None:
        """``rate``: samples per second, in which sound is given and a device counts; 1: both are in
        seconds. ``extrapolate_s``: how long a listener is taken to go on playing after a report."""
        self._rate = rate
        self._given = 0.0
        self.dry_at = math.inf
        """When a player in real time runs dry; infinite before the first sound."""
        self.reported_s: float | None = None
        """What the listener reported last; None: nothing yet."""
        self._reported_at = 0.0
        self._extrapolate_s = extrapolate_s
        self._device: Callable[[], float] | None = None
        # What was given before the device was followed; it counts as played.
        self._before = 0.0

    @property
    def given_s(self) -> float:
        """Seconds of sound that the player was given."""
        return self._given / self._rate

    def give(self, amount: float, now: float = 0.0) -> bool:
        """Add sound; return whether a player in real time had run dry before."""
        ran_dry = now > self.dry_at + GAP_S
        start = now if ran_dry or math.isinf(self.dry_at) else self.dry_at
        self.dry_at = start + amount / self._rate
        self._given += amount
        return ran_dry

    def follow(self, device: Callable[[], float]) -> None:
        """From now on ask a device how much it has played of what is given next."""
        self._before = self._given
        self._device = device

    def report(self, played_s: float, now: float = 0.0) -> None:
        """Take the listener's word that ``played_s`` seconds were played in all.

        ConfigError if that is less than before, or more than there is; nothing changes then."""
        played_s = check_number("played_s", played_s, 0.0, math.inf)
        if (refusal := beyond(played_s, self.given_s)) is not None:
            raise ConfigError(refusal)
        before_s = self.reported_s or 0.0
        if played_s < before_s - TOLERANCE_S:
            raise ConfigError(
                f"played_s is {played_s:.3f}, but was {before_s:.3f} before: count on."
            )
        self.reported_s = max(before_s, played_s)
        self._reported_at = now

    @property
    def known_s(self) -> float | None:
        """Seconds that were played, by the device or the last report; None if neither is there."""
        if self._device is not None:
            return min(self._given, self._before + self._device()) / self._rate
        return None if self.reported_s is None else min(self.given_s, self.reported_s)

    def played_s(self, now: float) -> float:
        """Seconds that were played, by the best source there is."""
        known_s = self.known_s
        if known_s is None:
            return max(0.0, self.given_s - self.buffered_s(now))
        if self._device is not None:
            return known_s
        return min(self.given_s, known_s + min(self._extrapolate_s, now - self._reported_at))

    def left_s(self, now: float) -> float:
        """Seconds yet to be played, by the best source there is."""
        return self.given_s - self.played_s(now)

    def buffered_s(self, now: float) -> float:
        """Seconds that a player in real time has yet to play, whatever was reported."""
        return 0.0 if math.isinf(self.dry_at) else max(0.0, self.dry_at - now)


def beyond(played_s: float, given_s: float) -> str | None:
    """Why so many seconds cannot have been played of those that were given; None if they can."""
    if played_s <= given_s + TOLERANCE_S:
        return None
    return (
        f"played_s is {played_s:.3f}, but only {given_s:.3f} s of sound were emitted: "
        "count only the sound of this text, from its first sample."
    )
