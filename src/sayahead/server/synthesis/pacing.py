"""The clock of one utterance: when its text came, when its player runs dry, and what metrics record
of it."""

from __future__ import annotations

import asyncio
import math
from collections import deque

from sayahead.engine.batch_size import BatchSize
from sayahead.engine.playback import Playback
from sayahead.server.operation.metrics import Metrics
from sayahead.server.operation.rate_limits import Account
from sayahead.server.synthesis.capacity import Lateness
from sayahead.server.synthesis.threads import EncodedChunk

# Arrival times kept while no word was sent.
FRAGMENTS = 10000


class Pacing:
    """Follows one utterance: its text, its player, and what metrics record of both."""

    # For so long after a client reported its position, it is assumed to go on playing.
    TELLING_S = 0.5

    def __init__(
        self,
        metrics: Metrics,
        loop: asyncio.AbstractEventLoop,
        lateness: Lateness,
        account: Account | None = None,
    ) -> None:
        """``account``: the client's; while it is over its budget, late chunks do not count as an
        overload of the server."""
        self._metrics = metrics
        self._loop = loop
        self._lateness = lateness
        self._account = account
        # End in the text and time of every fragment with words still to be sent.
        self._arrivals: deque[tuple[int, float]] = deque(maxlen=FRAGMENTS)
        self.first_text: float | None = None
        """When the first text came; None: not yet."""
        # When the last text, flush or end came; when the one came with which the next chunk could
        # be made; and from when on that chunk is late.
        self._settled = loop.time()
        self._unlocked = self._settled
        self._needed = self._settled
        self.playback = Playback(extrapolate_s=self.TELLING_S)
        self._audible = False
        self.waited_s = 0.0
        self.computed_s = 0.0
        """Wait for a thread, and processor time, up to the first audible sample."""
        self.underruns = 0
        self.first_audio_s: float | None = None
        """From the first text to the first audible sample; None: not yet."""
        self.last_sent = loop.time()
        """When the last chunk was sent."""

    def text(self, characters: int) -> None:
        """Note that text came; it has ``characters`` characters now."""
        now = self._loop.time()
        self.first_text = now if self.first_text is None else self.first_text
        self._arrivals.append((characters, now))
        self._settled = now

    def revised(self, at: int, characters: int, time: float) -> None:
        """Note that text from the position ``at`` on was replaced by a revision, which came at
        ``time``; it has ``characters`` characters now."""
        while self._arrivals and self._arrivals[-1][0] > at:
            self._arrivals.pop()
        self._arrivals.append((characters, time))

    def settled(self) -> None:
        """Note that a flush or the end came, after which words are final as after more text."""
        self._settled = self._loop.time()

    def deadline(self) -> float:
        """Begin with the next chunk; return when it is needed: when the player runs dry, or at once
        if it plays nothing yet."""
        self._unlocked = self._settled
        dry_at = self.playback.dry_at
        if math.isinf(dry_at):
            dry_at = self._settled
        self._needed = max(dry_at, self._settled)
        return dry_at

    def buffered_s(self) -> float:
        """Return the seconds of audio that the player has yet to play."""
        return self.playback.buffered_s(self._loop.time())

    def patience_s(self, batch_size: BatchSize) -> float:
        """Return how long a step may be delayed to get more words into it."""
        quiet_s = self._loop.time() - self._settled
        return batch_size.patience_s(left_s=self.buffered_s(), quiet_s=quiet_s)

    def played(self, played_s: float) -> None:
        """Note how much the client reports to have played; a smaller report than before is ignored.
        ConfigError if it is more than was sent."""
        played_s = max(played_s, self.playback.reported_s or 0.0)
        self.playback.report(played_s, self._loop.time())

    def give(self, duration_s: float) -> None:
        """Note that a frame of some seconds is sent, and count an underrun if it is too late."""
        dry_at = self.playback.dry_at
        if self.playback.give(duration_s, self._loop.time()) and self._unlocked < dry_at:
            self._metrics.underruns.inc()
            self.underruns += 1

    def sent(self, chunk: EncodedChunk, *, duration_s: float) -> None:
        """Record the metrics of a chunk whose frames, of some seconds, were all sent."""
        now = self._loop.time()
        self.last_sent = now
        if self._account is None or not self._account.debt_s:
            self._lateness.add(now - self._needed - chunk.computed_s)
        self._metrics.queue.observe(chunk.waited_s)
        if duration_s:
            self._metrics.rtf.observe(chunk.took_s / duration_s)
        self._metrics.computing.inc(chunk.computed_s)
        if not self._audible:
            self.waited_s = self.waited_s + chunk.waited_s
            self.computed_s = self.computed_s + chunk.computed_s
        if chunk.audible and not self._audible:
            self._audible = True
            self._metrics.first_computing.observe(self.computed_s)
            if self.first_text is not None:
                self.first_audio_s = now - self.first_text
                self._metrics.first_audio.labels("first_text").observe(self.first_audio_s)
            self._metrics.first_audio.labels("settling_text").observe(now - self._unlocked)
        for word in chunk.words:
            while self._arrivals and self._arrivals[0][0] < word.end:
                self._arrivals.popleft()
            if self._arrivals:
                self._metrics.word_delay.observe(now - self._arrivals[0][1])
