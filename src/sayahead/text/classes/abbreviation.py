"""Abbreviations: what they stand for, in the form that the words beside them ask for."""

from __future__ import annotations

from collections.abc import Mapping

from sayahead.text.classes.number import gender_of
from sayahead.text.classes.quantity import form_after
from sayahead.text.classes.verbalize import cardinal, greek, letters
from sayahead.text.reading.context import Match, Reading
from sayahead.text.reading.words import Words

NUMBER = "number"

IN_FORMULA = frozenset(("formula", "operator"))


def full(match: Match) -> Reading | None:
    """The word or words in full, capitalized where the abbreviation is."""
    if is_unit(match) or is_variable(match):
        return None
    words = expanded(match.record.abbreviations, match["a"])
    return said(match, agreed(words, match, match.context.named))


def is_unit(match: Match) -> bool:
    """Whether it is what the number before it is of: "25 min." in a language whose min. is a
    minimum, too."""
    units = match.record.units
    return "number" in match.context.tags and match["a"].rstrip(".") in units


def is_variable(match: Match) -> bool:
    """Whether it is a letter of a formula before a full stop."""
    return len(match["a"].rstrip(".")) == 1 and not IN_FORMULA.isdisjoint(match.context.tags)


def agreeing(match: Match) -> Reading | None:
    """An adjective at a sentence's start, which agrees with the noun behind it: "Próx. parada"."""
    words = expanded(match.record.abbreviations, match["a"])
    noun = match["noun"]
    return said(match, agreed(words, match, noun)) if noun.islower() else None


def agreeing_before(match: Match) -> Reading | None:
    """An adjective that always stands before its noun: "Bus 7, próx. salida"."""
    words = agreed(match.language.meaning("before_noun", match["a"].lower()), match, match["noun"])
    return said(match, capitalized(words, match["a"]))


def linked(match: Match) -> Reading:
    """The word between two abbreviations of one noun: "las tarifas mín. y máx."."""
    return Reading(match.text, noun=match.context.noun)


def numbered(match: Match) -> Reading | None:
    """What counts pages, chapters and the like, before a number, which is then read as a label:
    "S. 5"; the articles before several days are those of several pages, too: "los km 3 y 5"."""
    # Before letters, one without a full stop is a letter itself, "S A"; and one of those that open
    # sentences is no number: "pág. A las tres".
    letters = "".join(filter(str.isalpha, match["next"]))
    if letters and (len(match["a"]) == 1 or letters in match.record.table("starters")):
        return None
    one, _, many = match.record.table("before_number")[match["a"]].partition("/")
    is_plural = bool(many) and match.context.word.lower() in match.record.many_days
    return said(match, many if is_plural else one, "label")


def listed(match: Match, table: str) -> Reading | None:
    """What a table has for an abbreviation that is one only where a rule says so: "S. (7)"."""
    form = match["a"]
    words = match.language.meaning(table, form)
    return said(match, words or capitalized(match.language.meaning(table, form.lower()), form))


def phrase(match: Match) -> Reading:
    """Several words that are read as one: "z. B."; what is counted, by its number."""
    one, _, many = match.record.table("phrases")[match["a"]].partition("/")
    words = many if many and not match.context.is_one else one
    cue = match.record.cues.get(one.replace(" ", "-"), "")
    return Reading(words, frozenset({cue} - {""}), word=words.rpartition(" ")[2])


def short(match: Match) -> Reading | None:
    """A word that is written short: several of it after a number or their article."""
    form = match["a"]
    record = match.record
    left = match.context.word
    # Two capitals in a row are a name where nouns have none: "Juan Mart. llegó".
    if form[0].isupper() and left[:1].isupper() and not (record.capital_nouns or match["menu"]):
        return None
    forms = expanded(record.table("short"), form).split("+")
    chosen = forms[0]
    if len(forms) > 1 and NUMBER in match.context.tags:
        chosen = form_after(forms, match.context, match.language)
    elif len(forms) > 1 and left.lower() in record.table("plurals"):
        chosen = forms[1]
    return said(match, agreed(chosen, match, match.context.named))


