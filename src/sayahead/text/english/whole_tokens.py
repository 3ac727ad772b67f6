"""Tokens that are one thing as a whole: dates, telephone numbers, versions, addresses, products."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable

from sayahead.text.english import tables
from sayahead.text.english.addresses import host, internet, pronounced, url
from sayahead.text.english.amounts import TIME, atom, clock, date
from sayahead.text.english.fallback import name, pieces
from sayahead.text.english.numbers import (
    cardinal,
    each,
    fraction,
    initials,
    label,
    number,
    ordinal,
    pair,
    paired,
    plural,
    year,
)
from sayahead.text.english.words import roman

_DOMAIN = "|".join(sorted(tables.DOMAINS))
_MOVE = r"[KQRBN]?[a-h]?[1-8]?x?[a-h][1-8](?:=[QRBN])?[+#]?"
_PIECES = tables.readings("chess")
_CHORDS = tables.readings("chords")
_TAILS = {"-": "dash ", "+": "plus "}
SIDES = {"W": "wide", "D": "deep", "H": "high", "L": "long"}
_MONTHS = "|".join(tables.ANY_MONTHS)
_FILE = "|".join(sorted(tables.EXTENSIONS))
_SHOUTED = "|".join(sorted(extension.upper() for extension in tables.EXTENSIONS if len(extension) > 2))


def _stamp(m: re.Match[str]) -> str:
    day = date(m[1], int(m[2]), int(m[3]))
    time = TIME.fullmatch(m[4]) if m[4] else None
    zone = " U.T.C." if m[5] else ""
    if m[5] and (offset := re.fullmatch("([-+−])([0-9]{2}):?([0-9]{2})", m[5])):
        sign = "plus" if offset[1] == "+" else "minus"
        zone += f" {sign} {cardinal(int(offset[2]))}" + (f" {pair(offset[3])}" if offset[3] != "00" else "")
    return f"{day}, {clock(time)}{zone}" if day and time else day


def _version(text: str) -> str:
    """``2.1.3`` two point one point three, ``1.0.0-rc.1`` with its tail, ``v2`` version two."""
    m = re.fullmatch(r"([vV])?\.?([0-9]+(?:\.(?:[0-9]+|x(?![a-z])))*)(?:([-+.])?([A-Za-z][\w.+-]*))?", text)
    if not m or not (m[1] or m[2].count(".") > 1 or (m[3] and "." in m[2] and re.search(r"\d", m[4]))):
        return ""
    numbers = " point ".join(label(part) if part.isdecimal() else "x" for part in m[2].split("."))
    tail = f"{_TAILS.get(m[3], '')}{host(m[4])}" if m[4] else ""
    engine = m[1] == "V" and m[2].isdigit()
    return ("V " if engine else "version " if m[1] else "") + f"{numbers} {tail}".strip()


_Reading = Callable[[re.Match[str]], str]
_RULES: tuple[tuple[str, _Reading], ...] = (
    (r"'([0-9]{2})", lambda m: pair(m[1])),
    (rf"({_MONTHS})-([0-9]{{1,2}})-([0-9]{{4}})", lambda m: _named_day(m)),
    (r"([0-9]{1,3}):([0-9]{1,3}(?:,[0-9]{3})+)", lambda m: f"{number(m[1])} to {number(m[2])}"),
    (r"([A-Z]{2,}(?:-[A-Z]+)*)-((?:19|20)[0-9]{2})-([0-9]{3,})", lambda m: f"{m[1]} {year(int(m[2]))} {each(m[3])}"),
    (r"([A-Z])([-–])([A-Z])", lambda m: f"{m[1]} to {m[3]}" if m[2] == "–" or m[0] == "A-Z" else ""),
    (r"\+([0-9]{1,3})\(([0-9]{3})\)?", lambda m: f"plus {each(m[1])}, {each(m[2])}"),
    (
        r"([0-9]{4})[-/]([0-9]{1,2})[-/]([0-9]{1,2})(?:T([0-9]{2}:[0-9]{2}(?::[0-9]{2})?)(?:\.[0-9]+)?(Z|[-+−][0-9:]+)?.*)?",
        _stamp,
    ),
    (r"((?:19|20)[0-9]{2})\.([01][0-9])\.([0-3][0-9])()()", _stamp),
    (r"([ap])\.?m\.([a-z]{3}|[A-Z]{3})", lambda m: f"{m[1].upper()}.M. {initials(m[2])}"),
    (r"([0-9]{1,2})([/.-])([0-9]{1,2})\2([0-9]{4})", lambda m: _day(m)),
    (r"([0-9]{1,2})(/)([0-9]{1,2})/([0-9]{2})", lambda m: _day(m)),
    (r"(?:\+?[0-9]{1,3}[-.])?(?:\(?[0-9]{3}\)?[-. ]?)?[0-9]{3}[-.][0-9]{4}", lambda m: _phone(m[0])),
    (r"[0-9]{3}-[0-9]{2}-[0-9]{4}|1-[0-9]{3}", lambda m: _phone(m[0])),
    (r"(?:tel:|sms:)?\+([0-9]{7,15})", lambda m: "plus " + each(m[1])),
    (r"\$([1-9][0-9]{0,2})s", lambda m: plural(number(m[1]))),
    (r"([0-9]{1,2}:[0-5][0-9](?::[0-5][0-9])?)Z", lambda m: f"{clock(TIME.fullmatch(m[1]))} Z"),  # type: ignore[arg-type]
    (r"(?=(?:.*[0-9]){2})(?=(?:.*[a-f]){2})[0-9a-f]{7,40}", lambda m: spelled_out(m[0])),
    (r"([0-9.]+)[\"″]([WDHL])", lambda m: f"{number(m[1])} inches {SIDES[m[2]]}"),
    (r"([0-9]{1,2})W-?([0-9]{2})", lambda m: f"{number(m[1])} W {number(m[2])}"),  # Oil.
    (r"0b([01]+)", lambda m: f"zero B {each(m[1])}"),
    (r"([A-Za-z]+\.)([0-9]+(?:[-–][0-9]+)?)", lambda m: _numbered(m[1], m[2])),
    (r"([0-9.]+)[x×]([0-9.]+[A-Za-rt-z]+)", lambda m: f"{number(m[1])} by {words}" if (words := atom(m[2])) else ""),
    (r"([0-9]{3,5}):((?:19|20)[0-9]{2})", lambda m: f"{number(m[1])} {year(int(m[2]))}"),
    (r"((?:[A-Z]\.)+)([A-Z][a-z]+)", lambda m: f"{m[1]} {m[2]}"),
    (r"f/([0-9.]+)", lambda m: f"F {number(m[1])}"),
    (r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}(?:[:/][0-9]+)?", lambda m: internet(m[0])),
    (r"(?:[0-9A-Fa-f]{0,4}:){2,7}[0-9A-Fa-f]{0,4}(?:/[0-9]+)?", lambda m: _machine(m[0])),
    (r"[vV.0-9]+[-+.]?(?:[A-Za-z][\w.+-]*)?", lambda m: _version(m[0])),
    (r"0x([0-9A-Fa-f]+)", lambda m: "zero X " + internet(m[1])),
    (rf"([0-9]{{1,3}})\.{{1,3}}({_MOVE})", lambda m: f"{number(m[1])}, {move(m[2])}"),
    (r"[KQRBN]x?[a-h][1-8][+#]?", lambda m: move(m[0])),
    (r"([0-9]+)-([0-9]+)/([0-9]+)", lambda m: f"{number(m[1])} and {fraction(int(m[2]), int(m[3]))}"),
    (r"([0-9]+):([1-9][0-9]?)[-–]([0-9]{1,3})", lambda m: f"{number(m[1])} {number(m[2])} to {number(m[3])}"),
    (r"([0-9]+\.[0-9]+)/(5|10|100)", lambda m: f"{number(m[1])} out of {number(m[2])}"),
    (r"([0-9]{4,5}):([0-9]{2,5})", lambda m: f"{label(m[1])} colon {label(m[2])}"),
    (r"([0-9]+):([0-5][0-9])\.([0-9]{1,3})", lambda m: f"{number(m[1])} {pair(m[2])} point {each(m[3])}"),
    (r"([0-9]+):([0-9]+)", lambda m: f"{number(m[1])} to {number(m[2])}"),
    (r"[Ss]([0-9]{1,2}):?[Ee]([0-9]{1,3})", lambda m: f"season {cardinal(int(m[1]))} episode {cardinal(int(m[2]))}"),
    (
        r"q([0-9]{1,2})(?:[-–]([0-9]{1,2}))?h",
        lambda m: f"every {number(m[1])}{f' to {number(m[2])}' if m[2] else ''} hours",
    ),
    (r"([0-9]+)[x×]([0-9]+)s", lambda m: f"{number(m[1])} by {plural(number(m[2]))}"),
    (r"#(?=[0-9A-F]*[0-9])(?=[0-9A-F]*[A-F])([0-9A-F]{6})", lambda m: f"hash {internet(m[1])}"),
    (
        r"([A-G])(#|b)?(maj|min|dim|aug|sus|add|m)([0-9]{1,2})|([A-G])(#)(m|maj|min|dim|aug)?([0-9]{0,2})",
        lambda m: _chord(*(m.groups()[:4] if m[1] else m.groups()[4:])),
    ),
    (r"@([\w-]+)/([\w.-]+)", lambda m: f"at {pieces(m[1])} slash {pieces(m[2])}"),
    (r"((?:19|20)[0-9]{2})/([0-9]{3})", lambda m: f"{year(int(m[1]))} slash {number(m[2])}"),
    (r"([0-9]{1,2})(?:y/?o|YO)", lambda m: f"{number(m[1])} year old"),
    (r"(?:/\*|[~.]{0,2}/)?(?:[\w.-]+/)*\*\.\w+", lambda m: host(m[0])),
    (r"([0-9]+)[\"']?([x×])([0-9]+)(?:[\"']?[x×]([0-9]+))?", lambda m: _by(m)),
    (
        r"([0-9]+(?:\.[0-9]+)?)[x×]([0-9]+(?:\.[0-9]+)?)[x×]([0-9]+(?:\.[0-9]+)?)",
        lambda m: " by ".join(map(number, m.groups())),
    ),
    (r"((?:1-)?[89][0-9]{2})-([A-Z]{2,}(?:-[A-Z]+)*)", lambda m: f"{_phone(m[1])}, {m[2].lower().replace('-', ' ')}"),
    (r"802\.11([a-z]*)", lambda m: f"eight oh two dot eleven {initials(m[1]) if m[1] else ''}".rstrip()),
    (r"([0-9]+)'([0-9]+)( and [a-z ]+)", lambda m: f"{number(m[1])} foot {number(m[2])}{m[3]}"),
    (r"[IViv]+(?:[-–][IViv]+){2,}", lambda m: _chords(m[0])),
    (r"([PE])\(([A-Za-z])\|([A-Za-z])\)?", lambda m: f"{m[1]} of {initials(m[2])} given {initials(m[3])}"),
    (r"#(include|define|ifdef|ifndef|endif|pragma)", lambda m: f"pound {pieces(m[1])}"),
    (r"x(86|64|32|[1-9][0-9]{1,3}[1-9])", lambda m: f"X {label(m[1])}"),
    (r"x([0-9]+)", lambda m: f"times {number(m[1])}"),
    (r"([fgh])('{0,2})\(([a-z0-9])\)?", lambda m: _function(*m.groups())),
    (
        r"([0-9]+)(?:\(([a-z])\))?\(([ivx]{2,})\)?",
        lambda m: f"{number(m[1])} {m[2] or ''} {cardinal(n)}" if (n := roman(m[3].upper())) else "",
    ),
    (r"([0-9.]+)[eE]([-−+]?)([0-9]+)", lambda m: _scientific(m)),
    (r"(FY|CY|Q[1-4]|H[12])['-]?([0-9]{4}|[0-9]{2})", lambda m: _fiscal(m)),
    (r"((?:localhost|[\w-]+(?:\.\w[\w-]*)+):[0-9]{2,5})(/\S*)?", lambda m: _port(m[1]) + _path(m[2])),
    (r"#([A-Za-z]\w*|[0-9]+[A-Za-z][a-z]\w*)", lambda m: "hashtag " + name(m[1].replace("_", " "))),
    (r"@(\w[\w.-]*)", lambda m: "at " + pieces(m[1])),
    (r"(?i:(?:https?|ftp)://\S+|www\.\S+)", lambda m: url(m[0])),
    (r"([a-z][a-z0-9]{1,8})://(\S+)", lambda m: f"{name(m[1])} {host(m[2])}"),
    (r"([0-9]+)°([0-9]+)'(?:([0-9.]+)(?:\"|''))?([NSEW]?)", lambda m: _degrees(m)),
    (rf"([0-9]{{1,2}})-({'|'.join(tables.MONTHS)})(?:-([0-9]{{4}}))?", lambda m: _dated(m)),
    (r"(?:mailto:)?[\w.+&'-]+@[\w-]+(?:\.[\w-]+)+(?:/\S*)?", lambda m: url(m[0])),
    (rf"(?:[\w-]+\.)+(?:{_DOMAIN})(?:[/:?#]\S*)?", lambda m: url(m[0])),
    (rf"[~.]{{0,2}}[\w./\\()-]*[\w()-]\.(?:{_FILE}|{_SHOUTED})", lambda m: host(m[0])),
    (r"(?:[~.]{0,2}/|[A-Za-z]:\\)[\w.-]+(?:[/\\][\w.-]+)*[/\\]?", lambda m: host(m[0])),
    (rf"\.(?:{_DOMAIN}|{_FILE})(?:[/:?#.]\S*)?", lambda m: url(m[0])),
    (r"\.[a-z]\w*(?:[(_\[]\S*)?", lambda m: f"dot {pieces(m[0][1:])}"),
    (r"[ru]/\w+", lambda m: host(m[0])),
    (r"(?:[A-Za-z]\.)+[A-Za-z]?\.?'s", lambda m: m[0]),
    (r"(?:[A-Z][a-z]?\.){2,}s", lambda m: m[0].replace(".", "")),
    (r"([BMD])\.(Sc|Ed|Eng|Phil|Com|Tech|Arch)", lambda m: f"{m[1]}. {pronounced(m[2])}"),
    (r"([A-Z][a-z]+)\.'s", lambda m: f"{tables.MAY_END.get(m[1]) or tables.NEVER_ENDS.get(m[1], m[1])}'s"),
    (r"(?:[A-Za-z]\.)+[A-Za-z]?", lambda m: m[0].rstrip(".") + "."),
    (r"[A-Za-z]{1,3}&[A-Za-z]{1,3}", lambda m: m[0]),
)


@functools.cache
def _rules() -> list[tuple[re.Pattern[str], _Reading]]:
    """Compiled when the first token needs them: the import stays short."""
    return [(re.compile(pattern), reading) for pattern, reading in _RULES]


def fixed(text: str) -> str:
    """A token that is one thing as a whole - a date, a version, an address, a sum - in words, or nothing."""
    for pattern, reading in _rules():
        if (m := pattern.fullmatch(text)) and (words := reading(m)):
            return words
    return ""


def move(text: str) -> str:
    """A move of chess: ``Nxf3+`` knight takes F three check."""
    return " ".join(_PIECES.get(c) or (number(c) if c.isdecimal() else initials(c)) for c in text.replace("=", ""))


def is_move(text: str) -> bool:
    """Whether a token is a move of chess."""
    return re.fullmatch(rf"{_MOVE}|O-O(?:-O)?", text) is not None


def _function(name_: str, primes: str, of: str) -> str:
    """``f'(x)`` F prime of X."""
    words = [
        initials(name_),
        {"'": "prime", "''": "double prime"}.get(primes, ""),
        "of",
        label(of) if of.isdecimal() else initials(of),
    ]
    return " ".join(filter(None, words))


