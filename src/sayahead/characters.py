"""Characters as the modified Tacotron 2 reads them: what is spelled of words, and which ids stand for it."""

from __future__ import annotations

import unicodedata

import numpy as np

from sayahead.policy import Reading
from sayahead.text.digits import in_words
from sayahead.types import Floats, Ids, Segment, Word

ALPHABET = " '-.?!,abcdefghijklmnopqrstuvwxyz"
"""The characters; each one's place is its id. Marks stand at the end of a sentence alone, as in Ma's inputs (5.1)."""
CLOSING, PAUSING = "?!.", ",;:—"
NUMBERS = {character: number for number, character in enumerate(ALPHABET)}


def spelled(word: str) -> str:
    """Letters, apostrophes and hyphens of a word's spoken form, lower case, without accents; figures in words."""
    plain = unicodedata.normalize("NFKD", in_words(word).lower().replace("\u2019", "'"))
    kept = "".join(c if c in NUMBERS and c not in "?!.," else " " * c.isspace() for c in plain)
    return " ".join(part for piece in kept.split() if (part := piece.strip("-")))


def final_mark(word: str) -> str:
    """The mark that ends a sentence whose last word is this: ? or ! or , if it ends in one of the kind, else a stop."""
    behind = word[len(word.rstrip(" ;:,.!?—…\"“”()'")) :]
    closing = [c for c in behind if c in CLOSING]
    if closing:
        return closing[-1]
    return "," if any(c in PAUSING for c in behind) else "."


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


def numbers(text: str) -> Ids:
    """(P,) ids of characters that are all in the alphabet."""
    return np.array([NUMBERS[character] for character in text], np.int64)
