"""Tables written as text: a line an entry."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from sayahead.text.shared.record import Currency, Noun, Numbers, Record


def pairs(text: str) -> dict[str, str]:
    """``key = value`` lines; several keys are parted by spaces and share a value."""
    table = dict[str, str]()
    for line in text.strip().splitlines():
        keys, _, value = line.partition(" = ")
        table |= {key: value.strip() for key in keys.split()}
    return table


def phrases(text: str) -> dict[str, str]:
    """``key = value`` lines with spaces in keys."""
    return {key.strip(): value.strip() for key, _, value in (line.partition("=") for line in text.strip().splitlines())}


def nouns(text: str) -> dict[str, Noun]:
    """``keys = gender singular[/plural]`` lines; a gender of ``-`` is none. Without a plural it is the singular."""
    table = {}
    for key, value in pairs(text).items():
        gender, _, names = value.partition(" ")
        one, _, many = names.partition("/")
        table[key] = Noun(one, many or one, gender.replace("-", ""))
    return table


def currencies(text: str) -> dict[str, Currency]:
    """``keys = gender one/many, gender one/many`` lines: the currency and its hundredth, which may be missing."""
    table = {}
    for key, value in pairs(text).items():
        main, _, cent = value.partition(", ")
        table[key] = Currency(*nouns(f"a = {main}").values(), *nouns(f"a = {cent}").values() if cent else ())
    return table


def parts(text: str) -> dict[int, str]:
    """Denominators of common fractions: ``number name`` and so on."""
    listed = text.split()
    return dict(zip(map(int, listed[::2]), listed[1::2], strict=True))


def cues(**kinds: str) -> dict[str, str]:
    """Words by what they say of the figures behind them."""
    return {word: kind for kind, words in kinds.items() for word in words.split()}


_WORDS = "starters openers names clubs linking glued_only number_suffixes hour_words lasting centuries".split()
_WRITTEN: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys("signs weekdays between never_ends may_end before_number plain half".split(), pairs),
    **dict.fromkeys(_WORDS, lambda text: frozenset(text.split())),
    "units": nouns,
    "scales": nouns,
    "currencies": currencies,
    "phrases": phrases,
}


def record(numbers: ModuleType, *, months_short: str, **fields: Any) -> Record:
    """A record with its tables written as text and the numbers of a module; ``months_short``: ``form:number``."""
    months = {name.lower(): number for number, name in enumerate(numbers.MONTHS, 1)}
    months |= {form: int(number) for form, _, number in (pair.partition(":") for pair in months_short.split())}
    made = {name: _WRITTEN[name](value) if name in _WRITTEN else value for name, value in fields.items()}
    return Record(numbers=Numbers.of(numbers), months=months, month_names=tuple(numbers.MONTHS), **made)
