"""Scripts without spaces: a space of no length where a word may end, so that speech can stream."""

from __future__ import annotations

from sayahead.text.markup import Character
from sayahead.text.reading.pattern import SENTENCE_END, SPACE, WHITE
from sayahead.text.reading.punctuation import ENDING, PAUSING
from sayahead.text.reading.word_ends import parts

_MARKS = ENDING + PAUSING
_CLOSERS = "\"'”’»›)]}」』】》〉"


class SegmentFilter:
    """Puts spaces between the words of a text that has none."""

    def __init__(self) -> None:
        self._run = ""

    def push(self, characters: list[Character]) -> list[Character]:
        """The characters, with a space before each that may begin a word."""
        out: list[Character] = []
        for char, start, end in characters:
            if char in WHITE + SENTENCE_END:
                self._run = ""
            else:
                if self._run and self._is_parted(char):
                    out.append((SPACE, start, start))
                    self._run = ""
                self._run += char
            out.append((char, start, end))
        return out

    def _is_parted(self, char: str) -> bool:
        last = self._run[-1]
        if not last.isascii() and last in _MARKS:
            return char not in _MARKS + _CLOSERS
        return char.isalnum() and parts(self._run, char)
