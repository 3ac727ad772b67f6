"""SSML, and the tags of other services that resemble it, in a text that comes in fragments of any
size.

What a tag does to the words is done to the words of the language's normalizer, which gets the text
without its tags; spans are those of the source. Tags that are not known are silent. What only looks
like a tag is text ("a < b")."""

from __future__ import annotations

import bisect
import html
import logging
import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from sayahead.errors import ConfigError
from sayahead.text import Normalizer
from sayahead.text.saying.pronouncing import Pronunciations
from sayahead.text.ssml.replaced import PLACEHOLDER, Replaced, instead
from sayahead.text.ssml.say_as import SayAs
from sayahead.text.ssml.tags import (
    Tag,
    alphabet_of,
    break_s,
    complete,
    is_censored,
    may_become,
    rate_of,
    tag_of,
)
from sayahead.text.ssml.untagged import Untagged
from sayahead.types import Word

log = logging.getLogger("sayahead")


"""What a text's tags are: not looked at here, or SSML."""

_SENTENCES = frozenset("p s paragraph sentence speak".split())
_COLLECTED = frozenset("phoneme sub say-as spell".split())
MAX_CONTENT = 500
"""Characters of an element's content, beyond which it is text whatever its tag says."""
MAX_OPEN = 32
"""Elements that change the speed and are open at once; more of them change nothing."""
MAX_KEPT = 256
"""Places at which elements that change the speed were opened or closed that are kept for
revisions."""
MAX_TOUCHING = 40
"""Characters of one token before a placeholder, beyond which a blank keeps it from being cut in
two."""
CENSORED_S = 0.4
"""Silence in place of what is not to be said."""


@dataclass(frozen=True, slots=True)
class Resources:
    """What markup needs of a voice."""

    normalizer: Callable[[int], Normalizer]
    """Makes words of a text from a place of it on."""
    pronunciations: Pronunciations
    """Reads other words, and writes pronunciations in the voice's symbols."""
    say_as: SayAs
    """Says what ``<say-as>`` asks for."""
    speeds: tuple[float, float] = (0.5, 2.0)
    """Least and most of a word's speed."""


