"""Patterns of rules: a small regular language whose slots are vocabularies and macros.

A pattern is written like a regular expression, without what an automaton cannot do (back
references, look-behind, look-ahead before its end)::

    {n:number} ?{u:units}(?= {noun:word})

``{name}`` is a macro or a vocabulary, ``{group:name}`` the same with its text captured, ``{a:...}``
with a pattern in place of a name is not allowed: give it a name. ``\\a`` is a letter, ``\\u`` a
capital, ``\\l`` a small letter, ``\\d`` a figure (ASCII), ``\\m`` a mark that
belongs to the letter before it, ``\\p`` a sign that may be a picture, ``\\j`` what joins and marks
pictures. A space is any white space of the text, ``\\h`` one within a line.
``(?=...)`` at the end is right context: it must follow, but belongs to the next token.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from sayahead.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Node:
    """A part of a pattern."""

    parts: tuple[Node, ...] = field(default=(), kw_only=True)
    group: str = field(default="", kw_only=True)
    """The name by which its text is captured."""


@dataclass(frozen=True, slots=True)
class Chars(Node):
    """One character of a set; ``source`` is the set as Python's ``re`` writes it."""

    source: str


chars = functools.cache(Chars)
"""One character of a set, made once."""


@dataclass(frozen=True, slots=True)
class Vocabulary(Node):
    """One word of a vocabulary."""

    name: str


@dataclass(frozen=True, slots=True)
class Series(Node):
    """One after the other."""


@dataclass(frozen=True, slots=True)
class Choice(Node):
    """One of several."""


@dataclass(frozen=True, slots=True)
class Repeat(Node):
    """Its only part ``low`` to ``high`` times; ``high`` is None without a limit."""

    low: int
    high: int | None


@dataclass(frozen=True, eq=False)
class Pattern:
    """What a token must be, and what must follow it."""

    body: Node
    right: Node | None = None
    groups: tuple[str, ...] = ()
    """Names of all captured parts."""

    @functools.cached_property
    def looks_at_word(self) -> bool:
        """Whether its right context ends with a vocabulary's word: all of a word, then, not its
        beginning."""
        return self.right is not None and _ends_with_word(self.right)

    @functools.cached_property
    def is_bare(self) -> bool:
        """Whether its token is all that it captures, if anything, before at most one character."""
        return {*self.groups} <= {self.body.group} and isinstance(self.right, Chars | None)


def _ends_with_word(node: Node) -> bool:
    last = node.parts[-1:] if isinstance(node, Series) else node.parts
    return isinstance(node, Vocabulary) or any(map(_ends_with_word, last))


MAX_CASED = 0x530
MAX_MARK = 0x3000


@functools.cache
def _of_category(*categories: str) -> str:
    """The characters of Unicode categories, as ranges of a set: of scripts with capitals up to
    Cyrillic."""
    ranges: list[list[int]] = []
    for code in range(MAX_CASED if "Lu" in categories or "Ll" in categories else MAX_MARK):
        if unicodedata.category(chr(code)) in categories:
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    return "".join(chr(a) if a == b else f"{chr(a)}-{chr(b)}" for a, b in ranges)


_SETS: Mapping[str, Callable[[], str]] = {
    "a": lambda: rf"[^\W\d_{_of_category('No', 'Nl')}]",
    "d": lambda: "[0-9]",
    "w": lambda: r"[^\W_]",
    "u": lambda: f"[{_of_category('Lu', 'Lt')}]",
    "l": lambda: f"[{_of_category('Ll')}]",
    "m": lambda: f"[{_of_category('Mn', 'Mc')}\\u200c\\u200d]",
    "h": lambda: SPACE,
    "j": lambda: "[\u200c\u200d\ufe0f\u20e3]",
    "p": lambda: "[\u2190-\u21ff\u2300-\u27bf\u2b00-\u2bff]",
}
"""Named sets, as sources of Python's ``re``."""

SPACE = " "
"""White space, of which a text has one at a place (``stream``)."""
NEWLINE = "\n"
"""White space at the end of a line."""
WHITE = SPACE + NEWLINE
SENTENCE_END = "\u2029"
"""What a text has where a sentence is over whatever stands before it."""


_TIMES = re.compile(r"\{(\d+)(?:(,)(\d*))?\}")
_OPENING = re.compile(r"\((?:\?:|\?P<(\w+)>)?")
_SET = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]")
_SLOT = re.compile(r"\{(?:([a-z]\w*):)?([a-z][\w.~]*)\}")


Macro = Callable[[str, str], Node | None]
"""The pattern of a name, which captures nothing, and what its sets exclude; None where it names no
macro."""


