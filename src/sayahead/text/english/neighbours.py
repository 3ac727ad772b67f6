"""What the words after a token of figures make of it: ``3M users`` and ``at 3M``, ``a 404 error``, ``$3 to $5``.

A reading is None while the next words' characters do not tell yet, and False where they change nothing.
"""

from __future__ import annotations

import math
import re

from sayahead.text.english import tables
from sayahead.text.english.amounts import MONEY
from sayahead.text.english.grammar import read
from sayahead.text.english.left_context import Left
from sayahead.text.english.numbers import each, label, number, ordinal, pair, plural
from sayahead.text.english.units import BIG, BIG_PREFIXES, CURRENCIES, currency
from sayahead.text.shared import chemistry
from sayahead.text.shared.tokens import Joined, Parts, Right

_SECONDS = re.compile("([0-9]{1,3})s")
_COUNTDOWN = re.compile("T-([0-9]{1,3})([shd]?)")
_COUNTED = {"s": " seconds", "h": " hours", "d": " days", "": ""}
_LETTERED = re.compile(r"([0-9]+(?:\.[0-9]+)?)(M|B)")
_STATUS = re.compile("40[1345789]|41[058]|42[29]|50[1-4]")
_MONTH = "|".join(tables.MONTHS)
_DAY_AND_NEXT = re.compile(rf"({_MONTH})\.?(?:[-–]([0-9]{{0,2}}))?")
_ROUND = re.compile(r"[0-9]+(?:,[0-9]{3})*(?:\.[0-9])?")
_SECOND = re.compile(rf"((?:[0-9]+,)*[0-9]+(?:\.[0-9]+)?)({'|'.join(BIG)})?([.,;:!?)]*)")
_TO, _BETWEEN = ("to", "-", "–"), ("and", "to", "-", "–")
_OF_TEN = re.compile("([2-9])/10")
_PARTS = ("of", "inch", "inches", "mile", "miles")
_PARTS_BEGUN = frozenset(word[:n] for word in _PARTS for n in range(1, len(word) + 1))
_FAR = ("wide", "tall", "high", "long", "deep", "thick", "across")
_BY = ("x", "X", "×", "by")
_METER = re.compile("([2-9]|12)/([248]|16)")
_BEFORE_DAYS = frozenset(("", *"on from the open closed between dates during until held runs running took".split()))
_THE = frozenset("the this that your my our his her their its each every another".split())
_STARS = ("star", "stars", "stars!")
_HOUSE = re.compile("([0-9]{2,3})-([0-9]{2})")
_BEFORE_HOUSES = frozenset(("", *"at to near visit address is from lives live located".split()))
_ROADS = frozenset((*tables.ROADS, *tables.ROADS.values()))
_DAYS_OF_TWO = re.compile(rf"([0-9]{{1,2}}) ({_MONTH})\.?[-–]([0-9]{{1,2}})")


_ASIDE = ("in", "est", "Est", "Sat", "Sun")
"""Words whose meaning the next one tells."""


def _one_of(right: Right, words: str) -> bool | None:
    return right.one_of(tables.AHEAD[words], tables.AHEAD_PREFIXES[words])


