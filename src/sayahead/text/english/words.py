"""Tokens of letters alone: Roman numerals, units, weekdays, initialisms, words in capitals."""

from __future__ import annotations

import re

from sayahead.text.english import tables
from sayahead.text.english.fallback import formula, humps
from sayahead.text.english.left_context import Left
from sayahead.text.english.numbers import cardinal, initials, ordinal, year
from sayahead.text.english.units import (
    COUNTRIES,
    CURRENCY_CODES,
    GLUED_ONLY,
    SPACED_IF_SURE,
    currency,
    metric,
    per,
    unit,
    unit_of,
)

_HEADED = frozenset("head heads heading headed go turn drive walk wind winds facing blocks miles mile km".split())
_FAR = frozenset("blocks block miles mile mi km kilometers head heading".split())
"""After them letters are quarters of the sky."""
HALF = re.compile(r"([AaPp])\.?[Mm]\.?")
_SMALL_CODES = frozenset("usd eur gbp chf jpy mxn brl".split())
"""Codes that are also typed in small letters, and are no words."""
_ROMAN = re.compile(r"(?=[IVXLCDM])M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})")
_ROMAN_DIGITS = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}


def roman(text: str) -> int:
    """The value of a Roman numeral, or 0 if it is none."""
    if not _ROMAN.fullmatch(text):
        return 0
    values = [_ROMAN_DIGITS[c] for c in text]
    return sum(-v if v < w else v for v, w in zip(values, [*values[1:], 0], strict=True))


def spaced_unit(text: str, left: Left) -> str:
    """A unit after its number and white space: ``12 oz``, ``5 ft 10 in``."""
    measured = left.word[:1].isdigit() and left.role != "lettered"
    if text in GLUED_ONLY and not (measured and _single(text, left)):
        return ""
    if text in SPACED_IF_SURE and not ("feet" in left.role or (text == "mo" and left.each)):
        return ""
    if text == "m" and left.kind == "hours":
        text = "min"
    if text == "U" and measured:
        return "unit" if left.kind == "one" or left.each else "units"
    code = text.upper() if text in _SMALL_CODES else text
    if code in CURRENCY_CODES and (code.isupper() or text == "kr"):
        return currency(CURRENCY_CODES[code])[0 if left.kind == "one" or left.each else 1]
    names = unit_of(left.word, text) or (metric(text) if text in ("N", "J") else None)
    return names[0 if left.kind == "one" or left.each else 1] if names else ""


def _single(letter: str, left: Left) -> bool:
    """Whether a single letter after a number and white space is a unit: ``12.5 A``, ``2700 K``, ``a 5 W lamp``."""
    if letter == "K":
        return re.fullmatch(r"[0-9]{4,5}|[0-9]+\.[0-9]{2,}", left.word) is not None
    return letter in "sVJ" or (letter in "AW" and left.each) or (letter in "AWN" and "." in left.word)


def cut_short(core: str, mark: str, many: bool = False) -> str:
    """``amox.``, ``pmt.``: a word of the list that is cut short, or nothing."""
    if core in tables.ROADS or unit(core) or core in tables.AMBIGUOUS:
        return ""
    cut = tables.CUT.of(core, sure=mark in (",", ";", ":") and mark != "")
    return "" if cut is None else cut.many if many else cut.one


def word(text: str, left: Left) -> str:
    """A word of letters only, with the readings that its left neighbour gives it."""
    if left.kind in ("one", "number", "feet", "hours", "time"):
        if left.kind != "time" and (words := spaced_unit(text, left)):
            return words
        if left.kind == "time" and text in ("hr", "hrs", "min", "mins") and ":" in left.word and (lasts := unit(text)):
            return lasts[1]
        if HALF.fullmatch(text):
            return text[0].upper() + ".M."
    if left.kind == "ordinal" and text in tables.MONTHS:
        return f"of {tables.MONTHS[text]}"
    if text in tables.PLAIN:
        return tables.PLAIN[text]
    each = left.word == "a" and text in tables.PRICED_EACH
    if (each or left.kind == "per") and text not in GLUED_ONLY and (words := per(text)):
        return words
    if text in CURRENCY_CODES and left.word[:1] == "$" and (country := COUNTRIES.get(CURRENCY_CODES[text][:-1])):
        return country
    if text == "x" and (left.kind in ("one", "number", "money") or left.word[:1].isdigit() or unit(left.word)):
        return "times" if left.role == "sum" or left.kind == "money" else "by"
    if text in tables.SAID:
        return tables.SAID[text]
    if (words := _short(text, left)) or (words := _numeral(text, left)):
        return words
    if text in ("F", "C") and (left.word in ("degrees", "degree") or left.word[-1:] in ("º", "°")):
        return "Fahrenheit" if text == "F" else "Celsius"
    if text == "Ti" and left.word.isdigit():
        return "T.I."
    if text in tables.QUARTERS and left.kind == "degree":
        return tables.QUARTERS[text]
    if text == "x" and (left.word in tables.DOSES or left.word in ("daily", "day", "nightly")):
        return "times"
    if text in ("SAT", "ACT") and left.word in ("the", "an", "my", "her", "his"):
        return initials(text)
    if text == "WHO" and left.word in ("the", "by", "per"):
        return "W.H.O."
    if text.isupper() and len(text) > 1:
        if shouted(text, left):
            return text.lower()
        return initials(text) if text in tables.DOSES or text in tables.AIRPORTS or text == "CO" else text
    if text.islower() and text in tables.SPELLED and text not in ("ai", "os", "us", "so", "id", "eta", "dm", "lan"):
        return initials(text)
    if re.fullmatch("[a-z][A-Z]{2,}s?", text):
        return f"{text[0].upper()} {text[1:]}"
    return text if text.islower() or text.istitle() else formula(text) or humps(text)


