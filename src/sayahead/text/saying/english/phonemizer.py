"""Words to phonemes, at commit, with the right context that is visible then."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sayahead.text import sounds
from sayahead.text.saying.english import hibari_tables, homographs
from sayahead.text.saying.english.british import ADDED, from_american, link, linking
from sayahead.text.tables import lines_of
from sayahead.types import Ids, Pronunciation, Word

NAMES = Path(__file__).parent / "names.txt"
"""Names of people, firms, drugs and places, and loanwords, that the lexicon lacks: one a line with
its phonemes."""
PAUSES = ' ;:,.!?—…"“”()'
CLOSING = ".!?…"
PAUSING = ",;:—"


def with_final_mark(phonemes: str, *, final: bool) -> str:
    """A word's phonemes without punctuation, but for one mark at the end of a ``final`` one (Ma
    5.1)."""
    bare = " ".join(
        "".join(symbol for symbol in phonemes if symbol == " " or symbol not in PAUSES).split()
    )
    after = phonemes[len(phonemes.rstrip(PAUSES)) :] if final else ""
    for marks in (CLOSING, PAUSING):
        ending = [symbol for symbol in after if symbol in marks]
        if ending:
            return bare + ending[-1]
    return bare


@functools.cache
def british_names() -> dict[str, Any]:
    """Names and what else is added to the British lexicon: every text has a front end of its own,
    which needs them."""
    return {**{word: from_american(phonemes, word) for word, phonemes in names().items()}, **ADDED}


class EnglishPhonemizer:
    """The front end of hibari-tts (Apache-2.0): lexicon, tagger, rules and a small network for
    unknown words.

    An English word's reading depends on what follows ("the" before a vowel, "read", "to"): where
    nothing is known to follow and the sentence is not over, ``stand_in`` is read after the words,
    which gives function words their connected form. With ``inner_punctuation`` off, only a
    sentence's last word keeps its punctuation (Ma 5.1). In ``british`` English a final r is said
    before a vowel that follows, and not otherwise."""

    LEFT_WORDS = 3

    def __init__(
        self,
        phonemes: Mapping[str, int],
        *,
        stand_in: str,
        inner_punctuation: bool = True,
        british: bool = False,
    ) -> None:
        self._g2p = hibari_tables.front_end(british=british)
        self._british = british
        golds = self._g2p.lexicon.golds
        own: dict[str, Any] = {**names(), **homographs.ADDED}
        if british:
            own = dict(british_names())
            self._g2p.resolve_tokens = linking(self._g2p.resolve_tokens)
        # The package's own names and homographs come before those of hibari's lexicon.
        self._readings = hibari_tables.Added(golds.d, own)
        golds.d = self._readings
        self._ids = dict(phonemes)
        self._stand_in = stand_in
        self._inner_punctuation = inner_punctuation
        self._alone = functools.lru_cache(maxsize=4096)(self._count)
        # Words are tagged again with each that follows, most of them in the same surroundings.
        tagger = self._g2p.tagger
        tagger.predict = functools.lru_cache(maxsize=1024)(tagger.predict)

    def phonemize(self, words: Sequence[Word], *, left: Sequence[str]) -> list[Pronunciation]:
        """A word that does not open its sentence begins with the space before it.

        A word is spoken up to its last phoneme: how the space sounds, and how long it lasts, is
        settled with the next."""
        if not words:
            return []
        inside = bool(left)
        left = list(left[-self.LEFT_WORDS :])
        texts = [*left, *(word.text for word in words)]
        pronunciations = []
        stand_in = "" if words[-1].ends else self._stand_in
        readings = self._read(texts, stand_in)[len(left) : len(left) + len(words)]
        for word, reading in zip(words, readings, strict=True):
            phonemes = (
                reading if self._inner_punctuation else with_final_mark(reading, final=word.ends)
            )
            # A mark that stands alone joins the word before it where words have none of their own.
            apart = phonemes if self._inner_punctuation else phonemes.strip(PAUSES)
            before = self._spelled(" ") if inside and apart else []
            sounding = self._spelled(phonemes.rstrip(PAUSES))
            whole = self._spelled(phonemes)
            end = len(before) + (len(sounding) or len(whole))
            pronunciations.append(
                Pronunciation(np.array([*before, *whole], np.int64), len(before), end)
            )
            inside = inside or bool(phonemes)
        return pronunciations

    def ids(self, phonemes: str) -> Ids:
        """(P,) ids of a phoneme string; what the voice has no id for is left out."""
        return np.array(self._spelled(phonemes), np.int64)

    def _spelled(self, phonemes: str) -> list[int]:
        return [self._ids[symbol] for symbol in phonemes if symbol in self._ids]

    def phonemes(self, word: Word) -> int:
        return self._alone(word.text)

    def tags(self, words: Sequence[str]) -> list[str]:
        """The part of speech of each bare word in this order: tags of the Penn Treebank."""
        return list(self._g2p.tagger(list(words)))

    def varies(self, word: str) -> bool:
        """Whether a bare word is read in several ways, by its part of speech or by what follows."""
        entry = self._g2p.lexicon.golds.get(word)
        return isinstance(entry, dict)

    def _unshouted(self, text: str) -> str:
        """Capitals as the word or the name that they are; they are letters where the lexicon has
        none, or has a reading of the capitals themselves."""
        lexicon = self._g2p.lexicon
        if len(text) < 2 or not (text.isupper() and text.isalpha()) or text in lexicon.golds:
            return text
        forms = (text.lower(), text.title())
        return next(
            (form for form in forms if form in lexicon.golds or form in lexicon.silvers), text
        )

    def _count(self, text: str) -> int:
        return sounds(self._read([text])[0])

    def _read(self, texts: Sequence[str], stand_in: str = "") -> list[str]:
        """Phonemes of each text, all read as one sentence, with a word after it that stands for
        what is to come."""
        texts = [*texts, stand_in] if stand_in else texts
        pieces = [max(1, len(text.split())) for text in texts]
        joined = " ".join(" ".join(text.split()) or "," for text in texts)
        tokens = self.tokens(joined, has_stand_in=bool(stand_in))
        if self._british:
            link(tokens)
        readings = [""] * len(texts)
        piece = 0
        owner = [i for i, number in enumerate(pieces) for _ in range(number)]
        for token in tokens:
            at = owner[min(piece, len(owner) - 1)]
            readings[at] += (token.phonemes or "") + (" " if token.whitespace else "")
            piece += bool(token.whitespace)
        return [phonemes.strip() for phonemes in readings]

    def tokens(self, text: str, *, has_stand_in: bool = False) -> list[Any]:
        """The tokens of a text with their tags and phonemes, by the tagger, the lexicon and the
        rules of homographs; the last is no word of the text if it is a stand-in."""
        tagged = self.tagged(text)
        homographs.settle(tagged, self._readings, known=len(tagged) - has_stand_in)
        if self._british:
            for token in tagged:
                token.phonemes = token.phonemes and from_american(token.phonemes, token.text)
        return list(self._g2p.phonemize_tokens(tagged))

    def tagged(self, text: str) -> list[Any]:
        """The tokens of a text with the tagger's parts of speech."""
        tokens = list(self._g2p.tokenize(text))
        for token in tokens:
            token.text = self._unshouted(token.text)
        return tokens


def names() -> dict[str, str]:
    """Phonemes of the names that the lexicon lacks."""
    return dict(line.split(" ", 1) for line in lines_of(NAMES))
