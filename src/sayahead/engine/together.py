"""Several words in one step: how many, and how long text may be awaited for it, where the player
has sound left."""

from __future__ import annotations

TOGETHER_S = 0.3
HASTY_S = 0.02
"""What is said together is ready so long before it is needed; or takes no longer than this: what is
late catches up."""
GROWING = (1, 1, 2, 3)
"""Words of a whole text's first steps."""
WORD_CHARACTERS = 7
"""A word, with the blank after it and a share of those that are seen."""
COMING_S = 0.3
"""Text comes at its pace where the last came so lately."""
MARGIN_S = 0.2
"""Awaited text is spoken so long before it can no longer be together."""
UNKNOWN_S = 0.1
"""What a step takes of what has made none."""


class Together:
    """How many words each step of one text may say. It has no clock: what is left to play is told
    to it."""

    def __init__(self, most: int) -> None:
        """``most`` words a step; 1: each by itself."""
        self.most = most
        # Steps that gave sound, and whether all of the text was there before.
        self._steps = 0
        self._whole = False

    def words(self, left_s: float, step_s: float, *, ended: bool) -> int:
        """How many words the next step may say, whose sound is needed in ``left_s``; a word's takes
        ``step_s``.

        Of a text that had ``ended`` before its first step, that does not depend on the time: it
        sounds the same."""
        if not self._steps:
            self._whole = ended
            return 1
        if self._whole:
            return min(self.most, (*GROWING, self.most)[min(self._steps, len(GROWING))])
        return min(self.most, 1 + int(max(left_s - TOGETHER_S, HASTY_S) / step_s))

    def made(self) -> None:
        """A step gave sound."""
        self._steps += 1

    def spare_s(self, characters: int, *, left_s: float, quiet_s: float) -> float:
        """How long more text may be awaited, so that one step can say ``most`` words;
        ``characters`` are there.

        0 where these are enough, where the player needs the next chunk soon, or where no text came
        lately: the last ``quiet_s`` ago.
        """
        if self.most == 1 or characters >= WORD_CHARACTERS * self.most:
            return 0.0
        return max(0.0, min(COMING_S - quiet_s, left_s - TOGETHER_S - MARGIN_S))
