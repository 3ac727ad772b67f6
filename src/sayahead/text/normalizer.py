"""From text fragments to final words: the first stage of speaking while the text still arrives."""

from __future__ import annotations

import re
from dataclasses import replace

from sayahead.text.english import tables
from sayahead.text.english.finality import final_at
from sayahead.text.english.left import Left
from sayahead.text.english.markup import MICRO, OPEN_TAG, Trimmed, fold, foreign_runs, is_rule, line_marker, trim
from sayahead.text.english.numbers import cardinal
from sayahead.text.english.portions import in_portions, once
from sayahead.text.english.reading import after, read
from sayahead.text.english.tokens import (
    BLANK,
    ENDING,
    GLUED,
    LINE,
    SPACE,
    Joined,
    Right,
    Token,
    ends,
    join,
    ordinary,
    over,
    reading,
)
from sayahead.types import Word

PIECE = 60
"""Longest token in characters; a longer one is cut at multiples of this."""

_RUN = re.compile(r"[^\s\x00-\x1f\x7f-\x9f—(.,;:!?]*[.,;:!?]|[^\s\x00-\x1f\x7f-\x9f—(.,;:!?]+")
_WHITE = re.compile(r"[\s\x00-\x1f\x7f-\x9f]")
_SIMPLE = re.compile(r"([A-Za-z]+(?:['’][A-Za-z]+)?)([,.;:!?]?)")
_ADDRESS = re.compile(r"[(\[<\"'`*]*(?:https?://|www\.)")
_MARKS = ".,;:!?"
_CLOSERS = "\"'”’*_`~)]}"
_NEWLINES = "\n\r\v\f\u2028\u2029\x85"
_GLUED_SENTENCES = re.compile(r"([(\"'“*_]*[A-Za-z']*[a-z]{2}[.!?])([A-Z][a-z]+[,.!?;:)\"'”*_]*)")
_LONGEST_TAG = 400
_LINES_OF_THEIR_OWN = ("item", "heading", "table", "fence", "code")


