"""Characters of Japanese with spaces of no length between its accent phrases, so that the rules
read them as other languages' words."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from itertools import pairwise

from sayahead.text.markup import Character
from sayahead.text.reading.pattern import SENTENCE_END, SPACE, WHITE
from sayahead.text.reading.unspaced import MARKS, OPENERS, SIGNS, Segments, space_before
from sayahead.text.reading.word_ends import parts
from sayahead.text.saying.japanese.openjtalk import Morpheme, is_installed, morphemes

IN_NUMBER = ".,:"
"""Marks that may stand within figures."""
FIGURE = "三"
"""What stands for a figure where phrases are looked for."""
MAX_CLAUSE = 60
"""Characters of a clause that are read again with the next one."""


def is_hiragana(char: str) -> bool:
    """Whether a character is one in which endings and particles are written."""
    return "ぁ" <= char <= "ゖ"


def is_japanese(char: str) -> bool:
    """Whether a character is kana or kanji."""
    is_kana = is_hiragana(char) or "ァ" <= char <= "ヺ" or char in "ー々〆〇ヶ"
    return is_kana or "㐀" <= char <= "鿿" or "豈" <= char <= "龎"


def segments_of(measures: Container[str]) -> Segments:
    """What parts phrases: OpenJTalk, or the characters' form where it is not installed."""
    return JapaneseFilter(morphemes if is_installed() else by_form)


def by_form(text: str) -> Sequence[Morpheme]:
    """The stretches of a text that may be words, as far as its characters tell."""
    places = [0]
    for place in range(1, len(text)):
        if parts(text[places[-1] : place], text[place]):
            places.append(place)
    pairs = pairwise([*places, len(text)])
    return [Morpheme(start, end, "", True, False, True) for start, end in pairs]


class JapaneseFilter:
    """Puts spaces between accent phrases, and before figures and Latin words.

    A phrase is final when the next one has begun: with another script than hiragana, or with a
    whole morpheme, for what begins in hiragana may be an ending of the word before it."""

    def __init__(self, find: Callable[[str], Sequence[Morpheme]] = morphemes) -> None:
        """``find``: the morphemes of a text."""
        self._find = find
        self._clause = ""
        self._held: list[Character] = []
        self._places: list[int] = []
        self._last = SPACE

    def push(self, characters: list[Character]) -> list[Character]:
        """The characters that are certain, with a space before each that begins a phrase."""
        out: list[Character] = []
        for character in characters:
            char = character[0]
            is_figure = char.isdecimal() or (char in IN_NUMBER and self._last.isdecimal())
            if not (is_figure or is_japanese(char) or char.isalnum()):
                self._finish(out)
                self._begin(character, out)
                out.append(character)
            else:
                if len(self._clause) >= MAX_CLAUSE or self._is_break(char):
                    self._finish(out)
                if not self._clause:
                    self._begin(character, out)
                self._hold(character, is_figure=is_figure)
                if len(self._held) == 1 and not is_japanese(char):
                    self._drop(1, out)
                else:
                    self._release(out)
            self._last = char
        return out

    def _begin(self, character: Character, out: list[Character]) -> None:
        """Put a space before a character that begins a word."""
        last, char = self._last, character[0]
        begins = is_japanese(char) or char.isalnum() or char in OPENERS + SIGNS
        is_open = last in WHITE + SENTENCE_END or last in OPENERS
        if begins and not is_open and (is_japanese(last) or last in MARKS):
            out.append(space_before(character))

    def _is_break(self, char: str) -> bool:
        """Whether a phrase ends before figures or Latin letters, whatever they are."""
        return is_japanese(self._last) and not is_japanese(char) and self._last != "第"

    def _hold(self, character: Character, *, is_figure: bool) -> None:
        """Take in a character of the clause, where a number is one figure."""
        if not (is_figure and self._clause.endswith(FIGURE) and not is_japanese(self._last)):
            self._clause += FIGURE if is_figure else character[0]
        self._held.append(character)
        self._places.append(len(self._clause) - 1)

    def _release(self, out: list[Character]) -> None:
        """Hand out what is final of the clause."""
        found = self._find(self._clause)
        if len(found) > 1:
            last = found[-1] if not is_hiragana(self._clause[found[-1].start]) else found[-2]
            self._hand_out(found, last.start, out)

    def _finish(self, out: list[Character]) -> None:
        """The clause is over: all of its phrases are final."""
        self._hand_out(self._find(self._clause), len(self._clause), out)
        out += self._held
        self._clause = ""
        self._held.clear()
        self._places.clear()

    def _hand_out(self, found: Sequence[Morpheme], end: int, out: list[Character]) -> None:
        """Hand out the phrases that end up to a place of the clause, each with a space behind."""
        for start in [one.start for one in found if one.opens and one.start <= end]:
            count = sum(place < start for place in self._places)
            if count and self._is_between(self._held[count - 1][0], self._held[count][0]):
                begun = self._held[count]
                self._drop(count, out)
                out.append(space_before(begun))

    def _drop(self, count: int, out: list[Character]) -> None:
        """Hand out so many characters."""
        out += self._held[:count]
        del self._held[:count], self._places[:count]

    def _is_between(self, before: str, after: str) -> bool:
        """Whether a phrase may end between two characters: not in a Latin word, nor behind
        figures."""
        return is_japanese(before) or (is_japanese(after) and before.isalpha())
