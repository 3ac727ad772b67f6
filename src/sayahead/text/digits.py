"""Figures in words, for voices that read letters: what a lexicon would read in a word's spoken form."""

from __future__ import annotations

import re

from sayahead.text.reading import small

_TENS = {6: "sixty", 7: "seventy", 8: "eighty", 9: "ninety"}
_BIG = ((10**12, "trillion"), (10**9, "billion"), (10**6, "million"), (1000, "thousand"), (100, "hundred"))
_ORDINALS = {
    "one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth", "nine": "ninth",
    "twelve": "twelfth",
}  # fmt: skip
_MONEY = {"$": ("dollar", "cent"), "£": ("pound", "penny"), "€": ("euro", "cent")}
_NUMBER = re.compile(
    r"(?P<money>[$£€])?(?P<whole>\d+(?:,\d{3})+|\d+)?(?:\.(?P<decimals>\d+))?(?P<ending>(?:st|nd|rd|th|s)(?![a-z]))?",
    re.I,
)
_INITIALS = re.compile(r"\b(?:[A-Za-z]\.){2,}")


def in_words(text: str) -> str:
    """The text with its figures in words and its dotted initials apart: ``1984`` nineteen eighty-four, ``U.S.`` U S."""
    apart = _INITIALS.sub(lambda found: " ".join(found[0].replace(".", "")), text)
    return _NUMBER.sub(lambda found: f" {_said(found)} " if re.search(r"\d", found[0]) else found[0], apart)


def _said(found: re.Match[str]) -> str:
    whole, decimals, ending = found["whole"] or "0", found["decimals"], (found["ending"] or "").lower()
    value = int(whole.replace(",", ""))
    if found["money"]:
        return _money(value, decimals, *_MONEY[found["money"]])
    if decimals:
        return f"{cardinal(value)} point {' '.join(small(int(digit)) for digit in decimals)}"
    said = _year(value) if len(whole) == 4 and "," not in whole and ending in ("", "s") else cardinal(value)
    if ending == "s":
        return said[:-1] + "ies" if said.endswith("y") else said + "s"
    return _ordinal(said) if ending else said


def cardinal(n: int) -> str:
    """A number in words: digit by digit where it is too long for a name."""
    if n < 60:
        return small(n)
    if n < 100:
        return _TENS[n // 10] + (f"-{small(n % 10)}" if n % 10 else "")
    if n >= 10**15:
        return " ".join(small(int(digit)) for digit in str(n))
    size, name = next((size, name) for size, name in _BIG if n >= size)
    rest = f" {cardinal(n % size)}" if n % size else ""
    return f"{cardinal(n // size)} {name}{rest}"


def _year(n: int) -> str:
    """Four figures as years are said."""
    if not (1100 <= n < 2000 or 2010 <= n < 2100):
        return cardinal(n)
    if n % 100 == 0:
        return f"{cardinal(n // 100)} hundred"
    return f"{cardinal(n // 100)} {'oh ' if n % 100 < 10 else ''}{cardinal(n % 100)}"


def _ordinal(said: str) -> str:
    begin, last = re.fullmatch(r"(.*?)([a-z]+)", said).groups()  # type: ignore[union-attr]
    if last in _ORDINALS:
        return str(begin) + _ORDINALS[last]
    return f"{begin}{last[:-1]}ieth" if last.endswith("y") else f"{begin}{last}th"


def _money(value: int, decimals: str | None, unit: str, part: str) -> str:
    parts = [f"{cardinal(value)} {unit}{'s' * (value != 1)}"]
    if decimals and len(decimals) != 2:
        return f"{cardinal(value)} point {' '.join(small(int(digit)) for digit in decimals)} {unit}s"
    if decimals and int(decimals):
        many = "pence" if part == "penny" else f"{part}s"
        parts.append(f"{cardinal(int(decimals))} {part if int(decimals) == 1 else many}")
    return " and ".join(parts[value == 0 and len(parts) > 1 :])
