"""Usage of a fleet of servers: each one's sums, in a PostgreSQL database that all share.

A server adds usage to its own file at once. A thread copies the file's sums to the database;
copying the same sums again changes nothing, and nothing is lost while the database is unreachable.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import astuple
from typing import Any
from urllib.parse import unquote, urlsplit

from sayahead.errors import ConfigError
from sayahead.server.operation.usage_file import (
    FOLD_S,
    GONE_S,
    KEPT_MONTHS,
    File,
    Used,
    kin,
    months_before,
    today,
)

log = logging.getLogger("sayahead.server")
PORT = 5432
PATIENCE_S = 5.0
"""Timeout of the database."""
ALL_S = 10.0
"""Interval of reading the sums of all keys; those of keys in use are read every second."""
SCHEMA = """
create table if not exists sayahead_usage (server text, key text, day text, protocol text, voice text,
  requests bigint, characters bigint, audio_s double precision, primary key (server, key, day, protocol, voice))
"""  # noqa: E501
INDEX = "create index if not exists sayahead_usage_keys on sayahead_usage (key, day)"
DAYS = "create index if not exists sayahead_usage_days on sayahead_usage (day)"
PLACES = """
create table if not exists sayahead_places (process text, key text, taken bigint, at timestamptz,
  primary key (process, key))
"""
MEET = """
select key, sum(taken)::bigint from sayahead_places where process not like :kin
  and abs(extract(epoch from now() - at)) <= :gone group by key
"""
TELL = """
insert into sayahead_usage values (:server, :key, :day, :protocol, :voice, :requests, :characters, :audio_s)
  on conflict (server, key, day, protocol, voice) do update set
  requests = greatest(excluded.requests, sayahead_usage.requests),
  characters = greatest(excluded.characters, sayahead_usage.characters),
  audio_s = greatest(excluded.audio_s, sayahead_usage.audio_s)
"""  # noqa: E501
OWN = """
select key, day, protocol, voice, requests, characters, audio_s from sayahead_usage where server = :server
"""  # noqa: E501
ASK = """
select key, day, protocol, voice, sum(requests)::bigint, sum(characters)::bigint, sum(audio_s) from sayahead_usage
  where day between :first and :last and server <> :server {key} group by key, day, protocol, voice
"""  # noqa: E501
TOTALS = """
select key, coalesce(sum(characters) filter (where day = :date), 0)::bigint, sum(characters)::bigint
  from sayahead_usage where server <> :server and day between :first and :date {keys} group by key
"""
FOLD = """
with old as (delete from sayahead_usage where server = :server and day < :before and day not like '%-01' returning *)
insert into sayahead_usage select server, key, substr(day, 1, 7) || '-01', protocol, voice, sum(requests)::bigint,
  sum(characters)::bigint, sum(audio_s) from old group by server, key, substr(day, 1, 7), protocol, voice
  on conflict (server, key, day, protocol, voice) do update set
  requests = sayahead_usage.requests + excluded.requests,
  characters = sayahead_usage.characters + excluded.characters, audio_s = sayahead_usage.audio_s + excluded.audio_s
