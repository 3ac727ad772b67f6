"""Verbalizers: how a captured text is said, by name, for templates and sayers alike."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Callable, Mapping

from sayahead.text.classes.quantity import SIGNS, amount_of, counted, number, unit_of
from sayahead.text.classes.roman import value_of
from sayahead.text.languages.signs import name_of
from sayahead.text.reading.words import Words

ADDRESS = "address"
"""The form of signs in addresses."""
CENTURY = 50
"""Years of two figures from here on are of the twentieth century."""


def cardinal(text: str, language: Words, form: str = "") -> str:
    """A number as it is written, with or without a sign, in words."""
    amount = amount_of(text, language)
    if amount is not None:
        return number(amount, form)
    bare = text.lstrip("".join(SIGNS))
    head, mark, decimals = bare.partition(language.record.decimal)
    name = language.record.sign(SIGNS[text[0]]) if text != bare else ""
    point = language.record.point if mark else ""
    words = [name, digits(head, language), point, digits(decimals, language)]
    return " ".join(filter(None, words))


def ordinal(text: str, language: Words, form: str = "") -> str:
    """Figures as an ordinal."""
    return language.numbers.ordinal(int(text), form)


def year(text: str, language: Words, form: str = "") -> str:
    """Figures of a year."""
    return language.numbers.year(int(text))


def digits(text: str, language: Words, form: str = "") -> str:
    """Figures one by one, by [rules form] where the language has it."""
    name = "rules" if form else "cardinal"
    figures = map(int, filter(str.isdecimal, text))
    words = (language.numbers.in_words(name, figure, form) for figure in figures)
    return (" " if language.record.spaced else "").join(words)


def letters(text: str, language: Words, form: str = "") -> str:
    """Letters one by one: each with a full stop where the language's voices need one to spell."""
    if not language.record.dotted_letters:
        return " ".join(text.upper())
    return " ".join(
        "A." if letter in "aA" else letter.upper() for letter in text if letter.isalpha()
    )


def label(text: str, language: Words, form: str = "") -> str:
    """Figures of a name or of what has a number: by [rules label], many or with a leading zero one
    by one."""
    numbers = language.numbers
    is_long = len(text) > LONG and not (len(text) == LONG + 1 and text.endswith("00"))
    if is_long or (text[0] == "0" and len(text) > 1):
        return digits(text, language)
    return (
        numbers.in_words("rules", int(text), "label")
        if numbers.has("rules label")
        else cardinal(text, language)
    )


_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_VOWEL = re.compile("[aeiouAEIOU]")
_VOWEL_Y = re.compile("[^aeiou][yY](?![a-z]*[A-Z])")
ENDINGS = ("domains", "extensions", "suffix_words")
"""Tables of what follows the last full stop of an address or a file's name."""


def name(
    text: str, language: Words, form: str = "", *, beside: bool = False, ends: bool = False
) -> str:
    """Letters of a name: as a word where they can be said, one by one otherwise; other languages
    have them as they are.

    ``beside``: beside figures, where few capitals are letters; ``ends``: behind a full stop.
    """
    if not language.record.dotted_letters:
        return text
    known = _known(text, language, ends=ends)
    if known:
        return known
    if _is_lettered(text, language, beside=beside, ends=ends):
        return letters(text, language)
    return " ".join(_pronounced(part, language) for part in _HUMP.split(text))


def _known(text: str, language: Words, *, ends: bool) -> str:
    """What the tables say for a part of a name."""
    low = text.lower()
    suffix = language.meaning("suffix_words", low) if ends else ""
    said = language.meaning("said", text) if text.isupper() else ""
    return suffix or said or language.meaning("hosts", low)


def _is_lettered(text: str, language: Words, *, beside: bool, ends: bool) -> bool:
    """Whether a part of a name is spelled whatever its letters are."""
    low = text.lower()
    if beside and (
        low in language.vocabularies["spelled_beside_figures"]
        or (text.isupper() and len(text) < LONG)
    ):
        return True
    if ends and any(low in language.vocabularies[table] for table in ENDINGS):
        return True
    return min(map(len, _HUMP.split(text))) == 1 and len(text) <= LONG


