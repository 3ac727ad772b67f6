"""Words to phonemes by espeak-ng, in the clause that is in sight."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import ClassVar

import numpy as np

from sayahead.text import sounds
from sayahead.text.espeak.client import ESPEAK
from sayahead.text.espeak.layout import Layout, mark
from sayahead.types import Ids, Pronunciation, Word

BETWEEN = " | "
"""Between words: espeak-ng says nothing for it, merges no words across it ("of the"), and keeps liaison."""
_MOST_MERGED, _ALIKE = 4, 0.3
LEFT_WORDS = 24
"""Words to the left that are read again for their influence."""

FLAG = re.compile(r"\([a-z][a-z0-9-]*\)")
"""A switch of language in espeak-ng's answer."""
_ENDS = dict(zip(".。।።۔։॥．｡!！?？؟՞፧…‥,，、،፣､;；؛·:：—–", ".........!!?????……,,,,,,;;;;::——", strict=True))
"""Marks of all scripts, as the five that voices know, a dash and an ellipsis."""
_TRAIL = "".join(_ENDS) + "\"'’”»›)]}」』】》〉*_`~ "
_LEAD = "\"'‘“„«‹([{「『【《〈¿¡*_`~.,;:!?—–… "
_STRENGTH = ["", ",", "—", ";", ":", ".", "…", "!", "?"]


@dataclass(slots=True)
class _Token:
    """What espeak-ng is asked for as one word."""

    owner: int
    """Which text it belongs to."""
    bare: str
    """Without the marks around it."""
    mark: str
    """The strongest mark after it; it closes the clause."""
    phonemes: str = ""


@dataclass(slots=True)
class _Clause:
    """Words between two marks."""

    tokens: list[_Token] = field(default_factory=list)
    closed: bool = False


class EspeakPhonemizer:
    """Phonemes of espeak-ng, with stress, as Piper's voices were trained on: IPA in canonical decomposition.

    Words are read together with the rest of their clause that is in sight, as running text; those that espeak-ng would
    merge ("of the") as if something stood between them. At the end of
    what it sees espeak-ng stresses function words, so while a clause may go on, ``stand_in`` is read after it, for the
    sake of the others alone. Where espeak-ng makes more or fewer words of a clause than there are (figures), each
    is read by itself.
    """

    waits: ClassVar[bool] = True
    """espeak-ng is a process of its own, which may hang."""

    def __init__(
        self,
        voice: str,
        phonemes: Mapping[str, int],
        *,
        stand_in: str,
        layout: Layout | None = None,
        inner_punctuation: bool = True,
    ) -> None:
        """``voice`` is espeak-ng's ("de", "en-us"); ConfigError where espeak-ng or the voice is not there."""
        self._voice, self._ids = voice, dict(phonemes)
        self._stand_in, self._inner_punctuation = stand_in, inner_punctuation
        self._layout = layout or Layout()
        ESPEAK.clauses(voice, "a")

    def phonemize(self, words: Sequence[Word], *, left: Sequence[str]) -> list[Pronunciation]:
        """A word that does not open its sentence begins with the space before it."""
        if not words:
            return []
        inside = bool(left)
        near = list(left[-LEFT_WORDS:])
        readings = self.read([*near, *(word.text for word in words)], first=len(near), ends=words[-1].ends)
        return [
            self._laid_out(word, reading, inside=inside or any(sound + sign for sound, sign in readings[:i]))
            for i, (word, reading) in enumerate(zip(words, readings, strict=True))
        ]

    def phonemes(self, word: Word) -> int:
        return sum(sounds(self._alone(token.bare)) for token in _tokens(0, word.text))

    def ids(self, phonemes: str) -> Ids:
        return self._layout.ids(phonemes, self._ids)

    def read(self, texts: Sequence[str], *, first: int = 0, ends: bool = True) -> list[tuple[str, str]]:
        """Phonemes and final mark of each text from ``first`` on, all in one sentence that ``ends`` or goes on."""
        tokens = [token for owner, text in enumerate(texts) for token in _tokens(owner, text)]
        clauses = [_Clause()]
        for token in tokens:
            if token.bare:
                clauses[-1].tokens.append(token)
            if token.mark:
                clauses[-1].closed = True
                clauses.append(_Clause())
        clauses[-1].closed = ends
        for clause in clauses:
            if clause.tokens and clause.tokens[-1].owner >= first:
                self._sound(clause)
        sounds = []
        for owner in range(first, len(texts)):
            own = [token for token in tokens if token.owner == owner]
            sound = ""
            for i, token in enumerate(own):
                sound += token.phonemes
                if i + 1 < len(own):
                    sound += (self._mark(token.mark) if self._inner_punctuation else "") + " "
            sounds.append((sound.strip(), own[-1].mark if own else ""))
        return sounds

    def _mark(self, sign: str) -> str:
        return mark(sign, self._ids)

    def _laid_out(self, word: Word, reading: tuple[str, str], *, inside: bool) -> Pronunciation:
        sound, sign = reading
        marks = self._mark(sign) if self._inner_punctuation or word.ends else ""
        layout, table = self._layout, self._ids
        before = layout.ids((" " if sound else "") if inside else layout.begin, table)
        sounding = layout.ids(sound, table)
        after = layout.ids(marks, table)
        parts = [before, sounding, after, layout.closing(table) if word.ends else after[:0]]
        end = len(before) + (len(sounding) or len(after))
        return Pronunciation(np.concatenate(parts), len(before), end)

    def _sound(self, clause: _Clause) -> None:
        """Give the tokens of a clause their phonemes."""
        asked = [token.bare for token in clause.tokens]
        if not clause.closed and self._stand_in:
            asked.append(self._stand_in)
        sounds = self._ask(BETWEEN.join(asked))
        if len(sounds) == len(asked):
            sounds = aligned(self._ask(" ".join(asked)), sounds)
        else:
            counts = [len(self._alone(text).split()) for text in asked]
            alone = [self._alone(text) for text in asked]
            sounds = _in_groups(sounds, counts) if sum(counts) == len(sounds) else alone
        for token, phonemes in zip(clause.tokens, sounds, strict=False):
            token.phonemes = phonemes

    def _alone(self, text: str) -> str:
        return " ".join(self._ask(text))

    def _ask(self, text: str) -> list[str]:
        """The words of the text's phonemes."""
        joined = FLAG.sub("", " ".join(ESPEAK.clauses(self._voice, text)))
        return unicodedata.normalize("NFD", joined).split()


