"""How much of a text's sound its listener has heard: the one model of playback for sessions, speech
and the server."""

from __future__ import annotations

import math
from collections.abc import Callable

from sayahead.config import check_number
from sayahead.errors import ConfigError

TOLERANCE_S = 0.05
"""How far a player's clock may run ahead of the audio it was given, or fall back."""
GAP_S = 0.005
"""A gap in the sound that is shorter than this is not heard."""


class Playback:
    """The sound that the player of one text was given, and how much of it has been played.

    The best source available counts: a device that can be asked (``follow``), else the listener's
    reports (``report``), else a simulated player that starts with the first sound and plays in real
    time. Callers pass the time as ``now``, in seconds of any one clock.
    """

    def __init__(self, rate: int = 1, *, extrapolate_s: float = 0.0) -> None:
        """``rate``: samples per second, if amounts are given in samples; 1 if they are in seconds.
        ``extrapolate_s``: how long a listener is assumed to go on playing after a report."""
        self._rate = rate
        self._given = 0.0
        self.dry_at = math.inf
        """Time at which the simulated player runs dry; infinite before the first sound."""
        self.reported_s: float | None = None
        """The listener's last report; None before the first one."""
        self._reported_at = 0.0
        self._extrapolate_s = extrapolate_s
        self._device: Callable[[], float] | None = None
        # The amount given before ``follow``, all of which counts as played.
        self._given_before_device = 0.0

    @property
    def given_s(self) -> float:
        """Seconds of sound that the player was given."""
        return self._given / self._rate

    def give(self, amount: float, now: float = 0.0) -> bool:
        """Add sound; return whether the simulated player had run dry before it.

        ``amount``: in samples, or in seconds if the rate is 1.
        """
        ran_dry = now > self.dry_at + GAP_S
        start = now if ran_dry or math.isinf(self.dry_at) else self.dry_at
        self.dry_at = start + amount / self._rate
        self._given += amount
        return ran_dry

    def follow(self, device: Callable[[], float]) -> None:
        """From now on ask a device how much it has played.

        ``device`` returns the amount it has played of the sound that is given from now on.
        """
        self._given_before_device = self._given
        self._device = device

    def report(self, played_s: float, now: float = 0.0) -> None:
        """Record the listener's report that ``played_s`` seconds have been played in all.

        ConfigError, with nothing changed, if that is less than before or more than was given.
        """
        played_s = check_number("played_s", played_s, 0.0, math.inf)
        if (refusal := beyond(played_s, self.given_s)) is not None:
            raise ConfigError(refusal)
        last_s = self.reported_s or 0.0
        if played_s < last_s - TOLERANCE_S:
            raise ConfigError(f"played_s is {played_s:.3f}, but was {last_s:.3f} before: count on.")
        self.reported_s = max(last_s, played_s)
        self._reported_at = now

    @property
    def known_s(self) -> float | None:
        """Seconds played according to the device or the last report; None if there is neither."""
        if self._device is not None:
            return min(self._given, self._given_before_device + self._device()) / self._rate
        return None if self.reported_s is None else min(self.given_s, self.reported_s)

    def played_s(self, now: float) -> float:
        """Return the seconds played, by the best source available."""
        known_s = self.known_s
        if known_s is None:
            return max(0.0, self.given_s - self.buffered_s(now))
        if self._device is not None:
            return known_s
        return min(self.given_s, known_s + min(self._extrapolate_s, now - self._reported_at))

    def left_s(self, now: float) -> float:
        """Return the seconds that are still to be played, by the best source available."""
        return self.given_s - self.played_s(now)

    def buffered_s(self, now: float) -> float:
        """Return the seconds that the simulated player has still to play; reports do not count."""
        return 0.0 if math.isinf(self.dry_at) else max(0.0, self.dry_at - now)


def beyond(played_s: float, given_s: float) -> str | None:
    """Return an error message if ``played_s`` exceeds the ``given_s`` seconds of sound; None if it
    does not."""
    if played_s <= given_s + TOLERANCE_S:
        return None
    return (
        f"played_s is {played_s:.3f}, but only {given_s:.3f} s of sound were emitted: "
        "count only the sound of this text, from its first sample."
    )
