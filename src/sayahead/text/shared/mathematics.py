"""Formulas of LaTeX: where one begins and ends, and its commands as signs that every language has words for."""

from __future__ import annotations

import re

_OPENS = re.compile(
    r"([(\[{\"'“„«*_]*)\$(?=\\?[A-Za-z](?![A-Za-z0-9])|\\[A-Za-z]|[A-Za-z]+[({^_=<>]"
    r"|(?![0-9.]+\W*$)[0-9.]*[A-Za-z]?[\^_\\{(=<>]|[-−+(|\[{]+[A-Za-z0-9.\\(]|[0-9]+[xyzn](?![A-Za-z]))"
)
"""A dollar sign before a variable, a command, a sign or a power; before figures alone it is money."""
_WHOLE = re.compile(r"([(\[{\"'“„«*_]*)\$([^$\s]+)\$([)\]}\"'”“»*_.,;:!?…-]*)")
_LOSS = re.compile(r"\$(?:\(([0-9][0-9,.]*)\)|[-−]([0-9][0-9,]*\.[0-9]{2}))([.,;:!?]*)")
"""What an account has lost: ``$(2.1)``, ``$-45.20``."""
_CLOSES = re.compile(r"(?<=[^\s$])\$([)\]}\"'”“»*_.,;:!?…]*|-[^\W\d].*)$")
_SIGNS = {
    sign: names.split()
    for sign, names in {
        "×": "times",
        "·": "cdot",
        "÷": "div",
        "±": "pm",
        "∓": "mp",
        "≤": "le leq leqslant",
        "≥": "ge geq geqslant",
        "≠": "ne neq",
        "≈": "approx sim simeq",
        "∞": "infty",
        "∑": "sum",
        "∏": "prod",
        "∫": "int",
        "√": "sqrt",
        "∂": "partial",
        "∇": "nabla",
        "∈": "in",
        "∉": "notin",
        "⊂": "subset subseteq",
        "∪": "cup",
        "∩": "cap",
        "∅": "emptyset varnothing",
        "∀": "forall",
        "∃": "exists",
        "⇒": "Rightarrow implies Longrightarrow",
        "↔": "leftrightarrow Leftrightarrow iff",
        "→": "to rightarrow longrightarrow",
        "←": "leftarrow gets",
        "°": "circ degree",
        "%": "%",
        "∝": "propto",
        "<": "lt",
        ">": "gt",
    }.items()
}
_COMMANDS = {name: sign for sign, names in _SIGNS.items() for name in names}
_COMMANDS |= dict.fromkeys(
    "left right big Big bigl bigr text mathrm mathbf mathbb mathcal mathit operatorname quad qquad displaystyle begin "
    "end limits dfrac frac tfrac ldots dots cdots vdots overline underline boxed".split(),
    "",
)
_COMMANDS |= {
    name: chr(0x3B1 + place + (place > 16))
    for place, name in enumerate(
        "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau upsilon phi "
        "chi psi omega".split()
    )
}
_COMMANDS |= {"varepsilon": "ε", "vartheta": "θ", "varphi": "φ", "Delta": "Δ", "Sigma": "Σ", "Omega": "Ω", "Pi": "Π"}
_COMMANDS |= {"Gamma": "Γ", "Lambda": "Λ", "Phi": "Φ", "Psi": "Ψ", "Theta": "Θ"}
_FORMULA = re.compile(
    r"(?<![\w:\\.])\\(?:[A-Za-z]{2,}(?![\w\\]|\.\w)|[()\[\]])|\}\{|\^\{?\\circ|\\(?:frac|sqrt|text)\b"
)
_MINUS = re.compile(r"(?<![A-Za-z]{2})-(?![A-Za-z]{2})")
_PRODUCT = re.compile("(?<=[0-9])[a-z]{2}(?![a-z])")
_COMMAND = re.compile(r"\\([A-Za-z]+|%) ?")


def inner(raw: str, *, begun: bool, code: bool) -> tuple[str, bool, int]:
    """A token without the dollar signs of a formula, whether it is inside one after it, and the signs left out before.

    Code has none.
    """
    if m := _LOSS.fullmatch(raw):
        return f"-${m[1] or m[2]}{m[3]}", begun, 0
    if m := whole(raw):
        return m[1] + _signed(m[2]) + m[3], begun, m.start(2) - len(m[1])
    if begun and (m := closed(raw)):
        return _signed(raw[: m.start()]) + m[1], False, 0
    if not (begun or code) and (text := opened(raw)) is not None:
        return _signed(text), True, len(raw) - len(text)
    return _signed(raw) if begun else raw, begun, 0


def _signed(text: str) -> str:
    """Hyphens as minus signs, and a product of two letters as initials: ``-4ac`` −4AC."""
    text = _MINUS.sub("−", text)
    return _PRODUCT.sub(lambda m: m[0].upper(), text) if "\\" not in text else text


def opened(raw: str) -> str | None:
    """A token that begins a formula without its dollar sign; None if it begins none."""
    if "$" not in raw or raw.count("$") > 1 or not (m := _OPENS.match(raw)):
        return None
    return m[1] + raw[m.end() :]


def closed(raw: str) -> re.Match[str] | None:
    """The dollar sign with which a token ends a formula, and what stands after it."""
    return _CLOSES.search(raw) if "$" in raw else None


def whole(raw: str) -> re.Match[str] | None:
    """A token that is a formula, or a figure between two dollar signs: what is before, within and after: ``$42$``."""
    return _WHOLE.fullmatch(raw) if raw.count("$") == 2 else None


def is_formula(raw: str) -> bool:
    """Whether a token has commands of LaTeX in it, and is no path of files."""
    return ("\\" in raw or "}{" in raw) and _FORMULA.search(raw) is not None


def plain(text: str) -> str:
    """LaTeX as signs and letters: ``\\frac{a}{b} \\le \\pi`` a/b ≤ π."""
    text = re.sub(r"\\[()\[\]{}]", "", text)
    text = re.sub(r"\^\{?\\circ\}?", "°", text)
    text = re.sub(r"\\(bar|hat|tilde|vec|dot|ddot)\{([^{}]*)\}", r"\2 \1", text)
    text = text.replace("}{", " ÷ ") if "}{" in text else text
    text = _COMMAND.sub(lambda m: f" {_COMMANDS.get(m[1], m[1])} ", text)
    return " ".join(re.sub(r"[{}]|\\[,;!: ]|\\\\", " ", text).split())
