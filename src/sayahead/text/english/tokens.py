"""What a token is, and what the beginning of the next one may still make of it.

The three questions (``join``, ``reading``, ``ends``) answer None while the next token's characters do not tell yet.
"""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import dataclass

from sayahead.text.english import tables
from sayahead.text.english.markup import Trimmed, fold, is_rule
from sayahead.text.english.reading import MONEY, NUMBER, TIME, Left, clock, money, ordinal, read, url

GLUED, SPACE, LINE, BLANK = range(4)
"""What follows a token: nothing (it was cut), a space, a line break, a blank line or the end."""
ENDING = ".!?…"

_QUOTES = "\"'“”‘’«»„"
_AFTER = ".,;:!?)]}\"'”’*_"
_ROADS = {"St": "Street", "Dr": "Drive"}
_HALVES = frozenset(form for h in "apAP" for form in (h + "m", h + "M", h + ".m", h + ".m.", h + ".M", h + ".M."))
_HALF_PREFIXES = frozenset(form[:n] for form in _HALVES for n in range(1, len(form) + 1))
_SPELLED = re.compile(r"(?:[A-Za-z]\.)+[A-Za-z]")
_PHONE_PREFIX = re.compile(r"\d{0,3}|\d{3}-\d{0,4}")
_AMOUNT_PREFIX = re.compile(r"\d[\d,.]*")


_BEFORE_NUMBER = {key.removesuffix(".") for key in tables.BEFORE_NUMBER}
_WITH_DOT = frozenset({*tables.NEVER_ENDS, *tables.MAY_END, *_BEFORE_NUMBER, *_ROADS})
_ALONE = frozenset({*tables.PLAIN, *tables.TITLES, *tables.CURRENCY_CODES, "Jan", "Mar"})


@dataclass(slots=True)
class Token:
    """Characters between white space, with what is known about them."""

    raw: str
    """The characters, link targets left out."""
    start: int
    """Where it begins in the source text, in characters."""
    end: int
    """Where it ends in the source text (exclusive)."""
    gap: int
    """What follows it: GLUED, SPACE, LINE or BLANK."""
    first: bool = False
    """Whether it begins a line and may be a marker."""
    address: bool = False
    """Whether it goes on with a web address that was cut."""
    parts: Trimmed | None = None
    """The token taken apart, as soon as that was needed."""
    said: str | None = None
    """Its spoken form, where that is settled already."""

    @property
    def closed(self) -> bool:
        """Whether the next token can change nothing about it."""
        return self.gap in (GLUED, BLANK)


@dataclass(frozen=True, slots=True)
class Joined:
    """What a token becomes together with the next."""

    core: str
    """What decides about the end of the sentence and what may still follow."""
    said: str | None = None
    """The spoken form, or None where the core is to be read."""
    keeps_parenthesis: bool = True
    """Whether an opening parenthesis before the first token stays."""


@dataclass(frozen=True, slots=True)
class Right:
    """The next token as far as it is there."""

    text: str
    """Its characters so far."""
    done: bool
    """Whether that is all of it."""
    glued: bool = False
    """Whether it was cut."""

    @property
    def body(self) -> str:
        """The characters without the punctuation at the end."""
        return self.text.rstrip(_AFTER)

    def initial(self) -> str | None:
        """The first letter, digit or quote; nothing if there is none, None while it is not there."""
        for char in self.text:
            if char in _QUOTES or char.isalnum():
                return char
        return "" if self.done else None

    def capital(self) -> bool | None:
        """Whether it begins like a sentence."""
        initial = self.initial()
        return None if initial is None else initial != "" and (initial.isupper() or initial in _QUOTES)

    def one_of(self, full: Container[str], prefixes: Container[str]) -> bool | None:
        """Whether it is one of some words, punctuation after it aside."""
        if self.done:
            return not self.glued and (self.text in full or self.body in full)
        word = self.text if self.text in full else self.body
        return None if not self.text or self.text in prefixes or word in full else False

    def word(self, full: Container[str]) -> str:
        """The form under which ``one_of`` found it."""
        return self.text if self.text in full else self.body


