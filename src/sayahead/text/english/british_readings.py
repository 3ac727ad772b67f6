"""How British texts are read where American ones are read otherwise: days before months, "and" after hundreds."""

from __future__ import annotations

import re

from sayahead.text.english import tables
from sayahead.text.english.amounts import date
from sayahead.text.english.normalizer import Normalizer
from sayahead.text.shared.tokens import Parts, Right, Token
from sayahead.types import Word

_DATE = re.compile(r"([0-9]{1,2})(?:/([0-9]{1,2})/([0-9]{2}|[0-9]{4})|([.-])([0-9]{1,2})\4([0-9]{4}))")
_DAY = re.compile(r"([0-9]{1,2})/([0-9]{1,2})")
_UNITS = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth "
    "fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth thirtieth fortieth fiftieth sixtieth "
    "seventieth eightieth ninetieth"
)
_BELOW_HUNDRED = rf"(?:(?:twen|thir|for|fif|six|seven|eigh|nine)ty(?:-\w+)?|{'|'.join(_UNITS.split())})\b"
_SCALES = "thousand|million|billion|trillion"
_AND = re.compile(rf"\b(hundred|(?:{_SCALES})(?= {_BELOW_HUNDRED}(?! (?:hundred|{_SCALES})\b))) (?={_BELOW_HUNDRED})")


DAY_FIRST = frozenset("gb ie au nz in za".split())
"""Regions whose dates in figures have the day first."""


def reader_of(language: str) -> type[Normalizer]:
    """The reader of an English by its BCP 47 tag: British for ``DAY_FIRST``, American for others."""
    return British if DAY_FIRST.intersection(language.lower().replace("_", "-").split("-")[1:]) else Normalizer


class British(Normalizer):
    """English text as it is read in Britain: ``3/4/2026`` the third of April, ``205`` two hundred and five."""

    def _said(self, token: Token[str], parts: Parts, right: Right) -> str | None:
        return _day(parts.core, self._left.word) or super()._said(token, parts, right)

    def _emit(self, token: Token[str], text: str, out: list[Word], *, last: bool) -> None:
        super()._emit(token, _AND.sub(r"\1 and ", text), out, last=last)


def _day(figures: str, before: str) -> str:
    """A date in figures, its day first where both may be the day; nothing where it is none, or not surely."""
    if m := _DATE.fullmatch(figures):
        day, month, of = int(m[1]), int(m[2] or m[5]), m[3] or m[6]
    elif (m := _DAY.fullmatch(figures)) and before.lower() in tables.DATE_WORDS:
        day, month, of = int(m[1]), int(m[2]), ""
    else:
        return ""
    month_name, _, rest = date(of, month, day).partition(" ")
    number, comma, of_year = rest.partition(",")
    return f"the {number} of {month_name}{comma}{of_year}" if number else ""
