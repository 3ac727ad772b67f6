"""From text fragments to final words in any language, by its record."""

from __future__ import annotations

import re

from sayahead.text.english.markup import is_rule, line_marker
from sayahead.text.english.portions import once
from sayahead.text.reading import rules
from sayahead.text.reading.marks import ENDING, PAUSING, Parts, foreign_runs, shown, trim, without
from sayahead.text.reading.record import Left, Record
from sayahead.text.reading.tokens import BLANK, GLUED, LINE, SPACE, Joined, Right, Said, Token
from sayahead.types import Word

PIECE = 60
"""Longest token in characters; a longer one is cut at multiples of this."""
AT_ONCE, PORTION = 8, 4
"""A reading of more spoken words than the first number is handed out in words of the engine of so many each."""
UNSPACED = 8
"""Longest stretch of letters in a language without spaces."""

_RUN = re.compile(r"[^\W\d_]+")
_NEWLINES = "\n\r\v\f\u2028\u2029\x85"
_WHITE = re.compile(r"[\s\x00-\x1f\x7f-\x9f]")
_GLUED_SENTENCES = re.compile(r"(\W*[^\W\d_]*[^\W\d_A-ZÀ-Þ]{2}[.!?])([A-ZÀ-Þ][^\W\d_A-ZÀ-Þ]+[,.!?;:)\"'”»*_]*)")
_OPEN_TAG = re.compile(r"<(?:[a-z][a-z-]*|!--)$")
_LONGEST_TAG = 400
_LINES_OF_THEIR_OWN = ("item", "heading", "table", "fence", "code")
_CLOSERS = "\"'”’»›)]}」』】》〉"


