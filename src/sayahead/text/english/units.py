"""Units and currencies, and how they compose: ``km/h``, ``W/m²``, ``kWh``, ``US$``."""

from __future__ import annotations

import functools
import itertools
import re

from sayahead.text.english import tables


def _pairs(name: str) -> dict[str, tuple[str, str]]:
    """One and many of each entry of a table, told apart by a slash where they differ."""
    return {
        key: (one, many or one) for key, text in tables.readings(name).items() for one, _, many in [text.partition("/")]
    }


_PREFIXED = tables.readings("prefixed units")
_ONLY_PREFIXED = frozenset("B b F N T J".split())
"""Bare they are mostly letters of a name: ``221B``."""
_PREFIXES = tables.readings("prefixes")
_KNOWN = tables.words("known units")
_ONES = tables.readings("units")
_IRREGULAR = _pairs("irregular units")
GLUED_ONLY = frozenset("k K M x s A V W J N F T B b d BR BA".split())
"""Letters that are a unit only where they touch the number."""
SPACED_IF_SURE = frozenset("in ins mo pt ct rad pH us um ps ug".split())
"""Also ordinary words or other abbreviations: after a space a unit only where what is to the left says so."""
_CAPITALS = {name.upper(): name for name in "kg lbs lb oz km cm ml gal ft hrs hr sec secs yds tbsp tsp sq psi".split()}
_CAPITALS |= {name.lower(): name for name in "GB MB KB TB kHz MHz GHz kWh kW Mbps Gbps Kbps mAh".split()}
_CAPITALS |= {name.upper(): name for name in "kWh kHz MHz GHz mg".split()}
_PER = {"mo": "month", "yr": "year", "hr": "hour", "wk": "week", "h": "hour", "s": "second", "d": "day", "mi": "mile"}
_PER |= {word: word for word in "second minute hour day night week month year person user capita".split()}

_SHARES = {"x": ("time", "times"), "U": ("unit", "units")}
"""Letters that are units where they are divided by others: ``2x/day``, ``45 U/L``."""

BIG = {word: word for word in "hundred thousand million billion trillion".split()}
BIG |= {"k": "thousand", "K": "thousand", "m": "million", "M": "million", "b": "billion", "B": "billion"}
BIG |= {"mn": "million", "bn": "billion", "tn": "trillion", "T": "trillion", "Bn": "billion", "MM": "million"}
BIG_PREFIXES = frozenset(name[:n] for name in BIG if len(name) > 1 for n in range(1, len(name) + 1))
INDIAN = {word: word for word in "lakh lakhs crore crores".split()}
INDIAN_PREFIXES = frozenset(name[:n] for name in INDIAN for n in range(1, len(name) + 1))

CURRENCIES = _pairs("currencies")
NOUNS = frozenset(noun for names in CURRENCIES.values() for noun in names)
CENTS = {"$": ("cent", "cents"), "£": ("penny", "pence"), "€": ("cent", "cents")}
COUNTRIES = tables.readings("countries")
"""What stands before ``$`` or ``¥``: whose it is. ``R$`` is the real."""
CURRENCY_CODES = tables.readings("currency codes")
_OTHER = _pairs("other currencies")


def currency(sign: str) -> tuple[str, str]:
    """One and many of a currency's name by its sign: ``$``, ``C$``, ``CHF``; a plain ``$`` is a dollar."""
    sign = CURRENCY_CODES.get(sign, sign)
    if sign in _OTHER:
        return _OTHER[sign]
    country, (one, many) = COUNTRIES.get(sign[:-1], ""), CURRENCIES[sign[-1]]
    return f"{country} {one}".lstrip(), f"{country} {many}".lstrip()


@functools.lru_cache(maxsize=1024)
def unit(text: str) -> tuple[str, str] | None:
    """One and many of a unit, composed of what is known: ``kg/m³`` kilogram(s) per cubic meter; None if it is none."""
    text = _CAPITALS.get(text, text)
    if text in _IRREGULAR:
        return _IRREGULAR[text]
    if one := _ONES.get(text):
        return one, one + ("" if one in ("horsepower", "fluid") else "s")
    if text in _KNOWN or (text in _PREFIXED and text not in _ONLY_PREFIXED):
        return metric(text)
    above, slash, below = text.partition("/")
    if slash:
        first = _SHARES.get(above) or unit(above)
        second = per(below) or (below if re.fullmatch("[a-z]{4,}", below) else "")
        return (f"{first[0]} per {second}", f"{first[1]} per {second}") if first and second else None
    if power := re.fullmatch(r"(\D+?)\^?([23])", text):
        base = None if power[1] in _IRREGULAR and power[1] not in ("ft", "in") else unit(power[1])
        name = "square" if power[2] == "2" else "cubic"
        return (f"{name} {base[0]}", f"{name} {base[1]}") if base and base[0] != "degree" else None
    return None


def unit_of(amount: str, text: str) -> tuple[str, str] | None:
    """A unit after an amount: ``12 pt`` are points and ``2 pt`` pints, ``25 bps`` basis points, ``9600 bps`` bits."""
    much = int("0" + "".join(itertools.takewhile(str.isdecimal, amount.replace(",", "").lstrip("-−"))))
    if text == "pt" and much > 4:
        return "point", "points"
    if text == "K" and re.fullmatch(r"[0-9]{4,5}|[0-9]+\.[0-9]{2,}", amount):  # Thousands of thousands are millions.
        return "kelvin", "kelvins"
    return metric(text) if text == "bps" and much >= 300 else unit(text)


def per(text: str) -> str:
    """What an amount or a unit is divided by, in words: ``h`` hour, ``s^2`` second squared; nothing if unknown."""
    if power := re.fullmatch(r"s\^?([23])", text):
        return "second " + ("squared" if power[1] == "2" else "cubed")
    above, slash, below = text.partition("/")
    if slash:
        return f"{per(above)} per {per(below)}" if per(above) and per(below) else ""
    if text in _PER:
        return _PER[text]
    names = unit(text)
    return names[0] if names else ""


def metric(text: str) -> tuple[str, str]:
    """One and many of a metric unit that is known to be one; KeyError for others."""
    for size in (len(text), *range(min(3, len(text)), 0, -1)):
        base, prefix = _PREFIXED.get(text[-size:]), text[:-size]
        if base and (not prefix or prefix in _PREFIXES):
            one = (_PREFIXES.get(prefix, "") + base).replace("oohm", "ohm").replace("aohm", "ohm")
            head, link, tail = one.partition(" per ")
            return one, head + ("" if head.endswith(("hertz", "s")) else "s") + link + tail
    raise KeyError(text)
