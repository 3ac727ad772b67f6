"""What the words beside a token make of it: ``$3 a 5 millones``, ``3M``, ``0,1 M NaOH``, ``4 mar.``, ``#MeToo``.

A reading is None while the next words' characters do not tell yet, and False where they change nothing.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Literal

from sayahead.text.shared import amounts, angles, chemistry, months, sizes
from sayahead.text.shared.grammar import read, roman
from sayahead.text.shared.ordinals import dot_ordinal, month_follows
from sayahead.text.shared.record import Record, prefixes, prefixes_of
from sayahead.text.shared.tokens import Parts, Right
from sayahead.text.shared.words import Left, Said

Beside = Said | Literal[False] | None
_HASHTAG = re.compile(r"[^\w#]*#[^\W\d_]")
_OF_VERB = re.compile(r"un[oa']?|una|il|lo|la|i|gli|le|el|los|las|[^\W\d_]+(?:[aiu]do|[aiuoecr]to|so|cho)")
_DASHES = ("-", "–")
_SHARES = re.compile(r"([0-9]{1,2})/\1")
_ELIDED_PART = re.compile(r"([^\W\d_]+['’])(1/(?:[2-9]|10))")
_TERM = re.compile("([0-9]{1,3})([x-z])")
_MULTIPLE = re.compile("([0-9]{1,3})[x×]")
_DAYS = re.compile("(?:[0-9]{1,2}/){1,2}[0-9]{1,2}")
_PRESSURE = re.compile("([1-9][0-9]{1,2})/([1-9][0-9]{1,2})")
_ACCOUNT = re.compile("[A-Z]{2}[0-9]{2}")
_DAY_AND_MONTH = re.compile("([12]?[0-9]|3[01])/([1-9]|1[0-2])")
_OPERATORS = frozenset("+-−=<>≤≥·×*^)")
_DEGREES = re.compile("[0-9]{1,2}°")
_MOLAR = re.compile(r"([0-9]+(?:[.,][0-9]+)?)M")


def reading(parts: Parts, raw: str, left: Left, right: Right, record: Record) -> Beside:
    """How a token is read by what stands beside it."""
    core = parts.core
    calendar = left.kind in ("number", "month", "day") or core.lower() in record.short_months
    if calendar and (dated := months.reading(parts, left, right, record)) is not False:
        return dated
    crossed = len(core) == 1 or core[0].isdecimal() or "x" in core or "×" in core
    if crossed and (sized := sizes.reading(parts, left, right, record)) is not False:
        return sized
    if not left.kind and "#" not in raw and core.isalpha() and core.islower():
        return False
    if (turned := angles.reading(parts, left, right, record)) is not False:
        return turned
    if left.kind == "number" and core in record.verbs and not (parts.mark or right.last):
        initial = "0" if left.before.istitle() else right.initial()  # "Il Frecciarossa 9571 ha 35 minuti"
        follows = initial is not None and (initial.isdecimal() or (_verb(right) if initial.islower() else False))
        if initial is None or follows is None or follows:
            return None if not (initial and follows) else Said(core, Left(word=core, before=left.word))
    if len(core) == 4 and core.isupper() and _ACCOUNT.fullmatch(core) and not parts.mark:
        return _account(core, right, record)
    if core.isupper() and (wind := _compass(core, left, record)):
        return wind
    if "*" in raw and (stars := _stars(core, raw, left, right, record)) is not False:
        return stars
    if "#" in raw and (tagged := _tagged(core, raw, left, record)):
        return tagged
    gender = record.articles.get(left.word.lower())
    if (
        gender
        and not (parts.mark or record.dot_ordinals)
        and len(core) < 5
        and set(core) <= set("IVX")
        and (value := roman(core))
    ):
        return _numbered(value, gender, right, record)
    if left.kind == "money" and left.form and not parts.mark:
        link = record.of(left.form).removesuffix(left.form).strip()
        if link and core == f"{link}{left.form}":
            return Said("", left)
        if link and core == link:
            follows = right.one_of((left.form,), prefixes(frozenset((left.form,))))
            return follows and Said("", left)
    if (m := _ELIDED_PART.fullmatch(core)) and not parts.mark and record.cues.get(m[1].lower()) == "day":
        return _shared(m[1], m[2], right, record)
    if core == "3M":
        return _company(parts, left, right, record)
    if core[-1] == "M" and ((core == "M" and left.kind == "number") or _MOLAR.fullmatch(core)):
        return _molar(core, left, right, record)
    if (m := _TERM.fullmatch(core)) and (term := _term(m, parts, left, right, record)) is not False:
        return term
    degrees = core[-1] == "°" and "°" in record.ordinal_suffixes and "°" in record.units
    if degrees and _DEGREES.fullmatch(core):
        return _degrees(core[:-1], right, record)
    if record.multiplied and (m := _MULTIPLE.fullmatch(core)):
        initial = "" if parts.mark or right.last else right.initial()
        if initial is None or initial.isdecimal():
            return None if initial is None else False
        return Said(f"{amounts.number(m[1], record, 'f')} {record.multiplied}", Left(word=core, before=left.word))
    return _numbers(parts, left, right, record) if core[-1].isdecimal() else False


def _degrees(figures: str, right: Right, record: Record) -> Beside:
    """``de 5° a -10 °C``: degrees, where others follow to which they go."""
    links = (record.until, "para", "hasta")
    if not (linked := right.one_of(links, prefixes(frozenset(links)))):
        return linked
    if not right.done or (right.open and not right.beyond):
        return None
    if not re.match("[-−–]?[0-9]", right.beyond):
        return None if right.open and right.beyond in ("-", "−", "–") else False
    return Said(amounts.counted(figures, record.units["°"], record), Left("degree", figures))


def _verb(right: Right) -> bool | None:
    """Whether what follows a form of "have" is its object or its participle: "la tarjeta 12 ha cambiado"."""
    return _OF_VERB.fullmatch(right.body) is not None if right.done else None


def _numbers(parts: Parts, left: Left, right: Right, record: Record) -> Beside:
    """Days of a month, a pressure, a length of time that is given twice, an ordinal, the first of two amounts."""
    core = parts.core
    if left.word.lower() in record.many_days and _DAYS.fullmatch(core):
        follows = right.one_of(record.months, prefixes_of(record, "months"))
        *some, last = (amounts.number(day, record) for day in core.split("/"))
        days = f"{', '.join(some)} {record.and_word} {last}"
        return follows and Said(days, Left("day", core, before=left.word))
    dated = "/" in core and record.dated_at and not (left.kind or parts.mark)
    if dated and (m := _DAY_AND_MONTH.fullmatch(core)):
        follows = right.one_of(record.dated_at, prefixes(record.dated_at))
        if follows is not False:
            date = amounts.numbers_of(record).dated(int(m[1]), int(m[2]), None, left)
            return follows and Said(date, Left("date", core, before=left.word))
    if record.pressure and (m := _PRESSURE.fullmatch(core)):
        measured = right.one_of(("mmHg",), ("m", "mm", "mmH"))
        words = f" {record.pressure} ".join(amounts.number(part, record) for part in m.groups())
        return measured and Said(words, Left("number", core))
    if record.each_in and left.word.lower() == record.each_from and (m := _SHARES.fullmatch(core)):
        follows = right.one_of(record.each_units, prefixes_of(record, "each units"))
        many = amounts.number(m[1], record, "f")
        return follows and Said(f"{many} {record.each_in} {many}", Left("number", core))
    if record.every and (m := re.fullmatch("[cC]/([0-9]{1,2})", core)):
        follows = right.one_of(record.units, prefixes_of(record, "units"))
        return follows and Said(f"{record.every} {amounts.number(m[1], record, 'f')}", Left("number", m[1]))
    if record.dot_ordinals and not parts.mark and re.fullmatch("[1-9]|[12][0-9]|3[01]", core):
        named = record.cues.get(left.word.lower()) == "ordinal" and month_follows(right, record)
        return named and dot_ordinal(core, left, right, record)
    return False if parts.mark else _first_of_two(core, left, right, record)


def _term(m: re.Match[str], parts: Parts, left: Left, right: Right, record: Record) -> Beside:
    """``2x`` in a sum, where it is no "two times"."""
    reading = Said(f"{amounts.number(m[1], record)} {m[2]}", Left("number", m[0], before=left.word))
    if left.word in _OPERATORS or m[2] != "x":
        return reading
    if parts.mark or right.last:
        return False
    if not right.text:
        return None if not right.done else False
    return reading if right.text[0] in _OPERATORS and right.text != ">" else False


def _account(core: str, right: Right, record: Record) -> Beside:
    """``DE89 3704 …``: the first group of an account's number, if a group of four follows."""
    if not right.done:
        group = right.text.isalnum() and right.text.upper() == right.text and len(right.text) < 5
        return None if not right.text or group else False
    if not (re.fullmatch("[0-9A-Z]{4}", right.body) and any(map(str.isdecimal, right.body))):
        return False
    return Said(f"{core[0]} {core[1]} {amounts.figures(core[2:], record)}", Left("code", core))


