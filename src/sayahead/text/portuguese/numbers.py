"""Portuguese numbers in words."""

from __future__ import annotations

import functools
from collections.abc import Callable

from sayahead.text.shared.numerals import dated, decimals, millions
from sayahead.text.shared.record import Left
from sayahead.text.shared.tables import parts

_UNDER_20 = (
    "zero um dois três quatro cinco seis sete oito nove dez onze doze treze catorze quinze dezasseis dezassete dezoito "
    "dezanove"
).split()
_BRAZIL = {16: "dezesseis", 17: "dezessete", 19: "dezenove"}
_TENS = "vinte trinta quarenta cinquenta sessenta setenta oitenta noventa".split()
_HUNDREDS = """
    cento duzentos trezentos quatrocentos quinhentos seiscentos setecentos oitocentos novecentos
    """.split()
_FIRST = "primeiro segundo terceiro quarto quinto sexto sétimo oitavo nono".split()
_TENTHS = """
    décimo vigésimo trigésimo quadragésimo quinquagésimo sexagésimo septuagésimo octogésimo nonagésimo
    """.split()
_PARTS = parts(
    "2 meio 3 terço 4 quarto 5 quinto 6 sexto 7 sétimo 8 oitavo 9 nono 10 décimo 100 centésimo 1000 milésimo"
)
_MILLION = (10**6, "um milhão", "milhões")
_SCALES = ((10**12, "um bilião", "biliões"), _MILLION)
_BRAZILIAN_SCALES = ((10**12, "um trilhão", "trilhões"), (10**9, "um bilhão", "bilhões"), _MILLION)
MONTHS = "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro".split()


def cardinal(value: int, form: str = "", *, brazil: bool = False) -> str:
    """A whole number; ``f`` makes one, two and the hundreds feminine."""
    scales = _BRAZILIAN_SCALES if brazil else _SCALES
    said, value = millions(value, scales, lambda count: _thousands(count, "", brazil))
    if not value:
        return " ".join(said) or "zero"
    tail = _thousands(value, form, brazil)
    linked = value < 100 or (value < 1000 and value % 100 == 0) or (value % 1000 == 0 and value < 10**5)
    return " ".join([*said, f"e {tail}" if said and linked else tail])


def _thousands(value: int, form: str, brazil: bool) -> str:
    thousands, rest = divmod(value, 1000)
    if not thousands:
        return _hundreds(rest, form, brazil)
    head = "mil" if thousands == 1 else f"{_hundreds(thousands, form, brazil)} mil"
    if not rest:
        return head
    joint = " e " if rest < 100 or rest % 100 == 0 else " "
    return f"{head}{joint}{_hundreds(rest, form, brazil)}"


def _hundreds(value: int, form: str, brazil: bool) -> str:
    if value == 100:
        return "cem"
    hundreds, rest = divmod(value, 100)
    said = []
    if hundreds:
        name = _HUNDREDS[hundreds - 1]
        said.append(name.removesuffix("os") + "as" if form == "f" and hundreds > 1 else name)
    tens, ones = divmod(rest, 10)
    if rest >= 20:
        said.append(_TENS[tens - 2])
        rest = ones
    if rest:
        name = (_BRAZIL.get(rest) if brazil else None) or _UNDER_20[rest]
        said.append({"um": "uma", "dois": "duas"}.get(name, name) if form == "f" else name)
    return " e ".join(said)


def ordinal(value: int, form: str = "m") -> str:
    """An ordinal, ``m`` or ``f``; beyond a hundred a count."""
    if value > 100:
        return cardinal(value)
    if value == 100:
        text = "centésimo"
    else:
        tens, ones = divmod(value, 10)
        text = " ".join(([_TENTHS[tens - 1]] if tens else []) + ([_FIRST[ones - 1]] if ones else []))
    return " ".join(word.removesuffix("o") + "a" for word in text.split()) if form == "f" else text


def fraction(figures: str, *, brazil: bool = False) -> str:
    """Behind the decimal mark."""
    return decimals(figures, brazilian if brazil else cardinal, 2)


def part(above: int, below: int) -> str:
    """Halves to tenths, hundredths and thousandths."""
    if above == 0 or below not in _PARTS:
        return ""
    return f"{cardinal(above)} {_PARTS[below]}{'' if above == 1 else 's'}"


def varies(value: int) -> bool:
    """What ends in one or two, but eleven and twelve, and hundreds from two on."""
    rest, thousands = value % 1000, value // 1000 % 1000
    ends = rest % 10 in (1, 2) and rest % 100 not in (11, 12)
    return ends or rest >= 200 or thousands >= 200 or (thousands % 10 == 2 and thousands % 100 != 12)


_FEMININE = (
    "a",
    "as",
    "ã",
    "ãs",
    "ção",
    "ções",
    "são",
    "sões",
    "dade",
    "dades",
    "gem",
    "gens",
    "tude",
    "tudes",
    "triz",
    "trizes",
)
_MASCULINE = frozenset(
    """
    dia dias problema problemas sistema sistemas programa programas tema temas mapa mapas idioma idiomas planeta
    planetas clima quilograma quilogramas grama gramas poema poemas
    """.split()
)
_FEMININE_NOUNS = frozenset(
    """
    vez vezes mulher mulheres noite noites parte partes mãe mães mãos mão gente classe classes rede redes chave
    colher colheres chaves voz vozes leis lei flores árvores
    """.split()
)
_NONE = frozenset(
    """
    a à ao aos as às com como da das de do dos e é em era foi foram mais mas na nas no nos o os ou para pela
    pelo por que se sem são são sobre um uma até entre
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
    if not left.one and not word.endswith("s"):
        return ""
    return "f" if word.endswith(_FEMININE) else "m"


def roman(value: int, left: Left) -> str:
    """``João sexto``, ``Luís catorze``, ``século vinte``."""
    feminine = left.word.endswith("a") and left.kind != "roman"
    return ordinal(value, "f" if feminine else "m") if value <= 10 else cardinal(value)


def clock(hour: int, minute: int | None, second: int | None, left: Left, *, brazil: bool = False) -> str:
    """``catorze e trinta``, ``dez horas``; the hour is feminine."""
    said = cardinal(hour, "f", brazil=brazil)
    if minute:
        said += f" e {cardinal(minute, brazil=brazil)}"
    else:
        said += " hora" if hour == 1 else " horas"
    if second is not None:
        said += f" e {cardinal(second, brazil=brazil)} segundo{'' if second == 1 else 's'}"
    return said


def date(day: int, month: int, year: int | None, left: Left, *, brazil: bool = False) -> str:
    """``primeiro de maio de dois mil e vinte e quatro``."""
    said = brazilian if brazil else cardinal
    return dated(day, MONTHS[month - 1], year, said, first="primeiro", of=" de ")


def of(noun: str) -> str:
    """``de euros``."""
    return f"de {noun}"


brazilian: Callable[..., str] = functools.partial(cardinal, brazil=True)
brazilian_fraction: Callable[..., str] = functools.partial(fraction, brazil=True)
brazilian_date: Callable[..., str] = functools.partial(date, brazil=True)
brazilian_clock: Callable[..., str] = functools.partial(clock, brazil=True)
