"""Abbreviations, by what stands beside them: a number, an ordinal, the noun they agree with, a word in small letters.

A reading is None while the next word's characters do not tell yet, and False where there is none.
"""

from __future__ import annotations

from typing import Literal

from sayahead.text.shared.amounts import agreeing, numbers_of
from sayahead.text.shared.dates import week
from sayahead.text.shared.grammar import read, roman
from sayahead.text.shared.record import Record, prefixes
from sayahead.text.shared.tokens import Parts, Right
from sayahead.text.shared.words import Left, Said

_NUMERAL = frozenset("IVXLC")


def reading(parts: Parts, left: Left, right: Right, record: Record) -> Said | Literal[False] | None:
    """What an abbreviation, with its full stop or without one, stands for."""
    core = parts.core
    if not parts.dotted and core not in record.short_forms:
        return False
    form = core + ("." if parts.dotted else "")
    if core == "c/" and record.every and (each := _every(right, record)) is not False:
        return each and Said(record.every, Left(word=core, before=left.word))
    if noun := ranked(form, left, record):
        return Said(noun, Left(word=core, before=left.word))
    if (numbered := _before_number(core, form, parts, left, right, record)) is not False:
        return numbered
    counted = left.kind == "number" and (core in record.units or form in record.units)
    if (small := record.before_small.get(form)) and not counted:
        initial = right.initial()
        opened = left.word in record.openers or left.word in record.articles  # "la c/ Mayor"
        inner = form == "c/" and left.word[:1].islower() and not opened  # "compatible c/ Windows"
        if initial is None or initial.islower() or inner:
            parts.mark = parts.mark.rstrip(".")
            return None if initial is None else Said(small, Left(word=core, before=left.word))
    if not parts.dotted:
        return False
    if parts.mark == "," and core in record.weekdays and f"{core}." in record.never_ends:  # "Di. u. Fr., ab 8 Uhr"
        return Said(record.weekdays[core], Left(word=core, before=left.word))
    linked = left.word in (record.and_word, record.until) and left.before.rstrip(".").lower() in record.days_of_week
    if linked and core in record.weekdays:  # "Mo. bis Fr.", "seg. e qua."
        return Said(record.weekdays[core], Left(word=core, before=left.word))
    beside: Left | None = left
    if "/" in record.abbreviations.get(form, record.abbreviations.get(form[:1].lower() + form[1:], "")):
        beside = _noun(parts, left, right)
    if beside is None:
        return None
    if short := _short(core, left, beside, record):
        return short
    if (cut := _cut_short(core, parts, left, right, record)) is not False:
        return cut
    if "." in core and (parted := _hyphened(core, record)):
        return Said(parted, Left(record.cues.get(core.lower(), ""), core, before=left.word))
    return _weekday(core, parts, right, left, record)


def known(form: str, record: Record) -> bool:
    """Whether a form with its full stop is an abbreviation."""
    return form in record.abbreviations or form in record.before_number


def ranked(form: str, left: Left, record: Record) -> str:
    """What an abbreviation means after an ordinal, or nothing: ``4º and.``, ``3. OG``."""
    if not (left.kind == "ordinal" or (left.kind == "day" and left.word[:1].isdecimal())):
        return ""
    return record.after_ordinal.get(form) or record.after_ordinal.get(form.rstrip("."), "")


def _every(right: Right, record: Record) -> bool | None:
    """Whether a length of time follows: ``c/ 8 h``."""
    if not right.text or (right.text.isdecimal() and not (right.done and (right.beyond or not right.open))):
        return False if right.done and not right.text else None
    last = Right(right.beyond, done=not right.open)
    times = frozenset(name for name in ("h", "hs", "h.", "min", "s", "horas", "días", "d") if name in record.units)
    return right.text.isdecimal() and last.one_of(times, prefixes(times))


def _before_number(
    core: str, form: str, parts: Parts, left: Left, right: Right, record: Record
) -> Said | Literal[False] | None:
    """``S. 5``, ``cap. IV``, ``los km 3 y 5``: what is short for something only before a number."""
    name = record.before_number.get(form) or record.before_number.get(core if not parts.mark else form)
    if name is None or (left.kind == "number" and (core in record.units or form in record.units)):
        return False
    initial = right.initial()
    if initial is None:
        return None
    if right.text and set(right.text) <= _NUMERAL and not right.done:
        return None
    if initial.isupper() and len(core) > 1 and len(right.text) == 1 and not right.done:
        return None
    lettered = len(core) > 1 and len(right.body) == 1 and initial.isupper() and right.text[1:2] != "."
    if not (initial.isdecimal() or lettered or (roman(right.body) and (len(right.body) > 1 or right.body in "IVX"))):
        return False
    parts.mark = parts.mark.rstrip(".")
    one, _, many = name.partition("/")
    said = many if many and left.word.lower() in record.many_days else one
    return Said(said, Left("label", core, before=left.word))


