"""Figures in words: how numbers, years, codes and fractions are said."""

from __future__ import annotations

import re

_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
_TENS = ". . twenty thirty forty fifty sixty seventy eighty ninety".split()
_SCALES = ["", *"thousand million billion trillion".split()]
_ORDINALS = dict(
    pair.split(":")
    for pair in "one:first two:second three:third five:fifth eight:eighth nine:ninth twelve:twelfth".split()
)
NAMED = 10 ** (3 * len(_SCALES))
"""From here on a number is said digit by digit."""


def _hundreds(n: int) -> str:
    words = [_ONES[n // 100], "hundred"] if n >= 100 else []
    rest = n % 100
    if rest >= 20:
        words.append(_TENS[rest // 10] + (f"-{_ONES[rest % 10]}" if rest % 10 else ""))
    elif rest or not words:
        words.append(_ONES[rest])
    return " ".join(words)


def cardinal(n: int) -> str:
    """``1,234`` one thousand two hundred thirty-four; digit by digit where it is too long for a name."""
    if n < 1000:
        return _hundreds(n)
    if n >= NAMED:
        return each(str(n))
    groups = []
    for scale in _SCALES:
        n, group = divmod(n, 1000)
        if group:
            groups.append(f"{_hundreds(group)} {scale}".rstrip())
    return " ".join(reversed(groups))


def thousands(groups: list[str]) -> str:
    """What follows the first group of a number written in groups: ``234 567`` of ``1 234 567``."""
    if len(groups) >= len(_SCALES):
        return " ".join(map(each, groups))
    rest = int("".join(groups))
    return _SCALES[len(groups)] + (f" {cardinal(rest)}" if rest else "")


def ordinal(n: int) -> str:
    """``21`` twenty-first."""
    words = each(str(n // 10)) + " " + _ONES[n % 10] if n >= NAMED else cardinal(n)
    head, last = re.fullmatch(r"(.*?)(\w+)", words).groups()  # type: ignore[union-attr]
    return head + (_ORDINALS.get(last) or (last[:-1] + "ieth" if last[-1] == "y" else last + "th"))


def each(digits: str) -> str:
    """Digit by digit."""
    return " ".join(_ONES[int(digit)] for digit in digits)


def grouped(text: str) -> str:
    """Digit by digit, with a pause between the groups, as in a telephone number."""
    return ", ".join(each(digits) for digits in re.findall(r"[0-9]+", text))


def pair(digits: str) -> str:
    """Two figures after others: ``05`` oh five, ``00`` hundred."""
    if digits == "00":
        return "hundred"
    return f"oh {_ONES[int(digits[1])]}" if digits[0] == "0" else cardinal(int(digits))


def paired(n: int) -> str:
    """Four figures two by two, as years are said: ``1905`` nineteen oh five, ``2005`` two thousand five."""
    if n < 1000 or n % 1000 < 10:
        return cardinal(n)
    return f"{cardinal(n // 100)} {pair(f'{n % 100:02}')}"


def year(n: int, *, surely: bool = False) -> str:
    """Four figures: two by two where they are likely a year, or where that is sure."""
    return paired(n) if 1100 <= n < 2000 or 2010 <= n < 2100 or (surely and n < 2100) else cardinal(n)


def label(digits: str) -> str:
    """Figures in a name: room ``305`` three oh five, ``4090`` forty ninety, ``12700`` as a number, others singly."""
    if len(digits) == 4 and digits[0] == "0" and digits.endswith("00"):
        return f"zero {cardinal(int(digits[:2]))} hundred"
    if digits[0] == "0":
        return each(digits)
    if len(digits) == 3:
        return f"{_ONES[int(digits[0])]} {pair(digits[1:])}"
    if len(digits) < 5:
        return paired(int(digits))
    return cardinal(int(digits)) if len(digits) == 5 and digits.endswith("00") else each(digits)


def number(text: str) -> str:
    """A number with its sign, commas and decimals; one with a leading zero or too long for a name digit by digit."""
    sign = "minus " if text[0] in "-−" else ""
    whole, dot, decimals = text.lstrip("-−").partition(".")
    digits = whole.replace(",", "")
    words = each(digits) if len(digits) > 1 and digits[0] == "0" else cardinal(int(digits)) if digits else ""
    return f"{sign}{words} point {each(decimals)}".replace("  ", " ").strip() if dot else sign + words


def plural(words: str) -> str:
    """``nineties``, ``sixes``."""
    if words.endswith("y"):
        return words[:-1] + "ies"
    return words + ("es" if words.endswith(("x", "s")) else "s")


def fraction(above: int, below: int) -> str:
    """``3/4`` three quarters, ``22/7`` twenty-two over seven."""
    much = below > 100 and below not in (1000, 10_000, 1_000_000) and (above > 1 or below > 1000 or below % 10)
    if not 0 < above < below or much:
        return f"{cardinal(above)} over {cardinal(below)}"
    name = {2: "half", 4: "quarter"}.get(below) or ordinal(below)
    if above > 1:
        name = "halves" if below == 2 else name + "s"
    return f"{cardinal(above)} {name}"


def initials(letters: str) -> str:
    """Letters as they are spelled, with dots, so that no reader takes them for a word: ``U.T.F.``, ``B``, ``A.``"""
    if len(letters) == 1:
        return "A." if letters in "aA" else letters.upper()
    return "".join(f"{letter.upper()}." for letter in letters)
