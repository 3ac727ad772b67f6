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
        convert, metavar = flag_type(field.name, hints[field.name])
        text = help_texts.get(field.name) or docs.get(field.name, "").replace("``", "").rstrip(".")
        text += "" if field.default is None else f" (default: {field.default:g})"
        if metavar == "MS":
            text = text.replace("Seconds", "Milliseconds")
        add(
            flag_of(field.name),
            dest=field.name,
            type=convert,
            metavar=metavar,
            help=(text[:1].lower() + text[1:]).replace("%", "%%"),
        )


def flag_type(name: str, hint: Any) -> tuple[Callable[[str], Any], str]:
    """Return what converts the value of an option's flag, and what stands for it in the help."""
    bound = bound_of(hint)
    if bound is not None and name.endswith("_s"):
        return number(float, 1000 * bound.least, 1000 * bound.most), "MS"
    notes = (note for note in getattr(hint, "__metadata__", ()) if isinstance(note, str))
    if bound is None:
        return str, next(notes, "NAME")
    kinds = typing.get_args(hint.__origin__) or (hint.__origin__,)
    return (int, next(notes, "N")) if int in kinds else (float, next(notes, "X"))


def given(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the options whose flags were given. A time is in milliseconds on the command line, in
    seconds as an option."""
    values = {field.name: getattr(arguments, field.name, None) for field in fields(SessionOptions)}
    return {
        name: value / 1000 if name.endswith("_s") else value
        for name, value in values.items()
        if value is not None
    }
