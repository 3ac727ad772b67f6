"""Sentences cut at random words: a synthesizer's view of them word by word, beside the whole
sentence.

A *cut* shows phonemes up to a word that is being spoken, ``k`` more words, and a few future tokens
after them; its targets are the imported voice's output for the whole sentence. Rows are phonemes of
the whole, with the pads at both ends.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sayahead.errors import ConfigError
from sayahead.text.saying.english.phonemizer import EnglishPhonemizer
from sayahead.types import Word

from sayahead_lab.training.corpus.store import Item
from sayahead_lab.training.heart.network import SYMBOLS

Ids = NDArray[np.int64]
NOTHING = 0
TRUE = 1
MODEL = 2
"""Source of a cut's context embedding: nothing, the words that follow, a language model's
continuation."""


@dataclass(frozen=True, slots=True)
class Cutting:
    """How sentences are cut: the recipe's ``[data]`` of this kind."""

    cuts: int = 4
    """Cuts of each sentence in a batch."""
    lookahead: int = 4
    """Most real words after those spoken; each number from 0 on is drawn as often."""
    blind_share: float = 0.0
    """Share of cuts that have no lookahead whatever is drawn: they are the hardest."""
    whole_share: float = 0.1
    """Share of batches whose sentences are spoken whole, at once."""
    windows: tuple[int, ...] = (24, 48, 80)
    """Phonemes of the past that the text encoders see: one of these for a batch. The last is the
    voice's."""
    future_words: int = 5
    """Words of an expected future that the context network sees (Saeki-a: L)."""
    nothing_share: float = 0.35
    """Share of cuts whose context embedding is zero."""


@dataclass(frozen=True, slots=True)
class Cut:
    """The visible part of a sentence while some of its words are spoken; all numbers are rows of
    the whole."""

    begin: int
    """First row that is seen."""
    first: int
    """First row that is spoken now."""
    end: int
    """End of what is spoken now."""
    seen: int
    """End of what is seen; the number of rows where the sentence's end is."""
    source: int
    """NOTHING, TRUE or MODEL."""
    future: Ids
    """(L,) phonemes of the expected future, for the context network."""


def word_starts(item: Item, space: int) -> Ids:
    """(N + 1,) rows at which the words begin, the space before each with it, and the row of the
    last pad."""
    firsts = item.words[:, 0].astype(np.int64)
    before = np.where(firsts > 0, item.ids[np.maximum(firsts - 1, 0)] == space, False)
    starts = firsts - before + 1
    starts[0] = 1
    return np.append(starts, len(item.ids) + 1)


def whole(item: Item) -> Cut:
    """The cut that speaks all of an item at once."""
    rows = len(item.ids) + 2
    return Cut(0, 0, rows, rows, NOTHING, np.zeros(0, np.int64))


class PrefixCutter:
    """Draws cuts of items; stateless but for a language model's continuations."""

    def __init__(
        self, cutting: Cutting, *, space: int, futures: Mapping[str, Mapping[int, Ids]]
    ) -> None:
        """``futures``: item name to number of words so far to phonemes of the continuation."""
        self.cutting = cutting
        self.space = space
        self.futures = futures

    def draw(self, items: Sequence[Item], random: np.random.Generator) -> list[list[Cut]]:
        """Each item's cuts, for one batch."""
        config = self.cutting
        if random.random() < config.whole_share:
            return [[whole(item)] for item in items]
        window = int(random.choice(config.windows))
        return [[self._one(item, window, random) for _ in range(config.cuts)] for item in items]

    def _one(self, item: Item, window: int, random: np.random.Generator) -> Cut:
        config = self.cutting
        words = len(item.words)
        continued = self.futures.get(item.name, {})
        source = (
            NOTHING
            if random.random() < config.nothing_share
            else (MODEL if len(continued) else TRUE)
        )
        blind = config.blind_share > 0 and random.random() < config.blind_share
        ahead = 0 if blind else int(random.integers(config.lookahead + 1))
        if source == MODEL and random.random() < 0.5:
            # The words seen are those that the model continued: with them the cut is fixed but for
            # the lookahead.
            seen_words = int(random.choice(list(continued)))
            ahead = min(ahead, seen_words - 1)
            word = seen_words - ahead - 1
        else:
            source = TRUE if source == MODEL else source
            word = int(random.integers(words))
        return self.at(item, word, ahead, source=source, window=window)

    def at(
        self, item: Item, word: int, ahead: int, *, source: int = NOTHING, window: int = 80
    ) -> Cut:
        """The cut that speaks word number ``word`` with ``ahead`` words of lookahead and ``window``
        rows of past."""
        config = self.cutting
        starts = word_starts(item, self.space)
        words = len(starts) - 1
        rows = len(item.ids) + 2
        last = min(word + ahead + 1, words)
        ends = last == words
        first = int(starts[word])
        end = int(starts[word + 1])
        stop = rows if ends else int(starts[last])
        if word == words - 1:
            end = rows
        begin = max(0, first - window)
        future = np.zeros(0, np.int64)
        if not ends and source == TRUE:
            future = np.asarray(item.ids, np.int64)[
                stop - 1 : starts[min(last + config.future_words, words)] - 1
            ]
        if not ends and source == MODEL:
            future = self.futures[item.name][last]
        return Cut(
            begin, 0 if word == 0 else first, end, stop, source if len(future) else NOTHING, future
        )


def continuations(
    items: Sequence[tuple[str, str]],
    expected: Mapping[str, Sequence[Sequence[str] | None]],
    phonemizer: EnglishPhonemizer,
) -> dict[str, dict[int, Ids]]:
    """Phonemes of a language model's continuations: item to number of words so far to ids.

    ``items``: name and text of each; ``expected``: by name, the words after the first n + 1
    (``futures.Futures``). An item that is a part of its text (``name.2``) has none: the words
    before it would be missing."""
    futures: dict[str, dict[int, Ids]] = {}
    for name, text in items:
        words = text.split()
        words_behind = expected.get(name)
        if words_behind is None or len(words_behind) != len(words):
            continue
        ids = {}
        for n, future in enumerate(words_behind[:-1]):
            if future:
                ids[n + 1] = pronounce(words[max(0, n - 2) : n + 1], future, phonemizer)
        if ids:
            futures[name] = ids
    return futures


def pronounce(left: Sequence[str], future: Sequence[str], phonemizer: EnglishPhonemizer) -> Ids:
    """(L,) phonemes of expected words after those of the ``left``, as a session has them."""
    closed = future[-1][-1:] in ".!?"
    words = [
        Word(text, 0, 0, ends=closed and i == len(future) - 1) for i, text in enumerate(future)
    ]
    return np.concatenate([word.ids for word in phonemizer.phonemize(words, left=left)])


def seen_ids(item: Item, cut: Cut, *, pad: int, futures: int) -> Ids:
    """(P,) what the encoders get: rows ``begin`` to ``seen``, and the future tokens where the
    sentence goes on."""
    ids = np.concatenate([[pad], item.ids, [pad]]).astype(np.int64)
    rows = ids[cut.begin : cut.seen]
    return rows if cut.seen == len(ids) else np.concatenate([rows, SYMBOLS + np.arange(futures)])


def check_corpus(phonemes: Mapping[str, int], punctuation: str) -> None:
    """ConfigError where the corpus is not of the imported voice's phonemes, with all
    punctuation."""
    if punctuation != "all" or max(phonemes.values(), default=0) >= SYMBOLS:
        raise ConfigError(
            "Prefixes are learned from a corpus of the default voice's phonemes with all their"
            " punctuation: make it with sayahead train corpus --punctuation all."
        )