def _chord(root: str, sign: str | None, kind: str | None, figures: str) -> str:
    """``C#m7`` C sharp minor seven."""
    words = [initials(root), {"#": "sharp", "b": "flat"}.get(sign or "", ""), _CHORDS.get(kind or "", "")]
    return " ".join(filter(None, [*words, number(figures) if figures else ""]))


def _chords(text: str) -> str:
    """``I–IV–V`` one, four, five."""
    degrees = [roman(part.upper()) for part in re.split("[-–]", text)]
    return ", ".join(map(cardinal, degrees)) if all(0 < degree < 8 for degree in degrees) else ""


def _numbered(name_: str, figures: str) -> str:
    """``No.5``, ``pp.12-15``: an abbreviation that its number touches."""
    word = tables.BEFORE_NUMBER.get(name_, "")
    return word and f"{word} {' to '.join(map(label, re.findall('[0-9]+', figures)))}"


def spelled_out(text: str) -> str:
    """Figures and letters one by one."""
    return " ".join(each(char) if char.isdecimal() else initials(char) for char in text)


def _named_day(m: re.Match[str]) -> str:
    day, of = int(m[2]), year(int(m[3]))
    return f"{tables.ANY_MONTHS[m[1]]} {ordinal(day)}, {of}" if 1 <= day <= 31 else ""


