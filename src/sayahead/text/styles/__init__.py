"""Tags of styles in a text that comes in fragments: ``[whispers]``, ``<laugh>``,
``[emotion=happy]``, ``[pause:1s]``.

The words' normalizer gets the text without them, whatever its language; the words that follow are
said in that style, up to the next tag of a style, its end (``[/whispers]``, ``[normal]``) or an
empty line."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, fields, replace

from sayahead.text import Normalizer
from sayahead.text.ssml.untagged import Changes, Untagged
from sayahead.text.styles.table import EMPHASIS
from sayahead.text.styles.tags import MAX_TAG, Change, change_of, may_become
from sayahead.types import PLAIN, Delivery, Word

_OPENERS = re.compile(r"[<\[*]")
_BOTH = re.compile(r"[<\[*]|\n[ \t]*\n")
_MODERATE = EMPHASIS["moderate"]
MAX_EMPHASIZED = 40
"""Characters between two stars that are an emphasis, ``*so*``: more of them stand for titles."""


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
        self._manners = Changes(_NEUTRAL)

    def __call__(self, start: int) -> Styled:
        """A normalizer for the text from a place of the source on."""
        self._manners.forget_after(start)
        return Styled(self._normalizer(start), start, self._manners, ssml=self._ssml)


class Styled(Untagged):
    """A normalizer of text with tags of styles."""

    def __init__(
        self, inner: Normalizer, start: int, manners: Changes[Manner], *, ssml: bool
    ) -> None:
        """``manners`` outlive it: a normalizer of revised text goes on with them."""
        super().__init__(inner, start)
        self._manners = manners
        self._ssml = ssml
        self._before = "\n"
        # Where an emphasis by a star ends at the latest; None where there is none.
        self._starred: int | None = None

    def flush(self) -> list[Word]:
        words = super().flush()
        if self._starred is not None:
            self._unstar()
        self._before = "\n"
        return words

    @property
    def _openers(self) -> re.Pattern[str]:
        return _OPENERS if self._manners.last == _NEUTRAL else _BOTH

    def _tag(self, rest: str, *, over: bool) -> int | None:
        """Do what a tag, a star or an empty line asks for; the latter two stay in the text."""
        if rest[0] == "\n":
            # A paragraph ends, and with it what was asked for.
            self._starred = None
            self._manners.add(self._at, _NEUTRAL)
            return 0
        if rest[0] != "*":
            return self._asked(rest, over=over)
        if len(rest) == 1 and not over:
            return None
        self._star(rest[1:2])
        return 0

    def _star(self, after: str) -> None:
        """Take in a star, which stays in the text: one alone before a word begins an emphasis, and
        one behind a word ends it."""
        if "*" in (after, self._last):
            return
        if self._starred is not None and not self._last.isspace():
            self._unstar()
        elif after.isalpha() and not (self._last.isalnum() or self._last in "\\/"):
            # What opens before it belongs to the word.
            back = 0 if self._last.isspace() else 1
            self._manners.add(self._at - back, replace(self._manners.last, emphasis=_MODERATE))
            self._starred = self._at + MAX_EMPHASIZED

    def _unstar(self) -> None:
        """What a star has begun ends here."""
        self._starred = None
        self._manners.add(self._at, replace(self._manners.last, emphasis=PLAIN))

    def _text(self, text: str) -> None:
        """What a star has begun ends with its line, or where it is too long, if no other star ends
        it."""
        if self._starred is not None:
            left = max(0, self._starred - self._at)
            line = text.find("\n")
            size = line if 0 <= line < left else left
            if len(text) > size:
                super()._text(text[:size])
                self._unstar()
                text = text[size:]
        super()._text(text)

    def _asked(self, rest: str, *, over: bool) -> int | None:
        """Do what a tag asks for."""
        is_bracket = rest[0] == "["
        end = rest.find("]" if is_bracket else ">", 0, MAX_TAG) + 1
        if not end:
            return None if not over and may_become(rest) else 0
        change = change_of(rest[:end], attributes=not self._ssml)
        if change is None:
            return 0
        # What follows a bracket may make it a link.
        if is_bracket and len(rest) == end and not over:
            return None
        if is_bracket and self._is_other(rest, end, change):
            return 0
        start = self._at
        self._at += end
        if change.is_sound:
            self.skipped.append((start, self._at, rest[:end]))
        self._pause(start, change.pause_s)
        self._manners.add(self._at, self._manners.last.changed(change))
        self._apart = self._last.isalnum()
        return end

    def _is_other(self, rest: str, end: int, change: Change) -> bool:
        """Whether a bracket is a link or an index, by what it touches; one that closes, or of a
        sound, may touch."""
        if rest[end : end + 1] in ("(", "["):
            return True
        touches = self._last.isalnum() and not change.is_sound
        return rest[1] != "/" and (touches or self._last == "]")

    def _placed(self, word: Word) -> list[Word]:
        """A word at its place in the source, said as the tags before that ask for."""
        start, end = self._span(word)
        manner = self._manners.at(start)
        if manner == _NEUTRAL and (start, end) == (word.start, word.end):
            return [word]
        delivery = word.delivery.joined(manner.delivery)
        return [replace(word, start=start, end=end, delivery=delivery)]
