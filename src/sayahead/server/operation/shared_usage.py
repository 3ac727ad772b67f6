"""Usage of a fleet: each server's own sums in a database that all share, PostgreSQL.

A server keeps its usage in its own file, at once and over crashes; a thread tells the database what the file's sums are
now. Telling the same twice changes nothing, and while the database is away nothing is lost.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import astuple
from typing import Any
from urllib.parse import unquote, urlsplit

from sayahead.errors import ConfigError
from sayahead.server.operation.usage import GONE_S, File, Used, today

log = logging.getLogger("sayahead.server")
PORT = 5432
PATIENCE_S = 5.0
SCHEMA = """
create table if not exists sayahead_usage (server text, key text, day text, protocol text, voice text,
  requests bigint, characters bigint, audio_s double precision, primary key (server, key, day, protocol, voice))
"""
PLACES = """
create table if not exists sayahead_places (process text, key text, taken bigint, at timestamptz,
  primary key (process, key))
"""
MEET = """
select key, sum(taken)::bigint from sayahead_places where process <> :process
  and at >= now() - make_interval(secs => :gone) group by key
"""
TELL = """
insert into sayahead_usage values (:server, :key, :day, :protocol, :voice, :requests, :characters, :audio_s)
  on conflict (server, key, day, protocol, voice) do update set requests = excluded.requests,
  characters = excluded.characters, audio_s = excluded.audio_s
"""
ASK = """
select key, day, protocol, voice, sum(requests)::bigint, sum(characters)::bigint, sum(audio_s) from sayahead_usage
  where server <> :server and day between :first and :last group by key, day, protocol, voice
"""


class Shared:
    """A server's own file, and what the database says of the others."""

    def __init__(self, file: File, address: str) -> None:
        """``address``: postgresql://USER:PASSWORD@HOST/DATABASE. ConfigError for another one, or without pg8000."""
        try:
            import pg8000.native
        except ImportError as error:
            raise ConfigError(
                "The setting usage_database needs a package: pip install 'sayahead[postgres]'."
            ) from error
        parts = urlsplit(address)
        if parts.scheme not in ("postgresql", "postgres") or not parts.hostname or not parts.path.strip("/"):
            raise ConfigError("The setting usage_database must be postgresql://USER:PASSWORD@HOST/DATABASE.")
        where = {"host": parts.hostname, "port": parts.port or PORT, "database": unquote(parts.path.strip("/"))}
        who = {"user": unquote(parts.username or "postgres"), "password": unquote(parts.password or "") or None}
        self._options: dict[str, Any] = {**where, **who, "timeout": PATIENCE_S}
        self._pg8000 = pg8000.native
        self._file, self._lock = file, threading.Lock()
        self._base: Any = None
        self._told = set[Used]()
        self._others = list[Used]()

    def add(self, rows: list[Used]) -> None:
        self._file.add(rows)

    def recent(self, first: str, last: str, key: str | None = None) -> list[Used]:
        """What is known without asking: of the others, what they had used a moment ago."""
        others = [row for row in self._others if first <= row.day <= last and key in (None, row.key)]
        return [*self._file.rows(first, last, key), *others]

    def rows(self, first: str, last: str, key: str | None = None) -> list[Used]:
        with self._asked() as base:
            found = [Used(*row) for row in base.run(ASK, server=self._file.server, first=first, last=last)]
        return [*self._file.rows(first, last, key), *(row for row in found if key in (None, row.key))]

    def tend(self) -> None:
        """Tell what has changed, and ask what others have used this month."""
        self._file.tend()
        month, names = today()[:8] + "01", ("key", "day", "protocol", "voice", "requests", "characters", "audio_s")
        # After midnight, the day before may have to be told still; what was told is not told again.
        rows = [row for row in self._file.rows("", today()) if row not in self._told]
        with self._asked() as base:
            for row in rows:
                base.run(TELL, server=self._file.server, **dict(zip(names, astuple(row), strict=True)))
            self._others = [Used(*row) for row in base.run(ASK, server=self._file.server, first=month, last=today())]
        self._told = (self._told | set(rows)) & set(self._file.rows("", today()))

    def meet(self, process: str, taken: Mapping[str, int]) -> dict[str, int]:
        with self._asked() as base:
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
            return dict(base.run(MEET, process=process, gone=GONE_S))

    def close(self) -> None:
        try:
            self.tend()
        except OSError as error:
            log.warning("The last usage was not told to the database; the next start does.", extra={"why": str(error)})
        self._file.close()
        with self._lock:
            self._leave()

    def _leave(self) -> None:
        """Close the connection to the database."""
        base, self._base = self._base, None
        if base is not None:
            try:
                base.close()
            except (self._pg8000.Error, OSError):
                log.debug("The connection was broken.")

    @contextmanager
    def _asked(self) -> Iterator[Any]:
        """The database, connected to when it is needed; its errors become OSError, after which it is left."""
        with self._lock:
            try:
                if self._base is None:
                    self._base = self._pg8000.Connection(**self._options)
                    self._base.run(SCHEMA)
                    self._base.run(PLACES)
                yield self._base
            except (self._pg8000.Error, OSError) as error:
                self._leave()
                raise OSError(f"the database: {error}") from error
