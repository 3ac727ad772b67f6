"""What an operator decides: from flags, the environment and a TOML file, the first of which
wins."""

from __future__ import annotations

import importlib.util
import ipaddress
import os
import types
import typing
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, TypeVar

from sayahead.config import Bound, check_bounds, from_mapping, hints_of, nearest, read_toml
from sayahead.errors import ConfigError
from sayahead.server.protocols import PROTOCOLS
from sayahead.speech import IDLE_S

PREFIX = "SAYAHEAD_SERVE_"
FORMS = ("text", "json")
TRUE = ("1", "true", "yes", "on")
FALSE = ("0", "false", "no", "off")


@dataclass(frozen=True, slots=True)
class Limits:
    """What no client may go beyond; sent in the native socket's first message."""

    sessions: Annotated[int, Bound()] = 0
    """Concurrency: texts spoken at once, on all connections; 0: as many as the server finds that
    the machine holds."""
    sessions_per_key: Annotated[int, Bound()] = 0
    """The same for one key, or without keys for one address that is not this machine's; 0: half of
    all, or all where there is one key only."""
    contexts: Annotated[int, Bound(1)] = 8
    """Open contexts on one connection."""
    message_bytes: Annotated[int, Bound(1)] = 262144
    """Size of a message or a request's body."""
    message_characters: Annotated[int, Bound(1)] = 4096
    """Text in one message."""
    pending_characters: Annotated[int, Bound(1)] = 20000
    """Text of one context that waits to be spoken."""
    utterance_characters: Annotated[int, Bound(1)] = 1_000_000
    """All text of one context."""
    flushes: Annotated[int, Bound(1)] = 64
    """Flushes of one context that wait to be answered."""
    messages_per_s: Annotated[int, Bound(1)] = 500
    """Messages that are read from one connection in a second; beyond 256 bytes, one counts once
    more for each 64. The others wait with the client."""
    requests_per_s: Annotated[int, Bound(1)] = 200
    """Requests and handshakes of one address that are answered in a second, or 4 for each of its
    places if that is more; the others wait."""
    bytes_per_s: Annotated[int, Bound(1)] = 1_000_000
    """Bytes of messages and bodies that are read from one client in a second; the others wait with
    the client."""
    head_bytes: Annotated[int, Bound(1)] = 65536
    """A request without its body."""
    connections: Annotated[int, Bound(1)] = 4096
    """Open connections, those without a text included; fewer if the process may open fewer
    files."""
    first_message_s: Annotated[float, Bound(0.01)] = 10.0
    """Wait for the first message of a connection."""
    idle_s: Annotated[float, Bound(0.01)] = 20.0
    """Wait for more text, unless the client chooses."""
    idle_most_s: Annotated[float, Bound(0.01)] = 180.0
    """Longest wait that a client may choose."""
    session_s: Annotated[float, Bound(0.01)] = 3600.0
    """Longest life of a connection."""
    write_stall_s: Annotated[float, Bound(0.01)] = 30.0
    """Wait for a client that does not read."""
    buffered_audio_s: Annotated[float, Bound()] = 300.0
    """Audio that is synthesised ahead of its playback while more text may come."""

    def too_much(self, characters: int, *, waiting: int, received: int) -> str | None:
        """Return an error message if a text of ``characters`` would exceed a limit, else None.

        ``waiting``: characters of the utterance that are not spoken yet; ``received``: all that it
        has received."""
        if characters > self.message_characters:
            return (
                f"The text has {characters} characters; the limit of a message is"
                f" {self.message_characters}: split it."
            )
        if waiting + characters > self.pending_characters:
            return (
                f"{waiting} characters are waiting to be spoken, and the limit is"
                f" {self.pending_characters}: send more once these have been spoken."
            )
        if received + characters > self.utterance_characters:
            return (
                f"A context is limited to {self.utterance_characters} characters: end it and begin"
                " another."
            )
        return None


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings of a server."""

    host: str = "127.0.0.1"
    """Address to listen on; 0.0.0.0 is all of them."""
    port: Annotated[int, Bound(0, 65535)] = 8000
    """Port to listen on; 0: any that is free."""
    voices: tuple[str, ...] = ()
    """Names or folders of the voices to offer, the default one first; none: all that are installed,
    heart first."""
    lexicon: str | None = None
    """File that says how words are said in all texts, in lines such as Nguyen = /ˈwɪn/ or SQL =
    sequel, or as PLS; a client's own lexicon comes before it."""
    preload: bool = False
    """Whether to load all voices at the start, not only the default one."""
    processes: Annotated[int | None, Bound(1, 256)] = None
    """Processes that serve; none: one for each processor core that there may be. 1: all in this
    one."""
    workers: Annotated[int | None, Bound(1, 1024)] = None
    """Threads of each process that make speech; none: one for each processor core, or where there
    are several processes, two."""
    step_words: Annotated[int, Bound(1, 16)] = 8
    """Words that one step says at most, after a text's first steps; 1: each word by itself, so that
    the sound of a text does not depend on when it came, however slowly."""
    measure_s: Annotated[float, Bound(0, 60)] = 0.5
    """How long the server speaks to nobody at its start, to find how many texts at once the machine
    holds, where limits.sessions does not say; 0: not at all, and 16 for each processor core."""
    keys: tuple[str, ...] = ()
    """API keys, each after a name for the log and a colon, or alone; empty: no key is needed."""
    keys_file: str | None = None
    """File with one API key a line, each after a name for the log and a colon, or alone; or one
    that ends in .toml, with a table for each key that says what it may use."""
    usage: str | None = None
    """File in which each key's usage is kept, shared by all servers of a machine; none: in
    memory."""
    usage_database: str | None = None
    """PostgreSQL database in which a fleet's servers add up their usage, as
    postgresql://USER:PASSWORD@HOST/NAME."""
    unload_s: Annotated[float, Bound()] = 3600.0
    """How long a voice other than the default one may be unused before its memory is given back; 0:
    never."""
    token_secret: str | None = None
    """Signs browser tokens; none: a random one, so that tokens end with the process."""
    token_s: Annotated[float, Bound()] = 60.0
    """How long a token can be used to connect."""
    origins: tuple[str, ...] = ()
    """Web pages of other hosts that may connect, such as https://example.org; * is any."""
    hosts: tuple[str, ...] = ()
    """Host names by which the server may be addressed; none: any, or on a loopback address loopback
    names only."""
    proxies: tuple[str, ...] = ()
    """Addresses or networks of proxies, such as 127.0.0.1 or 10.0.0.0/8, whose X-Forwarded-For says
    where a client connects from; none: the header is not read."""
    certificate: str | None = None
    """PEM file with a certificate, for https and wss."""
    certificate_key: str | None = None
    """PEM file with its private key."""
    page: bool = True
    """Whether to serve the page at /."""
    metrics: bool = True
    """Whether to serve /metrics; it needs no key."""
    traces: bool = False
    """Whether to send traces by OpenTelemetry, to where its own variables such as
    OTEL_EXPORTER_OTLP_ENDPOINT say."""
    breath_s: Annotated[float, Bound()] = IDLE_S
    """Seconds without text after which what is there is spoken to its end and the sentence goes on;
    0: never. Native clients may choose another."""
    drain_s: Annotated[float, Bound()] = 30.0
    """How long texts that are being spoken may go on after SIGTERM."""
    log: str = "text"
    """Format of the log: text or json."""
    log_text: bool = False
    """Whether the log shows the texts that clients send."""
    limits: Limits = field(default_factory=Limits)
    """What no client may go beyond."""
    protocols: tuple[ProtocolSettings, ...] = ()
    """What protocols declare for themselves; operators set it beside the others."""

    def __post_init__(self) -> None:
        if self.log not in FORMS:
            raise ConfigError(f"The setting log is {self.log!r}{nearest(self.log, FORMS)}.")
        for record, table in (
            (self, ""),
            (self.limits, "limits."),
            *((own, "") for own in self.protocols),
        ):
            check_bounds(record, f"The setting {table}")
        for proxy in self.proxies:
            try:
                ipaddress.ip_network(proxy, strict=False)
            except ValueError as error:
                raise ConfigError(
                    f"The setting proxies has {proxy!r}, which is no address or network such as"
                    " 10.0.0.0/8."
                ) from error
        if self.traces and not (
            there("opentelemetry.sdk") and there("opentelemetry.exporter.otlp.proto.http")
        ):
            raise ConfigError("The setting traces needs packages: pip install 'sayahead[otel]'.")
        for own in self.protocols:
            own.check(self)

    def of(self, kind: type[P]) -> P:
        """The settings that a protocol declares with its own class."""
        return next((own for own in self.protocols if isinstance(own, kind)), None) or kind()


