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
"""A player with less sound than this is about to run dry."""


@dataclass(frozen=True, slots=True)
class KeepUp:
    """How speech follows text that comes faster or slower than it.

    From half of ``lag_s``, pauses become shorter; from ``lag_s`` to four thirds of it, speech
    becomes faster.
    """

    lag_s: float = 1.5
    """Lag in seconds above which speech becomes faster."""
    max_speed: float = 1.8
    """Bound: at most so many times the session's own speed."""
    min_pause: float = 0.4
    """Bound: the shortest pauses within and after sentences, as a share of their normal length."""
    gather: int = 5
    """At most so many words wait for the end of their phrase once the player has run dry; 0 or 1:
    none waits."""
    stretch: float = 1.4
    """Factor on the last sound before the player runs dry."""

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

    # What a character lasts until this session's own are known, and how many characters of its own
    # outweigh that.
    CHARACTER_S = 0.065
    CHARACTERS = 100
    # Share of the way to the wanted speed that each word makes.
    CHANGE = 0.25
    # Share of ``lag_s`` beyond it in which speed goes from the session's own to its bound: the lag
    # settles within it.
    WITHIN = 1 / 3

    def __init__(self, keep_up: KeepUp | None, sample_rate: int) -> None:
        self.keep_up = keep_up
        self._rate = sample_rate
        # Without a clock: only what is reported counts as played.
        self._playback = Playback(sample_rate)
        self._speed = 1.0
        self._pause = 1.0
        # Seconds that the text spoken so far would have lasted at the session's own speed.
        self._own_s = 0.0

    @property
    def unplayed_s(self) -> float:
        """Seconds of sound that were emitted and not played; 0 if nobody has told."""
        played_s = self._playback.known_s
        return 0.0 if played_s is None else self._playback.given_s - played_s

    @property
    def dry(self) -> bool:
        """Whether the player, having played something, is about to run dry."""
        told = self._playback.known_s is not None and self._playback.given_s > 0
        return self.keep_up is not None and told and self.unplayed_s <= DRY_S

    def played(self, played_s: float) -> None:
        """So many seconds have been played in all. ConfigError if that is less than before, or more
        than there is."""
        self._playback.report(played_s)

    def follow(self, playback: Playback, now: float) -> None:
        """Go by how far a player is ``now``; never back."""
        before_s = self._playback.known_s or 0.0
        played_s = min(playback.played_s(now), self._playback.given_s)
        self._playback.report(max(before_s, played_s))

    def emitted(self, samples: int) -> None:
        """So many samples were emitted."""
        self._playback.give(samples)
        self._own_s += samples / self._rate * self._speed

    def lag_s(self, spoken: int, waiting: int) -> float:
        """Seconds that speech is behind the text: the sound that is not played yet, and ``waiting``
        characters at the mean length of the ``spoken`` ones. As many as ``CHARACTERS`` of a usual
        length count beside these, so that the first few decide little."""
        character_s = (self._own_s + self.CHARACTER_S * self.CHARACTERS) / (
            spoken + self.CHARACTERS
        )
        return self.unplayed_s + waiting * character_s

    def applied(self, segment: Segment, spoken: int, waiting: int) -> Segment:
        """The segment at the speed, and with the pauses, that the lag asks for."""
        if self.keep_up is None:
            return segment
        over = self.lag_s(spoken, waiting) / self.keep_up.lag_s
        change = 1 - (1 - self.CHANGE) ** len(segment.spans)
        hurry = min(max(over - 1, 0) / self.WITHIN, 1)
        self._speed += change * (1 + (self.keep_up.max_speed - 1) * hurry - self._speed)
        self._pause += change * (
            1 - (1 - self.keep_up.min_pause) * min(max(2 * over - 1, 0), 1) - self._pause
        )
        return paced(segment, self._speed, self._pause)


def paced(segment: Segment, speed: float, pause: float) -> Segment:
    """A segment said so many times as fast, with pauses, that of its end and those within it, of
    this share."""
    if speed == pause == 1.0:
        return segment
    speeds = np.ones(len(segment.ids), np.float32) if segment.speeds is None else segment.speeds
    factors = np.full(len(segment.ids), speed, np.float32)
    factors[: segment.speak] /= np.float32(pause)
    for first, end in segment.spans:
        # Those of models that read characters count from their sentence's first one, and have no
        # phonemes.
        factors[first:end] = speed
    return replace(segment, speeds=speeds * factors, pause=segment.pause * pause)
