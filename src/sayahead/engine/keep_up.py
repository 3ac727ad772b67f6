"""Keeping up with text that is faster than speech, and waiting where a phrase may pause for text
that is slower."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from sayahead.config import Spec, call, check_number, check_whole, describe, named
from sayahead.engine.playback import Playback
from sayahead.errors import ConfigError
from sayahead.types import Segment

DRY_S = 0.1
"""A player with less sound than this buffered is about to run dry."""


@dataclass(frozen=True, slots=True)
class KeepUp:
    """How speech follows text that comes faster or slower than it.

    From half of ``lag_s``, pauses become shorter; from ``lag_s`` to four thirds of it, speech
    becomes faster.
    """

    lag_s: float = 1.5
    """Lag in seconds above which speech becomes faster."""
    max_speed: float = 1.8
    """The highest speed, as a multiple of the session's own."""
    min_pause: float = 0.4
    """The shortest pauses within and after sentences, as a fraction of their normal length."""
    gather: int = 5
    """Once the player has run dry, at most this many words wait for the end of their phrase; with 0
    or 1, none waits."""
    stretch: float = 1.4
    """Factor by which the last sound before the player runs dry is lengthened."""

    def __post_init__(self) -> None:
        check_number("KeepUp: lag_s", self.lag_s, 0.1, 3600.0)
        check_number("KeepUp: max_speed", self.max_speed, 1.0, 10.0)
        check_number("KeepUp: min_pause", self.min_pause, 0.1, 1.0)
        check_whole("KeepUp: gather", self.gather, 0, 64)
        check_number("KeepUp: stretch", self.stretch, 1.0, 3.0)


def keep_up(spec: object) -> KeepUp | None:
    """A KeepUp from ``"lag_s=2,max_speed=1.4"``, a table of the same, True or "on" (the defaults);
    None from "off".

    ConfigError for an unknown option, with the nearest one, and for a value out of range.
    """
    if isinstance(spec, KeepUp):
        return spec
    if spec in (None, False, "off"):
        return None
    options: Spec
    if spec in (True, "on"):
        options = "keep_up"
    elif isinstance(spec, str) and "=" in spec:
        options = f"keep_up:{spec}"
    elif isinstance(spec, Mapping):
        options = {"name": "keep_up", **spec}
    else:
        raise ConfigError(
            f"keep_up is {describe(spec)}, but must be true (on), false (off), options such as"
            " lag_s=2, or a table of them."
        )
    return call(KeepUp, named("keep_up", options)[1], where="keep_up")


class Pace:
    """The lag of one session, and the speed that follows from it."""

    # Prior for the duration of a character, and its weight in characters, until the session has
    # measured its own.
    PRIOR_CHARACTER_S = 0.065
    PRIOR_CHARACTERS = 100
    # Fraction of the distance to the target speed that each word covers.
    SMOOTHING = 0.25
    # Speed rises from the session's own to ``max_speed`` while the lag exceeds ``lag_s`` by up to
    # this fraction of it, so the lag settles in that range.
    SPEEDUP_RANGE = 1 / 3

    def __init__(self, keep_up: KeepUp | None, sample_rate: int) -> None:
        self.keep_up = keep_up
        self._rate = sample_rate
        # It has no clock: only reported playback counts.
        self._playback = Playback(sample_rate)
        self._speed = 1.0
        self._pause = 1.0
        # Seconds that the spoken text would have lasted at the session's own speed.
        self._unhurried_s = 0.0

    @property
    def unplayed_s(self) -> float:
        """Seconds of sound that were emitted and not played; 0 if no playback was ever reported."""
        played_s = self._playback.known_s
        return 0.0 if played_s is None else self._playback.given_s - played_s

    @property
    def dry(self) -> bool:
        """Whether the player has played something and is about to run dry."""
        has_played = self._playback.known_s is not None and self._playback.given_s > 0
        return self.keep_up is not None and has_played and self.unplayed_s <= DRY_S

    def played(self, played_s: float) -> None:
        """Report that ``played_s`` seconds have been played in all.

        ConfigError if that is less than reported before, or more than was emitted.
        """
        self._playback.report(played_s)

    def follow(self, playback: Playback, now: float) -> None:
        """Take over how far a player is at time ``now``; never goes back."""
        before_s = self._playback.known_s or 0.0
        played_s = min(playback.played_s(now), self._playback.given_s)
        self._playback.report(max(before_s, played_s))

    def emitted(self, samples: int) -> None:
        """Record that ``samples`` samples were emitted."""
        self._playback.give(samples)
        self._unhurried_s += samples / self._rate * self._speed

    def lag_s(self, spoken: int, waiting: int) -> float:
        """Return how many seconds speech is behind the text: the unplayed sound, and the estimated
        duration of the ``waiting`` characters.

        A character lasts the mean of the ``spoken`` ones and of ``PRIOR_CHARACTERS`` of the usual
        length, so that the first few decide little.
        """
        character_s = (self._unhurried_s + self.PRIOR_CHARACTER_S * self.PRIOR_CHARACTERS) / (
            spoken + self.PRIOR_CHARACTERS
        )
        return self.unplayed_s + waiting * character_s

    def applied(self, segment: Segment, spoken: int, waiting: int) -> Segment:
        """Return the segment with the speed and pauses that the lag calls for.

        Both approach their targets by a fraction per word.
        """
        if self.keep_up is None:
            return segment
        relative_lag = self.lag_s(spoken, waiting) / self.keep_up.lag_s
        step = 1 - (1 - self.SMOOTHING) ** len(segment.spans)
        speedup = min(max(relative_lag - 1, 0) / self.SPEEDUP_RANGE, 1)
        self._speed += step * (1 + (self.keep_up.max_speed - 1) * speedup - self._speed)
        # Pauses shorten first: from half of the lag on, to their minimum at all of it.
        shortening = min(max(2 * relative_lag - 1, 0), 1)
        self._pause += step * (1 - (1 - self.keep_up.min_pause) * shortening - self._pause)
        return paced(segment, self._speed, self._pause)


def paced(segment: Segment, speed: float, pause: float) -> Segment:
    """Return a segment spoken ``speed`` times as fast, with its pauses scaled by ``pause``."""
    if speed == pause == 1.0:
        return segment
    speeds = np.ones(len(segment.ids), np.float32) if segment.speeds is None else segment.speeds
    factors = np.full(len(segment.ids), speed, np.float32)
    factors[: segment.speak] /= np.float32(pause)
    for first, end in segment.spans:
        # Spans of models that read characters count from the start of the sentence, and their
        # segments have no phonemes.
        factors[first:end] = speed
    return replace(segment, speeds=speeds * factors, pause=segment.pause * pause)