def _pronounced(text: str, language: Words) -> str:
    is_spelled = text.lower() in language.vocabularies["spelled"] or (
        text.isupper() and len(text) < LONG
    )
    has_vowel = _VOWEL.search(text[len(text) < LONG - 1 :]) or _VOWEL_Y.search(text)
    return text if has_vowel and not is_spelled else letters(text, language)


def sign(text: str, language: Words, form: str = "") -> str:
    """What a sign is called, nothing where the language has no word for it."""
    return language.record.signs.get(text, "")


GREEK = "αβγδεζηθικλμνξοπρστυφχψω"
_ALIKE = str.maketrans("ςϑϕϵϖϱµ", "σθφεπρμ")


def greek(text: str, language: Words, form: str = "") -> str:
    """Letters by their names if they are Greek, others as they are."""
    names = dict(zip(GREEK, language.record.greek, strict=False))
    plain = text.lower().translate(_ALIKE)
    said = (names.get(own, letter) for own, letter in zip(plain, text, strict=False))
    return " ".join(said).replace("_", " ")


def over(text: str, language: Words, form: str = "") -> str:
    """What a sign between two numbers is called."""
    return language.record.between.get(text) or sign(text, language)


_PIECE = re.compile(r"[0-9]+|[^\W\d_]+(?:['’][^\W\d_]+)*|\S")
_CIRCLED = {code: unicodedata.numeric(chr(code), None) for code in range(0x2460, 0x2794)}
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉", "01234567890123456789") | {
    code: f" {value:.0f} " for code, value in _CIRCLED.items() if value is not None
}
LONG = 4
"""More figures than these are said one by one where they are no number by themselves."""


def pieces(text: str, language: Words, form: str = "", *, is_single: bool = False) -> str:
    """Letters as they are, figures as numbers or one by one, signs by name: nothing goes unsaid.

    With a ``form`` signs are called as in an address; a hyphen between parts has a name only there.
    """
    parts = _PIECE.findall(text.translate(_RAISED))
    beside = not form and any(map(str.isdecimal, parts))
    words = []
    for before, part in zip(["", *parts], parts, strict=False):
        if is_single and part.isupper():
            words.append(letters(part, language))
        elif part.isalpha():
            ends = form != "" and before == "."
            words.append(name(part, language, beside=beside, ends=ends))
        elif part[0].isdecimal():
            words.append(digits(part, language) if is_single else label(part, language))
        else:
            words.append(_named_sign(part, language, form))
    return " ".join(filter(None, words))


def _named_sign(sign: str, language: Words, form: str) -> str:
    own = language.record.address.get(sign) if form else ""
    return own or ("" if sign in "-–'" else language.record.signs.get(sign, ""))


def said(text: str, language: Words, form: str = "") -> str:
    """What a table of the language's file says of it; ``form`` is the table."""
    return language.meaning(form, text)


def by_rules(text: str, language: Words, form: str = "") -> str:
    """Figures by a set of the language's own number rules: ``form`` names [rules form]."""
    return language.numbers.in_words("rules", int(re.sub(r"\D", "", text)), form)


def short_year(text: str, language: Words, form: str = "") -> str:
    """Two figures of a year, in full."""
    value = int(text)
    return language.numbers.year(value + (2000 if value < CENTURY else 1900))


def one(text: str, language: Words, form: str = "") -> str:
    """A unit in the singular, or in the plural where ``form`` says so."""
    unit = unit_of(text, language)
    return unit.forms[form != ""] if unit else text


def spelled(text: str, language: Words, form: str = "") -> str:
    """Letters and figures one by one, signs as in an address."""
    return " ".join(_single(char, language) for char in text)


