"""Why a text is read as it is: the rule that took each token, what it captured, and the candidates
that lost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from sayahead.text.reading.grammar import Rule


@dataclass(frozen=True, slots=True)
class TokenTrace:
    """A token and who took it."""

    start: int
    """Its place in the source text, in characters."""
    end: int
    rule: Rule
    captured: Mapping[str, str]
    said: str
    losers: tuple[Rule, ...]
    """Other rules whose pattern it is, or a longer text: later in order, shorter, or not meant."""


_TRACES: ContextVar[list[TokenTrace] | None] = ContextVar("traces", default=None)


@contextmanager
def traced() -> Iterator[list[TokenTrace]]:
    """A list that takes the traces of all tokens that are read meanwhile in this thread."""
    traces: list[TokenTrace] = []
    token = _TRACES.set(traces)
    try:
        yield traces
    finally:
        _TRACES.reset(token)


def open_traces() -> list[TokenTrace] | None:
    """The list to add to, or None where nobody asks."""
    return _TRACES.get()