class ProtocolSettings:
    """What a protocol's module names as SETTINGS, a frozen dataclass; operators set its fields
    beside the server's."""

    __slots__ = ()
    spread = ""
    """How its addresses are served where a server has several processes: by the first one alone
    (empty); by ``Siblings.listening``, so that connections are ``handed`` to any; or ``reused``, by
    a socket of each process."""

    def check(self, server: Settings) -> None:
        """ConfigError for what cannot be, beside the server's own settings; bounds of fields are
        checked before."""

    def addresses(self, server: Settings) -> Iterable[tuple[str, int]]:
        """Further hosts and ports on which it listens."""
        return ()

    def findings(self) -> Iterable[str]:
        """A sentence for each thing that deserves the operator's attention."""
        return ()


P = TypeVar("P", bound=ProtocolSettings)


def there(module: str) -> bool:
    """Whether a module can be imported."""
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def load_settings(
    file: Path | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    given: Mapping[str, Any] | None = None,
) -> Settings:
    """Settings from a TOML file, overridden by SAYAHEAD_SERVE_* variables, overridden by flags (by
    names such as ``limits.idle_s``). ConfigError for an unknown name, with the nearest one."""
    tree: dict[str, Any] = {}
    if file is not None:
        tree = read_toml(file)
        # Checked by itself, so that an error names the file.
        settings_of(tree, where=str(file))
    places = {PREFIX + name.upper().replace(".", "_"): name for name in names()}
    for variable, text in (os.environ if environment is None else environment).items():
        if variable.startswith(PREFIX):
            if variable not in places:
                raise ConfigError(
                    f"The environment variable {variable} is unknown{nearest(variable, places)}."
                )
            put(tree, places[variable], parse(places[variable], text, where=variable))
    for name, value in (given or {}).items():
        if name not in names():
            raise ConfigError(f"There is no setting {name!r}{nearest(name, names())}.")
        put(tree, name, parse(name, value, where=name) if isinstance(value, str) else value)
    return settings_of(tree)