class Markup:
    """Makes the normalizers of one session; it knows which elements were open where, for texts that
    are revised."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._open: list[tuple[int, tuple[tuple[str, float], ...]]] = [(0, ())]

    def __call__(self, start: int) -> Marked:
        """A normalizer for the text from a place of the source on."""
        self._open = [entry for entry in self._open if entry[0] <= start] or [(0, ())]
        return Marked(self._resources, start, self._open)


class Marked(Untagged):
    """A normalizer of text with tags."""

    def __init__(
        self,
        resources: Resources,
        start: int,
        opened: list[tuple[int, tuple[tuple[str, float], ...]]],
    ) -> None:
        super().__init__(resources.normalizer(start), start)
        self._resources = resources
        self._opened = opened
        # Characters that may become a tag, an entity or a stage direction.
        self._buffer = ""
        # Elements that change the speed, and from where on in the inner text which speed holds.
        self._rates = list(opened[-1][1])
        self._speeds = [(start, self._speed())]
        # The element whose content is replaced, and that content so far.
        self._tag: Tag | None = None
        self._content = ""
        self._content_at = 0
        self._replaced: dict[int, Replaced] = {}
        # Ends in the source of characters that take more than one there.
        self._wide: dict[int, int] = {}
        # Characters since the last blank.
        self._touching = 0

    # ---- the normalizer's methods --------------------------------------------------------------

    def flush(self) -> list[Word]:
        self._settle()
        if self._tag is not None:
            self._unclosed(self._tag, f"<{self._tag.name}> is not closed where the text ends")
        words = super().flush()
        self._apart = False
        self._last = ""
        return words

    def forget_spoken(self, *, begun: bool, over: bool) -> list[Word]:
        """An element that is open was said in its place."""
        self._settle()
        self._tag = None
        self._content = ""
        return super().forget_spoken(begun=begun, over=over)

    # ---- characters ----------------------------------------------------------------------------

    def _read(self, fragment: str) -> None:
        at = 0
        while at < len(fragment):
            if not self._buffer and self._tag is None and (plain := _PLAIN.match(fragment, at)):
                self._feed(plain[0])
                self._at += len(plain[0])
                at = plain.end()
                continue
            self._char(fragment[at])
            at += 1

    def _char(self, char: str) -> None:
        """Take in a character of the source."""
        if not self._buffer:
            if char in "<&[":
                self._buffer = char
            else:
                self._text(char)
            self._at += 1
            return
        text = self._buffer + char
        if not complete(text):
            if may_become(text):
                self._buffer = text
                self._at += 1
            else:
                self._settle()
                self._char(char)
            return
        self._buffer = ""
        if text[0] == "[":
            self._char(char)
            return
        self._at += 1
        start = self._at - len(text)
        if text[0] == "&":
            self._entity(html.unescape(text), start)
        elif (tag := tag_of(text, start)) is not None:
            self._element(tag)

    def _settle(self) -> None:
        buffer = self._buffer
        self._buffer = ""
        end = self._at
        self._at -= len(buffer)
        for char in buffer:
            self._text(char)
            self._at += 1
        self._at = end

    def _entity(self, text: str, start: int) -> None:
        """An entity's characters stand where it stands; the last of them takes all its room."""
        end = self._at
        self._at = start
        if self._tag is None:
            self._wide[self._given + len(text) - 1] = end
        self._text(text)
        self._at = end

    def _text(self, text: str) -> None:
        """Text that begins at the present place of the source: for the normalizer, or for an
        element's content."""
        if self._tag is None:
            self._feed(text)
            return
        if not self._content:
            self._content_at = self._at
        self._content += text
        if len(self._content) > MAX_CONTENT:
            self._unclosed(
                self._tag, f"<{self._tag.name}> is not closed after {MAX_CONTENT} characters"
            )

    def _unclosed(self, tag: Tag, why: str) -> None:
        """What an element that does not end would have replaced is read, so that nothing of the
        text is lost."""
        log.warning("%s (character %d): its content is read.", why, tag.start)
        content = self._content
        self._content = ""
        self._tag = None
        self._at, end = self._content_at, self._at
        if content:
            self._feed(content)
        self._at = end

    def _feed(self, text: str) -> None:
        """Give the normalizer text that stands at the present place of the source, parted by a
        space from a word that a tag has ended.

        ``_touching`` counts the characters at the end of what was given with no space after
        them."""
        if self._apart and (text[0].isalnum() or text[0] == "-" or not text[0].isprintable()):
            self._space()
        self._apart = False
        tail = len(_TAIL.search(text)[0])  # type: ignore[index]
        self._touching = tail if tail < len(text) else self._touching + tail
        self._give(text, self._at)

    def _space(self) -> None:
        """A blank that is not in the source."""
        self._give(" ", self._at)
        self._touching = 0

    # ---- elements --------------------------------------------------------------------------------

    def _element(self, tag: Tag) -> None:
        """Do what a tag says."""
        name = tag.name
        if self._tag is not None:
            # Tags within replaced content say nothing, but its end does; so does one that cannot
            # stand within.
            if tag.closes and name == self._tag.name:
                self._replace(self._tag)
            elif name in _SENTENCES:
                self._unclosed(self._tag, f"<{self._tag.name}> is not closed before <{name}>")
            if tag.closes or name not in _SENTENCES:
                return
        if name in _COLLECTED and not tag.closes:
            self._tag = tag
            self._content = ""
            self._content_at = self._at
            if tag.empty:
                self._replace(tag)
        elif name in _SENTENCES:
            self._end(tag.start)
        elif name == "break" and not tag.closes:
            self._silence(tag, break_s(tag))
        elif name in ("prosody", "speed"):
            self._pace(tag)
        elif name == "br":
            self._space()

    def _end(self, place: int) -> None:
        """The sentence ends."""
        self._take(self._inner.flush())
        if self._open:
            self._words.append(Word(".", place, place, ends=True))
        self._open = False
        self._apart = False
        self._last = ""

    def _silence(self, tag: Tag, seconds: float) -> None:
        """Silence from a tag on."""
        if seconds:
            self._pause(tag.start, seconds)
            self._touching = 0

    def _pace(self, tag: Tag) -> None:
        """A change of speed, for the words that begin after the tag."""
        if tag.closes:
            names = [name for name, _ in self._rates]
            if tag.name in names:
                del self._rates[len(names) - 1 - names[::-1].index(tag.name)]
        elif tag.name == "speed":
            # Cartesia's: it holds until the next.
            self._rates = [entry for entry in self._rates if entry[0] != "speed"]
            self._rates.append(("speed", rate_of(tag.attributes.get("ratio", ""), tag)))
        elif not tag.empty and len(self._rates) < MAX_OPEN:
            self._rates.append((tag.name, rate_of(tag.attributes.get("rate", "medium"), tag)))
        self._speeds.append((self._given, self._speed()))
        self._opened.append((self._at, tuple(self._rates)))
        if len(self._opened) > 2 * MAX_KEPT:
            del self._opened[1:-MAX_KEPT]

    def _speed(self) -> float:
        """The product of all open changes of speed, within what the voice can do."""
        speed = 1.0
        for _, rate in self._rates:
            speed *= rate
        least, most = self._resources.speeds
        return min(max(speed, least), most)

    def _replace(self, tag: Tag) -> None:
        """Say what an element has instead of its content."""
        content = self._content
        start = self._content_at
        end = start + len(content) if content else self._at
        self._tag = None
        self._content = ""
        if is_censored(tag):
            self._silence(tag, CENSORED_S)
            return
        words, phonemes = self._said(tag, content)
        if not words:
            if content:
                here = self._at
                self._at = start
                self._feed(content)
                self._at = here
            return
        # Nor does it stick to a sign that cannot be seen, such as a mark of direction.
        if (
            self._last.isalnum()
            or self._touching > MAX_TOUCHING
            or not (self._last + " ").isprintable()
        ):
            self._space()
        self._replaced[self._given] = Replaced(
            words, phonemes, tag.start, tag.start if tag.empty else start, end
        )
        self._give(PLACEHOLDER, start)
        self._places.add(self._given, self._at)
        self._apart = True
        self._last = "x"
        self._touching = self._touching + len(PLACEHOLDER)

    def _said(self, tag: Tag, content: str) -> tuple[str, str]:
        """Words and phonemes in place of content; no words: the content is read."""
        text = " ".join(content.split())
        transcriber = self._resources.pronunciations.transcriber
        match tag.name:
            case "sub":
                return self._resources.pronunciations.read(tag.attributes.get("alias", "")), ""
            case "spell":
                return self._resources.say_as(text, "characters", ""), ""
            case "say-as":
                kind = tag.attributes.get("interpret-as", "").lower()
                return (
                    self._resources.say_as(text, kind, tag.attributes.get("format", "").lower()),
                    "",
                )
        if transcriber is None or not tag.attributes.get("ph"):
            return "", ""
        try:
            phonemes = transcriber.read(tag.attributes["ph"], alphabet_of(tag))
        except ConfigError as error:
            log.warning("<phoneme> (character %d): %s; the text is read.", tag.start, error)
            return "", ""
        return text or tag.attributes["ph"], phonemes

    # ---- words -----------------------------------------------------------------------------------

    def _take(self, words: list[Word]) -> None:
        super()._take(words)
        if words:
            last = words[-1]
            self._wide = {place: end for place, end in self._wide.items() if place >= last.end}
            del self._speeds[: self._speed_at(last)]

    def _placed(self, word: Word) -> list[Word]:
        speed = self._speeds[self._speed_at(word)][1]
        if 0 < word.text.count(PLACEHOLDER) <= len(self._replaced):
            placed = self._instead(word, speed)
        else:
            start = max(self._places.start(word.start), self._done)
            end = self._end_of(word) if word.end > word.start else start
            placed = [replace(word, start=start, end=max(start, end), speed=speed)]
        if self._replaced and not word.continues:
            self._replaced = {at: own for at, own in self._replaced.items() if at >= word.end}
        return placed

    def _speed_at(self, word: Word) -> int:
        """Which of the changes of speed holds for a word."""
        return max(0, bisect.bisect_right(self._speeds, (word.start, 99.0)) - 1)

    def _end_of(self, word: Word) -> int:
        """Where a word ends in the source."""
        return self._wide.get(word.end - 1) or self._places.start(word.end - 1) + 1

    def _instead(self, word: Word, speed: float) -> list[Word]:
        """The words that are said for placeholders in a word, with what is around them."""
        places = sorted(self._replaced)[: word.text.count(PLACEHOLDER)]
        replacements = [self._replaced.pop(at) for at in places]
        start = self._places.start(word.start) if word.start < places[0] else replacements[0].start
        end = (
            self._end_of(word) if word.end > places[-1] + len(PLACEHOLDER) else replacements[-1].end
        )
        start = max(start, self._done)
        word = replace(word, start=start, end=max(start, end), speed=speed)
        return instead(word, replacements, self._resources.pronunciations.transcriber)


_PLAIN = re.compile(r"[^<&\[]+")
_TAIL = re.compile(r"\S*\Z")
