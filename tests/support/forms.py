"""Values of every kind in six languages, carriers around them, and what must hold of their readings whatever they are.

No check needs a reference: a value is read alike wherever it stands, whatever surrounds it, and whichever of its
numbers it has; what ends a sentence ends it; and taking out a character that is heard changes what is said.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random

from sayahead.text import FrontEnd, front_end
from sayahead.text.shared.signs import is_picture, is_silent
from sayahead.types import Word

LANGUAGES = ("en", "de", "es", "fr", "it", "pt")
WRAPPED = ("“{}”", "({})", "**{}**", "*{}*", "[{}]")
QUOTED = ('"{}"', "'{}'", "«{}»")
CARRIERS = {
    "en": ("They wrote {} there", "Nobody saw {} again", "She told them {} twice"),
    "de": ("Sie schrieben {} dazu", "Niemand sah {} wieder", "Dort stand {} daneben"),
    "es": ("Ellos escribieron {} aquí", "Nadie vio {} ayer", "Allí ponía {} así"),
    "fr": ("Ils écrivent {} dessus", "Personne ne voit {} ici", "Elle montre {} souvent"),
    "it": ("Loro scrivono {} lì", "Nessuno vede {} qui", "Lei mostra {} ieri"),
    "pt": ("Eles escrevem {} aqui", "Ninguém viu {} ontem", "Ela mostra {} ali"),
}
_NEXT = {"en": "The", "de": "Dann", "es": "Después", "fr": "Ensuite", "it": "Dopo", "pt": "Depois"}
_MONTHS = {
    "en": "January February March April May June July August September October November December",
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "it": "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "pt": "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
}
_SHORT_MONTHS = {
    "en": ("Oct {}", "{} Nov", "Sept {}"),
    "de": ("{}. Okt", "{}. Nov", "{}. Feb"),
    "es": ("{} oct", "{} nov", "{} de feb"),
    "fr": ("{} oct", "{} nov", "{} janv"),
    "it": ("{} ott", "{} nov", "{} gen"),
    "pt": ("{} out", "{} nov", "{} fev"),
}
_SAME = (("-", "\u2010"), ("-", "\u2011"), ("µ", "μ"), ("°C", "℃"), ("!=", "≠"), (">=", "≥"), ("<=", "≤"), ("″", "′′"))
"""Signs that are written in two ways."""
_UNITS = "km m cm mm kg g mg µg μg ml mL L l kW kWh MHz GB MB kΩ Ω °C km/h m² m³ mg/kg mg/dL mmHg %".split()


def digits(random: Random, least: int, most: int) -> str:
    """A whole number."""
    return str(random.randint(least, most))


def _date(language: str, random: Random) -> str:
    day, month, year = digits(random, 2, 28), random.choice(_MONTHS[language].split()), digits(random, 1950, 2039)
    if language == "en":
        forms = (
            f"{month} {day}, {year}",
            f"{day} {month} {year}",
            f"{month[:3]} {day}",
            f"{month.upper()} {day}, {year}",
        )
        return random.choice(forms)
    if language == "de":
        return random.choice((f"{day}. {month} {year}", f"{day}.{random.randint(1, 12)}.{year}"))
    link = " de " if language in ("es", "pt") else " "
    return random.choice((f"{day}{link}{month}{link}{year}", f"{day}/{random.randint(1, 12)}/{year}"))


def _decimal(language: str, random: Random) -> str:
    return f"{random.randint(0, 99)}{'.' if language == 'en' else ','}{random.randint(1, 9)}{random.choice(('', '5'))}"


def _large(language: str, random: Random) -> str:
    mark = {"en": ",", "fr": " "}.get(language, ".")
    return f"{random.randint(1, 999)}{mark}{random.randint(0, 999):03}"


def _money(language: str, random: Random) -> str:
    sign, amount = random.choice("$€£"), f"{random.randint(2, 999)}"
    cents = f"{'.' if language == 'en' else ','}{random.randint(11, 99)}" if random.random() < 0.5 else ""
    return f"{sign}{amount}{cents}" if language == "en" else f"{amount}{cents} {sign}"


def _measure(language: str, random: Random) -> str:
    amount = random.choice((digits(random, 2, 900), _decimal(language, random)))
    return f"{amount} {random.choice(_UNITS)}"


_MILLIONS = {"en": "million", "de": "Mio.", "es": "millones", "fr": "millions", "it": "milioni", "pt": "milhões"}
_MARKS = {"en": "th", "de": ".", "es": ".º", "fr": "e", "it": "º", "pt": "º"}


def _ordinal(language: str, random: Random) -> str:
    return f"{random.randint(4, 20)}{_MARKS[language]}"


Maker = Callable[[str, Random], str]
KINDS: dict[str, Maker] = {
    "number": lambda language, random: random.choice((digits(random, 32, 999), _large(language, random))),
    "decimal": _decimal,
    "date": _date,
    "time": lambda language, random: f"{random.randint(1, 12)}:{random.randint(10, 59)}",
    "money": _money,
    "measure": _measure,
    "glued": lambda language, random: digits(random, 2, 900) + random.choice("km kg mg ml GB % °C".split()),
    "percent": lambda language, random: _decimal(language, random) + "%",
    "range": lambda language, random: f"{random.randint(2, 40)}–{random.randint(41, 99)}",
    "fraction": lambda language, random: random.choice(("3/4", "2/3", "1/4", "¾", "⅖", "2 3/4", "1 1/4")),
    "version": lambda language, random: f"{random.randint(1, 20)}.{random.randint(13, 40)}.{random.randint(1, 20)}",
    "code": lambda language, random: f"{random.choice('ABDEFGHKPRST')}{random.randint(2, 99)}",
    "file": lambda language, random: f"report{random.randint(1, 99)}.{random.choice('pdf txt html'.split())}",
    "mail": lambda language, random: f"anna{random.randint(1, 99)}@example.{random.choice('com org de'.split())}",
    "url": lambda language, random: f"https://example.com/page{random.randint(1, 99)}",
    "ratio": lambda language, random: f"1:{random.choice((75, 100, 250, 500))}",
    "formula": lambda language, random: random.choice(("x² = 9", "$y = 7$", "E = 5", "$z < 8$", "2 + 2 = 4", "π ≈ 3")),
    "greek": lambda language, random: random.choice("α β γ Δ θ λ π σ ω".split()),
    "zone": lambda language, random: f"UTC{random.choice('+-')}{random.randint(1, 12)}",
    "rate": lambda language, random: digits(random, 2, 200) + random.choice(("/h", " km/h", " mg/ml", " m/s")),
    "ordinal": _ordinal,
    "telephone": lambda language, random: (
        f"+{random.randint(30, 59)} {random.randint(100, 999)} {random.randint(1000, 9999)}"
    ),
    "heat": lambda language, random: (
        f"{random.choice(('-', '−', ''))}{random.randint(2, 40)} {random.choice(('°C', '°F'))}"
    ),
    "size": lambda language, random: f"{random.randint(2, 90)} x {random.randint(2, 90)} cm",
    "each": lambda language, random: _money(language, random).replace(" ", "") + random.choice(("/kg", "/h")),
    "chemistry": lambda language, random: random.choice("H₂O CO₂ NaCl Ca²⁺ C₆H₁₂O₆".split()),
    "place": lambda language, random: (
        f"{random.randint(11, 80)}°{'.' if language == 'en' else ','}{random.randint(1, 9)}".replace("°", "") + "°"
    ),
    "power": lambda language, random: random.choice(
        ("10⁶", "10⁻³", "2⁸", "x³", "5 × 10⁶", "3.2 × 10⁴" if language == "en" else "3,2 × 10⁴")
    ),
    "latex": lambda language, random: random.choice(
        (r"$\alpha$", r"$x \le 5$", r"$\frac{a}{b}$", r"$\sqrt{2}$", "$2^{10}$", r"$5 \times 7$")
    ),
    "currency": lambda language, random: (
        f"{random.randint(2, 99)} {random.choice('USD EUR GBP CHF MXN SEK JPY'.split())}"
    ),
    "scaled": lambda language, random: f"{random.randint(2, 99)} {_MILLIONS[language]}",
    "position": lambda language, random: (
        f"{random.randint(2, 89)}°{random.randint(2, 59)}′{random.randint(2, 59)}″{random.choice('NSE')}"
    ),
    "prime": lambda language, random: f"{random.randint(2, 99)}{random.choice('′″')}",
    "operator": lambda language, random: f"n {random.choice('!= >= <= == ≠ ≥ ≤'.split())} {random.randint(2, 99)}",
    "path": lambda language, random: random.choice(
        ("/etc/hosts", "./src/main{}.rs", r"C:\Temp\a{}.txt", "src/app{}.py", "~/notes{}.md", ".env", "lib.run()")
    ).format(random.randint(2, 99)),
    "codes": lambda language, random: (
        f"{(letter := random.choice('ABCDFGHK'))}{random.randint(2, 19)}-{letter}{random.randint(20, 40)}"
    ),
    "multiple": lambda language, random: f"{random.randint(2, 20)}x",
    "port": lambda language, random: f"localhost:{random.randint(3000, 9999)}",
    "each100": lambda language, random: f"{_decimal(language, random)} l/100 km",
    "month": lambda language, random: random.choice(_SHORT_MONTHS[language]).format(random.randint(2, 28)),
    "dose": lambda language, random: (
        digits(random, 2, 900) + random.choice((" μg", " µg", "μg", " mg", " ml", " mg/kg"))
    ),
}


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
    return " ".join(re.findall(r"[^\W_]+(?:['’.][^\W_]+)*|[%€$£+=<>&@§°]", text.lower().replace("-", " ")))


def said(language: str, text: str) -> str:
    """What is said of a text."""
    return heard(" ".join(word.text for word in words_of(language, text)))


def sentences(language: str, text: str) -> int:
    """How many sentences a text has."""
    words = words_of(language, text)
    return sum(word.ends for word in words)


def within(language: str, carrier: str, value: str) -> str | None:
    """What is said of a value in a carrier; None if the carrier's own words are not said as they stand."""
    whole, (before, after) = said(language, carrier.format(value)), map(heard, carrier.split("{}"))
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
        yield Broken("the carrier's words stay", carrier.format(value), said(language, carrier.format(value)), "", "")
        return
    if re.search(r"[0-9]", base):
        yield Broken("no figure is left", value, base, "", "")
    variants = [("another carrier", c, value) for c in carriers if c != carrier]
    variants += [("what surrounds it", carrier, wrap.format(value)) for wrap in WRAPPED]
    variants += [("another sign for the same", carrier, value.replace(*pair)) for pair in _SAME if pair[0] in value]
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
                rule, carrier.format(value), base, around.format(form), said_here or said(language, around.format(form))
            )
    before = carrier.split("{}")[0]
    if kind == "ordinal" and language == "de":
        return  # Its full stop is its own.
    for mark in "." if kind in ("formula", "operator") else ".!?":  # "= 5!" is a factorial.
        text = f"{before}{value}{mark} {_NEXT[language]} {carriers[0].split()[0].lower()}"
        if sentences(language, text) != 2 or not said(language, text).startswith(f"{heard(before)} {base}"):
            yield Broken("what ends a sentence ends it", carrier.format(value), base, text, said(language, text))
    for line in (f"| {value} | xyz |\n", f"- {value}\n- xyz"):
        if said(language, line) != f"{base} xyz":
            yield Broken("tables and lists", carrier.format(value), base, line, said(language, line))
    yield from _framed(language, kind, carrier, value, base, random)
    yield from losses(language, carrier.format(value))
    text = carrier.format(value) + "."
    if split := _split(language, text, random):
        yield Broken("any split reads the same", text, said(language, text), "", split)


