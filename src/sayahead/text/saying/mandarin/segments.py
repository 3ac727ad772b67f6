"""Characters of Mandarin with spaces of no length between their words, so that the rules read them
as other languages'."""

from __future__ import annotations

from collections.abc import Container

from sayahead.text.markup import Character
from sayahead.text.reading.pattern import SENTENCE_END, SPACE, WHITE
from sayahead.text.reading.unspaced import MARKS, OPENERS, SIGNS, space_before
from sayahead.text.saying.mandarin.dictionary import dictionary
from sayahead.text.saying.mandarin.segmenter import Segmenter


def is_han(char: str) -> bool:
    """Whether a character is one of those that words have no spaces between."""
    return "㐀" <= char <= "鿿" or char in "〇々" or "豈" <= char <= "龎"


class MandarinFilter:
    """Puts spaces between words, and between words and figures."""

    def __init__(self, measures: Container[str]) -> None:
        """``measures``: the words that are preferred behind figures."""
        self._measures = measures
        self._segmenter: Segmenter | None = None
        self._held: list[Character] = []
        self._last = SPACE
        self._is_counted = False
        """Whether a figure is the last character but for blanks: a measure word may follow."""

    def push(self, characters: list[Character]) -> list[Character]:
        """The characters that are certain, with a space before each that begins a word."""
        out: list[Character] = []
        for character in characters:
            char = character[0]
            if is_han(char):
                self._take(character, out)
                continue
            self._finish(out)
            if char not in WHITE + SENTENCE_END:
                self._is_counted = char.isdecimal()
            elif char != SPACE:
                self._is_counted = False
            self._put(character, out)
        return out

    def _take(self, character: Character, out: list[Character]) -> None:
        """Take in a Han character, which waits until the segmenter knows which word it is of."""
        if self._segmenter is None:
            self._segmenter = Segmenter(dictionary(), self._measures if self._is_counted else ())
            self._is_counted = False
        self._held.append(character)
        self._release(self._segmenter.push(character[0]), out)
        if self._held and is_han(self._last):
            self._space(self._held[0], out)

    def _finish(self, out: list[Character]) -> None:
        """What is held is final: something else follows."""
        if self._segmenter is not None:
            self._release(self._segmenter.finish(), out)
            self._segmenter = None

    def _release(self, lengths: list[int], out: list[Character]) -> None:
        """Hand out words of these lengths."""
        for length in lengths:
            self._put(self._held[0], out)
            out += self._held[1:length]
            self._last = self._held[length - 1][0]
            del self._held[:length]

    def _put(self, character: Character, out: list[Character]) -> None:
        """Hand out a character that may begin a word."""
        if self._is_parted(character[0]):
            self._space(character, out)
        out.append(character)
        self._last = character[0]

    def _space(self, before: Character, out: list[Character]) -> None:
        out.append(space_before(before))
        self._last = SPACE

    def _is_parted(self, char: str) -> bool:
        """Whether a word ends before a character."""
        last = self._last
        if last in WHITE + SENTENCE_END or last in OPENERS:
            return False
        if is_han(char):
            return True
        begins = char.isalnum() or char in OPENERS + SIGNS
        return begins and (is_han(last) or last in MARKS)
