"""Characters to tokens, and how tokens wait until no later text can change them: the same in every language."""

from __future__ import annotations

import re
from dataclasses import replace

from sayahead.text.shared import mathematics
from sayahead.text.shared.language import Language
from sayahead.text.shared.line_markers import OF_THEIR_OWN, is_rule, line_marker
from sayahead.text.shared.open_tag import broken, is_tag, silent_part
from sayahead.text.shared.punctuation import ENDING
from sayahead.text.shared.tokens import BLANK, GLUED, LINE, SPACE, Joined, Parts, Right, SaidT, Token
from sayahead.types import Word

PIECE = 60
"""Longest token in characters; a longer one is cut at multiples of this."""

_RUN = re.compile(r"[^\s\x00-\x1f\x7f-\x9f—(.,;:!?]*[.,;:!?]|[^\s\x00-\x1f\x7f-\x9f—(.,;:!?]+")
_WHITE = re.compile(r"[\s\x00-\x1f\x7f-\x9f]")
_ADDRESS = re.compile(r"[(\[<\"'`*]*(?:https?://|www\.)")
_CLOSERS = "\"'”’»›*_`~)]}"
_SILENT_AFTER = re.compile(rf"[{re.escape(_CLOSERS)}]*(?:\[[1-9][0-9]{{0,2}}\][{re.escape(_CLOSERS)}]*)*")
"""After a mark that made its word final: closing quotes and brackets, the numbers of sources."""
_NEWLINES = "\n\r\v\f\u2028\u2029\x85"


