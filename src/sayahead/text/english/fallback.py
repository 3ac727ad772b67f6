"""What no rule of the grammar knows: a token piece by piece, so that nothing of it is lost.

Every figure and letter of a token is said, and every sign but those that are silent where they stand (``SILENT`` and
the cases of ``_sign``).
"""

from __future__ import annotations

import re

from sayahead.text.english import tables
from sayahead.text.english.addresses import pronounced, spelled
from sayahead.text.english.amounts import AMOUNT, CUR, atom
from sayahead.text.english.numbers import cardinal, each, initials, label, number
from sayahead.text.english.units import currency, unit
from sayahead.text.shared.chemistry import ELEMENTS
from sayahead.text.shared.signs import name_of

SILENT = frozenset("()[]{}\"'_|`~*†‡$\\")
"""Never said by itself; ``$`` and ``\\`` are marks of LaTeX where no amount and no known name follows."""
PAUSES = ".,;:!?…—"
_PIECE = re.compile(
    rf"\\[A-Za-z]+|(?<![\d:.])[0-9]{{1,2}}:[0-5][0-9](?:[AaPp][Mm])?(?![\w:])|(?:{CUR}{AMOUNT}|[0-9]+(?:\.[0-9]+)?(?=[A-Za-zμ]{{2}}))[A-Za-zμ]{{0,4}}(?![^\W_])|"
    r"(?<![\w.])[0-9]+(?:\.[0-9]+){2,}|[0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?|(?:[A-Za-z]\.)+[A-Za-z](?:\b\.?)(?![a-z])|[^\W\d_]+(?:'[^\W\d_]+|-(?=[^\W\d_]{2})[^\W\d_]+)*|"
    r"[-+*/:]=|<=|>=|!==?|===?|=>|->|-->|<-|\+\+|\+/-|&&|\|\||\*\*|::|--+|\.{2,}|\S"
)
_CURRENCY = re.compile(rf"{CUR}(?=[0-9.])")
_NUMERIC = re.compile("[0-9.,]+")
_ELEMENT = "|".join(ELEMENTS)
_FORMULA = re.compile(rf"(?:(?:{_ELEMENT})(?:_?[1-9][0-9]{{0,2}})?|\((?=\w)|\)(?:_?[1-9][0-9]{{0,2}})?){{2,}}")
_CHARGED = re.compile(rf"((?:{_ELEMENT})|NH4|H3O)([0-9]?)\+")
_ION = re.compile(r"([A-Z][A-Za-z0-9_()]*)\^([0-9]?)([-+−])")
_ANION = re.compile(r"(Cl|Br|OH|NO3|HCO3|HSO4)[-−]")
_MIXED = re.compile(rf"(?:{_ELEMENT}){{2,4}}")
_LIMITS = re.compile(r"(\\(?:sum|int|prod)|[∑∫∏])_(?:\{([^{}]+)\}|(\\?\w+?))\^(?:\{([^{}]+)\}?|(\\?\w+))")
_ACCENT = re.compile(r"\\(bar|hat|tilde|d?dot|overline|prime)\{([^{}]*)\}")
_PRODUCT = re.compile(r"(?<![A-Za-z\\])[b-df-hj-np-tv-z]{2,3}(?=\^)")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_FUNCTIONS = frozenset(("sin", "cos", "tan"))
_VARIABLES = frozenset("ijkmnpqtxyz")


def formula(text: str) -> str | None:
    """``H2SO4`` H two S.O. four, ``NaCl`` N.A.C.L.; None if it is no formula of chemistry."""
    if charged := _CHARGED.fullmatch(text):
        return f"{initials(charged[1])} {cardinal(int(charged[2])) + ' ' if charged[2] else ''}plus"
    if anion := _ANION.fullmatch(text):
        return f"{formula(anion[1]) or initials(anion[1])} minus"
    if ion := _ION.fullmatch(text):
        words = formula(ion[1]) or (initials(ion[1]) if ion[1] in ELEMENTS else "")
        charge = f" {cardinal(int(ion[2]))}" if ion[2] else ""
        return f"{words}{charge} {'plus' if ion[3] == '+' else 'minus'}" if words else None
    if not (_FORMULA.fullmatch(text) if any(map(str.isdigit, text)) else _MIXED.fullmatch(text) and text.isalpha()):
        return None
    symbols = re.findall(_ELEMENT, text)
    if len(symbols) < 2 or (text.isalpha() and (not any(map(str.islower, text)) or not text[-1:].isalpha())):
        return None
    runs = re.findall(r"[A-Za-z]+|[0-9]+", text)
    return " ".join(cardinal(int(run)) if run.isdecimal() else initials(run) for run in runs)


