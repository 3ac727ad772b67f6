"""Several words in one step: how many, and how long text may be awaited for it, where the player
has sound left."""

from __future__ import annotations

GROWING = (1, 2)
"""Words of a text's first steps: each is made while what the one before has made is played."""
TOGETHER_S = 0.5
"""Text is awaited for a step while so much sound is left to play."""
EARLY_S = 0.15
"""The same for one of a text's first steps, which take less time."""
WORD_CHARACTERS = 7
"""A word, with the blank after it and a share of those that are seen."""
COMING_S = 0.3
"""Text comes at its pace where the last came so lately."""
UNKNOWN_S = 0.1
"""What a step takes of what has made none."""
SLOW_S = 0.15
"""A voice whose steps take longer says each word by itself where its text is still being
written."""


class BatchSize:
    """How many words each step of one text may say: a number of its own for each step, so that the
    same text sounds the same whenever its words are there in time."""

    def __init__(self, max_words: int) -> None:
        """``max_words`` words a step; 1: each by itself."""
        self.max_words = max_words
        self._steps = 0
        """Steps that gave sound."""
        self._whole = False
        """Whether all of the text was there before the first of them."""
        self._slow: bool | None = None
        """Whether the voice is slow; None until it has made a step, which decides it once."""

    def words(self, step_s: float, *, ended: bool) -> int:
        """How many words the next step may say of a voice whose step takes ``step_s``; ``ended``:
        whether all of the text is there."""
        if not self._steps:
            self._whole = ended
        elif self._slow is None:
            self._slow = not self._whole and step_s > SLOW_S
        return self._next()

    def _next(self) -> int:
        if self._slow:
            return 1
        return min(self.max_words, (*GROWING, self.max_words)[min(self._steps, len(GROWING))])

    def made(self) -> None:
        """A step gave sound."""
        self._steps += 1

    @property
    def enough(self) -> int:
        """With fewer characters, hardly all words of the next step are there."""
        return WORD_CHARACTERS * self._next()

    def patience_s(self, *, left_s: float, quiet_s: float) -> float:
        """How long more text may be awaited, so that the next step can say all of its words.

        0 where the player needs the next chunk soon, or where no text came lately: the last
        ``quiet_s`` ago.
        """
        if self._next() == 1:
            return 0.0
        kept_s = EARLY_S if self._steps < len(GROWING) else TOGETHER_S
        return max(0.0, min(COMING_S - quiet_s, left_s - kept_s))

    def spare_s(self, characters: int, *, left_s: float, quiet_s: float) -> float:
        """The same where it is only known how many ``characters`` are there; 0 for enough."""
        few = characters < self.enough
        return self.patience_s(left_s=left_s, quiet_s=quiet_s) if few else 0.0