def reading(core: str, raw: str, parts: Parts, left: Left, right: Right) -> str | bool | None:
    """How a token is read by what stands after it."""
    if (core in _ASIDE or core[-1] in "★dx" or raw[-1] == "-") and (
        short := _short(core, raw, parts, left, right)
    ) is not False:
        return short
    if not (core[-1].isdigit() or core[-2:-1].isdigit()):
        return False
    if m := _SECONDS.fullmatch(core):
        return _seconds(m[1], parts, left, right)
    if core.isdigit() and raw.rstrip(".,;:!?)")[-1:] in ("'", "’"):
        follows = left.word in _BY or (not parts.mark and right.one_of(_BY, ("b",)))
        if follows is not False:
            return follows and f"{number(core)} {'foot' if core == '1' else 'feet'}"
    if (m := _OF_TEN.fullmatch(core)) and left.word.lower() not in tables.DATE_WORDS | tables.STEPS and not left.each:
        follows = False if parts.mark or right.last else right.one_of(_PARTS, _PARTS_BEGUN)
        return None if follows is None else False if follows else f"{number(m[1])} out of ten"
    if (
        (m := _HOUSE.fullmatch(core))
        and not (parts.mark or left.kind)
        and (follows := _housed(left, right)) is not False
    ):
        return follows and f"{label(m[1])} {pair(m[2])}"
    if re.fullmatch(r"[0-5](?:\.5)?/5", core) and not (parts.mark or right.last):
        follows = right.one_of(_STARS, ("s", "st", "sta"))
        return follows and f"{number(core[:-2])} out of five"
    if parts.mark and core != "3M" and (core != "911" or left.before):
        return False
    if m := MONEY.fullmatch(core):
        return _money(m, left, right)
    if raw.endswith('"') and raw[:-1] == core and core.isdigit():
        follows = _one_of(right, "sizes")
        return follows and f"{number(core)} inch" + "es" * (right.body in _FAR and not left.each and core != "1")
    if core in tables.SHORT_NUMBERS and core != "911" and left.word.lower() in ("the", "a"):
        called = _one_of(right, "emergency")
        return called and each(core)
    if core == "911" and left.kind in ("", "sign"):
        called = left.before == "" or (left.word.lower() in ("a", "the") and _one_of(right, "emergency"))
        named = left.word in ("a", "the", "Porsche")
        return None if called is None else each(core) if called else named and label(core)
    if m := _LETTERED.fullmatch(core):
        return _lettered(m[1], m[2], parts, left, right)
    if (m := _METER.fullmatch(core)) and left.word.lower() in ("in", "a"):
        sure = math.gcd(int(m[1]), int(m[2])) > 1 or int(m[1]) > int(m[2])
        follows = sure or (left.word.lower() == "in" and _one_of(right, "meters"))
        return follows and f"{number(m[1])} {number(m[2])}"
    if left.kind == "label" and left.word.lower() in tables.LINKS and re.fullmatch("[0-9]{3}", core):
        initial = right.initial()
        return None if initial is None else initial.isdigit() and each(core)
    if m := _COUNTDOWN.fullmatch(core):
        likely = m[2] != "" or int(m[1]) in (*range(1, 11), 15, 20, 30, 60)
        follows = (likely and left.word.lower() not in ("a", "the")) or _one_of(right, "times")
        return follows and f"T minus {number(m[1])}{_COUNTED[m[2]]}"
    if _STATUS.fullmatch(core) and left.kind in ("", "sign"):
        cued = left.each or left.word.lower() in ("returns", "returned", "returning", "status")
        follows = cued or _one_of(right, "web")
        return follows and label(core)
    if m := _DAYS_OF_TWO.fullmatch(core):
        return _day(m[1], m[2], left) + f" to the {ordinal(int(m[3]))}"
    return False


def _short(core: str, raw: str, parts: Parts, left: Left, right: Right) -> str | bool | None:
    """Words in short: ``6 in wide`` inches, ``Sun. Aug. 3``, ``est. $5``, ``5d 18:53``, ``5★ hotel``."""
    if core == "in" and left.kind in ("one", "number") and left.word[:1].isdigit():
        ahead, begun_ = tables.AHEAD["inches"], tables.AHEAD_PREFIXES["inches"]
        measured = "by" in left.role or (not parts.mark and right.one_of(ahead, begun_))
        if measured is not False:
            single = left.kind == "one" or left.each
            return None if measured is None else "inch" if single else "inches"
    if core.isdigit() and raw == f"{core}-":
        initial = right.initial()
        return None if initial is None else initial.isdigit() and f"{number(core)} minus"
    if core[-1] == "★" and not parts.mark and not right.last and (words := read(core, Left(word="a"))):
        initial = right.initial()
        return None if initial is None else words if initial.islower() else read(core, left)
    if (m := re.fullmatch("([1-9][0-9]?)d", core)) and not parts.mark and not right.last:
        initial = right.initial()
        if initial is None or initial.isdigit():
            return None if initial is None else f"{number(m[1])} day" + ("" if m[1] == "1" else "s")
    if (m := re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)x", core)) and not parts.mark:
        follows = _one_of(right, "multiplied")
        return follows and f"{number(m[1])} times"
    if core in ("est", "Est") and parts.dotted and not right.last:
        initial = right.initial("".join(CURRENCIES))
        whole = "established" if initial and (initial.isdigit() or right.text in ("in", "by")) else "estimated"
        if initial is None or (initial in "ib" and not right.done and len(right.text) < 3):
            return None
        return whole if core == "est" else whole.capitalize()
    if parts.dotted and core in ("Sat", "Sun") and not right.last and parts.mark in ("", "."):
        dated = right.one_of(tables.MONTHS, tables.MONTH_PREFIXES)
        if dated is None:
            return None
        if dated:
            parts.mark = ""
            return tables.WEEKDAYS[core]
    return False