def _short(core: str, left: Left, noun: Left, record: Record) -> Said | None:
    """An abbreviation with its full stop, or a unit that has one."""
    form = core + "."
    if left.kind == "number" and (form in record.units or core in record.units or form in record.scales):
        counted = form in record.units or form in record.scales
        return read(form, left, record) if counted and form != core else None
    if form in record.abbreviations:
        said = agreeing(record.abbreviations[form], noun, record)
        of_day = left.form if left.kind == "day" else ""  # "am 1. u. 3. Mai"
        agreed = "/" in record.abbreviations[form]
        said = said if agreed or not _several(left, record) else _plural(said, core, record)
        meant = (noun.noun or noun.word) if agreed else said
        return Said(said, Left(record.cues.get(core.lower(), ""), core, before=left.word, form=of_day, noun=meant))
    for end, reading in record.suffixes.items():
        if form.endswith(end) and len(form) > len(end) + 1:
            return Said(form.removesuffix(end) + reading, Left(word=core, before=left.word))
    whole = record.abbreviations.get(form[:1].lower() + form[1:])
    if whole and core[1:].islower():
        said = agreeing(whole, noun, record)
        return Said(said[0].upper() + said[1:], Left(word=core, before=left.word))
    return None


def _noun(parts: Parts, left: Left, right: Right) -> Left | None:
    """The noun that an abbreviation agrees with: before it, or where a sentence begins after it ("Próx. parada")."""
    if left.word or parts.mark != "." or right.last:
        return left
    if not right.done:
        return None
    return Left(word=right.body) if right.body.isalpha() and right.body.islower() else left


def _cut_short(core: str, parts: Parts, left: Left, right: Right, record: Record) -> Said | Literal[False] | None:
    """``antib.``, ``gtos.``: a word of the list that is cut short, as what stands beside it asks for."""
    if (core in record.units or f"{core}." in record.units) and left.kind in ("number", "time", "hours"):
        return False
    if (cut := record.cut_words.of(core, sure=parts.mark in (",", ";", ":"))) is None:
        return False
    if core[0].isupper() and left.word[:1].isupper() and not record.capital_nouns and parts.mark == ".":
        initial = "" if right.last else right.initial()
        if initial is None or right.last or initial.isalpha():  # "Juan Mart. llegó": a name.
            return None if initial is None else False
    many = (left.kind == "number" and not left.one) or _several(left, record)
    said = meant = cut.many if many else cut.one
    if cut.other and left.kind != "number":
        if (noun := _noun(parts, left, right)) is None:
            return None
        said, meant = agreeing(f"{cut.one}/{cut.other}", noun, record), noun.noun or noun.word
    return Said(said, Left(record.cues.get(said.lower(), ""), said, before=left.word, noun=meant))


def _several(left: Left, record: Record) -> bool:
    """Whether the word before it is an article of several things: "las temp."."""
    return left.word.lower() in record.plurals


def _plural(said: str, core: str, record: Record) -> str:
    """What several of the things that an abbreviation stands for are called, as far as that is known."""
    cut = record.cut_words.of(core, sure=True)
    if cut and cut.one == said != cut.many:
        return cut.many
    return f"{said}s" if record.plural_s and said[-1] in "aeo" and said.isalpha() else said


def _hyphened(core: str, record: Record) -> str:
    """``Kd.-Nr.``, ``3-Zi.-Whg.``: abbreviations in one word, the last without its full stop; nothing if it is none."""
    if days := week(core, record):
        return days
    *some, last = core.split("-")
    words = [
        record.abbreviations.get(part, "").partition("/")[0]
        or record.before_number.get(part, "").partition("/")[0]
        or (cut.one if (cut := record.cut_words.of(part.rstrip("."))) and "." in part else "")
        or _counted(part, record)
        for part in (*some, f"{last}.")
    ]
    return " ".join(words) if some and all(words) else ""


def _counted(part: str, record: Record) -> str:
    """A number, a unit or a word as it stands, within a word of several."""
    if part in record.units:
        return record.units[part].many
    if part.isdecimal():
        return numbers_of(record).cardinal(int(part), "")
    return part if part.isalpha() else ""


def _weekday(core: str, parts: Parts, right: Right, left: Left, record: Record) -> Said | Literal[False] | None:
    """A weekday in short that is a word, too, where its full stop ends nothing: ``lun., mer. et ven.``"""
    if core.lower() not in record.weekdays:
        return False
    initial = "a" if parts.mark == "," else right.initial()
    if initial is None or not (initial.islower() and record.numbers):
        return None if initial is None else False
    parts.mark = parts.mark.rstrip(".")
    return Said(record.weekdays[core.lower()], Left(word=core, before=left.word))
