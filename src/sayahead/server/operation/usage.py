"""Usage: what each key has had spoken, by day, written before the sound leaves.

The event loop notes what a key uses, and a thread of its own writes that to the store. What is to
be sent waits for it (``Usage.after``), so nothing leaves that was not billed; but it does not wait
for a store that cannot be written, or for one that is slow: then usage is kept in memory until it
can. Nor does it wait for a store that ends with the server."""

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
"""How often totals are asked for against which quotas are held: other servers add to them, too."""
SENT_S = 0.5
"""How long what is to be sent waits at most until it is written down."""
WRITE_S = 0.2
"""After how long what was noted is written, if nothing that is to be sent waits for it."""
AGAIN_S = 0.5
"""After how long a store that could not be written is tried again."""
READ_S = 1.0
"""How long who asks for usage waits for it."""
USED_S = 60.0
"""How long totals of a key are kept up to date after they were asked for."""
END_S = 5.0
"""How long the end of the process waits for the last usage."""
BEGUN = "begun "
MINUTE_S = 60
"""Before a key, where its texts are counted, and for how long each counts."""
SOUND_PER_S = 2
SOUND_FREE_S = 5.0
"""Characters that a second of sound counts at least, beyond its first seconds: a lexicon, an alias
or a break may say far more than a text has. Speech has 12 to 16."""


class UnreadableError(Exception):
    """Usage cannot be read now; the reason is in the log."""


