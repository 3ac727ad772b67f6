"""What a token is, and what the beginning of the next one may still make of it.

The two questions (``join``, ``reading``) answer None while the next token's characters do not tell yet.
"""

from __future__ import annotations

import itertools
import re

from sayahead.text.english import neighbours, spoken_of, tables
from sayahead.text.english.addresses import url
from sayahead.text.english.amounts import CUR, MONEY, MONEY_RANGE, TIME, clock, money
from sayahead.text.english.grammar import read
from sayahead.text.english.left_context import Left
from sayahead.text.english.numbers import each, initials, number, thousands
from sayahead.text.english.units import (
    BIG,
    BIG_PREFIXES,
    CURRENCIES,
    CURRENCY_CODES,
    INDIAN,
    INDIAN_PREFIXES,
    metric,
    unit,
    unit_of,
)
from sayahead.text.english.whole_tokens import SIDES
from sayahead.text.english.words import cut_short, roman
from sayahead.text.english.wrapping import fold
from sayahead.text.shared.line_markers import is_rule
from sayahead.text.shared.tokens import QUOTES, SPACE, Joined, Parts, Right, Token

_TITLED_ROADS = ("St", "Dr")
_HALVES = frozenset(form for h in "apAP" for form in (h + "m", h + "M", h + ".m", h + ".m.", h + ".M", h + ".M."))
_HALF_PREFIXES = frozenset(form[:n] for form in _HALVES for n in range(1, len(form) + 1))
_PHONE_PREFIX = re.compile(r"\d{0,3}|\d{3}-\d{0,4}")
_UNSCALED = re.compile(r",[0-9]{2,3}$")
"""Thousands at an amount's end: it is not counted in millions."""
_AMOUNT_PREFIX = re.compile(r"\$?\d?[\d,.]*")


_BEFORE_NUMBER = {key.removesuffix(".") for key in tables.BEFORE_NUMBER}
_WITH_DOT = frozenset({*tables.NEVER_ENDS, *tables.LIMITS, *tables.MAY_END, *_BEFORE_NUMBER, *tables.ROADS, "ft"})
_ALONE = frozenset(
    {*tables.PLAIN, *tables.TITLES, *CURRENCY_CODES, *tables.SAID, *tables.SPELLED, *tables.WEEKDAYS, *tables.ROADS}
    | {key for key in tables.BEFORE_NUMBER if key[-1] != "."}
    | {"x", *tables.PRICED_EACH, *tables.SMALL_ROADS}
)
_BIG = "|".join(name for name in BIG if len(name) > 2)
_GROUPS = re.compile("[0-9]{3}(?: [0-9]{3})*")
_LEADING = re.compile("[1-9][0-9]{0,2}")
_CONTINENTAL = re.compile(r"(?:[0-9]{1,3}(?:\.[0-9]{3})+|[0-9]+),[0-9]{2}")
_MONEY_AFTER = frozenset((*CURRENCIES, *CURRENCY_CODES))
_MONEY_AFTER_BEGUN = frozenset(name[:n] for name in _MONEY_AFTER for n in range(1, len(name) + 1))
_POINTED = re.compile(r"([0-9]{1,2})\.([0-5][0-9])")
_DAYS = ("month", "days", "ordinal")
_MEASURED = re.compile("[0-9./]+[\"'′″]")
_PRIMED = re.compile(r"[(\[*_\"“]*([0-9.,]+)(″|′′?)[.,;:!?)\]*_\"”]*")
_TOLD = frozenset("is was and or on for below above".split())
_TOLD_BEGUN = frozenset(word[:n] for word in _TOLD for n in range(1, len(word)))
_ANSWERED = frozenset(
    "is was be a say says said saying answer answers answered answering hell oh or and no the".split()
)
"""Words before an answer."""


