"""Where usage is kept: rows by key, day, protocol and voice, in a file of SQLite's that servers of
a machine share."""

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
"""How long a thread waits for another program that has locked the file."""
OPEN_S = 10.0
"""The same before the server serves anybody."""
CHECKPOINT_S = 60.0
GONE_S = 5.0
"""A server that has said nothing for so long has no places taken; nor has one that speaks from the
future."""
KEPT_MONTHS = 13
"""Months of which each day is kept; of those before, each month."""
LOG = "-wal"
DAY_S = 86400
FOLD_S = 3600.0
"""How often months are looked for that have become so old."""
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
"""Key, day, protocol and voice: what a row is the sum of."""


@dataclass(frozen=True, slots=True)
class Used:
    """A row: what a key has used on a day, by one protocol with one voice; or what is to be added
    to it."""

    key: str
    day: str
    """In UTC: 2026-12-31. Of months that are long over, their first day stands for all."""
    protocol: str
    voice: str
    requests: int = 0
    """Texts that were begun."""
    characters: int = 0
    """Characters of texts that were spoken: all of a text that was spoken to its end, of others up
    to the last word that was sent."""
    audio_s: float = 0.0
    """Seconds of audio that were sent."""

    @property
    def place(self) -> Place:
        """What it is a sum of."""
        return self.key, self.day, self.protocol, self.voice


class Store(Protocol):
    """Where usage is kept. Each method raises OSError where it cannot be done now, and then has
    done nothing."""

    def add(self, rows: list[Used]) -> None:
        """Add to what there is, at once and all or nothing; called by one thread alone."""
        ...

    def rows(
        self,
        first: str,
        last: str,
        key: str | None = None,
        *,
        begun: Callable[[], None] | None = None,
    ) -> list[Used]:
        """What was used from one day to another, by all keys or one, by key and day. ``begun`` is
        called once: what is added from then on is not in the answer, and all before is."""
        ...

    def glance(self, key: str, date: str) -> tuple[int, int]:
        """Characters of a key on a day and in its month up to then, without waiting for anybody: on
        the event loop."""
        ...

    def totals(
        self, keys: Iterable[str], date: str, *, begun: Callable[[], None]
    ) -> dict[str, tuple[int, int]]:
        """The same of several, in a thread; ``begun`` as for ``rows``."""
        ...

    def tend(self) -> None:
        """What takes time and can wait, called from a thread every second."""
        ...

    def meet(self, process: str, taken: Mapping[str, int]) -> dict[str, int]:
        """Tell how many places each key takes in this process, and learn how many in other servers,
        called as ``tend``: a process is SERVER.NUMBER, and those of one server are counted
        together anyhow."""
        ...

    def close(self) -> None:
        """The end."""
        ...


