"""The atoms of the grammar: numbers, money, measures, times of day, fractions and days in words."""

from __future__ import annotations

import math
import re

from sayahead.text.english import tables
from sayahead.text.english.left_context import NOTHING, Left
from sayahead.text.english.numbers import (
    cardinal,
    each,
    fraction,
    initials,
    label,
    number,
    ordinal,
    pair,
    paired,
    plural,
    year,
)
from sayahead.text.english.units import BIG, CENTS, CURRENCIES, CURRENCY_CODES, currency, per, unit_of

NUM = r"[0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?"
_CODES = "|".join(code for code in CURRENCY_CODES if len(code) == 3 and code.isupper())
_PREFIXED = rf"(?:US|CA|AU|NZ|HK|NT|MX|C|A|S|R)?\$|(?:CN|RMB)?¥|{_CODES}|kr"
CUR = f"(?:{_PREFIXED}|[{''.join(CURRENCIES)}])"
_BIG = "|".join(BIG)
_POINTED = r"[0-9]{1,3}(?:\.[0-9]{3})+"
AMOUNT = rf"(?:{_POINTED},[0-9]{{2}}|{NUM}|\.[0-9]+|[0-9]+,[0-9]{{1,2}}|[0-9]{{1,2}}(?:,[0-9]{{2}})+,[0-9]{{3}})"
NUMBER = re.compile(rf"[-−]?(?:{NUM}|\.[0-9]+)")
MONEY = re.compile(rf"([-−+~]?)({CUR})([-−]?{AMOUNT})({_BIG})?")
MONEY_RANGE = re.compile(rf"({MONEY.pattern})[-–—]({CUR})?({NUM})({_BIG})?")
MONEY_SCALED = re.compile(rf"({MONEY.pattern})-({_BIG})")
_MONEY_AFTER = re.compile(rf"([-−]?)({NUM})({_BIG})?([{''.join(CURRENCIES)}]|kr)")
TIME = re.compile(r"([0-9]{1,2}):([0-5][0-9])(?::([0-5][0-9]))?(?:([AaPp])(?:\.?[Mm]\.?)?)?")
_MEASURE = re.compile(rf"([-−]?(?:{NUM}|\.[0-9]+))([^\d\s.,()-].*|\(s\))")
_SIGNS = {"-": "minus ", "−": "minus ", "+": "plus ", "~": "about "}
_FEET = re.compile(r"([0-9]+)(?:'|ft|'-)([0-9]+(?:\.[0-9]+)?)(?:in)?(?:\"|'')?")


