"""Measures: units after a number or right at it, and what they are divided by."""

from __future__ import annotations

import re
from dataclasses import replace

from sayahead.text.classes.quantity import (
    Amount,
    amount_in,
    amount_of,
    counted,
    named_unit,
    noun_after,
    noun_of,
    number,
    per_unit,
    unit_in,
    worth,
)
from sayahead.text.classes.verbalize import cardinal
from sayahead.text.reading.context import NUMBER, Match, Reading, meant
from sayahead.text.reading.words import Words

UNSURE = "unsure_units"
"""A table of units that are other words, too: after a space only in "5 ft 10 in", "a 6 in pipe"."""
LETTERS = frozenset("ABCFT")
"""Units that are letters of seats, houses and classes after small whole numbers."""
HOURS = ("h",)
"""Units after whose number another of two figures is one of minutes, without [hours]."""
MAX_LABEL = 200
MAX_STARS = 5
ELECTRIC = frozenset(("V", "W", "kW", "Hz", "Ω", "mA", "VA", "kVA", "Wh", "kWh", "Ah", "mAh"))
"""Units beside which A is an ampere, as it is after what a language's table [vocabulary electrical]
names."""
ELECTRICAL = frozenset(("electrical", "after:electrical"))


def before(match: Match) -> Reading | None:
    """A number that has several forms, in that of the unit behind it."""
    amount = amount_in(match)
    noun = unit_in(match)
    numbers = match.numbers
    is_noun = match["u"].lower() in match.record.table("genders")
    if is_noun or amount.decimals or not numbers.varies(amount.whole):
        return None
    is_one = numbers.singular(amount.value)
    words = number(amount, noun.gender)
    return Reading(words, NUMBER, is_one=is_one, is_million=amount.is_million)


def unit(match: Match) -> Reading | None:
    """What the number before it is of."""
    is_unsure = match["u"] in match.language.vocabularies.get(UNSURE, ())
    return None if is_unsure and "measured" not in match.context.tags else sure_unit(match)


def part(match: Match) -> Reading:
    """What a unit is of, before it: "square" feet."""
    words = unit_in(match).one
    return Reading(words, NUMBER, is_one=match.context.is_one, word=match.context.word)


def sure_unit(match: Match) -> Reading | None:
    """A unit, whatever else it may be elsewhere."""
    name = match["u"]
    count = amount_of(match.context.word, match.language)
    noun = unit_in(match, worth(match.context.word, match.language))
    if _is_letter(match, count):
        return None
    return Reading(
        noun_after(noun, match.context, match.language), _tags(name, match), noun=noun.many
    )


def glued(match: Match) -> Reading | None:
    """``5km``, ``3.5GB``, ``10–15kg``: a number, or a range, and its unit."""
    amount = replace(amount_in(match), is_attributive=match.is_attributive)
    noun = unit_in(match, amount.value)
    low = amount_in(match, "m") if match["m"] else None
    if _is_letter(match, amount) or (low and low.value >= amount.value):
        return None
    begin = f"{number(low, noun.gender)} {match.record.until} " if low else ""
    return Reading(begin + counted(amount, noun), _tags(match["u"], match), noun=noun.many)


def _tags(name: str, match: Match) -> frozenset[str]:
    """What a unit means for the next token."""
    is_hours = name in (match.record.table("hours") or HOURS)
    return frozenset({"hours"} if is_hours else {"electrical"} if name in ELECTRIC else ())


def compound(match: Match) -> Reading | None:
    """``10-km-Lauf``: a unit within a word."""
    amount = amount_in(match)
    noun = unit_in(match)
    if _is_letter(match, amount):
        return None
    unit = noun.one if match.record.single_units else noun_of(noun, amount)
    words = f"{number(amount, noun.gender)} {unit}"
    return Reading(f"{words} {match['w']}", word=match["w"])


