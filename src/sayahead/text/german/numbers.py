"""German numbers in words."""

from __future__ import annotations

from sayahead.text.shared.numerals import millions
from sayahead.text.shared.record import Left
from sayahead.text.shared.tables import parts

_UNDER_20 = (
    "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn "
    "achtzehn neunzehn"
).split()
_TENS = "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig".split()
_ONE = {"": "eins", "m": "ein", "n": "ein", "f": "eine", "a": "einen"}
_SCALES = (
    (10**12, "eine Billion", "Billionen"),
    (10**9, "eine Milliarde", "Milliarden"),
    (10**6, "eine Million", "Millionen"),
)
_PARTS = parts("3 Drittel 4 Viertel 5 Fünftel 6 Sechstel 7 Siebtel 8 Achtel 9 Neuntel 10 Zehntel")
_FEMININE = ("ung", "heit", "keit", "schaft", "ion", "tät", "ik", "enz", "anz", "ur", "ei", "in")
MONTHS = "Januar Februar März April Mai Juni Juli August September Oktober November Dezember".split()


def cardinal(value: int, form: str = "") -> str:
    """A whole number; ``form`` is the gender of the noun behind."""
    if value == 1:
        return _ONE.get(form, "eins")
    said, value = millions(value, _SCALES, _thousands)
    if value:
        end = _thousands(value)
        said.append(end.removesuffix("s") if form in "mn" and form and end.endswith("eins") else end)
    return " ".join(said) or "null"


def _thousands(value: int) -> str:
    thousands, rest = divmod(value, 1000)
    count = _hundreds(thousands)
    if thousands % 100 == 1:
        count = count.removesuffix("s")
    return (f"{count}tausend" if thousands else "") + (_hundreds(rest) if rest else "")


def _hundreds(value: int) -> str:
    hundreds, rest = divmod(value, 100)
    head = ("ein" if hundreds == 1 else _UNDER_20[hundreds]) + "hundert" if hundreds else ""
    if not rest:
        return head
    if rest < 20:
        return head + _UNDER_20[rest]
    tens, ones = divmod(rest, 10)
    unit = ("ein" if ones == 1 else _UNDER_20[ones]) + "und" if ones else ""
    return head + unit + _TENS[tens - 2]


def ordinal(value: int, form: str = "e") -> str:
    """An ordinal with an ending: ``e``, ``er``, ``en``, ``es``, ``em``."""
    irregular = {1: "erst", 3: "dritt", 7: "siebt", 8: "acht"}
    rest = value % 100
    if rest in irregular:
        head = cardinal(value - rest) if value > rest else ""
        return head + irregular[rest] + (form or "e")
    return cardinal(value).replace(" ", "") + ("t" if 0 < rest < 20 else "st") + (form or "e")


def fraction(figures: str) -> str:
    """Behind the decimal mark figure by figure."""
    return " ".join(_UNDER_20[int(figure)] for figure in figures)


def part(above: int, below: int) -> str:
    """Halves to tenths, twentieths and hundredths."""
    if above == 0 or below in (0, 1):
        return ""
    if below == 2:
        return "ein halb" if above == 1 else f"{cardinal(above)} halbe"
    name = _PARTS.get(below, "")
    if not name and below in (16, 20, 100, 1000, 32, 12):
        name = (cardinal(below) + ("tel" if below < 20 else "stel")).capitalize()
        name = name.replace("Ein", "", 1).capitalize() if below in (100, 1000) else name
    return f"{cardinal(above, 'n')} {name}" if name else ""


def varies(value: int) -> bool:
    """One has a gender."""
    return value == 1


def gender(noun: str, left: Left) -> str:
    """By the noun's ending; the neuter form where nothing tells: "ein"."""
    if not noun[:1].isupper():
        return "n" if noun.islower() and len(noun) > 3 and noun.endswith(("er", "es", "en")) else ""
    return "f" if noun.endswith((*_FEMININE, "e")) else "n"


def roman(value: int, left: Left) -> str:
    """Behind a name."""
    return "der " + ordinal(value).capitalize() if left.kind != "roman" else cardinal(value)


def clock(hour: int, minute: int | None, second: int | None, left: Left) -> str:
    """``vierzehn Uhr dreißig``."""
    said = f"{cardinal(hour, 'n')} Uhr"
    if minute:
        said += f" {cardinal(minute)}"
    if second is not None:
        said += f" {'' if minute else 'null '}und {cardinal(second, 'f')} {'Sekunde' if second == 1 else 'Sekunden'}"
    return said.replace("null und", "und")


def date(day: int, month: int, year: int | None, left: Left) -> str:
    """Day and month as ordinals, as in ``am dritten Fünften``; the month's name where the year is given."""
    form = dotted(left, "")
    said = f"{ordinal(day, form)} {MONTHS[month - 1] if year else ordinal(month, form).capitalize()}"
    return f"{said} {year_of(year)}" if year else said


def year_of(value: int) -> str:
    """``neunzehnhundertneunzig``; from 2000 on as a count."""
    if not 1100 <= value <= 1999:
        return cardinal(value)
    century, rest = divmod(value, 100)
    return f"{_hundreds(century)}hundert{_hundreds(rest) if rest else ''}"


_E = frozenset("die das diese dieses jede jedes jene welche ihre seine meine unsere eine keine alle".split())
_EN = frozenset(
    """
    am im vom zum beim dem den des einem einen eines einer seinem seinen seiner seines ihrem ihren ihrer ihres
    meinem meinen meiner unserem unseren unserer diesem diesen dieser jedem jeden jeder zur bis ab seit vor nach
    keinem keinen keiner ins
    """.split()
)
_NOMINATIVE = frozenset("wurde wurden wird werden ist war als bin bist sind blieb bleibt".split())
_LED = frozenset("in mit von aus nach während zu auf an bei seit wegen trotz".split())


def dotted(left: Left, right: str) -> str:
    """The ending by the article: ``der dritte``, ``am dritten``, ``ein dritter``."""
    word = left.word.lower()
    if word in ("und", "oder", "bis") and left.form:
        return left.form
    if word == "der":
        return "en" if left.before.lower() in _LED else "e"
    if word in _EN:
        return "en"
    if word in _E:
        return "e"
    if word in _NOMINATIVE:
        return "er"
    if word in ("ein", "kein", "sein", "ihr", "mein"):
        return "er" if gender(right, left) != "n" or right.endswith(("er", "tag", "ling")) else "es"
    return "er" if right.lower() in {month.lower() for month in MONTHS} or not right else "e"
