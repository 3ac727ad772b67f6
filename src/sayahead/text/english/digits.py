"""Figures in words, for voices that read letters: what a lexicon would read in a word's spoken form."""

from __future__ import annotations

import re

from hibari.g2p import numbers

from sayahead.text.english.reading import small

NAMED = 10**15
"""From here on a number is said digit by digit."""
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
        return f"{cardinal(value)} point {_each(decimals)}"
    said = _year(value) if len(whole) == 4 and "," not in whole and ending in ("", "s") else cardinal(value)
    if ending == "s":
        return said[:-1] + "ies" if said.endswith("y") else said + "s"
    if not ending:
        return said
    return (
        f"{_each(str(value // 10))} {numbers.ordinal(value % 10)}" if value >= NAMED else _bare(numbers.ordinal(value))
    )


def cardinal(n: int) -> str:
    """A number in words: digit by digit where it is too long for a name."""
    return _each(str(n)) if n >= NAMED else _bare(numbers.cardinal(n))


def _each(digits: str) -> str:
    return " ".join(small(int(digit)) for digit in digits)


def _bare(said: str) -> str:
    """The front end's words without the commas and ands in them."""
    return said.replace(",", "").replace(" and ", " ")


def _year(n: int) -> str:
    """Four figures as years are said."""
    if not (1100 <= n < 2000 or 2010 <= n < 2100):
        return cardinal(n)
    return _bare(numbers.year(n)).replace("oh-", "oh ")


def _money(value: int, decimals: str | None, unit: str, part: str) -> str:
    parts = [f"{cardinal(value)} {unit}{'s' * (value != 1)}"]
    if decimals and len(decimals) != 2:
        return f"{cardinal(value)} point {_each(decimals)} {unit}s"
    if decimals and int(decimals):
        many = "pence" if part == "penny" else f"{part}s"
        parts.append(f"{cardinal(int(decimals))} {part if int(decimals) == 1 else many}")
    return " and ".join(parts[value == 0 and len(parts) > 1 :])
