"""The usage store: rows by key, day, protocol and voice, in an SQLite file that the servers of a
machine share."""

from __future__ import annotations

import contextlib
import functools
import logging
import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import astuple, dataclass
from typing import Protocol, TypeAlias

from sayahead.errors import ConfigError

log = logging.getLogger("sayahead.server")
WAIT_S = 0.25
"""Timeout for a lock that another program holds on the file."""
OPEN_S = 10.0
"""The same timeout at the start, before the server serves anybody."""
CHECKPOINT_S = 60.0
GONE_S = 5.0
"""Places of a server that has not reported for this long do not count, nor do reports from the
future."""
KEPT_MONTHS = 13
"""Number of months that keep a row per day; older ones have a row per month."""
LOG = "-wal"
DAY_S = 86400
FOLD_S = 3600.0
"""Interval of looking for months that have become that old."""
SCHEMA = """
create table if not exists usage (
  key text, day text, protocol text, voice text, requests integer, characters integer, audio_s real,
  primary key (key, day, protocol, voice)) without rowid;
create index if not exists usage_days on usage (day);
create table if not exists places (
  process text, key text, taken integer, at real, primary key (process, key)) without rowid;
create table if not exists server (id text)
"""
ADDED = """ on conflict do update set requests = requests + excluded.requests,
  characters = characters + excluded.characters, audio_s = audio_s + excluded.audio_s
"""
ADD = "insert into usage values (?, ?, ?, ?, ?, ?, ?)" + ADDED
ALL = "select * from usage where day between ? and ? order by key, day, protocol, voice"
OF_KEY = "select * from usage where key = ? and day between ? and ? order by day, protocol, voice"
TOTALS = """
select coalesce(sum(case when day = ? then characters end), 0), coalesce(sum(characters), 0) from usage
  where key = ? and day between ? and ?
"""  # noqa: E501
OLD_MONTHS = (
    "select distinct substr(day, 1, 7) from usage where day < ? and day not like '%-01' limit 12"
)
FOLD = f"""
insert into usage select key, ?, protocol, voice, sum(requests), sum(characters), sum(audio_s) from usage
  where day > ? and day <= ? group by key, protocol, voice {ADDED}
"""  # noqa: E501

Place: TypeAlias = tuple[str, str, str, str]
"""Key, day, protocol and voice: the primary key of a row."""


@dataclass(frozen=True, slots=True)
class Used:
    """A row: what a key has used on a day with one protocol and one voice; or an amount to add to
    it."""

    key: str
    day: str
    """In UTC, such as 2026-12-31; a row for an old month has its first day."""
    protocol: str
    voice: str
    requests: int = 0
    """Texts begun."""
    characters: int = 0
    """Characters spoken: all of a text that was spoken to its end, otherwise those up to the last
    word sent."""
    audio_s: float = 0.0
    """Seconds of audio sent."""

    @property
    def place(self) -> Place:
        """Its primary key."""
        return self.key, self.day, self.protocol, self.voice


class Store(Protocol):
    """A store of usage. If a method fails, it raises OSError and has changed nothing."""

    def add(self, rows: list[Used]) -> None:
        """Add amounts in one transaction; called by one thread only."""
        ...

    def rows(
        self,
        first: str,
        last: str,
        key: str | None = None,
        *,
        on_snapshot: Callable[[], None] | None = None,
    ) -> list[Used]:
        """Return the usage from day ``first`` to day ``last``, of one key or all, sorted by key and
        day.

        ``on_snapshot`` is called once the snapshot exists: the result has everything added before
        that, and nothing added later.
        """
        ...

    def glance(self, key: str, date: str) -> tuple[int, int]:
        """Return a key's characters of a day and of its month so far; called on the event loop, so
        it must not block."""
        ...

    def totals(
        self, keys: Iterable[str], date: str, *, on_snapshot: Callable[[], None]
    ) -> dict[str, tuple[int, int]]:
        """Return the same for several keys; called on a thread.

        ``on_snapshot``: as for ``rows``.
        """
        ...

    def tend(self) -> None:
        """Do slow maintenance; called on a thread every second."""
        ...

    def meet(self, process: str, taken: Mapping[str, int]) -> dict[str, int]:
        """Publish how many places each key has taken in this process; return how many it has in
        other servers.

        ``process`` is SERVER.NUMBER; the processes of this server are not counted. Called like
        ``tend``.
        """
        ...

    def close(self) -> None:
        """Close the store."""
        ...


class Connection:
    """An SQLite connection that one thread uses at a time; its errors become OSError."""

    def __init__(self, base: sqlite3.Connection, wait_s: float) -> None:
        self.base = base
        self.lock = threading.Lock()
        base.execute(f"pragma busy_timeout = {round(1000 * wait_s)}")

    @contextlib.contextmanager
    def use(self, *, begin: str = "") -> Iterator[sqlite3.Connection]:
        """Yield the database, inside a transaction if ``begin`` is the statement that begins
        one."""
        try:
            with self.lock:
                if begin:
                    self.base.execute(begin)
                try:
                    yield self.base
                    if begin:
                        self.base.execute("commit")
                except BaseException:
                    # A commit that fails leaves its transaction open, too.
                    if self.base.in_transaction:
                        self.base.execute("rollback")
                    raise
        except sqlite3.Error as error:
            raise OSError(str(error)) from error


