"""Markdown: what opens a line, emphasis, links, code, tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from sayahead.text.markup import LIST_STOP, SENTENCE_END, Place, Rewriter

MAX_LINK = 2000
"""Characters of a link's target, beyond which its end is not awaited."""
MAX_MARKER = 24
"""Characters that are looked at to know what opens a line, its first word aside."""
MAX_STARS = 3
"""Marks that emphasize; more of them stand for something: "****4471"."""
OF_THEIR_OWN = frozenset(("item", "heading", "table", "code"))
"""Kinds of lines that no next line goes on with."""

_PICTURE = (
    "[\u2192\u2300-\u2307\u230c-\u2317\u2319-\u2324\u2326-\u245f\u2500-\u266c\u2670-\u2775\u2794-\u27bf"
    "\u2b00-\u2bff\U0001f000-\U0001faff]"
)
"""Pictures that stand before an item; no brackets, keys and notes of music."""
_INDENT = re.compile(r"[ \t]*")
_MARKERS: list[tuple[str, re.Pattern[str]]] = [
    ("fence", re.compile(r"(?:```|~~~)[^`\n]{0,80}(?=\n)")),
    (
        "rule",
        re.compile(
            r"(?:([-*_=])(?: ?\1){2,200}|(?=[^\n]{0,200}--)[-:| \t]{3,200})[ \t]{0,20}(?=\n)"
        ),
    ),
    ("heading", re.compile(r"#{1,6}[ \t]+")),
    ("task", re.compile(r"(?:[-*+]|\d{1,3}[.)])[ \t]+\[[ xX]\](?=[ \t])")),
    (
        "item",
        re.compile(rf"(?:[-*+•‣◦▪→]|{_PICTURE}[\ufe0f\u200d\U0001f3fb-\U0001f3ff]*)[ \t]+(?=\S)"),
    ),
    ("number", re.compile(r"(\d{1,3})[.)][ \t]+(?=\S)")),
    ("number", re.compile(r"\((\d{1,2}|[a-h])\)[ \t]+|([a-h])\)[ \t]+")),
    ("number", re.compile(r"([a-h])\.[ \t]+(?=[A-ZÀ-Þ][a-zß-ÿ])")),
    ("number", re.compile("([0-9])\ufe0f?\u20e3[ \t]*")),
    ("quote", re.compile(r"(?:>(?![ \t]*[\d=])[ \t]*)+")),
    ("table", re.compile(r"\|[ \t]*")),
    ("note", re.compile(r"\[\^[^\]\n]{1,30}\]:[ \t]*")),
    ("definition", re.compile(r"\[[^\]\n]{1,60}\]:[ \t]*(?:<|https?:|[./#])[^\n]*(?=\n)")),
]
"""What may open a line, by what it makes of it."""
_BEGUN = re.compile(
    r"(?:`{1,2}|(?:```|~~~)[^`\n]{0,80}|[-*_=|:\t ]{1,200}|#{1,6}[ \t]*|[-*+•‣◦▪→]["
    rf" \t]*|{_PICTURE}\W{{0,8}}"
    r"|(?:[-*+]|\d{1,3}[.)])[ \t]+\[?[ xX]?\]?|\d{1,3}(?:[.)][ \t]*)?|[0-9]\ufe0f?\u20e3?[ \t]*"
    r"|\((?:\d{1,2}|[a-h])?\)?[ \t]*|[a-h](?:[.)][ \t]*[A-ZÀ-Þ]?)?|(?:>[ \t]*){1,20}"
    r"|\[\^?[^\]\n]{0,60}\]?:?[ \t]*"
    r"|\[[^\]\n]{1,60}\]:[ \t]*(?:h(?:t(?:tp?s?)?)?|(?:https?:|[<./#])[^\n]{0,600})?)"
)
"""What may still become one of them."""
_LINK = re.compile(
    r"\]\(\s?(?:<[^<>\n]*>|(?:[^\s()<>]|\([^\s()]*\))*)(?:\s+(?:\"[^\"\n]*\"|'[^'\n]*'|\([^()\n]*\)))?\s*\)"
)
_LINK_BEGUN = re.compile(
    r"\](?:\(\s?(?:<[^<>\n]*>?|(?:[^\s()<>]|\([^\s()]*\))*(?:\([^\s()]*)?)(?:\s+(?:\"[^\"\n]*\"?|'[^'\n]*'?)?)?\s*)?"
)
_REFERENCE = re.compile(r"\]\[(?![0-9]{1,3}\])[^\[\]\n]{0,60}\]")
_REFERENCE_BEGUN = re.compile(r"\]\[[^\[\]\n]{0,60}")
_SILENT_BRACKET = re.compile(r"\[(?:\^[^\]\n]{1,30}|@[^\]\n]{1,60})\]|\[\[(?:[^\[\]|\n]{1,60}\|)?")
_SILENT_BRACKET_BEGUN = re.compile(r"\[(?:\^[^\]\n]{0,30}|@[^\]\n]{0,60}|\[[^\[\]|\n]{0,60})?")
_BRACKETS = {
    "]": ((_LINK, _REFERENCE), (_LINK_BEGUN, _REFERENCE_BEGUN)),
    "[": ((_SILENT_BRACKET,), (_SILENT_BRACKET_BEGUN,)),
}
"""What a bracket may be, and what may still become that."""
_EMPHASIS = re.compile(r"\*\*/\*|\*+|_+|~~+")
"""Marks of emphasis, or the stars of a path."""
_EMPHASIS_BEGUN = re.compile(r"(?:\*+|_+|~+)/?")
_CODE = re.compile("`+")
_SPACES = " \t\n\u00a0"
_CLOSED = ")]}"
"""After these, a star is a product's."""
_CLOSING = ".!?…:;,\n"
"""After these, a line break changes nothing for the word before it."""


