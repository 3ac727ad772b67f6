"""How one trimmed token is read aloud: numbers, money, times, addresses, symbols, names with digits.

Every reading depends on the token and on what stands to its left, never on what follows.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from sayahead.text.english import tables

_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
_TENS = " . twenty thirty forty fifty".split(" ")
_SIGNS = re.compile(r"[-=]>|[<>=!]=+|&&|[&@%+=<>\\#~°±×÷→⇒≠≤≥≈§√∞−$€£¥¢]")
_LONGEST_NUMBER = 15

NUM = r"\d+(?:,\d{3})*(?:\.\d+)?"
_CUR = "[" + "".join(tables.CURRENCIES) + "]"
_BIG = "|".join(tables.BIG)
_UNIT = "|".join(re.escape(u) for u in sorted(tables.UNITS, key=len, reverse=True))
NUMBER = re.compile(rf"[-−]?(?:{NUM}|\.\d+)")
MONEY = re.compile(rf"([-−+~]?)(?:US|A|C)?({_CUR})([-−]?{NUM})({_BIG})?")
ROMAN = re.compile(r"(?=[IVXLC])L?(?:X{0,3}|XL)(?:IX|IV|V?I{0,3})|X[LC](?:IX|IV|V?I{0,3})")
TIME = re.compile(r"(\d{1,2}):([0-5]\d)(?::([0-5]\d))?(?:([AaPp])\.?[Mm]\.?)?")
_WORD = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*")
_PIECE = re.compile(r"\S+")
_ROMAN_DIGITS = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}
_FRACTIONS = " . half third quarter fifth sixth seventh eighth ninth tenth".split(" ")


@dataclass(frozen=True, slots=True)
class Left:
    """What stands to the left in the same sentence, as far as it changes a reading."""

    kind: str = ""
    """``one``, ``number``, ``time``, ``month``, ``phone`` or nothing."""
    word: str = ""
    """The token before, trimmed; empty where a sentence begins."""
    named: bool = False
    """Whether that token is capitalised although no sentence begins with it."""


def small(n: int) -> str:
    """The words of a number below sixty."""
    return _ONES[n] if n < 20 else _TENS[n // 10] + ("-" + _ONES[n % 10] if n % 10 else "")


def ordinal(n: int) -> str:
    """A number with its ordinal ending, ``3rd``."""
    ending = "th" if n // 10 % 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{ending}"


def spell(text: str) -> str:
    """Characters one by one; ``A`` gets a dot, or it would be read as the article."""
    return " ".join("A." if c in "aA" else c.upper() for c in text if c.isalnum())


def number(text: str) -> str:
    """A number as the lexicon reads it well: no leading zero lost, no trailing zero lost, none too long."""
    sign = "minus " if text[0] in "-−" else ""
    whole, dot, decimals = text.lstrip("-−").partition(".")
    digits = whole.replace(",", "")
    if len(digits) > _LONGEST_NUMBER or (len(digits) > 1 and digits[0] == "0"):
        whole = " ".join(digits)
    if not dot:
        return sign + whole
    if len(decimals) > 8 or decimals.endswith("0") or " " in whole:
        return f"{sign}{whole or 'zero'} point {' '.join(decimals)}"
    return f"{sign}{whole}.{decimals}"


def singular(text: str) -> bool:
    return text.lstrip("-−") == "1"


def money(text: str, *, big: str = "") -> str | None:
    """An amount, ``$5.50`` as the lexicon reads it, ``5 million dollars`` where a big word goes with it."""
    if not (m := MONEY.fullmatch(text)):
        return None
    sign, cur, amount, glued = m.groups()
    big = tables.BIG.get(big or glued or "", "")
    before = {"-": "minus ", "−": "minus ", "+": "plus ", "~": "about "}.get(sign, "")
    if amount[0] in "-−":
        before, amount = "minus ", amount[1:]
    one, many = tables.CURRENCIES[cur]
    if big:
        return f"{before}{number(amount)} {big} {many}"
    cents = amount.partition(".")[2]
    if cur in "$£€" and len(cents) in (0, 2) and len(amount) <= _LONGEST_NUMBER:
        return f"{before}{cur}{amount}"
    return f"{before}{number(amount)} {one if amount == '1' else many}"


def clock(m: re.Match[str], *, half: str = "") -> str:
    """A time of day in words, ``seven thirty P.M.``."""
    hour, minute, second, glued = m.groups()
    if int(hour) > 24:
        return f"{number(hour)} to {number(minute)}" if not second else " ".join((hour, minute, second))
    words = [small(int(hour))]
    half = half or glued or ""
    if int(minute) >= 10:
        words.append(small(int(minute)))
    elif int(minute):
        words.append("oh " + small(int(minute)))
    elif second and int(second):
        words.append("zero")
    elif not half:
        words.append("o'clock")
    if second and int(second):
        words.append(f"and {small(int(second))} second" + ("" if int(second) == 1 else "s"))
    if half:
        words.append(half[0].upper() + ".M.")
    return " ".join(words)


def roman(text: str) -> int:
    """The value of a Roman numeral up to 99, or 0 if it is none."""
    if not ROMAN.fullmatch(text):
        return 0
    values = [_ROMAN_DIGITS[c] for c in text]
    return sum(-v if v < w else v for v, w in zip(values, [*values[1:], 0], strict=True))


def _digits(text: str) -> str:
    return ", ".join(" ".join(part) for part in re.findall(r"\d+", text))


def _date(year: str, month: int, day: int) -> str | None:
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    if len(year) == 2:
        year = ("19" if int(year) > 30 else "20") + year
    return f"{tables.MONTH_NAMES[month - 1]} {ordinal(day)}" + (f", {year}" if year else "")


def _slashed(m: re.Match[str]) -> str | None:
    a, b = int(m[1]), int(m[2])
    if a <= 12:
        return _date(m[3], a, b) or _date(m[3], b, a)
    return _date(m[3], b, a)


def _fraction(m: re.Match[str], left: Left) -> str:
    a, b = int(m[1]), int(m[2])
    joined = "and " if left.kind in ("number", "one") else ""
    if 0 < a < b <= 10:
        name = "halves" if b == 2 and a > 1 else _FRACTIONS[b] + ("s" if a > 1 else "")
        return f"{joined}{'a' if a == 1 and joined else 'one' if a == 1 else number(m[1])} {name}"
    return f"{number(m[1])} over {number(m[2])}" if b > 31 or a > 12 else _date("", a, b) or f"{a} over {b}"


def _unit(m: re.Match[str], left: Left) -> str:
    one, many = tables.UNITS[m[2]]
    return f"{number(m[1])} {one if singular(m[1]) else many}"


def _span(m: re.Match[str], left: Left) -> str:
    a, b = m[1], m[2]
    if a.isdigit() and b.isdigit() and len(a) > 6:
        return _digits(m[0])
    first, last = read(a, left), read(b, Left())
    return f"{first} to {last}"


def _host(text: str) -> str:
    """A host, path or file name with its dots, slashes and dashes said."""
    text = re.sub(r"%[0-9A-Fa-f]{2}", " ", text).rstrip("/")
    out: list[str] = []
    parts = re.findall(r"[^\W\d_]+|\d+|[^\w]|_", text)
    said = {".": "dot", "/": "slash", "-": "dash", "_": "underscore", "@": "at", "?": "question mark"}
    said |= {"\\": "backslash", "=": "equals", "&": "and", "#": "hash", ":": "colon", "~": "tilde", "+": "plus"}
    for i, part in enumerate(parts):
        low = part.lower()
        if part in said:
            out.append(said[part])
        elif part.isdigit():
            out.append(number(part))
        elif i and parts[i - 1] == "." and low in _ENDINGS:
            out.append(tables.SUFFIX_WORDS.get(low) or spell(low))
        elif part.isalpha():
            out.append(part if re.search("[aeiouyAEIOUY]", part) and len(part) > 1 else spell(part))
    return " ".join(out)


def url(text: str) -> str:
    """A web address without its scheme and ``www``, or a piece of one."""
    return _host(re.sub(r"^[A-Za-z]+://(?:www\.)?|^www\.|^mailto:", "", text))


_ENDINGS = tables.EXTENSIONS | tables.DOMAINS | tables.SUFFIX_WORDS.keys()
_DOMAIN = "|".join(sorted(tables.DOMAINS))
_FILE = "|".join(sorted(tables.EXTENSIONS))
_Reading = Callable[[re.Match[str], Left], str | None]
_RULES: tuple[tuple[re.Pattern[str], _Reading], ...] = tuple(
    (re.compile(pattern), reading)
    for pattern, reading in (
        (NUMBER.pattern, lambda m, left: " ".join(m[0]) if left.kind == "phone" else _counted(m[0], left)),
        (MONEY.pattern, lambda m, left: money(m[0])),
        (rf"({MONEY.pattern})[-–]({_CUR})?({NUM})({_BIG})?", lambda m, left: _money_span(m)),
        (rf"({MONEY.pattern})-({_BIG})", lambda m, left: money(m[1], big=m[6])),
        (rf"({MONEY.pattern})/([A-Za-z]+)", lambda m, left: f"{money(m[1])} per {_per(m[6])}"),
        (rf"([^\W\d_]+)[-–:]({_CUR}{NUM}\S*)", lambda m, left: f"{m[1]} {read(m[2])}"),
        (rf"([-−]?{NUM})({_CUR})", lambda m, left: money(m[2] + m[1])),
        (rf"([-−]?{NUM})({_UNIT})", _unit),
        (rf"([+~<>±=≈≤≥#])({_CUR}?[-−]?{NUM}\S*)", lambda m, left: f"{tables.SYMBOLS[m[1]]} {read(m[2], Left())}"),
        (r"0*([1-9]\d{0,11})(ST|ND|RD|TH|st|nd|rd|th)", lambda m, left: m[1] + m[2].lower()),
        (r"(\d{1,4})'?s", lambda m, left: m[1] + "s"),
        (r"(\d{1,2})([AaPp])\.?[Mm]", lambda m, left: f"{_hour(m[1])} {m[2].upper()}.M."),
        (TIME.pattern, lambda m, left: clock(m)),
        (rf"({TIME.pattern}|\d{{1,2}}(?:[ap]m)?)[-–]({TIME.pattern}|\d{{1,2}}[ap]m)", lambda m, left: _to(m[1], m[6])),
        (r"(\d+):(\d+)", lambda m, left: f"{number(m[1])} to {number(m[2])}"),
        (r"(\d{4})-(\d\d)-(\d\d)", lambda m, left: _date(m[1], int(m[2]), int(m[3]))),
        (r"(\d{1,2})/(\d{1,2})/(\d{4}|\d\d)", lambda m, left: _slashed(m)),
        (r"(\d{1,3})/(\d{1,3})", _fraction),
        (r"(?:\+?\d{1,3}[-.])?(?:\(?\d{3}\)?[-. ]?)?\d{3}[-.]\d{4}", lambda m, left: _digits(m[0])),
        (rf"({NUM})[-–]({NUM}(?:%|{_UNIT})?)", _span),
        (r"\d{1,3}(?:\.\d{1,3}){3}", lambda m, left: " dot ".join(" ".join(p) for p in m[0].split("."))),
        (r"([vV])?\.?(\d+(?:\.\d+)*)", lambda m, left: ("version " if m[1] else "") + " point ".join(m[2].split("."))),
        (r"(\d+)['](\d+)\"?", lambda m, left: f"{m[1]} foot {m[2]}"),
        (r"(\d+)[x×](\d+)", lambda m, left: f"{number(m[1])} by {number(m[2])}"),
        (r"\d{1,9}(?:st|nd|rd|th)?(?:-[A-Za-z]+)+", lambda m, left: m[0]),
        (r"x(\d+)", lambda m, left: f"times {number(m[1])}"),
        (r"\d(?:[\d,])*(?:,\d+)+", lambda m, left: ", ".join(m[0].replace(",", " ").split())),
        (r"#([A-Za-z]\w*)", lambda m, left: "hashtag " + _camel(m[1])),
        (r"@(\w[\w.-]*)", lambda m, left: "at " + _plain(m[1])),
        (r"(?:https?|ftp)://\S+|www\.\S+", lambda m, left: url(m[0])),
        (r"(?:mailto:)?[\w.+-]+@[\w-]+(?:\.[\w-]+)+", lambda m, left: url(m[0])),
        (rf"(?:[\w-]+\.)+(?:{_DOMAIN})(?:[/:?#]\S*)?", lambda m, left: url(m[0])),
        (rf"[~.]{{0,2}}[\w./\\-]*[\w-]\.(?:{_FILE})", lambda m, left: _host(m[0])),
        (r"(?:[~.]{0,2}/|[A-Za-z]:\\)[\w.-]+(?:[/\\][\w.-]+)*[/\\]?", lambda m, left: _host(m[0])),
        (r"(?:[A-Za-z]\.)+[A-Za-z]?", lambda m, left: m[0].rstrip(".") + "."),
        (r"[A-Za-z]{1,3}&[A-Za-z]{1,3}", lambda m, left: m[0]),
        (r"[A-Za-z]+-\d+(?:s|st|nd|rd|th)?", lambda m, left: m[0] if len(m[0]) < 20 else None),
    )
)


def _to(first: str, last: str) -> str:
    return f"{read(first)} to {read(last)}"


def _hour(text: str) -> str:
    return small(int(text)) if int(text) < 60 else number(text)


def _money_span(m: re.Match[str]) -> str:
    big = m[8] or ""
    last = money((m[6] or m[3]) + m[7] + big) or m[7]
    return f"{number(m[4])} {tables.BIG.get(m[5] or big, '')} to {last}".replace("  ", " ")


def _per(text: str) -> str:
    short = {"mo": "month", "yr": "year", "hr": "hour", "wk": "week", "h": "hour", "mi": "mile"}
    return tables.UNITS[text][0] if text in tables.UNITS and text not in short else short.get(text, text)


def _counted(text: str, left: Left) -> str:
    """A plain number; the day of the month after a month's name."""
    if left.kind == "month" and text.isdigit() and len(text) < 3 and 1 <= int(text) <= 31:
        return ordinal(int(text))
    return number(text)