class File:
    """A usage store in an SQLite file, which all servers of a machine may share; in memory without
    a name."""

    def __init__(self, name: str | None) -> None:
        """ConfigError for a file that cannot be written."""
        self._name = name
        # Device and inode of the file and of its log; SQLite goes on writing to a file that was
        # removed.
        self._identity: tuple[int, int] | None = None
        self._log: tuple[int, int] | None = None
        self._checkpointed = time.monotonic() - FOLD_S
        self._folded = self._checkpointed
        # Processes that have reported places.
        self._reported_processes = set[str]()
        # Rows added since the file was last seen in its place, and sums changed since ``changed``
        # was called last. The writer and the maintenance thread share them.
        self._notes_lock = threading.Lock()
        self._maintenance_lock = threading.Lock()
        self._unconfirmed = list[Used]()
        self._changed_places = set[Place]()
        try:
            self._open()
        except sqlite3.Error as error:
            raise ConfigError(f"The usage in {name} cannot be kept: {error}.") from error

    def _open(self) -> None:
        """Open the file, and create it and its tables if necessary."""
        self._writing = Connection(connected(self._name, OPEN_S), WAIT_S)
        base = self._writing.base
        # A commit survives the end of the process; only a checkpoint, on a thread, waits for the
        # disk.
        for line in ("journal_mode = wal", "synchronous = normal", "wal_autocheckpoint = 0"):
            base.execute(f"pragma {line}")
        base.executescript(SCHEMA)
        base.execute(
            "insert into server select ? where not exists (select * from server)",
            (secrets.token_hex(8),),
        )
        self.server = str(base.execute("select id from server").fetchone()[0])
        """Random name of this file, under which a shared database keeps its sums."""
        self._identity = identity(self._name)
        self._log = identity(f"{self._name}{LOG}")
        self._reading = self._writing
        self._glancing = self._reading
        if self._name is not None:
            # In WAL mode readers wait for no writer; a separate connection lets the event loop wait
            # for no reader.
            self._reading = Connection(connected(self._name, WAIT_S), WAIT_S)
            self._glancing = Connection(connected(self._name, 0.0), 0.0)

    def add(self, rows: list[Used]) -> None:
        with self._writing.use(begin="begin immediate") as base:
            base.executemany(ADD, [astuple(row) for row in rows])
        with self._notes_lock:
            if self._name is not None:
                self._unconfirmed += rows
            self._changed_places.update(row.place for row in rows)

    def rows(
        self,
        first: str,
        last: str,
        key: str | None = None,
        *,
        on_snapshot: Callable[[], None] | None = None,
    ) -> list[Used]:
        with self._snapshot(on_snapshot) as base:
            query, values = (ALL, (first, last)) if key is None else (OF_KEY, (key, first, last))
            return [Used(*row) for row in base.execute(query, values)]

    def size(self) -> tuple[int, int]:
        """How many rows and keys there are."""
        with self._reading.use() as base:
            rows, keys = base.execute("select count(*), count(distinct key) from usage").fetchone()
            return int(rows), int(keys)

    def glance(self, key: str, date: str) -> tuple[int, int]:
        with self._glancing.use() as base:
            return totals_of(base, key, date)

    def totals(
        self, keys: Iterable[str], date: str, *, on_snapshot: Callable[[], None]
    ) -> dict[str, tuple[int, int]]:
        with self._snapshot(on_snapshot) as base:
            return {key: totals_of(base, key, date) for key in keys}

    @contextlib.contextmanager
    def _snapshot(self, on_snapshot: Callable[[], None] | None) -> Iterator[sqlite3.Connection]:
        """Yield the database inside a read transaction, which later additions do not change."""
        with self._reading.use(begin="begin") as base:
            # SQLite takes the snapshot at the first read.
            base.execute("select * from server").fetchone()
            if on_snapshot is not None:
                on_snapshot()
            yield base

    def changed(self) -> list[Used]:
        """Return the sums that changed since the last call."""
        with self._notes_lock:
            places = self._changed_places
            self._changed_places = set()
        try:
            with self._reading.use(begin="begin") as base:
                query = (
                    "select * from usage where key = ? and day = ? and protocol = ? and voice = ?"
                )
                return [Used(*row) for place in places for row in base.execute(query, place)]
        except OSError:
            self.retell(places)
            raise

    def retell(self, places: Iterable[Place]) -> None:
        """Include these sums in the next ``changed``."""
        with self._notes_lock:
            self._changed_places.update(places)

    def tend(self) -> None:
        if self._name is not None:
            with self._maintenance_lock:
                self._tend(self._name)

    def _tend(self, name: str) -> None:
        """Check the file, and from time to time do a checkpoint and fold old months."""
        self._check_file()
        now = time.monotonic()
        if now > self._checkpointed + CHECKPOINT_S:
            self._checkpointed = now
            base = connected(name, WAIT_S)
            try:
                base.execute("pragma wal_checkpoint(truncate)")
            except sqlite3.Error as error:
                raise OSError(str(error)) from error
            finally:
                base.close()
        if now > self._folded + FOLD_S:
            self._folded = now
            self.fold(months_before(today(), KEPT_MONTHS))

    def _check_file(self) -> None:
        """Check that the file is still in its place.

        If it was removed or replaced, open a new one and add the rows that were added since the
        last check.
        """
        with self._writing.lock:
            is_in_place = identity(self._name) == self._identity
            with self._notes_lock:
                rows = self._unconfirmed
                self._unconfirmed = []
            if is_in_place:
                return
            others = self._reading.base, self._glancing.base
            self._writing.base.close()
        for base in others:
            base.close()
        self._put_log_aside()
        log.error(
            "The usage file was removed or replaced while it was in use: usage goes on in the new"
            " one.",
            extra={"file": self._name, "characters_since": sum(row.characters for row in rows)},
        )
        try:
            self._open()
            if rows:
                self.add(rows)
        except (sqlite3.Error, OSError) as error:
            with self._notes_lock:
                self._unconfirmed = rows + self._unconfirmed
            raise OSError(str(error)) from error

    def _put_log_aside(self) -> None:
        """Rename SQLite's log of a file that is gone, so that it is not taken for the new file's
        log."""
        if self._log is not None and identity(f"{self._name}{LOG}") == self._log:
            os.replace(f"{self._name}{LOG}", f"{self._name}{LOG}.gone")
            with contextlib.suppress(FileNotFoundError):
                os.remove(f"{self._name}-shm")

    def fold(self, before: str) -> None:
        """Merge the days of each month that ended before day ``before`` into one row per month."""
        with self._reading.use() as base:
            months = [str(month) for (month,) in base.execute(OLD_MONTHS, (before,))]
        for month in months:
            first = f"{month}-01"
            last = f"{month}-31"
            with self._writing.use(begin="begin immediate") as base:
                base.execute(FOLD, (first, first, last))
                base.execute("delete from usage where day > ? and day <= ?", (first, last))

    def meet(self, process: str, taken: Mapping[str, int]) -> dict[str, int]:
        """Tell the other processes this one's places by key; return the sums of theirs."""
        if self._name is None:
            return {}
        now = time.time()
        if taken or process in self._reported_processes:
            with self._writing.use(begin="begin immediate") as base:
                # A process that died before the clock was set back has reports from the future.
                base.execute(
                    "delete from places where process = ? or abs(at - ?) > ?",
                    (process, now, GONE_S),
                )
                rows = [(process, *each, now) for each in taken.items()]
                base.executemany("insert into places values (?, ?, ?, ?)", rows)
        self._reported_processes = {process} if taken else set()
        with self._reading.use() as base:
            query = (
                "select key, sum(taken) from places where process not like ? and abs(at - ?) <= ?"
                " group by key"
            )
            return dict(base.execute(query, (kin(process), now, GONE_S)))

    def close(self) -> None:
        for connection in (self._glancing, self._reading, self._writing):
            connection.base.close()


