"""When a voice must go on so that the player does not run dry."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from sayahead.engine.batch_size import UNKNOWN_S, BatchSize
from sayahead.engine.session import Flush, Item, Session
from sayahead.types import AudioChunk

IDLE_S = 0.6
"""Seconds without text after which everything so far is spoken, with a breath."""
STEPS = 4
"""The cost of a step is averaged over about so many of the last ones."""
EARLY_S = 0.05
"""Seconds before a player runs dry at which a session that keeps up is pulled, so that a word can
be finished in time."""


class StepScheduler:
    """The steps of a session that says several words in one where the player has sound left
    (``step_words``)."""

    def __init__(
        self,
        session: Session,
        *,
        awaited: bool,
        whole: bool,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``awaited``: whether its text may be awaited, as somebody comes back in time; ``whole``:
        its first piece is all of it. ``clock``: the time in seconds."""
        self.live = True
        """Whether somebody listens meanwhile."""

        self._session = session
        self._clock = clock
        self._awaited = awaited and not session.keeps_up
        self._batch_size = BatchSize(session.step_words or 1)
        self._step_s = UNKNOWN_S
        self._whole = whole and self._batch_size.max_words > 1
        self._settled = 0.0
        """When text came last."""
        self._pressed = False
        """Whether all of the text is wanted now."""

    def took(self, item: Item) -> None:
        """The session was given a piece of the text."""
        if self._whole:
            self._session.finish()
        self._settled = self._clock() if item else self._settled
        self._pressed = self._pressed or isinstance(item, Flush)

    def spare_s(self, left_s: Callable[[], float]) -> float:
        """How long more text is awaited although some could be spoken; ``left_s`` tells what is
        left to play."""
        if (
            self._batch_size.max_words == 1
            or not (self.live and self._awaited)
            or self._pressed
            or self._session.ended
        ):
            return 0.0
        quiet_s = self._clock() - self._settled
        return self._batch_size.spare_s(self._session.unspoken, left_s=left_s(), quiet_s=quiet_s)

    def pull(self, left_s: Callable[[], float]) -> AudioChunk | None:
        """The session's next chunk; None if that takes more text, or more is awaited."""
        if self._batch_size.max_words == 1 or not self.live:
            return self._session.pull()
        if self.spare_s(left_s):
            return None
        start = time.thread_time()
        self._session.prepare(
            together=self._batch_size.words(self._step_s, ended=self._session.ended)
        )
        chunk = self._session.pull()
        if chunk is None:
            self._pressed = False
        else:
            self._batch_size.made()
            self._step_s += (time.thread_time() - start - self._step_s) / STEPS
        return chunk


def early_s(session: Session) -> float:
    """Seconds until the session must be pulled; infinite where the player has run dry, or the
    session does not follow it."""
    left_s = session.unplayed_s - EARLY_S
    # Not at once: a player that stands still must not keep a processor busy.
    return max(0.02, left_s) if session.keeps_up and left_s > 0 else math.inf