def _camel(text: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Za-z])(?=\d)|(?<=\d)(?=[A-Za-z])|_", " ", text)


def _word(text: str, left: Left) -> str:
    """A word of letters only, with the readings that its left neighbour gives it."""
    if left.kind:
        if left.kind in ("one", "number") and text in tables.UNITS and text not in tables.GLUED_ONLY_UNITS:
            return tables.UNITS[text][0 if left.kind == "one" or text == "sq" else 1]
        if left.kind in ("number", "one", "time") and text in ("am", "pm", "AM", "PM", "a.m", "p.m", "A.M", "P.M"):
            return text[0].upper() + ".M."
    if text in tables.PLAIN:
        return tables.PLAIN[text]
    if text[0] in "IVXL" and left.word and (n := roman(text)):
        keyed = left.word.lower() in tables.ROMAN_CARDINAL
        if keyed and (len(text) > 1 or (text in "IVX" and left.word[0].isupper())):
            return str(n)
        if left.word in tables.ROMAN_ORDINAL and text not in "ILC":
            return "the " + ordinal(n)
    return text


def _plain(text: str) -> str:
    """What no rule knows, with every sign said or dropped, so that only letters, digits and pauses are left."""
    text = re.sub(r"(\w{2,})\((e?s)\)?", r"\1\2", text)
    text = re.sub(r"\.{2,}|…", "… ", text)
    text = re.sub(r"(?<=[a-z]{2})\.(?=[A-Z][a-z])", ". ", text)
    text = re.sub(r"(?<=\w)\.(?=[^\W\d_]{2})", " dot ", text)
    text = re.sub(r"(?<=[^\W\d_])([,;:!?])(?=[^\W\d_])", r"\1 ", text)
    text = re.sub(r"--+|(?<=[^\W\d_])[–—](?=\w)", "— ", text)
    text = re.sub(r"[–—](?=\d)", " to ", text).replace("::", " ")
    text = re.sub(r"(?<=\w)/(?=\w)|_|\*\*?(?=[\W\d])", " ", text)
    text = re.sub(r"(?<=\d)\*(?=\d)", " times ", text)
    text = re.sub(r"(?<=[\w)])\^([23])(?!\w)", lambda m: " squared" if m[1] == "2" else " cubed", text)
    text = re.sub(r"(?<=[\w)])\^(?=\w)", " to the power of ", text)
    text = re.sub(r"(?<=[A-Za-z\d)])\+(?=[\w(])", " plus ", text)
    text = _SIGNS.sub(lambda m: f" {tables.SYMBOLS.get(m[0], '')} ", text)
    text = re.sub(r"(?<=[A-Za-z])(?=\d)|(?<=\d)(?=[A-Za-z])", " ", text)
    text = re.sub(r"[^\w\s'.,;:!?…—-]|_", " ", text)
    return " ".join(filter(None, (_last(piece) for piece in _PIECE.findall(text))))


