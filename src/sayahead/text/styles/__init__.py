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
from sayahead.text.ssml.untagged import Untagged
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


_NEUTRAL = Manner()


class Styles:
    """Makes the normalizers of one session; it knows what was asked for where, for texts that are
    revised."""

    def __init__(self, normalizer: Callable[[int], Normalizer], *, ssml: bool = False) -> None:
        """``ssml``: whether elements that are SSML's, too, are left to what reads it."""
        self._normalizer = normalizer
        self._ssml = ssml
        self._changes: list[tuple[int, Manner]] = [(0, _NEUTRAL)]

    def __call__(self, start: int) -> Styled:
        """A normalizer for the text from a place of the source on."""
        self._changes[1:] = [entry for entry in self._changes[1:] if entry[0] <= start]
        return Styled(self._normalizer(start), start, self._changes, ssml=self._ssml)


class Styled(Untagged):
    """A normalizer of text with tags of styles."""

    def __init__(
        self, inner: Normalizer, start: int, changes: list[tuple[int, Manner]], *, ssml: bool
    ) -> None:
        super().__init__(inner, start)
        self._changes = changes
        self._ssml = ssml
        self._held = ""
        self._last = "\n"
        # Where an emphasis by a star ends at the latest; None where there is none.
        self._starred: int | None = None

    def flush(self) -> list[Word]:
        words = super().flush()
        if self._starred is not None:
            self._unstar()
        self._last = "\n"
        return words

    def _read(self, fragment: str) -> None:
        self._pass_on(self._held + fragment, over=False)

    def _settle(self) -> None:
        self._pass_on(self._held, over=True)

    def _pass_on(self, text: str, *, over: bool) -> None:
        """Pass on text without its tags; what may become one is held, unless the text is
        ``over``."""
        self._held = ""
        at = 0
        styled = self._changes[-1][1] != _NEUTRAL
        while at < len(text):
            opener = (_BOTH if styled else _OPENERS).search(text, at)
            end = opener.start() if opener else len(text)
            self._feed_starred(text[at:end])
            at = end
            if opener is None:
                break
            if text[at] == "\n":
                # A paragraph ends, and with it what was asked for.
                self._starred = None
                self._change(_NEUTRAL)
                self._feed(opener[0])
                at = opener.end()
                styled = False
                continue
            if text[at] == "*":
                size = self._star(text[at : at + 2], over=over)
            else:
                size = self._tag(text[at:], over=over)
            if size is None:
                self._held = text[at:]
                break
            at += size
            styled = self._changes[-1][1] != _NEUTRAL

    def _star(self, rest: str, *, over: bool) -> int | None:
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
        self._feed("*")
        return 1

    def _unstar(self) -> None:
        """What a star has begun ends here."""
        self._starred = None
        self._change(replace(self._changes[-1][1], emphasis=PLAIN))

    def _feed_starred(self, text: str) -> None:
        """Pass on text without tags. What a star has begun ends with its line, or where it is too
        long, if no other star ends it."""
        if self._starred is not None:
            left = self._starred - self._at
            line = text.find("\n")
            size = line if 0 <= line < left else left
            if len(text) > size:
                self._feed(text[:size])
                self._unstar()
                text = text[size:]
        self._feed(text)

    def _tag(self, rest: str, *, over: bool) -> int | None:
        """Take in what begins with an opener: how many characters; None while more must come."""
        end = rest.find("]" if rest[0] == "[" else ">", 0, MAX_TAG) + 1
        if not end:
            if not over and may_become(rest):
                return None
            self._feed(rest[0])
            return 1
        change = change_of(rest[:end], attributes=not self._ssml)
        # What follows a bracket may make it a link.
        if change is not None and rest[0] == "[" and len(rest) == end and not over:
            return None
        if change is None or (rest[0] == "[" and self._is_other(rest, end, change)):
            self._feed(rest[0])
            return 1
        start = self._at
        self._at = self._at + end
        if change.is_sound:
            self.skipped.append((start, self._at, rest[:end]))
        if change.pause_s:
            self._pause(start, change.pause_s)
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

    def _feed(self, text: str) -> None:
        if text:
            if self._apart and text[0].isalnum():
                self._give(" ", self._at)
            self._apart = False
            start = self._at
            self._at += len(text)
            self._give(text, start)

    def _placed(self, word: Word) -> list[Word]:
        start = max(self._places.start(word.start), self._done)
        end = max(start, self._places.start(word.end - 1) + 1) if word.end > word.start else start
        place = bisect.bisect_right(self._changes, start, key=lambda entry: entry[0]) - 1
        manner = self._changes[place][1]
        if manner == _NEUTRAL and (start, end) == (word.start, word.end):
            return [word]
        delivery = word.delivery.joined(manner.delivery)
        return [replace(word, start=start, end=end, delivery=delivery)]
