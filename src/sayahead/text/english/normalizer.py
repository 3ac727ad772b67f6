"""English text fragments to final words: the first stage of speaking while the text still arrives."""

from __future__ import annotations

import re
from dataclasses import replace

from sayahead.text.english import tables, tokens
from sayahead.text.english.endings import ends
from sayahead.text.english.finality import final_at, names
from sayahead.text.english.grammar import after, read
from sayahead.text.english.left_context import Left
from sayahead.text.english.numbers import cardinal
from sayahead.text.english.wrapping import MICRO, OPEN_TAG, fold, named_tag, trim
from sayahead.text.reading.long_readings import in_portions
from sayahead.text.shared.punctuation import foreign_runs, once
from sayahead.text.shared.tokenizer import PIECE, Waiting
from sayahead.text.shared.tokens import Joined, Parts, Right, Token
from sayahead.types import Word

__all__ = ["PIECE", "Normalizer", "normalize"]

_DAYS = frozenset((*tables.WEEKDAYS, *tables.WEEKDAYS.values()))
_TAG_ENDS = ">)\"'”*_.,;:!?"
_TAIL = re.compile(r"[\W_]+$")
_OPENS = re.compile(r"[(\[*_]*[\"“]")
_SIMPLE = re.compile(r"([A-Za-z]+(?:['’][A-Za-z]+)?)([,.;:!?]?)")


