"""Words to phonemes in the clause that is in sight, whatever makes the phonemes, laid out as the
voice wants them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from sayahead.text import sounds
from sayahead.text.saying.layout import Layout, mark
from sayahead.types import Ids, Pronunciation, Word

LEFT_WORDS = 24
"""Words to the left that are read again for their influence."""

_ENDS = dict(
    zip(".。।።۔։॥．｡!！?？؟՞፧…‥,，、،፣､;；؛·:：—–", ".........!!?????……,,,,,,;;;;::——", strict=True)
)
"""Marks of all scripts, as the five that voices know, a dash and an ellipsis."""
_TRAIL = "".join(_ENDS) + "\"'’”»›)]}」』】》〉*_`~ "
_LEAD = "\"'‘“„«‹([{「『【《〈¿¡*_`~.,;:!?—–… "
_STRENGTH = ["", ",", "—", ";", ":", ".", "…", "!", "?"]


@dataclass(slots=True)
class Token:
    """What is read as one word."""

    owner: int
    """Which text it belongs to."""
    bare: str
    """Without the marks around it."""
    mark: str
    """The strongest mark after it, or a comma where a round bracket closes; it closes the
    clause."""
    opens: bool = False
    """Whether a round bracket stands before it."""
    phonemes: str = ""


@dataclass(slots=True)
class Clause:
    """Words between two marks."""

    tokens: list[Token] = field(default_factory=list)
    closed: bool = False


class Sounds(Protocol):
    """What makes phonemes of words."""

    def clause(self, words: Sequence[str], *, closed: bool) -> list[str]:
        """Of each word of a clause, as running text; ``closed``: nothing follows in the clause."""
        ...

    def alone(self, word: str) -> str:
        """Of a word by itself."""
        ...


class ClausePhonemizer:
    """Phonemes with stress, in IPA in canonical decomposition, as Piper's voices were trained on.

    Words are read together with the rest of their clause that is in sight.
    """

    def __init__(
        self,
        sounds: Sounds,
        phonemes: Mapping[str, int],
        *,
        layout: Layout | None = None,
        inner_punctuation: bool = True,
    ) -> None:
        self._sounds = sounds
        self._ids = dict(phonemes)
        self._layout = layout or Layout()
        self._inner_punctuation = inner_punctuation

    def phonemize(self, words: Sequence[Word], *, left: Sequence[str]) -> list[Pronunciation]:
        """A word that does not open its sentence begins with the space before it."""
        if not words:
            return []
        inside = bool(left)
        near = list(left[-LEFT_WORDS:])
        readings = self.read(
            [*near, *(word.text for word in words)], first=len(near), ends=words[-1].ends
        )
        return [
            self._laid_out(
                word, reading, inside=inside or any(sound + sign for sound, sign in readings[:i])
            )
            for i, (word, reading) in enumerate(zip(words, readings, strict=True))
        ]

    def phonemes(self, word: Word) -> int:
        return sum(sounds(self._sounds.alone(token.bare)) for token in tokens_of(0, word.text))

    def ids(self, phonemes: str) -> Ids:
        return self._layout.ids(phonemes, self._ids)

    def read(
        self, texts: Sequence[str], *, first: int = 0, ends: bool = True
    ) -> list[tuple[str, str]]:
        """Phonemes and final mark of each text from ``first`` on, all in one sentence that ``ends``
        or goes on."""
        tokens, parts = clauses(texts, ends=ends)
        for clause in parts:
            if clause.tokens and clause.tokens[-1].owner >= first:
                said = self._sounds.clause(
                    [token.bare for token in clause.tokens], closed=clause.closed
                )
                for token, phonemes in zip(clause.tokens, said, strict=True):
                    token.phonemes = phonemes
        found = []
        for owner in range(first, len(texts)):
            own = [token for token in tokens if token.owner == owner]
            last = own[-1].mark if own else ""
            sounds = [token.phonemes + self._mark(token.mark) for token in own[:-1]]
            sounds += [token.phonemes for token in own[-1:]]
            found.append((" ".join(sounds).strip(), last))
        return found

    def _mark(self, sign: str, *, is_last: bool = False) -> str:
        """The voice's symbol for a mark, of which those inside a sentence may be left out."""
        return mark(sign, self._ids) if self._inner_punctuation or is_last else ""

    def _laid_out(self, word: Word, reading: tuple[str, str], *, inside: bool) -> Pronunciation:
        """A word's ids, and which of them sound; ``inside``: others before it in its sentence
        do."""
        sound, sign = reading
        layout = self._layout
        table = self._ids
        before = layout.ids((" " if sound else "") if inside else layout.begin, table)
        sounding = layout.ids(sound, table)
        after = layout.ids(self._mark(sign, is_last=word.ends), table)
        parts = [before, sounding, after, layout.closing(table) if word.ends else after[:0]]
        end = len(before) + (len(sounding) or len(after))
        return Pronunciation(np.concatenate(parts), len(before), end)


def clauses(texts: Sequence[str], *, ends: bool) -> tuple[list[Token], list[Clause]]:
    """The words of texts, with their marks, and by the clauses that the marks close; the last one
    where it ``ends``."""
    tokens = [token for owner, text in enumerate(texts) for token in tokens_of(owner, text)]
    for before, token in itertools.pairwise(tokens):
        if token.opens and not before.mark:
            before.mark = ","
    parts = [Clause()]
    for token in tokens:
        if token.bare:
            parts[-1].tokens.append(token)
        if token.mark:
            parts[-1].closed = True
            parts.append(Clause())
    parts[-1].closed = ends
    return tokens, parts


def tokens_of(owner: int, text: str) -> list[Token]:
    """The words of a text with the marks after them; a mark that stands alone is a token without
    characters."""
    tokens: list[Token] = []
    for piece in text.split():
        opened = piece.lstrip(_LEAD)
        core = opened.rstrip(_TRAIL)
        trail = opened[len(core) :] if core else piece
        sign = max((_ENDS[c] for c in trail if c in _ENDS), key=_STRENGTH.index, default="")
        if not core and tokens:
            tokens[-1].mark = max(tokens[-1].mark, sign, key=_STRENGTH.index)
        elif core or sign:
            if ")" in trail and "(" not in core:
                sign = sign or ","
            tokens.append(
                Token(
                    owner,
                    core.replace("|", " "),
                    sign,
                    opens="(" in piece[: len(piece) - len(opened)],
                )
            )
    return tokens