def name(text: str) -> str:
    """Letters and figures that touch: ``7ABC123``, ``SW1A``, ``sha256``, ``getUserName2``."""
    runs = re.findall(r"[^\W\d_]+|[0-9]+", text)
    return " ".join(label(run) if run.isdecimal() else _letters(run, beside=len(runs) > 1) for run in runs)


def humps(text: str) -> str:
    """``fooBar`` foo Bar, ``GetUserById`` get User By I.D.; names such as iPhone and JavaScript as they are."""
    parts = _HUMP.split(text)
    least = 2 if text[0].islower() else 3
    return " ".join(map(pronounced, parts)) if len(parts) >= least and len(parts[0]) > 1 else text


def _letters(run: str, *, beside: bool) -> str:
    low = run.lower()
    if run in tables.SAID:
        return tables.SAID[run]
    if beside and (low in tables.SPELLED_BESIDE_FIGURES or (run.isupper() and len(run) < 4) or len(run) == 1):
        return initials(run)
    parts = _HUMP.split(run)
    return " ".join(map(pronounced, parts)) if len(parts) > 1 or beside else run


_MICRO = re.compile("[µμ](?=[A-Za-z])")


def pieces(text: str) -> str:
    """The token with every piece of it said."""
    text = re.sub(r"(\w{2,})\((e?s)\)?", r"\1\2", text)
    text = _MICRO.sub(" micro ", text)
    text = _ACCENT.sub(r" \2 \\\1 ", text)
    if "}{" in text and '"' not in text:
        text = text.replace("}{", " \\choose " if "binom" in text else " \\over ")
    out: list[str] = []
    matches = list(_PIECE.finditer(text))
    for at, match in enumerate(matches):
        before = text[: match.start()]
        after = text[match.end() :]
        words = _piece(match[0], before, after)
        if words and words in PAUSES and len(words) == 1:
            if out and out[-1][-1] not in PAUSES and at + 1 < len(matches):
                out[-1] += words
        elif words:
            out.append(words)
    return " ".join(out)


def _piece(piece: str, before: str, after: str) -> str:
    first = piece[0]
    if first == "\\" and len(piece) > 1:
        reading = tables.LATEX.get(piece[1:])
        return f"backslash {pronounced(piece[1:])}" if reading is None else reading
    if not first.isalpha() and piece[-1].isalnum() and not _NUMERIC.fullmatch(piece) and (amount := atom(piece)):
        return amount
    if len(piece) > 1 and (sign := _CURRENCY.match(piece)):
        rest = pieces(piece[sign.end() :])
        return f"dollar {rest}" if sign[0] == "$" else f"{rest} {currency(sign[0])[1]}"  # A group of an expression.
    if first.isdigit() and not piece.isdigit() and piece[-1].isalpha():
        figures = piece.rstrip("".join(filter(str.isalpha, piece)))
        tail = piece[len(figures) :]
        letters = _letters(tail, beside=True) if tail.isupper() else name(tail)
        return f"{label(figures) if figures.isdecimal() else number(figures)} {letters}"
    if piece.count(".") > 1 and first.isdigit():
        return " point ".join(map(label, piece.split(".")))
    if first.isdigit() and piece.isdigit() and len(piece) > 5 and before.endswith("-"):
        return each(piece)
    if first.isdigit():
        touching = re.search(r"[^\W\d_]$|(?<![^\W_])[A-Za-z]\.$", before) or (after[:1].isalpha() and "." not in piece)
        return label(piece) if touching and piece.isdecimal() else number(piece)
    if re.fullmatch(r"(?:[A-Za-z]\.)+[A-Za-z]\.?", piece):
        return initials(piece.replace(".", ""))
    if first.isalpha():
        if piece in tables.LATEX and before.endswith("\\"):
            return tables.LATEX[piece]
        if (reading := tables.PLAIN.get(piece)) and not before[-1:].isalnum():
            return reading
        if piece in _FUNCTIONS and after[:1] == "(":
            return tables.LATEX[piece]
        beside = before[-1:].isdigit() or after[:1].isdigit()
        beside = beside or (piece.isupper() and len(piece) < 4 and re.search("[0-9]", before + after) is not None)
        if (before[-1:] in ("_", ".") or after[:1] == "_") and piece.isalpha():
            shown = piece.lower() if re.search("[AEIOUY]", piece) else piece
            return pronounced(shown) if piece.isupper() else " ".join(map(pronounced, _HUMP.split(piece)))
        return _letters(piece, beside=beside) if piece.isalpha() else piece
    return _sign(piece, before, after)