def atom(text: str, left: Left = NOTHING) -> str:
    """A number, amount, measure, time, ordinal, decade or fraction in words; nothing if it is none of them."""
    first = text[0]
    if not (first.isdigit() or text[-1].isdigit() or first in ".+~-−'" or text[-1] in CURRENCIES):
        return _money(text, left) if (first in CURRENCIES or first.isupper()) and any(map(str.isdigit, text)) else ""
    if NUMBER.fullmatch(text):
        return counted(text, left)
    if m := re.fullmatch(r"([0-9][0-9,]{0,14})(?:st|nd|rd|th)(s?)", text, re.I):
        return ordinal(int(m[1].replace(",", ""))) + m[2].lower()
    if left.kind == "label" and re.fullmatch(r"[0-9]+[A-Z]", text):
        return f"{label(text[:-1])} {initials(text[-1])}"
    if m := re.fullmatch(r"([0-9]+\.[0-9]*)([0-9])th", text):
        return (
            f"{number(m[1])} {ordinal(int(m[2]))}"
            if m[1][-1] != "."
            else f"{number(m[1][:-1])} point {ordinal(int(m[2]))}"
        )
    if m := re.fullmatch(r"([0-9]{1,2})\.([0-5][0-9])([AaPp]\.?[Mm]\.?)", text):
        text = f"{m[1]}:{m[2]}{m[3]}"
    if m := re.fullmatch(r"(10{0,2}(?:,000)+|10{1,3})s", text):
        return " of ".join(map(plural, number(m[1]).removeprefix("one ").split()))
    if m := re.fullmatch(r"'?([0-9]{1,4})'?s", text):
        return _decade(m[1], left)
    if left.word in tables.SCRIPTURE and (m := re.fullmatch("([0-9]+):([0-9]+)(?:[-–]([0-9]+))?", text)):
        return f"{number(m[1])} {number(m[2])}" + (f" to {number(m[3])}" if m[3] else "")
    if (m := re.fullmatch(r"([0-9:]+)([A-Z]{2,4})", text)) and m[2] in tables.ZONES and (t := TIME.fullmatch(m[1])):
        return f"{clock(t)} {m[2]}"
    if m := TIME.fullmatch(text.removesuffix("ish").removesuffix("-")):
        long = left.word.lower() in tables.LONG
        if m[3] and not m[4] and m[1][0] != "0" and (long or (m[2] == "00" and len(m[1]) == 1)):
            return _lasting(*map(int, m.groups()[:3]))
        if long and not (m[3] or m[4]) and int(m[1]) > 12:
            return _lasting(0, int(m[1]), int(m[2]))
        return clock(m) + (" ish" if text.endswith("ish") else "")
    if (m := re.fullmatch(r"([0-9]{1,2}:[0-5][0-9])/([a-z]{2,5})", text)) and (t := TIME.fullmatch(m[1])) and per(m[2]):
        return f"{clock(t)} per {per(m[2])}"
    if m := re.fullmatch(rf"({NUM})(M|B|bn|T)\+", text):
        return f"{number(m[1])} {BIG[m[2]]} plus"
    if m := re.fullmatch(r"([0-9]{1,2})([AaPp])\.?[Mm]\.?", text):
        return f"{cardinal(int(m[1]))} {m[2].upper()}.M."
    if m := re.fullmatch("1/([0-9]{2,4})s", text):
        return f"one {ordinal(int(m[1]))} of a second"
    if m := re.fullmatch(r"([0-9]{1,4})/([0-9]{1,4})(?:st|nd|rd|th|ST|ND|RD|TH)?s?", text):
        return _slashed(m[1], m[2], left)
    if (m := re.fullmatch(r"([0-9]{1,2})/([0-9]{1,2})(%|[A-Za-z]+)", text)) and (names := unit_of("1", m[3])):
        return f"{_slashed(m[1], m[2], left)} {names[1 if left.kind in ('number', 'one') else 0]}"
    return _money(text, left) or _measure(text, left)


def counted(text: str, left: Left) -> str:
    """A plain number as its left neighbour has it read: a day, a year, a code, a label, or how many."""
    if left.versioned and (m := re.fullmatch(r"([0-9]+)\.([1-9][0-9])", text)):
        return f"{number(m[1])} point {number(m[2])}"
    if not text.isdigit():
        return "" if left.kind == "code" and "." in text else number(text)
    size, value = len(text), int(text)
    if size < 3 and (left.kind == "month" or (left.kind == "days" and value > int(left.role))) and 1 <= value <= 31:
        return ordinal(value)
    if left.kind == "label" and size == 3 and re.fullmatch("[0-9]{3}", left.word):
        return each(text)
    dialled = size > 4 or text in tables.SHORT_NUMBERS or left.word.lstrip("+")[:1].isdigit()
    if left.kind in ("phone", "code") or (left.kind == "dial" and dialled):
        return each(text)
    if (left.kind == "label" and (size in (3, 4) or text[0] == "0")) or (
        size == 3 and left.word in ("Boeing", "Airbus")
    ):
        return label(text)
    if size == 8 and text[:2] in ("19", "20") and (day := date(text[:4], int(text[4:6]), int(text[6:]))):
        return day
    if size >= 10 or (left.kind == "label" and size > 4 and not text.endswith("000")):
        return f"{each(text[:3])}, {each(text[3:6])}, {each(text[6:])}" if size == 10 else each(text)
    if size == 4 and text[0] == "0":
        hour, minute = int(text[:2]), text[2:]
        spoken = left.word.lower() in ("at", "by", "until", "from", "to", "before", "after") and minute < "60"
        return f"oh {cardinal(hour)} {pair(minute)}" if spoken and hour else label(text)
    if size == 4:
        lonely = not left.before or (left.word.isupper() and len(left.word) > 1) or re.fullmatch(r"[0-9]{4}", left.word)
        return paired(value) if lonely else year(value, surely=left.word.lower() in tables.YEAR_WORDS)
    return number(text)


