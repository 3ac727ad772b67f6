"""French numbers in words: of France, or with septante and nonante."""

from __future__ import annotations

from sayahead.text.shared.numerals import dated, decimals, millions
from sayahead.text.shared.record import Left

_UNDER_17 = ("zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize").split()
_TENS = "vingt trente quarante cinquante soixante".split()
_SCALES = ((10**12, "un billion", "billions"), (10**9, "un milliard", "milliards"), (10**6, "un million", "millions"))
_PARTS = {2: "demi", 3: "tiers", 4: "quart"}
_ORDINALS = {"cinq": "cinquième", "neuf": "neuvième", "quatre-vingts": "quatre-vingtième"}
MONTHS = "janvier février mars avril mai juin juillet août septembre octobre novembre décembre".split()


def cardinal(value: int, form: str = "") -> str:
    """A whole number; ``f`` makes ``une`` of its last one."""
    if value == 0:
        return "zéro"
    said, value = millions(value, _SCALES, _thousands)
    if value:
        said.append(_thousands(value))
    text = " ".join(said)
    return f"{text}e" if form == "f" and (text == "un" or text.endswith((" un", "-un"))) else text


def _thousands(value: int) -> str:
    thousands, rest = divmod(value, 1000)
    head = ""
    if thousands:
        count = _hundreds(thousands)
        count = count.removesuffix("s") if count.endswith(("cents", "vingts")) else count
        head = "mille" if thousands == 1 else f"{count} mille"
    return f"{head} {_hundreds(rest) if rest else ''}".strip()


def _hundreds(value: int) -> str:
    hundreds, rest = divmod(value, 100)
    head = "" if not hundreds else "cent" if hundreds == 1 else f"{_UNDER_17[hundreds]} cent{'' if rest else 's'}"
    return f"{head} {_tens(rest) if rest else ''}".strip()


def _tens(value: int) -> str:
    if value < 17:
        return _UNDER_17[value]
    if value < 20:
        return f"dix-{_UNDER_17[value - 10]}"
    if value >= 80:
        return "quatre-vingts" if value == 80 else f"quatre-vingt-{_tens(value - 80)}"
    if value >= 70:
        return "soixante et onze" if value == 71 else f"soixante-{_tens(value - 60)}"
    tens, ones = divmod(value, 10)
    head = _TENS[tens - 2]
    return head if not ones else f"{head} et un" if ones == 1 else f"{head}-{_UNDER_17[ones]}"


def ordinal(value: int, form: str = "") -> str:
    """An ordinal; its feminine differs for the first (``f``) and the second of two (``df``, ``dm``)."""
    if value == 1:
        return "première" if form in ("f", "fp") else "premier"
    if form in ("dm", "df") and value == 2:
        return "seconde" if form == "df" else "second"
    if form in ("fp", "mp"):
        return ordinal(value) + "s"
    text = cardinal(value)
    for end, said in _ORDINALS.items():
        if text.endswith(end):
            return text.removesuffix(end) + said
    if text.endswith("s") and not text.endswith("trois"):
        text = text.removesuffix("s")
    return text.removesuffix("e") + "ième"


def fraction(figures: str) -> str:
    """Behind the decimal mark."""
    return decimals(figures, cardinal, 3)


def part(above: int, below: int) -> str:
    """Halves to tenths, and hundredths."""
    if above == 0 or not (2 <= below <= 10 or below in (12, 16, 20, 100, 1000)):
        return ""
    name = _PARTS.get(below) or ordinal(below)
    return f"{cardinal(above)} {name if above == 1 or name.endswith('s') else name + 's'}"


def varies(value: int) -> bool:
    """What ends in one has a gender, but eleven and seventy-one."""
    return value % 10 == 1 and value % 100 not in (11, 71, 91)


_FEMININE = tuple(
    "tion sion té ure ance ence ette esse ée ie ine aine elle euse rice ade ude ille onne pomme somme".split()
)


def gender(noun: str, left: Left) -> str:
    """By the noun's ending, where that tells."""
    word = noun.lower().removesuffix("s")
    return "f" if word.endswith(_FEMININE) and len(word) > 4 else "m"


def roman(value: int, left: Left) -> str:
    """``Louis quatorze``, ``François premier``."""
    return "premier" if value == 1 and left.kind != "roman" else cardinal(value)


def clock(hour: int, minute: int | None, second: int | None, left: Left) -> str:
    """``quatorze heures trente``."""
    said = f"{cardinal(hour, 'f')} heure{'s' if hour > 1 else ''}"
    if minute:
        said += f" {cardinal(minute, 'f')}"
    if second is not None:
        said += f" et {cardinal(second, 'f')} seconde{'s' if second > 1 else ''}"
    return said


def date(day: int, month: int, year: int | None, left: Left) -> str:
    """``premier mai deux mille vingt-quatre``."""
    return dated(day, MONTHS[month - 1], year, cardinal, first="premier")


def of(noun: str) -> str:
    """``d'euros``, ``de dollars``."""
    return f"d'{noun}" if noun[0] in "aeiouéèhy" else f"de {noun}"


def singular(value: float) -> bool:
    """Below two is singular."""
    return value < 2