def _compass(core: str, left: Left, record: Record) -> Said | None:
    """``viento del SE``, ``vent de S.-O.``: where a wind comes from."""
    point = record.compass.get(re.sub("[.-]", "", core))
    winds = point and "wind" in (record.cues.get(left.word.lower()), record.cues.get(left.before.lower()))
    return Said(point, Left(word=core, before=left.word)) if point and winds else None


def _stars(core: str, raw: str, left: Left, right: Right, record: Record) -> Beside:
    """``Hotel 4*``, ``un 5* hotel``: stars of a hotel."""
    if not (core in "12345" and "★" in record.units and re.search(r"[1-5]\*(?!\*)", raw)):
        return False
    stars = Said(amounts.counted(core, record.units["★"], record), Left("measure", "★"))
    if left.word.lower() in record.hotels or (left.word[:1].isupper() and left.before[:1].isupper()):
        return stars
    follows = Right(right.text.lower(), right.done).one_of(record.hotels, prefixes_of(record, "hotels"))
    return follows and stars


def _tagged(core: str, raw: str, left: Left, record: Record) -> Said | None:
    """``#MeToo``, ``#-Taste``."""
    if _HASHTAG.match(raw) and core[0].isalpha():
        rest = read(core, Left(), record)
        return replace(rest, text=f"{record.hashtag} {rest.text}")
    m = re.fullmatch(r"\W*#-([^\W\d_].*?)\W*", raw)
    return Said(f"{record.sign('#')} {m[1]}", Left(word=core, before=left.word)) if m else None