def join(token: Token[str], parts: Parts, left: Left, right: Right) -> Joined[str] | bool | None:
    """What the token and the next are together, or False if they stay apart."""
    core = parts.core
    if token.closed or token.said is not None or not core or (parts.mark and core != "Rs"):
        return False
    if _GROUPS.fullmatch(core) and left.kind in ("one", "number") and _LEADING.fullmatch(left.word):
        return _join_group(core, right)
    if core[0] == "'" and core[1:].isdigit():
        return neighbours.join(core[1:], left, right)
    if core[0].isdigit():
        phone = core.isdigit() and parts.before and parts.after and len(core) == 3
        return _join_phone(core, right) if phone else _join_number(core, left, right)
    if core == "INR" and right.done and re.fullmatch("[0-9](?:[.][0-9])?", right.body):  # How fast blood clots.
        return False
    sign = CURRENCY_CODES.get(core) or (core if re.fullmatch(CUR, core) else "")
    if sign and left.kind not in ("one", "number"):
        body = right.body.removeprefix("$") if sign[-1] == "$" else right.body
        counted = MONEY.fullmatch("$" + body) is not None
        if right.done:
            return counted and Joined(sign + body)
        return None if not right.text or _AMOUNT_PREFIX.fullmatch(right.text) or counted else False
    if _scales(core):
        if re.match(rf"(?:{_BIG})[-–]", right.text):
            return Joined(core + right.body) if right.done else None
        big, prefixes = (BIG | INDIAN, BIG_PREFIXES | INDIAN_PREFIXES) if "₹" in core else (BIG, BIG_PREFIXES)
        follows = right.one_of(big, prefixes)
        return follows and Joined(right.word(big), money(core, left, big=right.word(big)))
    return False


def _scales(core: str) -> bool:
    """Whether millions may follow: an amount without thousands."""
    whole = core[-1].isdigit() and not _UNSCALED.search(core)
    return whole and (MONEY.fullmatch(core) or MONEY_RANGE.fullmatch(core)) is not None


def begun(core: str, left: Left) -> str:
    """What is said of some amounts, millions or not: "ten to fifteen" of ``$10-$15``, "two hundred" of ``kr 200``."""
    if not (core and _scales(core) and (core[0].isalpha() or "." in core or MONEY_RANGE.fullmatch(core))):
        return ""
    plain, scaled = money(core, left) or "", money(core, left, big="million") or ""
    pairs = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(plain.split(), scaled.split(), strict=False))
    return " ".join(word for word, _ in pairs)


def _join_group(core: str, right: Right) -> Joined[str] | bool | None:
    """Three figures after a number, with three more: what follows the first group of "1 234 567"."""
    if right.done:
        group = not right.glued and right.body.isdigit() and len(right.body) == 3
        return group and Joined(f"{core} {right.body}")
    return None if not right.text or (right.body.isdigit() and len(right.text) < 5) else False


def _join_phone(core: str, right: Right) -> Joined[str] | bool | None:
    """An area code with the rest of the telephone number."""
    body = right.body
    if not _PHONE_PREFIX.fullmatch(body) or (right.done and len(body) < 8):
        return False
    return Joined(body, read(f"{core}-{body}"), keeps_parenthesis=False) if right.done else None


def _join_number(core: str, left: Left, right: Right) -> Joined[str] | bool | None:
    """A plain number with a month after it, a time on the hour with its half of the day."""
    if ":00" in core and (m := TIME.fullmatch(core)) and not m[4] and 0 < int(m[1]) <= 12:
        follows = right.one_of(_HALVES, _HALF_PREFIXES)
        return follows and Joined(right.body, clock(m, half=right.text))
    if (m := _POINTED.fullmatch(core)) and 0 < int(m[1]) <= 12 and left.kind != "money":
        follows = right.one_of(_HALVES, _HALF_PREFIXES)
        time = TIME.fullmatch(f"{m[1]}:{m[2]}")
        return follows and time is not None and Joined(right.body, clock(time, half=right.text))
    if _CONTINENTAL.fullmatch(core) and (follows := right.one_of(_MONEY_AFTER, _MONEY_AFTER_BEGUN)) is not False:
        sign = right.word(_MONEY_AFTER)
        return follows and Joined(CURRENCY_CODES.get(sign, sign) + core)
    return neighbours.join(core, left, right)


