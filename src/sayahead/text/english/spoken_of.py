"""What a text speaks of or shows: signs in ticks, patterns, options and commands, a card's last figures, pictures."""

from __future__ import annotations

import re

from sayahead.text.english import tables
from sayahead.text.english.addresses import spelled
from sayahead.text.english.grammar import read
from sayahead.text.english.left_context import Left
from sayahead.text.english.numbers import label
from sayahead.text.english.whole_tokens import spelled_out
from sayahead.text.shared.signs import name_of, picture_name
from sayahead.text.shared.spoken_of import MASKED, TICKED
from sayahead.text.shared.tokens import Parts, Right

_PATTERN = re.compile(r"\\[dwsDWS](?:[+*?{$\])]|$)")
"""A class of a regular expression, of which every sign counts."""
_COMMAND = re.compile(r"[`\"'(]*:([a-z]{1,2}|w[a-z]{1,2})(!?)[`\"')]*([.,;:]*)")
"""A command of an editor: ``:wq``."""
_FLAG = re.compile(r"(--?)([A-Za-z][\w-]*)")
_SHOWING = frozenset("the a an this that".split())
_SHOWN = frozenset("icon button emoji symbol sign reaction tab menu key".split())
_SHOWN_BEGUN = frozenset(word[:n] for word in _SHOWN for n in range(1, len(word)))


def reading(parts: Parts, raw: str, left: Left) -> str | None:
    """The reading of a token that is one of these; None for others."""
    if "`" in raw and (m := TICKED.fullmatch(raw)):
        parts.mark = m[2][-1:]
        return _signs(m[1])
    if "\\" in raw and _PATTERN.search(raw) and (pattern := raw.strip("`\"'").rstrip(".,;:!?`\"'")):
        return " ".join(spelled_out(char) if char.isalnum() else _signs(char) for char in pattern)
    if ":" in raw and (m := _COMMAND.fullmatch(raw)):
        parts.mark = m[3][-1:]
        return f"colon {spelled(m[1])}{' exclamation mark' if m[2] else ''}"
    if raw[-1:].isalpha() or "-" in raw:
        flag = _FLAG.fullmatch(raw.strip("`*_\"'()[],.;:"))
        return _flag(flag[1], flag[2], left) if flag and flag[2] == parts.core else None
    return label(m[1]) if (m := MASKED.fullmatch(raw)) else None


def pictured(raw: str, left: Left, right: Right) -> str | bool | None:
    """The name of an emoji that is shown: "Click the ⚙️ icon"; None while that is not known, False for others."""
    if left.word.lower() not in _SHOWING or not (name := picture_name(raw)):
        return False
    shown = right.one_of(_SHOWN, _SHOWN_BEGUN)
    return shown and name


def _signs(text: str) -> str:
    """Signs by their names: "use `==` instead of `=`"."""
    return tables.OPERATORS.get(text) or " ".join(tables.SIGNS.get(sign, "") or name_of(sign) for sign in text)


def _flag(dashes: str, name: str, left: Left) -> str | None:
    """``-h`` dash H, ``--no-cache`` dash dash no cache, "= -b" minus B; None for a dash before a word."""
    if len(dashes) == 1 and left.kind == "sign" and len(name) == 1:
        return f"minus {name.upper()}"
    plain = len(name) < 3 or not re.search("[aeiouy]", name)
    if len(dashes) == 1 and not left.before and name in ("b", "x", "y"):
        return f"minus {name.upper()}"
    if len(dashes) == 1:
        return f"dash {spelled(name)}" if plain and name.isalpha() and len(name) < 5 else None
    return f"dash dash {read(name.replace('-', ' ').strip()) if name.isalpha() else name.replace('-', ' ')}"
