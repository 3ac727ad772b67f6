"""Policies and contexts that clients may ask for by name, with bounds on what they cost the server."""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping
from typing import Annotated, Any

from sayahead.config import Bound, Spec, check_bound, hints_of, named, nearest, trait
from sayahead.contexts import CONTEXTS
from sayahead.errors import ConfigError
from sayahead.extensions import Extensible
from sayahead.policies import POLICIES

TABLES: dict[str, Extensible[Any]] = {"policy": POLICIES, "context": CONTEXTS}
UNBOUNDED = Bound(0, 100)
"""What a client may give for a number whose field declares no Bound."""


def offers(what: str) -> list[str]:
    """The names of all policies or contexts ("policy" or "context") whose classes are served."""
    return [name for name, maker in TABLES[what].items() if trait(maker, "served", usual=True)]


def offered(what: str, spec: object) -> Spec | None:
    """The ``what`` ("policy" or "context") that a client asks for; None if it leaves the choice to the voice.

    ConfigError for an unknown name, with the nearest one, and for options beyond their bounds.
    """
    if spec is None:
        return None
    name, options = named(what, spec)
    maker = TABLES[what].get(name)
    if maker is None or not trait(maker, "served", usual=True):
        raise ConfigError(f"{what} {name[:80]!r} is not known{nearest(name[:80], offers(what))}.")
    hints = hints_of(maker)
    for key, value in options.items():
        if key in hints:
            check_option(f"{what} {name!r}: {key}", value, hints[key])
    return {"name": name, **options}


def check_option(name: str, value: object, hint: Any) -> None:
    """ConfigError for an option beyond what a client may have: numbers within bounds, and yes or no."""
    if typing.get_origin(hint) is not Annotated:
        kinds = typing.get_args(hint) if typing.get_origin(hint) in (types.UnionType, typing.Union) else (hint,)
        if bool in kinds:
            return
        if not {int, float} & set(kinds):
            raise ConfigError(f"{name} cannot be chosen by clients of a server.")
        hint = Annotated[hint, UNBOUNDED]
    check_bound(name, value, hint, client=True)


def choices(data: Mapping[str, Any]) -> dict[str, Any]:
    """The policy and the context in a message or a query, as fields of ``messages.Options``."""
    return {what: offered(what, data.get(what)) for what in TABLES}