def reading(token: Token[str], parts: Parts, left: Left, right: Right) -> str | None:
    """The spoken form without its pause; clears the mark of an abbreviation that a number follows."""
    core, dotted = parts.core, parts.dotted
    if token.said is not None:
        return token.said
    if token.address:
        return url(core)
    if not token.raw.isalnum() and (shown := spoken_of.reading(parts, token.raw, left)) is not None:
        return shown
    if token.raw.rstrip(".,") in tables.EMOTICONS:
        parts.mark = ""
        return ""
    if not core or not (core[-1].isalnum() or any(map(str.isalnum, core))):
        if not left.before and (core == "$" or core in tables.ARROWS):
            return ""
        words = _sign(token, left, right)
        return read(core, left) if words == "" and core else words
    if (words := _marked(token, parts, left)) is not None:
        return words
    if (beside := neighbours.reading(core, token.raw, parts, left, right)) is not False:
        return None if beside is None else str(beside)
    years = left.kind in ("month", "days") or re.fullmatch("(?:19|20)[0-9]{2}", core)
    if core.isdigit() and token.raw == f'{core}"' and not (token.quoted or years):
        return f"{read(core, left)} inch" + ("" if core == "1" else "es")
    if " " in core and _GROUPS.fullmatch(core):
        groups = core.split()
        return " ".join(map(number, groups)) if right.text[:1].isdigit() else thousands(groups)
    if core == "I" and parts.mark == "," and not left.before and not right.last:
        if right.text in ("", "I") and not right.done:
            return None
        return "one" if right.text.startswith("II") else "I"
    if (core in tables.QUARTERS or core in "xMDHL") and (placed := _letter(core, parts, left, right)) is not False:
        return None if placed is None else str(placed)
    if dotted and core in ("no", "No") and (told := _told(core, left, right)) is not False:
        parts.mark = "" if told else parts.mark
        return "number" if told else None
    if core == "000" and left.kind in ("one", "number") and _LEADING.fullmatch(left.word):
        return "thousand"
    if core == "c" and dotted and left.kind in ("ordinal", "one", "number"):
        return "century" if left.kind == "ordinal" else "cup" if left.kind == "one" or left.each else "cups"
    if dotted and core in tables.BOOKS and not right.last and (verse := neighbours.verse(right)) is not False:
        parts.mark = "" if verse else parts.mark
        return tables.BOOKS[core] if verse else None
    key = core + "." if dotted else core
    counted = left.kind in ("one", "number", "feet", "hours") and unit(core) and not (dotted and parts.before)
    if not counted and (dotted or not parts.mark) and not right.last and key in tables.BEFORE_NUMBER:
        initial = right.initial(QUOTES)
        if initial is None:
            return None
        counts = len(core) > 1 and (right.body != "I" or (core[0].isupper() and core != "No"))
        if counts and not right.done and set(right.text) <= set("IVXLC"):
            return None
        if initial.isdigit() or (counts and roman(right.body)):
            parts.mark = ""
            return tables.BEFORE_NUMBER[key]
    placed = read(core, left) if core in tables.ROADS else core
    if core in tables.TITLES and not parts.mark and placed == core:
        capital = False if right.last else right.capital()
        return None if capital is None else tables.TITLES[core] if capital else read(core, left)
    return _dotted(core, parts, left, right) if dotted else read(core, left)


def _told(core: str, left: Left, right: Right) -> bool | None:
    """Whether "no." is a number that is told next, or spoken of: "Your policy no. is 4471"."""
    if left.kind in ("code", "label"):
        return True
    noun = core == "no" and left.word.isalpha() and left.word not in _ANSWERED and not right.last
    return right.one_of(_TOLD, _TOLD_BEGUN) if noun else False


def _primed(core: str, prime: str, left: Left) -> str:
    """Figures before a prime: feet or inches, and minutes or seconds of arc after degrees."""
    turned = left.kind == "degree"
    if prime == "′":
        one, many = ("minute", "minutes") if turned else ("foot", "feet")
    else:
        one, many = ("second", "seconds") if turned else ("inch", "inches")
    return f"{read(core, left)} {one if core == '1' or (left.each and not turned) else many}"


def _letter(core: str, parts: Parts, left: Left, right: Right) -> str | bool | None:
    """A quarter of the sky after a road or before a street, or a sign of multiplication; False if it is none."""
    if core in tables.QUARTERS and re.fullmatch("(I|US|SR|Route)-[0-9]+", left.word):
        return tables.QUARTERS[core]
    if core in SIDES and "inches" in left.role:
        return SIDES[core]
    if core == "W" and parts.mark in (",", ";") and not parts.dotted and left.kind in ("one", "number"):
        return metric(core)[0 if left.kind == "one" or left.each else 1]
    if core in tables.QUARTERS and left.kind in ("one", "number") and not left.each and left.word.isdigit():
        initial = right.initial()
        if initial is None:
            return None
        over = parts.dotted and right.one_of(tables.STARTERS, tables.STARTER_PREFIXES)
        if over is None:
            return None
        if (initial.isdigit() or initial.isupper()) and not over:
            parts.mark = parts.mark.rstrip(".")
            return tables.QUARTERS[core]
        if core in ("N", "W") and left.role != "lettered":
            return metric(core)[0 if left.kind == "one" else 1]
    if core in tables.QUARTERS and len(core) == 1 and left.word in ("and", "&", "at", "on", "to"):
        digits = re.fullmatch(r"([0-9]*)([a-z]*)\W*", right.text)
        if not right.done and digits and not digits[2]:
            return None
        if digits and digits[1] and digits[2][:2] in ("st", "nd", "rd", "th", "s", "n", "r", "t"):
            return tables.QUARTERS[core]
    if core == "M" and left.kind in ("one", "number") and (dissolved := neighbours.molar(right)) is not False:
        return dissolved and "molar"
    if core == "x" and left.role == "sum" and left.kind in ("one", "number"):
        if not right.done or right.open:
            return None
        sized = unit(right.beyond.rstrip(".,;:!?)")) and right.text.isdigit()
        return "by" if sized or _MEASURED.match(right.text) else False
    if core == "x" and left.kind in ("one", "number"):
        if right.text in ("", "1", "10") and not right.done:
            return None
        if fold(right.text).startswith("10^"):
            return "times"
    return False