def _is_letter(match: Match, amount: Amount | None) -> bool:
    """Whether a capital after a whole number is a letter: a seat, a house, a class."""
    if "label" in match.context.tags and len(match["u"].rstrip(".")) == 1:
        return True
    if match["u"] not in LETTERS or amount is None or amount.decimals or amount.sign:
        return False
    return amount.whole < MAX_LABEL and ELECTRICAL.isdisjoint(match.context.tags) and not match["e"]


def per(match: Match) -> Reading | None:
    """What an amount is counted for each of; after a number alone a capital is a letter:
    ``5/A``."""
    is_letter = (
        len(match["u"]) == 1 and match["u"].isupper() and "measure" not in match.context.tags
    )
    if is_letter and "money" not in match.context.tags:
        return None
    return Reading(per_unit(match["u"], match.language), word=match["u"])


def per_many(match: Match) -> Reading:
    """``/100 km``: several of a unit."""
    amount = amount_in(match)
    record = match.record
    words = f"{record.per_many or record.per} {number(amount)}"
    return Reading(words, NUMBER, is_one=match.numbers.singular(amount.value))


def per_many_glued(match: Match) -> Reading:
    """``/100km``: several of a unit, which touches its number."""
    per = match.record.per_many or match.record.per
    return Reading(f"{per} {counted(amount_in(match), unit_in(match))}")


def size(match: Match) -> Reading:
    """``30 x 20 x 12 cm``, ``L x A x H``: what is said between the sides may be another word than
    in a product."""
    record = match.record
    sides = re.split(r" ?[xX×] ?", match.text)
    is_size = len(sides) > 2 or match["u"] or match.text[0].isalpha()
    between = record.sized if record.sized and is_size else record.over("x")
    words = [_side(side, match.language) for side in sides]
    return Reading(f" {between} ".join(words), NUMBER if sides[-1][0].isdecimal() else frozenset())


def _side(text: str, language: Words) -> str:
    """A side of a size: a number or a letter."""
    return text if text.isalpha() else number(meant(amount_of(text, language)))


def stars(match: Match) -> Reading | None:
    """``4*``: of a hotel."""
    amount = amount_in(match)
    return Reading(counted(amount, named_unit(match, "★"))) if amount.whole <= MAX_STARS else None


def angle(match: Match) -> Reading | None:
    """``48°51′24″N``: degrees, minutes, seconds, and which way they go."""
    record = match.record
    units = iter(("°", "min", "s"))
    words = []
    for text in re.findall(r"-?\d+(?:[.,]\d+)?", match.text):
        amount = amount_of(re.sub(r"^0(?=\d$)", "", text), match.language)
        noun = record.units.get(next(units))
        if amount is None or noun is None:
            return None
        words.append(counted(amount, noun))
    return Reading(" ".join([*words, record.table("compass").get(match["w"], "")]).strip())


def minutes(match: Match) -> Reading:
    """``52'``: of a game or of an angle; four figures are a year's."""
    return _primed(match, "′")


def inches(match: Match) -> Reading:
    """``27"``; after minutes they are seconds."""
    is_second = "minutes" in match.context.tags
    return _primed(match, "s" if is_second else "″")


def _primed(match: Match, name: str) -> Reading:
    noun = named_unit(match, name)
    amount = replace(amount_in(match), is_attributive=match.is_attributive)
    tags = frozenset(("minutes",) if name == "′" else ())
    return Reading(counted(amount, noun), tags, noun=noun.many)


def every(match: Match) -> Reading | None:
    """``c/8 h``: how often."""
    word = match.record.every
    noun = unit_in(match)
    amount = amount_in(match)
    if not word:
        return None
    words = f"{word} {number(amount, noun.gender)}"
    return Reading(words, NUMBER, is_one=match.numbers.singular(amount.value))


def each(match: Match) -> Reading | None:
    """``de 8/8 h``: a length of time that is given twice."""
    first, _, last = match.text.partition("/")
    many = cardinal(match["n"], match.language, "f")
    link = match.record.each_in
    return Reading(f"{many} {link} {many}", NUMBER) if link and first == last else None
