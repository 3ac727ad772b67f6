"""What an operator decides: from flags, the environment and a TOML file, the first of which wins."""

from __future__ import annotations

import dataclasses
import importlib.util
import math
import os
import tomllib
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from sayahead.config import from_mapping, nearest
from sayahead.errors import ConfigError
from sayahead.speech import IDLE_S

PREFIX = "SAYAHEAD_SERVE_"
FORMS = ("text", "json")
GRPC = ("grpc", "google.protobuf")
COUNTS = """
message_bytes message_characters pending_characters utterance_characters contexts flushes messages_per_s head_bytes
connections
""".split()
WAITS = ("first_message_s", "idle_s", "idle_most_s", "session_s", "write_stall_s")
BOUNDS = {
    "port": (0, 65535),
    "grpc_port": (0, 65535),
    "workers": (1, 1024),
    **{f"limits.{name}": (1, math.inf) for name in COUNTS},
    **{f"limits.{name}": (0.01, math.inf) for name in WAITS},
}
"""Least and most of settings that are numbers; for the others, 0 and no limit."""
TRUE, FALSE = ("1", "true", "yes", "on"), ("0", "false", "no", "off")


@dataclass(frozen=True, slots=True)
class Limits:
    """What no client may go beyond; sent in the native socket's first message."""

    sessions: int = 0
    """Concurrency: texts spoken at once, on all connections; 0: 16 for each processor core."""
    sessions_per_key: int = 0
    """The same for one key, or without keys for one address that is not this machine's; 0: half of all, or all where
    there is one key only."""
    contexts: int = 8
    """Open contexts on one connection."""
    message_bytes: int = 262144
    """Size of a message or a request's body."""
    message_characters: int = 4096
    """Text in one message."""
    pending_characters: int = 20000
    """Text of one context that waits to be spoken."""
    utterance_characters: int = 1_000_000
    """All text of one context."""
    flushes: int = 64
    """Flushes of one context that wait to be answered."""
    messages_per_s: int = 500
    """Messages that are read from one connection in a second; the others wait with the client."""
    head_bytes: int = 65536
    """A request without its body."""
    connections: int = 4096
    """Open connections, those without a text included; fewer if the process may open fewer files."""
    first_message_s: float = 10.0
    """Wait for the first message of a connection."""
    idle_s: float = 20.0
    """Wait for more text, unless the client chooses."""
    idle_most_s: float = 180.0
    """Longest wait that a client may choose."""
    session_s: float = 3600.0
    """Longest life of a connection."""
    write_stall_s: float = 30.0
    """Wait for a client that does not read."""
    buffered_audio_s: float = 300.0
    """Audio that is synthesised ahead of its playback."""


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings of a server."""

    host: str = "127.0.0.1"
    """Address to listen on; 0.0.0.0 is all of them."""
    port: int = 8000
    """Port to listen on; 0: any that is free."""
    voices: tuple[str, ...] = ()
    """Names or folders of the voices to offer, the default one first; empty: all that are installed, heart first."""
    lexicon: str | None = None
    """File that says how words are said in all texts; a client's own lexicon comes before it."""
    preload: bool = False
    """Whether to load all voices at the start, not only the default one."""
    workers: int | None = None
    """Threads that make speech; None: one for each processor core."""
    keys: tuple[str, ...] = ()
    """API keys, each after a name for the log and a colon, or alone; empty: no key is needed."""
    keys_file: str | None = None
    """File with one key a line, in the same form."""
    token_secret: str | None = None
    """Signs browser tokens; None: a random one, so that tokens end with the process."""
    token_s: float = 60.0
    """How long a token can be used to connect."""
    origins: tuple[str, ...] = ()
    """Web pages of other hosts that may connect, such as https://example.org; * is any."""
    hosts: tuple[str, ...] = ()
    """Host names by which the server may be addressed; empty: any, or on a loopback address loopback names only."""
    certificate: str | None = None
    """PEM file with a certificate, for https and wss."""
    certificate_key: str | None = None
    """PEM file with its private key."""
    wyoming: str | None = None
    """Where to listen for Home Assistant, such as tcp://0.0.0.0:10200; None: nowhere."""
    grpc_port: int | None = None
    """Port on the same address for Google's Text-to-Speech over gRPC; 0: any that is free, None: it is not served."""
    zeroconf: bool = False
    """Whether to announce the Wyoming address on the local network."""
    page: bool = True
    """Whether to serve the page at /."""
    metrics: bool = True
    """Whether to serve /metrics; it needs no key."""
    breath_s: float = IDLE_S
    """Seconds without text after which what is there is spoken to its end and the sentence goes on; 0: never. Native
    clients may choose another."""
    drain_s: float = 30.0
    """How long texts that are being spoken may go on after SIGTERM."""
    log: str = "text"
    """Format of the log: text or json."""
    log_text: bool = False
    """Whether the log shows the texts that clients send."""
    limits: Limits = field(default_factory=Limits)
    """What no client may go beyond."""

    def __post_init__(self) -> None:
        if self.log not in FORMS:
            raise ConfigError(f"The setting log is {self.log!r}{nearest(self.log, FORMS)}.")
        for record, table in ((self, ""), (self.limits, "limits.")):
            for entry in dataclasses.fields(record):
                check_number(table + entry.name, getattr(record, entry.name))
        if self.wyoming is not None:
            wyoming_address(self.wyoming)
            if self.keys or self.keys_file is not None:
                raise ConfigError("Wyoming has no keys: serve it from a process of its own, without keys.")
        if self.grpc_port is not None and not all(map(there, GRPC)):
            raise ConfigError("The setting grpc_port needs packages: pip install 'sayahead[grpc]'.")
        if self.zeroconf and not there("zeroconf"):
            raise ConfigError("The setting zeroconf needs a package: pip install 'sayahead[zeroconf]'.")


