"""SSML, and the tags of other services that resemble it, in a text that comes in fragments of any
size.

What a tag does to the words is done to the words of the language's normalizer, which gets the text
without its tags; spans are those of the source. Tags that are not known are silent. What only looks
like a tag is text ("a < b")."""

from __future__ import annotations

import html
import logging
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from sayahead.errors import ConfigError
from sayahead.text import Normalizer
from sayahead.text.saying.pronouncing import Pronunciations
from sayahead.text.ssml.replaced import PLACEHOLDER, Replaced, instead
from sayahead.text.ssml.say_as import SayAs
from sayahead.text.ssml.tags import (
    OPENERS,
    Tag,
    alphabet_of,
    break_s,
    is_censored,
    kind_of,
    rate_of,
    size_of,
    tag_of,
)
from sayahead.text.ssml.untagged import MAX_TOUCHING, Changes, Untagged
from sayahead.types import Word

log = logging.getLogger("sayahead")

_SENTENCES = frozenset("p s paragraph sentence speak".split())
_COLLECTED = frozenset("phoneme sub say-as spell".split())
MAX_CONTENT = 500
"""Characters of an element's content, beyond which it is text whatever its tag says."""
MAX_OPEN = 32
"""Elements that change the speed and are open at once; more of them change nothing."""
_TOUCHING = re.compile(rf"\S{{{MAX_TOUCHING + 1}}}\Z")
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


Rates = tuple[tuple[str, float], ...]
"""Elements that change the speed and are open, each with its factor."""


