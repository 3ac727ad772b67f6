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
    Places,
    Tag,
    alphabet_of,
    break_s,
    complete,
    is_censored,
    may_become,
    rate_of,
    tag_of,
)
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
_MARKS = re.compile(r"[.,;:!?…—)]*$")


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


class Marked:
    """A normalizer of text with tags."""

    def __init__(
        self,
        resources: Resources,
        start: int,
        opened: list[tuple[int, tuple[tuple[str, float], ...]]],
    ) -> None:
        self.skipped: list[tuple[int, int, str]] = []
        self._resources = resources
        self._opened = opened
        self._inner = resources.normalizer(start)
        # Places in the source, and in the text that the inner normalizer gets; they are equal at
        # the start.
        self._at = start
        self._given = start
        self._places = Places([start], [start])
        # Characters that may become a tag, an entity or a stage direction.
        self._buffer = ""
        self._quote = ""
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
        self._apart = False
        self._last = ""
        # Characters since the last blank.
        self._touching = 0
        self._open = False
        self._mark = False
        # End of the last word in the source.
        self._done = start

    # ---- the normalizer
    # ------------------------------------------------------------------------------------------

    def push(self, fragment: str) -> list[Word]:
        out: list[Word] = []
        at = 0
        while at < len(fragment):
            if not self._buffer and self._tag is None and (plain := _PLAIN.match(fragment, at)):
                self._feed(plain[0], out)
                self._at += len(plain[0])
                at = plain.end()
                continue
            self._char(fragment[at], out)
            at += 1
        return out

    def flush(self) -> list[Word]:
        """What is not closed ends here."""
        out: list[Word] = []
        self._literal(out)
        if self._tag is not None:
            self._unclosed(self._tag, f"<{self._tag.name}> is not closed where the text ends", out)
        self._take(self._inner.flush(), out)
        self._open = False
        self._apart = False
        self._last = ""
        return out

    def breathe(self) -> list[Word]:
        """An element whose content is replaced is waited for."""
        out: list[Word] = []
        self._literal(out)
        self._take(self._inner.breathe(), out)
        return out

    def forget_spoken(self, *, begun: bool, over: bool) -> list[Word]:
        """An element that is open was said in its place."""
        out: list[Word] = []
        self._literal(out)
        self._tag = None
        self._content = ""
        self._take(self._inner.forget_spoken(begun=begun, over=over), out)
        self._open = self._open and not over
        return out

    # ---- characters
    # ----------------------------------------------------------------------------------------------

    def _char(self, char: str, out: list[Word]) -> None:
        """Take in a character of the source."""
        if not self._buffer:
            if char in "<&[":
                self._buffer = char
            else:
                self._text(char, out)
            self._at += 1
            return
        text = self._buffer + char
        if not complete(text):
            if may_become(text):
                self._buffer = text
                self._at += 1
            else:
                self._literal(out)
                self._char(char, out)
            return
        self._buffer = ""
        if text[0] == "[":
            self._char(char, out)
            return
        self._at += 1
        start = self._at - len(text)
        if text[0] == "&":
            self._entity(html.unescape(text), start, out)
        elif (tag := tag_of(text, start)) is not None:
            self._element(tag, out)

    def _literal(self, out: list[Word]) -> None:
        """What looked like a tag is text."""
        buffer = self._buffer
        self._buffer = ""
        end = self._at
        self._at -= len(buffer)
        for char in buffer:
            self._text(char, out)
            self._at += 1
        self._at = end

    def _entity(self, text: str, start: int, out: list[Word]) -> None:
        """An entity's characters stand where it stands; the last of them takes all its room."""
        end = self._at
        self._at = start
        if self._tag is None:
            self._wide[self._given + len(text) - 1] = end
        self._text(text, out)
        self._at = end

    def _text(self, text: str, out: list[Word]) -> None:
        """Text that begins at the present place of the source: for the normalizer, or for an
        element's content."""
        if self._tag is None:
            self._feed(text, out)
            return
        if not self._content:
            self._content_at = self._at
        self._content += text
        if len(self._content) > MAX_CONTENT:
            self._unclosed(
                self._tag, f"<{self._tag.name}> is not closed after {MAX_CONTENT} characters", out
            )

    def _unclosed(self, tag: Tag, why: str, out: list[Word]) -> None:
        """What an element that does not end would have replaced is read, so that nothing of the
        text is lost."""
        log.warning("%s (character %d): its content is read.", why, tag.start)
        content = self._content
        self._content = ""
        self._tag = None
        self._at, end = self._content_at, self._at
        if content:
            self._feed(content, out)
        self._at = end

    def _feed(self, text: str, out: list[Word]) -> None:
        """Give the normalizer text that stands at the present place of the source."""
        if self._apart and (text[0].isalnum() or text[0] == "-" or not text[0].isprintable()):
            self._space(out)
        self._apart = False
        self._last = text[-1]
        tail = len(_TAIL.search(text)[0])  # type: ignore[index]
        self._touching = tail if tail < len(text) else self._touching + tail
        self._places.add(self._given, self._at)
        self._given += len(text)
        self._take(self._inner.push(text), out)

    def _space(self, out: list[Word]) -> None:
        """A blank that is not in the source."""
        self._places.add(self._given, self._at)
        self._given += 1
        self._take(self._inner.push(" "), out)
        self._last = " "
        self._touching = 0

    # ---- elements
    # ------------------------------------------------------------------------------------------------  # noqa: E501

    def _element(self, tag: Tag, out: list[Word]) -> None:
        """Do what a tag says."""
        name = tag.name
        if self._tag is not None:
            # Tags within replaced content say nothing, but its end does; so does one that cannot
            # stand within.
            if tag.closes and name == self._tag.name:
                self._replace(self._tag, out)
            elif name in _SENTENCES:
                self._unclosed(self._tag, f"<{self._tag.name}> is not closed before <{name}>", out)
            if tag.closes or name not in _SENTENCES:
                return
        if name in _COLLECTED and not tag.closes:
            self._tag = tag
            self._content = ""
            self._content_at = self._at
            if tag.empty:
                self._replace(tag, out)
        elif name in _SENTENCES:
            self._end(tag.start, out)
        elif name == "break" and not tag.closes:
            self._break(tag, out)
        elif name in ("prosody", "speed"):
            self._pace(tag)
        elif name == "br":
            self._space(out)

    def _end(self, place: int, out: list[Word]) -> None:
        """The sentence ends."""
        self._take(self._inner.flush(), out)
        if self._open:
            out.append(Word(".", place, place, ends=True))
        self._open = False
        self._apart = False
        self._last = ""

    def _break(self, tag: Tag, out: list[Word]) -> None:
        """Silence where a tag asks for it."""
        if seconds := break_s(tag):
            self._silence(tag, seconds, out)

    def _silence(self, tag: Tag, seconds: float, out: list[Word]) -> None:
        """Silence from a tag on: a word of its own, with a comma where the words before have no
        mark."""
        self._take(self._inner.breathe(), out)
        if not self._last.isspace():
            self._space(out)
        out.append(
            Word("," if self._open and not self._mark else "", tag.start, self._at, pause_s=seconds)
        )
        self._mark = True
        self._done = self._at

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

    def _replace(self, tag: Tag, out: list[Word]) -> None:
        """Say what an element has instead of its content."""
        content = self._content
        start = self._content_at
        end = start + len(content) if content else self._at
        self._tag = None
        self._content = ""
        if is_censored(tag):
            self._silence(tag, CENSORED_S, out)
            return
        words, phonemes = self._said(tag, content)
        if not words:
            if content:
                here = self._at
                self._at = start
                self._feed(content, out)
                self._at = here
            return
        # Nor does it stick to a sign that cannot be seen, such as a mark of direction.
        if (
            self._last.isalnum()
            or self._touching > MAX_TOUCHING
            or not (self._last + " ").isprintable()
        ):
            self._space(out)
        self._replaced[self._given] = Replaced(
            words, phonemes, tag.start, tag.start if tag.empty else start, end
        )
        self._places.add(self._given, start)
        self._given += len(PLACEHOLDER)
        self._take(self._inner.push(PLACEHOLDER), out)
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

    # ---- words
    # ---------------------------------------------------------------------------------------------------  # noqa: E501

    def _take(self, words: list[Word], out: list[Word]) -> None:
        """Words of the inner normalizer, as words of the source."""
        for start, end, text in self._inner.skipped:
            self.skipped.append((self._places.start(start), self._places.start(end - 1) + 1, text))
        self._inner.skipped.clear()
        for word in words:
            place = bisect.bisect_right(self._speeds, (word.start, 99.0)) - 1
            speed = self._speeds[max(0, place)][1]
            if 0 < word.text.count(PLACEHOLDER) <= len(self._replaced):
                out += self._instead(word, speed)
            else:
                start = max(self._places.start(word.start), self._done)
                end = self._end_of(word) if word.end > word.start else start
                out.append(replace(word, start=start, end=max(start, end), speed=speed))
            self._done = out[-1].end
            if self._replaced and not word.continues:
                self._replaced = {
                    at: replaced for at, replaced in self._replaced.items() if at >= word.end
                }
            self._open = not word.ends
            self._mark = bool(_MARKS.search(word.text)[0])  # type: ignore[index]
        if words:
            self._places.forget(words[-1].end)
            self._wide = {place: end for place, end in self._wide.items() if place >= words[-1].end}
            del self._speeds[
                : max(0, bisect.bisect_right(self._speeds, (words[-1].start, 99.0)) - 1)
            ]

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