class Normalizer:
    """Turns fragments of any size into words that no later text can change.

    The words do not depend on how the text is cut into fragments. A word is handed out with the first character that
    settles it: the white space after it for ordinary words, the first characters of the next token for those that the
    next token may change ("3 March", "$5 million", "Dr. Smith", "etc. And").
    """

    def __init__(self, start: int = 0) -> None:
        """``start``: the place of the first character in the source text."""
        self.skipped: list[tuple[int, int, str]] = []
        """Stretches in scripts the voice cannot read (start, end, text), for the session to take away."""
        self._position = self._last_end = start
        self._reset()

    def _reset(self) -> None:
        self._waiting: list[Token] = []
        self._text = ""
        self._start = self._position
        self._newlines = 1
        self._line = ""
        self._code = False
        self._inside_quote = False
        self._glue = self._behind = False
        self._address = False
        self._link = self._tag = 0
        self._returned = False
        self._breath = False
        self._close()

    def _close(self) -> None:
        self._left = Left()
        self._open = False
        self._paused = False

    def push(self, fragment: str) -> list[Word]:
        """The words that became final through this fragment."""
        out: list[Word] = []
        at, size = 0, len(fragment)
        while at < size:
            if not (self._waiting or self._link or self._tag) and (run := _RUN.match(fragment, at)):
                piece = run.group()[: PIECE - len(self._text)]
                if not self._text:
                    self._start = self._position
                self._text += piece
                self._position += len(piece)
                at += len(piece)
                self._cut(piece[-1], out)
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

    finish = flush

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
        self._position += 1
        after_return, self._returned = self._returned, char == "\r"
        if self._link:
            self._link += (char == "(") - (char == ")")
            if not white:
                return
            self._link = 0
        if self._tag:
            self._tag += 1
            if char == ">" or self._tag > _LONGEST_TAG:
                self._tag = 0
            if char not in _NEWLINES:
                return
            self._tag = 0
        if white:
            if self._behind and not self._text.strip(_CLOSERS):
                self._text = ""
            self._behind = False
        if white and "<" in self._text and char not in _NEWLINES and self._open_tag(position, out):
            return
        if white:
            if char in _NEWLINES and not (after_return and char == "\n"):
                self._newline(out)
            elif self._text:
                self._token(SPACE, position, out)
            self._glue = self._address = False
            return
        if char == "(" and self._text.endswith("]"):
            self._link = 1
            return
        if not self._text:
            self._start = position
        self._text += char
        if not self._cut(char, out) and self._waiting:
            self._settle(out)

    def _cut(self, char: str, out: list[Word]) -> bool:
        """Make a token of the characters so far if it ends with this one, whatever follows."""
        if char in _MARKS and not (self._code or self._address) and final_at(self._text):
            self._token(SPACE, self._position, out)
            self._behind = True
        elif len(self._text) == PIECE or char == "—":
            self._token(GLUED, self._position, out)
        else:
            return False
        return True

    def _open_tag(self, end: int, out: list[Word]) -> bool:
        """Whether a tag with attributes is open: what is before it is a token, the rest is passed over."""
        tag = OPEN_TAG.search(self._text)
        if not tag:
            return False
        self._text = self._text[: tag.start()]
        if self._text:
            self._token(SPACE, end, out)
        self._tag = 1
        return True

    def _newline(self, out: list[Word]) -> None:
        kind = self._line
        if self._text and self._newlines and not self._glue:
            kind = "code" if self._code else ""
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
        if not (self._glue or self._address) and (two := _GLUED_SENTENCES.fullmatch(self._text)):
            self._text, second = two.groups()
            middle = self._start + len(self._text)
            self._token(SPACE, middle, out)
            self._text, self._start = second, middle
        first = self._newlines > 0 and not self._glue
        token = Token(self._text, self._start, end, gap, first, self._address)
        self._behind = False
        address = self._address or bool(_ADDRESS.match(token.raw))
        self._address = gap == GLUED and address and not token.raw.endswith("—")
        self._text = ""
        self._glue = gap == GLUED
        self._newlines = 0
        self._waiting.append(token)
        self._settle(out)

    def _settle(self, out: list[Word]) -> None:
        """Hand out the waiting tokens that the text so far settles."""
        while self._waiting:
            token = self._waiting[0]
            ticked = self._line == "item" and not self._open and token.raw in ("[x]", "[X]")
            if ticked or (token.first and self._marked(token, out)):
                del self._waiting[0]
            elif not self._say(token, out):
                return

    def _marked(self, token: Token, out: list[Word]) -> bool:
        """Whether the first token of a line is a marker, with the line's kind and the sentence's end settled."""
        token.first = False
        before, quoted, inside = self._line, self._line == "quote", self._inside_quote
        self._inside_quote = False
        self._line = "code" if self._code else "quote" if inside else ""
        marker = line_marker(token.raw, done=True, quoted=False)
        if marker == "fence":
            self._end_sentence(out)
            self._code = not self._code
            self._line = "fence"
            return True
        if not marker or self._code:
            return False
        if not (marker == "quote" and quoted) and not (marker == "table" and before == "table"):
            self._end_sentence(out)
        self._line = "" if marker == "rule" else marker
        if marker == "quote":
            stripped = token.raw.lstrip(">")
            token.raw, token.start = stripped, token.start + len(token.raw) - len(stripped)
            if not token.raw:  # what follows may be a marker too
                self._inside_quote = True
                self._newlines = max(self._newlines, 1)
            return not token.raw
        if marker == "item" and token.raw[0].isdigit():
            token.said = cardinal(int(token.raw[:-1])) + "."
            self._emit(token, token.said, out, last=False)
            return True
        return marker in ("item", "heading", "rule")

    def _right(self) -> Right:
        """The next token as far as it is there."""
        if len(self._waiting) > 1:
            return Right(self._waiting[1].raw, done=True, glued=self._waiting[1].gap == GLUED)
        return Right(self._text, done=False)

    def _say(self, token: Token, out: list[Word]) -> bool:
        """Hand out the first waiting token or make it one with the next; False while later text may change it."""
        if self._line == "fence":
            del self._waiting[0]
            return True
        if token.gap == SPACE and not self._left.kind and token.said is None and self._plain(token, out):
            return True
        right = self._right()
        closed, final = token.closed or self._breath, token.gap == BLANK
        if token.gap == LINE:
            marker = line_marker(right.text, done=right.done, quoted=self._line == "quote")
            if marker is None and not (self._breath or over(token, self._parts(token), self._left)):
                return False
            closed = final = marker != ""
        parts = self._parts(token)
        if not closed:
            joined = join(token, parts, self._left, right)
            if isinstance(joined, Joined):
                self._merge(joined)
                return True
            if joined is None:
                return False
        said = reading(token, parts, self._left, right, closed=closed)
        if said is None:
            return False
        last = final or ends(token, parts, said, self._left, right)
        if last is None and not self._breath:
            return False
        del self._waiting[0]
        self._finish(token, parts, said, out, last=bool(last))
        return True

    def _parts(self, token: Token) -> Trimmed:
        """The token taken apart; what of it cannot be read is noted, once."""
        if token.parts is None:
            token.parts = trim(fold(once(token.raw)))
            self._skip(token, token.parts)
        return token.parts

    def _plain(self, token: Token, out: list[Word]) -> bool:
        """Hand out the first waiting token if it is a word of letters that is read as it stands: the quick way."""
        m = _SIMPLE.fullmatch(token.raw)
        if m is None or not ordinary(*m.groups()):
            return False
        word, mark = m.groups()
        named = self._open and word[0].isupper()
        self._emit(token, token.raw.replace("’", "'"), out, last=mark != "" and mark in ".!?")
        if self._open:
            kind = "month" if word in tables.MONTHS else tables.CUES.get(word.lower(), "")
            self._note(Left(kind, word, named, before=word), mark)
        del self._waiting[0]
        return True

    def _skip(self, token: Token, parts: Trimmed) -> None:
        """Note what of a token cannot be read, or read it if it is the name of a Greek letter."""
        measured = self._left.kind in ("one", "number") or token.raw[0].isdigit()
        if token.raw.isascii() or MICRO.search(token.raw) or (token.raw[-1] in "ΩΩ" and measured):
            return
        runs = foreign_runs(token.raw)
        if len(runs) == 1 and (name := tables.GREEK.get(token.raw[slice(*runs[0])].lower())):
            first, end = runs[0]
            token.said = read(trim(fold(f"{token.raw[:first]} {name} {token.raw[end:].lstrip('-')}")).core, self._left)
            return
        self.skipped += ((token.start + a, token.start + b, token.raw[a:b]) for a, b in runs)

    def _merge(self, joined: Joined) -> None:
        """Make the first two waiting tokens one."""
        token, after = self._waiting[:2]
        ending = trim(fold(after.raw))
        before = token.parts.before if token.parts and joined.keeps_parenthesis else ""
        if token.gap == LINE:
            self._line = "code" if self._code else ""
        parts = Trimmed(joined.core, ending.mark, before, ending.after, ending.dotted)
        raw = f"{token.raw} {after.raw}"
        self._waiting[:2] = [Token(raw, token.start, after.end, after.gap, parts=parts, said=joined.said)]

    def _finish(self, token: Token, parts: Trimmed, said: str, out: list[Word], *, last: bool) -> None:
        """Hand out a token whose reading and end are known, or drop it if it makes no sound."""
        mark = parts.mark
        if not said:
            if token.raw.strip("|*") == "" and "|" in token.raw:
                mark = ","
            elif is_rule(token.raw) and token.raw not in ("--", "..."):
                mark = ""
            elif not mark and token.raw in ("-", "–", "--"):
                mark = "—"
            if last and self._open:
                self._emit(token, mark if mark in ENDING and mark else ".", out, last=True)
            elif mark and self._open and not self._paused:
                self._emit(token, mark, out, last=False)
                self._paused = True
            return
        dot = mark == "." and not last and (len(parts.core) > 1 or said != parts.core)
        if dot or said.endswith(mark or " "):
            mark = ""
        left, was_open = self._left, self._open
        self._emit(token, f"{parts.before}{said}{parts.after}{mark}", out, last=last)
        if self._open and not token.raw.isspace():
            core = parts.core or token.raw
            self._note(after(core, left, said, named=core[:1].isupper() and was_open), parts.mark if mark else "")

    def _note(self, left: Left, mark: str) -> None:
        """Keep what a word means for the next one; behind a pause little is left of it."""
        if not mark:
            self._left = left
        elif mark in ",:":
            kept = left.kind if left.kind in ("code", "dial", "label") else ""
            self._left = Left(kept, before=left.before)
        else:
            self._left = Left(before=left.before)

    def _emit(self, token: Token, text: str, out: list[Word], *, last: bool) -> None:
        """Hand out a word, or more where its reading is long, and note what it means for the next."""
        out += in_portions(Word(text, token.start, token.end, last))
        self._last_end, self._left = token.end, Left()
        self._open, self._paused = True, False
        if last:
            self._close()


def normalize(text: str) -> list[Word]:
    """The words of a whole text, the last one ending its sentence."""
    words = (normalizer := Normalizer()).push(text) + normalizer.flush()
    return [replace(word, ends=word.ends or word is words[-1]) for word in words]