def settings_of(tree: Mapping[str, Any], where: str = "settings") -> Settings:
    """Settings from nested tables; ``where`` is the start of the path in errors."""
    rest = dict(tree)
    own = list[ProtocolSettings]()
    known = {"limits": None, **names()}
    for key in rest:
        if key not in known:
            raise ConfigError(f"{where}: unknown key {key!r}{nearest(key, known)}.")
    for kind in declared():
        own.append(
            from_mapping(
                kind, {name: rest.pop(name) for name in hints_of(kind) if name in rest}, where=where
            )
        )
    return from_mapping(Settings, {**rest, "protocols": tuple(own)}, where=where)


def declared() -> list[type[ProtocolSettings]]:
    """What protocols declare for themselves. ConfigError for a name that there is already."""
    kinds = list[type[ProtocolSettings]]()
    known = {*hints_of(Settings)}
    for protocol, module in PROTOCOLS.items():
        if (kind := getattr(module, "SETTINGS", None)) is not None:
            if twice := known & {*hints_of(kind)}:
                raise ConfigError(
                    f"The protocol {protocol!r} declares the setting {min(twice)!r}, which exists."
                )
            known |= {*hints_of(kind)}
            kinds.append(kind)
    return kinds


def names() -> dict[str, Any]:
    """The names of all settings, with their types; those of limits begin with ``limits.``."""
    records: list[type] = [Settings, *declared()]
    kinds = {name: hint for record in records for name, hint in hints_of(record).items()}
    del kinds["limits"], kinds["protocols"]
    return kinds | {f"limits.{name}": kind for name, kind in hints_of(Limits).items()}


def put(tree: dict[str, Any], name: str, value: Any) -> None:
    """Set a value in nested tables."""
    *tables, last = name.split(".")
    for table in tables:
        tree = tree.setdefault(table, {})
    tree[last] = value


def parse(name: str, text: str, *, where: str) -> Any:
    """The value of a setting written as text; commas separate the items of a list."""
    kind = names()[name]
    if typing.get_origin(kind) is Annotated:
        kind = kind.__origin__
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
        number = "whole number" if kind is int else "number"
        raise ConfigError(f"{where} is {text!r}, but must be a {number}.") from error
