"""What CLDR writes in short is read as CLDR writes it in full: units, currencies, months and
weekdays."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

import pytest
from babel.dates import get_day_names, get_month_names
from babel.numbers import format_currency, get_currency_name
from babel.units import format_unit
from support import forms

UNITS = {
    "length": (
        "kilometer meter centimeter millimeter micrometer nanometer mile yard foot inch"
        " nautical-mile"
    ),
    "mass": "kilogram gram milligram microgram tonne pound ounce carat",
    "duration": "second minute hour day week month year millisecond microsecond nanosecond",
    "temperature": "celsius fahrenheit kelvin",
    "volume": (
        "liter milliliter centiliter deciliter hectoliter cubic-meter cubic-centimeter"
        " cubic-kilometer cubic-foot gallon quart pint tablespoon teaspoon fluid-ounce"
    ),
    "speed": "kilometer-per-hour meter-per-second mile-per-hour knot",
    "digital": "byte kilobyte megabyte gigabyte terabyte petabyte megabit gigabit",
    "power": "watt kilowatt megawatt gigawatt milliwatt horsepower",
    "energy": "kilowatt-hour joule kilojoule calorie kilocalorie electronvolt",
    "frequency": "hertz kilohertz megahertz gigahertz",
    "electric": "ampere milliampere volt ohm",
    "area": (
        "square-meter square-kilometer square-centimeter hectare acre square-foot square-mile"
        " square-inch"
    ),
    "pressure": "pascal kilopascal hectopascal bar millibar atmosphere millimeter-ofhg",
    "concentr": "percent permille milligram-ofglucose-per-deciliter millimole-per-liter",
    "light": "lumen lux candela",
    "angle": "degree radian",
    "consumption": "liter-per-100-kilometer mile-per-gallon",
    "force": "newton kilowatt-hour-per-100-kilometer",
    "torque": "newton-meter",
    "graphics": "pixel megapixel dot-per-inch",
}


OTHERWISE = {
    "en": "in # CD m d w y K pt B J A ac mb cd N dpi ‰",
    "de": "in T W M J PS dpi B",
    "es": "m. m a p ° oz B",
    "fr": "B ′ m. a oz km/h mi/h km l/100km",
    "it": "B in tbsp tsp oz Hg % mg/dl mmol/l °",
    "pt": "B ′ mn oz oz. eV mb px",
    "nl": "in CD m w ° dpi",
}
"""Units, by their last part, that are said otherwise, or mean something else as often: metres,
millions, "in".

"5 A" is a seat or a house as often as a current."""
SMALL = "por par per pro all ora heu à l"
"""Words of rates, which may be others than CLDR's."""
CODES = (
    "USD GBP JPY CHF CNY INR BRL MXN CAD AUD SEK NOK DKK PLN CZK HUF RON TRY RUB UAH KRW ZAR ILS"
    " SGD HKD NZD".split()
)
CODES += "THB VND PHP IDR MYR AED SAR EGP NGN ARS CLP COP".split()
NAMED_OTHERWISE = (("fr", "VND"), ("it", "ILS"))
""""dongs", where CLDR has "dôngs"; "shekel", where it has "siclo"."""
MONTHS = {
    "en": ("{} 5", "5 {}", "{} 2025"),
    "de": ("5. {}", "am 5. {} 2025"),
    "es": ("5 {}", "5 de {}", "5 {} 2025", "{} 2025"),
    "fr": ("5 {}", "5 {} 2025", "{} 2025"),
    "it": ("5 {}", "5 {} 2025", "{} 2025"),
    "pt": ("5 de {}", "5 de {} de 2025", "{} 2025"),
    "nl": ("5 {}", "op 5 {} 2025", "{} 2025"),
}
WORDS = {"May", "mar", "set"}
"""Months in short that are words without their full stop, or have none: "5 set" may be of
tennis."""


def within(language: str, value: str) -> str:
    """What is said of a value in a sentence."""
    return forms.within(language, forms.CARRIERS[language][0], value) or ""


def units(language: str) -> Iterator[tuple[str, str]]:
    """Amounts as CLDR writes them in short, and in full."""
    for kind, names in UNITS.items():
        for name in names.split():
            for amount in (5, 12.5):
                full = format_unit(amount, f"{kind}-{name}", "long", locale=language)
                for length in ("short", "narrow"):
                    short = format_unit(amount, f"{kind}-{name}", length, locale=language)
                    if f"{kind}-" not in short + full:  # It knows no form.
                        yield short, full


def stems(words: str) -> set[str]:
    """The first letters of words, alike in all spellings of "kilo"."""
    return {re.sub("^(?:ch|qu)ilo", "kilo", word)[:3] for word in re.split("[ .]", words)}


@pytest.mark.parametrize("language", forms.LANGUAGES)
def test_units(language: str) -> None:
    checked = 0
    wrong = list[str]()
    for short, full in units(language):
        if re.split(r"[0-9\s]", short)[-1] in OTHERWISE[language].split() or re.search(
            r"5\s?A$", short
        ):
            continue
        reading = within(language, short)
        wanted = within(language, full)
        checked += 1
        if not (reading and stems(reading) <= stems(f"{wanted} {SMALL}")):
            wrong.append(f"{short!r}: {reading}; {wanted}")
    assert checked > 200
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("language", forms.LANGUAGES)
def test_currencies(language: str) -> None:
    wrong = []
    for code in CODES:
        wanted = stems(forms.heard(get_currency_name(code, count=50, locale=language)))
        sign = format_currency(
            50, code, "¤#" if language == "en" else "# ¤", locale=language, currency_digits=False
        )
        for form in (f"50 {code}", f"{code} 50", sign):
            number, _, noun = within(language, form).partition(" ")
            known = stems(noun) & wanted or (language, code) in NAMED_OTHERWISE
            if number != within(language, "50") or not known or code.lower() in noun.split():
                wrong.append(f"{form!r}: {number} {noun}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("language", forms.LANGUAGES)
def test_months(language: str) -> None:
    wrong = []
    for context in ("format", "stand-alone"):
        for month, name in get_month_names("wide", locale=language).items():
            short = get_month_names("abbreviated", context=context, locale=language)[month]
            for form in {short, short.rstrip(".")} - WORDS:
                for date in MONTHS[language]:
                    reading = within(language, date.format(form))
                    wanted = within(language, date.format(name))
                    if reading != wanted:
                        wrong.append(f"{date.format(form)!r}: {reading}; {wanted}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("language", forms.LANGUAGES)
def test_weekdays(language: str) -> None:
    wrong = []
    for day, name in get_day_names("wide", locale=language).items():
        widths: tuple[Literal["abbreviated", "short"], ...] = ("abbreviated", "short")
        for width in widths if language == "de" else widths[:1]:
            short = get_day_names(width, locale=language)[day]
            reading = within(language, f"{short} 14:30")
            wanted = within(language, f"{name} 14:30")
            if reading != wanted.replace(" feira", "") and reading != wanted:
                wrong.append(f"{short!r}: {reading}; {wanted}")
    assert not wrong, "\n".join(wrong)
