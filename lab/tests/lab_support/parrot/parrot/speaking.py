"""A policy and a context."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from sayahead.config import Bound, check_bounds
from sayahead.engine.context import Prediction
from sayahead.engine.policy import READ, Read, Speak, View


@dataclass(frozen=True, slots=True)
class Parrot:
    """Speak so many words at once, without lookahead."""

    words: Annotated[int, Bound(1, client=8)] = 2
    """How many."""
    unit = "words"

    def __post_init__(self) -> None:
        check_bounds(self)

    def decide(self, view: View) -> Read | Speak:
        """READ until there are enough words, or their sentence ends."""
        count = len(view.pending)
        return (
            Speak(min(count, self.words), 0)
            if count >= self.words or view.pending[-1].ends
            else READ
        )


@dataclass(frozen=True, slots=True)
class Echo:
    """The last words are expected once more."""

    count: int = 1
    """How many."""

    def predict(self, words: Sequence[str]) -> Prediction:
        """The last of the words."""
        return Prediction(tuple(words[-self.count :]))
