"""Formulas of LaTeX as plain formulas: ``$\\frac{a}{b} \\le \\pi$`` is a/b ≤ π."""

from __future__ import annotations

import re
from pathlib import Path

from sayahead.text.markup import Rewriter
from sayahead.text.tables import lines_of

MAX_OPENING = 40
"""Characters behind a dollar sign that are looked at to know whether it opens a formula."""

_OPENS = re.compile(
    r"\$(?=\\?[A-Za-z](?![A-Za-z0-9])|\\[A-Za-z]|[A-Za-z]+[({^_=<>]"
    r"|(?![0-9.]+\W*$)[0-9.]*[A-Za-z]?[\^_\\{(=<>]|[-−+(|\[{]+[A-Za-z0-9.\\(]|[0-9]+[xyzn](?![A-Za-z])"
    r"|[^$\s]*[^$\s–—-]\$(?!\d))"
)
"""A dollar sign before a variable, a command, a sign or a power, or with another one in the same
token; before figures alone it is money."""
MAX_FORMULA = 160
"""Characters in which a formula that a dollar sign opens must be closed."""
_INNER = r"(?:[^$\\\n.?]|\\(?:.|\n)|\n(?!\s*\n)|[.?](?!\s))*"
"""What a formula is made of: neither the end of a sentence nor a blank line."""
_CLOSED = {
    "$": re.compile(rf"\$(?!\$){_INNER}(?<!\s)\$(?!\d)"),
    "$$": re.compile(rf"\$\${_INNER}[.?]?\s*\$\$"),
}
_UNCLOSED = {
    "$": re.compile(rf"\$(?!\$){_INNER}(?:\\|[.?]|\n\s*|(?<!\s)\$)?"),
    "$$": re.compile(rf"\$\${_INNER}(?:\\|[.?]?\s*\$?)"),
}
"""A formula that may still be closed."""
_LOSS = re.compile(
    r"\$(?:\(([0-9][0-9,.]*)\)|[-−]([0-9][0-9,]*\.[0-9]{2}))(?=[.,;:!?]*\s|[.,;:!?]*$)"
)
"""What an account has lost: ``$(2.1)``, ``$-45.20``."""
_COMMAND = re.compile(r"\\([A-Za-z]+)\*? ?|\\(.)", re.DOTALL)
_COMMAND_BEGUN = re.compile(r"\\(?:[A-Za-z]+\*? ?)?")
"""A command that may go on, or behind which it is still to be seen what stands."""
_ARGUMENT = re.compile(r"\{([^{}\n]{0,60})\}")
CLOSING = "$})"
"""What closes a formula or a part of it: nothing stands before it."""
_ROWS = (line.split(" = ") for line in lines_of(Path(__file__).with_suffix(".txt")))
COMMANDS = {name: sign for sign, names in _ROWS for name in names.split()}
"""Commands that are characters."""
SILENT = frozenset(
    "ldots cdots left right big Big bigl bigr text mathrm mathbf mathbb mathcal mathit mathsf "
    "operatorname quad qquad displaystyle limits dfrac frac tfrac overline underline boxed "
    "textbf textit emph texttt underbrace overbrace vdots langle "
    "rangle lvert rvert nonumber centering item textstyle vert mid hline dots".split()
)
"""Commands that say how something looks."""
WITH_ARGUMENT = frozenset(
    "begin end cite ref label eqref footnotemark bibliography citep citet pageref tag".split()
)
"""Commands whose argument is silent, too."""
ACCENTS = frozenset("bar hat tilde vec dot ddot".split())
"""Commands that are said after their argument."""
MAX_VARIABLES = 2
"""More letters behind a figure are a unit or a word."""
_VARIABLES = re.compile(r"[abcnpqrtuvwxyz]{1,2}(?![A-Za-z])")
_PLAIN = {"-": "−", "&": " ", "~": " "}
"""Characters of formulas that stand for others."""
_ESCAPED = dict.fromkeys(",;:! ", " ") | {"\\": ", "}
"""What commands of one character stand for; others for that."""
_FRACTIONS = frozenset(("frac", "dfrac", "tfrac"))


