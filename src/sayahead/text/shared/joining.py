"""What a token is, and what the beginning of the next one may still make of it: the waits, all from the record.

The questions (``join``, ``said``, ``ends``, ``dated``) answer None while the next token's characters do not tell yet.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from typing import Literal

from sayahead.text.shared import abbreviations, amounts, neighbours, slashes, spoken_of
from sayahead.text.shared.dates import DAY_AND_MONTH, week
from sayahead.text.shared.grammar import RANGE, read, roman
from sayahead.text.shared.neighbours import carried
from sayahead.text.shared.ordinals import DAYS, days, dot_ordinal, month_follows, starts
from sayahead.text.shared.prices import PRICES
from sayahead.text.shared.punctuation import ENDING, fold, shown
from sayahead.text.shared.record import CURRENCIES, Record, prefixes, prefixes_of
from sayahead.text.shared.tokens import GLUED, Joined, Parts, Right, Token
from sayahead.text.shared.words import Left, Said

_GROUPED = re.compile(r"[+-]?[1-9][0-9]{0,2}(?: [0-9]{3})*")
_GROUP = re.compile(r"[0-9]{3}(?:\.?[ºª°ᵉ]|(?![0-9./:-]))")
_PHONE = re.compile(r"\(?\+[0-9]{1,3}\)?")
_POINTED = re.compile(r"(?:[01]?[0-9]|2[0-3])\.[0-5][0-9]")
_ELIDED = re.compile(r"([^\W\d_]+['’])([^\W\d_]{2,})")
_ABBREVIATED = re.compile(r"[0-9]+[/.-]?[^\W\d_]{2,4}")
"""A number and what is in short in one: ``15/fev.``, ``30min.``"""
_LISTED = re.compile("([0-9]{1,2})([a-h])")
_HALVES = frozenset(("a.", "p.", "am", "pm", "a.m", "p.m", "a.m.", "p.m."))
_SUMS = frozenset("+ - − = × · * ÷ / < > ≤ ≥ ≈ ≠".split())
_OPENING = re.compile("(?:[6-9]|1[0-9]|2[0-4])[-–](?:[7-9]|1[0-9]|2[0-4])")
_LONG_HOURS = 6
_LONGEST_WORD = 9
_LONGEST_ABBREVIATION = 4
_VOWELS = "aeiouyæøœıəαεηιουωаеёиоуыэюяіїєў"


def join(parts: Parts, token: Token[Said], left: Left, right: Right, record: Record) -> Joined[Said] | bool | None:
    """What the token and the next are together, or False if they stay apart."""
    if token.said is not None or not parts.core:
        return False
    carried(parts, token.raw, left, record)
    form = parts.core + ("." if parts.dotted else "")
    if record.phrases and (not parts.mark or parts.dotted):
        both = f"{form} {right.text}"
        begins = right.done and form in prefixes_of(record, "phrase starts")
        if begins and (three := _three_words(both, right, record)) is not False:
            return three and Joined(both.removesuffix("."))
        forms = (both, both.rstrip(',;:!?)»“"'), both.rstrip('.,;:!?)»“"'))
        phrase = next((key for key in forms if key in record.phrases), "")
        if right.done and phrase:
            one, _, many = record.phrases[phrase].partition("/")
            kind = record.cues.get(one.replace(" ", "-"), "")
            return Joined(phrase, Said(one if left.one or not many else many, Left(kind, phrase)))
        if not right.done and (phrase or both in prefixes_of(record, "phrases") or f"{form} " == both):
            starts = form in prefixes_of(record, "phrase starts") or phrase
            if starts:
                return None
    core = parts.core.lstrip("-~≈<>")
    if record.numbers is None or parts.mark or not (any(map(_counts, core)) or core in record.currencies):
        return False
    for rule in (_grouped, _mixed, _timed, *PRICES):
        joined = rule(parts.core, left, right, record)
        if joined is not False:
            return joined
    return False


def _three_words(both: str, right: Right, record: Record) -> bool | None:
    """Whether two words are the first of a phrase of three: "c. à s."."""
    three = f"{both} {right.beyond}"
    if right.open:
        return None if any(key.startswith(three) for key in record.phrases) else False
    return three in record.phrases or three.rstrip('.,;:!?)»“"') + "." in record.phrases


_HELP = frozenset("000 006 016 111 117 123".split())
"""What follows 116 in the numbers that all of Europe calls for help: a missing child, a doctor."""


def _counts(char: str) -> bool:
    return char.isdecimal() or char in CURRENCIES or char.isupper()


def _grouped(core: str, left: Left, right: Right, record: Record) -> Joined[Said] | bool | None:
    """``1 234``: three figures after a space go on with the number."""
    if not _GROUPED.fullmatch(core) or core[0] == "+" or left.kind in ("phone", "code", "label"):
        return False
    if right.done and core == "116" and right.body in _HELP:
        return Joined(right.body, Said(amounts.figures(core + right.body, record), Left("phone", right.body)))
    if right.done:
        return bool(_GROUP.match(right.body)) and Joined(f"{core} {fold(right.body)}")
    text = right.text
    return None if not text or re.fullmatch(r"[0-9]{1,3}(?:\.[ºª°ᵉ]?.?|[^0-9./:-].*)?", text) else False


def _mixed(core: str, left: Left, right: Right, record: Record) -> Joined[Said] | bool | None:
    """``1 1/2``: a number and a fraction of one."""
    if not re.fullmatch("[1-9][0-9]{0,2}", core) or left.kind in ("phone", "code", "label"):
        return False
    if right.done:
        m = re.fullmatch("([1-9])/([2-9]|1[0-9])", right.body)
        known = m and int(m[1]) < int(m[2]) and amounts.fraction(right.body, record)
        return bool(known) and Joined(f"{core} {right.body}")
    return None if not right.text or re.fullmatch("[1-9](?:/[0-9]{0,2}[^0-9]*)?", right.text) else False


def _timed(core: str, left: Left, right: Right, record: Record) -> Joined[Said] | bool | None:
    """``14:30 Uhr``: the word that the reading has in it already."""
    if not (record.hour_words or record.lasting) or record.numbers is None:
        return False
    if left.word.lower() in record.hour_from and re.fullmatch("[1-9]|1[0-9]|2[0-3]", core):
        hours = record.numbers.clock(int(core), None, None, left)
        follows = right.one_of(("h",), ())
        return follows and Joined(right.body, Said(hours, Left("time", right.body, before=left.word)))
    last = m[3] if (m := RANGE.fullmatch(core)) else core
    if "h" in record.hour_words & record.lasting and _OPENING.fullmatch(core):  # "14–18 h"
        follows = right.one_of(("h",), ())
        hours = f"{read(core, left, record).text} {min(record.hour_words - {'h'})}"
        return follows and Joined(right.body, Said(hours, Left("time", right.body, before=left.word)))
    time = amounts.time(last, record, dot=last == core)
    if time is None:
        return False
    words = record.hour_words | record.lasting
    follows = right.one_of(words, prefixes_of(record, "hour words") | prefixes_of(record, "lasting"))
    noun = right.word(words) if follows else ""
    lasts = noun in record.lasting and last == core
    if lasts and noun in record.hour_words:  # "10:30 h": by the hour, or by the word before it.
        told = left.word.lower() in record.hour_from or record.cues.get(left.word.lower()) == "hour"
        lasts = not told and time[0] < _LONG_HOURS
    if lasts:
        unit = record.units.get(noun)
        many = [amounts.number(str(part), record, unit.gender if unit else "f") for part in time if part]
        name = noun if unit is None else unit.one if time[0] == 1 else unit.many
        return Joined(right.body, Said(" ".join([many[0], name, *many[1:]]), Left("time", noun)))
    reading = record.numbers.clock(*time, left) if last == core else read(core, left, record).text
    return follows and Joined(right.body, Said(reading, Left("time", right.body, before=left.word)))


def reading_of(parts: Parts, token: Token[Said], left: Left, right: Right, record: Record) -> Said | None:
    """How the token is read."""
    if (said := spoken_of.reading(parts, token.raw, left, record)) is not None:
        return said
    carried(parts, token.raw, left, record)
    core = parts.core
    if not core:
        return _sign(token, left, right, record)
    if core == "/" and record.numbers:
        return slashes.alone(parts, left, right, record)
    closed = token.raw.rstrip(".,;:!?")[-1:] == ")" and "(" not in token.raw
    if closed and record.numbers and (m := _LISTED.fullmatch(core)):
        return Said(f"{amounts.number(m[1], record)} {m[2]}", Left(word=core, before=left.word))
    if record.numbers and (beside := neighbours.reading(parts, token.raw, left, right, record)) is not False:
        return beside
    if (short := abbreviations.reading(parts, left, right, record)) is not False:
        return short
    if parts.dotted and (m := _ELIDED.fullmatch(core)) and abbreviations.known(f"{m[2]}.", record):
        return _elided(m[1], m[2], parts, token, left, right, record)
    numeral = roman(core) if record.dot_ordinals and parts.dotted and len(core) > 1 and record.numbers else 0
    if numeral and read(core, left, record).text == core:
        return dot_ordinal(str(numeral), left, right, record)
    if record.centuries and len(core) > 1 and not parts.mark and all(map(roman, core.split("-"))):
        follows = right.one_of(record.centuries, prefixes(record.centuries))
        if follows is not False:
            return follows and _century(core, left, record)
    if core[0].isdecimal() and not parts.mark and (time := _pointed(core, left, right, record)) is not False:
        return time
    if record.half and not parts.mark and (halved := _halved(core, left, right, record)) is not False:
        return halved
    if core == "0" and record.pairs and not parts.mark:  # The first figure of a telephone number.
        initial = right.initial()
        if initial is None or initial.isdecimal():
            return None if initial is None else read(core, Left("phone"), record)
    if record.numbers is None or not core[-1].isdecimal():
        return read(core, left, record, dotted=parts.dotted)
    if (dated := days(core, parts, left, right, record)) is not False:
        return dated
    if _PHONE.fullmatch(core) and not parts.mark:
        initial = right.initial()
        if initial is None:
            return None
        if initial.isdecimal():
            return read(core, Left("phone"), record)
    value = amounts.whole(core, record)
    if left.kind in ("phone", "code", "label") or parts.mark or closed:
        value = None
    if value is not None and record.numbers.varies(value):
        gender = _gender(right, value, record)
        return None if gender is None else read(core, left, record, form=gender)
    return read(core, left, record, dotted=parts.dotted)


def _elided(
    article: str, rest: str, parts: Parts, token: Token[Said], left: Left, right: Right, record: Record
) -> Said | None:
    """``l'art. 5``, ``dell'ing. Rossi``: an abbreviation with an article before it."""
    inner = replace(parts, core=rest)
    reading = reading_of(inner, token, replace(left, word=article, before=left.word), right, record)
    if reading is None:
        return None
    parts.mark = "" if f"{rest}." in record.never_ends and not right.last else inner.mark
    return replace(reading, text=article + reading.text)


def _century(core: str, left: Left, record: Record) -> Said:
    """``XX secolo``, ``XIX-XX secolo``: ordinals before their noun."""
    ordinals = [amounts.numbers_of(record).ordinal(roman(part), "m") for part in core.split("-")]
    return Said(f" {record.until} ".join(ordinals), Left(word=core, before=left.word))


def _pointed(core: str, left: Left, right: Right, record: Record) -> Said | Literal[False] | None:
    """``12.30 a.m.``: a time where a half of the day follows it."""
    known = _POINTED.fullmatch(core) and "a.m." in record.may_end
    if not known or record.numbers is None or not (time := amounts.time(core, record, dot=True)):
        return False
    half = right.one_of(_HALVES, prefixes(_HALVES))
    return half and Said(record.numbers.clock(*time, left), Left("time", core, before=left.word))


def _halved(core: str, left: Left, right: Right, record: Record) -> Said | Literal[False] | None:
    """A half, alone or after a number, as the noun behind it asks for: ``1 1/2 tazas``."""
    if record.half_more and (m := re.fullmatch("([1-9][0-9]{0,2})(?: 1/2|½)", core)):
        if (gender := _gender(right, int(m[1]), record)) is None:
            return None
        form = "f" if gender == "f" else "m"
        whole = amounts.number(m[1], record, form if form == "f" else "")
        return Said(f"{whole} {record.half_more[form]}", Left("number", core, before=left.word))
    if record.half and core in ("½", "1/2"):
        gender = _gender(right, 1, record)
        if gender is None:
            return None
        sure = gender != "n" or right.body.lower() in record.genders or right.body in record.units
        if sure and gender in record.half:
            return Said(record.half[gender], Left("number", core, one=True, before=left.word))
    return False


def _gender(right: Right, value: int, record: Record) -> str | None:
    """What the number agrees with: the gender of the word after it."""
    if not right.done:
        letter = right.initial()
        if not letter or letter.isalpha():
            return None
        return ""
    word = right.body.partition("/")[0]
    dotted = right.text[len(word) :][:1] == "."
    if dotted and (short := record.units.get(f"{word}.")):
        return short.gender
    if word.lower() in record.months:
        return "month" if value == 1 else ""
    if word.lower() in record.genders:
        return record.genders[word.lower()]
    if word in record.units:
        return record.units[word].gender
    if dotted and (cut := record.cut_words.of(word)):
        word = cut.one if value == 1 else cut.many
    if word in record.currency_words:
        return record.currency_words[word].main.gender
    if word in record.scales:
        return record.scales[word].gender
    counted = record.numbers.gender if record.numbers else None
    return counted(word, Left(one=value == 1)) if counted and word.isalpha() else ""


def ends(parts: Parts, token: Token[Said], reading: str, left: Left, right: Right, record: Record) -> bool | None:
    """Whether the punctuation of a token ends the sentence."""
    mark, core = parts.mark, parts.core
    if not mark or mark not in ENDING:
        return False
    if mark in "?!" or (mark != "…" and shown(token.raw, mark) != mark):
        return True
    if token.gap == GLUED:
        return False
    if not reading:
        return True
    if mark == "…":
        return starts(right, record) if not right.last else False
    form = core + "."
    if core in record.phrases:
        return starts(right, record) if core.replace(" ", "") in record.may_end else False
    if core in record.plain and core.istitle() and len(core) < 5:
        return False
    known = record.never_ends.get(form) or record.never_ends.get(form[:1].lower() + form[1:])
    if form in record.scales and left.kind == "number":
        return starts(right, record)
    if known and reading.lower() in known.lower().split("/"):
        return False
    if known and reading.lower().removesuffix("s") in known.lower().split("/"):  # "las tarifas mín. y máx."
        return starts(right, record)
    measured = left.kind == "number" and core in record.units
    if len(core) == 1 and core.isupper() and record.spaced and left.kind != "label" and not measured:
        return starts(right, record) if left.word.lower() in record.cues else False
    if record.dot_ordinals and record.numbers and DAYS.fullmatch(core):
        return right.last or reading == read(core, left, record).text or starts(right, record)
    figures = core.replace(".", "", 1) if DAY_AND_MONTH.fullmatch(core) else core
    if figures.isdecimal() and record.dot_ordinals and record.numbers:
        return _ends_after_figures(core, reading, left, right, record)
    if record.dot_ordinals and roman(core) and reading != core:
        return starts(right, record)
    if (
        form in record.may_end
        or abbreviations.ranked(form, left, record)
        or (record.cut and record.cut_words.of(core))
        or ("." in core and known is None and reading != core)
        or _ABBREVIATED.fullmatch(core)
        or ("/" in core and f"{core.rpartition('/')[2]}." in record.units)
        or any(form.endswith(end) for end in record.suffixes)
        or week(core, record)
        or ((core in record.units or form in record.units) and left.kind == "number" and core.isalpha())
    ):
        return starts(right, record)
    if record.numbers is None:
        return _ends_anyhow(core, right, record)
    if len(core) < _LONGEST_WORD and record.short_ending and re.fullmatch(record.short_ending, core):
        initial = right.initial()
        return None if initial is None else not initial.islower()
    return starts(right, record) if record.spaced and _shortened(core) else True


def _shortened(core: str) -> bool:
    """Whether letters are an abbreviation by their form: "20 Tr. einnehmen", "3:1 n. V."."""
    return (
        core.isalpha()
        and len(core) < 5
        and not any(unicodedata.normalize("NFD", c)[0] in _VOWELS for c in core.lower())
    )


def _ends_after_figures(core: str, reading: str, left: Left, right: Right, record: Record) -> bool | None:
    """Whether a full stop after figures ends the sentence, where it may make an ordinal of them."""
    if right.last or reading == read(core, left, record).text:
        return True
    return starts(right, record)


def _ends_anyhow(core: str, right: Right, record: Record) -> bool | None:
    """The same without tables: not after ordinals and what looks like an abbreviation, if it goes on like none."""
    if (
        core.isalpha()
        and len(core) > 1
        and not any(unicodedata.normalize("NFD", c)[0] in _VOWELS for c in core.lower())
    ):
        return False
    ordinal = core.isdecimal() and record.dot_ordinals and len(core) < 4
    if not (ordinal or (core.isalpha() and len(core) <= _LONGEST_ABBREVIATION)):
        return True
    initial = right.initial()
    if initial is None:
        return None
    return right.last or not (initial.islower() or (initial.isdecimal() and not ordinal))


def _sign(token: Token[Said], left: Left, right: Right, record: Record) -> Said | None:
    """What is said for a token without letters and figures, if anything is."""
    raw = token.raw.strip("*_`\"'")
    if left.kind == "sum" and raw in ("-", "–"):
        return Said(record.until, left)
    dated = left.kind in ("number", "time", "money", "day") or left.word.lower().rstrip(".") in record.months
    if record.numbers and raw in ("-", "–", "−") and dated:
        initial = right.initial()
        if initial is None:
            return None
        if initial.isdecimal():
            summed = not left.before or left.before in _SUMS
            minus = raw != "–" and (summed or "x" in left.word) and left.kind == "number"
            return Said(record.sign("-") if minus or raw == "−" else record.until, Left("dash"))
    if raw.rstrip(".,;:!?") == "#" and left.word:
        initial = "x" if left.word.lower() == record.keys or raw != "#" else "" if token.first else right.initial()
        if initial is None or initial.islower():  # "pulse # para salir"
            return None if initial is None else Said(record.sign("#"), Left(word="#"))
    if raw in ("<", ">", "~") and raw in record.signs:
        initial = right.initial()
        if initial is None:
            return None
        variables = raw != "~" and len(left.word) == 1 and len(right.body) == 1
        if variables and not right.done:
            return None
        if initial.isdecimal() or variables:
            return Said(record.sign(raw), Left(word=raw))
    return Said("")


def dated(raw: str, right: Right, record: Record) -> bool | None:
    """Whether the figures that open a line are no marker of a list: a date, where a full stop makes ordinals."""
    if raw == ">" and record.numbers:
        initial = right.initial()
        return None if initial is None else initial.isdecimal()
    if not record.dot_ordinals or not raw.rstrip(".").isdecimal() or not record.months:
        return False
    month, club = month_follows(right, record), right.one_of(record.clubs, prefixes_of(record, "clubs"))
    return month or club if month is not None and club is not None else True if month or club else None


def listed(figures: str, record: Record) -> str:
    """The number of a list's item."""
    return record.numbers.cardinal(int(figures), "") if record.numbers else figures
