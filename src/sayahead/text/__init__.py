"""Text in a language: characters to final words, words to phonemes or letters; a front end for each
language."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from sayahead.text.saying.layout import Layout
from sayahead.types import Ids, Pronunciation, Word, subtags

Skipped = list[tuple[int, int, str]]
"""Stretches of the source that nobody hears: start, end, text."""


def skip(skipped: Skipped, start: int, end: int, text: str) -> None:
    """Note a stretch; one that follows another directly goes on with it."""
    if skipped and skipped[-1][1] == start:
        start, _, before = skipped.pop()
        text = before + text
    skipped.append((start, end, text))


class Normalizer(Protocol):
    """Fragments of any size to words that no later text can change; it holds what waits, for one
    session."""

    skipped: Skipped
    """What the voice cannot read, for the session to take away."""

    def push(self, fragment: str) -> list[Word]:
        """The words that became final through this fragment; they do not depend on how the text is
        cut."""
        ...

    def flush(self) -> list[Word]:
        """The words that were waiting, as if the text were over; the next fragment begins a new
        sentence."""
        ...

    def breathe(self) -> list[Word]:
        """The words that were waiting, as they stand; the next fragment goes on with the
        sentence."""
        ...

    def forget_spoken(self, *, begun: bool, over: bool) -> list[Word]:
        """Take all the text so far for spoken; returns the words that were still waiting, for the
        caller to drop.

        ``begun``: the last word was spoken in part; its rest comes with later text (see
        ``Word.continues``). ``over``: the text's last sentence has ended.
        """
        ...


class Phonemizer(Protocol):
    """Spoken words to the phoneme ids of one voice."""

    def phonemize(self, words: Sequence[Word], *, left: Sequence[str]) -> list[Pronunciation]:
        """How each word is said; ``left`` are the texts before them in the same sentence."""
        ...

    def phonemes(self, word: Word) -> int:
        """Number of phonemes of the word by itself: ``sounds`` of them."""
        ...

    def ids(self, phonemes: str) -> Ids:
        """(P,) ids of a string of the voice's symbols, as they stand within a word."""
        ...


class Speller(Protocol):
    """Spoken words to the characters that a voice reads."""

    @property
    def alphabet(self) -> str:
        """All characters; the place of each is its id."""
        ...

    def spelled(self, word: str) -> str:
        """The characters of a word; may be none."""
        ...

    def final_mark(self, word: str) -> str:
        """The mark that ends a sentence whose last word is this."""
        ...

    def ids(self, characters: str) -> Ids:
        """(P,) ids of characters, all of which the voice knows."""
        ...


class FrontEnd(Protocol):
    """A language: what makes words of its text, and phonemes or letters of its words."""

    openers: frozenset[str]
    """Words, in small letters, before which a phrase may pause; may be empty."""

    def normalizer(self, start: int = 0) -> Normalizer:
        """A fresh normalizer for text that begins at a place of the source, for one session."""
        ...

    def phonemizer(
        self, phonemes: Mapping[str, int], *, stand_in: str = "", inner_punctuation: bool = True
    ) -> Phonemizer:
        """Phonemes for a voice with these ids.

        ``stand_in`` is read after the visible words while a sentence goes on, for their
        pronunciation alone; with ``inner_punctuation`` off, only a sentence's last word keeps its
        mark."""
        ...

    def speller(self) -> Speller:
        """Letters, for voices that read characters."""
        ...


def sounds(phonemes: str) -> int:
    """How many symbols of a pronunciation are sounds: stress, length, tones and marks are none."""
    return sum(symbol.isalpha() and symbol not in PROSODIC for symbol in phonemes)


PROSODIC = frozenset("ˈˌːˑʰʲʷˠˤʼ")
"""Letters of the IPA that say how a sound is spoken."""


def pronounced(
    phonemizer: Phonemizer, words: Sequence[Word], *, left: Sequence[str]
) -> list[Pronunciation]:
    """How each word is said: as its own phonemes have it, if it has any, or as the phonemizer reads
    it."""
    pronunciations = phonemizer.phonemize(words, left=left)
    for i, word in enumerate(words):
        if word.phonemes:
            whole = pronunciations[i]
            own = phonemizer.ids(word.phonemes)
            ids = np.concatenate([whole.ids[: whole.first], own, whole.ids[whole.end :]])
            pronunciations[i] = Pronunciation(ids, whole.first, whole.first + len(own))
    return pronunciations


def front_end(language: str, *, espeak: str = "", layout: Layout | None = None) -> FrontEnd:
    """The front end of a language by its BCP 47 tag; ConfigError where there is none.

    ``espeak`` names a voice of espeak-ng ("en-us") for voices that learned from its phonemes;
    without it, languages without a front end of their own are read by the voice of that language.
    ``layout`` says how such a voice lays its ids out."""
    own = "" if espeak or layout else own_front_end(language)
    module, attribute = (own or OTHERS).rsplit(".", 1)
    maker = getattr(importlib.import_module(module), attribute)
    front: FrontEnd = maker(language) if own else maker(language, voice=espeak, layout=layout)
    return front


LANGUAGES = {
    "en": "sayahead.text.saying.english.front_end.English",
    "ja": "sayahead.text.saying.japanese.front_end.Japanese",
    "zh": "sayahead.text.saying.mandarin.front_end.Mandarin",
    "cmn": "sayahead.text.saying.mandarin.front_end.Mandarin",
}
"""Front ends of their own by the first part of a language's tag; each is imported when it is first
wanted."""
CANTONESE = frozenset(("zh-hk", "zh-mo"))
"""Tags of another language that begin as Mandarin's."""


def own_front_end(language: str) -> str:
    """Where the front end is that a language has of its own, by its BCP 47 tag; nothing where it
    has none."""
    parts = subtags(language)
    return "" if "-".join(parts) in CANTONESE else LANGUAGES.get(parts[0], "")


OTHERS = "sayahead.text.saying.espeak.front_end.EspeakFrontEnd"
"""The front end of all others."""
