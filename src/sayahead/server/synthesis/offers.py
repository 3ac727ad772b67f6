"""Policies and contexts that clients may ask for by name, with bounds on what they cost the server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sayahead.config import Spec, check_number, named, nearest
from sayahead.errors import ConfigError

OFFERS: dict[str, dict[str, dict[str, int]]] = {
    "policy": {
        "lookahead": {"k": 16, "first_chunk": 64, "chunk": 64, "words": 16},
        "opportunistic": {"most": 16},
        "wait-all": {"max_words": 120},
        "independent": {"words": 16},
        "learned": {},
        "wait-end": {},
        "wait-k-steps": {"k": 16},
        "agent": {},
    },
    "context": {"none": {}, "distilled": {}, "random": {"count": 16, "seed": 2**32 - 1}},
}
"""Names, and the largest values of their options. Language models are not among them, since a client would choose what
the server loads; nor is the truth, which is for experiments."""


def offered(what: str, spec: object) -> Spec | None:
    """The ``what`` ("policy" or "context") that a client asks for; None if it leaves the choice to the voice.

    ConfigError for an unknown name, with the nearest one, and for options beyond their bounds.
    """
    if spec is None:
        return None
    name, options = named(what, spec)
    if name not in OFFERS[what]:
        raise ConfigError(f"{what} {name[:80]!r} is not known{nearest(name[:80], OFFERS[what])}.")
    for key, most in OFFERS[what][name].items():
        check_number(f"{what} {name!r}: {key}", options.get(key, 0), 0, most)
    return {"name": name, **options}


def choices(data: Mapping[str, Any]) -> dict[str, Any]:
    """The policy and the context in a message or a query, as fields of ``messages.Options``."""
    return {what: offered(what, data.get(what)) for what in OFFERS}