"""  # noqa: E501
NAMES = ("key", "day", "protocol", "voice", "requests", "characters", "audio_s")


class Database:
    """A lazy connection that one thread uses at a time; its errors become OSError."""

    def __init__(self, address: str) -> None:
        """Parse the address. ConfigError if it is not one, or if pg8000 is not installed."""
        try:
            import pg8000.native
        except ImportError as error:
            raise ConfigError(
                "The setting usage_database needs a package: pip install 'sayahead[postgres]'."
            ) from error
        parts = urlsplit(address)
        if (
            parts.scheme not in ("postgresql", "postgres")
            or not parts.hostname
            or not parts.path.strip("/")
        ):
            raise ConfigError(
                "The setting usage_database must be postgresql://USER:PASSWORD@HOST/DATABASE."
            )
        self._options: dict[str, Any] = {
            "host": parts.hostname,
            "port": parts.port or PORT,
            "database": unquote(parts.path.strip("/")),
            "user": unquote(parts.username or "postgres"),
            "password": unquote(parts.password or "") or None,
            "timeout": PATIENCE_S,
        }
        self._pg8000 = pg8000.native
        self._lock = threading.Lock()
        self._base: Any = None

    @contextmanager
    def use(self) -> Iterator[Any]:
        """Yield the database. After an error the connection is dropped and opened anew at the next
        use."""
        with self._lock:
            try:
                if self._base is None:
                    self._base = self._pg8000.Connection(**self._options)
                    for line in (SCHEMA, INDEX, DAYS, PLACES):
                        self._base.run(line)
                yield self._base
            except (self._pg8000.Error, OSError) as error:
                self._disconnect()
                raise OSError(f"the database: {error}") from error

    def ask(self, query: str, **values: Any) -> list[Any]:
        """Return the rows of a read-only query, which is repeated once if the connection had broken
        since its last use."""
        was_open = self._base is not None
        try:
            with self.use() as base:
                return list(base.run(query, **values))
        except OSError:
            if not was_open:
                raise
        with self.use() as base:
            return list(base.run(query, **values))

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            self._disconnect()

    def _disconnect(self) -> None:
        """Drop the connection, which may be broken."""
        base = self._base
        self._base = None
        if base is not None:
            try:
                base.close()
            except (self._pg8000.Error, OSError):
                log.debug("The connection was broken.")


class Shared:
    """A usage store that adds to the server's own file and reads the other servers' sums from the
    database."""

    def __init__(self, file: File, address: str) -> None:
        """``address``: postgresql://USER:PASSWORD@HOST/DATABASE. ConfigError for another one, or if
        pg8000 is not installed."""
        # Two connections, so that reading bills does not delay the report of usage and places.
        self._report_base = Database(address)
        self._query_base = Database(address)
        self._file = file
        self._is_compared = False
        self._all_read_at = -FOLD_S
        self._folded = self._all_read_at
        # Other servers' characters by key: date, sum of that day, sum of its month.
        self._others = dict[str, tuple[str, int, int]]()

    def add(self, rows: list[Used]) -> None:
        self._file.add(rows)

    def rows(
        self,
        first: str,
        last: str,
        key: str | None = None,
        *,
        on_snapshot: Callable[[], None] | None = None,
    ) -> list[Used]:
        """Return this server's usage from its file, and the other servers' from the database."""
        own = self._file.rows(first, last, key, on_snapshot=on_snapshot)
        values = {"server": self._file.server, "first": first, "last": last}
        if key is not None:
            values["key"] = key
        query = ASK.format(key="" if key is None else "and key = :key")
        return [*own, *(Used(*row) for row in self._query_base.ask(query, **values))]

    def glance(self, key: str, date: str) -> tuple[int, int]:
        """Return a key's totals of a day and its month; the other servers' are those last read."""
        return self._with_others(key, date, self._file.glance(key, date))

    def totals(
        self, keys: Iterable[str], date: str, *, on_snapshot: Callable[[], None]
    ) -> dict[str, tuple[int, int]]:
        keys = list(keys)
        own = self._file.totals(keys, date, on_snapshot=on_snapshot)
        self._ask_totals(keys, date)
        return {key: self._with_others(key, date, own[key]) for key in keys}

    def _with_others(self, key: str, date: str, own: tuple[int, int]) -> tuple[int, int]:
        """Add the other servers' characters to this server's totals of a day and its month."""
        other_date, day, month = self._others.get(key, (date, 0, 0))
        if other_date == date:
            return own[0] + day, own[1] + month
        return own[0], own[1] + (month if other_date[:7] == date[:7] else 0)

    def _ask_totals(self, keys: list[str], date: str) -> None:
        """Read the other servers' sums: of these keys, or of all if that is due."""
        is_due = time.monotonic() > self._all_read_at + ALL_S
        if not (is_due or keys):
            return
        query = TOTALS.format(keys="" if is_due else "and key = any(:keys)")
        values = {"server": self._file.server, "first": date[:8] + "01", "date": date}
        with self._report_base.use() as base:
            rows = base.run(query, **values, **({} if is_due else {"keys": keys}))
        if is_due:
            self._all_read_at = time.monotonic()
        sums = {str(key): (date, int(day), int(month)) for key, day, month in rows}
        self._others = sums if is_due else self._others | sums

    def tend(self) -> None:
        """Copy the sums that changed since the last call to the database, and sum up old months.

        OSError if the database cannot be reached; the same sums are copied at the next call."""
        self._file.tend()
        if not self._is_compared:
            self._compare()
        self._ask_totals([], today())
        rows = self._file.changed()
        try:
            with self._report_base.use() as base:
                for row in rows:
                    base.run(
                        TELL,
                        server=self._file.server,
                        **dict(zip(NAMES, astuple(row), strict=True)),
                    )
                if time.monotonic() > self._folded + FOLD_S:
                    self._folded = time.monotonic()
                    base.run(
                        FOLD, server=self._file.server, before=months_before(today(), KEPT_MONTHS)
                    )
        except OSError:
            self._file.retell(row.place for row in rows)
            raise

    def _compare(self) -> None:
        """Mark the sums that differ from those in the database as changed: those that a crash or an
        error kept from being copied."""
        with self._report_base.use() as base:
            known = {Used(*row) for row in base.run(OWN, server=self._file.server)}
        since = months_before(today(), KEPT_MONTHS)
        self._file.retell(row.place for row in self._file.rows(since, today()) if row not in known)
        self._is_compared = True

    def meet(self, process: str, taken: Mapping[str, int]) -> dict[str, int]:
        """Tell the other servers this one's places by key; return the sums of theirs."""
        with self._report_base.use() as base:
            base.run("begin")
            base.run("delete from sayahead_places where process = :process", process=process)
            for key, number in taken.items():
                base.run(
                    "insert into sayahead_places values (:process, :key, :taken, now())",
                    process=process,
                    key=key,
                    taken=number,
                )
            base.run("commit")
            return dict(base.run(MEET, kin=kin(process), gone=GONE_S))

    def close(self) -> None:
        """Tell the database what it does not know yet, and close everything."""
        try:
            self.tend()
        except OSError as error:
            log.warning(
                "The last usage was not told to the database; the next start does.",
                extra={"why": str(error)},
            )
        self._file.close()
        for database in (self._report_base, self._query_base):
            database.close()