def _single(char: str, language: Words) -> str:
    return letters(char, language) if char.isalpha() else pieces(char, language, ADDRESS)


def elements(text: str, language: Words, form: str = "") -> str:
    """A formula of chemistry: letters one by one, figures as numbers."""
    runs = re.findall(r"[A-Za-z]+|[0-9]+", text.translate(_RAISED))
    return " ".join(
        cardinal(run, language) if run.isdecimal() else letters(run, language) for run in runs
    )


def month(text: str, language: Words, form: str = "") -> str:
    """The name of a month, in full or in short."""
    return language.record.month_names[language.record.month_of(text.rstrip(".")) - 1]


def until(text: str, language: Words, form: str = "") -> str:
    """The word between two days, in full or in short."""
    return language.meaning("until_words", text) or language.record.abbreviations.get(text, text)


def roman(text: str, language: Words, form: str = "") -> str:
    """A Roman numeral as a number, by the set of rules that ``form`` names."""
    return language.numbers.in_words(form or "cardinal", value_of(text.upper()))


def count(text: str, language: Words, form: str = "") -> str:
    """A number with or without leading zeros."""
    return cardinal(text.lstrip("0") or "0", language)


def many(text: str, language: Words, form: str = "") -> str:
    """How many of a unit, which ``form`` names: "two hours"."""
    unit = unit_of(form, language)
    amount = amount_of(text.lstrip("0") or "0", language)
    return counted(amount, unit) if unit and amount else text


def plural(text: str, language: Words, form: str = "") -> str:
    """A number of which there are several, in English: "nineties", "sixes"."""
    words = label(text, language) if form else cardinal(text, language)
    if words.endswith("y"):
        return words[:-1] + "ies"
    return words + ("es" if words.endswith(("x", "s")) else "s")


def clock(text: str, language: Words, form: str = "") -> str:
    """Hours, minutes and perhaps seconds, parted by a mark, as a time of day."""
    hour, minute, *second = map(int, re.findall(r"\d+", text))
    return language.numbers.clock(hour, minute, second[0] if second else None)


RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻₀₁₂₃₄₅₆₇₈₉₊₋", "0123456789+-0123456789+-")


def power(text: str, language: Words, form: str = "") -> str:
    """A power by its name: squared, cubed, or to which one."""
    name = language.record.signs.get({"2": "²", "3": "³"}.get(text, text), "")
    if name or not text:
        return name
    plain = text.translate(RAISED)
    if plain[-1] in "+-":
        return f"{cardinal(plain[:-1], language)} {language.record.sign(plain[-1])}".strip()
    return exponent(plain, language)


def exponent(text: str, language: Words, form: str = "") -> str:
    """To what power: a number with its sign, a variable."""
    record = language.record
    to = language.meaning("formula", "power") or record.sign("^")
    if text.lstrip("-").isdecimal():
        return f"{to} {cardinal(text, language)}"
    minus = f"{record.sign('-')} " if text[0] == "-" else ""
    return f"{to} {minus}{pieces(text.lstrip('-'), language)}"


VERBALIZERS: Mapping[str, Callable[[str, Words, str], str]] = {
    "cardinal": cardinal,
    "ordinal": ordinal,
    "year": year,
    "digits": digits,
    "letters": letters,
    "label": label,
    "count": count,
    "greek": greek,
    "lower": lambda text, language, form: text.lower().replace("_", " "),
    "title": lambda text, language, form: text.title(),
    "formula": elements,
    "roman": roman,
    "month": month,
    "until": until,
    "power": power,
    "exponent": exponent,
    "many": many,
    "spelled": spelled,
    "plural": plural,
    "name": name,
    "pieces": pieces,
    "single": functools.partial(pieces, is_single=True),
    "sign": sign,
    "said": said,
    "set": by_rules,
    "short_year": short_year,
    "clock": clock,
    "one": one,
    "over": over,
    "picture": lambda text, language, form: name_of(text),
}
