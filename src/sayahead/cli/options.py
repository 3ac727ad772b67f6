"""Command-line flags for the options of a session, derived from ``SessionOptions``."""

from __future__ import annotations

import argparse
import typing
from collections.abc import Callable, Iterable
from dataclasses import fields
from typing import Any

from sayahead.cli import number
from sayahead.config import bound_of, documented, hints_of
from sayahead.engine.options import SessionOptions


def flag_of(name: str) -> str:
    """Return the flag of an option; options in seconds have flags in milliseconds."""
    return "--" + name.removesuffix("_s").replace("_", "-")


def add_options(add: Callable[..., Any], names: Iterable[str], **help_texts: str) -> None:
    """Add the flags of some options; ``help_texts``: help for those whose docstring is for
    programmers."""
    hints = hints_of(SessionOptions)
    docs = documented(SessionOptions)
    chosen = set(names)
    for field in fields(SessionOptions):
        if field.name not in chosen:
            continue
        hint = hints[field.name]
        bound = bound_of(hints[field.name])
        metavar = "NAME"
        convert: Any = str
        kinds = typing.get_args(getattr(hint, "__origin__", hint)) or (hint.__origin__,)
        if bound is not None:
            convert, metavar = (int, "N") if int in kinds else (float, "X")
        metavar = next(
            (note for note in getattr(hint, "__metadata__", ()) if isinstance(note, str)), metavar
        )
        text = help_texts.get(field.name) or docs.get(field.name, "").replace("``", "").rstrip(".")
        text += "" if field.default is None else f" (default: {field.default:g})"
        if bound is not None and field.name.endswith("_s"):
            convert = number(float, 1000 * bound.least, 1000 * bound.most)
            metavar = "MS"
            text = text.replace("Seconds", "Milliseconds")
        add(
            flag_of(field.name),
            dest=field.name,
            type=convert,
            metavar=metavar,
            help=(text[:1].lower() + text[1:]).replace("%", "%%"),
        )


def given(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the options whose flags were given."""
    values = {field.name: getattr(arguments, field.name, None) for field in fields(SessionOptions)}
    return {
        name: value / 1000 if name.endswith("_s") else value
        for name, value in values.items()
        if value is not None
    }
