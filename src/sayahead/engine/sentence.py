"""The open sentence of a session."""

from __future__ import annotations

from sayahead.engine.policy import Reading
from sayahead.text.english.spelling import final_mark, numbers, spelled
from sayahead.types import Floats, Segment, Word


class Letters:
    """The open sentence of a session, as it is read: words that were taken in, and how far reading and speaking are."""

    def __init__(self) -> None:
        self.unread = ""
        self._size = self._read = self._steps = self._rested = 0
        self._ended, self._last = False, ""
        self._words: list[tuple[int, int]] = []
        self._memory: Floats | None = None

    @property
    def begun(self) -> bool:
        """Whether anything was read."""
        return self._read > 0

    @property
    def reading(self) -> Reading:
        """What a policy sees of it."""
        over = self._ended and not self.unread
        return Reading(self._read, self._steps, self._rested, over, self._memory)

    def take(self, word: Word) -> None:
        """Have a word's characters read next, and the mark behind it if it ends the sentence."""
        text = spelled(word.text)
        space = " " if self._size and text else ""
        first = self._size + len(space)
        self._words.append((first, first + len(text)))
        self._add(space + text)
        self._last = word.text
        if word.ends:
            self.end()

    def end(self) -> None:
        """Have the mark at the sentence's end read next."""
        self._add(final_mark(self._last))
        self._ended = True

    def segment(self, *, steps: int) -> Segment:
        """The next character, or where steps are to be made none, for the synthesizer."""
        next_one = numbers("" if steps else self.unread[:1])
        ends = self._ended and len(self.unread) <= len(next_one)
        return Segment(next_one, 0, () if steps else tuple(self._words), ends, steps=steps)

    def read(self, memory: Floats | None) -> None:
        """Take note that a character was read."""
        self.unread, self._read, self._rested = self.unread[1:], self._read + 1, 0
        self._words, self._memory = [], memory

    def speak(self, steps: int, memory: Floats | None) -> None:
        """Take note that steps were made."""
        self._steps, self._rested, self._memory = self._steps + steps, self._rested + steps, memory

    def _add(self, text: str) -> None:
        self.unread += text
        self._size += len(text)
