"""Verbalizers: how a captured text is said, by name, for templates and sayers alike."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from sayahead.text.reading.words import Words
from sayahead.text.shared import amounts
from sayahead.text.shared.numbers import Numbers


def numbers_of(language: Words) -> Numbers:
    """The number words of a language that has some."""
    return amounts.numbers_of(language.record)


def cardinal(text: str, language: Words, form: str = "") -> str:
    """A number as it is written, with or without a sign, in words."""
    return amounts.signed(text, language.record, form)


def ordinal(text: str, language: Words, form: str = "") -> str:
    """Figures as an ordinal."""
    return numbers_of(language).ordinal(int(text), form)


def year(text: str, language: Words, form: str = "") -> str:
    """Figures of a year."""
    return numbers_of(language).year(int(text))


def digits(text: str, language: Words, form: str = "") -> str:
    """Figures one by one."""
    return amounts.figures(text, language.record)


def letters(text: str, language: Words, form: str = "") -> str:
    """Letters one by one."""
    return " ".join(text.upper())


def sign(text: str, language: Words, form: str = "") -> str:
    """What a sign is called, nothing where the language has no word for it."""
    return language.record.signs.get(text, "")


GREEK = "αβγδεζηθικλμνξοπρστυφχψω"
_ALIKE = str.maketrans("ςϑϕϵϖϱµ", "σθφεπρμ")


def greek(letter: str, language: Words, form: str = "") -> str:
    """A letter by its name if it is Greek, others as they are."""
    place = GREEK.find(letter.lower().translate(_ALIKE)) if letter else -1
    names = language.record.greek
    return names[place].replace("_", " ") if place >= 0 and names else letter


_PIECE = re.compile(r"[0-9]+|[^\W\d_]+(?:['’][^\W\d_]+)*|\S")
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉", "01234567890123456789")
LONG = 4
"""More figures than these are said one by one where they are no number by themselves."""


def pieces(text: str, language: Words, names: Mapping[str, str] | None = None, *, is_single: bool = False) -> str:
    """Letters as they are, figures as numbers or one by one, signs by name: nothing goes unsaid.

    ``names`` are what signs are called here; a hyphen between parts has a name only there.
    """
    words = [_piece(piece, language, names or {}, is_single) for piece in _PIECE.findall(text.translate(_RAISED))]
    return " ".join(filter(None, words))


def _piece(piece: str, language: Words, names: Mapping[str, str], is_single: bool) -> str:
    if piece.isalpha():
        return piece
    if not piece[0].isdecimal():
        return names.get(piece) or ("" if piece in "-–'" else language.record.signs.get(piece, ""))
    if is_single or len(piece) > LONG or (piece[0] == "0" and len(piece) > 1):
        return digits(piece, language)
    return cardinal(piece, language)


VERBALIZERS: Mapping[str, Callable[[str, Words, str], str]] = {
    "cardinal": cardinal,
    "ordinal": ordinal,
    "year": year,
    "digits": digits,
    "letters": letters,
    "sign": sign,
}