def _decade(digits: str, left: Left) -> str:
    """``1990s`` nineteen nineties; ``5s`` and ``a 30s break`` are seconds."""
    value = int(digits)
    if re.fullmatch("7[0-9]7|40[1345689]|42[29]|50[234]", digits):  # Boeing's.
        return plural(label(digits))
    given = left.word in ("=", "<", ">", "≤", "≥")
    if len(digits) < 4 and (value % 10 or left.each or given or left.kind == "hours"):
        return f"{cardinal(value)} second" + ("" if value == 1 or left.each else "s")
    return plural(year(value) if len(digits) == 4 else number(digits))


def _money(text: str, left: Left) -> str:
    if m := _MONEY_AFTER.fullmatch(text):
        text = f"{m[1]}{m[4]}{m[2]}{m[3] or ''}"
    return money(text, left) or ""


def money(text: str, left: Left = NOTHING, *, big: str = "") -> str | None:
    """An amount in words: ``$5.50`` five dollars and fifty cents, ``a $5M`` five million dollar."""
    if spread := MONEY_RANGE.fullmatch(text):
        return _money_range(spread, left, big)
    if not (m := MONEY.fullmatch(text)):
        return None
    sign, cur, amount, glued = m.groups()
    before = _SIGNS.get(sign, "")
    if amount[0] in "-−":
        before, amount = "minus ", amount[1:]
    if re.fullmatch(rf"{_POINTED}(?:,[0-9]{{2}})?", amount) and ("," in amount or cur in ("€", "R$")):
        amount = amount.replace(".", "")
    amount = re.sub(r"^([0-9]+),([0-9]{1,2})$", r"\1.\2", amount)
    one, many = currency(cur)
    many = one if left.each else many
    if big or glued:
        return f"{before}{number(amount)} {BIG.get(big or glued, big)} {many}"
    whole, dot, decimals = amount.partition(".")
    if cur[-1] not in CENTS or (dot and len(decimals) != 2):
        return f"{before}{number(amount)} {one if amount == '1' else many}"
    cents = CENTS[cur[-1]]
    parts = [f"{number(whole)} {one if whole == '1' else many}"] if whole and int(whole.replace(",", "")) else []
    if dot and int(decimals):
        parts.append(f"{cardinal(int(decimals))} {cents[int(decimals) != 1 and not left.each]}")
    return before + (" and ".join(parts) or f"zero {many}")


def _money_range(m: re.Match[str], left: Left, big: str) -> str:
    """``$5–$10`` five to ten dollars, ``$1.5-2 million`` with the one big word after both."""
    first, cur, last, end = m[4], m[6] or m[3], m[7], m[8] or big
    scale = f" {BIG[m[5]]}" if m[5] else ""
    about = _SIGNS.get(m[2], "")
    cents = not (m[5] or end) and any(re.search(r"\.[0-9]{2}$", amount) for amount in (first, last))
    if cents or (m[6] and m[6] != m[3]):
        if not m[6]:
            return f"{money(m[1], left)} to {money(cur + last, left)}"
        return f"{money(m[1], left)} to {money(m[6] + last, left, big=end)}"
    return f"{about}{number(first)}{scale} to {money(cur + last, left, big=end)}"


def _measure(text: str, left: Left) -> str:
    """A number with its unit: ``5km``, ``9.58s``, ``2h30m``, ``5'10"``."""
    if not (m := _MEASURE.fullmatch(text)):
        return ""
    amount, tail = m.groups()
    single = left.each or amount.lstrip("-−") == "1"
    if tail in ("m", "min") and left.kind == "hours":
        return f"{number(amount)} minute" + ("" if single else "s")
    if tail in ("K", "k") and (amount in ("4", "5", "8") or left.each or text == "2K"):
        return f"{number(amount)} K"
    if tail == "s" and "." in amount:
        return f"{number(amount)} second" + ("" if single else "s")
    if unit := unit_of(amount, tail):
        return f"{number(amount)} {unit[0 if single else 1]}"
    if height := _FEET.fullmatch(text):
        long = float(height[2]) >= 12
        names = ("minutes ", " seconds") if long else ("foot ", "")
        return f"{number(height[1])} {names[0]}{number(height[2])}{names[1]}"
    return _duration(text)


