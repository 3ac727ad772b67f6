"""Usage of a fleet: each server's own sums in a database that all share, PostgreSQL.

A server keeps its usage in its own file, at once and over crashes; a thread tells the database what
the file's sums are now. Telling the same twice changes nothing, and while the database is away
nothing is lost."""

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
"""How long the database may take to answer."""
ALL_S = 10.0
"""How often the sums of all keys are asked for; those of keys in use are asked for every second."""
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
    """A connection that is made when it is needed, and used by one thread at a time; its errors
    become OSError."""

    def __init__(self, address: str) -> None:
        """ConfigError for an address that is none, or without pg8000."""
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
        where = {
            "host": parts.hostname,
            "port": parts.port or PORT,
            "database": unquote(parts.path.strip("/")),
        }
        who = {
            "user": unquote(parts.username or "postgres"),
            "password": unquote(parts.password or "") or None,
        }
        self._options: dict[str, Any] = {**where, **who, "timeout": PATIENCE_S}
        self._pg8000 = pg8000.native
        self._lock = threading.Lock()
        self._base: Any = None

    @contextmanager
    def use(self) -> Iterator[Any]:
        """The database; after an error it is left, and connected to anew."""
        with self._lock:
            try:
                if self._base is None:
                    self._base = self._pg8000.Connection(**self._options)
                    for line in (SCHEMA, INDEX, DAYS, PLACES):
                        self._base.run(line)
                yield self._base
            except (self._pg8000.Error, OSError) as error:
                self._leave()
                raise OSError(f"the database: {error}") from error

    def ask(self, query: str, **values: Any) -> list[Any]:
        """The rows of a query that changes nothing: asked again where the connection broke since it
        was used last."""
        used = self._base is not None
        try:
            with self.use() as base:
                return list(base.run(query, **values))
        except OSError:
            if not used:
                raise
        with self.use() as base:
            return list(base.run(query, **values))

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            self._leave()

    def _leave(self) -> None:
        base = self._base
        self._base = None
        if base is not None:
            try:
                base.close()
            except (self._pg8000.Error, OSError):
                log.debug("The connection was broken.")


class Shared:
    """A server's own file, and what the database says of the others."""

    def __init__(self, file: File, address: str) -> None:
        """``address``: postgresql://USER:PASSWORD@HOST/DATABASE. ConfigError for another one, or
        without pg8000."""
        # Who reads a bill holds up nobody who tells usage and places.
        self._telling = Database(address)
        self._asking = Database(address)
        self._file = file
        self._compared = False
        self._asked_all = -FOLD_S
        self._folded = self._asked_all
        # Characters of others: a day and its month, by key.
        self._others = dict[str, tuple[str, int, int]]()

    def add(self, rows: list[Used]) -> None:
        self._file.add(rows)

    def rows(
        self,
        first: str,
        last: str,
        key: str | None = None,
        *,
        begun: Callable[[], None] | None = None,
    ) -> list[Used]:
        """What this server has used, from its file, and all others, from the database."""
        own = self._file.rows(first, last, key, begun=begun)
        what = {"server": self._file.server, "first": first, "last": last}
        if key is not None:
            what["key"] = key
        query = ASK.format(key="" if key is None else "and key = :key")
        return [*own, *(Used(*row) for row in self._asking.ask(query, **what))]

    def glance(self, key: str, date: str) -> tuple[int, int]:
        """Of the others, what they had used a moment ago."""
        return self._with_others(key, date, self._file.glance(key, date))

    def totals(
        self, keys: Iterable[str], date: str, *, begun: Callable[[], None]
    ) -> dict[str, tuple[int, int]]:
        keys = list(keys)
        own = self._file.totals(keys, date, begun=begun)
        self._ask_totals(keys, date)
        return {key: self._with_others(key, date, own[key]) for key in keys}

    def _with_others(self, key: str, date: str, own: tuple[int, int]) -> tuple[int, int]:
        known, day, month = self._others.get(key, (date, 0, 0))
        if known == date:
            return own[0] + day, own[1] + month
        return own[0], own[1] + (month if known[:7] == date[:7] else 0)

    def _ask_totals(self, keys: list[str], date: str) -> None:
        """What others have used: of these keys, or from time to time of all."""
        every = time.monotonic() > self._asked_all + ALL_S
        if not (every or keys):
            return
        query = TOTALS.format(keys="" if every else "and key = any(:keys)")
        what = {"server": self._file.server, "first": date[:8] + "01", "date": date}
        with self._telling.use() as base:
            rows = base.run(query, **what, **({} if every else {"keys": keys}))
        if every:
            self._asked_all = time.monotonic()
        told = {str(key): (date, int(day), int(month)) for key, day, month in rows}
        self._others = told if every else self._others | told

    def tend(self) -> None:
        """Tell what has changed."""
        self._file.tend()
        if not self._compared:
            self._compare()
        self._ask_totals([], today())
        rows = self._file.changed()
        try:
            with self._telling.use() as base:
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
        """Find what was not told before this start."""
        with self._telling.use() as base:
            known = {Used(*row) for row in base.run(OWN, server=self._file.server)}
        since = months_before(today(), KEPT_MONTHS)
        self._file.retell(row.place for row in self._file.rows(since, today()) if row not in known)
        self._compared = True

    def meet(self, process: str, taken: Mapping[str, int]) -> dict[str, int]:
        with self._telling.use() as base:
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
        try:
            self.tend()
        except OSError as error:
            log.warning(
                "The last usage was not told to the database; the next start does.",
                extra={"why": str(error)},
            )
        self._file.close()
        for database in (self._telling, self._asking):
            database.close()
