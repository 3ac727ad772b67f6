"""What stands in for the future: the words or the embedding that a model sees instead of
waiting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from sayahead.types import Floats


@dataclass(frozen=True, slots=True)
class Prediction:
    """An expected future; its words are seen by the model but never spoken."""

    words: tuple[str, ...] = ()
    """Words expected to follow, in order; punctuation on the last one marks the end of a
    sentence."""
    embedding: Floats | None = None
    """(D,) an embedding of the expected future for voices that take one, or none."""


NOTHING = Prediction()


class ContextPredictor(Protocol):
    """Predicts what follows the words so far. It holds no state: the same words give the same
    prediction."""

    def predict(self, words: Sequence[str]) -> Prediction:
        """The expected future of ``words``: all of the session's text so far up to the last visible
        word."""
        ...


@dataclass(frozen=True, slots=True)
class NoContext:
    """No stand-in for the future."""

    def predict(self, words: Sequence[str]) -> Prediction:
        return NOTHING