def _housed(left: Left, right: Right) -> bool | None:
    """Whether two numbers are a house's, since a road follows: "35-12 83rd St.", "at 30-15 Steinway Street"."""
    text = right.text
    counted, named = text[:1].isdigit(), text[:1].isupper() and left.word.lower() in _BEFORE_HOUSES
    if text and not (counted or named):
        return False
    if not right.done:
        return None if named or re.fullmatch("[0-9]*[a-z]{0,2}", text) else False
    if not (re.fullmatch("[0-9]+(?:st|nd|rd|th)", text) if counted else text.isalpha()):
        return False
    road = right.beyond.rstrip(".,;:!?)")
    if right.open:
        return None if any(name.startswith(road) for name in _ROADS) else False
    return road in _ROADS


def _seconds(digits: str, parts: Parts, left: Left, right: Right) -> str | bool | None:
    """``six 9s`` nines, ``the 5s timeout`` five second, ``in 30s`` thirty seconds; others are decades or seconds."""
    before, many = left.word.lower(), plural(number(digits))
    if before in _BY:
        return many
    if before == "from" and not parts.mark:
        if not right.done:
            return None if "to".startswith(right.text) else many
        if right.text == "to" and (right.open or re.fullmatch("[0-9]+(?:s|ms|m|min|h)[.,;:!?)]*", right.beyond)):
            return None if right.open else f"{number(digits)} seconds"
    if left.kind == "plural" or before in tables.AHEAD["numbers"]:
        return many
    tens = len(digits) == 2 and digits[1] == "0"
    if not tens and (len(digits) > 2 or int(digits) % 10 == 0):
        return False
    raised = before == "to" and not re.search("[0-9]s?$|ties$", left.before)
    if tens and (raised or before in tables.AHEAD["durations"]):
        return f"{number(digits)} seconds"
    if not left.each and (tens or before == "the"):
        lasting = False if parts.mark else _one_of(right, "lasting")
        if lasting is not False:
            return lasting and f"{number(digits)} second"
        return many if before == "the" else False
    if digits != "1" or parts.mark:
        return False
    linked = _zeros(right)
    return linked and many


def _zeros(right: Right) -> bool | None:
    """Whether zeros follow: "1s and 0s"."""
    if not right.done:
        return None if any(word.startswith(right.text) for word in ("and", "or")) else False
    if right.text not in ("and", "or"):
        return False
    return right.beyond.startswith("0s") or (None if right.open and "0s".startswith(right.beyond) else False)


def _money(m: re.Match[str], left: Left, right: Right) -> str | bool | None:
    """The first of ``$3 to $5 million``, whose noun is said once; ``$20 bills`` are no "twenty dollars bills"."""
    sign, cur, amount, glued = m.groups()
    if glued or sign or not _ROUND.fullmatch(amount):
        return False
    bill = _one_of(right, "bills")
    if bill is not False:
        return bill and f"{number(amount)} {currency(cur)[0]}"
    if left.word.lower() in _THE and (fee := _fee(right)) is not False:
        return fee and f"{number(amount)} {currency(cur)[0]}"
    links = _BETWEEN if left.word.lower() == "between" else _TO
    if not right.done:
        return None if any(link.startswith(right.text) for link in links) else False
    if right.text not in links:
        return False
    beyond = right.beyond
    if cur.startswith(beyond):
        return None if right.open else False
    if beyond.startswith(cur):
        return beyond[len(cur)].isdigit() and number(amount)
    if not (second := _SECOND.fullmatch(beyond)):
        return False
    if right.open:
        return None
    more = float(second[1].replace(",", "")) > float(amount.replace(",", ""))
    follows = more and (True if second[2] or second[3] else _scale_or_end(right))
    return follows and number(amount)


