"""Amounts of money over several words: what the next ones make of a number or of an amount with its sign.

A rule answers None while the next words' characters do not tell yet, and False where it says nothing.
"""

from __future__ import annotations

import re
from dataclasses import replace

from sayahead.text.shared import amounts
from sayahead.text.shared.grammar import RANGE
from sayahead.text.shared.record import Record, prefixes_of
from sayahead.text.shared.tokens import Joined, Right
from sayahead.text.shared.words import Left, Said

_MARKS = ".,;:!?)"


def _paid(core: str, left: Left, right: Right, record: Record) -> Joined[Said] | bool | None:
    """``12,50 €``: hundredths are said after the currency."""
    if not re.fullmatch(rf"[+-]?{record.number}", core) or not re.search(r"[,.][0-9]{2}$", core):
        return False
    word, slash, each = right.body.partition("/")
    if slash and word in record.currency_words:
        if not right.done:
            return None
        paid, per = amounts.money(core, record.currency_words[word], record), amounts.per(each, record)
        return per != "" and Joined(right.body, replace(paid, text=f"{paid.text} {per}"))
    follows = right.one_of(record.currency_words, prefixes_of(record, "currency words"))
    if not follows:
        return follows
    word = right.word(record.currency_words)
    return Joined(word, amounts.money(core, record.currency_words[word], record))


def _priced(core: str, left: Left, right: Right, record: Record) -> Joined[Said] | bool | None:
    """``R$ 5``: a currency before its number."""
    if core.lstrip("-~≈<>") not in record.currencies or left.kind == "number":
        return False
    if right.done:
        return bool(re.match(r"[0-9]", right.body)) and Joined(
            core + re.sub(r"[,.][-–]+$", f"{record.decimal}00", right.body)
        )
    return None if not right.text or right.text[0].isdecimal() else False


def _scaled(core: str, left: Left, right: Right, record: Record) -> Joined[Said] | bool | None:
    """``$5 Mio.``: the million is said before the currency."""
    spread = RANGE.fullmatch(core)
    if spread and (paid := amounts.prefixed_range(spread[1], spread[3], record)):
        core, low = core[: len(core) - len(spread[2] + spread[3]) - len(paid[1])] + paid[2], paid[1]
    else:
        low = ""
    price = amounts.prefixed(core, record)
    if price is None:
        return False
    scaled = right.one_of(record.scales, prefixes_of(record, "scales"))
    if not scaled:
        return scaled
    named = _named(right, record)
    if named is None:
        return None
    currency, number = price
    whole = amounts.scaled(number, record.scales[right.word(record.scales)], None if named else currency, record)
    begin = f"{amounts.number(low, record)} {record.until} " if low else ""
    return Joined(right.body, replace(whole, text=begin + whole.text))


def _named(right: Right, record: Record) -> bool | None:
    """Whether what stands after the million names the currency: ``$1 millón de pesos``."""
    if right.text != right.body:
        return False
    far = right.far if right.far_open else right.far.rstrip(_MARKS)
    text = right.beyond if right.open or not right.far else f"{right.beyond} {far}"
    names = [record.of(name) for name in record.currency_words if name.isalpha()]
    if text in names or text.rstrip(_MARKS) in names:
        return True
    return None if (right.open or right.far_open) and any(name.startswith(text) for name in names) else False


def _renamed(core: str, left: Left, right: Right, record: Record) -> Joined[Said] | bool | None:
    """``$500 pesos``, ``$20 USD``: whose money it is stands after the number."""
    if (priced := amounts.prefixed(core, record)) is None:
        return False
    follows = right.one_of(record.currency_words, prefixes_of(record, "currency words"))
    if not follows:
        return follows
    word = right.word(record.currency_words)
    return word.isalpha() and Joined(word, amounts.money(priced[1], record.currency_words[word], record))


PRICES = (_paid, _priced, _scaled, _renamed)
