"""English words for what SSML's ``<say-as>`` asks for."""

from __future__ import annotations

import re

from sayahead.text.english.amounts import date
from sayahead.text.english.grammar import read
from sayahead.text.english.left_context import Left
from sayahead.text.english.numbers import cardinal, each, grouped, initials, number, ordinal, year
from sayahead.text.english.tables import MONTHS, SYMBOLS

_NAMES = {
    ".": "dot",
    "-": "dash",
    "_": "underscore",
    ",": "comma",
    ":": "colon",
    ";": "semicolon",
    "!": "exclamation mark",
    "?": "question mark",
    "*": "asterisk",
    "'": "apostrophe",
    "(": "open parenthesis",
    ")": "close parenthesis",
}


def say_as(text: str, kind: str, form: str) -> str:
    """Text said as a kind: characters, digits, cardinal, ordinal, telephone, date, time, fraction, currency."""
    plain = text.replace(",", "").replace(" ", "")
    match kind:
        case "characters" | "spell-out" | "verbatim":
            return " ".join(filter(None, map(_character, text)))
        case "digits":
            return " ".join(filter(None, (_character(char) for char in text if char.isalnum())))
        case "cardinal" | "number" if re.fullmatch(r"[-−]?[0-9]*\.?[0-9]+", plain):
            return number(plain)
        case "ordinal" if match := re.fullmatch(r"([0-9]+)(?:st|nd|rd|th)?", plain):
            return ordinal(int(match[1]))
        case "telephone" | "phone":
            spoken = re.sub(r"[0-9][0-9 ().-]*", lambda m: f" {grouped(m[0])} ", text.replace("+", " plus "))
            return " ".join(spoken.split())
        case "date":
            return _date(text, form)
        case "time" | "fraction" | "currency" | "unit":
            return " ".join(
                filter(None, (read(part, Left("number") if part.isalpha() else Left()) for part in text.split()))
            )
    return ""


def _character(char: str) -> str:
    if char.isdigit() and char.isascii():
        return each(char)
    if char.isalpha():
        return initials(char) if char.isascii() else char.upper()
    return "" if char.isspace() else _NAMES.get(char) or SYMBOLS.get(char, "")


def _date(text: str, form: str) -> str:
    """A date whose figures stand in the order of ``form``: mdy, dmy, ymd, md, dm, ym, my, y."""
    parts = re.findall(r"[0-9]+|[A-Za-z]+", text)
    if not form and len(parts) == 3:
        form = "ymd" if len(parts[0]) == 4 else "mdy"
    if len(parts) != len(form) or set(form) - set("ymd"):
        return ""
    fields = dict(zip(form, parts, strict=True))
    names = list(dict.fromkeys(MONTHS.values()))
    if fields.get("m", "").isalpha():
        name = MONTHS.get(fields["m"].title(), "")
        fields["m"] = str(names.index(name) + 1) if name else ""
    if not all(part.isdecimal() for part in fields.values()):
        return ""
    if "m" not in fields:
        return year(int(fields["y"])) if "y" in fields else cardinal(int(fields["d"]))
    if "d" in fields:
        return date(fields.get("y", ""), int(fields["m"]), int(fields["d"]))
    month = int(fields["m"])
    return f"{names[month - 1]} {year(int(fields['y']))}" if 1 <= month <= 12 else ""