def kin(process: str) -> str:
    """Return an SQL pattern for the names of all processes of the same server."""
    return process.partition(".")[0] + "%"


def connected(name: str | None, wait_s: float) -> sqlite3.Connection:
    """Open a connection to a file, or to a new database in memory."""
    return sqlite3.connect(
        name or ":memory:", timeout=wait_s, isolation_level=None, check_same_thread=False
    )


def identity(name: str | None) -> tuple[int, int] | None:
    """Return device and inode of a file; None if it does not exist."""
    try:
        status = os.stat(name) if name is not None else None
    except OSError:
        return None
    return None if status is None else (status.st_dev, status.st_ino)


def totals_of(base: sqlite3.Connection, key: str, date: str) -> tuple[int, int]:
    """Return a key's characters of a day, and of its month up to that day."""
    day, month = base.execute(TOTALS, (date, key, date[:8] + "01", date)).fetchone()
    return int(day), int(month)


def today() -> str:
    """Return the current date in UTC."""
    return day_of(int(time.time() // DAY_S))


@functools.lru_cache(maxsize=2)
def day_of(number: int) -> str:
    """Return a day, given as days since 1970."""
    return time.strftime("%Y-%m-%d", time.gmtime(DAY_S * number))


def months_before(date: str, months: int) -> str:
    """Return the first day of the month that is ``months`` months before a date's."""
    year = int(date[:4])
    month = int(date[5:7])
    index = 12 * year + month - 1 - months
    return f"{index // 12:04}-{index % 12 + 1:02}-01"


def merged(rows: Iterable[Used]) -> list[Used]:
    """Add up rows with the same key, day, protocol and voice."""
    sums = dict[Place, Used]()
    for row in rows:
        if (old := sums.get(row.place)) is not None:
            requests = old.requests + row.requests
            characters = old.characters + row.characters
            row = Used(*row.place, requests, characters, old.audio_s + row.audio_s)
        sums[row.place] = row
    return list(sums.values())