class LatexFilter(Rewriter):
    """Text with its formulas in plain characters."""

    OPENERS = re.compile(r"[$\\]")
    _INSIDE = re.compile(r"[$\\{}\-&~\n]|[abcnpqrtuvwxyz]")

    def __init__(self) -> None:
        super().__init__()
        self._outside = self.OPENERS
        self._is_math = False
        self._fractions = 0
        """How many arguments of a fraction are to come."""
        self._depth = -1
        """Braces that are open in a formula that nothing but a command began; -1 in another."""

    def end_line(self) -> None:
        """What comes next begins a new line; no formula goes over it."""
        super().end_line()
        self._leave()

    def _leave(self) -> None:
        self._is_math = False
        self._fractions = 0
        self._depth = -1
        self.OPENERS = self._outside

    def _enter(self) -> None:
        self._is_math = True
        self.OPENERS = self._INSIDE

    def _rewrite(self, at: int) -> int | None:
        rest = self._held.chars[at : at + MAX_FORMULA]
        if rest[0].isalpha():
            return self._product(at, rest)
        special = {"$": self._dollar, "\\": self._command}
        return special.get(rest[0], self._brace)(at, rest)

    def _dollar(self, at: int, rest: str) -> int | None:
        """What a dollar sign is: it opens a formula or closes it, or belongs to an amount."""
        if len(rest) == 1 and not self._is_over:
            return None
        if self._is_math:
            self._leave()
            return 2 if rest[1:2] == "$" else 1
        if self._last.isalpha():
            return 0
        if rest[1:2] == "$":
            return self._open(at, "$$", rest)
        token = re.split(r"\s", rest[:MAX_OPENING], maxsplit=1)[0]
        if len(token) == len(rest) < MAX_OPENING and not self._is_over:
            return None
        if loss := _LOSS.match(rest):
            self._put("-$", at, 2)
            start, end = loss.span(loss.lastindex or 0)
            self._copy(at + start, at + end)
            return loss.end()
        return self._open(at, "$", rest) if _OPENS.match(token) else 0

    def _open(self, at: int, sign: str, rest: str) -> int | None:
        """Dollar signs open a formula where others close it; elsewhere they are those of money or
        of a name."""
        if not self._is_over and len(rest) < MAX_FORMULA and _UNCLOSED[sign].fullmatch(rest):
            return None
        if not _CLOSED[sign].match(rest):
            return 0
        self._silence(at)
        self._enter()
        return len(sign)

    def _command(self, at: int, rest: str) -> int | None:
        """A command of a formula, or one that stands in a text."""
        rest = rest[: 2 * MAX_OPENING]
        command = _COMMAND.match(rest)
        if not self._is_over and len(rest) < 2 * MAX_OPENING and _COMMAND_BEGUN.fullmatch(rest):
            return None
        if command is None:
            return 0
        if command[2]:
            return self._escape(at, command[2])
        name = command[1]
        is_path = self._last.isalnum() or self._last in tuple(":\\.")
        if is_path and not self._is_math:
            return 0
        if name in WITH_ARGUMENT or name in ACCENTS:
            return self._with_argument(at, command)
        if not (self._is_math or name in COMMANDS or name in SILENT):
            return 0
        self._named(at, command)
        return command.end()

    def _named(self, at: int, command: re.Match[str]) -> None:
        """A command as its sign, or silent; with an argument it begins a formula."""
        self._silence(at)
        name = command[1]
        self._fractions += name in _FRACTIONS
        sign = COMMANDS.get(name, "" if name in SILENT else name)
        if sign:
            is_last = self._held.chars[at + command.end() : at + command.end() + 1] in CLOSING
            self._put(sign if sign == "°" else f" {sign}" + " " * (not is_last), at, command.end())
        if (
            not self._is_math
            and self._held.chars[at + command.end() : at + command.end() + 1] == "{"
        ):
            self._enter()
            self._depth = 0

    def _escape(self, at: int, char: str) -> int:
        """A command of one character: brackets begin and end a formula, in which the others stand
        for characters."""
        if char in "([":
            self._silence(at)
            self._enter()
        elif char in ")]":
            self._leave()
        elif not self._is_math:
            return 0
        elif char in "{}":
            self._silence(at)
        else:
            self._put(_ESCAPED.get(char, char), at, 2)
        return 2

    def _with_argument(self, at: int, command: re.Match[str]) -> int | None:
        """A command that is silent together with its argument, or an accent, which is named after
        it; None while the argument may go on."""
        rest = self._held.chars[at + command.end() : at + command.end() + 62]
        argument = _ARGUMENT.match(rest)
        if argument is None:
            may_go_on = not rest or (
                rest[0] == "{" and len(rest) < 62 and "}" not in rest and "\n" not in rest
            )
            if may_go_on and not self._is_over:
                return None
            self._silence(at)
            return command.end()
        if command[1] in ACCENTS:
            start = at + command.end() + 1
            self._copy(start, start + len(argument[1]))
            self._put(f" {command[1]} ", start + len(argument[1]), 1)
        else:
            self._silence(at)
            if command[1] == "begin":
                self._enter()
            elif command[1] == "end":
                self._leave()
        return command.end() + argument.end()

    def _product(self, at: int, rest: str) -> int | None:
        """Variables behind a figure stand by themselves: ``4ac``."""
        if not self._last.isdecimal():
            return 0
        if len(rest) < MAX_VARIABLES + 1 and rest.isalpha() and not self._is_over:
            return None
        variables = _VARIABLES.match(rest)
        if variables is None:
            return 0
        for place in range(variables.end()):
            self._put(f" {rest[place]}", at + place, 1)
        return variables.end()

    def _brace(self, at: int, rest: str) -> int | None:
        """Braces group; between those of a fraction something is divided."""
        char = rest[0]
        if char == "\n":
            if self._last == "\n":
                self._leave()
            return 0
        if char in _PLAIN:
            self._put(_PLAIN[char], at, 1)
            return 1
        if char == "}" and (self._fractions or self._depth == 1):
            if len(rest) == 1 and not self._is_over:
                return None
            if rest[1:2] == "{" and self._fractions:
                self._fractions -= 1
                self._put(" ÷ ", at, 2)
                return 2
        self._silence(at)
        self._nest(char)
        return 1

    def _nest(self, brace: str) -> None:
        """Count braces of a formula that a command began: with the last one it is over."""
        if self._depth >= 0:
            self._depth += 1 if brace == "{" else -1
            if self._depth <= 0:
                self._leave()