def _dotted(core: str, parts: Parts, left: Left, right: Right) -> str | None:
    """The spoken form of a token with a full stop after it."""
    if core in ("fl", "Fl") and left.kind == "ordinal":
        return "floor"
    if core == "v" and left.word[:1].isupper():
        return "versus"
    measured = left.kind in ("one", "number", "feet", "hours")
    if core in _TITLED_ROADS:
        capital = False if right.last else right.capital()
        if capital is None:
            return None
        placed = parts.mark not in ("", ".") or left.kind == "ordinal"
        road = left.named or (core == "St" and left.word != "" and (placed or not capital))
        return tables.ROADS[core] if road and not parts.before else tables.TITLES[core]
    if measured and core not in "KkMBb" and (unit := unit_of(left.word, core)) and core.isalpha():
        return unit[0 if left.kind == "one" or left.each else 1]
    if core in tables.LIMITS and not measured and left.word.lower() not in ("the", "a", "to", "at", "my"):
        return tables.LIMITS[core]
    if core == "ft" and not measured and not right.last:
        return "feet" if left.word.lower() in ("sq", "cu", "per") else "featuring"
    month = tables.ANY_MONTHS.get(core) if measured else None
    whole = month or tables.NEVER_ENDS.get(core) or tables.MAY_END.get(core)
    return whole or cut_short(core, parts.mark, measured and left.kind != "one") or read(core, left)


def _marked(token: Token[str], parts: Parts, left: Left) -> str | None:
    """What a mark makes of the token that surrounds or begins it: an option, inches, a factorial; None if nothing."""
    core, raw = parts.core, token.raw
    if core in tables.STAGE and raw.startswith(f"[{core}]"):
        return ""
    if raw.startswith("(0)") and core[2:].isdigit() and left.kind in ("phone", "dial"):
        parts.before = ""
        return each("0" + core[2:])
    if (m := re.fullmatch(r"\*([0-9]+)(#?)[.,;:!?)]*", raw)) and (m[2] or left.kind == "dial"):
        return f"star {each(m[1])} pound" if m[2] else f"star {read(m[1], left)}"
    if (m := re.fullmatch(r"(A|B|AB|O)([-−+])[.,;:!?)]*", raw)) and left.word.lower() in ("type", "is", "blood", ""):
        sure = m[1] in ("AB", "O") or left.word.lower() in ("type", "blood") or left.before.lower() == "type"
        if sure:
            return f"{initials(m[1])} {'positive' if m[2] == '+' else 'negative'}"
    if raw.count("*") == 1 and raw[0] == "*" and (core[:1] == "." or (core.isdigit() and left.kind == "dial")):
        return f"star {read(core, left)}"
    if re.fullmatch(r"\([a-h]\)" if left.word else r"\(?[a-h]\)", raw):
        parts.before = parts.after = ""
        return initials(core) + ","
    if parts.mark == "!" and re.fullmatch(r"\([a-z0-9]+[-+*−][a-z0-9]+\)!", raw):
        parts.mark = ""
        return f"{read(core, left)} factorial"
    if parts.mark == "!" and raw.rstrip("\"')*_`").endswith("!") and not raw.endswith("!!"):
        variable = len(core) == 1 and core.islower() and core not in "aio" and left.kind not in ("one", "number")
        if variable or (core.isdigit() and (left.kind == "sign" or not left.before)):
            parts.mark = ""
            return f"{read(core, left)} factorial"
    if (m := _PRIMED.fullmatch(raw)) and m[1].replace(",", "") == core.replace(",", ""):
        return _primed(core, m[2], left)
    sure = bool(parts.mark) or left.each or left.kind == "feet" or not core.isdigit()
    dated = left.kind in _DAYS or re.fullmatch("(?:19|20)[0-9]{2}", core) is not None
    inches = sure and not dated and raw.rstrip(".,;:!?)").endswith('"') and not token.quoted
    if inches and raw[0].isdigit() and re.fullmatch(r"[0-9./]+(?:[-–][0-9./]+)?", core):
        return f"{read(core, left)} inch" + ("" if left.each or "/" in core or core == "1" else "es")
    if left.word.lower() in ("a", "an", "grade") and re.fullmatch(r"[A-F][-−][.,;:!?)]*", raw):
        return f"{initials(core)} minus"
    if re.fullmatch(r"[0-9]{1,3}(?:,[0-9]{3})+'[.,;:!?)]*", raw):
        return f"{read(core, left)} feet"
    if raw.endswith("'") and raw[0].isdigit() and core.isdigit() and len(core) == 1 and left.kind not in _DAYS:
        return f"{read(core, left)} {'foot' if left.each or core == '1' else 'feet'}"
    if raw[0] in "–−" and core[0].isdigit() and left.kind not in ("one", "number", "time", "month"):
        return f"minus {read(core, left)}"
    return None