def _sign(sign: str, before: str, after: str) -> str:
    """What a sign between what comes before and after it in its token says, or nothing where it is silent."""
    last, following = before[-1:], after[:1]
    if sign in "-−–—" or sign.startswith("--"):
        return _dash(sign, before, after)
    if sign == ".":
        if following.isdigit():
            return "point" if not last.isalpha() else "dot"
        if not (last.isalnum() and following.isalnum()):
            return "." if last.isalpha() and re.search(r"\w", after) else ""
        return "point" if last.isdigit() and not after[1:2].isalpha() else "dot"
    single = last.isalpha() and not before[-2:-1].isalnum() and following.isalpha() and not after[1:2].isalnum()
    if sign == "/" and single and re.search(r"[()^=+]", before + after):
        return "over"
    if sign == "/" and last == ")" and following.isalnum():
        return "over"
    if sign == "/":
        if last.isdigit() and following.isdigit() and "=" in before + after:
            return "divided by"
        numeric = last.isdigit() or following.isdigit()
        return "slash" if numeric or not (last.isalnum() and following.isalnum()) else ""
    if sign == "^" and not before:
        return "caret"
    if sign == "^":
        if following and following in "23" and not after[1:2].isalnum():
            return ""
        return "to the power of" if before and after else ""
    if sign == "~" and last.isalpha() and following.isdigit():
        return "tilde"
    if sign in ("*", "**"):
        between = re.search(r"[\w)\]]$", before) and re.match(r"[\w(\\]", after)
        return ("times" if sign == "*" else tables.SYMBOLS[sign]) if between else ""
    if sign == ":" and last.isdigit() and following.isdigit():
        return "colon"
    if sign == "::":
        return "" if last.isalpha() and following.isalpha() else tables.SYMBOLS[sign]
    if sign[:2] in ("..", "…"):
        return "…"
    if sign == "$" and last and (last in "+*)]?" or last.isalpha()) and not following:
        return "dollar"
    if sign == "$" and (last.isdigit() and not following):
        return "dollars"
    if sign == "\\" and last.isalnum() and following.isalnum():
        return "backslash"
    if sign in "~" and following.isdigit():
        return "about"
    if sign in ("×", "x") and last.isdigit():
        return "times"
    if sign in SILENT:
        return ""
    return sign if sign in PAUSES else tables.SYMBOLS.get(sign) or (name_of(sign) if len(sign) == 1 else "")


def _dash(sign: str, before: str, after: str) -> str:
    last, following = before[-1:].strip(), after[:1]
    if re.search(r"\[[^\]]*\w$", before) and re.match(r"\w[^\[]*\]", after):
        return "to"
    if sign.startswith("--") or (sign in "–—" and last.isalpha() and following.isalpha()):
        return "—"
    if not following or following in ")]}\"'":
        return ""
    if sign == "−" or not last or last in "(=,^*/+<>[{$:?!;" or re.search(r"\d[eE]$|[(;,=][\"']$", before):
        return "minus" if following.isalnum() or following in ".$£€√\\(" else ""
    if last.isdigit() and following.isdigit():
        return "to" if sign in "–—" else "minus" if "=" in before + after else "dash"
    variable = last.lower() in _VARIABLES and not before[-2:-1].isalpha()
    if following.isdigit() and (variable or last in ")]"):
        return "minus"
    return ""


def powers(text: str) -> str:
    """``x^2`` x squared and ``10^-3`` in words, as far as the exponent is plain."""
    text = _LIMITS.sub(lambda m: f"{m[1]} from {m[2] or m[3]} to {m[4] or m[5]} of ", text)
    text = re.sub(r"\^\{?\\circ\}?", r" \\degree ", text)
    text = re.sub(r"\^\{([^{}]*)\}", r"^\1", text)
    text = _PRODUCT.sub(lambda m: m[0] if unit(m[0]) else " ".join(map(initials, m[0])), text)
    text = re.sub(r"(?<=[\w)\]}])\^([23])(?!\w)", lambda m: " squared " if m[1] == "2" else " cubed ", text)
    return re.sub(r"(?<=[\w)\]}])\^(?=[\w(−-])", " \\\\power ", text)


def code(text: str) -> str:
    """A number that is a code, as an account has: figures singly, letters spelled, groups apart."""
    groups = re.findall(r"[A-Za-z0-9]+", text)
    return ", ".join(
        " ".join(
            " ".join(label(c) for c in run) if run.isdecimal() else spelled(run)
            for run in re.findall(r"[0-9]+|[A-Za-z]+", group)
        )
        for group in groups
    )
