"""Italian numbers in words."""

from __future__ import annotations

from sayahead.text.shared.numerals import dated, decimals, millions
from sayahead.text.shared.record import Left

_UNDER_20 = (
    "zero uno due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici sedici "
    "diciassette diciotto diciannove"
).split()
_TENS = "venti trenta quaranta cinquanta sessanta settanta ottanta novanta".split()
_FIRST = "primo secondo terzo quarto quinto sesto settimo ottavo nono decimo".split()
_SCALES = ((10**12, "un bilione", "bilioni"), (10**9, "un miliardo", "miliardi"), (10**6, "un milione", "milioni"))
_PARTS = dict(enumerate(["mezzo", *_FIRST[2:]], 2))
MONTHS = """
    gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre
    """.split()
VOWELS = "aeiouàèéìòù"


def cardinal(value: int, form: str = "") -> str:
    """A whole number; one agrees with the noun: ``m`` un, ``s`` uno (before ``st-``), ``f`` una, ``e`` un'."""
    if value == 1:
        return {"m": "un", "f": "una", "e": "un'", "s": "uno"}.get(form, "uno")
    said, value = millions(value, _SCALES, _thousands)
    if value or not said:
        said.append(_thousands(value))
    return " ".join(said)


def _thousands(value: int) -> str:
    thousands, rest = divmod(value, 1000)
    head = "" if not thousands else "mille" if thousands == 1 else _under_1000(thousands, last=False) + "mila"
    if not head:
        return _under_1000(rest)
    return head + ("tré" if rest == 3 else _under_1000(rest) if rest else "")


def _under_1000(value: int, *, last: bool = True) -> str:
    hundreds, rest = divmod(value, 100)
    head = "" if not hundreds else "cento" if hundreds == 1 else _UNDER_20[hundreds] + "cento"
    if not rest and head:
        return head
    if rest < 20:
        tail = _UNDER_20[rest]
    else:
        tens, ones = divmod(rest, 10)
        ten = _TENS[tens - 2]
        tail = ten if not ones else (ten[:-1] if ones in (1, 8) else ten) + _UNDER_20[ones]
    if head and tail.startswith("ott"):
        head = head.removesuffix("o")
    text = head + tail
    return text[:-1] + "é" if last and text.endswith("tre") and text != "tre" else text


def ordinal(value: int, form: str = "m") -> str:
    """An ordinal, ``m`` or ``f``."""
    if value <= 10:
        text = _FIRST[value - 1]
    else:
        text = _thousands(value).replace("é", "e")
        if text.endswith(("tre", "sei")):
            text += "esimo"
        elif text.endswith("mila"):
            text = text.removesuffix("mila") + "millesimo"
        else:
            text = text[:-1] + "esimo"
    return text[:-1] + "a" if form == "f" else text


def fraction(figures: str) -> str:
    """Behind the decimal mark."""
    return decimals(figures, cardinal, 2)


def part(above: int, below: int) -> str:
    """Halves to hundredths."""
    if above == 0 or not (2 <= below <= 20 or below in (100, 1000)):
        return ""
    name = _PARTS.get(below) or ordinal(below)
    return f"{cardinal(above, 'm')} {name if above == 1 else name[:-1] + 'i'}"


def varies(value: int) -> bool:
    """One has a gender."""
    return value == 1


_FEMININE = ("a", "zione", "sione", "tà", "tù", "trice", "gione")
_NONE = frozenset(
    """
    a al alla con da dal di del della e è ed in il lo la i gli le nel nella o per più si su tra fra un una uno
    """.split()
)


def gender(noun: str, left: Left) -> str:
    """By the noun's ending and its beginning: ``un``, ``uno``, ``una``, ``un'``."""
    word = noun.lower()
    if word in _NONE or not word[-1:].isalpha() or word[-1] not in VOWELS:
        return "" if word in _NONE or not noun.islower() else "m"
    if word.endswith(_FEMININE) and word not in ("problema", "sistema", "programma", "tema", "poeta", "clima"):
        return "e" if word[0] in VOWELS else "f"
    impure = word[0] in "zx" or word.startswith(("gn", "ps", "pn", "y")) or (word[0] == "s" and word[1:2] not in VOWELS)
    return "s" if impure else "m"


def roman(value: int, left: Left) -> str:
    """``Luigi quattordicesimo``, ``secolo ventesimo``."""
    feminine = left.word.endswith("a") and left.kind != "roman"
    return ordinal(value, "f" if feminine else "m")


def clock(hour: int, minute: int | None, second: int | None, left: Left) -> str:
    """``quattordici e trenta``."""
    said = "una" if hour == 1 else cardinal(hour)
    if minute:
        said += f" e {'zero ' if minute < 10 else ''}{cardinal(minute)}"
    if second is not None:
        said += f" e {cardinal(second, 'm')} second{'o' if second == 1 else 'i'}"
    return said


def date(day: int, month: int, year: int | None, left: Left) -> str:
    """``primo maggio duemilaventiquattro``."""
    first = "uno" if left.word[-1:] == "'" else "primo"  # "l'1/3", "il primo marzo"
    return dated(day, MONTHS[month - 1], year, cardinal, first=first)


def of(noun: str) -> str:
    """``di euro``."""
    return f"di {noun}"
