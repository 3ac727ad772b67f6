"""Tags of styles in a text that comes in fragments: ``[whispers]``, ``<laugh>``,
``[emotion=happy]``, ``[pause:1s]``.

The words' normalizer gets the text without them, whatever its language; the words that follow are
said in that style, up to the next tag of a style, its end (``[/whispers]``, ``[normal]``) or an
empty line."""

from __future__ import annotations

import bisect
import re
from collections.abc import Callable
from dataclasses import dataclass, fields, replace

from sayahead.text import Normalizer
from sayahead.text.ssml.tags import Places
from sayahead.text.styles.table import EMPHASIS
from sayahead.text.styles.tags import MAX_TAG, Change, change_of, may_become
from sayahead.types import PLAIN, Delivery, Word

_OPENERS = re.compile(r"[<\[*]")
_BOTH = re.compile(r"[<\[*]|\n[ \t]*\n")
_MODERATE = EMPHASIS["moderate"]
MAX_EMPHASIZED = 40
"""Characters between two stars that are an emphasis, ``*so*``: more of them stand for titles."""
MAX_KEPT = 256
"""Changes of style that are kept for revisions."""


@dataclass(frozen=True, slots=True)
class Manner:
    """All that tags have asked for, up to a place."""

    style: Delivery = PLAIN
    pace: float = 1.0
    volume: float = 1.0
    pitch: float = 0.0
    emphasis: Delivery = PLAIN

    def changed(self, change: Change) -> Manner:
        """After a tag."""
        asked = {field.name: getattr(change, field.name) for field in fields(self)}
        return replace(self, **{name: value for name, value in asked.items() if value is not None})

    @property
    def delivery(self) -> Delivery:
        """How words are said."""
        asked = Delivery(speed=self.pace, volume=self.volume, pitch=self.pitch)
        return self.style.joined(asked).joined(self.emphasis)


class Styles:
    """Makes the normalizers of one session; it knows what was asked for where, for texts that are
    revised."""

    def __init__(self, normalizer: Callable[[int], Normalizer], *, ssml: bool = False) -> None:
        """``ssml``: whether elements that are SSML's, too, are left to what reads it."""
        self._normalizer = normalizer
        self._ssml = ssml
        self._changes: list[tuple[int, Manner]] = [(0, Manner())]

    def __call__(self, start: int) -> Styled:
        """A normalizer for the text from a place of the source on."""
        self._changes[1:] = [entry for entry in self._changes[1:] if entry[0] <= start]
        return Styled(self._normalizer(start), start, self._changes, ssml=self._ssml)


