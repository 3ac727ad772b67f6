"""How far a listener has got, and when a voice must go on so that the player does not run dry."""

from __future__ import annotations

import math
from typing import Protocol, runtime_checkable

from sayahead.engine.session import Session
from sayahead.sound.files import Sink

IDLE_S = 0.6
"""Seconds without text after which everything so far is spoken, with a breath."""


@runtime_checkable
class Device(Sink, Protocol):
    """A sink that plays, as ``sound.device.Player``."""

    def played(self) -> int:
        """Samples that were heard."""
        ...


class Playback:
    """What a player has heard that begins with the first sound and plays in real time: assumed of one that is silent.

    Times are those of one clock, in seconds.
    """

    def __init__(self) -> None:
        self._given_s, self._dry = 0.0, math.inf

    def give(self, seconds: float, now: float) -> None:
        """It is given more sound."""
        self._given_s += seconds
        self._dry = now + seconds if math.isinf(self._dry) else max(self._dry, now) + seconds

    def played_s(self, now: float) -> float:
        """Seconds of sound that it has played."""
        return 0.0 if math.isinf(self._dry) else max(0.0, self._given_s - max(0.0, self._dry - now))


EARLY_S = 0.05
"""So long before a player runs dry a session that keeps up is pulled, to finish a word in time."""


def early_s(session: Session) -> float:
    """Seconds until then; infinite where the player has run dry, or the session does not go by it."""
    left_s = session.unplayed_s - EARLY_S
    # Not at once: a player that stands still must not keep a processor busy.
    return max(0.02, left_s) if session.keeps_up and left_s > 0 else math.inf