class MarkdownFilter(Rewriter):
    """Text without what only shows how it looks; lines that end a sentence say so."""

    OPENERS = re.compile(r"[\n*_~`\[\]!|]")
    _IN_CODE = re.compile(r"[\n`]")

    def __init__(self, is_dated: Callable[[str], bool]) -> None:
        """``is_dated``: whether figures with a full stop at a line's start go on so that they are a
        date."""
        super().__init__()
        self._is_dated = is_dated
        self._all = self.OPENERS
        self.end_line()

    def end_line(self) -> None:
        """What comes next begins a new line, and a new text: nothing that was open goes on."""
        super().end_line()
        self._opens_line = True
        self._line = ""
        self._before = ""
        self._open: dict[str, int] = {}
        self._is_fenced = False
        self._ticks = 0
        self._break: Place | None = None
        """A line break that the next line decides about."""
        self._end = 0
        self.OPENERS = self._all

    # ---- lines -----------------------------------------------------------------------------------

    def _run(self, at: int) -> int:
        """Pass on what is held, line by line; up to where that went. At the end of a text a line
        may be open that has no characters."""
        while at < len(self._held.chars) or (self._is_over and self._opens_line):
            if self._opens_line:
                size = self._open_line(at)
                if size is None:
                    break
                at += size
            at = super()._run(at)
            if not self._opens_line:
                break
        return at

    @property
    def is_idle(self) -> bool:
        return not self._opens_line and super().is_idle

    def _is_broken_off(self) -> bool:
        return self._opens_line

    def _open_line(self, at: int) -> int | None:
        """Take in what opens the line: how many characters; None while that is not known."""
        chars = self._held.chars
        indent = _INDENT.match(chars, at).end() - at  # type: ignore[union-attr]
        rest = chars[at + indent : at + indent + MAX_LINK]
        if not rest and (self._is_over or indent < MAX_MARKER):
            if self._is_over and self._break:
                self._out.append("\n", self._break)
                self._break = None
            return None
        if not self._is_over and _BEGUN.fullmatch(rest):
            return None
        kind, size, number = self._marker(f"{rest}\n" if self._is_over else rest)
        if kind == "wait":
            return None
        self._end_before(kind, is_blank=rest.startswith("\n"))
        return self._take_marker(kind, at, indent, min(size, len(rest)), number)

    def _marker(self, rest: str) -> tuple[str, int, str]:
        """What the line's beginning makes of it, how long that is, and the number of a list's
        item."""
        for kind, pattern in _MARKERS:
            m = pattern.match(rest)
            if m is None or (self._is_fenced and kind != "fence"):
                continue
            number = next(filter(None, m.groups()), "") if kind == "number" else ""
            if number.isdecimal() and "." in m[0]:
                word = re.match(r"\S{0,20}", rest[m.end() :])[0]  # type: ignore[index]
                if not self._is_over and m.end() + len(word) == len(rest):
                    return "wait", 0, ""
                if self._is_dated(word):
                    continue
            return kind, m.end(), number
        return "", 0, ""

    def _end_before(self, kind: str, *, is_blank: bool) -> None:
        """End the sentence of the line before, or go on with it."""
        goes_on = self._is_fenced and kind != "fence"
        if is_blank or (
            kind and not goes_on and not (kind == self._before and kind in ("quote", "table"))
        ):
            self._out.append(SENTENCE_END, self._break or (self._end, self._end))
        elif self._break:
            self._out.append("\n", self._break)
        self._break = None

    def _take_marker(self, kind: str, at: int, indent: int, size: int, number: str) -> int:
        """Take in a line's marker, which is silent but for an item's number; how many characters
        with the ``indent`` before it."""
        places = self._held.places
        start = at + indent
        self._last = "\n"
        self._lead = places[start][0] if size else -1
        if number:
            figures = self._held.chars.index(number, start)
            self._out.append(number.upper(), (self._lead, places[figures + len(number) - 1][1]))
            self._out.append(f"{LIST_STOP} ", places[start + size - 1])
            self._lead = -1
        if kind == "fence":
            self._is_fenced = not self._is_fenced
            self.OPENERS = self._IN_CODE if self._is_fenced else self._all
        line = {"task": "item", "number": "item", "rule": "", "note": "", "definition": ""}.get(
            kind, kind
        )
        self._line = "code" if self._is_fenced and kind != "fence" else line
        self._opens_line = False
        return indent + size

    # ---- within a line ---------------------------------------------------------------------------

    def _rewrite(self, at: int) -> int | None:
        return _INLINE[self._held.chars[at]](self, at)

    def _newline(self, at: int) -> int:
        """A line's end: the next line tells whether the sentence goes on, unless a mark or its kind
        does."""
        self._opens_line = True
        self._before = self._line
        self._ticks = 0
        self._end = self._held.places[at][1]
        if self._line in OF_THEIR_OWN:
            self._put(SENTENCE_END, at, 1)
        elif self._last in _CLOSING:
            self._put("\n", at, 1)
        else:
            self._break = self._held.places[at]
        return 1

    def _cell(self, at: int) -> int | None:
        """A cell's end: a pause, but for the last one's."""
        if self._line != "table":
            return 0
        rest = self._held.chars[at + 1 : at + MAX_MARKER].lstrip(" \t")
        if not rest and not self._is_over and len(self._held.chars) - at < MAX_MARKER:
            return None
        if rest and rest[0] != "\n":
            self._put(", ", at, 1)
        return 1

    def _code(self, at: int) -> int | None:
        """Ticks that begin or end code; between two letters one is an apostrophe."""
        ticks = _CODE.match(self._held.chars, at)[0]  # type: ignore[index]
        after = self._held.chars[at + len(ticks) : at + len(ticks) + 1]
        if not after and not self._is_over and len(ticks) < MAX_MARKER:
            return None
        if self._last.isalnum() and after.isalnum() and not self._ticks:
            return 0
        self._ticks = 0 if self._ticks else len(ticks)
        self._silence(at)
        return len(ticks)

    def _image(self, at: int) -> int | None:
        """The mark before an image, whose label is read."""
        if self._last not in _SPACES:
            return 0
        rest = self._held.chars[at : at + 2]
        if len(rest) == 1 and not self._is_over:
            return None
        if rest != "![":
            return 0
        self._silence(at)
        return 1

    def _bracket(self, at: int) -> int | None:
        """Links, of which the label is read, notes and keys of sources, which are silent."""
        if self._ticks or self._last == "^":
            return 0
        rest = self._held.chars[at : at + MAX_LINK]
        wholes, begun = _BRACKETS[rest[0]]
        goes_on = len(rest) < MAX_LINK and any(pattern.fullmatch(rest) for pattern in begun)
        if goes_on and not self._is_over:
            return None
        size = max((m.end() for whole in wholes if (m := whole.match(rest))), default=0)
        if not size and not (rest[0] == "[" and self._last.isalnum()):
            size = _broken(rest, goes_on=goes_on)
        if size:
            self._silence(at)
        return size

    def _emphasis(self, at: int) -> int | None:
        """Marks of emphasis: silent where they open before a word, or close behind one what is
        open; else all stay."""
        if self._ticks:
            return 0
        chars = self._held.chars
        if (
            not self._is_over
            and len(chars) - at < MAX_MARKER
            and _EMPHASIS_BEGUN.fullmatch(chars, at)
        ):
            return None
        run = _EMPHASIS.match(chars, at)
        if run is None:
            return 0
        marks = run[0]
        after = chars[run.end() :][:1]
        if "/" not in marks and (self._closes(marks, after) or self._opens(marks, after)):
            self._silence(at)
        else:
            self._copy(at, run.end())
        return len(marks)

    def _closes(self, run: str, after: str) -> bool:
        """Whether marks end an emphasis; two of them do though none is open."""
        if self._last in _SPACES:
            return False
        is_end = not after.isalnum()
        is_open = self._open.get(run[0], 0) > 0
        if is_open and (is_end or run[0] == "*"):
            self._open[run[0]] = max(0, self._open[run[0]] - len(run))
            return True
        is_path = self._last == "/"
        return is_end and len(run) > 1 and not is_path and not self._may_open(after)

    def _opens(self, run: str, after: str) -> bool:
        """Whether marks begin an emphasis (before a word, or two stars within one); if so, they are
        counted as open."""
        if len(run) > MAX_STARS:
            return False
        is_inside = len(run) > 1 and run[0] == "*" and after.isalpha() and self._last.isalpha()
        is_path = run[0] == "*" and self._last == "/" == after
        is_sign = is_path or (run == "*" and (after.isdecimal() or after in "./,"))
        if is_sign or not (is_inside or self._may_open(after)):
            return False
        self._open[run[0]] = self._open.get(run[0], 0) + len(run)
        return True

    def _may_open(self, after: str) -> bool:
        before = self._last
        return (
            after != "" and after not in _SPACES and not before.isalnum() and before not in _CLOSED
        )


_INLINE: Mapping[str, Callable[[MarkdownFilter, int], int | None]] = {
    "\n": MarkdownFilter._newline,
    "`": MarkdownFilter._code,
    "!": MarkdownFilter._image,
    **dict.fromkeys("[]", MarkdownFilter._bracket),
    **dict.fromkeys("*_~", MarkdownFilter._emphasis),
    "|": MarkdownFilter._cell,
}
"""What takes in each of ``OPENERS``."""


def _broken(rest: str, *, goes_on: bool) -> int:
    """How much of a bracket is silent that is none of the known ones."""
    if rest.startswith("]("):
        return len(rest) if goes_on else 0
    return int(rest[0] == "[" and not rest[1:2].isdecimal())