def compound(match: Match) -> Reading | None:
    """Abbreviations that hyphens join: "3-Zi.-Whg."."""
    parts = [_piece(part, match.language) for part in match["a"].split("-")]
    return Reading(" ".join(parts)) if all(parts) else None


def _piece(part: str, language: Words) -> str:
    if part.isdecimal():
        return cardinal(part, language)
    unit = language.record.units.get(part)
    return unit.many if unit else expanded(language.record.abbreviations, part).partition("/")[0]


def suffixed(match: Match) -> Reading | None:
    """A word whose end is cut: "Hauptstr."."""
    if match.text.rstrip(".").lower() in match.language.common:
        return None
    return Reading(match["stem"] + match.record.table("suffixes")[match["a"]])


def plain(match: Match) -> Reading | None:
    """An abbreviation without a full stop: "Mme", "km"-like."""
    words = match.record.table("plain")[match["a"]]
    return said(match, agreed(words, match, match.context.named))


def weekday(match: Match) -> Reading | None:
    """A weekday in short, in a list of them: "lun., mer. et ven."."""
    names = match.record.table("weekdays")
    return said(match, names.get(match["a"]) or names.get(match["a"].lower(), ""))


def initial(match: Match) -> Reading | None:
    """A letter of a name: its full stop ends nothing."""
    letter = match.text[0]
    return (
        Reading(letters(letter, match.language))
        if greek(letter, match.language) == letter
        else None
    )


def initials(match: Match) -> Reading | None:
    """Letters with full stops between them; those that a table has are for its rules."""
    if match.text in match.record.abbreviations:
        return None
    text = match.text.replace(".", "")
    return Reading(letters(text, match.language) if match.record.dotted_letters else " ".join(text))


def expanded(table: Mapping[str, str], form: str) -> str:
    """What an abbreviation stands for by a table; capitalized where it is and the table's is not,
    nothing if it is none."""
    words = table.get(form, "")
    if not words and (form[1:].islower() or "." in form[:-1]):
        words = capitalized(table.get(form[0].lower() + form[1:], ""), form)
    return words


def capitalized(words: str, form: str) -> str:
    """Words with a capital where the form that is short for them has one."""
    return words[:1].upper() + words[1:] if form[0].isupper() else words


def said(match: Match, words: str, *tags: str) -> Reading | None:
    """What is said, with the elision before it and what it announces."""
    if not words:
        return None
    cue = match.record.cues.get(match["a"].rstrip(".").lower(), "")
    announced = frozenset({*tags, cue} - {""})
    noun = match.context.named if "/" in expanded(match.record.abbreviations, match["a"]) else words
    return Reading(match["article"] + words, announced, word=match["a"], noun=noun)


def agreed(words: str, match: Match, noun: str) -> str:
    """The one of two forms that a noun asks for: ``izquierda/izquierdo``; in the plural after its
    article."""
    record = match.record
    one, _, other = words.partition("/")
    if not other:
        return plural(one, match) if match.context.word.lower() in record.table("plurals") else one
    if not noun.isalpha() or noun.isupper():
        return one
    name = noun.lower()
    gender = record.table("articles").get(name) or gender_of(match, name, is_one=True)
    gender = gender or gender_of(match, name.removesuffix("s"), is_one=True)
    wanted = "f" if other.endswith(("a", "in", "e")) else "m"
    # "e" is feminine, "s" masculine, for nouns with another form before them: "mezz'ora".
    chosen = other if gender.replace("e", "f").replace("s", "m") == wanted else one
    is_plural = record.plural_s and len(noun) > 3 and noun.endswith("s") and chosen[-1] in "aeéou"
    return f"{chosen}s" if is_plural else chosen


def plural(words: str, match: Match) -> str:
    """Several of what an abbreviation stands for, as far as the form tells."""
    is_regular = match.record.plural_s and words[-1:] in "aeo" and words.isalpha()
    return f"{words}s" if is_regular else words