class Reader:
    """See ``sayahead.text.Normalizer``. The words do not depend on how the text is cut into fragments.

    A word is handed out with the white space behind it, or as soon as what follows can change nothing any more, where
    the language's record says that it might.
    """

    def __init__(self, record: Record, start: int = 0) -> None:
        """``start``: the place of the first character in the source text."""
        self.skipped: list[tuple[int, int, str]] = []
        """Stretches in scripts the voice cannot read (start, end, text), for the session to take away."""
        self._record = record
        self._position = self._last_end = start
        self._reset()

    def _reset(self) -> None:
        self._waiting: list[Token] = []
        self._text = ""
        self._start = self._position
        self._newlines = 1
        self._line = ""
        self._glue = self._returned = self._breath = self._code = False
        self._tag = 0
        self._close()

    def _close(self) -> None:
        self._left = Left()
        self._open = self._paused = False

    def push(self, fragment: str) -> list[Word]:
        """The words that became final through this fragment."""
        out: list[Word] = []
        at, size = 0, len(fragment)
        while at < size:
            quick = self._record.spaced and not (self._waiting or self._tag)
            if quick and (run := _RUN.match(fragment, at, at + PIECE - 1 - len(self._text))):
                if not self._text:
                    self._start = self._position
                self._text += run.group()
                self._position += run.end() - at
                at = run.end()
                continue
            self._char(fragment[at], out)
            at += 1
        return out

    def flush(self) -> list[Word]:
        """The words still pending, the last one ending its sentence; what is pushed next begins a new sentence."""
        out: list[Word] = []
        if self._text:
            self._token(BLANK, self._position, out)
        for token in self._waiting:
            token.gap = token.gap if token.gap == GLUED else BLANK
        self._settle(out)
        if out and not out[-1].ends:
            last = out[-1]
            out[-1] = Word(last.text, last.start, last.end, ends=True)
        self._reset()
        return out

    def breathe(self) -> list[Word]:
        """The words still pending, as they stand; the sentence goes on with what is pushed next."""
        out: list[Word] = []
        if self._text:
            self._token(SPACE, self._position, out)
        self._breath = True
        self._settle(out)
        self._breath = False
        return out

    def _char(self, char: str, out: list[Word]) -> None:
        """Take in one character and hand out what it settles."""
        white = _WHITE.match(char) is not None
        position = self._position
        after_return, self._returned = self._returned, char == "\r"
        if not white and not self._tag and self._cuts(char):
            self._token(GLUED, position, out)
        self._position += 1
        if self._tag:
            self._tag += 1
            if char == ">" or self._tag > _LONGEST_TAG:
                self._tag = 0
            if char not in _NEWLINES:
                return
            self._tag = 0
        if white:
            if char not in _NEWLINES and _OPEN_TAG.search(self._text):
                self._open_tag(position, out)
            elif char in _NEWLINES and not (after_return and char == "\n"):
                self._newline(out)
            elif self._text:
                self._token(SPACE, position, out)
            self._glue = False
            return
        if not self._text:
            self._start = position
        self._text += char
        if len(self._text) == PIECE or char == "—":
            self._token(GLUED, self._position, out)
        elif self._waiting:
            self._settle(out)

    def _cuts(self, char: str) -> bool:
        """Whether a token ends before this character though there is no space: in languages that have none."""
        if self._record.spaced or not self._text:
            return False
        last = self._text[-1]
        if not last.isascii() and last in ENDING + PAUSING:
            return char not in ENDING + PAUSING + _CLOSERS
        return len(self._text) >= UNSPACED and char.isalpha() and not char.isascii()

    def _open_tag(self, end: int, out: list[Word]) -> None:
        """A tag with attributes is open: what is before it is a token, the rest is passed over."""
        self._text = _OPEN_TAG.sub("", self._text)
        if self._text:
            self._token(SPACE, end, out)
        self._tag = 1

    def _newline(self, out: list[Word]) -> None:
        kind = "code" if self._code and self._text and self._newlines else self._line
        blank = kind in _LINES_OF_THEIR_OWN
        if self._text:
            self._token(BLANK if blank else LINE, self._position - 1, out)
            self._newlines = 1
        else:
            self._newlines += 1
            blank = blank or self._newlines > 1
            if self._waiting and self._waiting[-1].gap != GLUED:
                self._waiting[-1].gap = BLANK if blank else LINE
                self._settle(out)
            elif blank:
                self._end_sentence(out)
        if self._newlines > 1:
            self._line = ""

    def _end_sentence(self, out: list[Word]) -> None:
        """Close the sentence with a full stop of no length if its last word went out before its end was known."""
        if self._open:
            out.append(Word(".", self._last_end, self._last_end, ends=True))
        self._close()

    def _token(self, gap: int, end: int, out: list[Word]) -> None:
        """Put the characters gathered so far in line as a token, or as two where a sentence ends within."""
        if not self._glue and (two := _GLUED_SENTENCES.fullmatch(self._text)):
            self._text, second = two.groups()
            middle = self._start + len(self._text)
            self._token(SPACE, middle, out)
            self._text, self._start = second, middle
        first = self._newlines > 0 and not self._glue
        self._waiting.append(Token(self._text, self._start, end, gap, first))
        self._text = ""
        self._glue = gap == GLUED and self._record.spaced
        self._newlines = 0
        self._settle(out)

    def _settle(self, out: list[Word]) -> None:
        """Hand out the waiting tokens that the text so far settles."""
        while self._waiting:
            token = self._waiting[0]
            if token.first:
                marked = self._marked(token, out)
                if marked is None:
                    return
                if marked:
                    del self._waiting[0]
                    continue
            if not self._say(token, out):
                return

    def _marked(self, token: Token, out: list[Word]) -> bool | None:
        """Whether the first token of a line is a marker, with the line's kind and the sentence's end settled."""
        right = self._right()
        if (token.raw[0].isdecimal() or token.raw == ">") and not (token.closed or self._breath):
            dated = rules.dated(token.raw, right, self._record)
            if dated is None:
                return None
            if dated:
                token.first = False
                return False
        token.first = False
        before = self._line
        self._line = "code" if self._code else ""
        marker = line_marker(token.raw, done=True, quoted=before == "quote")
        if marker == "fence":
            self._end_sentence(out)
            self._code = not self._code
            self._line = "fence"
            return True
        if not marker or self._code:
            return False
        if not (marker == before and marker in ("quote", "table")):
            self._end_sentence(out)
        self._line = "" if marker == "rule" else marker
        if marker == "quote":
            token.raw = token.raw.lstrip(">")
            return not token.raw
        if marker == "item" and token.raw[0].isdecimal():
            said = rules.listed(token.raw[:-1], self._record)
            self._emit(token, said + ".", Left(), out, last=False)
            return True
        return marker in ("item", "heading", "rule")

    def _right(self) -> Right:
        """The next token as far as it is there."""
        if len(self._waiting) > 1:
            return Right(self._waiting[1].raw, done=True)
        return Right(self._text, done=False)

    def _say(self, token: Token, out: list[Word]) -> bool:
        """Hand out the first waiting token or make it one with the next; False while later text may change it."""
        if self._line == "fence":
            del self._waiting[0]
            return True
        right = self._right()
        closed, final = token.closed or self._breath, token.gap == BLANK
        if token.gap == LINE:
            marker = line_marker(right.text, done=right.done, quoted=self._line == "quote")
            if marker is None and not self._breath:
                return False
            closed = final = marker != ""
        parts = self._parts(token)
        if closed:
            right = Right("", done=True, last=True)
        else:
            joined = rules.join(parts, token, self._left, right, self._record)
            if isinstance(joined, Joined):
                self._merge(joined)
                return True
            if joined is None:
                return False
        said = token.said or rules.said(parts, token, self._left, right, self._record)
        if said is None:
            return False
        last = final or rules.ends(parts, token, said.text, self._left, right, self._record)
        if last is None and not self._breath:
            return False
        del self._waiting[0]
        self._finish(token, parts, said, out, last=bool(last))
        return True

    def _parts(self, token: Token) -> Parts:
        """The token taken apart; what of it cannot be read is noted and left out."""
        if token.parts is None:
            raw = once(token.raw)
            if not raw.isascii() and (runs := foreign_runs(token.raw, self._record.scripts)):
                self.skipped += ((token.start + a, token.start + b, token.raw[a:b]) for a, b in runs)
                raw = without(token.raw, runs)
            token.parts = trim(raw)
            if token.parts.mark and token.parts.mark == self._record.question:
                token.parts.mark = "?"
        return token.parts

    def _merge(self, joined: Joined) -> None:
        """Make the first two waiting tokens one."""
        token, after = self._waiting[:2]
        ending = self._parts(after)
        parts = Parts(joined.core, ending.mark, ending.dotted, token.parts.opened if token.parts else False)
        raw = f"{token.raw} {after.raw}"
        self._waiting[:2] = [Token(raw, token.start, after.end, after.gap, parts=parts, said=joined.said)]

    def _finish(self, token: Token, parts: Parts, said: Said, out: list[Word], *, last: bool) -> None:
        """Hand out a token whose reading and end are known, or drop it if it makes no sound."""
        mark = parts.mark
        if not said.text:
            if "|" in token.raw and token.raw.strip("|*") == "":
                mark = ","
            elif is_rule(token.raw) and token.raw not in ("--", "..."):
                mark = ""
            elif not mark and token.raw in ("-", "–", "--"):
                mark = "—"
            if last and self._open:
                self._emit(token, mark if mark and mark in ENDING else ".", Left(), out, last=True)
            elif mark and self._open and not self._paused:
                self._emit(token, mark, Left(), out, last=False)
                self._paused = True
            return
        if mark == "." and not last:
            mark = ""
        left = said.left
        if mark:
            left = Left(left.kind if mark in ",:" and left.kind in ("code", "phone", "label") else "")
        self._emit(token, said.text + shown(token.raw, mark), left, out, last=last)

    def _emit(self, token: Token, text: str, left: Left, out: list[Word], *, last: bool) -> None:
        """Hand out a word, or more where its reading is long, and note what it means for the next."""
        spoken = text.split()
        step = PORTION if len(spoken) > AT_ONCE else AT_ONCE
        parts = [" ".join(spoken[i : i + step]) for i in range(0, len(spoken), step)]
        size = token.end - token.start
        for number, part in enumerate(parts, 1):
            start, end = (token.start + size * n // len(parts) for n in (number - 1, number))
            out.append(Word(part, start, max(start + (size > 0), end), last and number == len(parts)))
        self._last_end = token.end
        self._left = left
        self._open, self._paused = True, False
        if last:
            self._close()
