"""Text clocks: when each piece of a text arrives. A latency without its clock says nothing."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from sayahead.errors import ConfigError
from sayahead.extensions import Extensible


@dataclass(frozen=True, slots=True)
class Arrival:
    """A fragment of text and the time at which all of it has arrived."""

    text: str
    """Text to push."""
    at_s: float
    """Seconds from the start of the clock."""


class TextClock(Protocol):
    """How text arrives. The fragments join to the text; their times never decrease."""

    def arrivals(self, text: str) -> list[Arrival]:
        """The text's fragments in order."""
        ...


@dataclass(frozen=True, slots=True)
class AllAtOnce:
    """The whole text at time 0: figures on this clock say nothing about waiting for text."""

    def arrivals(self, text: str) -> list[Arrival]:
        return [Arrival(text, 0.0)] if text else []


@dataclass(frozen=True, slots=True)
class Tokens:
    """A language model's stream: words in tokens, the space at the front of the next word's first
    token."""

    per_s: float = 50.0
    """Tokens a second."""
    letters: int = 4
    """Most letters in a token; a word of common length is one or two tokens."""
    jitter: float = 0.1
    """Standard deviation of a token's time, as a share of the mean; drawn from a gamma
    distribution."""
    seed: int = 0
    """Seed of the jitter, together with the text's length."""

    def __post_init__(self) -> None:
        positive("Tokens: per_s", self.per_s)
        positive("Tokens: letters", self.letters)
        if self.jitter < 0:
            raise ConfigError(f"Tokens: jitter is {self.jitter!r}, but must be at least 0.")

    def arrivals(self, text: str) -> list[Arrival]:
        tokens: list[str] = []
        for word in words_with_space_before(text):
            # A token is the space with a word's first letters, then letters.
            first = self.letters + len(word) - len(word.lstrip())
            tokens.append(word[:first])
            tokens += [word[at : at + self.letters] for at in range(first, len(word), self.letters)]
        gaps = np.full(len(tokens), 1 / self.per_s)
        if self.jitter:
            draw = np.random.default_rng([self.seed, len(text)])
            shape = 1 / self.jitter**2
            gaps = draw.gamma(shape, 1 / (self.per_s * shape), len(tokens))
        return [
            Arrival(token, float(at)) for token, at in zip(tokens, np.cumsum(gaps), strict=True)
        ]


@dataclass(frozen=True, slots=True)
class RecordedTokens:
    """A language model's stream of a frozen text, in the tokens of a real tokenizer; with a pause,
    a tool call's."""

    per_s: float = 50.0
    """Tokens a second, at equal distances."""
    pause_s: float = 0.0
    """Pause in the middle of a clause: before the word nearest the text's middle that follows no
    mark."""

    def __post_init__(self) -> None:
        positive("RecordedTokens: per_s", self.per_s)
        if self.pause_s < 0:
            raise ConfigError(
                f"RecordedTokens: pause_s is {self.pause_s!r}, but must be at least 0."
            )

    def arrivals(self, text: str) -> list[Arrival]:
        # It needs the lists of texts, which need no clock.
        from sayahead_lab.eval.experiment.frozen import tokens

        pieces = tokens(text)
        inside = [
            at
            for at in range(1, len(pieces))
            if pieces[at][:1] == " " and pieces[at - 1][-1:].isalnum()
        ]
        late = min(inside, key=lambda at: abs(at - len(pieces) / 2), default=len(pieces))
        times = [(at + 1) / self.per_s + self.pause_s * (at >= late) for at in range(len(pieces))]
        return [Arrival(piece, at_s) for piece, at_s in zip(pieces, times, strict=True)]


