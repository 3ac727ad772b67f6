"""The two controls for predicted futures: random words and the true ones."""

from __future__ import annotations

import functools
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np

from sayahead.config import Bound, check_bounds
from sayahead.engine.context import Prediction
from sayahead.types import Word

MOST = 1000
"""Most words of a future."""


@functools.cache
def common_words() -> tuple[str, ...]:
    """Return the thousand most frequent words of the LJ Speech training transcripts (public
    domain), most frequent first."""
    path = Path(__file__).with_name("common_words.txt")
    return tuple(path.read_text(encoding="utf-8").split())


@dataclass(frozen=True, slots=True)
class RandomWords:
    """Random words as the future: the control that a predicted future has to beat (Stephenson et
    al. 2021)."""

    count: Annotated[int, Bound(0, MOST, client=16)] = 5
    """Words to draw."""
    seed: Annotated[int, Bound(0, 2**63 - 1, client=2**32 - 1)] = 0
    """Fixes the draw, together with the words so far."""

    def __post_init__(self) -> None:
        check_bounds(self)

    def predict(self, words: Sequence[str]) -> Prediction:
        draw = np.random.default_rng([self.seed, zlib.crc32(" ".join(words).encode())])
        common = common_words()
        return Prediction(tuple(common[i] for i in draw.integers(len(common), size=self.count)))


@dataclass(frozen=True, slots=True)
class Truth:
    """The words that really follow, the upper bound, for experiments (Saeki-a, IV-B: bicontext,
    truth).

    A sentence's end stops the prediction, as it stops lookahead. Words that are not in the text
    have no future."""

    words: tuple[Word, ...]
    """All words of the session's text, as the normalizer gives them; ``Truth.of`` makes them of a
    text."""
    count: Annotated[int, Bound(0, MOST)] = 5
    """Most words to show."""
    served = False

    def __post_init__(self) -> None:
        check_bounds(self)

    @classmethod
    def of(cls, text: str, count: int = 5) -> Truth:
        """The predictor for a session that will receive exactly this text."""
        from sayahead.text.reading.stream import normalize

        return cls(tuple(normalize(text)), count)

    def predict(self, words: Sequence[str]) -> Prediction:
        """Return the words that really follow, up to the end of the sentence."""
        future = list[str]()
        for word in self.words[self._end_of(list(words)) :][: self.count]:
            if not word.ends:
                future.append(word.text)
                continue
            # A sentence may end without a mark: with the text, with a paragraph.
            marked = word.text[-1:] in (".", "!", "?")
            future.append(word.text if marked else word.text.rstrip(",;:—-") + ".")
            break
        return Prediction(tuple(future))

    def _end_of(self, words: list[str]) -> int:
        """Return the index after the last of ``words`` in the text.

        A session forgets old words, so they may begin anywhere.
        """
        texts = [word.text for word in self.words]
        for end in range(len(words), len(texts) + 1):
            if texts[end - len(words) : end] == words:
                return end
        return len(texts)
