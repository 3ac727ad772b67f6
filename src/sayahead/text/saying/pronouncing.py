"""A lexicon at work: words of a normalizer of any language, said as the lexicon or the text itself
has them.

The text reaches the normalizer as it is, and its words are replaced where their characters in the
source are in the lexicon. So words wait for nothing but the rest of a phrase that has begun.
``[word](/ipa/)`` in the text gives a pronunciation, too.
"""

from __future__ import annotations

import logging
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from sayahead.errors import ConfigError
from sayahead.text import Normalizer
from sayahead.text.parts import parted
from sayahead.text.saying.lexicon import Entry, Lexicon, spaced
from sayahead.text.saying.transcription import Transcriber
from sayahead.types import Word, subtags

log = logging.getLogger("sayahead")

_OPENING = "\"'“‘„«‹([{*_`~¿¡"
_CLOSING = ".,;:!?…\"'”“’»«›)]}*_`~—–"
_WHITE = re.compile(r"[\s\x00-\x1f\x7f-\x9f]*")
_TOKEN = re.compile(r"[^\s\x00-\x1f\x7f-\x9f]*")
_MARKS = re.compile(r"[.,;:!?…—)]*$")
_GIVEN = re.compile(r"\[([^\[\]\s]+)\]\(/([^/()\s]+)/\)")
_HYPHEN = re.compile("-{1,3}|[\u2010\u2011–]")
_SPOKEN_HYPHEN = re.compile("-|(?<=—) ")
MAX_SOURCE = 4096
"""Longest word in the source that is looked up, markup included."""

Tokens = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Said:
    """How an entry is said by one voice."""

    text: str = ""
    """Words to be read; empty: those of the text."""
    phonemes: str = ""
    """The voice's symbols to be spoken instead."""
    dotted: bool = False
    """Whether the entry ends with a full stop of its own."""


