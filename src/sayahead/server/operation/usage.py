"""Usage: what each key has had spoken, by day, kept where neither a restart nor a crash loses any of it."""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import logging
import secrets
import sqlite3
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import astuple, dataclass
from typing import Any, Protocol

from sayahead.errors import ConfigError
from sayahead.server.operation.keys import Terms
from sayahead.server.operation.metrics import Metrics

log = logging.getLogger("sayahead.server")
FRESH_S = 1.0
"""How old a total may be against which a quota is held: other servers add to it, too."""
WAIT_S = 0.05
"""How long a server waits for another one that writes."""
OPEN_S = 10.0
"""The same before it serves anybody."""
FOLD_S = 60.0
GONE_S = 5.0
"""A server that has said nothing for so long has no places taken."""
SCHEMA = """
create table if not exists usage (
  key text, day text, protocol text, voice text, requests integer, characters integer, audio_s real,
  primary key (key, day, protocol, voice)) without rowid;
create table if not exists places (
  process text, key text, taken integer, at real, primary key (process, key)) without rowid;
create table if not exists server (id text)
"""
ADD = """
insert into usage values (?, ?, ?, ?, ?, ?, ?) on conflict do update set requests = requests + excluded.requests,
  characters = characters + excluded.characters, audio_s = audio_s + excluded.audio_s
"""


@dataclass(frozen=True, slots=True)
class Used:
    """A row: what a key has used on a day, by one protocol with one voice; or what is to be added to it."""

    key: str
    day: str
    """In UTC: 2026-12-31."""
    protocol: str
    voice: str
    requests: int = 0
    """Texts that were begun."""
    characters: int = 0
    """Characters of texts that were spoken: all of a text that was spoken to its end, of others up to the last word
    that was sent."""
    audio_s: float = 0.0
    """Seconds of audio that were sent."""


class Store(Protocol):
    """Where usage is kept."""

    def add(self, rows: list[Used]) -> None:
        """Add to what there is, at once and all or nothing. OSError where that cannot be done now."""
        ...

    def rows(self, first: str, last: str, key: str | None = None) -> list[Used]:
        """What was used from one day to another, by all keys or one, by key and day. OSError as for ``add``."""
        ...

    def recent(self, first: str, last: str, key: str | None = None) -> list[Used]:
        """The same without waiting for anybody, if need be a moment old."""
        ...

    def tend(self) -> None:
        """What takes time and can wait, called from a thread every second. OSError where it fails."""
        ...

    def meet(self, process: str, taken: Mapping[str, int]) -> dict[str, int]:
        """Tell how many places each key takes in this process, and learn how many in others, called as ``tend``."""
        ...

    def close(self) -> None:
        """The end."""
        ...


class File:
    """A file of SQLite's, which all servers of a machine may share; without a name, memory."""

    def __init__(self, name: str | None) -> None:
        """ConfigError for a file that cannot be written."""
        self._name, self._lock, self._folded = name, threading.Lock(), time.monotonic()
        # Processes that have told of places.
        self._met = set[str]()
        try:
            self._base = sqlite3.connect(
                name or ":memory:", timeout=OPEN_S, isolation_level=None, check_same_thread=False
            )
            # What is committed outlives the process; the disk is waited for when it is folded, on a thread.
            for line in ("journal_mode = wal", "synchronous = normal", "wal_autocheckpoint = 0"):
                self._base.execute(f"pragma {line}")
            self._base.executescript(SCHEMA)
            self._base.execute(
                "insert into server select ? where not exists (select * from server)", (secrets.token_hex(8),)
            )
            self.server = str(self._base.execute("select id from server").fetchone()[0])
            """Names the file, wherever its sums are told."""
            self._base.execute(f"pragma busy_timeout = {round(1000 * WAIT_S)}")
        except sqlite3.Error as error:
            raise ConfigError(f"The usage in {name} cannot be kept: {error}.") from error

    def add(self, rows: list[Used]) -> None:
        with self._asked(changes=True) as base:
            base.executemany(ADD, [astuple(row) for row in rows])

    def rows(self, first: str, last: str, key: str | None = None) -> list[Used]:
        query = "select * from usage where day between ? and ? and (? is null or key = ?) order by key, day"
        with self._asked() as base:
            return [Used(*row) for row in base.execute(query, (first, last, key, key))]

    recent = rows

    def tend(self) -> None:
        if self._name is not None and time.monotonic() > self._folded + FOLD_S:
            self._folded = time.monotonic()
            base = sqlite3.connect(self._name, timeout=WAIT_S)
            try:
                base.execute("pragma wal_checkpoint(truncate)")
            finally:
                base.close()

    def meet(self, process: str, taken: Mapping[str, int]) -> dict[str, int]:
        if self._name is None:
            return {}
        now = time.time()
        with self._asked(changes=bool(taken) or process in self._met) as base:
            if base.in_transaction:
                base.execute("delete from places where process = ? or at < ?", (process, now - GONE_S))
                base.executemany(
                    "insert into places values (?, ?, ?, ?)", [(process, *each, now) for each in taken.items()]
                )
            self._met = {process} if taken else set()
            query = "select key, sum(taken) from places where process <> ? and at >= ? group by key"
            return dict(base.execute(query, (process, now - GONE_S)))

    def close(self) -> None:
        self._base.close()

    @contextlib.contextmanager
    def _asked(self, *, changes: bool = False) -> Iterator[sqlite3.Connection]:
        """The database in use by one thread, all or nothing of what it ``changes``; its errors become OSError."""
        try:
            with self._lock:
                if changes:
                    self._base.execute("begin immediate")
                try:
                    yield self._base
                except BaseException:
                    if self._base.in_transaction:
                        self._base.execute("rollback")
                    raise
                if changes:
                    self._base.execute("commit")
        except sqlite3.Error as error:
            raise OSError(str(error)) from error


