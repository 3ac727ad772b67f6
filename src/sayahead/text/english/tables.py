"""Word tables of the English reader, from ``tables.txt``, where each is explained."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from sayahead.text.shared.shortened import CutWords

SECTIONS: dict[str, list[str]] = {}
"""Rows of each table by its name."""
for _line in Path(__file__).with_name("tables.txt").read_text(encoding="utf-8").splitlines():
    if _line.startswith("[") and _line.endswith("]"):
        _rows = SECTIONS[_line[1:-1]] = []
    elif _line and not _line.startswith("//"):
        _rows.append(_line)


def readings(name: str) -> dict[str, str]:
    """The rows of a table, ``key = what is said``, by their key."""
    rows = (f"{row} ".partition(" = ") for row in SECTIONS[name])
    return {key.removesuffix(" ="): text.strip() for key, _, text in rows}


def _ordered(name: str) -> list[str]:
    """The words of a table in their order."""
    return [word for row in SECTIONS[name] for word in row.split()]


def words(name: str) -> frozenset[str]:
    """The words of a table."""
    return frozenset(_ordered(name))


def prefixes(whole: Iterable[str]) -> frozenset[str]:
    """All beginnings of words, and the words."""
    return frozenset(word[:n] for word in whole for n in range(1, len(word) + 1))


MONTHS = readings("months")
_WRITTEN = {form: name for key, name in MONTHS.items() for form in (key.upper(), key.lower())}
ANY_MONTHS = MONTHS | {form: name for form, name in _WRITTEN.items() if form not in ("may", "mar", "march")}
"""The same in capitals and in small letters, but what are other words then."""
MONTH_NAMES = list(dict.fromkeys(MONTHS.values()))
MONTH_PREFIXES = prefixes(MONTHS)
NEVER_ENDS = readings("never ends")
_NO_TITLES = ("Gen", "Mr", "Mrs", "Est", "Ext", "Avg", "Misc", "Intl", "Esp", "Tel", "Approx")
TITLES = {k: v for k, v in NEVER_ENDS.items() if k[0].isupper() and k.isalpha() and k not in _NO_TITLES}
TITLES |= {"St": "Saint", "Dr": "Doctor"}
MAY_END = readings("may end")
SPELLED_MAY_END = words("spelled may end")
PLACES = words("places")
STARTERS = words("starters")
_CONTRACTED = {"s": "It He She That There Here What Who How This Let", "re": "They We You", "m": "I"}
STARTERS |= {f"{word}{sign}{end}" for end, row in _CONTRACTED.items() for word in row.split() for sign in "'’"}
STARTER_PREFIXES = prefixes(STARTERS)
HALVES = words("halves")
ZONES = words("zones")
BEFORE_NUMBER = readings("before number")
_SHORT_MONTHS = {form: name for form, name in ANY_MONTHS.items() if form not in MONTHS and form.title() != name}
BEFORE_NUMBER |= _SHORT_MONTHS | {f"{form}.": name for form, name in _SHORT_MONTHS.items()}
BOOKS = readings("books")
# With a dot; a sentence ends only after "the max.".
LIMITS = {"max": "maximum", "min": "minimum"}
PLAIN = readings("plain")
ROMAN_CARDINAL = words("roman cardinal")
ROMAN_ORDINAL = words("roman ordinal")
NOT_ROMAN = words("not roman")
SYMBOLS = readings("symbols")
OPERATORS = readings("operators")
"""Signs of code by their names, where a text speaks of them."""
SIGNS = readings("signs")
GREEK = readings("greek")
LATEX = readings("latex")
SUFFIX_WORDS = readings("suffix words")
DOMAINS = words("domains")
EXTENSIONS = words("extensions")
HOSTS = readings("hosts")
CUES = {word: kind for kind, row in readings("cues").items() for word in row.split()}
LINKS = words("links")
ARROWS = words("arrows")
SHORT_NUMBERS = words("short numbers")
YEAR_WORDS = words("year words")
DATE_WORDS = words("date words")
AHEAD = {kind: frozenset(row.split()) for kind, row in readings("ahead").items()}
AHEAD_PREFIXES = {kind: prefixes(own) for kind, own in AHEAD.items()}
PRICED_EACH = words("priced each")
SOVEREIGNS = words("sovereigns")
DAY_LINKS = words("day links")
SOFTWARE = words("software")
SCRIPTURE = frozenset((*BOOKS, *BOOKS.values())) | words("scripture")
STEPS = words("steps")
RATED = words("rated")
ARTICLES = words("articles")
SUMS = words("sums")
FUNCTION_WORDS = words("function words")
UNCOUNTED = words("uncounted")
LETTERED = words("lettered")
SAID = readings("said")
SPELLED = words("spelled")
SPELLED_BESIDE_FIGURES = SPELLED | words("spelled beside figures")
SHORT_WORDS = words("short words")
LONG = words("long")
BEFORE_TAGS = words("before tags")
AIRPORTS = words("airports")
DOSES = words("doses")
AMBIGUOUS = words("ambiguous")
STATES = readings("states")
INTERJECTIONS = words("interjections")
WEEKDAYS = readings("weekdays")
WEEKDAY_PREFIXES = prefixes(WEEKDAYS)
ALWAYS_WEEKDAYS = words("always weekdays")
ROADS = readings("roads")
SMALL_ROADS = {key.lower(): ROADS[key].lower() for key in "St Ave Blvd Rd Dr Ln Ct Hwy Pkwy".split()}
ONLY_ROADS = words("only roads")
QUARTERS = readings("quarters")
EMOTICONS = words("emoticons")
STAGE = words("stage")
LAST_WORDS = words("last words")
ENDINGS = ("ed", "ly", "ness", "ful", "less", "'t", "'s")
"""Most longer words with these endings are such words, too, less ``NOT_LAST``."""
NOT_LAST = words("not last")
COMMON_WORDS = tuple(_ordered("common words"))
CUT = CutWords(_ordered("cut"), words("whole"))
"""Words that are written short by rule."""