def _sign(token: Token[str], left: Left, right: Right) -> str | None:
    """What is said for a token without letters and digits, if anything is."""
    text = fold(token.raw).strip()
    if not text and (shown := spoken_of.pictured(token.raw, left, right)) is not False:
        return None if shown is None else str(shown)
    text = text.rstrip(".,;:!?)") or text
    counted = left.kind in ("one", "number") and not left.word[:1].isalpha()
    numeric = counted or left.kind in ("time", "half") or MONEY.fullmatch(left.word) is not None
    if text in ("-", "−") and (re.search(r"[A-Za-z]\^[0-9]$", left.word) or re.fullmatch("[0-9]+[xyz]", left.word)):
        return "minus"
    if text in ("-", "–") and not right.last and (numeric or left.kind == "month" or left.word in tables.WEEKDAYS):
        return _between(numeric, left, right)
    priced = re.match(CUR, left.word)
    if text == "/" and (priced or counted or len(left.word) == 1):
        return "per" if priced else "over"
    if text in ("-", "−") and re.search(r"(?:^|[\W\d])[ijkmnpqtxyz]$", left.word):
        return "minus"
    if text in ("#", "*") and left.word.lower() in ("press", "hit", "dial", "push", "or", "then", "by"):
        return "pound" if text == "#" else "star"
    if text == "#" and token.gap != SPACE:
        return ""
    if text == "×" and "." in left.word and left.kind == "number":
        if right.text in ("", "1", "10") and not right.done:
            return None
        return "times" if fold(right.text).startswith("10^") else "by"
    if text == "×" and unit(left.word) and not left.word.isdigit():
        return "by"
    if text == ">" and left.word.istitle() and len(left.word) > 2 and not right.last:
        initial = right.initial(QUOTES)  # A path through menus: Settings > Privacy.
        return None if initial is None else "" if initial.isupper() else tables.SYMBOLS[text]
    if text == "*" and left.word in ("SELECT", "select"):
        return "star"
    if text == "*" and numeric and not right.text and not right.done:
        return None
    if text == "*" and (right.text[:1] == "*" or left.word == "*"):
        return "star"
    if text == "*" and (numeric or (len(left.word) == 1 and left.word != "a")):
        return "times"
    return "" if is_rule(text) and text != "=" else tables.SYMBOLS.get(text, "")


def _between(numeric: bool, left: Left, right: Right) -> str | None:
    """What a dash apart is said as after a number, a month or a weekday."""
    initial = right.initial(QUOTES)
    if initial is None:
        return None
    if initial.isdigit():
        return "minus" if left.role == "sum" else "to"
    if numeric:
        return ""
    names = tables.WEEKDAYS if left.word in tables.WEEKDAYS else tables.MONTHS
    follows = right.one_of(names, tables.WEEKDAY_PREFIXES if names is tables.WEEKDAYS else tables.MONTH_PREFIXES)
    return None if follows is None else "to" if follows else ""


def ordinary(word: str, mark: str) -> bool:
    """Whether a word of letters is read as it stands, whatever is beside it."""
    if word in _ALONE or (word[-2:] in ("'s", "’s") and word[:-2].isupper()):
        return False
    if word.isupper() and (len(word) > 1 or word in "IVXLCNSEW"):
        return False
    if mark == "!" and len(word) == 1 and word.islower():
        return False
    if not (word.islower() or word[1:].islower() or len(word) == 1):
        return False
    return mark != "." or (len(word) > 1 and word not in _WITH_DOT and tables.CUT.of(word) is None)