def _day(m: re.Match[str]) -> str:
    a, b, of = int(m[1]), int(m[3]), m[4]
    if m[2] == "." or a > 12:
        return date(of, b, a)
    return date(of, a, b) or date(of, b, a)


def _dated(m: re.Match[str]) -> str:
    of = f", {year(int(m[3]))}" if m[3] else ""
    return f"the {ordinal(int(m[1]))} of {tables.MONTHS[m[2]]}{of}" if 1 <= int(m[1]) <= 31 else ""


def _degrees(m: re.Match[str]) -> str:
    parts = zip(m.groups()[:3], ("degree", "minute", "second"), strict=True)
    return (
        " ".join(f"{number(n)} {unit}" + ("" if n == "1" else "s") for n, unit in parts if n)
        + f" {tables.QUARTERS.get(m[4], '')}".rstrip()
    )


def _phone(text: str) -> str:
    """A telephone number, figure by figure; toll-free ``800`` as eight hundred."""
    parts = re.findall(r"[0-9]+", text)
    words = ", ".join("eight hundred" if part == "800" else each(part) for part in parts)
    return ("plus " if text[0] == "+" else "") + words


def _machine(text: str) -> str:
    """An IPv6 or MAC address; nothing if it may as well be a time."""
    groups = text.split(":")
    hexadecimal = any(c.isalpha() for c in text)
    return internet(text) if "::" in text or len(groups) > 3 or hexadecimal else ""


def _by(m: re.Match[str]) -> str:
    plain = m[2] == "×" and not m[4] and max(len(m[1]), len(m[3])) < 3
    sizes = [paired(int(size)) if len(size) == 4 else number(size) for size in (m[1], m[3], m[4]) if size]
    return (" foot by " if "'" in m[0] else " times " if plain else " by ").join(sizes) + " foot" * ("'" in m[0])


def _scientific(m: re.Match[str]) -> str:
    sign = {"-": "minus ", "−": "minus "}.get(m[2], "plus " if m[2] else "")
    return f"{number(m[1])} E {sign}{number(m[3])}"


def _fiscal(m: re.Match[str]) -> str:
    return f"{initials(m[1]) if m[1][1].isalpha() else name(m[1])} {year(int(m[2])) if len(m[2]) == 4 else pair(m[2])}"


def _port(text: str) -> str:
    head, _, port = text.rpartition(":")
    return f"{url(head)} colon {label(port)}"


def _path(text: str | None) -> str:
    return f" {host(text)}" if text else ""
