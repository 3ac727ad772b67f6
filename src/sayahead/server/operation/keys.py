"""API keys: whose they are, when they expire, and what each allows."""

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

MIN_CHARACTERS = 8
"""Fewest characters of a key."""
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
        """Return whether it has not expired."""
        expiry = self.terms.until
        if expiry is None:
            return True
        if not isinstance(expiry, datetime.datetime):
            expiry = datetime.datetime.combine(expiry, datetime.time())
        return now < (expiry if expiry.tzinfo else expiry.replace(tzinfo=datetime.UTC))


def keys_of(settings: Settings) -> dict[bytes, Key]:
    """Return all keys by their SHA-256. ConfigError for an unreadable file or an invalid key."""
    keys = list(of_lines(list(settings.keys)))
    if settings.keys_file is not None:
        path = Path(settings.keys_file)
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            why = getattr(error, "strerror", None) or error
            raise ConfigError(f"The keys in {path} cannot be read: {why}.") from error
        file_keys = list(
            of_tables(text, path)
            if path.suffix == ".toml"
            else of_lines(text.split("\n"), len(keys))
        )
        if not file_keys:
            raise ConfigError(f"{path} contains no key: write one per line, or remove the setting.")
        keys += file_keys
    return {key.digest: key for key in keys}


def of_lines(lines: list[str], before: int = 0) -> Iterator[Key]:
    """Yield the keys of lines NAME:KEY or KEY; ``before``: the number of keys before them, for
    default names."""
    entries = (line.strip() for line in lines)
    for number, entry in enumerate(
        (entry for entry in entries if entry and not entry.startswith("#")), before + 1
    ):
        name, colon, key = entry.partition(":")
        name, key = (name, key) if colon else (f"key-{number}", entry)
        yield Key(name, digest_of(key, name))


def of_tables(text: str, path: Path) -> Iterator[Key]:
    """Yield the keys of a TOML file, a table each."""
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
    """Return a key's SHA-256. ConfigError if it is too short to be secret."""
    if len(key) < MIN_CHARACTERS:
        raise ConfigError(
            f"The key {name!r} is shorter than {MIN_CHARACTERS} characters: make a longer one."
        )
    return hashlib.sha256(key.encode()).digest()