class PatternParser:
    """A recursive descent over one pattern."""

    def __init__(
        self,
        text: str,
        macro: Macro,
        vocabularies: Mapping[str, object],
        *,
        captures: bool = True,
        excluded: str = SENTENCE_END,
    ) -> None:
        """``captures``: whether it has groups, as macros have not; ``excluded``: what sets that
        exclude white space exclude, too."""
        self._text = text
        self._macro = macro
        self._vocabularies = vocabularies
        self._captures = captures
        self._excluded = excluded
        self._groups: list[str] = []
        self._at = 0

    def parse(self) -> Pattern:
        """The pattern; ConfigError where it cannot be read."""
        body = self._choice()
        right = None
        if self._text.startswith("(?=", self._at):
            self._at += 3
            # In right context the end of a sentence is as good as any other character.
            self._excluded = ""
            right = self._choice()
            self._expect(")")
        if self._at < len(self._text):
            raise self._error(f"{self._text[self._at]!r} was not expected")
        return Pattern(body, right, tuple(self._groups))

    def _error(self, what: str) -> ConfigError:
        return ConfigError(f"the pattern {self._text!r}, at character {self._at + 1}: {what}")

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _expect(self, text: str) -> None:
        if not self._text.startswith(text, self._at):
            raise self._error(f"{text!r} is missing")
        self._at += len(text)

    def _choice(self) -> Node:
        parts = [self._sequence()]
        while self._peek() == "|":
            self._at += 1
            parts.append(self._sequence())
        return parts[0] if len(parts) == 1 else Choice(parts=tuple(parts))

    def _sequence(self) -> Node:
        parts: list[Node] = []
        while self._peek() not in ("", "|", ")") and not self._text.startswith("(?=", self._at):
            parts.append(self._repeated(self._one()))
        return parts[0] if len(parts) == 1 else Series(parts=tuple(parts))

    def _repeated(self, node: Node) -> Node:
        sign = self._peek()
        if sign and sign in "?*+":
            self._at += 1
            low, high = {"?": (0, 1), "*": (0, None), "+": (1, None)}[sign]
            return Repeat(low, high, parts=(node,))
        if m := _TIMES.match(self._text, self._at):
            self._at = m.end()
            least = int(m[1])
            most = least if not m[2] else int(m[3]) if m[3] else None
            return Repeat(least, most, parts=(node,))
        return node

    def _one(self) -> Node:
        char = self._peek()
        if char == "(":
            return self._group()
        if char == "{":
            return self._slot()
        if char == "[":
            return self._set()
        self._at += 1
        if char == "\\":
            return chars(self._escaped())
        if char == ".":
            return chars(f"[^{WHITE}{SENTENCE_END}]")
        if char == SPACE:
            return chars(f"[{WHITE}]")
        if char in "?*+":
            raise self._error(f"nothing stands before {char!r}")
        return chars(re.escape(char))

    def _escaped(self) -> str:
        char = self._peek()
        self._at += 1
        return _SETS[char]() if char in _SETS else re.escape(char)

    def _group(self) -> Node:
        group = ""
        if m := _OPENING.match(self._text, self._at):
            self._at = m.end()
            group = self._captured(m[1])
        inner = self._choice()
        self._expect(")")
        return Series(parts=(inner,), group=group)

    def _captured(self, name: str | None) -> str:
        """The name of a captured part; nothing where it is not captured."""
        if not (name and self._captures):
            return ""
        self._groups.append(name)
        return name

    def _set(self) -> Node:
        end = _SET.match(self._text, self._at)
        if end is None:
            raise self._error("the set has no end")
        self._at = end.end()
        source = end.group()
        for name in ("u", "l", "m", "a", "w"):
            if f"\\{name}" in source:
                inner = _SETS[name]()
                if inner.startswith("[^"):
                    inner = f"[{_of_category('Lu', 'Lt', 'Ll', 'Lo', 'Lm')}{'0-9' * (name == 'w')}]"
                source = source.replace(f"\\{name}", inner[1:-1])
        source = source.replace(r"\d", "0-9")
        if SPACE not in source:
            return chars(source)
        source = source.replace(SPACE, WHITE)
        return chars(f"[^{self._excluded}{source[2:]}" if source.startswith("[^") else source)

    def _slot(self) -> Node:
        m = _SLOT.match(self._text, self._at)
        if m is None:
            raise self._error("a slot is written {name} or {group:name}")
        group = self._captured(m[1])
        name = m[2]
        self._at = m.end()
        if (macro := self._macro(name, self._excluded)) is not None:
            return Series(parts=(macro,), group=group)
        if name.rstrip("~") in self._vocabularies:
            return Vocabulary(name, group=group)
        raise self._error(f"there is no macro and no vocabulary {name!r}")


def source_of(node: Node, words: Mapping[str, Iterable[str]], behind: str = "") -> str:
    """The node as Python's ``re`` writes it; ``words`` are those of each vocabulary, ``behind``
    what follows each."""
    opening = f"(?P<{node.group}>" if node.group else "(?:"
    parts = [source_of(part, words, behind) for part in node.parts]
    if isinstance(node, Chars):
        return node.source
    if isinstance(node, Vocabulary):
        keys = sorted(words[node.name.rstrip("~")], key=len, reverse=True)
        inner = "|".join(re.escape(key).replace(r"\ ", f"[{WHITE}]") for key in keys) or "(?!)"
        flag = "i" if node.name.endswith("~") else ""
        return f"{opening}(?{flag}:{inner})){behind}"
    if isinstance(node, Repeat):
        high = "" if node.high is None else node.high
        return f"(?:{parts[0]}){{{node.low},{high}}}"
    between = "|" if isinstance(node, Choice) else ""
    return f"{opening}{between.join(parts)})"