class Pronunciations:
    """A lexicon for one voice; shared by any number of sessions."""

    def __init__(
        self,
        lexicon: Lexicon | None,
        *,
        normalizer: Callable[[int], Normalizer],
        symbols: Mapping[str, int],
        language: str = "",
        read: Callable[[str], str] | None = None,
    ) -> None:
        """``normalizer`` reads the words of respellings, or ``read``, which may keep them;
        ``symbols`` are the voice's phonemes, none where it reads letters: then entries that are
        pronunciations are left out, with a warning. ``language``: the tag of that whose phonemes it
        reads.

        ConfigError for a pronunciation that the voice cannot say.
        """
        self._entries: dict[Tokens, Said] = {}
        """By the words of their phrases."""
        self._following = defaultdict[Tokens, set[str]](set)
        """All that longer phrases begin with, and the words that follow it in them, decomposed."""
        self.has_plurals = subtags(language)[0] == "en"
        """Whether a name may have a plural's s."""
        self._normalizer = normalizer
        self.transcriber = (
            Transcriber(symbols, british=subtags(language) == ["en", "gb"]) if symbols else None
        )
        dropped = list[str]()
        for word, entry in lexicon.entries.items() if lexicon else ():
            if entry.alphabet and self.transcriber is None:
                dropped.append(word)
                continue
            self._entries[tuple(word.split())] = self._said(word, entry, read or self.read)
        # Lines may be in capitals throughout.
        for tokens, said in [*self._entries.items()]:
            if small(tokens) != tokens and small(tokens) not in self._entries:
                self._entries.setdefault(tuple(map(str.upper, tokens)), said)
        for tokens in self._entries:
            for n in range(1, len(tokens)):
                self._following[tokens[:n]].add(unicodedata.normalize("NFD", tokens[n]))
        if dropped:
            names = ", ".join(map(repr, dropped[:3])) + (", ..." if len(dropped) > 3 else "")
            log.warning(
                "This voice reads letters: phonemes of the lexicon are left out (%s).", names
            )

    @property
    def is_empty(self) -> bool:
        """Whether it has no entries."""
        return not self._entries

    def _said(self, word: str, entry: Entry, read: Callable[[str], str]) -> Said:
        """How an entry has a word said. ConfigError where that cannot be."""
        is_dotted = word[-1] == "."
        if entry.alphabet and self.transcriber:
            try:
                phonemes = self.transcriber.read(entry.said, entry.alphabet)
            except ConfigError as error:
                raise ConfigError(f"{entry.where}: {word!r}: {error}.") from error
            return Said(phonemes=phonemes, dotted=is_dotted)
        text = read(entry.said)
        if not text:
            raise ConfigError(f"{entry.where}: {word!r}: nothing of {entry.said!r} can be read.")
        return Said(text, dotted=is_dotted)

    def read(self, text: str) -> str:
        """A respelling as words to be spoken, without the mark at its end."""
        normalizer = self._normalizer(0)
        words = [*normalizer.push(text), *normalizer.flush()]
        return " ".join(word.text for word in words).rstrip(".,;:!?… ")

    def entry(self, tokens: Tokens) -> Said | None:
        """How a word or phrase is said, if it is in the lexicon."""
        return self._entries.get(tokens) or self._entries.get(small(tokens))

    def plural(self, tokens: Tokens) -> Said | None:
        """The entry of a name of which these words are the plural: Krogers."""
        last = tokens[-1]
        is_name = self.has_plurals and last[-1:] == "s" and last[:1].isupper()
        return self._entries.get((*tokens[:-1], last[:-1])) if is_name else None

    def begins(self, tokens: Tokens) -> bool:
        """Whether a longer phrase begins with these words."""
        return tokens in self._following or small(tokens) in self._following

    def may_follow(self, tokens: Tokens, start: str) -> bool:
        """Whether a longer phrase goes on with a word that begins so, as far as it is there."""
        start = unicodedata.normalize("NFD", start.replace("’", "'"))
        return any(
            word.startswith(begun) or (begun.startswith(word) and not begun[len(word)].isalnum())
            for begun in (start, start.lower())
            for phrase in (tokens, small(tokens))
            for word in self._following.get(phrase, ())
        )


def small(tokens: Tokens) -> Tokens:
    """Words in small letters."""
    return tuple(map(str.lower, tokens))


