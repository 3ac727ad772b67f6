"""Verbalizers: how a captured text is said, by name, for templates and sayers alike."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from sayahead.text.classes.quantity import unit_of
from sayahead.text.reading.words import Words
from sayahead.text.shared.numbers import Numbers
from sayahead.text.shared.words import Left

MILLION = 1_000_000
LARGEST = 10**15
"""Numbers from here on are said figure by figure."""
CENTURY = 50
"""Years of two figures from here on are of the twentieth century."""
SIGNS = "+-±−–"
MINUS = str.maketrans("−–", "--")


def numbers_of(language: Words) -> Numbers:
    """The number words of a language that has some."""
    assert language.record.numbers is not None
    return language.record.numbers


def parse(text: str, language: Words) -> tuple[int, str] | None:
    """A number's whole part and its decimals; None if it has a leading zero or is too long to be said."""
    mark = language.record.decimal
    text = text.lstrip(SIGNS)
    is_english = mark == "," and re.fullmatch(r"\d{1,3}(,\d{3}){2,}", text)
    head, _, decimals = (text, "", "") if is_english else text.partition(mark)
    figures = re.sub(r"\D", "", head)
    if not figures or len(figures) > 15 or (len(figures) > 1 and figures[0] == "0"):
        return None
    return int(figures), decimals


def whole(text: str, language: Words) -> int | None:
    """The value of a whole number as it is written, without its sign; None if it is none."""
    value = parse(text, language)
    return value[0] if value and not value[1] else None


def amount(text: str, language: Words) -> float:
    """What a number is worth, without its sign."""
    value = parse(text, language)
    return float(f"{value[0]}.{value[1] or 0}") if value else 0.0


def is_one(text: str, language: Words) -> bool:
    """Whether what a number counts is in the singular."""
    return numbers_of(language).singular(amount(text, language))


def is_million(text: str, language: Words) -> bool:
    """Whether a number is whole millions: "un millón de euros"."""
    value = whole(text, language)
    return value is not None and value >= MILLION and value % MILLION == 0


def cardinal(text: str, language: Words, form: str = "") -> str:
    """A number as it is written, with or without a sign, in words."""
    numbers = numbers_of(language)
    bare = text.lstrip(SIGNS)
    name = language.record.sign(text[0].translate(MINUS)) if text != bare else ""
    text = bare
    value = parse(text, language)
    if value is None:
        head, mark, decimals = text.partition(language.record.decimal)
        words = [digits(head, language), *([language.record.point, digits(decimals, language)] if mark else [])]
    elif value[1]:
        words = [numbers.cardinal(value[0]), language.record.point, numbers.fraction(value[1])]
    else:
        words = [numbers.cardinal(value[0], form)]
    return " ".join([name, *words]).strip()


def ordinal(text: str, language: Words, form: str = "") -> str:
    """Figures as an ordinal."""
    return numbers_of(language).ordinal(int(text), form)


def year(text: str, language: Words, form: str = "") -> str:
    """Figures of a year."""
    return numbers_of(language).year(int(text))


def digits(text: str, language: Words, form: str = "") -> str:
    """Figures one by one."""
    return " ".join(numbers_of(language).cardinal(int(char)) for char in text if char.isdecimal())


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


def over(text: str, language: Words, form: str = "") -> str:
    """What a sign between two numbers is called."""
    return language.record.between.get(text) or sign(text, language)


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


def said(text: str, language: Words, form: str = "") -> str:
    """What a table of the language's file says of it; ``form`` is the table."""
    return language.meaning(form, text)


def by_rules(text: str, language: Words, form: str = "") -> str:
    """Figures by a set of the language's own number rules: ``form`` names [rules form]."""
    return numbers_of(language).in_words("rules", int(re.sub(r"\D", "", text)), form)


def short_year(text: str, language: Words, form: str = "") -> str:
    """Two figures of a year, in full."""
    value = int(text)
    return numbers_of(language).year(value + (2000 if value < CENTURY else 1900))


def one(text: str, language: Words, form: str = "") -> str:
    """A unit in the singular."""
    unit = unit_of(text, language)
    return unit.one if unit else text


def clock(text: str, language: Words, form: str = "") -> str:
    """Hours, minutes and perhaps seconds, parted by a mark, as a time of day."""
    hour, minute, *second = map(int, re.findall(r"\d+", text))
    return numbers_of(language).clock(hour, minute, second[0] if second else None, Left())


VERBALIZERS: Mapping[str, Callable[[str, Words, str], str]] = {
    "cardinal": cardinal,
    "ordinal": ordinal,
    "year": year,
    "digits": digits,
    "letters": letters,
    "sign": sign,
    "said": said,
    "set": by_rules,
    "short_year": short_year,
    "clock": clock,
    "one": one,
    "over": over,
}