def join(token: Token, parts: Trimmed, left: Left, right: Right) -> Joined | bool | None:
    """What the token and the next are together, or False if they stay apart."""
    core = parts.core
    if token.closed or token.said is not None or not core or (parts.mark and core != "Rs"):
        return False
    if core.isdigit() and core.isascii():
        return _join_number(core, parts, left, right)
    if core in tables.CURRENCY_CODES:
        counted = NUMBER.fullmatch(right.body) is not None
        if right.done:
            return counted and Joined(tables.CURRENCY_CODES[core] + right.body)
        return None if not right.text or _AMOUNT_PREFIX.fullmatch(right.text) or counted else False
    if core[-1].isdigit() and MONEY.fullmatch(core):
        found = right.one_of(tables.BIG, tables.BIG_PREFIXES)
        return found and Joined(right.word(tables.BIG), money(core, big=right.word(tables.BIG)))
    if ":00" in core and (m := TIME.fullmatch(core)) and not m[4]:
        found = right.one_of(_HALVES, _HALF_PREFIXES)
        return found and Joined(right.body, clock(m, half=right.text))
    return False


def _join_number(core: str, parts: Trimmed, left: Left, right: Right) -> Joined | bool | None:
    """A plain number with a month after it, or an area code with the rest of the telephone number."""
    if parts.before and parts.after and len(core) == 3:
        body = right.body
        if not _PHONE_PREFIX.fullmatch(body) or (right.done and len(body) < 8):
            return False
        return Joined(body, read(f"{core}-{body}"), keeps_parenthesis=False) if right.done else None
    if len(core) > 2 or not 1 <= int(core) <= 31 or left.kind in ("month", "phone"):
        return False
    found = right.one_of(tables.MONTHS, tables.MONTH_PREFIXES)
    return found and Joined(right.body, f"the {ordinal(int(core))} of {tables.MONTHS[right.body]}")


def reading(token: Token, parts: Trimmed, left: Left, right: Right, *, closed: bool) -> str | None:
    """The spoken form without its pause; clears the mark of an abbreviation that a number follows."""
    core, dotted = parts.core, parts.dotted
    if token.said is not None:
        return token.said
    if token.address:
        return url(core)
    if not core or not (core[-1].isalnum() or any(map(str.isalnum, core))):
        said = _sign(token, left, right, closed=closed)
        return read(core, left) if said == "" and core else said
    key = core + "." if dotted else core
    if (dotted or not parts.mark) and not closed and key in tables.BEFORE_NUMBER:
        initial = right.initial()
        if initial is None:
            return None
        if initial.isdigit():
            parts.mark = ""
            return tables.BEFORE_NUMBER[key]
    if core in tables.TITLES and not parts.mark:
        capital = False if closed else right.capital()
        return None if capital is None else tables.TITLES[core] if capital else read(core, left)
    if not dotted:
        return read(core, left)
    if core in _ROADS:
        capital = False if closed else right.capital()
        if capital is None:
            return None
        return _ROADS[core] if left.named or (core == "St" and not capital and left.word) else tables.TITLES[core]
    if left.kind in ("one", "number") and core in tables.UNITS:
        return read(core, left)
    return tables.NEVER_ENDS.get(core) or tables.MAY_END.get(core) or read(core, left)


def _sign(token: Token, left: Left, right: Right, *, closed: bool) -> str | None:
    """What is said for a token without letters and digits, if anything is."""
    text = fold(token.raw).strip()
    numeric = left.kind in ("one", "number")
    if text in ("-", "–") and numeric and not closed:
        initial = right.initial()
        return None if initial is None else "to" if initial.isdigit() else ""
    if text == "*" and numeric:
        return "times"
    return "" if is_rule(text) else tables.SYMBOLS.get(text, "")


def ends(token: Token, parts: Trimmed, said: str, left: Left, right: Right) -> bool | None:
    """Whether the punctuation of a token ends the sentence."""
    mark, core = parts.mark, parts.core
    if not mark or mark not in ENDING:
        return False
    if mark in "?!" or token.gap == GLUED:
        return mark in "?!"
    if mark == "…":
        return right.capital()
    if not said:
        return True
    if core in tables.NEVER_ENDS or (len(core) == 1 and core.isupper() and core != "I"):
        return False
    if core in tables.PLACES:
        return right.one_of(tables.STARTERS, tables.STARTER_PREFIXES)
    unit = core in tables.UNITS and left.kind in ("one", "number") and core.isalpha() and len(core) < 5
    if unit or core in tables.MAY_END or core in tables.SPELLED_MAY_END or said in _ROADS.values():
        return right.capital()
    return said not in ("Saint", "Doctor") and not _SPELLED.fullmatch(core)


def ordinary(word: str, mark: str) -> bool:
    """Whether a word of letters is read as it stands, whatever is beside it."""
    if word in _ALONE or (word[0] in "IVXLC" and word.isupper()):
        return False
    return mark != "." or (len(word) > 1 and word not in _WITH_DOT)