def _short(text: str, left: Left) -> str:
    """A weekday, a road or a quarter of the sky in short, without a dot."""
    if text in ("Jan", "Mar") and left.word == "of":
        return tables.MONTHS[text]
    if text in tables.WEEKDAYS:
        after_weekday = left.before in tables.WEEKDAYS or left.before in tables.WEEKDAYS.values()
        start = text == "Sat" and not left.before
        sure = (
            text in tables.ALWAYS_WEEKDAYS
            or after_weekday
            or start
            or left.word in ("on", "On", "every", "next", "this")
        )
        return tables.WEEKDAYS[text] if sure else ""
    if text in tables.SMALL_ROADS:
        numbered = left.role == "house" or re.fullmatch(r"[0-9]+(?:st|nd|rd|th)", left.word)
        return tables.SMALL_ROADS[text] if numbered or left.named else ""
    if text in tables.ROADS:
        placed = left.named or re.fullmatch(r"[0-9]+(?:st|nd|rd|th)", left.word)
        holy = left.word in ("Mount", "Lake", "Port", "Fort", "Bay", "East", "West", "North", "South", "of", "New")
        return tables.ROADS[text] if text in tables.ONLY_ROADS or (placed and not holy) else ""
    stated = left.before.istitle() and not left.word and left.before not in tables.INTERJECTIONS
    if text in tables.STATES and stated and left.before.rstrip(".") not in ("Jr", "Sr"):  # "Smith Jr., MD"
        return tables.STATES[text]
    if text in tables.QUARTERS:
        before = left.word.lower()
        road = len(text) == 2 and (left.word in tables.ROADS or left.word in tables.ROADS.values())
        heading = before in (_HEADED if len(text) == 2 else _FAR)
        return tables.QUARTERS[text] if road or heading or (before == "the" and text in ("NW", "NE", "SW")) else ""
    return ""


def _numeral(text: str, left: Left) -> str:
    if len(text) > 4 and text[0] in "MD" and (n := roman(text)):
        return year(n)
    low = len(text) > 1 and text.islower() and left.word.lower() in tables.ROMAN_CARDINAL
    if low and (n := roman(text.upper())):
        return cardinal(n)
    if (m := re.fullmatch(r"([IVXL]+)(?:st|nd|rd|th)", text)) and roman(m[1]):
        return ordinal(roman(m[1]))
    if text[0] not in "IVXL" or not (n := roman(text)):
        return ""
    if len(text) > 2 and set(text) <= set("IVX") and text not in tables.NOT_ROMAN and not left.word:
        return cardinal(n)
    if not left.word:  # After a comma: "I, II, and III".
        return cardinal(n) if n > 1 and roman(left.before) == n - 1 else ""
    keyed = left.word.lower() in tables.ROMAN_CARDINAL
    if keyed and (len(text) > 1 or (text in "IVX" and left.word[0].isupper() and left.word + text != "GenX")):
        return cardinal(n)
    if (
        left.word in tables.ROMAN_ORDINAL
        and (text not in "ILC" or left.role == "regnal")
        and left.word + text != "MalcolmX"
    ):
        return "the " + ordinal(n)
    if len(text) == 1 or (text in tables.NOT_ROMAN and not (left.named and text in ("IV", "VI", "XI"))):
        return ""
    if left.word.lower() == "the":
        return ordinal(n)
    return "" if left.word.isupper() and len(left.word) > 3 else cardinal(n)


def shouted(text: str, left: Left) -> bool:
    """Whether a word in capitals is a word, not initials: in a line of capitals, and long or well known."""
    before = left.before if left.before.isupper() else ""
    if (before, text) == ("I", "AM"):
        return True
    if len(before) < 2 or text in tables.SAID:
        return False
    if text in tables.AMBIGUOUS and (before == "THE" or not (len(before) > 3 or before.lower() in tables.SHORT_WORDS)):
        return False
    if text.lower() in tables.SHORT_WORDS:
        return True
    wordlike = len(text) > 4 and re.search("[AEIOUY]", text) is not None
    return wordlike and (len(before) > 4 or before.lower() in tables.SHORT_WORDS)