class Usage:
    """What keys use, and what is left to each."""

    def __init__(self, store: Store, metrics: Metrics) -> None:
        self.store, self._metrics = store, metrics
        # What could not be written yet; totals with their age; text that waits to be spoken; when texts began.
        self._owed = list[Used]()
        self._settling: asyncio.Handle | None = None
        self._totals = dict[str, tuple[float, int, int]]()
        self._waiting: Counter[str] = Counter()
        self._begun = dict[str, deque[float]]()
        self.taken: Callable[[], Mapping[str, int]] = dict
        """How many places each key takes in this process."""
        self._process, self._elsewhere = secrets.token_hex(8), dict[str, int]()
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._tend, name="usage", daemon=True)
        self._thread.start()

    def elsewhere(self, key: str) -> int:
        """How many places a key took a moment ago in the other processes that share the store."""
        return self._elsewhere.get(key, 0)

    def add(self, key: str, protocol: str, voice: str, *, later: bool = False, **what: Any) -> None:
        """Write down what a key uses, before it gets it; ``later``: at the end of this turn of the event loop, where
        what is sent leaves just after. What cannot be written now is written with what follows."""
        used = Used(key, today(), protocol, voice, **what)
        self._metrics.used(used.key, used.voice, used.characters, used.audio_s)
        if used.key in self._totals:
            at, day, month = self._totals[used.key]
            self._totals[used.key] = at, day + used.characters, month + used.characters
        self._owed.append(used)
        if not later:
            self.settle()
        elif self._settling is None:
            self._settling = asyncio.get_running_loop().call_soon(self.settle)

    def settle(self) -> None:
        """Write what is owed."""
        if self._settling is not None:
            self._settling.cancel()
            self._settling = None
        if self._owed:
            try:
                self.store.add(self._owed)
            except OSError as error:
                log.error("Usage cannot be written, and is kept in memory.", extra={"why": str(error)})
                self._owed = merged(self._owed)
            else:
                self._owed = []

    def totals(self, key: str) -> tuple[int, int]:
        """Characters that a key has had spoken today and this month."""
        at, day, month = self._totals.get(key, (0.0, 0, 0))
        if time.monotonic() - at > FRESH_S or not at:
            date = today()
            try:
                rows = [*self.store.recent(date[:8] + "01", date, key), *(row for row in self._owed if row.key == key)]
            except OSError as error:
                log.error("Usage cannot be read.", extra={"why": str(error)})
                return day, month
            day, month = (sum(row.characters for row in rows if row.day >= first) for first in (date, date[:8]))
            self._totals[key] = time.monotonic(), day, month
        return day, month

    def rows(self, first: str, last: str, key: str | None = None) -> list[Used]:
        """What was used from one day to another. OSError where that cannot be read."""
        self.settle()
        owed = [row for row in self._owed if first <= row.day <= last and key in (None, row.key)]
        return merged([*self.store.rows(first, last, key), *owed])

    def refusal(self, key: str, terms: Terms, characters: int) -> str | None:
        """Why a key may not have so much text more spoken; None: it may."""
        if not (terms.characters_per_day or terms.characters_per_month):
            return None
        day, month = self.totals(key)
        for limit, used, span in ((terms.characters_per_day, day, "day"), (terms.characters_per_month, month, "month")):
            left = limit - used - self._waiting[key]
            if limit and characters > left:
                return f"This key may have {limit} characters spoken in a {span}, of which {max(0, left)} are left."
        return None

    def begin(self, key: str, terms: Terms) -> str | None:
        """Count a text that begins; why it may not."""
        if terms.requests_per_minute:
            now, times = time.monotonic(), self._begun.setdefault(key, deque())
            while times and times[0] <= now - 60:
                times.popleft()
            if len(times) >= terms.requests_per_minute:
                return f"This key may begin {terms.requests_per_minute} texts in a minute: wait a moment."
            times.append(now)
        return None

    def bill(
        self, key: str, terms: Terms, protocol: str, voice: str, *, whole: bool = False, later: bool = False
    ) -> Bill:
        """What a text costs, as it is spoken; or where its client gets all of it at once (``whole``), at its end.
        ``later``: as ``add``."""
        return Bill(self, key, terms, protocol, voice, whole=whole, later=later)

    def _tend(self) -> None:
        while not self._end.wait(FRESH_S):
            try:
                self.store.tend()
                self._elsewhere = self.store.meet(self._process, self.taken())
            except Exception as error:
                self._elsewhere = {}
                log.warning("Usage could not be passed on, and is tried again.", extra={"why": str(error)})

    def close(self) -> None:
        """The end of the process."""
        self._end.set()
        self._thread.join(FRESH_S)
        self.settle()
        self.store.close()


