"""Batching: how many words one synthesis step speaks, and how long it may wait for more text while
the player still has sound buffered."""

from __future__ import annotations

GROWING = (1, 2)
"""Words in the first steps of a text. They are short, so that the sound of each is ready while the
step before it plays."""
TOGETHER_S = 0.5
"""A step waits for more text only while the player has more than this much sound buffered."""
EARLY_S = 0.15
"""The same threshold for the first steps of a text, which are short and so take less time."""
WORD_CHARACTERS = 7
"""Estimated characters per word: the word, the space after it, and a share of the lookahead."""
COMING_S = 0.3
"""Text counts as still arriving for this long after its last fragment."""
UNKNOWN_S = 0.1
"""Assumed duration of a step for a voice that has made none yet."""
SLOW_S = 0.15
"""A voice whose steps take longer than this speaks word by word while its text is still being
written."""


class BatchSize:
    """The number of words in each step of one text.

    It depends on the number of the step and not on how fast text arrives, so that the same text
    sounds the same whenever its words are there in time.
    """

    def __init__(self, max_words: int) -> None:
        """``max_words``: the most words of one step; with 1, each word is a step of its own."""
        self.max_words = max_words
        self._steps = 0
        """Steps that produced sound."""
        self._was_complete = False
        """Whether the whole text was there before the first step."""
        self._is_slow: bool | None = None
        """Whether the voice is slow; decided once, after its first step, and None until then."""

    def words(self, step_s: float, *, ended: bool) -> int:
        """Return how many words the next step may speak.

        ``step_s``: how long a step of this voice takes; ``ended``: whether the whole text is there.
        """
        if not self._steps:
            self._was_complete = ended
        elif self._is_slow is None:
            self._is_slow = not self._was_complete and step_s > SLOW_S
        return self._next_words()

    def _next_words(self) -> int:
        if self._is_slow:
            return 1
        return min(self.max_words, (*GROWING, self.max_words)[min(self._steps, len(GROWING))])

    def made(self) -> None:
        """Record that a step produced sound."""
        self._steps += 1

    @property
    def enough(self) -> int:
        """The number of characters that probably contain all words of the next step."""
        return WORD_CHARACTERS * self._next_words()

    def patience_s(self, *, left_s: float, quiet_s: float) -> float:
        """Return how many seconds to wait for more text, so that the next step is a full one.

        0 if the player needs the next chunk soon (``left_s``: seconds of sound that it has
        buffered), or if the last fragment came too long ago (``quiet_s``: seconds since then).
        """
        if self._next_words() == 1:
            return 0.0
        reserve_s = EARLY_S if self._steps < len(GROWING) else TOGETHER_S
        return max(0.0, min(COMING_S - quiet_s, left_s - reserve_s))

    def spare_s(self, characters: int, *, left_s: float, quiet_s: float) -> float:
        """Return ``patience_s``, but 0 if ``characters``, the length of the unspoken text, are
        enough for the next step."""
        few = characters < self.enough
        return self.patience_s(left_s=left_s, quiet_s=quiet_s) if few else 0.0
