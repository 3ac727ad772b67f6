"""What a token is, and what the beginning of the next one may still make of it: the waits, all from the record.

The questions (``join``, ``said``, ``ends``, ``dated``) answer None while the next token's characters do not tell yet.
"""

from __future__ import annotations

import unicodedata

from sayahead.text.reading.marks import ENDING, Parts, shown
from sayahead.text.reading.read import read
from sayahead.text.reading.record import Left, Record, prefixes
from sayahead.text.reading.tokens import GLUED, Joined, Right, Said, Token

_LONGEST_ABBREVIATION = 4
_VOWELS = "aeiouyæøœıəαεηιουωаеёиоуыэюяіїєў"


def join(parts: Parts, token: Token, left: Left, right: Right, record: Record) -> Joined | bool | None:
    """What the token and the next are together, or False if they stay apart."""
    if token.said is not None or not parts.core:
        return False
    form = parts.core + ("." if parts.dotted else "")
    if record.phrases and (not parts.mark or parts.dotted):
        both = f"{form} {right.text}"
        found = next((key for key in (both, both.rstrip('.,;:!?)»“"')) if key in record.phrases), "")
        if right.done and found:
            return Joined(found, Said(record.phrases[found], Left(word=found)))
        if not right.done and (found or both in _prefixes(record, "phrases") or f"{form} " == both):
            starts = form in _prefixes(record, "phrase starts") or found
            if starts:
                return None
    return False


def said(parts: Parts, token: Token, left: Left, right: Right, record: Record) -> Said | None:
    """How the token is read."""
    core = parts.core
    if not core:
        return _sign(token, left, right, record)
    form = core + ("." if parts.dotted else "")
    numbered = record.before_number.get(form) or record.before_number.get(core if not parts.mark else form)
    if numbered is not None:
        initial = right.initial()
        if initial is None:
            return None
        if initial.isdigit():
            parts.mark = ""
            return Said(numbered, Left("label", core, before=left.word))
    if parts.dotted and form in record.abbreviations:
        unit = left.kind == "number" and (form in record.units or core in record.units)
        if not unit:
            return Said(record.abbreviations[form], Left(record.cues.get(core.lower(), ""), core, before=left.word))
    return read(core, left, record, dotted=parts.dotted)


def starts(right: Right, record: Record) -> bool | None:
    """Whether the next word typically opens a sentence; any capital, where the language writes few."""
    capital = right.capital()
    if not capital or not record.capital_nouns:
        return capital
    return right.one_of(record.starters, _prefixes(record, "starters"))


def ends(parts: Parts, token: Token, said: str, left: Left, right: Right, record: Record) -> bool | None:
    """Whether the punctuation of a token ends the sentence."""
    mark, core = parts.mark, parts.core
    if not mark or mark not in ENDING:
        return False
    if mark in "?!" or (mark != "…" and shown(token.raw, mark) != mark):
        return True
    if token.gap == GLUED:
        return False
    if not said:
        return True
    if mark == "…":
        return starts(right, record) if not right.last else False
    form = core + "."
    if form in record.never_ends and said == record.never_ends[form]:
        return right.last and False
    if len(core) == 1 and core.isupper() and record.spaced and left.kind != "label":
        return starts(right, record) if left.word.lower() in record.cues else False
    if form in record.may_end or (core in record.units and left.kind == "number" and core.isalpha()):
        return starts(right, record)
    if record.numbers is None:
        return _ends_anyhow(core, right, record)
    return True


def _ends_anyhow(core: str, right: Right, record: Record) -> bool | None:
    """The same without tables: not behind ordinals and what looks like an abbreviation, if it goes on like none."""
    if (
        core.isalpha()
        and len(core) > 1
        and not any(unicodedata.normalize("NFD", c)[0] in _VOWELS for c in core.lower())
    ):
        return False
    ordinal = core.isdigit() and record.dot_ordinals and len(core) < 4
    if not (ordinal or (core.isalpha() and len(core) <= _LONGEST_ABBREVIATION)):
        return True
    initial = right.initial()
    if initial is None:
        return None
    return right.last or not (initial.islower() or (initial.isdigit() and not ordinal))


def _sign(token: Token, left: Left, right: Right, record: Record) -> Said | None:
    """What is said for a token without letters and figures, if anything is."""
    raw = token.raw.strip("*_`\"'")
    if record.numbers and raw in ("-", "–", "−") and left.kind in ("number", "time", "money", "day") and raw != "—":
        initial = right.initial()
        if initial is None:
            return None
        if initial.isdigit():
            minus = raw != "–" and not left.before and left.kind == "number"
            return Said(record.signs["-"] if minus or raw == "−" else record.until, Left("dash"))
    return Said("")


def dated(raw: str, right: Right, record: Record) -> bool | None:
    """Whether the figures that open a line are no marker of a list: a date, where a full stop makes ordinals."""
    if not record.dot_ordinals or not raw.rstrip(".").isdigit() or not record.months:
        return False
    if right.done:
        return right.body.lower() in record.months
    return None if not right.text or right.text.lower() in {*_prefixes(record, "months"), *record.months} else False


def listed(figures: str, record: Record) -> str:
    """The number of a list's item."""
    return record.numbers.cardinal(int(figures), "") if record.numbers else figures


_PREFIXES: dict[tuple[str, str], frozenset[str]] = {}


def _prefixes(record: Record, of: str) -> frozenset[str]:
    """The beginnings of a table's words."""
    key = record.tag, of
    if key not in _PREFIXES:
        if of == "phrase starts":
            words: frozenset[str] = frozenset(phrase.split(" ")[0] for phrase in record.phrases)
            _PREFIXES[key] = words
        else:
            table = getattr(record, of.replace(" ", "_"))
            _PREFIXES[key] = prefixes(frozenset(table))
    return _PREFIXES[key]
