"""Source characters to those that rules know, each with its place in the source: markup's filters
and the last one."""

from __future__ import annotations

import functools
import re
import unicodedata

from sayahead.text import Skipped, skip
from sayahead.text.languages.record import Record
from sayahead.text.languages.signs import is_picture, is_silent
from sayahead.text.markup import Output, Place, Rewriter, Text
from sayahead.text.markup.latex import LatexFilter
from sayahead.text.markup.markdown import MarkdownFilter
from sayahead.text.markup.tags import TagFilter
from sayahead.text.reading.pattern import NEWLINE, SENTENCE_END, SPACE
from sayahead.text.reading.punctuation import ENDING, PAUSING, readable

_WHITE = re.compile(r"[\s\x00-\x1f\x7f-\x9f]")
_VISIBLE = re.compile("[!-~]+(?: [!-~]+)*")
"""Visible characters of ASCII, with single spaces between them."""
_PLAIN = re.compile(f" |(?: ?){_VISIBLE.pattern} ?")
"""The same, with a space around them."""
_MARKUP = re.compile(
    "|".join(one.OPENERS.pattern for one in (LatexFilter, TagFilter, MarkdownFilter)) + "|\r"
)
"""What passes no filter unseen."""
MAX_PASSED = 100
"""Characters before markup that its filters look at."""
_NEWLINES = "\n\r\v\f\u2028\u2029\x85"
_LIGATURES = "ﬀﬁﬂﬃﬄﬅﬆ"
_RAISED = "ᵃᵇᶜᵈᵉᶠᵍʰʲᵏˡᵐᵒᵖʳˢᵗᵘᵛʷʸᶻ"
"""Letters of abbreviations and ordinals: Sᵗ, 1ᵉʳ, Mᵐᵉ."""
_MARKING = "\u0334\u0335\u0336\u0337\u0338\ufe0e"
"""Strokes through letters, as in "H̶e̶l̶l̶o", and what asks for a sign in place of a picture."""
_NARROW = str.maketrans("‐‑‒―ʼ’´⁄μ", "---—'''/µ", "®©\xad")


class CharacterFilter:
    """One kind of white space, dash and apostrophe; figures as ASCII; nothing that cannot be
    read."""

    def __init__(self, record: Record, skipped: Skipped) -> None:
        """``skipped`` takes stretches in scripts that the voice cannot read."""
        self._scripts = record.scripts
        self._has_greek_names = "GREEK" not in record.scripts and bool(record.greek)
        self._pictures = record.vocabularies.get("pictures", "")
        self._skipped = skipped
        self._newlines = 1
        self._is_white = True

    def push(self, text: Text) -> Text:
        """The characters of a text."""
        if _PLAIN.fullmatch(text.chars) and not (self._is_white and text.chars[0] == SPACE):
            self._newlines = 0
            self._is_white = text.chars[-1] == SPACE
            return text
        out = Output()
        at = 0
        while at < len(text.chars):
            plain = _VISIBLE.match(text.chars, at)
            if plain:
                out.extend(text[at : plain.end()])
                self._newlines = 0
                self._is_white = False
                at = plain.end()
            else:
                self._take(text.chars[at], text.places[at], out)
                at += 1
        return out.text()

    def end_line(self) -> None:
        """What comes next begins a new line."""
        self._newlines = 1
        self._is_white = True

    def _take(self, char: str, place: Place, out: Output) -> None:
        """Take in a character that is not as plain as most are."""
        if char == SENTENCE_END or _WHITE.match(char):
            self._white(char, place, out)
            return
        self._newlines = 0
        for kept in self._kept(char, *place):
            if kept != SPACE:
                out.append(kept, place)
            elif not self._is_white:
                out.append(SPACE, place)
            self._is_white = kept == SPACE

    def _white(self, char: str, place: Place, out: Output) -> None:
        is_newline = char in _NEWLINES
        if not (self._is_white or char == SENTENCE_END):
            out.append(NEWLINE if is_newline else SPACE, place)
        self._is_white = True
        if is_newline:
            self._newlines += 1
        if char == SENTENCE_END or (is_newline and self._newlines == 2):
            out.append(SENTENCE_END, place)

    def _kept(self, char: str, start: int, end: int) -> str:
        if char.isascii() or char in self._pictures:
            return char
        if not readable(char, self._scripts) and not (self._has_greek_names and is_greek(char)):
            # Silent markup before it is no part of it.
            skip(self._skipped, max(start, end - 1), end, char)
            return SPACE
        return folded(char)