class Connection:
    """A connection of SQLite's that one thread uses at a time; its errors become OSError."""

    def __init__(self, base: sqlite3.Connection, wait_s: float) -> None:
        self.base = base
        self.lock = threading.Lock()
        base.execute(f"pragma busy_timeout = {round(1000 * wait_s)}")

    @contextlib.contextmanager
    def use(self, *, begin: str = "") -> Iterator[sqlite3.Connection]:
        """The database, in a transaction that ``begin`` begins, all or nothing of it."""
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
    """A file of SQLite's, which all servers of a machine may share; without a name, memory."""

    def __init__(self, name: str | None) -> None:
        """ConfigError for a file that cannot be written."""
        self._name = name
        # Which files these are; SQLite itself goes on with one that has lost its name.
        self._identity: tuple[int, int] | None = None
        self._log: tuple[int, int] | None = None
        self._checkpointed = time.monotonic() - FOLD_S
        self._folded = self._checkpointed
        # Processes that have told of places.
        self._met = set[str]()
        # Rows since the file was last seen in its place; sums that have changed since they were
        # asked for. Threads that add and that tend share them.
        self._notes = threading.Lock()
        self._tending = threading.Lock()
        self._unseen = list[Used]()
        self._changed = set[Place]()
        try:
            self._open()
        except sqlite3.Error as error:
            raise ConfigError(f"The usage in {name} cannot be kept: {error}.") from error

    def _open(self) -> None:
        """Open the file, which is made if need be."""
        self._writing = Connection(connected(self._name, OPEN_S), WAIT_S)
        base = self._writing.base
        # What is committed outlives the process; the disk is waited for at a checkpoint, on a
        # thread.
        for line in ("journal_mode = wal", "synchronous = normal", "wal_autocheckpoint = 0"):
            base.execute(f"pragma {line}")
        base.executescript(SCHEMA)
        base.execute(
            "insert into server select ? where not exists (select * from server)",
            (secrets.token_hex(8),),
        )
        self.server = str(base.execute("select id from server").fetchone()[0])
        """Names the file, wherever its sums are told."""
        self._identity = identity(self._name)
        self._log = identity(f"{self._name}{LOG}")
        self._reading = self._writing
        self._glancing = self._reading
        if self._name is not None:
            # Readers of a file wait for no writer, and the event loop for no reader.
            self._reading = Connection(connected(self._name, WAIT_S), WAIT_S)
            self._glancing = Connection(connected(self._name, 0.0), 0.0)

    def add(self, rows: list[Used]) -> None:
        with self._writing.use(begin="begin immediate") as base:
            base.executemany(ADD, [astuple(row) for row in rows])
        with self._notes:
            self._unseen += rows if self._name is not None else ()
            self._changed.update(row.place for row in rows)

    def rows(
        self,
        first: str,
        last: str,
        key: str | None = None,
        *,
        begun: Callable[[], None] | None = None,
    ) -> list[Used]:
        with self._snapshot(begun) as base:
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
        self, keys: Iterable[str], date: str, *, begun: Callable[[], None]
    ) -> dict[str, tuple[int, int]]:
        with self._snapshot(begun) as base:
            return {key: totals_of(base, key, date) for key in keys}

    @contextlib.contextmanager
    def _snapshot(self, begun: Callable[[], None] | None) -> Iterator[sqlite3.Connection]:
        """The database as it is now, however much is added meanwhile."""
        with self._reading.use(begin="begin") as base:
            # Only what is read begins it.
            base.execute("select * from server").fetchone()
            if begun is not None:
                begun()
            yield base

    def changed(self) -> list[Used]:
        """Sums that this process has changed since it asked last."""
        with self._notes:
            places = self._changed
            self._changed = set()
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
        """Give these sums among the next ``changed``."""
        with self._notes:
            self._changed.update(places)

    def tend(self) -> None:
        if self._name is not None:
            with self._tending:
                self._tend(self._name)

    def _tend(self, name: str) -> None:
        self._look()
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

    def _look(self) -> None:
        """Find out whether the file is still in its place; if not, make another one, and begin it
        with what was added since it was seen there last."""
        with self._writing.lock:
            there = identity(self._name) == self._identity
            with self._notes:
                rows = self._unseen
                self._unseen = []
            if there:
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
            with self._notes:
                self._unseen = rows + self._unseen
            raise OSError(str(error)) from error

    def _put_log_aside(self) -> None:
        """Keep SQLite's log of a file that is gone from being taken for that of the file which has
        its name now."""
        if self._log is not None and identity(f"{self._name}{LOG}") == self._log:
            os.replace(f"{self._name}{LOG}", f"{self._name}{LOG}.gone")
            with contextlib.suppress(FileNotFoundError):
                os.remove(f"{self._name}-shm")

    def fold(self, before: str) -> None:
        """Make one day of each month that was over before a day."""
        with self._reading.use() as base:
            months = [str(month) for (month,) in base.execute(OLD_MONTHS, (before,))]
        for month in months:
            first = f"{month}-01"
            last = f"{month}-31"
            with self._writing.use(begin="begin immediate") as base:
                base.execute(FOLD, (first, first, last))
                base.execute("delete from usage where day > ? and day <= ?", (first, last))

    def meet(self, process: str, taken: Mapping[str, int]) -> dict[str, int]:
        if self._name is None:
            return {}
        now = time.time()
        if taken or process in self._met:
            with self._writing.use(begin="begin immediate") as base:
                # Where the clock was set back, who died before it speaks from the future.
                base.execute(
                    "delete from places where process = ? or abs(at - ?) > ?",
                    (process, now, GONE_S),
                )
                rows = [(process, *each, now) for each in taken.items()]
                base.executemany("insert into places values (?, ?, ?, ?)", rows)
        self._met = {process} if taken else set()
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
    """What the names of all processes of one's server are like."""
    return process.partition(".")[0] + "%"


def connected(name: str | None, wait_s: float) -> sqlite3.Connection:
    """A connection to a file, or to memory of its own."""
    return sqlite3.connect(
        name or ":memory:", timeout=wait_s, isolation_level=None, check_same_thread=False
    )


def identity(name: str | None) -> tuple[int, int] | None:
    """Which file has a name now; None where there is none."""
    try:
        found = os.stat(name) if name is not None else None
    except OSError:
        return None
    return None if found is None else (found.st_dev, found.st_ino)


def totals_of(base: sqlite3.Connection, key: str, date: str) -> tuple[int, int]:
    """Characters of a key on a day, and in its month up to then."""
    day, month = base.execute(TOTALS, (date, key, date[:8] + "01", date)).fetchone()
    return int(day), int(month)


def today() -> str:
    """The day, in UTC."""
    return day_of(int(time.time() // DAY_S))


@functools.lru_cache(maxsize=2)
def day_of(number: int) -> str:
    """A day, counted from 1970 on."""
    return time.strftime("%Y-%m-%d", time.gmtime(DAY_S * number))


def months_before(date: str, months: int) -> str:
    """The first day of the month so many months before a day's."""
    year = int(date[:4])
    month = int(date[5:7])
    index = 12 * year + month - 1 - months
    return f"{index // 12:04}-{index % 12 + 1:02}-01"


def merged(rows: Iterable[Used]) -> list[Used]:
    """One row for each key, day, protocol and voice."""
    sums = dict[Place, Used]()
    for row in rows:
        if (old := sums.get(row.place)) is not None:
            requests = old.requests + row.requests
            characters = old.characters + row.characters
            row = Used(*row.place, requests, characters, old.audio_s + row.audio_s)
        sums[row.place] = row
    return list(sums.values())