def _numbered(value: int, gender: str, right: Right, record: Record) -> Beside:
    """``la II Guerra Mundial``: an ordinal where a noun follows; a single ``I`` only before a war."""
    if value == 1:
        follows = right.one_of(record.wars, prefixes_of(record, "wars"))
    else:
        initial = right.initial()
        follows = None if initial is None else initial.isalpha()
    return follows and Said(amounts.numbers_of(record).ordinal(value, gender), Left(word=record.tag))


def _shared(article: str, share: str, right: Right, record: Record) -> Beside:
    """``l'1/3 dei voti``: a part of what "of" stands before; a date elsewhere."""
    initial = right.initial()
    of = record.of("x")[0]
    return None if initial is None else initial == of and Said(article + amounts.fraction(share, record))


def carried(parts: Parts, raw: str, left: Left, record: Record) -> None:
    """Give a number its sign: of two amounts the second that of the first (``$3 a 5 millones``), ``–5`` a minus."""
    if raw[0] in "-−" and parts.core in record.currencies:
        parts.core = f"-{parts.core}"
    if raw[0] == "–" and parts.core[:1].isdecimal() and left.kind not in ("number", "time", "money", "day", "sum"):
        parts.core = f"-{parts.core}"
    if left.kind == "sum" and left.form and parts.core[:1].isdecimal():
        parts.core = left.form + parts.core


def _first_of_two(core: str, left: Left, right: Right, record: Record) -> Beside:
    """The number of ``$3 a 5 millones``, whose currency is said after the second."""
    if not (price := amounts.prefixed(core, record)):
        return False
    links = (record.and_word if left.word.lower() in record.between_words else record.until, *_DASHES)
    if not right.done:
        return None if any(link.startswith(right.text) for link in links) else False
    second = re.match(rf"({record.number})(.*)", right.beyond)
    if right.text not in links or (right.beyond and not second):
        return False
    if second is None or right.open:
        return None if right.open else False
    if amounts.value_of(second[1], record) <= amounts.value_of(price[1], record):
        return False
    scaled = second[2].strip(".,;:!?)") in record.scales if second[2] else _scale(right, record)
    if not scaled:
        return scaled
    sign = core[: len(core) - len(price[1])]
    return Said(amounts.number(price[1], record), Left("sum", core, form=sign))


def _scale(right: Right, record: Record) -> bool | None:
    """Whether the number after the next word is followed by a million."""
    far = Right(right.far, done=not right.far_open)
    return far.one_of(record.scales, prefixes_of(record, "scales"))


def _company(parts: Parts, left: Left, right: Right, record: Record) -> Beside:
    """``3M`` is the company where a sentence begins with it or "bei" stands before it, and nothing is counted."""
    if left.before and left.word.lower() not in record.firms:
        return False
    reading = Said(f"{amounts.number('3', record)} M", Left(word="3M", before=left.word))
    if parts.mark or right.last:
        return reading
    initial = right.initial("€$£¥")
    if initial is None:
        return None
    if not initial.isalpha() or (record.capital_nouns and initial.isupper()):
        return False
    if not right.done:
        return None
    return False if re.fullmatch(record.counted, right.body.lower()) else reading


def _molar(core: str, left: Left, right: Right, record: Record) -> Beside:
    """``0,1 M NaOH``, ``NaOH 0,1 M``: moles a liter, where a formula stands beside it."""
    head = "" if core == "M" else amounts.number(core[:-1], record) + " "
    reading = Said(head + record.molar, Left(word=core, before=left.word))
    if chemistry.whole(left.word if head else left.before):
        return reading
    if not right.text:
        return None if not right.done else False
    if right.done:
        return reading if chemistry.whole(right.body) else False
    return None if chemistry.begun(right.body) else False
