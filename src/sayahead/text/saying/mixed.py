"""English words and phrases inside text of another language, said by English's own front end in
the accent of that language."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence

from sayahead.text.saying.accents import accents
from sayahead.text.saying.clauses import Sounds
from sayahead.text.saying.english.foreign import english_phonemes, english_phrase, words_abroad
from sayahead.text.saying.english.inflected import Inflected, inflected
from sayahead.text.saying.romance.reading import initials

INFLECTED = "de"
"""The language that inflects English verbs as its own."""
_PART = re.compile(r"[a-z]{2,}(?:'s)?")


def mixed(own: Sounds, voice: str) -> Sounds:
    """A language's sounds, with English words in its accent where it has one; ``voice``:
    espeak-ng's name of the language."""
    return MixedSounds(own, voice) if voice in accents() else own


class MixedSounds:
    """Phonemes of a language's words, but for those that are English.

    Whether a word is English, it and the word before it tell: no later text changes it."""

    def __init__(self, own: Sounds, voice: str) -> None:
        """``voice``: espeak-ng's name of the language, one that has an accent."""
        self._own = own
        self._accent = accents()[voice]
        self._language = voice.split("-")[0]
        self._said = functools.lru_cache(maxsize=1024)(self._phrase)

    def clause(self, words: Sequence[str], *, closed: bool) -> list[str]:
        """Of each word, as running text; English words next to each other are one phrase."""
        said = self._own.clause(words, closed=closed)
        phrase = list[str]()
        for at, word in enumerate([*words, ""]):
            if self.is_english(word, after=bool(phrase)):
                phrase.append(word)
                continue
            if (form := self._form(word)) is not None:
                said[at] = self._said_form(form)
            said[at - len(phrase) : at] = self._said(tuple(phrase))
            phrase.clear()
        return said

    def alone(self, word: str) -> str:
        """Of a word by itself."""
        if self.is_english(word):
            return self._said((word,))[0]
        form = self._form(word)
        return self._own.alone(word) if form is None else self._said_form(form)

    def is_english(self, word: str, *, after: bool = False) -> bool:
        """Whether a word is English in text of this language, ``after`` an English one or not;
        initials are read as its letters."""
        if not word.isascii() or initials(word):
            return False
        known = words_abroad(self._language)
        return all(
            _PART.fullmatch(part) is not None
            and ((stem := part.removesuffix("'s")) in known.sure or (after and stem in known.after))
            for part in word.lower().split("-")
        )

    def _form(self, word: str) -> Inflected | None:
        """The parts of a form of an English verb, where this language makes such."""
        return inflected(word) if self._language == INFLECTED and word.isascii() else None

    def _said_form(self, form: Inflected) -> str:
        """A form of an English verb; what can be parted from it has the main stress."""
        stem = self._accent.said(english_phonemes(form.english), form.english)
        stress = "ˌ" if "ˈ" in form.before else "ˈ"
        return f"{form.before}{stem.replace('ˈ', stress)}{form.ending}"

    def _phrase(self, words: tuple[str, ...]) -> list[str]:
        if not words:
            return []
        spoken = english_phrase(words)
        return [self._accent.said(sounds, word) for sounds, word in zip(spoken, words, strict=True)]