def there(module: str) -> bool:
    """Whether a module can be imported."""
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def check_number(name: str, value: object) -> None:
    """ConfigError for a number that a setting cannot have."""
    least, most = BOUNDS.get(name, (0, math.inf))
    if isinstance(value, int | float) and not (least <= value <= most and math.isfinite(value)):
        allowed = f"at least {least}" if most == math.inf else f"from {least} to {most}"
        raise ConfigError(f"The setting {name} is {value}, but must be {allowed}.")


def wyoming_address(text: str) -> tuple[str, int]:
    """Host and port in the setting ``wyoming``. ConfigError if it is no such address."""
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if host is None or port is None or parts.scheme != "tcp":
        raise ConfigError(f"The setting wyoming is {text!r}, but must be an address such as tcp://0.0.0.0:10200.")
    return host, port


def load_settings(
    file: Path | None = None, *, environment: Mapping[str, str] | None = None, given: Mapping[str, Any] | None = None
) -> Settings:
    """Settings from a TOML file, overridden by SAYAHEAD_SERVE_* variables, overridden by flags (by names such as
    ``limits.idle_s``). ConfigError for an unknown name, with the nearest one."""
    tree: dict[str, Any] = {}
    if file is not None:
        try:
            tree = tomllib.loads(file.read_text(encoding="utf-8"))
        except OSError as error:
            raise ConfigError(f"{file} cannot be read: {error.strerror or error}.") from error
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ConfigError(f"{file} is not TOML: {error}.") from error
        # Checked by itself, so that an error names the file.
        from_mapping(Settings, tree, where=str(file))
    places = {PREFIX + name.upper().replace(".", "_"): name for name in names()}
    for variable, text in (os.environ if environment is None else environment).items():
        if variable.startswith(PREFIX):
            if variable not in places:
                raise ConfigError(f"The environment variable {variable} is unknown{nearest(variable, places)}.")
            put(tree, places[variable], parse(places[variable], text, where=variable))
    for name, value in (given or {}).items():
        if name not in names():
            raise ConfigError(f"There is no setting {name!r}{nearest(name, names())}.")
        put(tree, name, parse(name, value, where=name) if isinstance(value, str) else value)
    return from_mapping(Settings, tree, where="settings")


def names() -> dict[str, Any]:
    """The names of all settings, with their types; those of limits begin with ``limits.``."""
    kinds = dict(typing.get_type_hints(Settings))
    del kinds["limits"]
    return kinds | {f"limits.{name}": kind for name, kind in typing.get_type_hints(Limits).items()}


def put(tree: dict[str, Any], name: str, value: Any) -> None:
    """Set a value in nested tables."""
    *tables, last = name.split(".")
    for table in tables:
        tree = tree.setdefault(table, {})
    tree[last] = value


def parse(name: str, text: str, *, where: str) -> Any:
    """The value of a setting written as text; commas separate the items of a list."""
    kind = names()[name]
    if typing.get_origin(kind) is types.UnionType:
        kind = next(a for a in typing.get_args(kind) if a is not type(None))
    if typing.get_origin(kind) is tuple:
        return tuple(part.strip() for part in text.split(",") if part.strip())
    if kind is str:
        return text
    if kind is bool:
        if text.lower() not in (*TRUE, *FALSE):
            raise ConfigError(f"{where} is {text!r}, but must be true or false.")
        return text.lower() in TRUE
    try:
        return kind(text)
    except ValueError as error:
        raise ConfigError(f"{where} is {text!r}, but must be a {'whole ' * (kind is int)}number.") from error