def _duration(text: str) -> str:
    m = re.fullmatch(r"(?:([0-9]+)w)?(?:([0-9]+)d)?(?:([0-9]+)h)?(?:([0-9]+)(?:m|min)?)?(?:([0-9]+)s)?", text)
    if not m or sum(part is not None for part in m.groups()) < 2:
        return ""
    parts = []
    for amount, name_ in zip(m.groups(), ("week", "day", "hour", "minute", "second"), strict=True):
        if amount is not None and text.endswith(amount):
            parts.append(cardinal(int(amount)))
        elif amount is not None:
            parts.append(f"{cardinal(int(amount))} {name_}" + ("" if int(amount) == 1 else "s"))
    return " ".join(parts)


def _lasting(*parts: int) -> str:
    """``in 1:59:40`` one hour, fifty-nine minutes and forty seconds."""
    named = zip(parts, ("hour", "minute", "second"), strict=True)
    words = [f"{cardinal(n)} {name}" + ("" if n == 1 else "s") for n, name in named if n]
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def clock(m: re.Match[str], *, half: str = "") -> str:
    """A time of day in words, ``seven thirty P.M.``; from 25 hours on a ratio or a length of time."""
    hour, minute, second, glued = m.groups()
    half = half or glued or ""
    if second and hour == "00" and not half:
        parts = [(int(minute), "minute"), (int(second), "second")]
        return " ".join(f"{cardinal(n)} {name}" + ("" if n == 1 else "s") for n, name in parts if n) or "zero"
    if int(hour) > 24:
        return f"{number(hour)} to {number(minute)}" if not second else " ".join(map(number, (hour, minute, second)))
    if not int(hour) and not int(minute) and not second and not half:
        return "midnight"
    words = ["oh"] if hour[0] == "0" and len(hour) == 2 and int(hour) and int(minute) and not half else []
    words.append(cardinal(int(hour)))
    if int(minute):
        words.append(pair(minute))
    elif second and int(second):
        words.append("oh oh" if half else "zero")
    elif not half:
        words.append("hundred" if int(hour) > 12 else "o'clock")
    if second and int(second):
        words.append(f"and {cardinal(int(second))} second" + ("" if int(second) == 1 else "s"))
    if half:
        words.append(half[0].upper() + ".M.")
    return " ".join(words)


def _slashed(above: str, below: str, left: Left) -> str:
    """``7/16`` seven sixteenths; a date after "on" and other cues, out of ten after "rated"."""
    a, b, word = int(above), int(below), left.word.lower()
    if len(below) == 4 and 1 <= a <= 12 and below[:2] in ("19", "20"):
        return f"{tables.MONTH_NAMES[a - 1]} {year(b)}"
    if len(above) == 4 and len(below) in (2, 4):
        return f"{year(a)} {year(b) if len(below) == 4 else pair(below)}"
    if len(above) > 3:
        return ""
    if word in tables.DATE_WORDS and (day := date("", a, b) or date("", b, a)):
        return day
    if a + b == 100 and a >= b:
        return f"{cardinal(a)} {cardinal(b)}"
    far = word == "in" and a < b and math.gcd(a, b) == 1  # "Exit 5 is in 3/4 mile"
    if left.kind == "label" and a > 1 and not far and (b == a + 1 or b in (2, 4, 8, 16)):
        return f"{cardinal(a)} {cardinal(b)}"  # Junction 8/9, or the signature of a time.
    if "odds" in (word, left.before.lower()):
        return f"{cardinal(a)} to {cardinal(b)}"
    if word in tables.STEPS:
        return f"{cardinal(a)} of {cardinal(b)}"
    if word in tables.RATED or (b in (5, 10, 100) and a == b):
        return f"{cardinal(a)} out of {cardinal(b)}"
    likely = b == 1 or (12 < b <= 31 and b not in (16, 20, 24, 25))
    if likely and 1 < a <= 12 and not (left.each or left.kind):
        return date("", a, b)
    words = fraction(a, b)
    if a == 1 and left.each:
        return words.removeprefix("one ")
    if left.kind in ("number", "one"):
        return "and " + (words.replace("one ", "a ", 1) if a == 1 else words)
    return words


def date(text: str, month: int, day: int) -> str:
    """A date whose year is written as ``text``, which may be empty, in words; nothing where there is no such day."""
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return ""
    if len(text) == 2:
        text = ("19" if int(text) > 50 else "20") + text
    return f"{tables.MONTH_NAMES[month - 1]} {ordinal(day)}" + (f", {year(int(text))}" if text else "")