def aligned(running: list[str], apart: list[str]) -> list[str]:
    """Words as they sound in running text, one for each that was kept apart; where some were merged, those kept apart.

    In running text a word's end may assimilate to the next ("os amigos"), as voices learned it.
    """
    sounds, at = list(apart), 0
    for sound in running:
        if at < len(apart) and sound == apart[at]:
            at += 1
            continue
        groups = ["".join(apart[at : at + count]) for count in range(1, min(_MOST_MERGED, len(apart) - at) + 1)]
        if not groups:
            return apart
        likeness = [SequenceMatcher(None, _bare(sound), _bare(group), autojunk=False).ratio() for group in groups]
        best = likeness.index(max(likeness))
        if best == 0 and (likeness[0] > _ALIKE or len(running) == len(apart)):
            sounds[at] = sound
        at += best + 1
    return sounds if at == len(apart) else apart


def _bare(sound: str) -> str:
    return sound.replace("ˈ", "").replace("ˌ", "").replace("ː", "")


def _in_groups(items: list[str], counts: list[int]) -> list[str]:
    """Items joined in groups of these sizes."""
    out, at = [], 0
    for count in counts:
        out.append(" ".join(items[at : at + count]))
        at += count
    return out


def _tokens(owner: int, text: str) -> list[_Token]:
    """The words of a text with the marks after them; a mark that stands alone is a token without characters."""
    tokens: list[_Token] = []
    for piece in text.split():
        opened = piece.lstrip(_LEAD)
        core = opened.rstrip(_TRAIL)
        trail = opened[len(core) :] if core else piece
        sign = max((_ENDS[c] for c in trail if c in _ENDS), key=_STRENGTH.index, default="")
        if not core and tokens:
            tokens[-1].mark = max(tokens[-1].mark, sign, key=_STRENGTH.index)
        elif core or sign:
            tokens.append(_Token(owner, core.replace("|", " "), sign))
    return tokens