class Markup:
    """Makes the normalizers of one session; it knows which elements were open where, for texts that
    are revised."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self.rates = Changes[Rates](())

    def __call__(self, start: int) -> Marked:
        """A normalizer for the text from a place of the source on."""
        self.rates.forget_after(start)
        return Marked(self._resources, start, self.rates)


class Marked(Untagged):
    """A normalizer of text with tags."""

    _openers = OPENERS

    def __init__(self, resources: Resources, start: int, rates: Changes[Rates]) -> None:
        """``rates`` outlive it: a normalizer of revised text goes on with them."""
        super().__init__(resources.normalizer(start), start)
        self._resources = resources
        self._rates = rates
        # The element whose content is replaced, and that content so far.
        self._element: Tag | None = None
        self._content = ""
        self._content_at = 0
        self._replaced: dict[int, Replaced] = {}
        # Ends in the source of characters that take more than one there.
        self._wide: dict[int, int] = {}

    # ---- the normalizer's methods --------------------------------------------------------------

    def flush(self) -> list[Word]:
        """The words still pending; an element that is open is read, as if it had no tag."""
        self._read_held()
        if self._element is not None:
            self._unclosed("where the text ends")
        words = super().flush()
        self._apart = False
        self._before = ""
        return words

    def forget_spoken(self, *, begun: bool, over: bool) -> list[Word]:
        """An element that is open was said in its place."""
        self._read_held()
        self._element = None
        self._content = ""
        return super().forget_spoken(begun=begun, over=over)

    # ---- characters ----------------------------------------------------------------------------

    def _tag(self, rest: str, *, over: bool) -> int | None:
        """Do what a tag says, or read an entity."""
        size = size_of(rest, over=over)
        if not size:
            return size
        if rest[0] == "&":
            return self._entity(rest[:size])
        start = self._at
        self._at += size
        if (tag := tag_of(rest[:size], start)) is not None:
            self._do(tag)
        return size

    def _entity(self, text: str) -> int:
        """An entity's characters stand where it stands; the last of them takes all its room."""
        decoded = html.unescape(text)
        if decoded == text:
            return 0
        end = self._at + len(text)
        if self._element is None:
            self._wide[self._given + len(decoded) - 1] = end
        self._text(decoded)
        self._at = end
        return len(text)

    def _text(self, text: str) -> None:
        """Text is for the normalizer, or for an element's content."""
        if self._element is None:
            super()._text(text)
            return
        if not self._content:
            self._content_at = self._at
        self._content += text
        self._at += len(text)
        if len(self._content) > MAX_CONTENT:
            self._unclosed(f"after {MAX_CONTENT} characters")

    def _unclosed(self, where: str) -> None:
        """What an element that does not end would have replaced is read, so that nothing of the
        text is lost."""
        assert self._element is not None
        log.warning(
            "<%s> is not closed %s (character %d): its content is read.",
            self._element.name,
            where,
            self._element.start,
        )
        self._element = None
        self._read_content()

    def _read_content(self) -> None:
        """Read the content of an element as it stands.

        ``_at`` is behind the content already, maybe behind its closing tag, too: it goes back to
        where the content begins, so that its words get their places.
        """
        end = self._at
        self._at = self._content_at
        super()._text(self._content)
        self._content = ""
        self._at = end

    def _parts(self, char: str) -> bool:
        return char.isalnum() or char == "-" or not char.isprintable()

    # ---- elements --------------------------------------------------------------------------------

    def _do(self, tag: Tag) -> None:
        """Do what a tag says."""
        name = tag.name
        if self._element is not None:
            # Tags within replaced content say nothing, but its end does; so does one that cannot
            # stand within.
            if tag.closes and name == self._element.name:
                self._replace(self._element)
            elif name in _SENTENCES:
                self._unclosed(f"before <{name}>")
            if tag.closes or name not in _SENTENCES:
                return
        if name in _COLLECTED and not tag.closes:
            self._element = tag
            self._content = ""
            self._content_at = self._at
            if tag.empty:
                self._replace(tag)
        elif name in _SENTENCES:
            self._end(tag.start)
        elif name == "break" and not tag.closes:
            self._pause(tag.start, break_s(tag))
        elif name in ("prosody", "speed"):
            self._rates.add(self._at, self._paced(tag))
        elif name == "br":
            self._space()

    def _end(self, place: int) -> None:
        """The sentence ends."""
        self._take(self._inner.flush())
        if self._open:
            self._words.append(Word(".", place, place, ends=True))
        self._open = False
        self._apart = False
        self._before = ""

    def _paced(self, tag: Tag) -> Rates:
        """The changes of speed that are open after a tag, for the words that begin after it."""
        rates = self._rates.last
        if tag.closes:
            names = [name for name, _ in rates]
            last = len(names) - 1 - names[::-1].index(tag.name) if tag.name in names else len(names)
            return rates[:last] + rates[last + 1 :]
        if tag.name == "speed":
            # Cartesia's: it holds until the next.
            others = tuple(entry for entry in rates if entry[0] != "speed")
            return (*others, ("speed", rate_of(tag.attributes.get("ratio", ""), tag)))
        if tag.empty or len(rates) >= MAX_OPEN:
            return rates
        return (*rates, (tag.name, rate_of(tag.attributes.get("rate", "medium"), tag)))

    def _speed_of(self, word: Word) -> float:
        """The product of all changes of speed that hold for a word, within what the voice can
        do."""
        rates = self._rates.at(self._places.start(word.start))
        least, most = self._resources.speeds
        return min(max(math.prod((rate for _, rate in rates), start=1.0), least), most)

    def _replace(self, tag: Tag) -> None:
        """Say what an element has instead of its content."""
        start = self._content_at
        end = start + len(self._content) if self._content else self._at
        self._element = None
        if is_censored(tag):
            self._content = ""
            self._pause(tag.start, CENSORED_S)
            return
        words, phonemes = self._said(tag, self._content)
        if not words:
            self._read_content()
            return
        self._content = ""
        # Nor does it stick to a sign that cannot be seen, such as a mark of direction.
        is_stuck = self._last.isalnum() or not (self._last + " ").isprintable()
        if is_stuck or _TOUCHING.search(self._before):
            self._space()
        self._replaced[self._given] = Replaced(
            words, phonemes, tag.start, tag.start if tag.empty else start, end
        )
        self._give(PLACEHOLDER, start)
        self._places.add(self._given, self._at)
        self._apart = True

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
                form = tag.attributes.get("format", "").lower()
                return self._resources.say_as(text, kind_of(tag), form), ""
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
            end = words[-1].end
            self._wide = {place: wide for place, wide in self._wide.items() if place >= end}

    def _placed(self, word: Word) -> list[Word]:
        """A word as those of the source: what elements have instead of it, or itself, and how fast
        it is said."""
        speed = self._speed_of(word)
        if 0 < word.text.count(PLACEHOLDER) <= len(self._replaced):
            placed = self._instead(word, speed)
        else:
            start, end = self._span(word)
            placed = [replace(word, start=start, end=end, speed=speed)]
        if self._replaced and not word.continues:
            self._replaced = {at: own for at, own in self._replaced.items() if at >= word.end}
        return placed

    def _end_of(self, word: Word) -> int:
        return self._wide.get(word.end - 1) or super()._end_of(word)

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