class Pronouncing:
    """A normalizer whose words are said as a lexicon has them."""

    def __init__(self, inner: Normalizer, pronunciations: Pronunciations, start: int = 0) -> None:
        self.skipped = inner.skipped
        self._inner = inner
        self._lexicon = pronunciations
        # The text from ``_base`` on, and words that may be part of a phrase.
        self._source = ""
        self._base = start
        self._held: list[Word] = []

    def push(self, fragment: str) -> list[Word]:
        self._source += fragment
        return self._settle(self._inner.push(fragment), over=False)

    def flush(self) -> list[Word]:
        return self._settle(self._inner.flush(), over=True)

    def breathe(self) -> list[Word]:
        return self._settle(self._inner.breathe(), over=True)

    def forget_spoken(self, *, begun: bool, over: bool) -> list[Word]:
        return self._settle(self._inner.forget_spoken(begun=begun, over=over), over=True)

    def _settle(self, words: list[Word], *, over: bool) -> list[Word]:
        """Words that are settled, of those that wait and these; all of them where no more come for
        now."""
        self._held += words
        out: list[Word] = []
        while self._held:
            first = self._first(over=over)
            if first is None:
                break
            count, ready = first
            out += ready
            del self._held[:count]
        if out:
            end = (self._held[0].start if self._held else out[-1].end) - self._base
            self._source = self._source[end:]
            self._base = self._base + end
        elif not self._held and len(self._source) > 4 * MAX_SOURCE:
            cut = len(self._source) - 2 * MAX_SOURCE
            self._source = self._source[cut:]
            self._base = self._base + cut
        return out

    def _characters(self, word: Word) -> str:
        """The word in the source."""
        start = word.start - self._base
        return (
            self._source[start : word.end - self._base]
            if start >= 0 and word.end - word.start < MAX_SOURCE
            else ""
        )

    def _next_token(self, word: Word) -> str:
        """What has come of the token after a word."""
        rest = self._source[word.end - self._base :]
        white = _WHITE.match(rest)
        return _TOKEN.match(rest, white.end() if white else 0)[0]  # type: ignore[index]

    def _between(self, word: Word, next_word: Word) -> bool:
        """Whether anything but white space stands between two words."""
        return (
            _WHITE.fullmatch(self._source[word.end - self._base : next_word.start - self._base])
            is None
        )

    def _first(self, *, over: bool) -> tuple[int, list[Word]] | None:
        """How many of the waiting words are settled, and the words that are said for them; None:
        more may follow."""
        word = self._held[0]
        source = spaced(self._characters(word))
        if "](/" in source and (own := self._own(word)):
            return 1, own
        return (1, [word]) if self._lexicon.is_empty else self._longest(source, over=over)

    def _longest(self, source: str, *, over: bool) -> tuple[int, list[Word]] | None:
        """The same for the longest phrase of the lexicon; ``source`` is written for the first
        word."""
        best: tuple[int, list[Word]] | None = None
        tokens: Tokens = ()
        for count, last in enumerate(self._held, start=1):
            here = tuple(spaced(self._characters(last)).split())
            if not here:
                break
            tokens += here if tokens else without_opening(here)
            if words := self._entered(self._held[:count], here, tokens):
                best = count, words
            if not self._lexicon.begins(tokens):
                break
            if count == len(self._held):
                if not over and self._awaited(tokens):
                    return None
            elif last.ends or self._between(last, self._held[count]):
                break
        first = self._held[:1]
        return best or (1, self._parts(first, source) or first)

    def _awaited(self, tokens: Tokens) -> bool:
        """Whether a longer phrase may go on behind the last word that waits."""
        last = self._held[-1]
        return not last.ends and self._lexicon.may_follow(tokens, self._next_token(last))

    def _entered(self, words: list[Word], here: Tokens, tokens: Tokens) -> list[Word] | None:
        """What is said for these words if they are an entry, or end with a compound of one;
        ``tokens`` are written for them, ``here`` for the last of them."""
        if ending := self._ending(tokens) or (self._ending(here) if len(words) == 1 else None):
            return [self._genitive(words, *ending)]
        if len(words) > 1 and len(here) == 1:
            return self._parts(words, here[0], tokens[:-1])
        return None

    def _ending(self, tokens: Tokens) -> tuple[Said, str] | None:
        """The entry for these words, the marks after the last aside, and the ``'s`` or plural's s
        that follows it."""
        last = tokens[-1]
        if last.endswith("--"):
            last = last.rstrip("-")
        for size in range(len(last), 0, -1):
            if size < len(last) and last[size] not in _CLOSING:
                break
            if entry := self._lexicon.entry((*tokens[:-1], last[:size])):
                return entry, ""
        bare = last.rstrip(_CLOSING)
        if bare[-2:] in ("'s", "'S") and (entry := self._lexicon.entry((*tokens[:-1], bare[:-2]))):
            return entry, "'s"
        if entry := self._lexicon.plural((*tokens[:-1], bare)):
            return entry, "s"
        return None

    def _genitive(self, words: list[Word], entry: Said, after: str) -> Word:
        if after and entry.phonemes and self._lexicon.transcriber:
            entry = replace(entry, phonemes=self._lexicon.transcriber.genitive(entry.phonemes))
        return said_so(words, entry, after)

    def _own(self, word: Word) -> list[Word] | None:
        """The pronunciation that ``[word](/ipa/)`` gives, with what touches it; none for a link
        that looks so."""
        source = self._characters(word)
        link = _GIVEN.search(source)
        transcriber = self._lexicon.transcriber
        if link is None or transcriber is None or link[2].isascii():
            return None
        try:
            phonemes = transcriber.read(link[2], "ipa")
        except ConfigError as error:
            log.warning("%s: %s.", link[0], error)
            return None
        before = source[: link.start()]
        after = source[link.end() :]
        if after.replace("’", "'")[:2] == "'s" and not any(map(str.isalnum, after[2:])):
            phonemes = transcriber.genitive(phonemes)
            after = ""
        first, last = (
            self._lexicon.read(part) if any(map(str.isalnum, part)) else ""
            for part in (before, after)
        )
        if not (first or last):
            return [said_so([word], Said(phonemes=phonemes), "")]
        mark = _MARKS.search(word.text)[0]  # type: ignore[index]
        pieces = [(first, link.start()), (link[1], link.end()), (last, len(source))]
        texts, ends = zip(*(piece for piece in pieces if piece[0]), strict=True)
        words = parted(word, [*texts[:-1], texts[-1] + mark], [word.start + end for end in ends])
        place = bool(first)
        words[place] = replace(words[place], phonemes=phonemes)
        return words

    def _parts(self, words: list[Word], source: str, before: Tokens = ()) -> list[Word] | None:
        """The words of a compound ("Nguyen-led") of which one is in the lexicon; None where there
        is none.

        Where words stand ``before`` it ("New York-based"), the first one must be in the lexicon
        together with these."""
        written = _HYPHEN.split(source)
        endings = [
            self._ending((*before * (not i), part)) if part else None
            for i, part in enumerate(part.lstrip(_OPENING) for part in written)
        ]
        if len(written) == 1 or not (endings[0] if before else any(endings)):
            return None
        word = words[-1]
        ends = [word.start + match.end() for match in _HYPHEN.finditer(self._characters(word))]
        mark = _MARKS.search(word.text)[0]  # type: ignore[index]
        spoken = self._spoken(word.text.removesuffix(mark), written)
        if not len(written) == len(spoken) == len(ends) + 1 or not all(spoken):
            return None
        pieces = parted(word, [*spoken[:-1], spoken[-1] + mark], [*ends, word.end])
        return [
            self._genitive([*(words[:-1] if not i else ()), piece], *entry) if entry else piece
            for i, (piece, entry) in enumerate(zip(pieces, endings, strict=True))
        ]

    def _spoken(self, text: str, written: Sequence[str]) -> list[str]:
        """The words of a compound's parts."""
        if any(character.isdecimal() for part in written for character in part):
            # Words of figures have hyphens of their own.
            return [self._lexicon.read(part) for part in written]
        return _SPOKEN_HYPHEN.split(text) if _SPOKEN_HYPHEN.search(text) else text.split(" ")


def without_opening(tokens: Tokens) -> Tokens:
    """Words without the marks that open them."""
    return (tokens[0].lstrip(_OPENING) or tokens[0], *tokens[1:])


def pronouncing(
    normalizer: Callable[[int], Normalizer], pronunciations: Pronunciations, start: int = 0
) -> Pronouncing:
    """A normalizer, from a place of the text on, with a lexicon."""
    return Pronouncing(normalizer(start), pronunciations, start)


def said_so(words: list[Word], entry: Said, after: str) -> Word:
    """One word for these, said as an entry has it, with the marks around them and ``'s`` after it
    or not."""
    first = words[0]
    last = words[-1]
    if entry.phonemes or not entry.text:
        text = " ".join(word.text for word in words)
        return replace(
            first,
            text=text,
            end=last.end,
            ends=last.ends,
            phonemes=entry.phonemes,
            continues=last.continues,
        )
    mark = _MARKS.search(last.text)
    trail = mark[0] if mark else ""
    if entry.dotted and trail.startswith(".") and not last.ends:
        trail = trail[1:]
    lead = "(" if first.text.startswith("(") else ""
    text = f"{lead}{entry.text}{after}{trail}"
    return replace(first, text=text, end=last.end, ends=last.ends, continues=last.continues)
