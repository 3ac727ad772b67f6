"""Carriers around values of every kind, in six languages, and what must hold of their readings
whatever they are.

No check needs a reference: a value is read alike wherever it stands, whatever surrounds it, and
whichever of its numbers it has; what ends a sentence ends it; and taking out a character that is
heard changes what is said."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from sayahead.text import FrontEnd, front_end
from sayahead.text.languages.signs import is_picture, is_silent
from sayahead.types import Word
from support.form_values import KINDS

LANGUAGES = ("en", "de", "es", "fr", "it", "pt", "nl")
WRAPPED = ("“{}”", "({})", "**{}**", "*{}*", "[{}]")
QUOTED = ('"{}"', "'{}'", "«{}»")
CARRIERS = {
    "en": ("They wrote {} there", "Nobody saw {} again", "She told them {} twice"),
    "de": ("Sie schrieben {} dazu", "Niemand sah {} wieder", "Dort stand {} daneben"),
    "es": ("Ellos escribieron {} aquí", "Nadie vio {} ayer", "Allí ponía {} así"),
    "fr": ("Ils écrivent {} dessus", "Personne ne voit {} ici", "Elle montre {} souvent"),
    "it": ("Loro scrivono {} lì", "Nessuno vede {} qui", "Lei mostra {} ieri"),
    "pt": ("Eles escrevem {} aqui", "Ninguém viu {} ontem", "Ela mostra {} ali"),
    "nl": ("Zij schreven {} erbij", "Niemand zag {} ooit", "Daar stond {} vaak"),
}
_NEXT = {
    "en": "The",
    "de": "Dann",
    "es": "Después",
    "fr": "Ensuite",
    "it": "Dopo",
    "pt": "Depois",
    "nl": "Daarna",
}
_SAME = (
    ("-", "\u2010"),
    ("-", "\u2011"),
    ("µ", "μ"),
    ("°C", "℃"),
    ("!=", "≠"),
    (">=", "≥"),
    ("<=", "≤"),
    ("″", "′′"),
)
"""Signs that are written in two ways."""


@dataclass(frozen=True, slots=True)
class Broken:
    """What does not hold, of which text."""

    rule: str
    text: str
    said: str
    other: str
    instead: str

    def __str__(self) -> str:
        return f"{self.rule}: {self.text!r} {self.said!r}; {self.other!r} {self.instead!r}"


@functools.cache
def _front(language: str) -> FrontEnd:
    return front_end(language)


def words_of(language: str, text: str) -> list[Word]:
    """The words of a whole text."""
    normalizer = _front(language).normalizer()
    words: list[Word] = normalizer.push(text) + normalizer.flush()
    return words


def heard(text: str) -> str:
    """What is said, without marks and case."""
    return " ".join(
        re.findall(r"[^\W_]+(?:['’.][^\W_]+)*|[%€$£+=<>&@§°]", text.lower().replace("-", " "))
    )


def said(language: str, text: str) -> str:
    """What is said of a text."""
    return heard(" ".join(word.text for word in words_of(language, text)))


def sentences(language: str, text: str) -> int:
    """How many sentences a text has."""
    words = words_of(language, text)
    return sum(word.ends for word in words)


def within(language: str, carrier: str, value: str) -> str | None:
    """What is said of a value in a carrier; None if the carrier's own words are not said as they
    stand."""
    whole = said(language, carrier.format(value))
    before, after = map(heard, carrier.split("{}"))
    if not (whole.startswith(before) and whole.endswith(after)):
        return None
    return whole[len(before) : len(whole) - len(after) or None].strip()


def broken(language: str, kind: str, random: Random) -> Iterator[Broken]:
    """What does not hold of one value of a kind."""
    value = KINDS[kind](language, random)
    carriers = CARRIERS[language]
    carrier = random.choice(carriers)
    base = within(language, carrier, value)
    if not base:
        yield Broken(
            "the carrier's words stay",
            carrier.format(value),
            said(language, carrier.format(value)),
            "",
            "",
        )
        return
    if re.search(r"[0-9]", base):
        yield Broken("no figure is left", value, base, "", "")
    variants = [("another carrier", c, value) for c in carriers if c != carrier]
    variants += [("what surrounds it", carrier, wrap.format(value)) for wrap in WRAPPED]
    variants += [
        ("another sign for the same", carrier, value.replace(*pair))
        for pair in _SAME
        if pair[0] in value
    ]
    if kind not in ("formula", "greek", "latex", "operator", "prime"):
        variants += [("quotes", carrier, wrap.format(value)) for wrap in QUOTED]
    variants += [
        ("no-break spaces", carrier, value.replace(" ", "\u00a0")),
        ("spaces", carrier, value.replace(" ", "  ")),
    ]
    variants += [
        ("a comma", carrier.replace("{}", "{},"), value),
        ("a colon before", carrier.replace(" {}", ": {}"), value),
    ]
    for rule, around, form in variants:
        said_here = within(language, around, form)
        if said_here != base:
            yield Broken(
                rule,
                carrier.format(value),
                base,
                around.format(form),
                said_here or said(language, around.format(form)),
            )
    before = carrier.split("{}")[0]
    if kind == "ordinal" and language == "de":
        return  # Its full stop is its own.
    for mark in "." if kind in ("formula", "operator") else ".!?":  # "= 5!" is a factorial.
        end = value.rstrip(".") + mark if mark == "." else value + mark
        text = f"{before}{end} {_NEXT[language]} {carriers[0].split()[0].lower()}"
        if sentences(language, text) != 2 or not said(language, text).startswith(
            f"{heard(before)} {base}"
        ):
            yield Broken(
                "what ends a sentence ends it",
                carrier.format(value),
                base,
                text,
                said(language, text),
            )
    for line in (f"| {value} | xyz |\n", f"- {value}\n- xyz"):
        if said(language, line) != f"{base} xyz":
            yield Broken(
                "tables and lists", carrier.format(value), base, line, said(language, line)
            )
    yield from _framed(language, kind, carrier, value, base, random)
    yield from losses(language, carrier.format(value))
    text = carrier.format(value) + "."
    if split := _split(language, text, random):
        yield Broken("any split reads the same", text, said(language, text), "", split)


def _split(language: str, text: str, random: Random) -> str:
    """What a random split of a text reads otherwise, or nothing."""
    whole = words_of(language, text)
    normalizer = _front(language).normalizer()
    out = []
    at = 0
    while at < len(text):
        size = random.randint(1, 4)
        out += normalizer.push(text[at : at + size])
        at += size
    out += normalizer.flush()
    return "" if out == whole else " ".join(word.text for word in out)


def _framed(
    language: str, kind: str, carrier: str, value: str, base: str, random: Random
) -> Iterator[Broken]:
    """A number replaced by another of its size leaves the words around it."""
    if kind in (
        "fraction",
        "formula",
        "greek",
        "code",
        "date",
        "ratio",
        "time",
        "range",
        "ordinal",
        "month",
        "port",
        "codes",
        "period",
        "named day",
        "minute of play",
    ):
        return
    figure = re.search(r"(?<![0-9])[2-9][0-9]*", value)
    if figure is None:
        return
    other = f"{random.randint(3, 9)}{''.join(str(random.randint(2, 9)) for _ in figure[0][1:])}"
    swapped = value[: figure.start()] + other + value[figure.end() :]
    instead = within(language, carrier, swapped) or ""
    if _frame(language, instead) != _frame(language, base):
        yield Broken("a number's frame", value, base, swapped, instead)


@functools.cache
def _morphemes(language: str) -> re.Pattern[str]:
    values = [*range(101), *range(200, 1000, 100), 1000, 2000]
    pieces = {
        piece
        for value in values
        for piece in re.split(r"[ -]", said(language, f"z {value} z")[2:-2])
    }
    inflected = r"\w*(?:cient|gent|zent|cent|inient)[ao]s|veinti[uú]n[oa]?|ún|quinhent[ao]s|du[ae]s?|un[oa]?|um|uma|hum"  # noqa: E501
    pieces |= {
        "et",
        "y",
        "e",
        "and",
        "und",
        "oh",
        "o",
        "ein",
        "eine",
        "tré",
        *"cent vent trent quarant cinquant sessant settant ottant novant".split(),
        "un",
        "una",
        "uno",
        "hundert",
        "een",
        "tausend",
        "mila",
    }
    return re.compile(
        f"(?:{'|'.join(sorted(map(re.escape, pieces - {''}), key=len, reverse=True))})+|{inflected}"
    )


def _frame(language: str, words: str) -> list[str]:
    """The words that are no numbers, in the plural or not."""
    return [
        word.rstrip("s")
        for word in re.split(r"[ -]", words)
        if not _morphemes(language).fullmatch(word)
    ]


def losses(language: str, text: str) -> Iterator[Broken]:
    """Characters that are not on the list of silent ones, but change nothing where they are taken
    out."""
    for token in dict.fromkeys(text.split()):
        yield from _lost(language, token)


@functools.lru_cache(maxsize=65536)
def _lost(language: str, token: str) -> tuple[Broken, ...]:
    if (
        token.isascii()
        and re.fullmatch(r"[^\w]*[a-zA-Z'’-]*[^\w]*", token)
        and not re.search(r"[%&@+=<>$]", token)
    ):
        return ()
    whole = said(language, f"xx {token} yy")
    hidden = {place for tag in _HIDDEN.finditer(token) for place in range(*tag.span())} | _told(
        language, token
    )
    lost = []
    for place, char in enumerate(token):
        if place in hidden or not counts(token, place):
            continue
        rest = token[:place] + token[place + 1 :]
        if said(language, f"xx {rest} yy") == whole:
            lost.append(
                Broken(
                    "nothing is lost", token, whole, f"without {char!r} (U+{ord(char):04X})", whole
                )
            )
    return tuple(lost)


_HIDDEN = re.compile(r"</?[A-Za-z][\w-]*(?: [^<>]*)?/?>|&#?\w{1,8};")
"""Tags and entities: their letters are not text. Placeholders look the same, and are tried by
themselves."""


def _told(language: str, token: str) -> set[int]:
    """The places of what a voice cannot read: a warning tells of it."""
    normalizer = _front(language).normalizer()
    normalizer.push(token)
    normalizer.flush()
    return {place for start, end, _ in normalizer.skipped for place in range(start, end)}


def counts(token: str, place: int) -> bool:
    """Whether a character must be heard where it stands."""
    char = token[place]
    before = token[:place]
    behind = token[place + 1 :]
    if (
        char in (behind[:1], before[-1:])
        or is_picture(char)
        or behind[:1] == "\ufe0f"
        or char.isspace()
    ):
        return False
    if char == "0" or (char.isdigit() and re.search(r"\[[0-9,]*$", before)):
        return False
    if re.fullmatch(r"\W*(?:h|ht|htt|http)", before) and re.match("s?://", behind):
        return False
    if (
        char in "-−"
        and not re.search(r"[\w).-]$", before)
        and re.match(r"(?:[A-Z]{0,3}[$€£])?[0-9]", behind)
    ):
        return True
    if is_silent(char) or char in "/\\'’":
        return False
    if char.isalpha() and re.fullmatch(
        r"\W*[0-9]+(?:er|re|ère|nde?)\W*", token
    ):  # "1er" and "1e" are one ordinal.
        return False
    if char in "$":
        return re.match(r"[0-9]", behind) is not None and "$" not in before + behind
    if re.search(r"[-+|*:/]{2}", before[-1:] + char + behind[:1]):
        return False
    if char in "<>":
        return bool(re.search(r"\w", before) and re.search(r"\w", behind)) and not re.search(
            "<[^>]*>", token
        )
    return True
