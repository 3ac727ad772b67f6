"""Verbalizers: how a captured text is said, by name, for templates and sayers alike."""

from __future__ import annotations

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


VERBALIZERS: Mapping[str, Callable[[str, Words, str], str]] = {
    "cardinal": cardinal,
    "ordinal": ordinal,
    "year": year,
    "digits": digits,
    "letters": letters,
    "sign": sign,
}
