"""Money: a sign or a code before or after a number, hundredths, millions."""

from __future__ import annotations

from dataclasses import replace

from sayahead.text.classes.quantity import Amount, amount_of, counted, noun_after, number
from sayahead.text.languages.nouns import Currency
from sayahead.text.reading.context import SILENT, Match, Reading
from sayahead.text.reading.words import Words

NUMBER = frozenset({"number"})


def price(match: Match) -> Reading | None:
    """An amount with its currency, whichever stands first, or a range of amounts."""
    currency = match.language.record.currency_words[match["c"]]
    amount = _amount(match, "n")
    if amount is None:
        return None
    low = _low(match, amount, currency)
    if low is None:
        return None
    return _paid(f"{low}{money(amount, currency, match.language)}", currency)


def scaled(match: Match) -> Reading | None:
    """``$5 Mio.``, ``R$ 1,85 bilhão``, ``$3-5 Mio.``: the million is said before the currency."""
    currency = match.language.record.currency_words[match["c"]]
    amount = _amount(match, "n")
    if amount is None:
        return None
    low = _low(match, amount)
    if low is None:
        return None
    scale = match.language.record.scales[match["k"]]
    name = currency.main.one if match.is_attributive else currency.main.many
    name = match.language.record.of(name) if scale.gender else name
    return _paid(f"{low}{counted(amount, scale, match.language)} {name}", currency)


def scaled_named(match: Match) -> Reading | None:
    """``$1 millón de pesos``: whose money it is stands behind."""
    amount = _amount(match, "n")
    scale = match.language.record.scales[match["k"]]
    return (
        Reading(counted(amount, scale, match.language), NUMBER, is_million=True) if amount else None
    )


def scale(match: Match) -> Reading | None:
    """What a number is multiplied by, after it."""
    noun = match.language.record.scales[match["k"]]
    words = noun_after(noun, replace(match.context, is_million=False), match.language)
    return Reading(words, NUMBER, is_million=noun.gender != "")


def in_scale(match: Match) -> Reading | None:
    """``en mill. €``: a currency by the million, without a number."""
    record = match.language.record
    noun = record.scales[match["k"]]
    currency = record.currency_words[match["c"]]
    name = record.of(currency.main.many) if noun.gender else currency.main.many
    return _paid(f"{noun.many} {name}", currency)


def glued_scale(match: Match) -> Reading | None:
    """``3M``, ``12k``."""
    noun = match.language.record.scales[match["k"]]
    amount = amount_of(match["n"], match.language)
    return (
        Reading(counted(amount, noun, match.language), NUMBER, is_million=noun.gender != "")
        if amount
        else None
    )


def million(match: Match) -> Reading | None:
    """``3M``, where it is no company."""
    noun = match.language.record.scales["M"]
    amount = amount_of(match.text.rstrip("M"), match.language)
    return (
        Reading(counted(amount, noun, match.language), NUMBER, is_million=True) if amount else None
    )


def unit(match: Match) -> Reading | None:
    """The currency of the number before it."""
    currency = match.language.record.currency_words[match["c"]]
    return _paid(noun_after(currency.main, match.context, match.language), currency)


def repeated(match: Match) -> Reading | None:
    """``5 € Euro``: what a sign has said already."""
    is_said = match["w"].lower() == match.context.noun.lower()
    return replace(SILENT, word=match.text) if is_said else None


def coded(match: Match) -> Reading | None:
    """``3 billones de USD``: a code for the noun."""
    currency = match.language.record.currencies[match["c"]]
    return (
        _paid(currency.main.many, currency)
        if match.context.word == match.language.record.linked
        else None
    )


def money(amount: Amount, currency: Currency, language: Words) -> str:
    """An amount, with hundredths after the currency."""
    record = language.record
    if len(amount.decimals) != 2 or currency.cent is None:
        return counted(amount, currency.main, language)
    whole = replace(amount, decimals="")
    hundredths = Amount("", int(amount.decimals))
    main = counted(whole, currency.main, language)
    if hundredths.whole == 0:
        return main
    cents = counted(hundredths, currency.cent, language)
    if amount.whole == 0:
        return f"{record.sign(amount.sign)} {cents}".strip() if amount.sign else cents
    n = cents if record.few_cents and hundredths.whole < 10 else number(hundredths, language)
    return record.money.format(main=main, n=n, cents=cents)


def _paid(words: str, currency: Currency) -> Reading:
    return Reading(words, noun=currency.main.many)


def _amount(match: Match, group: str) -> Amount | None:
    """The number of a slot, with the sign before its currency."""
    is_english = match["c"][-1:] in "$£"
    amount = amount_of(match["s"] + match[group], match.language, is_english=is_english)
    return amount and replace(amount, is_attributive=match.is_attributive)


def _low(match: Match, high: Amount, currency: Currency | None = None) -> str | None:
    """The lower end of a range and what follows it, with its hundredths; None where it is no
    range."""
    if not match["m"]:
        return ""
    low = amount_of(match["m"], match.language)
    if low is None or low.value >= high.value:
        return None
    record = match.language.record
    is_between = match.context.word.lower() in record.between_words
    has_cents = currency is not None and len(low.decimals) == 2
    words = (
        money(low, currency, match.language)
        if currency and has_cents
        else number(low, match.language)
    )
    return f"{words} {record.and_word if is_between else record.until} "