def _last(piece: str) -> str:
    """One piece of a taken-apart token: a word, a number, or either with a pause after it."""
    core = piece.strip(".,;:!?…—-'")
    if not core:
        return "—" if piece == "—" else ""
    mark = piece[-1] if piece[-1] in ",;:!?…—" or piece.endswith(".") else ""
    if core.isascii() and NUMBER.fullmatch(core):
        return number(core) + mark
    core = re.sub(r"\d{16,}", lambda m: " ".join(m[0]), core)
    core = re.sub(r"(?<=\d)[.,:](?!\d{3}\b|\d+$)", " ", core)
    return (core if _WORD.fullmatch(core) else re.sub(r"[:;,](?=\d)|(?<=\d)-", " ", core)) + mark


def read(text: str, left: Left = Left()) -> str:
    """The spoken form of a trimmed token (ASCII punctuation, nothing before or after the word), or an empty string."""
    if text.isalpha() or text in tables.PLAIN:
        return _word(text, left)
    if text in tables.UNITS and left.kind in ("number", "one", "phone"):
        return tables.UNITS[text][0 if left.kind == "one" else 1]
    if text in ("a.m", "p.m", "A.M", "P.M"):
        return text[0].upper() + ".M."
    if _WORD.fullmatch(text):
        return text
    if text.isascii() or not text[0].isalpha():
        for pattern, reading in _RULES:
            if (m := pattern.fullmatch(text)) and (said := reading(m, left)) is not None:
                return said
    return _plain(text)


def kind(text: str, left: Left, said: str) -> str:
    """What a token is for the one to its right (see ``Left.kind``)."""
    if text in tables.MONTHS:
        return "month"
    if text == "sq" and said == "square":
        return "number"
    if not text[-1].isdigit():
        return "number" if text in tables.BIG and left.kind else ""
    if re.fullmatch(r"\+\d{1,3}", text) or (left.kind == "phone" and text[0].isdigit()):
        return "phone"
    if NUMBER.fullmatch(text) or "/" in text or "-" in text:
        return "one" if singular(text) else "number"
    return "time" if TIME.fullmatch(text) else ""