class Usage:
    """What keys use, and what is left to each. Its methods are the event loop's, unless they say
    otherwise."""

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
        self._lasting = lasting
        self._owner = Owner()
        # Under `_ready`: sums of what was noted and not yet taken to be written, how often that
        # was, and how much of it is written or has failed; places by key.
        self._ready = threading.Condition()
        self._noted = dict[Place, Sums]()
        self._count = 0
        self._done = 0
        self._hurry = False
        self._ended = False
        self._places = dict[str, int]()
        # Whoever has `_writing` sees what is owed together with what is written.
        self._writing = threading.Lock()
        self._owed = list[Used]()
        # Of the event loop: what waits for rows up to a number, until when, and whether it waits at
        # all.
        self._waiting_calls: deque[tuple[int, Callable[[], None]]] = deque()
        self._patience: asyncio.TimerHandle | None = None
        self._behind = False
        self._loop: asyncio.AbstractEventLoop | None = None
        # Totals of keys with their day and the characters that were written until then, and when
        # they were used.
        self._totals = dict[str, tuple[str, int, int, float]]()
        self._used = dict[str, float]()
        self._process = f"{self._siblings.name}.{self._siblings.index}"
        self._elsewhere = dict[str, int]()
        self._end = threading.Event()
        self._reader = Worker("usage-reader")
        self._threads = [
            threading.Thread(target=self._write, name="usage-writer", daemon=True),
            threading.Thread(target=self._tend, name="usage", daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def own(self) -> None:
        """This thread's event loop notes and asks from now on."""
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
        """Note what a key uses, before it gets it."""
        self._owner.check()
        self._metrics.used(key, voice, characters, audio_s)
        place = key, today(), protocol, voice
        with self._ready:
            sums = self._noted.get(place, NOTHING)
            self._noted[place] = sums[0] + requests, sums[1] + characters, sums[2] + audio_s
            self._count += 1
            if characters:
                self._counters.add(PerClient.CHARACTERS, key, characters)

    @property
    def _unwritten(self) -> list[Used]:
        """What was noted and is not written."""
        return self._owed + [Used(*place, *sums) for place, sums in self._noted.items()]

    @property
    def current(self) -> bool:
        """Whether what is to be sent need not wait: all is written, cannot be now, or would not
        outlive the server."""
        return not self._lasting or self._behind or self._done >= self._count

    def after(self, call: Callable[[], None]) -> None:
        """Call something on the event loop once all that was noted so far is written, in order; at
        once where it is.

        Where it cannot be written, or not within ``SENT_S``, nobody waits until it can.
        """
        self._owner.check()
        if self.current and not self._waiting_calls:
            call()
            return
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
        self._waiting_calls.append((self._count, call))
        if self._patience is None:
            self._patience = self._loop.call_later(SENT_S, self._give_up)
        with self._ready:
            self._hurry = True
            self._ready.notify_all()

    async def settled(self) -> None:
        """Wait as ``after`` does."""
        if not self.current:
            future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self.after(lambda: None if future.done() else future.set_result(None))
            await future

    def _written(self, behind: bool) -> None:
        """The writer has come further."""
        self._owner.check()
        self._behind = behind
        while self._waiting_calls and (behind or self._waiting_calls[0][0] <= self._done):
            self._waiting_calls.popleft()[1]()
        if not self._waiting_calls and self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _give_up(self) -> None:
        """The writer takes too long."""
        self._patience = None
        log.warning(
            "Usage is written too slowly: sound does not wait for it, and it is kept in memory"
            " meanwhile."
        )
        self._written(behind=True)

    def _write(self) -> None:
        """Write what was noted, again and again: the thread that writes."""
        failed = False
        while True:
            with self._ready:
                if not self._ended and not (self._hurry and self._noted and not failed):
                    self._ready.wait(AGAIN_S if failed else WRITE_S)
                self._hurry = False
                ended = self._ended
            failed = not self._write_noted()
            if ended:
                return

    def _write_noted(self) -> bool:
        """Write what was noted so far; whether that is possible."""
        with self._writing:
            with self._ready:
                self._owed = self._unwritten
                self._noted = {}
                count = self._count
            if not self._owed and count == self._done:
                return True
            try:
                if self._owed:
                    self._owed = merged(self._owed)
                    self.store.add(self._owed)
            except Exception as error:
                log.error(
                    "Usage cannot be written, and is kept in memory.", extra={"why": str(error)}
                )
                failed = True
            else:
                for row in self._owed:
                    self._counters.add(PerClient.WRITTEN, row.key, row.characters)
                self._owed = []
                failed = False
            with self._ready:
                self._done = count
                self._ready.notify_all()
        if self._loop is not None and not self._loop.is_closed():
            try:
                self._loop.call_soon_threadsafe(self._written, failed)
            except RuntimeError:
                log.debug("The event loop has ended.")
        return not failed

    def settle(self, timeout_s: float = END_S) -> bool:
        """Wait, on any thread, until all that was noted so far was written, or could not be;
        whether it came to that."""
        with self._ready:
            count = self._count
            self._hurry = True
            self._ready.notify_all()
            return self._ready.wait_for(lambda: self._done >= count, timeout_s)

    # Reading.

    def _fixed(self, read: Callable[[Callable[[], None]], T], keep: Callable[[], None]) -> T:
        """What ``read`` gives, beside what ``keep`` keeps of what is not written: it is called, and
        nothing written, until ``read`` says that its answer is fixed."""
        fixed = False

        def begun() -> None:
            nonlocal fixed
            if not fixed:
                with self._ready:
                    keep()
                fixed = True
                self._writing.release()

        self._writing.acquire()
        try:
            return read(begun)
        finally:
            if not fixed:
                self._writing.release()

    def rows(self, first: str, last: str, key: str | None = None) -> list[Used]:
        """What was used from one day to another, also what is not written yet; on any thread.
        OSError where it cannot be read."""
        owed = list[Used]()
        rows = self._fixed(
            lambda begun: self.store.rows(first, last, key, begun=begun),
            lambda: owed.extend(self._unwritten),
        )
        more = [row for row in owed if first <= row.day <= last and key in (None, row.key)]
        return sorted(merged([*rows, *more]), key=lambda row: row.place)

    async def read(self, job: Callable[[], T]) -> T:
        """What a job reads, on the thread that reads usage. UnreadableError where that fails, or
        takes longer than ``READ_S``."""
        try:
            return await self._reader.run(job, most_s=READ_S)
        except (BusyError, OSError) as error:
            log.error("Usage cannot be read.", extra={"why": str(error)})
            raise UnreadableError("Usage cannot be read now: ask again in a moment.") from error

    def totals(self, key: str) -> tuple[int, int]:
        """Characters that a key has had spoken today and this month."""
        self._owner.check()
        date = today()
        with self._ready:
            self._used[key] = time.monotonic()
            known = self._totals.get(key)
        written = self._counters.sum(PerClient.WRITTEN, key)
        if known is None or known[0] != date:
            try:
                day, month = self.store.glance(key, date)
            except OSError as error:
                log.error("Usage cannot be read.", extra={"why": str(error)})
                day = 0
                month = 0
            known = date, day, month, written
            with self._ready:
                self._totals[key] = known
        _, day, month, before = known
        noted = self._counters.sum(PerClient.CHARACTERS, key)
        since = max(0, round(noted - before))
        return day + since, month + since

    def _refresh(self) -> None:
        """Ask for the totals of keys in use: in the thread that tends."""
        date = today()
        late = time.monotonic() - USED_S
        with self._ready:
            for key in [key for key, at in self._used.items() if at < late]:
                del self._used[key]
                self._totals.pop(key, None)
            keys = list(self._used)
        written = dict[str, float]()

        def keep() -> None:
            written.update((key, self._counters.sum(PerClient.WRITTEN, key)) for key in keys)

        totals = self._fixed(lambda begun: self.store.totals(keys, date, begun=begun), keep)
        with self._ready:
            for key, sums in totals.items():
                self._totals[key] = date, *sums, written[key]

    # Quotas and places.

    def refusal(self, key: str, terms: Terms, characters: int) -> str | None:
        """Why a key may not have so much text more spoken; None: it may."""
        if characters <= 0 or not (terms.characters_per_day or terms.characters_per_month):
            return None
        day, month = self.totals(key)
        for limit, used, span in (
            (terms.characters_per_day, day, "day"),
            (terms.characters_per_month, month, "month"),
        ):
            left = limit - used - round(self._counters.sum(PerClient.WAITING, key))
            if limit and characters > left:
                return (
                    f"This key may have {limit} characters spoken in a {span}, of which"
                    f" {max(0, left)} are left."
                )
        return None

    def begin(self, key: str, terms: Terms) -> str | None:
        """Count a text that begins; why it may not."""
        self._owner.check()
        if terms.requests_per_minute:
            if self._counters.recent(BEGUN + key, MINUTE_S) >= terms.requests_per_minute:
                return (
                    f"This key may begin {terms.requests_per_minute} texts in a minute: wait a"
                    " moment."
                )
            self._counters.note(BEGUN + key)
        return None

    def bill(
        self, key: str, terms: Terms, protocol: str, voice: str, *, whole: bool = False
    ) -> Bill:
        """What a text costs, as it is spoken; or where its client gets all of it at once
        (``whole``), at its end."""
        return Bill(self, key, terms, protocol, voice, whole=whole)

    def reserve(self, key: str, characters: int) -> None:
        """So much more text of a key waits to be spoken, or less."""
        self._owner.check()
        if characters:
            self._counters.add(PerClient.WAITING, key, characters)

    def take(self, key: str, places: int) -> None:
        """A key takes so many places in this process now."""
        with self._ready:
            self._places[key] = places
            if not places:
                del self._places[key]

    def elsewhere(self, key: str) -> int:
        """How many places a key took a moment ago in the other servers that share the store."""
        return self._elsewhere.get(key, 0)

    def _tend(self) -> None:
        while not self._end.wait(FRESH_S):
            for job in (self.store.tend, self._refresh, self._meet):
                try:
                    job()
                except Exception as error:
                    self._elsewhere = {}
                    log.warning(
                        "Usage could not be passed on, and is tried again.",
                        extra={"why": str(error)},
                    )

    def _meet(self) -> None:
        """Tell the other processes of the places that keys take here, and learn of theirs."""
        with self._ready:
            places = dict(self._places)
        self._elsewhere = self.store.meet(self._process, places)

    def close(self) -> None:
        """The end of the process: write what was noted. A store that hangs is waited for a
        moment."""
        self._end.set()
        with self._ready:
            self._ended = True
            self._ready.notify_all()
        self._reader.close()
        for thread in self._threads:
            thread.join(END_S)
        closing = threading.Thread(target=self.store.close, name="usage-end", daemon=True)
        closing.start()
        closing.join(END_S)


class Bill:
    """What one text costs its key: noted before its sound is sent."""

    def __init__(
        self, usage: Usage, key: str, terms: Terms, protocol: str, voice: str, *, whole: bool
    ) -> None:
        self._usage = usage
        self._key = key
        self._terms = terms
        self._protocol = protocol
        self.voice = voice
        self._whole = whole
        # Characters of the text that were spoken, those that count, and those that wait.
        self._spoken = 0
        self._counted = 0
        self._waiting = 0
        self._end = 0
        self._closed = False
        self._audio_s = 0.0

    def begin(self) -> None:
        """The text begins."""
        self._usage.add(self._key, self._protocol, self.voice, requests=1)

    def refusal(self, characters: int) -> str | None:
        """Why so much text more may not be spoken; None: it may."""
        return self._usage.refusal(self._key, self._terms, characters)

    def expect(self, end: int) -> None:
        """The text has so many characters now: those that were not spoken wait."""
        self._end = end
        waiting = 0 if self._closed else max(0, end - self._spoken)
        self._usage.reserve(self._key, waiting - self._waiting)
        self._waiting = waiting

    def spoken(self, characters: int, audio_s: float, *, over: bool = False) -> None:
        """So much of the text is spoken with what is sent next, and so much audio sent in all;
        ``over``: to its end."""
        if self._whole and not over:
            return
        spoken = max(characters, self._spoken)
        sent_s = max(audio_s, self._audio_s)
        counted = max(self._counted, spoken, int(SOUND_PER_S * (sent_s - SOUND_FREE_S)))
        if counted > self._counted or sent_s > self._audio_s:
            self._usage.add(
                self._key,
                self._protocol,
                self.voice,
                characters=counted - self._counted,
                audio_s=round(sent_s - self._audio_s, 6),
            )
            self._spoken = spoken
            self._counted = counted
            self._audio_s = sent_s
            self.expect(self._end)

    def close(self) -> None:
        """Nothing more is spoken. Harmless when repeated."""
        self._closed = True
        self.expect(self._end)
