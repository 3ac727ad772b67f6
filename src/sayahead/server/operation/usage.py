"""Usage: what each key has had spoken per day, written to a store before the sound is sent.

The event loop notes usage and a writer thread stores it. Whatever is sent waits for that
(``Usage.after``), so nothing is sent unbilled. If the store fails or is slow, nothing waits: usage
stays in memory until it can be written. Nor does anything wait for a store in memory, which ends
with the server.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import TypeAlias, TypeVar

from sayahead.server.operation.counters import PerClient
from sayahead.server.operation.keys import Terms
from sayahead.server.operation.metrics import Metrics
from sayahead.server.operation.owner import BusyError, Owner, Worker
from sayahead.server.operation.siblings import Siblings
from sayahead.server.operation.usage_file import Place, Store, Used, merged, today

T = TypeVar("T")
Sums: TypeAlias = tuple[int, int, float]
"""Requests, characters and seconds of audio."""
NOTHING: Sums = (0, 0, 0.0)
log = logging.getLogger("sayahead.server")
FRESH_S = 1.0
"""Interval at which the totals for quotas are read again, since other servers add to them, too."""
SENT_S = 0.5
"""Longest time that sending waits for usage to be written."""
WRITE_S = 0.2
"""Interval of writing while nothing waits for it."""
AGAIN_S = 0.5
"""Time until a failed write is tried again."""
READ_S = 1.0
"""Timeout of a request for usage."""
USED_S = 60.0
"""How long the totals of a key are kept up to date after their last use."""
END_S = 5.0
"""Timeout for writing the last usage when the process ends."""
REQUEST_PREFIX = "begun "
"""Prefix of a key's name in the counter of its requests."""
MINUTE_S = 60
SOUND_PER_S = 2
"""Fewest characters billed for a second of sound, because a lexicon, an alias or a break can make
much sound of little text. Normal speech has 12 to 16."""
SOUND_FREE_S = 5.0
"""Seconds of sound per text before that minimum applies."""


class UnreadableError(Exception):
    """Usage cannot be read now; the reason is in the log."""


