"""What SSML's ``<say-as>`` makes of a text, in the words of its language."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping

from sayahead.text.classes import telephone
from sayahead.text.classes.date import said_day
from sayahead.text.classes.quantity import amount_of
from sayahead.text.classes.verbalize import cardinal, letters
from sayahead.text.reading.language import Language, language_of
from sayahead.text.reading.stream import normalize

SayAs = Callable[[str, str, str], str]
"""Content, ``interpret-as`` and ``format`` to words as they are spoken; empty: the text is read as
it stands."""
SPELLED = ("characters", "spell-out", "verbatim", "digits")
# Fewer letters are an abbreviation, such as NASA.
_NAME = re.compile(r"[^\W\d_]{5,}")
_NUMBER = re.compile(r"[-−]?[0-9][0-9.,]*|[-−]?\.[0-9]+")


def say_as_of(language: str) -> SayAs:
    """What a language says; one without number words spells, and no more."""
    words = language_of(language)
    if words.record.numbers is None:
        return spelled

    def say_as(text: str, kind: str, form: str) -> str:
        sayer = _SAYERS.get(kind)
        return sayer(text, form, words) if sayer else ""

    return say_as


def spelled(text: str, kind: str, form: str) -> str:
    """Characters one by one, where that is asked for."""
    return " ".join(char.upper() for char in text if char.isalnum()) if kind in SPELLED else ""


def _characters(text: str, form: str, language: Language) -> str:
    # A short pause after each letter of a name, so that it can be written down.
    between = ", " if _NAME.fullmatch(text) else " "
    return between.join(filter(None, (_character(char, language) for char in text)))


def _digits(text: str, form: str, language: Language) -> str:
    return _characters("".join(filter(str.isalnum, text)), form, language)


def _character(char: str, language: Language) -> str:
    """The name of a character, in English where the language's tables have none."""
    if char.isascii() and char.isdecimal():
        return cardinal(char, language)
    if char.isalpha():
        return letters(char, language) if char.isascii() else char.upper()
    if char.isspace():
        return ""
    record = language.record
    return record.address.get(char) or record.signs.get(char) or unicodedata.name(char, "").lower()


def _cardinal(text: str, form: str, language: Language) -> str:
    plain = text.replace(" ", "")
    return cardinal(plain, language) if _NUMBER.fullmatch(plain) else ""


def _ordinal(text: str, form: str, language: Language) -> str:
    match = re.fullmatch(r"([0-9.,]+)[^\W\d_ºª]{0,3}[.ºª]?", text.strip())
    amount = amount_of(match[1].rstrip("."), language) if match else None
    is_whole = amount is not None and not amount.decimals
    return language.numbers.ordinal(amount.whole) if amount and is_whole else ""


def _telephone(text: str, form: str, language: Language) -> str:
    return telephone.spoken(text.strip(), language)


def _date(text: str, form: str, language: Language) -> str:
    """A date whose parts stand in the order of ``form``: mdy, dmy, ymd, md, dm, ym, my, y."""
    numbers = language.numbers
    parts = re.findall(r"[0-9]+|[^\W\d_]+", text)
    if not form and len(parts) == 3:
        is_month_first = numbers.date.find("{month}") < numbers.date.find("{day}")
        form = "ymd" if len(parts[0]) == 4 else "mdy" if is_month_first else "dmy"
    if len(parts) != len(form) or set(form) - set("ymd"):
        return ""
    fields = dict(zip(form, parts, strict=True))
    if fields.get("m", "").isalpha():
        fields["m"] = str(language.record.month_of(fields["m"]))
    if not all(part.isdecimal() for part in fields.values()):
        return ""
    return _dated({key: int(value) for key, value in fields.items()}, language)


def _dated(fields: Mapping[str, int], language: Language) -> str:
    """The parts of a date that there are, in words."""
    numbers = language.numbers
    year = numbers.year(fields["y"]) if "y" in fields else ""
    day = said_day(language, fields["d"]) if "d" in fields else ""
    if "m" not in fields:
        return year or day
    if not 1 <= fields["m"] <= len(numbers.months):
        return ""
    month = numbers.months[fields["m"] - 1]
    if not day:
        return f"{month} {year}".strip()
    pattern = numbers.date_year if year else numbers.date
    return pattern.format(day=day, month=month, year=year, number=numbers.ordinal(fields["m"]))


def _read(text: str, form: str, language: Language) -> str:
    """A text as it is read without a tag."""
    return " ".join(word.text for word in normalize(text, language.tag))


_SAYERS: Mapping[str, Callable[[str, str, Language], str]] = {
    "characters": _characters,
    "spell-out": _characters,
    "verbatim": _characters,
    "digits": _digits,
    "cardinal": _cardinal,
    "number": _cardinal,
    "ordinal": _ordinal,
    "telephone": _telephone,
    "phone": _telephone,
    "date": _date,
    "time": _read,
    "fraction": _read,
    "currency": _read,
    "unit": _read,
}
