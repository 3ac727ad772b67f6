"""Spanish numbers in words."""

from __future__ import annotations

from sayahead.text.shared.numerals import dated, decimals, millions
from sayahead.text.shared.record import Left
from sayahead.text.shared.tables import parts

_UNDER_30 = (
    "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete "
    "dieciocho diecinueve veinte veintiuno veintidós veintitrés veinticuatro veinticinco veintiséis veintisiete "
    "veintiocho veintinueve"
).split()
_TENS = "treinta cuarenta cincuenta sesenta setenta ochenta noventa".split()
_HUNDREDS = (
    "ciento doscientos trescientos cuatrocientos quinientos seiscientos setecientos ochocientos novecientos"
).split()
_FIRST = """
    primero segundo tercero cuarto quinto sexto séptimo octavo noveno décimo undécimo duodécimo
    """.split()
_TENTHS = """
    décimo vigésimo trigésimo cuadragésimo quincuagésimo sexagésimo septuagésimo octogésimo nonagésimo
    """.split()
_PARTS = parts(
    "2 medio 3 tercio 4 cuarto 5 quinto 6 sexto 7 séptimo 8 octavo 9 noveno 10 décimo 12 doceavo "
    "16 dieciseisavo 20 veinteavo 100 centésimo 1000 milésimo"
)
_SCALES = ((10**12, "un billón", "billones"), (10**6, "un millón", "millones"))
MONTHS = "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre".split()


def cardinal(value: int, form: str = "") -> str:
    """A whole number; before a noun ``m`` cuts the last one short, ``f`` makes it and the hundreds feminine."""
    if value == 0:
        return "cero"
    said, rest = millions(value, _SCALES, lambda count: _thousands(count, "m"))
    if rest:
        said.append(_thousands(rest, form))
    return " ".join(said)


def _thousands(value: int, form: str) -> str:
    thousands, rest = divmod(value, 1000)
    head = (
        "" if not thousands else "mil" if thousands == 1 else f"{_hundreds(thousands, 'f' if form == 'f' else 'm')} mil"
    )
    return f"{head} {_hundreds(rest, form) if rest else ''}".strip()


def _hundreds(value: int, form: str) -> str:
    if value == 100:
        return "cien"
    hundreds, rest = divmod(value, 100)
    head = _HUNDREDS[hundreds - 1] if hundreds else ""
    if form == "f" and hundreds > 1:
        head = head.removesuffix("os") + "as"
    if not rest:
        return head
    if rest < 30:
        tail = _UNDER_30[rest]
    else:
        tens, ones = divmod(rest, 10)
        tail = _TENS[tens - 3] + (f" y {_UNDER_30[ones]}" if ones else "")
    if tail.endswith("uno") and form:
        tail = tail.removesuffix("uno") + ("una" if form == "f" else "un")
        tail = "veintiún" if tail == "veintiun" else tail
    return f"{head} {tail}".strip()


def ordinal(value: int, form: str = "m") -> str:
    """An ordinal, ``m``, ``f`` or cut short before a masculine noun (``s``); beyond a hundred a count."""
    if value > 100:
        return cardinal(value)
    if value == 100:
        text = "centésimo"
    elif value <= 12:
        text = _FIRST[value - 1]
    elif value < 20:
        text = "decimo" + {3: "tercero", 7: "séptimo"}.get(value - 10, _FIRST[value - 11])
    else:
        tens, ones = divmod(value, 10)
        text = _TENTHS[tens - 1] + (f" {_FIRST[ones - 1]}" if ones else "")
    if form == "f":
        return " ".join(word.removesuffix("o") + "a" for word in text.split())
    return text.removesuffix("o") if form == "s" and text.endswith(("primero", "tercero")) else text


def fraction(figures: str) -> str:
    """Behind the decimal mark."""
    return decimals(figures, cardinal, 2)


def part(above: int, below: int) -> str:
    """Halves to tenths, and some more."""
    if above == 0 or below not in _PARTS:
        return ""
    return f"{cardinal(above, 'm')} {_PARTS[below]}{'' if above == 1 else 's'}"


def varies(value: int) -> bool:
    """What ends in one, but eleven, and hundreds from two on."""
    rest = value % 1000
    thousands = value // 1000 % 1000
    return (rest % 10 == 1 and rest % 100 != 11) or rest >= 200 or thousands >= 200


_FEMININE = tuple("a as ción ciones sión siones dad dades tud tudes umbre umbres gión giones".split())
_MASCULINE = frozenset(
    """
    día días problema problemas sistema sistemas programa programas tema temas mapa mapas idioma idiomas planeta
    planetas clima poema poemas drama dramas euro kilo gramo gramos
    """.split()
)
_FEMININE_NOUNS = frozenset(
    """
    vez veces mujer mujeres noche noches calle calles parte partes hectáreas gente clase clases red redes llave
    llaves sal voz voces nave naves imagen imágenes
    """.split()
)
_NONE = frozenset(
    """
    a al ante con de del desde e el en entre es está fue fueron eran son ha han hasta la las lo los más no o
    para por pero que se según si sin sobre su tras u un una y ya me te le les nos menos
    """.split()
)


def gender(noun: str, left: Left) -> str:
    """By the noun's ending; nothing for words that are no nouns."""
    word = noun.lower()
    if word in _NONE:
        return ""
    if word in _FEMININE_NOUNS:
        return "f"
    if word in _MASCULINE:
        return "m"
    if word.endswith(_FEMININE):
        return "f" if left.one or word.endswith(("s",)) else ""
    return "m" if word.endswith(("s", "o")) or left.one else ""


def roman(value: int, left: Left) -> str:
    """``Felipe sexto``, ``Alfonso trece``, ``siglo veinte``."""
    feminine = left.word.endswith("a") and left.kind != "roman"
    return ordinal(value, "f" if feminine else "m") if value <= 10 and left.kind != "century" else cardinal(value)


def clock(hour: int, minute: int | None, second: int | None, left: Left) -> str:
    """``catorce treinta``, ``diez en punto``; the hour is feminine."""
    said = cardinal(hour, "f")
    if minute:
        said += (" cero " if minute < 10 else " ") + cardinal(minute)
    elif second is None:
        said += " en punto" if 0 < hour <= 12 else " hora" if hour == 1 else " horas"
    else:
        said += " horas"
    if second is not None:
        said += f" y {cardinal(second, 'm')} segundo{'' if second == 1 else 's'}"
    return said


def date(day: int, month: int, year: int | None, left: Left) -> str:
    """``tres de mayo de dos mil veinticuatro``."""
    return dated(day, MONTHS[month - 1], year, cardinal, of=" de ")


def of(noun: str) -> str:
    """``de euros``."""
    return f"de {noun}"
