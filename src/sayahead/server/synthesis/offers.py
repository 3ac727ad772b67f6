"""What clients may ask for: options of a session, policies and contexts by name, within bounds on
what they cost."""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Any

from sayahead.config import (
    Bound,
    Spec,
    check_bound,
    class_flag,
    from_mapping,
    hints_of,
    named,
    nearest,
    plain,
)
from sayahead.contexts import CONTEXTS
from sayahead.engine.keep_up import keep_up
from sayahead.engine.options import SessionOptions
from sayahead.errors import ConfigError
from sayahead.extensions import Extensible
from sayahead.policies import POLICIES
from sayahead.text.saying.lexicon import Entry, Lexicon

TABLES: dict[str, Extensible[Any]] = {"policy": POLICIES, "context": CONTEXTS}
UNBOUNDED = Bound(0, 100)
"""What a client may give for a number whose field declares no Bound."""


def offers(what: str) -> list[str]:
    """The names of all policies or contexts ("policy" or "context") whose classes are served."""
    return [
        name for name, maker in TABLES[what].items() if class_flag(maker, "served", default=True)
    ]


def offered(what: str, spec: object) -> Spec | None:
    """The ``what`` ("policy" or "context") that a client asks for; None if it leaves the choice to
    the voice.

    ConfigError for an unknown name, with the nearest one, and for options beyond their bounds.
    """
    if spec is None:
        return None
    name, options = named(what, spec)
    maker = TABLES[what].get(name)
    if maker is None or not class_flag(maker, "served", default=True):
        raise ConfigError(f"{what} {name[:80]!r} is not known{nearest(name[:80], offers(what))}.")
    hints = hints_of(maker)
    for key, value in options.items():
        if key in hints:
            check_option(f"{what} {name!r}: {key}", value, hints[key])
    return {"name": name, **options}


def check_option(name: str, value: object, hint: Any) -> None:
    """Raise ConfigError unless a client may choose an option: a boolean, or a number within its
    bounds for clients. ``hint``: its annotation."""
    if typing.get_origin(hint) is not Annotated:
        kinds = (
            typing.get_args(hint)
            if typing.get_origin(hint) in (types.UnionType, typing.Union)
            else (hint,)
        )
        if bool in kinds:
            return
        if not {int, float} & set(kinds):
            raise ConfigError(f"{name} cannot be chosen by clients of a server.")
        hint = Annotated[hint, UNBOUNDED]
    check_bound(name, value, hint, client=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice(SessionOptions):
    """Session options as clients send them: policies and contexts by name, lexicons as tables."""

    policy: Any = None
    context: Any = None
    keep_up: Any = None
    lexicon: dict[str, str] | None = None

    def session(self, **own: Any) -> SessionOptions:
        """Return them as a session takes them; ``own``: options that the protocol has read itself.
        ConfigError for what is not offered to clients."""
        options = {name: getattr(self, name) for name in CHOICES} | {
            "keep_up": keep_up(self.keep_up)
        }
        options |= {what: offered(what, options[what]) for what in TABLES}
        options["lexicon"] = lexicon_of(self.lexicon) if self.lexicon else None
        if "speed" in own:
            # Some services allow more than voices can do: such speeds are clipped.
            own["speed"] = min(max(own["speed"], SLOWEST), FASTEST)
        return SessionOptions(**options | own)


MAX_ENTRIES = 1000
MAX_SAID = 200
MAX_LEXICON = 64_000
"""Limits of a client's lexicon: entries, characters of one pronunciation, and characters of all
entries."""


def check_lexicon(entries: Mapping[str, str | Entry]) -> None:
    """Raise ConfigError for a client's lexicon beyond the limits."""
    if len(entries) > MAX_ENTRIES:
        raise ConfigError(
            f"lexicon: {len(entries)} entries are too many: a client may have {MAX_ENTRIES}."
        )
    size = 0
    for word, entry in entries.items():
        said = entry.said if isinstance(entry, Entry) else entry
        if len(said) > MAX_SAID:
            raise ConfigError(
                f"lexicon: what {word[:80]!r} says has {len(said)} characters; {MAX_SAID} are"
                " allowed."
            )
        size += len(word) + len(said)
    if size > MAX_LEXICON:
        raise ConfigError(
            f"lexicon: {size} characters are too many: a client's may have {MAX_LEXICON}."
        )


def lexicon_of(table: Mapping[str, str]) -> Lexicon:
    """Return the lexicon that a client sent. ConfigError if it is too large or invalid."""
    check_lexicon(table)
    return Lexicon.of(table)


SLOWEST = 0.1
FASTEST = 10.0
CHOICES = tuple(field.name for field in fields(SessionOptions))


def session_of(data: Mapping[str, Any], **own: Any) -> SessionOptions:
    """Return the session options in a message, body or query of a client; other keys are ignored.

    Numbers may be written as text. ``own``: options that the protocol has read itself, which take
    precedence. ConfigError for a value that is unknown, out of range or not offered to clients.
    """
    given = {
        name: value for name in CHOICES if name not in own and (value := data.get(name)) is not None
    }
    given = {
        name: plain(value) if isinstance(value, str) else value for name, value in given.items()
    }
    return from_mapping(Choice, given, where="session").session(**own)