@dataclass(frozen=True, slots=True)
class ReadingClock:
    """A person reading aloud, or an interpreter: word by word, each lasting for its share of the
    letters."""

    words_per_min: float = 180.0
    """Words a minute, on average over the text."""

    def __post_init__(self) -> None:
        positive("Reader: words_per_min", self.words_per_min)

    def arrivals(self, text: str) -> list[Arrival]:
        words = words_with_space_behind(text)
        total_s = 60 * len(words) / self.words_per_min
        letters = np.cumsum([len(word) for word in words])
        return [
            Arrival(word, total_s * float(at) / len(text))
            for word, at in zip(words, letters, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class Typist:
    """A person typing: key by key, with pauses between phrases and some words retyped.

    Typing errors never arrive: an input line holds a word until the space after it. A correction
    only costs time."""

    words_per_min: float = 40.0
    """Words a minute of five characters, without pauses and corrections."""
    pause_s: float = 1.0
    """Mean thinking pause, before one word in eight and after punctuation."""
    corrections: float = 0.05
    """Share of words that are retyped."""
    seed: int = 0
    """Seed of the draws, together with the text's length."""

    def __post_init__(self) -> None:
        positive("Typist: words_per_min", self.words_per_min)
        if self.pause_s < 0 or not 0 <= self.corrections <= 1:
            raise ConfigError("Typist: pause_s must be at least 0, corrections between 0 and 1.")

    def arrivals(self, text: str) -> list[Arrival]:
        draw = np.random.default_rng([self.seed, len(text)])
        key_s = 60 / (5 * self.words_per_min)
        at_s = 0.0
        out = list[Arrival]()
        before = ""
        for number, word in enumerate(words_with_space_behind(text)):
            if number and (before.rstrip()[-1:] in ".,;:!?" or draw.random() < 1 / 8):
                at_s += float(draw.exponential(self.pause_s))
            keys = draw.gamma(4.0, key_s / 4, len(word))
            # Typed, deleted letter by letter, typed again.
            at_s += float(keys.sum()) * (3 if draw.random() < self.corrections else 1)
            out.append(Arrival(word, at_s))
            before = word
        return out


@dataclass(frozen=True, slots=True)
class WordEnds:
    """A speaker's word ends, for shadowing (Ma 5.3.2): word i arrives when it has been spoken."""

    ends_s: tuple[float, ...]
    """End of each white-space separated word of the text, in seconds."""

    def arrivals(self, text: str) -> list[Arrival]:
        words = words_with_space_behind(text)
        if len(words) != len(self.ends_s):
            raise ConfigError(
                f"WordEnds has {len(self.ends_s)} times for a text of {len(words)} words."
            )
        if any(later < earlier for earlier, later in itertools.pairwise(self.ends_s)):
            raise ConfigError("WordEnds: the times must not go back.")
        return [Arrival(word, at_s) for word, at_s in zip(words, self.ends_s, strict=True)]


CLOCKS: Extensible[Callable[..., TextClock]] = Extensible(
    "sayahead_lab.clocks",
    {
        name: f"sayahead_lab.eval.experiment.clock:{kind}"
        for name, kind in {
            "all-at-once": "AllAtOnce",
            "tokens": "Tokens",
            "recorded": "RecordedTokens",
            "reader": "ReadingClock",
            "typist": "Typist",
            "word-ends": "WordEnds",
        }.items()
    },
)
"""The text clocks by the names that experiments use; a clock's options are its fields."""


def words_with_space_behind(text: str) -> list[str]:
    """The text cut before every word but the first; the pieces join to the text."""
    return cut(text, word_starts(text)[1:])


def words_with_space_before(text: str) -> list[str]:
    """The text cut after every word but the last; the pieces join to the text."""
    spaces = [
        0,
        *(i for i in range(1, len(text)) if text[i].isspace() and not text[i - 1].isspace()),
    ]
    return cut(text, [at for at in spaces[1:] if text[at:].strip()])


def word_starts(text: str) -> list[int]:
    """Indices at which white-space separated words begin."""
    return [
        i for i in range(len(text)) if not text[i].isspace() and (i == 0 or text[i - 1].isspace())
    ]


def cut(text: str, places: Sequence[int]) -> list[str]:
    """The text cut at the indices."""
    edges = [0, *places, len(text)]
    return [text[a:b] for a, b in itertools.pairwise(edges) if b > a]


def positive(name: str, value: float) -> None:
    """ConfigError unless the value is positive."""
    if not value > 0:
        raise ConfigError(f"{name} is {value!r}, but must be above 0.")
