"""Keys as customers: who they are, until when they are good, and what each may use."""

from __future__ import annotations

import datetime
import hashlib
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from sayahead.config import Bound, check_bounds, from_mapping, nearest
from sayahead.errors import ConfigError
from sayahead.server.operation.settings import Settings
from sayahead.server.protocols import PROTOCOLS

LEAST = 8
"""Characters of a key."""
_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What a table of a keys file in TOML says of a key."""

    key: str = ""
    """The key itself."""
    sha256: str = ""
    """Its SHA-256 in hexadecimal digits instead, so that the file gives no key away."""
    until: datetime.date | None = None
    """The day or moment at which it expires."""
    voices: tuple[str, ...] = ()
    """Voices that it may use, the first one where none is named; none: all."""
    protocols: tuple[str, ...] = ()
    """Protocols that it may use; none: all."""
    read_only: bool = False
    """Whether it may only ask: for voices, models and usage."""
    admin: bool = False
    """Whether it may see the usage of all keys."""
    sessions: Annotated[int, Bound()] = 0
    """Concurrency; 0: ``limits.sessions_per_key``."""
    requests_per_minute: Annotated[int, Bound()] = 0
    """Texts that it may begin in a minute; 0: any number."""
    characters_per_day: Annotated[int, Bound()] = 0
    """Characters that it may have spoken in a day (UTC); 0: any number."""
    characters_per_month: Annotated[int, Bound()] = 0
    """The same in a month."""


NO_TERMS = Terms()


@dataclass(frozen=True, slots=True)
class Key:
    """A key, and whose it is."""

    name: str
    """In the log, in metrics, and on the bill."""
    digest: bytes
    """SHA-256 of the key."""
    terms: Terms = NO_TERMS

    def good(self, now: datetime.datetime) -> bool:
        """Whether it is a key still."""
        until = self.terms.until
        if until is None:
            return True
        if not isinstance(until, datetime.datetime):
            until = datetime.datetime.combine(until, datetime.time())
        return now < (until if until.tzinfo else until.replace(tzinfo=datetime.UTC))


def keys_of(settings: Settings) -> dict[bytes, Key]:
    """All keys by their SHA-256. ConfigError for a file that cannot be read, and for what is no
    key."""
    found = list(of_lines(list(settings.keys)))
    if settings.keys_file is not None:
        path = Path(settings.keys_file)
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            why = getattr(error, "strerror", None) or error
            raise ConfigError(f"The keys in {path} cannot be read: {why}.") from error
        own = list(
            of_tables(text, path)
            if path.suffix == ".toml"
            else of_lines(text.split("\n"), len(found))
        )
        if not own:
            raise ConfigError(f"{path} contains no key: write one per line, or remove the setting.")
        found += own
    return {key.digest: key for key in found}


def of_lines(lines: list[str], before: int = 0) -> Iterator[Key]:
    """Keys, a line each: NAME:KEY, or a key alone."""
    entries = (line.strip() for line in lines)
    for number, entry in enumerate(
        (entry for entry in entries if entry and not entry.startswith("#")), before + 1
    ):
        name, colon, key = entry.partition(":")
        name, key = (name, key) if colon else (f"key-{number}", entry)
        yield Key(name, digest_of(key, name))


def of_tables(text: str, path: Path) -> Iterator[Key]:
    """Keys, a table each, by their names."""
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not TOML: {error}.") from error
    for name, table in tables.items():
        where = f"{path}: {name}"
        terms = from_mapping(Terms, table, where=where)
        check_bounds(terms, f"{where}: ")
        for protocol in terms.protocols:
            if protocol not in PROTOCOLS:
                raise ConfigError(
                    f"{where}: there is no protocol {protocol!r}{nearest(protocol, PROTOCOLS)}."
                )
        if bool(terms.key) == bool(terms.sha256):
            raise ConfigError(f"{where}: give key or sha256, one of them.")
        if terms.sha256 and not _DIGEST.fullmatch(terms.sha256):
            raise ConfigError(
                f"{where}: sha256 must be 64 hexadecimal digits, such as sha256sum prints."
            )
        yield Key(
            name, bytes.fromhex(terms.sha256) if terms.sha256 else digest_of(terms.key, name), terms
        )


def digest_of(key: str, name: str) -> bytes:
    """A key's SHA-256. ConfigError if anybody could guess it."""
    if len(key) < LEAST:
        raise ConfigError(
            f"The key {name!r} is shorter than {LEAST} characters: make a longer one."
        )
    return hashlib.sha256(key.encode()).digest()
