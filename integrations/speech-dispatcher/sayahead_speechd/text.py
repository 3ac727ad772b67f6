"""What Speech Dispatcher sends, as text to speak: SSML with index marks, characters, names of
keys."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass

TAG = re.compile(r"<[^<>]*>")
MARK = re.compile(r"""<mark\s+name\s*=\s*(?:"([^"]*)"|'([^']*)')\s*/?>""")
BLOCK = re.compile(r"</?(?:p|s|sentence|paragraph|break)\b", re.IGNORECASE)
CHARACTERS = {
    " ": "space",
    "\t": "tab",
    "\n": "new line",
    "!": "exclamation mark",
    '"': "quote",
    "#": "number",
    "$": "dollar",
    "%": "percent",
    "&": "ampersand",
    "'": "apostrophe",
    "(": "left paren",
    ")": "right paren",
    "*": "star",
    "+": "plus",
    ",": "comma",
    "-": "dash",
    ".": "dot",
    "/": "slash",
    ":": "colon",
    ";": "semicolon",
    "<": "less",
    "=": "equals",
    ">": "greater",
    "?": "question mark",
    "@": "at",
    "[": "left bracket",
    "\\": "backslash",
    "]": "right bracket",
    "^": "caret",
    "_": "underscore",
    "`": "grave",
    "{": "left brace",
    "|": "bar",
    "}": "right brace",
    "~": "tilde",
}
"""Names of characters that have no sound of their own."""
KEYS = {
    "underscore": "underscore",
    "double-quote": "quote",
    "kp": "keypad",
    "bs": "backspace",
    "ctrl": "control",
    "page-up": "page up",
    "page-down": "page down",
    "prior": "page up",
    "next": "page down",
    "esc": "escape",
}


@dataclass(frozen=True, slots=True)
class Message:
    """A text to speak, and the names of the index marks in it by their place."""

    text: str
    marks: tuple[tuple[int, str], ...] = ()
    """Character of the text before which a mark stands, and its name."""


def message(source: str) -> Message:
    """A text, or SSML if it begins with a speak element: tags are never spoken, marks keep their
    places."""
    if not source.lstrip().startswith("<speak"):
        return Message(source)
    text = ""
    marks = []
    at = 0
    for tag in TAG.finditer(source):
        text += html.unescape(source[at : tag.start()])
        at = tag.end()
        mark = MARK.fullmatch(tag.group())
        if mark:
            marks.append((len(text), html.unescape(mark.group(1) or mark.group(2) or "")))
        elif BLOCK.match(tag.group()) and text and not text[-1].isspace():
            text += "\n"
    return Message(text + html.unescape(source[at:]), tuple(marks))


def character(source: str, *, capitals: bool = False) -> str:
    """A character as it is spelled; ``capitals``: whether large letters are announced."""
    if source in CHARACTERS:
        return CHARACTERS[source]
    if source.isalpha() and len(source) == 1:
        # A lone letter is its name: "A" and not the article "a".
        return f"capital {source}" if capitals and source.isupper() else source.upper()
    return CHARACTERS.get(source.strip(), source)


def key(source: str, *, capitals: bool = False) -> str:
    """A key with its modifiers, ``control_shift_a``, as it is spoken."""
    if len(source) == 1:
        return character(source, capitals=capitals)
    parts = [part for part in source.split("_") if part]
    names = [KEYS.get(part.lower(), character(part, capitals=capitals)) for part in parts]
    return " ".join(name.replace("-", " ") for name in names)