def _split(language: str, text: str, random: Random) -> str:
    """What a random split of a text reads otherwise, or nothing."""
    whole, normalizer, out, at = words_of(language, text), _front(language).normalizer(), [], 0
    while at < len(text):
        size = random.randint(1, 4)
        out += normalizer.push(text[at : at + size])
        at += size
    out += normalizer.flush()
    return "" if out == whole else " ".join(word.text for word in out)


def _framed(language: str, kind: str, carrier: str, value: str, base: str, random: Random) -> Iterator[Broken]:
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
    pieces = {piece for value in values for piece in re.split(r"[ -]", said(language, f"x {value} x")[2:-2])}
    inflected = r"\w*(?:cient|gent|zent|cent|inient)[ao]s|veinti[uú]n[oa]?|ún|quinhent[ao]s|du[ae]s?|un[oa]?|um|uma|hum"
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
        "tausend",
        "mila",
    }
    return re.compile(f"(?:{'|'.join(sorted(map(re.escape, pieces - {''}), key=len, reverse=True))})+|{inflected}")


def _frame(language: str, words: str) -> list[str]:
    """The words that are no numbers, in the plural or not."""
    return [word.rstrip("s") for word in re.split(r"[ -]", words) if not _morphemes(language).fullmatch(word)]


def losses(language: str, text: str) -> Iterator[Broken]:
    """Characters that are not on the list of silent ones, but change nothing where they are taken out."""
    for token in dict.fromkeys(text.split()):
        yield from _lost(language, token)


