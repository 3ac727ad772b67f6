"""Scheduling: when a session must make its next step so that the player does not run dry."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from sayahead.engine.batch_size import UNKNOWN_S, BatchSize
from sayahead.engine.session import Flush, Item, Session
from sayahead.types import AudioChunk

IDLE_S = 0.6
"""Seconds without text after which all text so far is spoken, with a breath."""
STEPS = 4
"""Number of recent steps over which the cost of a step is averaged."""
EARLY_S = 0.05
"""A session that keeps up is pulled this long before its player runs dry, so that a word can be
finished in time."""


class StepScheduler:
    """Makes the steps of a session. A step speaks several words (``step_words``) if the player has
    enough sound left."""

    def __init__(
        self,
        session: Session,
        *,
        awaited: bool,
        whole: bool,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``awaited``: whether steps may wait for more text, because the caller comes back in time;
        ``whole``: whether the first item is the whole text; ``clock``: returns the time in
        seconds."""
        self.live = True
        """Whether somebody listens in real time."""

        self._session = session
        self._clock = clock
        self._may_wait = awaited and not session.keeps_up
        self._batch_size = BatchSize(session.step_words or 1)
        self._step_s = UNKNOWN_S
        self._is_whole_text = whole and self._batch_size.max_words > 1
        self._last_text_at = 0.0
        """Time of the last text."""
        self._is_flushing = False
        """Whether a flush wants all text spoken now."""

    def on_item(self, item: Item) -> None:
        """Record that the session was given an item of its text."""
        if self._is_whole_text:
            self._session.finish()
        self._last_text_at = self._clock() if item else self._last_text_at
        self._is_flushing = self._is_flushing or isinstance(item, Flush)

    def spare_s(self, left_s: Callable[[], float]) -> float:
        """Return how long to wait for more text although some could be spoken.

        ``left_s``: returns the seconds that the player has left.
        """
        if (
            self._batch_size.max_words == 1
            or not (self.live and self._may_wait)
            or self._is_flushing
            or self._session.ended
        ):
            return 0.0
        quiet_s = self._clock() - self._last_text_at
        return self._batch_size.spare_s(self._session.unspoken, left_s=left_s(), quiet_s=quiet_s)

    def pull(self, left_s: Callable[[], float]) -> AudioChunk | None:
        """Return the session's next chunk; None if it needs more text, or waits for some."""
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
            self._is_flushing = False
        else:
            self._batch_size.made()
            self._step_s += (time.thread_time() - start - self._step_s) / STEPS
        return chunk


def early_s(session: Session) -> float:
    """Return the seconds until the session must be pulled.

    Infinite if the player has run dry, or the session does not follow it.
    """
    left_s = session.unplayed_s - EARLY_S
    # At least 20 ms, so that a stopped player does not keep a core busy.
    return max(0.02, left_s) if session.keeps_up and left_s > 0 else math.inf
