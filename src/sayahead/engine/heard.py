"""What a listener has heard, computed from word times and the seconds that were played."""

from __future__ import annotations

import bisect
import math
from collections.abc import Iterable
from dataclasses import dataclass

from sayahead.config import check_number
from sayahead.errors import ConfigError
from sayahead.types import WordTiming

TOLERANCE_S = 0.05
"""How far a player's clock may be ahead of the audio it was given."""


@dataclass(frozen=True, slots=True)
class Heard:
    """How far a listener has got."""

    words: int
    """How many words were heard: of each, more than half of the sound was played."""
    end: int
    """Where the last of them ends in the source text: what follows was not heard."""
    text: str
    """The source text up to there."""
    played_s: float
    """Seconds of sound that were played."""


class Transcript:
    """The text of one utterance, and where its words are in the sound."""

    def __init__(self) -> None:
        self._source: list[str] = []
        self.characters = 0
        """Length of the text."""
        # Of each word: the sample in its middle, its end in the text.
        self._middles, self._ends = list[int](), list[int]()

    @property
    def text(self) -> str:
        """All of it."""
        return "".join(self._source)

    def write(self, fragment: str) -> None:
        """More text has come."""
        self._source.append(fragment)
        self.characters += len(fragment)

    def rewrite(self, text: str) -> None:
        """Replace the text, which differs only where nothing has been spoken yet."""
        self._source = [text]
        self.characters = len(text)

    def add(self, words: Iterable[WordTiming]) -> None:
        """More words have their times."""
        for word in words:
            self._ends.append(word.end)
            self._middles.append((word.onset + word.offset) // 2)

    def heard(self, played_s: float | None, *, samples: int, sample_rate: int) -> Heard:
        """What was heard in ``played_s`` seconds, of the ``samples`` emitted; None: in all of them.

        ConfigError if ``played_s`` is not a number of seconds, or more than there is.
        """
        emitted_s = samples / sample_rate
        played_s = emitted_s if played_s is None else check_number("played_s", played_s, 0.0, math.inf)
        if played_s > emitted_s + TOLERANCE_S:
            raise ConfigError(
                f"played_s is {played_s:.3f}, but only {emitted_s:.3f} s of sound were emitted: "
                "count only the sound of this text, from its first sample."
            )
        words = bisect.bisect_left(self._middles, played_s * sample_rate)
        end = self._ends[words - 1] if words else 0
        return Heard(words, end, self.text[:end], float(min(played_s, emitted_s)))