def _fee(right: Right) -> bool | None:
    """Whether what is paid follows, perhaps with a word before it: "the $54 bill", "the $54 water bill"."""
    fees, begun = tables.AHEAD["fees"], tables.AHEAD_PREFIXES["fees"]
    if (follows := right.one_of(fees, begun)) is not False:
        return follows
    if not (right.done and right.text.isalpha() and right.text.islower()) or right.text in tables.FUNCTION_WORDS:
        return None if not right.done and right.text.isalpha() and right.text.islower() else False
    return Right(right.beyond, done=not right.open).one_of(fees, begun)


def _scale_or_end(right: Right) -> bool | None:
    """Whether what stands after the second of two numbers makes money of it: "$3 to 5 million", "$3 to 5 a month"."""
    far = right.far.rstrip(".,;:!?)")
    if not right.far_open:
        return not far or far in BIG or far in tables.AHEAD["priced"]
    begins = far in BIG_PREFIXES or far in BIG or far in tables.AHEAD_PREFIXES["priced"]
    return None if begins or not right.far else False


def _lettered(amount: str, letter: str, parts: Parts, left: Left, right: Right) -> str | bool | None:
    """``7B parameters`` billion, ``a 7B model`` B; ``3M`` is a company unless something is counted."""
    if letter == "B":
        follows = _one_of(right, "counted")
        return follows and f"{number(amount)} billion"
    if (dissolved := molar(right)) is not False:
        return dissolved and f"{number(amount)} molar"
    if amount != "3" or left.kind:
        return False
    placed = left.word.lower() in ("at", "from", "like", "company")
    if parts.mark or right.last:
        return "three M" if placed or not left.before else False
    capital = right.capital()
    if capital is not False:
        return capital and "three M"
    if placed:
        follows = _one_of(right, "counted")
        return follows if follows is None else False if follows else "three M"
    follows = _one_of(right, "company")
    return follows and "three M"


def molar(right: Right) -> bool | None:
    """Whether what follows is dissolved: "0.1M NaOH", "a 6 M HCl solution", "2M sodium acetate"."""
    follows = _one_of(right, "dissolved")
    if follows is not False or not right.text[:1].isupper():
        return follows
    if right.done:
        return chemistry.whole(right.body)
    return None if chemistry.begun(right.body) else False


def join(core: str, left: Left, right: Right) -> Joined[str] | bool | None:
    """Figures with the month after them: ``3 March``, ``5-7 May``, ``20 Dec.-3 Jan.``"""
    if m := _DAYS_OF_TWO.fullmatch(core):
        follows = right.one_of(tables.MONTHS, tables.MONTH_PREFIXES)
        words = f"{_day(m[1], m[2], left)} to {_day(m[3], right.body, Left())}" if follows else ""
        return follows and Joined(right.body, words)
    if left.kind not in ("", "sign") or left.word.lower() in tables.UNCOUNTED:
        return False
    days = core.replace("–", "-").split("-")
    if not all(len(day) < 3 and day.isdigit() and 1 <= int(day) <= 31 for day in days):
        return False
    if len(days) == 1 and (m := _DAY_AND_NEXT.fullmatch(right.text)) and "-" in m[0].replace("–", "-"):
        return (m[2] != "" and Joined(f"{core} {right.text}")) if right.done else None
    if len(days) > 1 and left.word.lower() not in _BEFORE_DAYS:
        return False
    follows = right.one_of(tables.MONTHS, tables.MONTH_PREFIXES)
    if not follows:
        return follows
    the = "" if left.word.lower() == "the" else "the "
    to = " to the ".join(ordinal(int(day)) for day in days)
    return Joined(right.body, f"{the}{to} of {tables.MONTHS[right.body]}")


def _day(day: str, month: str, left: Left) -> str:
    return f"{'' if left.word.lower() == 'the' else 'the '}{ordinal(int(day))} of {tables.MONTHS[month]}"


def verse(right: Right) -> bool | None:
    """Whether chapter and verse follow: "Gen. 1:3"."""
    figures, colon, after = right.text.partition(":")
    if not right.done and (not right.text or (figures.isdigit() and not after)):
        return None
    return figures.isdigit() and colon != "" and after[:1].isdigit()