class Usage:
    """What keys use, and how much of its quota each has left. Methods are called on the event loop
    unless they say otherwise."""

    def __init__(
        self,
        store: Store,
        metrics: Metrics,
        siblings: Siblings | None = None,
        *,
        lasting: bool = True,
    ) -> None:
        """``siblings``: the processes of this server, which share the store; ``lasting``: whether
        the store outlives the server, so that nothing is sent before it is billed."""
        self._siblings = siblings or Siblings()
        self._counters = self._siblings.counters
        self.store = store
        self._metrics = metrics
        self._outlives_server = lasting
        self._owner = Owner()
        # Guarded by `_condition`: sums noted and not yet taken by the writer, how often something
        # was noted, how many of those times are settled (written, or failed to be), and places by
        # key.
        self._condition = threading.Condition()
        self._new_sums = dict[Place, Sums]()
        self._noted_count = 0
        self._settled_count = 0
        self._write_now = False
        self._ended = False
        self._places = dict[str, int]()
        # Whoever holds `_store_lock` sees a consistent pair: the rows that could not be written
        # yet, and the store.
        self._store_lock = threading.Lock()
        self._unstored = list[Used]()
        # Owned by the event loop: callbacks with the number of notes that each waits for, the timer
        # that ends their wait, and whether writing has stalled so that nothing waits.
        self._waiting_calls: deque[tuple[int, Callable[[], None]]] = deque()
        self._stall_timer: asyncio.TimerHandle | None = None
        self._is_stalled = False
        self._loop: asyncio.AbstractEventLoop | None = None
        # Per key: date, totals of the day and the month, and the characters written when they were
        # read; and the time of its last use.
        self._totals = dict[str, tuple[str, int, int, float]]()
        self._last_use = dict[str, float]()
        self._process = f"{self._siblings.name}.{self._siblings.index}"
        self._elsewhere = dict[str, int]()
        self._end = threading.Event()
        self._reader = Worker("usage-reader")
        self._threads = [
            threading.Thread(target=self._write, name="usage-writer", daemon=True),
            threading.Thread(target=self._run_periodic, name="usage", daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def own(self) -> None:
        """Make this thread's event loop the owner, which alone may note and ask."""
        self._owner.take()

    # Noting and writing.

    def add(
        self,
        key: str,
        protocol: str,
        voice: str,
        *,
        requests: int = 0,
        characters: int = 0,
        audio_s: float = 0.0,
    ) -> None:
        """Note what a key uses today, before it gets it: amounts to be added to its ``Used``."""
        self._owner.check()
        self._metrics.used(key, voice, characters, audio_s)
        place = key, today(), protocol, voice
        with self._condition:
            sums = self._new_sums.get(place, NOTHING)
            self._new_sums[place] = sums[0] + requests, sums[1] + characters, sums[2] + audio_s
            self._noted_count += 1
            if characters:
                self._counters.add(PerClient.CHARACTERS, key, characters)

    @property
    def _unwritten(self) -> list[Used]:
        """Return what was noted and is not written."""
        return self._unstored + [Used(*place, *sums) for place, sums in self._new_sums.items()]

    @property
    def current(self) -> bool:
        """Whether sending need not wait: everything is written, cannot be written now, or would not
        outlive the server."""
        return (
            not self._outlives_server
            or self._is_stalled
            or self._settled_count >= self._noted_count
        )

    def after(self, call: Callable[[], None]) -> None:
        """Call ``call`` on the event loop once everything noted so far is written; at once if it
        is.

        Calls keep their order. If writing fails or takes longer than ``SENT_S``, calls do not wait
        until it works again.
        """
        self._owner.check()
        if self.current and not self._waiting_calls:
            call()
            return
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
        self._waiting_calls.append((self._noted_count, call))
        if self._stall_timer is None:
            self._stall_timer = self._loop.call_later(SENT_S, self._give_up)
        with self._condition:
            self._write_now = True
            self._condition.notify_all()

    async def settled(self) -> None:
        """Wait until everything noted so far is written, as ``after`` does."""
        if not self.current:
            future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self.after(lambda: None if future.done() else future.set_result(None))
            await future

    def _on_written(self, is_stalled: bool) -> None:
        """Run the callbacks whose rows are settled, or all if writing has stalled; called after
        each write."""
        self._owner.check()
        self._is_stalled = is_stalled
        while self._waiting_calls and (
            is_stalled or self._waiting_calls[0][0] <= self._settled_count
        ):
            self._waiting_calls.popleft()[1]()
        if not self._waiting_calls and self._stall_timer is not None:
            self._stall_timer.cancel()
            self._stall_timer = None

    def _give_up(self) -> None:
        """Stop waiting for the writer, which takes too long."""
        self._stall_timer = None
        log.warning(
            "Usage is written too slowly: sound does not wait for it, and it is kept in memory"
            " meanwhile."
        )
        self._on_written(is_stalled=True)

    def _write(self) -> None:
        """Write new rows until the end: the writer thread."""
        failed = False
        while True:
            with self._condition:
                if not self._ended and not (self._write_now and self._new_sums and not failed):
                    self._condition.wait(AGAIN_S if failed else WRITE_S)
                self._write_now = False
                ended = self._ended
            failed = not self._write_noted()
            if ended:
                return

    def _write_noted(self) -> bool:
        """Write all rows noted so far; return whether that worked."""
        with self._store_lock:
            with self._condition:
                self._unstored = self._unwritten
                self._new_sums = {}
                count = self._noted_count
            if not self._unstored and count == self._settled_count:
                return True
            try:
                if self._unstored:
                    self._unstored = merged(self._unstored)
                    self.store.add(self._unstored)
            except Exception as error:
                log.error(
                    "Usage cannot be written, and is kept in memory.", extra={"why": str(error)}
                )
                failed = True
            else:
                for row in self._unstored:
                    self._counters.add(PerClient.WRITTEN, row.key, row.characters)
                self._unstored = []
                failed = False
            with self._condition:
                self._settled_count = count
                self._condition.notify_all()
        if self._loop is not None and not self._loop.is_closed():
            try:
                self._loop.call_soon_threadsafe(self._on_written, failed)
            except RuntimeError:
                log.debug("The event loop has ended.")
        return not failed

    def settle(self, timeout_s: float = END_S) -> bool:
        """Wait, on any thread, until everything noted so far is written or has failed; return
        whether that happened in time."""
        with self._condition:
            count = self._noted_count
            self._write_now = True
            self._condition.notify_all()
            return self._condition.wait_for(lambda: self._settled_count >= count, timeout_s)

    # Reading.

    def _consistent_read(
        self, read: Callable[[Callable[[], None]], T], keep: Callable[[], None]
    ) -> T:
        """Return the result of ``read``, which reads the store, and let ``keep`` take the unwritten
        rows of the same moment.

        That moment is when ``read`` has its snapshot of the store, on which it calls its argument.
        The writer waits until then, so that each row is either in the snapshot or unwritten.
        """
        holds_lock = True

        def on_snapshot() -> None:
            nonlocal holds_lock
            if holds_lock:
                with self._condition:
                    keep()
                holds_lock = False
                self._store_lock.release()

        self._store_lock.acquire()
        try:
            return read(on_snapshot)
        finally:
            # An error may come before the snapshot.
            if holds_lock:
                self._store_lock.release()

    def rows(self, first: str, last: str, key: str | None = None) -> list[Used]:
        """Return the usage from day ``first`` to day ``last``, unwritten rows included; on any
        thread.

        OSError if it cannot be read.
        """
        unwritten = list[Used]()
        rows = self._consistent_read(
            lambda on_snapshot: self.store.rows(first, last, key, on_snapshot=on_snapshot),
            lambda: unwritten.extend(self._unwritten),
        )
        selected = [row for row in unwritten if first <= row.day <= last and key in (None, row.key)]
        return sorted(merged([*rows, *selected]), key=lambda row: row.place)

    async def read(self, job: Callable[[], T]) -> T:
        """Run a job on the thread that reads usage and return its result.

        UnreadableError if it fails or takes longer than ``READ_S``.
        """
        try:
            return await self._reader.run(job, most_s=READ_S)
        except (BusyError, OSError) as error:
            log.error("Usage cannot be read.", extra={"why": str(error)})
            raise UnreadableError("Usage cannot be read now: ask again in a moment.") from error

    def totals(self, key: str) -> tuple[int, int]:
        """Return the characters that a key has had spoken today and this month."""
        self._owner.check()
        date = today()
        with self._condition:
            self._last_use[key] = time.monotonic()
            cached = self._totals.get(key)
        written = self._counters.sum(PerClient.WRITTEN, key)
        if cached is None or cached[0] != date:
            try:
                day, month = self.store.glance(key, date)
            except OSError as error:
                log.error("Usage cannot be read.", extra={"why": str(error)})
                day = 0
                month = 0
            cached = date, day, month, written
            with self._condition:
                self._totals[key] = cached
        _, day, month, noted_before = cached
        noted = self._counters.sum(PerClient.CHARACTERS, key)
        added = max(0, round(noted - noted_before))
        return day + added, month + added

    def _refresh(self) -> None:
        """Read the totals of keys in use again; on the periodic thread."""
        date = today()
        oldest = time.monotonic() - USED_S
        with self._condition:
            for key in [key for key, used_at in self._last_use.items() if used_at < oldest]:
                del self._last_use[key]
                self._totals.pop(key, None)
            keys = list(self._last_use)
        written = dict[str, float]()

        def keep() -> None:
            written.update((key, self._counters.sum(PerClient.WRITTEN, key)) for key in keys)

        totals = self._consistent_read(
            lambda on_snapshot: self.store.totals(keys, date, on_snapshot=on_snapshot), keep
        )
        with self._condition:
            for key, sums in totals.items():
                self._totals[key] = date, *sums, written[key]

    # Quotas and places.

    def refusal(self, key: str, terms: Terms, characters: int) -> str | None:
        """Return why a key may not have ``characters`` more spoken, or None if it may."""
        if characters <= 0 or not (terms.characters_per_day or terms.characters_per_month):
            return None
        day, month = self.totals(key)
        for limit, used, period in (
            (terms.characters_per_day, day, "day"),
            (terms.characters_per_month, month, "month"),
        ):
            remaining = limit - used - round(self._counters.sum(PerClient.WAITING, key))
            if limit and characters > remaining:
                return (
                    f"This key may have {limit} characters spoken in a {period}, of which"
                    f" {max(0, remaining)} are left."
                )
        return None

    def begin(self, key: str, terms: Terms) -> str | None:
        """Count a request that begins; return why it may not, or None."""
        self._owner.check()
        if terms.requests_per_minute:
            if self._counters.recent(REQUEST_PREFIX + key, MINUTE_S) >= terms.requests_per_minute:
                return (
                    f"This key may begin {terms.requests_per_minute} texts in a minute: wait a"
                    " moment."
                )
            self._counters.note(REQUEST_PREFIX + key)
        return None

    def bill(
        self, key: str, terms: Terms, protocol: str, voice: str, *, whole: bool = False
    ) -> Bill:
        """Return the bill of one text.

        ``whole``: whether it is charged at the end of the text, because the client gets all of it
        at once.
        """
        return Bill(self, key, terms, protocol, voice, whole=whole)

    def reserve(self, key: str, characters: int) -> None:
        """Add ``characters`` (negative to subtract) to the unspoken text of a key, which counts
        against its quota."""
        self._owner.check()
        if characters:
            self._counters.add(PerClient.WAITING, key, characters)

    def take(self, key: str, places: int) -> None:
        """Set how many places a key has taken in this process."""
        with self._condition:
            self._places[key] = places
            if not places:
                del self._places[key]

    def elsewhere(self, key: str) -> int:
        """Return how many places a key had a moment ago in the other servers that share the
        store."""
        return self._elsewhere.get(key, 0)

    def _run_periodic(self) -> None:
        """Maintain the store, refresh totals and exchange places every ``FRESH_S``: the periodic
        thread."""
        while not self._end.wait(FRESH_S):
            for job in (self.store.tend, self._refresh, self._exchange_places):
                try:
                    job()
                except Exception as error:
                    self._elsewhere = {}
                    log.warning(
                        "Usage could not be passed on, and is tried again.",
                        extra={"why": str(error)},
                    )

    def _exchange_places(self) -> None:
        """Publish the places that keys have taken here, and read those of the other servers."""
        with self._condition:
            places = dict(self._places)
        self._elsewhere = self.store.meet(self._process, places)

    def close(self) -> None:
        """Write what was noted, when the process ends; a store that hangs is given up after
        ``END_S``."""
        self._end.set()
        with self._condition:
            self._ended = True
            self._condition.notify_all()
        self._reader.close()
        for thread in self._threads:
            thread.join(END_S)
        closing = threading.Thread(target=self.store.close, name="usage-end", daemon=True)
        closing.start()
        closing.join(END_S)


class Bill:
    """The cost of one text, noted before its sound is sent."""

    def __init__(
        self, usage: Usage, key: str, terms: Terms, protocol: str, voice: str, *, whole: bool
    ) -> None:
        """``whole``: as for ``Usage.bill``."""
        self._usage = usage
        self._key = key
        self._terms = terms
        self._protocol = protocol
        self.voice = voice
        self._whole = whole
        # Characters of the text that were spoken, that were billed, and that are reserved.
        self._spoken = 0
        self._billed = 0
        self._waiting = 0
        self._end = 0
        self._closed = False
        self._audio_s = 0.0

    def begin(self) -> None:
        """The text begins."""
        self._usage.add(self._key, self._protocol, self.voice, requests=1)

    def refusal(self, characters: int) -> str | None:
        """Return why ``characters`` more may not be spoken, or None if they may."""
        return self._usage.refusal(self._key, self._terms, characters)

    def expect(self, end: int) -> None:
        """Update the reservation: the text has ``end`` characters so far, and the unspoken ones are
        reserved."""
        self._end = end
        waiting = 0 if self._closed else max(0, end - self._spoken)
        self._usage.reserve(self._key, waiting - self._waiting)
        self._waiting = waiting

    def spoken(self, characters: int, audio_s: float, *, over: bool = False) -> None:
        """Bill the text up to ``characters`` and the sound up to ``audio_s``, both counted from its
        start.

        ``over``: whether the text is complete.
        """
        if self._whole and not over:
            return
        spoken = max(characters, self._spoken)
        sent_s = max(audio_s, self._audio_s)
        # Much sound of little text counts as more characters.
        billed = max(self._billed, spoken, int(SOUND_PER_S * (sent_s - SOUND_FREE_S)))
        if billed > self._billed or sent_s > self._audio_s:
            self._usage.add(
                self._key,
                self._protocol,
                self.voice,
                characters=billed - self._billed,
                audio_s=round(sent_s - self._audio_s, 6),
            )
            self._spoken = spoken
            self._billed = billed
            self._audio_s = sent_s
            self.expect(self._end)

    def close(self) -> None:
        """Release the reservation: nothing more is spoken. May be called again."""
        self._closed = True
        self.expect(self._end)