class Styled:
    """A normalizer of text with tags of styles."""

    def __init__(
        self, inner: Normalizer, start: int, changes: list[tuple[int, Manner]], *, ssml: bool
    ) -> None:
        self.skipped: list[tuple[int, int, str]] = []
        self._inner = inner
        self._changes = changes
        self._ssml = ssml
        # Places in the source, and in the text that the inner normalizer gets; they are equal at
        # the start.
        self._at = start
        self._given = start
        self._places = Places([start], [start])
        self._held = ""
        self._last = "\n"
        self._is_plain = True
        # Where an emphasis by a star ends at the latest; None where there is none.
        self._starred: int | None = None
        # Whether a tag has just parted a word from what follows.
        self._apart = False
        # Whether a sentence is open, whether its last word has a mark, and where that ends.
        self._open = False
        self._marked = False
        self._done = start

    # ---- the normalizer
    # ------------------------------------------------------------------------------------------

    def push(self, fragment: str) -> list[Word]:
        out: list[Word] = []
        self._read(self._held + fragment, out, over=False)
        return out

    def flush(self) -> list[Word]:
        out: list[Word] = []
        self._read(self._held, out, over=True)
        self._take(self._inner.flush(), out)
        if self._starred is not None:
            self._unstar()
        self._open = False
        self._last = "\n"
        return out

    def breathe(self) -> list[Word]:
        out: list[Word] = []
        self._read(self._held, out, over=True)
        self._take(self._inner.breathe(), out)
        return out

    def forget_spoken(self, *, begun: bool, over: bool) -> list[Word]:
        out: list[Word] = []
        self._read(self._held, out, over=True)
        self._take(self._inner.forget_spoken(begun=begun, over=over), out)
        self._open = self._open and not over
        return out

    # ---- characters
    # ----------------------------------------------------------------------------------------------

    def _read(self, text: str, out: list[Word], *, over: bool) -> None:
        """Pass on text without its tags; what may become one is held, unless the text is
        ``over``."""
        self._held = ""
        at = 0
        styled = self._changes[-1][1] != Manner()
        while at < len(text):
            opener = (_BOTH if styled else _OPENERS).search(text, at)
            end = opener.start() if opener else len(text)
            self._feed_starred(text[at:end], out)
            at = end
            if opener is None:
                break
            if text[at] == "\n":
                # A paragraph ends, and with it what was asked for.
                self._starred = None
                self._change(Manner())
                self._feed(opener[0], out)
                at = opener.end()
                styled = False
                continue
            if text[at] == "*":
                size = self._star(text[at : at + 2], out, over=over)
            else:
                size = self._tag(text[at:], out, over=over)
            if size is None:
                self._held = text[at:]
                break
            at += size
            styled = self._changes[-1][1] != Manner()

    def _star(self, rest: str, out: list[Word], *, over: bool) -> int | None:
        """Take in a star, which stays in the text: one alone before a word begins an emphasis, and
        one behind a word ends it. How many characters; None while more must come."""
        if len(rest) == 1 and not over:
            return None
        alone = rest[1:] != "*" and self._last != "*"
        if alone and self._starred is not None and not self._last.isspace():
            self._unstar()
        elif alone and rest[1:].isalpha() and not (self._last.isalnum() or self._last in "*\\/"):
            # What opens before it belongs to the word.
            back = 0 if self._last.isspace() else 1
            self._change(replace(self._changes[-1][1], emphasis=_MODERATE), back=back)
            self._starred = self._at + MAX_EMPHASIZED
        self._feed("*", out)
        return 1

    def _unstar(self) -> None:
        """What a star has begun ends here."""
        self._starred = None
        self._change(replace(self._changes[-1][1], emphasis=PLAIN))

    def _feed_starred(self, text: str, out: list[Word]) -> None:
        """Pass on text without tags. What a star has begun ends with its line, or where it is too
        long, if no other star ends it."""
        if self._starred is not None:
            left = self._starred - self._at
            line = text.find("\n")
            size = line if 0 <= line < left else left
            if len(text) > size:
                self._feed(text[:size], out)
                self._unstar()
                text = text[size:]
        self._feed(text, out)

    def _tag(self, rest: str, out: list[Word], *, over: bool) -> int | None:
        """Take in what begins with an opener: how many characters; None while more must come."""
        end = rest.find("]" if rest[0] == "[" else ">", 0, MAX_TAG) + 1
        if not end:
            if not over and may_become(rest):
                return None
            self._feed(rest[0], out)
            return 1
        change = change_of(rest[:end], attributes=not self._ssml)
        # What follows a bracket may make it a link.
        if change is not None and rest[0] == "[" and len(rest) == end and not over:
            return None
        if change is None or (rest[0] == "[" and self._is_other(rest, end, change)):
            self._feed(rest[0], out)
            return 1
        start = self._at
        self._at = self._at + end
        self._is_plain = False
        if change.is_sound:
            self.skipped.append((start, self._at, rest[:end]))
        if change.pause_s:
            self._pause(start, change.pause_s, out)
        self._change(self._changes[-1][1].changed(change))
        self._apart = self._last.isalnum()
        return end

    def _is_other(self, rest: str, end: int, change: Change) -> bool:
        """Whether a bracket is a link or an index, by what it touches; one that closes, or of a
        sound, may touch."""
        if rest[end : end + 1] in ("(", "["):
            return True
        touches = self._last.isalnum() and not change.is_sound
        return rest[1] != "/" and (touches or self._last == "]")

    def _change(self, manner: Manner, *, back: int = 0) -> None:
        """From here on, or from so many characters back, words are said in that manner."""
        if manner != self._changes[-1][1]:
            self._changes.append((self._at - back, manner))
            if len(self._changes) > 2 * MAX_KEPT:
                del self._changes[1:-MAX_KEPT]

    def _feed(self, text: str, out: list[Word]) -> None:
        if text:
            if self._apart and text[0].isalnum():
                self._blank(self._at, out)
            self._apart = False
            self._places.add(self._given, self._at)
            self._given += len(text)
            self._at += len(text)
            self._last = text[-1]
            self._take(self._inner.push(text), out)

    def _blank(self, place: int, out: list[Word]) -> None:
        """A blank that is not in the source, where a tag parts two words."""
        self._places.add(self._given, place)
        self._given += 1
        self._last = " "
        self._take(self._inner.push(" "), out)

    def _pause(self, start: int, seconds: float, out: list[Word]) -> None:
        """Silence: a word of its own, with a comma where the words before have no mark."""
        self._take(self._inner.breathe(), out)
        if not self._last.isspace():
            self._blank(start, out)
        mark = "," if self._open and not self._marked else ""
        out.append(Word(mark, max(start, self._done), self._at, pause_s=seconds))
        self._marked = True
        self._done = self._at

    # ---- words
    # ---------------------------------------------------------------------------------------------------  # noqa: E501

    def _take(self, words: list[Word], out: list[Word]) -> None:
        """Words of the inner normalizer at their places in the source, as they are to be said."""
        for start, end, text in self._inner.skipped:
            self.skipped.append((self._places.start(start), self._places.start(end - 1) + 1, text))
        self._inner.skipped.clear()
        for word in words:
            if not self._is_plain:
                start = max(self._places.start(word.start), self._done)
                end = max(
                    start, self._places.start(word.end - 1) + 1 if word.end > word.start else start
                )
                word = replace(word, start=start, end=end)
            manner = self._changes[
                bisect.bisect_right(self._changes, word.start, key=lambda entry: entry[0]) - 1
            ][1]
            delivery = (
                word.delivery if manner == Manner() else word.delivery.joined(manner.delivery)
            )
            out.append(word if delivery == word.delivery else replace(word, delivery=delivery))
            self._done = word.end
            self._open = not word.ends
            self._marked = word.text[-1:] in ".,;:!?…—"
        if words:
            self._places.forget(words[-1].end)
