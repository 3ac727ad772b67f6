"""From text fragments to final words in any language, by its record."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sayahead.text.shared import angles, joining, mathematics, unspaced
from sayahead.text.shared.punctuation import ENDING, PAUSING, foreign_runs, once, shown, trim, without
from sayahead.text.shared.record import SUBTRACTED, Record
from sayahead.text.shared.signs import greek, without_greek
from sayahead.text.shared.tokenizer import Waiting
from sayahead.text.shared.tokens import Joined, Parts, Right, Token
from sayahead.text.shared.words import Left, Said
from sayahead.types import Word

AT_ONCE, PORTION = 8, 4
"""Long readings are cut: one of more spoken words than the first number, into pieces of as many as the second."""
_LONE_TAG = re.compile(r"([(\"'“«„*_]*)<([A-Za-z][A-Za-z0-9]*)/?>([)\"'”»“*_.,;:!?]*)")
"""An opening tag alone: after an article or another short word its name is said."""
_MINUS = re.compile(r"−(?![0-9]|[.,][0-9])|(?<=[^\W\d_])−")
_AREA = re.compile(r"\([0-9]{2,3}\)")
_PRIMED = re.compile("[0-9]['’\"”′″]")
_CLOSE_QUOTES = ('"', "”", "“", "»", "«", "'", "’")
_OPENS = re.compile(r"[(\[*_¿¡]*(?:[\"“„«]|['‘](?![0-9]{2}\b))")
_ASIDE = re.compile(r"[\"'“„«*_]*\((?=[\w\"'“„«])(?:[^()]*|[^()]*\)\W*)$")
"""A word that begins what stands in round brackets, or is all of it: no formula, and no ending in brackets."""
_AFTER_ASIDE = ".,;:!?…*_\"'“”»–—"
_CLOSERS = "\"'”’»›)]}」』】》〉"


class Reader(Waiting[Said]):
    """Text of a language that has a data file, or of any other by the form of its words.

    A word is returned with the white space after it, or as soon as what follows can change nothing any more, where
    the language's record says that it might.
    """

    OPEN_TAG = re.compile(r"<(?:[a-z][a-z-]*|!--)$")
    SENTENCES = re.compile(r"(\W*[^\W\d_]*[^\W\d_A-ZÀ-Þ]{2}[.!?])([A-ZÀ-Þ][^\W\d_A-ZÀ-Þ]+[,.!?;:)\"'”»*_]*)")

    def __init__(self, record: Record, start: int = 0) -> None:
        """``start``: the place of the first character in the source text."""
        self._record, self.SPACED = record, record.spaced
        super().__init__(start)

    def _reset(self) -> None:
        super()._reset()
        self._quoted = self._aside = False

    def _say(self, token: Token[Said], out: list[Word]) -> bool:
        if token.raw[0].isalnum() and token.raw[-1].isalnum():
            return super()._say(token, out)
        if not super()._say(token, out):
            return False
        closes = token.raw.rstrip(".,;:!?)…*_")[-1:] in _CLOSE_QUOTES
        self._quoted = (self._quoted or _OPENS.match(token.raw) is not None) and not closes
        return True

    def _emit(self, token: Token[Said], text: str, out: list[Word], *, last: bool) -> None:
        """Round brackets about several words stay: they are pauses."""
        if ("(" in token.raw or ")" in token.raw) and text[:1].isalnum():
            opens = _ASIDE.match(token.raw) is not None
            closes = (opens or self._aside) and token.raw.rstrip(_AFTER_ASIDE)[-1:] == ")"
            self._aside = (opens or self._aside) and not closes
            bare = text.rstrip(ENDING + PAUSING)
            text = "(" * opens + bare + ")" * closes + text[len(bare) :]
        self._aside = self._aside and not last
        super()._emit(token, text, out, last=last)

    def _forget(self) -> None:
        self._left = Left()

    def _listed(self, figures: str) -> str:
        return joining.listed(figures, self._record)

    def _unmarked(self, token: Token[Said]) -> bool | None:
        if token.closed or self._breath:
            return False
        if token.raw[0] == "(" and _AREA.fullmatch(token.raw):  # Of a telephone number, not of a list's item.
            initial = self._right().initial()
            return None if initial is None else initial.isdecimal()
        if not (token.raw[0].isdecimal() or token.raw == ">"):
            return False
        return joining.dated(token.raw, self._right(), self._record)

    def _joined(self, token: Token[Said], parts: Parts, right: Right) -> Joined[Said] | bool | None:
        return joining.join(parts, token, self._left, right, self._record)

    def _said(self, token: Token[Said], parts: Parts, right: Right) -> Said | None:
        return token.said or joining.reading_of(parts, token, self._left, right, self._record)

    def _ended(self, token: Token[Said], parts: Parts, reading: Said, right: Right) -> bool | None:
        return joining.ends(parts, token, reading.text, self._left, right, self._record)

    def _parted(self, char: str) -> bool:
        """In a language without spaces: after its marks, and where a word may end."""
        if self.SPACED:
            return False
        last = self._text[-1]
        if not last.isascii() and last in ENDING + PAUSING:
            return char not in ENDING + PAUSING + _CLOSERS
        return char.isalnum() and unspaced.parts(self._text, char)

    def _parts(self, token: Token[Said]) -> Parts:
        if token.parts is None:
            raw = once(token.raw)
            if _PRIMED.search(raw) and self._record.numbers:
                raw = angles.primed(raw, quoted=self._quoted)
            if "<" in raw and (tag := _LONE_TAG.fullmatch(raw)) and 0 < len(self._left.word) < 5:
                raw = tag[1] + tag[2] + tag[3]
            raw = mathematics.plain(raw) if mathematics.is_formula(raw) else raw
            raw = _MINUS.sub(SUBTRACTED, raw) if "−" in raw else raw
            if not raw.isascii():
                named = "GREEK" not in self._record.scripts
                if runs := foreign_runs(without_greek(token.raw) if named else token.raw, self._record.scripts):
                    self.skipped += ((token.start + a, token.start + b, token.raw[a:b]) for a, b in runs)
                    raw = without(token.raw, runs)
                raw = greek(raw, self._record.greek) if named else raw
            token.parts = trim(raw)
            if token.parts.mark and token.parts.mark == self._record.question:
                token.parts.mark = "?"
        return token.parts

    def _finish(self, token: Token[Said], parts: Parts, reading: Said, out: list[Word], *, last: bool) -> None:
        mark = parts.mark
        if not reading.text:
            self._pause(token, mark, out, last=last)
            return
        if mark == "." and not last:
            mark = ""
        left = self._left
        self._emit(token, reading.text + shown(token.raw, mark), out, last=last)
        if last:
            return
        if mark == "," and parts.core.rstrip(".").lower() in self._record.days_of_week:
            self._left = left if self._record.dot_ordinals else reading.left
            return
        kind = reading.left.kind if mark and mark in ",:" and reading.left.kind in ("code", "phone", "label") else ""
        self._left = Left(kind) if mark else reading.left

    def _portions(self, word: Word) -> Iterator[Word]:
        spoken, size = word.text.split(), word.end - word.start
        step = PORTION if len(spoken) > AT_ONCE else AT_ONCE
        parts = [" ".join(spoken[i : i + step]) for i in range(0, len(spoken), step)]
        for number, part in enumerate(parts, 1):
            start, end = (word.start - (-size * n // len(parts)) for n in (number - 1, number))
            last = number == len(parts)
            yield Word(part, start, end, word.ends and last, continues=not last)
