"""Why a text is read as it is: the rule that took each token, what it captured, and the candidates
that lost; of words with several pronunciations, what spoke for each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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


@dataclass(frozen=True, slots=True)
class Choice:
    """A word with several pronunciations, the best one first."""

    word: str
    """In small letters."""
    candidates: Sequence[Candidate]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A pronunciation of a word, and what spoke for it or against it."""

    name: str
    phonemes: str
    weights: Sequence[tuple[str, float]]
    """What was seen beside the word, and its weight."""

    @property
    def score(self) -> float:
        """The sum of its weights."""
        return sum(weight for _, weight in self.weights)


Trace = TokenTrace | Choice
_TRACES: ContextVar[list[Trace] | None] = ContextVar("traces", default=None)


@contextmanager
def traced() -> Iterator[list[Trace]]:
    """A list that takes the traces of what is read meanwhile in this thread."""
    traces: list[Trace] = []
    token = _TRACES.set(traces)
    try:
        yield traces
    finally:
        _TRACES.reset(token)


def open_traces() -> list[Trace] | None:
    """The list to add to, or None where nobody asks."""
    return _TRACES.get()