class Normalizer(Waiting[str]):
    """English text, by a grammar of its own.

    A word is returned with the first character that settles it: the white space after it for ordinary words, the
    first characters of the next token for those that the next token may change ("3 March", "$5 million", "Dr. Smith",
    "etc. And").
    """

    OPEN_TAG = OPEN_TAG
    SENTENCES = re.compile(r"([(\"'“*_]*[A-Za-z']*[a-z]{2}[.!?])([A-Z][a-z]+[,.!?;:)\"'”*_]*)")

    _portions = staticmethod(in_portions)
    _names = staticmethod(names)

    def _final(self, text: str) -> bool:
        return final_at(text, self._left.word)

    def _reset(self) -> None:
        super()._reset()
        self._quoted = False

    def _forget(self) -> None:
        self._left = Left()

    def _listed(self, figures: str) -> str:
        return cardinal(int(figures))

    def _say(self, token: Token[str], out: list[Word]) -> bool:
        sign = self._left.unsaid
        if sign and (parts := self._parts(token)).core[:1].isdigit():
            parts.core = sign + parts.core
        if '"' not in token.raw and "“" not in token.raw and "”" not in token.raw:
            return super()._say(token, out) or (not token.begun and self._begin(token, out))
        token.quoted = self._quoted
        if not (super()._say(token, out) or (not token.begun and self._begin(token, out))):
            return False
        core = token.raw.rstrip(".,;:!?)…*_")
        self._quoted = (self._quoted or _OPENS.match(token.raw) is not None) and core[-1:] not in ('"', "”")
        return True

    def _begin(self, token: Token[str], out: list[Word]) -> bool:
        """Hand out what is said of a token whatever follows: its figures; its noun, of no length, waits still."""
        if token.parts is None or token.parts.mark or not (reading := tokens.begun(token.parts.core, self._left)):
            return False
        left = self._left
        self._emit(token, token.parts.before + reading, out, last=False)
        out[-1] = replace(out[-1], continues=True)
        token.start, token.begun, token.parts.before, self._left = token.end, reading, "", left
        return False

    def _joined(self, token: Token[str], parts: Parts, right: Right) -> Joined[str] | bool | None:
        joined = tokens.join(token, parts, self._left, right)
        if token.begun and isinstance(joined, Joined) and joined.said:
            return replace(joined, said=joined.said.removeprefix(token.begun).lstrip())
        return joined

    def _said(self, token: Token[str], parts: Parts, right: Right) -> str | None:
        reading = tokens.reading(token, parts, self._left, right)
        return reading.removeprefix(token.begun).lstrip() if reading and token.begun else reading

    def _ended(self, token: Token[str], parts: Parts, reading: str, right: Right) -> bool | None:
        return ends(token, parts, reading, self._left, right)

    def _parts(self, token: Token[str]) -> Parts:
        if token.parts is None:
            raw = (
                named_tag(token.raw, self._left.word) if token.raw[-1] in _TAG_ENDS and "<" in token.raw else token.raw
            )
            token.parts = trim(fold(once(raw)))
            self._skip(token)
        return token.parts

    def _plain(self, token: Token[str], out: list[Word]) -> bool:
        m = None if self._left.kind or self._left.role == "version" else _SIMPLE.fullmatch(token.raw)
        if m is None or not tokens.ordinary(*m.groups()):
            return False
        word, mark = m.groups()
        role = "regnal" if self._left.word in tables.SOVEREIGNS else "house" if self._left.role == "house" else ""
        named = self._open and word[0].isupper()
        self._emit(token, token.raw.replace("’", "'"), out, last=mark != "" and mark in ".!?")
        if self._open:
            kind = "month" if word in tables.ANY_MONTHS else tables.CUES.get(word.lower(), "")
            self._note(Left(kind, word, named, role, word), mark)
        del self._waiting[0]
        return True

    def _skip(self, token: Token[str]) -> None:
        """Note what of a token cannot be read, or read it if it is the name of a Greek letter."""
        measured = self._left.kind in ("one", "number") or re.match(r"\W*[0-9]", token.raw) is not None
        ohms = measured and _TAIL.sub("", token.raw)[-1:] in ("Ω", "\u2126")
        if token.raw.isascii() or MICRO.search(token.raw) or ohms:
            return
        runs = foreign_runs(token.raw.replace("\u00b5", "μ"), ())
        if len(runs) == 1 and (name := tables.GREEK.get(token.raw[slice(*runs[0])].lower())):
            first, end = runs[0]
            rest = token.raw[end:].lstrip("-")
            power = {"²": " squared", "³": " cubed"}.get(rest[:1], "")
            raw = f"{token.raw[:first]} {name}{power} {rest[bool(power) :]}"
            token.said = read(trim(fold(raw)).core, self._left)
            return
        self.skipped += ((token.start + a, token.start + b, token.raw[a:b]) for a, b in runs)

    def _finish(self, token: Token[str], parts: Parts, reading: str, out: list[Word], *, last: bool) -> None:
        mark = parts.mark
        if not reading:
            if token.begun:
                self._note(after(parts.core, self._left, token.begun, named=False), mark)
            self._pause(token, mark, out, last=last)
            return
        dot = mark == "." and not last and (len(parts.core) > 1 or reading != parts.core)
        if dot or reading.endswith(mark or " "):
            mark = ""
        left, was_open = self._left, self._open
        self._emit(token, f"{parts.before}{reading}{parts.after}{mark}", out, last=last)
        if self._open and not token.raw.isspace():
            core = parts.core or token.raw
            if parts.after and not parts.before and left.kind in ("code", "dial", "label"):
                left = Left(before=left.before)  # What a parenthesis told of a number goes no further.
            self._note(after(core, left, reading, named=core[:1].isupper() and was_open), parts.mark if mark else "")

    def _note(self, left: Left, mark: str) -> None:
        """Keep what a word means for the next one; after a pause little is left of it."""
        if not mark:
            self._left = left
        else:
            kind = left.kind if mark in ",:" and left.kind in ("code", "dial", "label") else ""
            role = "version" if mark == "," and left.role == "version" else ""
            day = left.word if mark in ",." and left.word in _DAYS else ""
            self._left = Left(kind, day, role=role, before=left.before)


def normalize(text: str) -> list[Word]:
    """The words of a whole text, the last one ending its sentence."""
    words = (normalizer := Normalizer()).push(text) + normalizer.flush()
    return [replace(word, ends=word.ends or word is words[-1]) for word in words]