class Filters:
    """All filters, one behind the other: fragments of the source to characters that rules know."""

    def __init__(self, record: Record, skipped: Skipped, start: int = 0) -> None:
        """``skipped`` takes what nobody hears; ``start`` is the place of the first character."""
        self.place = start
        """Where the next character stands in the source."""
        before_tags = frozenset(record.vocabularies.get("before_tags", ()))
        self._markup: list[Rewriter] = [
            LatexFilter(),
            TagFilter(skipped, before_tags),
            MarkdownFilter(record.is_dated),
        ]
        self._last = CharacterFilter(record, skipped)
        self._is_after_return = False
        self._are_idle = False
        """Whether the filters of markup let pass what has none."""
        self._passed = ""
        """What has passed since they were asked."""

    def push(self, fragment: str) -> Text:
        """The characters that a fragment makes certain."""
        text = Text.of(fragment, self.place)
        self.place += len(fragment)
        if self._are_idle and _MARKUP.search(fragment) is None:
            self._passed = (self._passed + fragment)[-MAX_PASSED:]
            return self._last.push(text)
        if self._is_after_return or "\r" in fragment:
            text = self._with_newlines(text)
        self._let_passed()
        for rewriter in self._markup:
            text = rewriter.push(text)
        self._are_idle = not self._is_after_return and all(
            one.is_idle and one.OPENERS is type(one).OPENERS for one in self._markup
        )
        return self._last.push(text)

    def _let_passed(self) -> None:
        """Show what has passed the filters to them."""
        self._are_idle = False
        for rewriter in self._markup if self._passed else ():
            rewriter.let(self._passed)
        self._passed = ""

    def _with_newlines(self, text: Text) -> Text:
        """The text with one newline for each end of a line, however it is written."""
        kept = Text()
        for char, place in zip(text.chars, text.places, strict=True):
            if not (char == "\n" and self._is_after_return):
                kept.chars += "\n" if char == "\r" else char
                kept.places.append(place)
            self._is_after_return = char == "\r"
        return kept

    def flush(self) -> Text:
        """What still waits, as if the text were over."""
        text = Text()
        self._let_passed()
        for rewriter in self._markup:
            text = rewriter.flush(text)
        return self._last.push(text)

    def end_line(self) -> None:
        """What comes next begins a new line."""
        self._let_passed()
        for rewriter in self._markup:
            rewriter.end_line()
        self._last.end_line()


def is_greek(char: str) -> bool:
    """Whether a letter is Greek."""
    return unicodedata.name(char, "").startswith("GREEK")


@functools.lru_cache(maxsize=4096)
def folded(char: str) -> str:
    """A character as it may be read: figures of any script as ASCII, full width undone, emoji
    gone."""
    char = char.translate(_NARROW)
    if char.isascii() or not char:
        return char
    kind = unicodedata.category(char)
    if kind == "Nd":
        return str(unicodedata.decimal(char))
    if kind in ("Cs", "Cn", "Co", "Cc") or (kind == "Cf" and char not in "\u200c\u200d"):
        return ""
    if char in _MARKING:
        return ""
    if (kind in ("So", "Sk") and is_silent(char)) or is_picture(char):
        return SPACE
    if _is_variant(char, kind):
        return unicodedata.normalize("NFKC", char)
    return char


def _is_variant(char: str, kind: str) -> bool:
    """Whether a character is read as the plain ones that it stands for: Roman numerals, ligatures,
    ℝ, ᵗ, full width."""
    if kind == "Nl" or char in _LIGATURES or char in _RAISED:
        return True
    if kind[0] == "L" and unicodedata.decomposition(char).startswith("<font>"):
        return True
    return unicodedata.east_asian_width(char) == "F" and char not in ENDING + PAUSING