class Bill:
    """What one text costs its key: written down before its sound is sent."""

    def __init__(
        self, usage: Usage, key: str, terms: Terms, protocol: str, voice: str, *, whole: bool, later: bool
    ) -> None:
        self._usage, self._key, self._terms = usage, key, terms
        self._protocol, self.voice, self._whole, self._later = protocol, voice, whole, later
        self._waiting = self._characters = 0
        self._audio_s = 0.0

    def begin(self) -> None:
        """The text begins."""
        self._usage.add(self._key, self._protocol, self.voice, requests=1)

    def refusal(self, characters: int) -> str | None:
        """Why so much text more may not be spoken; None: it may, and is expected to be."""
        refusal = self._usage.refusal(self._key, self._terms, characters)
        if refusal is None:
            self._expect(characters)
        return refusal

    def _expect(self, characters: int) -> None:
        characters = max(characters, -self._waiting)
        self._waiting += characters
        self._usage._waiting[self._key] += characters

    def spoken(self, characters: int, audio_s: float, *, over: bool = False) -> None:
        """So much of the text is spoken with what is sent next, and so much audio sent in all; ``over``: to its end."""
        if self._whole and not over:
            return
        more, more_s = characters - self._characters, audio_s - self._audio_s
        if more > 0 or more_s > 0:
            self._characters, self._audio_s = max(characters, self._characters), max(audio_s, self._audio_s)
            self._expect(-max(0, more))
            what = {"characters": max(0, more), "audio_s": round(max(0.0, more_s), 6)}
            self._usage.add(self._key, self._protocol, self.voice, later=self._later, **what)

    def close(self) -> None:
        """Nothing more is spoken. Harmless when repeated."""
        self._expect(-self._waiting)


def today() -> str:
    """The day, in UTC."""
    return datetime.datetime.now(datetime.UTC).date().isoformat()


def merged(rows: list[Used]) -> list[Used]:
    """One row for each key, day, protocol and voice."""
    sums = dict[tuple[str, str, str, str], Used]()
    for row in rows:
        place = (row.key, row.day, row.protocol, row.voice)
        if (old := sums.get(place)) is not None:
            row = Used(*place, old.requests + row.requests, old.characters + row.characters, old.audio_s + row.audio_s)
        sums[place] = row
    return list(sums.values())


def by_day(rows: list[Used]) -> Iterator[tuple[str, str, int, int, float]]:
    """Key, day, requests, characters and seconds of audio, over all protocols and voices."""
    for row in merged([Used(r.key, r.day, "", "", r.requests, r.characters, r.audio_s) for r in rows]):
        yield row.key, row.day, row.requests, row.characters, round(row.audio_s, 3)
