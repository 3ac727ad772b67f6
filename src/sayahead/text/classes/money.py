"""Money: a sign or a code before or after a number, hundredths, millions."""

from __future__ import annotations

from dataclasses import replace

from sayahead.text.classes.quantity import Amount, amount_in, amount_of, counted, noun_after, number
from sayahead.text.languages.nouns import Currency
from sayahead.text.reading.context import NUMBER, SILENT, Match, Reading, meant


def price(match: Match) -> Reading:
    """An amount with its currency, whichever stands first, or a range of amounts."""
    currency = match.record.currency_words[match["c"]]
    amount = _amount(match)
    low = _low(match, amount, currency)
    return _paid(f"{low}{money(amount, currency)}", currency)


def scaled(match: Match) -> Reading:
    """``$5 Mio.``, ``R$ 1,85 bilhão``, ``$3-5 Mio.``: the million is said before the currency."""
    currency = match.record.currency_words[match["c"]]
    amount = _amount(match)
    low = _low(match, amount)
    scale = match.record.scales[match["k"]]
    name = currency.main.one if match.is_attributive else currency.main.many
    name = match.record.of(name) if scale.gender else name
    return _paid(f"{low}{counted(amount, scale)} {name}", currency)


def scaled_named(match: Match) -> Reading:
    """``$1 millón de pesos``: whose money it is stands behind."""
    scale = match.record.scales[match["k"]]
    return Reading(counted(_amount(match), scale), NUMBER, is_million=True)


def scale(match: Match) -> Reading:
    """What a number is multiplied by, after it."""
    noun = match.record.scales[match["k"]]
    words = noun_after(noun, replace(match.context, is_million=False), match.language)
    return Reading(words, NUMBER, is_million=noun.gender != "")


def in_scale(match: Match) -> Reading:
    """``en mill. €``: a currency by the million, without a number."""
    record = match.record
    noun = record.scales[match["k"]]
    currency = record.currency_words[match["c"]]
    name = record.of(currency.main.many) if noun.gender else currency.main.many
    return _paid(f"{noun.many} {name}", currency)


def glued_scale(match: Match) -> Reading:
    """``3M``, ``12k``."""
    noun = match.record.scales[match["k"]]
    words = counted(amount_in(match), noun)
    return Reading(words, NUMBER, is_million=noun.gender != "")


def million(match: Match) -> Reading:
    """``3M``, where it is no company."""
    amount = Amount(match.language, "", int(match.text.rstrip("M")))
    noun = match.record.scales["M"]
    return Reading(counted(amount, noun), NUMBER, is_million=True)


def unit(match: Match) -> Reading:
    """The currency of the number before it."""
    currency = match.record.currency_words[match["c"]]
    return _paid(noun_after(currency.main, match.context, match.language), currency)


def repeated(match: Match) -> Reading | None:
    """``5 € Euro``: what a sign has said already."""
    is_said = match["w"].lower() == match.context.noun.lower()
    return replace(SILENT, word=match.text) if is_said else None


def coded(match: Match) -> Reading | None:
    """``3 billones de USD``: a code for the noun."""
    currency = match.record.currencies[match["c"]]
    return (
        _paid(currency.main.many, currency) if match.context.word == match.record.linked else None
    )


def money(amount: Amount, currency: Currency) -> str:
    """An amount, with hundredths after the currency."""
    record = amount.language.record
    if len(amount.decimals) != 2 or currency.cent is None:
        return counted(amount, currency.main)
    hundredths = Amount(amount.language, "", int(amount.decimals))
    if hundredths.whole == 0:
        return counted(replace(amount, decimals=""), currency.main)
    main = counted(Amount(amount.language, amount.sign, amount.whole), currency.main)
    cents = counted(hundredths, currency.cent)
    if amount.whole == 0:
        return f"{record.sign(amount.sign)} {cents}".strip() if amount.sign else cents
    n = cents if record.few_cents and hundredths.whole < 10 else number(hundredths)
    return record.money.format(main=main, n=n, cents=cents)


def _paid(words: str, currency: Currency) -> Reading:
    return Reading(words, noun=currency.main.many)


def _amount(match: Match) -> Amount:
    """The number of the slot ``n``, with the sign before its currency."""
    is_english = match["c"][-1:] in "$£"
    amount = amount_of(match["s"] + match["n"], match.language, is_english=is_english)
    return replace(meant(amount), is_attributive=match.is_attributive)


def _low(match: Match, high: Amount, currency: Currency | None = None) -> str:
    """The lower end of a range (the slot ``m``) and what stands between it and ``high``; nothing
    where it is no range. "5 to " for $5–10, since the currency is said with the higher end, but
    "five dollars and fifty cents to " for $5.50–10: hundredths are not said without theirs."""
    if not match["m"]:
        return ""
    low = amount_in(match, "m")
    meant(low.value < high.value)
    record = match.record
    is_between = match.context.word.lower() in record.table("between_words")
    has_cents = currency is not None and len(low.decimals) == 2
    words = money(low, currency) if currency and has_cents else number(low)
    return f"{words} {record.and_word if is_between else record.until} "