@functools.lru_cache(maxsize=65536)
def _lost(language: str, token: str) -> tuple[Broken, ...]:
    if token.isascii() and re.fullmatch(r"[^\w]*[a-zA-Z'’-]*[^\w]*", token) and not re.search(r"[%&@+=<>$]", token):
        return ()
    whole = said(language, f"xx {token} yy")
    hidden = {place for tag in _HIDDEN.finditer(token) for place in range(*tag.span())} | _told(language, token)
    lost = []
    for place, char in enumerate(token):
        if place in hidden or not counts(token, place):
            continue
        rest = token[:place] + token[place + 1 :]
        if said(language, f"xx {rest} yy") == whole:
            lost.append(Broken("nothing is lost", token, whole, f"without {char!r} (U+{ord(char):04X})", whole))
    return tuple(lost)


_HIDDEN = re.compile(r"</?[A-Za-z][\w-]*(?: [^<>]*)?/?>|&#?\w{1,8};")
"""Tags and entities: their letters are not text. Placeholders look the same, and are tried by themselves."""


def _told(language: str, token: str) -> set[int]:
    """The places of what a voice cannot read: a warning tells of it."""
    normalizer = _front(language).normalizer()
    normalizer.push(token)
    normalizer.flush()
    return {place for start, end, _ in normalizer.skipped for place in range(start, end)}


def counts(token: str, place: int) -> bool:
    """Whether a character must be heard where it stands."""
    char, before, behind = token[place], token[:place], token[place + 1 :]
    if char in (behind[:1], before[-1:]) or is_picture(char) or behind[:1] == "\ufe0f" or char.isspace():
        return False
    if char == "0" or (char.isdigit() and re.search(r"\[[0-9,]*$", before)):
        return False
    if re.fullmatch(r"\W*(?:h|ht|htt|http)", before) and re.match("s?://", behind):
        return False
    if is_silent(char) or char in "/\\'’":
        return False
    if char.isalpha() and re.fullmatch(r"\W*[0-9]+(?:er|re|ère|nde?)\W*", token):  # "1er" and "1e" are one ordinal.
        return False
    if char in "$":
        return re.match(r"[0-9]", behind) is not None and "$" not in before + behind
    if re.search(r"[-+|*:/]{2}", before[-1:] + char + behind[:1]):
        return False
    if char in "<>":
        return bool(re.search(r"\w", before) and re.search(r"\w", behind)) and not re.search("<[^>]*>", token)
    return True