class Waiting(Language[SaidT]):
    """Turns fragments of any size into words that no later text can change: what all languages share.

    The words do not depend on how the text is cut into fragments. A language says how a token is taken apart
    (``_parts``), what it is together with the next one (``_joined``), how it is read (``_said``) and whether it ends
    its sentence (``_ended``). Each of the last three answers None while the next token's characters do not tell yet.
    """

    def __init__(self, start: int = 0) -> None:
        """``start``: the place of the first character in the source text."""
        self.skipped: list[tuple[int, int, str]] = []
        """Stretches in scripts the voice cannot read (start, end, text), for the session to take away."""
        self._position = self._last_end = start
        self._reset()

    def _reset(self) -> None:
        self._waiting: list[Token[SaidT]] = []
        self._text = self._final_mark = self._line = ""
        self._start = self._position
        self._newlines, self._link = 1, 0
        # What may become a tag, from "<" on; whether the token so far is none, though it begins like one.
        self._tag, self._plainly = "", False
        # Whether a token that came since a fence of code has ticks, too.
        self._ticks = False
        self._math = self._code = self._inside_quote = self._glue = self._address = False
        self._returned = self._breath = False
        self._close()

    def _close(self) -> None:
        self._open = self._paused = False
        self._forget()

    def push(self, fragment: str) -> list[Word]:
        """The words that became final through this fragment."""
        out: list[Word] = []
        at, size = 0, len(fragment)
        while at < size:
            quick = self.SPACED and not (self._waiting or self._link or self._tag)
            if quick and (run := _RUN.match(fragment, at, at + PIECE - len(self._text))):
                if not self._text:
                    self._start = self._position
                self._text += run.group()
                self._position += run.end() - at
                at = run.end()
                self._returned = False
                self._cut(fragment[at - 1], out)
                continue
            self._char(fragment[at], out)
            at += 1
        return out

    def flush(self) -> list[Word]:
        """The words still pending, the last one ending its sentence; what is pushed next begins a new sentence."""
        out: list[Word] = []
        if self._tag:
            self._tagged(out, silent=broken(self._tag))
        if self._final_mark and "[" in self._text and _SILENT_AFTER.fullmatch(self._text):
            self._text = self._final_mark = ""
            self._end_sentence(out)
        if self._text:
            self._token(BLANK, self._position, out)
        for token in self._waiting:
            token.gap = token.gap if token.gap == GLUED else BLANK
        self._settle(out)
        if out:
            out[-1] = replace(out[-1], ends=True)
        self._reset()
        return out

    def breathe(self) -> list[Word]:
        """The words still pending, as they stand; the sentence goes on with what is pushed next."""
        out: list[Word] = []
        if self._tag and not broken(self._tag):
            self._tagged(out, silent=False)
        if self._tag:
            # It goes on: only what stands before it is over.
            start = self._position - len(self._tag)
            name, self._text = self._text[start - self._start :], self._text[: start - self._start]
            if self._text:
                self._token(SPACE, start, out)
            self._text, self._start = name, start
        elif self._text:
            self._token(SPACE, self._position, out)
        self._breath = True
        self._settle(out)
        self._breath = False
        return out

    def forget_spoken(self, *, begun: bool, over: bool) -> list[Word]:
        if self._tag:
            # Where words of it were spoken, it was none.
            self._tagged([], silent=False)
        if begun and self._text:
            self._token(SPACE, self._position, [])
        out = [] if begun else self.breathe()
        if over:
            self._close()
        return out

    # ---- characters to tokens ------------------------------------------------------------------------------------

    def _char(self, char: str, out: list[Word]) -> None:
        """Take in one character; what it settles is added to ``out``."""
        white = _WHITE.match(char) is not None
        position = self._position
        after_return, self._returned = self._returned, char == "\r"
        if self._text and not (white or self._link or self._tag) and self._parted(char):
            self._token(GLUED, position, out)
        self._position += 1
        if self._link:
            self._link += (char == "(") - (char == ")")
            if not white:
                return
            self._link = 0
        if self._tag:
            self._tag += char
            if (tag := is_tag(self._tag, line_ends=char in _NEWLINES)) is not None:
                self._tagged(out, silent=tag)
            return
        if white:
            if self._final_mark and _SILENT_AFTER.fullmatch(self._text):
                self._text = self._final_mark = ""
            if "<" in self._text and char not in _NEWLINES and self._opens_tag(char):
                return
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
        if char in ".,;:!?" and not (self._code or self._address) and self._final(self._text):
            self._token(SPACE, self._position, out)
            self._final_mark = char
        elif len(self._text) == PIECE or char == "—":
            self._token(GLUED, self._position, out)
        else:
            return False
        return True

    def _opens_tag(self, white: str) -> bool:
        """Whether a tag with attributes may have begun: nothing from there on is read until it is known."""
        plainly, self._plainly = self._plainly, False
        if plainly or not (tag := self.OPEN_TAG.search(self._text)):
            return False
        self._tag = self._text[tag.start() :] + white
        return True

    def _tagged(self, out: list[Word], *, silent: bool) -> None:
        """What may have been a tag is one, or it is text like any other."""
        tag, self._tag = self._tag, ""
        start = self._position - len(tag)
        if not silent:
            name = self._text[start - self._start :]
            self._position, self._plainly = start + len(name), True
            for char in tag[len(name) :]:
                self._char(char, out)
            return
        self._text = self._text[: start - self._start]
        if self._text:
            self._token(SPACE, start, out)
        if rest := tag[silent_part(tag) :]:
            self._position -= len(rest)
            for char in rest:
                self._char(char, out)
        elif tag[-1] in _NEWLINES:
            self._newline(out)

    def _newline(self, out: list[Word]) -> None:
        kind = self._line
        if self._text and self._newlines and not self._glue:
            kind = "code" if self._code else ""
        blank = kind in OF_THEIR_OWN
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
        self._line = "" if self._newlines > 1 else self._line

    def _end_sentence(self, out: list[Word]) -> None:
        """Close the sentence with a full stop of no length if its last word went out before its end was known."""
        self._math = False
        if self._open:
            out.append(Word(".", self._last_end, self._last_end, ends=True))
        self._close()

    def _token(self, gap: int, end: int, out: list[Word]) -> None:
        """Put the characters gathered so far in line as a token, or as two where a sentence ends within."""
        if not (self._glue or self._address) and (two := self.SENTENCES.fullmatch(self._text)):
            self._text, second = two.groups()
            middle = self._start + len(self._text)
            self._token(SPACE, middle, out)
            self._text, self._start = second, middle
        first = self._newlines > 0 and not self._glue
        raw = f".{self._text}" if self._final_mark == "." and self._names(self._text) else self._text
        if "$" in raw or self._math:
            raw, self._math, left_out = mathematics.inner(raw, begun=self._math, code=self._code)
            self._start += left_out
        token: Token[SaidT] = Token(raw, self._start, end, gap, first, self._address)
        self._final_mark = ""
        address = self._address or bool(_ADDRESS.match(token.raw))
        self._address = gap == GLUED and address and not token.raw.endswith("—")
        self._text = ""
        self._glue = gap == GLUED and self.SPACED
        self._newlines = 0
        self._waiting.append(token)
        self._ticks = self._ticks or "```" in token.raw
        self._settle(out)

    # ---- tokens to words -----------------------------------------------------------------------------------------

    def _settle(self, out: list[Word]) -> None:
        """Hand out the waiting tokens that the text so far settles."""
        while self._waiting:
            token = self._waiting[0]
            marked: bool | None = self._line == "item" and not self._open and token.raw in ("[x]", "[X]")
            if token.first and not marked:
                marked = self._marked(token, out)
            if marked:
                del self._waiting[0]
            elif marked is None or not self._say(token, out):
                return

    def _marked(self, token: Token[SaidT], out: list[Word]) -> bool | None:
        """Whether the first token of a line is a marker, with the line's kind and the sentence's end settled."""
        unmarked = self._unmarked(token)
        if unmarked is None:
            return None
        token.first = False
        before, quoted, inside = self._line, self._line == "quote", self._inside_quote
        self._inside_quote = False
        self._line = "code" if self._code else "quote" if inside else ""
        marker = "" if unmarked or "```" in token.raw[3:] else line_marker(token.raw, done=True, quoted=False)
        if marker == "fence":
            self._end_sentence(out)
            self._code = not self._code
            token.raw, token.start = token.raw[3:], token.start + 3
            self._line = "fence" if self._code or token.raw else ""
            self._ticks = any("```" in other.raw for other in self._waiting)
            return not token.raw or token.gap != SPACE
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
        if marker == "item" and (name := token.raw.strip("().\ufe0f\u20e3")).isalnum():
            self._emit(token, (self._listed(name) if name.isdecimal() else name.upper()) + ".", out, last=False)
            return True
        return marker in ("item", "heading", "rule")

    def _right(self) -> Right:
        """The next token as far as it is there."""
        return Right.of(self._waiting[1:4], self._text)

    def _say(self, token: Token[SaidT], out: list[Word]) -> bool:
        """Hand out the first waiting token or make it one with the next; False while later text may change it."""
        if self._line == "fence":  # Silent, unless it is code in the line.
            if not self._ticks:
                over = self._breath or self._waiting[-1].gap in (LINE, BLANK)
                del self._waiting[: len(self._waiting) * over]
                return over
            self._line, self._code = "", False
        if token.gap == SPACE and token.said is None and self._plain(token, out):
            return True
        right = self._right()
        closed, final = token.closed or self._breath, token.gap == BLANK
        if token.gap == LINE:
            marker = line_marker(right.text, done=right.done, quoted=self._line == "quote")
            if marker is None and not (self._breath or self._over(token)):
                return False
            closed = final = marker != ""
        parts = self._parts(token)
        joined = False if closed else self._joined(token, parts, right)
        if isinstance(joined, Joined):
            self._merge(joined)
            return True
        if joined is None:
            return False
        right = Right("", done=True, last=True) if closed else right
        reading = self._said(token, parts, right)
        if reading is None:
            return False
        last = final or self._ended(token, parts, reading, right)
        if last is None and not self._breath:
            return False
        del self._waiting[0]
        self._finish(token, parts, reading, out, last=bool(last))
        return True

    def _over(self, token: Token[SaidT]) -> bool:
        """Whether a token before a line break ends its sentence, whatever the next line begins with."""
        parts, nothing = replace(self._parts(token)), Right("", done=False)
        if not parts.mark or parts.mark not in ENDING or self._joined(token, parts, nothing) is not False:
            return False
        reading = self._said(token, parts, nothing)
        return reading is not None and self._ended(token, parts, reading, nothing) is True

    def _merge(self, joined: Joined[SaidT]) -> None:
        """Make the first two waiting tokens one."""
        token, after = self._waiting[:2]
        ending = self._parts(after)
        before = token.parts.before if token.parts and joined.keeps_parenthesis else ""
        if token.gap == LINE:
            self._line = "code" if self._code else ""
        parts = Parts(joined.core, ending.mark, before, ending.after, ending.dotted)
        raw, start = f"{token.raw} {after.raw}", after.start if token.begun else token.start
        begun = "" if joined.said else token.begun
        self._waiting[:2] = [Token(raw, start, after.end, after.gap, parts=parts, said=joined.said, begun=begun)]

    def _pause(self, token: Token[SaidT], mark: str, out: list[Word], *, last: bool) -> None:
        """What a token without a sound leaves of itself: the end of the sentence, a pause, or nothing."""
        if "|" in token.raw and token.raw.strip("|*") == "":
            mark = ","
        elif is_rule(token.raw) and token.raw not in ("--", "..."):
            mark = ""
        elif not mark and token.raw in ("-", "–", "--"):
            mark = "—"
        if last and self._open:
            self._emit(token, mark if mark and mark in ENDING else ".", out, last=True)
        elif mark and self._open and not self._paused:
            self._emit(token, mark, out, last=False)
            self._paused = True

    def _emit(self, token: Token[SaidT], text: str, out: list[Word], *, last: bool) -> None:
        """Hand out a word; nothing is known of what it means for the next."""
        out += self._portions(Word(text, token.start, token.end, last))
        self._last_end = token.end
        self._open, self._paused = True, False
        self._forget()
        if last:
            self._close()
