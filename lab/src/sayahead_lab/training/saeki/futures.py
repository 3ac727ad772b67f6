"""Segments with the futures that a language model expected of them (``sayahead train futures``), as
phonemes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sayahead.contexts.language_model import CLOSING
from sayahead.errors import ConfigError
from sayahead.text import Phonemizer
from sayahead.text.saying.english.phonemizer import EnglishPhonemizer
from sayahead.types import Word

from sayahead_lab.training.corpus.segments import Numbers, Piece, SegmentCutter
from sayahead_lab.training.corpus.store import Corpus, Item
from sayahead_lab.training.distilled.futures import TextFutures, read_futures


@dataclass(frozen=True, slots=True)
class Prefix:
    """The first words of an item, and what a language model expects after them."""

    item: int
    """Number of the item in its split."""
    words: tuple[str, ...]
    """The first ones."""
    future: tuple[str, ...]
    """The expected ones."""


def read_prefixes(path: Path, items: Sequence[Item]) -> list[Prefix]:
    """The prefixes of a split's items that a file has futures of; ConfigError where it has none.

    A text of several sentences, of which each is an item, and one whose words are not those of the
    corpus, are passed over.
    """
    prefixes = list[Prefix]()
    listed = {line.name: line for line in read_futures(path)}
    for number, item in enumerate(items):
        line = listed.get(item.name)
        if line is not None and len(line.words) == len(item.words):
            prefixes += prefixes_of(line, number)
    if not prefixes:
        raise ConfigError(
            f"{path} has futures of no item of this corpus: were they made from the same"
            " transcripts?"
        )
    return prefixes


def prefixes_of(line: TextFutures, number: int) -> list[Prefix]:
    """The prefixes of one text, but for the whole."""
    numbered = enumerate(line.futures[:-1], 1)
    return [Prefix(number, line.words[:n], future) for n, future in numbered if future is not None]


class Expected:
    """Phonemes of expected words, as a session reads them."""

    def __init__(self, phonemizer: Phonemizer, pad: int) -> None:
        self.phonemizer = phonemizer
        self._pad = np.array([pad], np.int64)

    @classmethod
    def of(cls, corpus: Corpus) -> Expected:
        """In a corpus's phonemes."""
        all_marks = corpus.info.punctuation == "all"
        reader = EnglishPhonemizer(
            corpus.info.phonemes, stand_in="people", inner_punctuation=all_marks
        )
        return cls(reader, corpus.info.pad)

    def ids(self, prefix: Prefix) -> Numbers:
        """(R,) ids of a prefix's future, with the pad where the sentence is expected to end."""
        if not prefix.future:
            return np.zeros(0, np.int64)
        ends = prefix.future[-1].endswith(CLOSING)
        last = len(prefix.future) - 1
        words = [Word(text, 0, 0, ends and at == last) for at, text in enumerate(prefix.future)]
        ids = [word.ids for word in self.phonemizer.phonemize(words, left=prefix.words)]
        return np.concatenate([*ids, self._pad if ends else self._pad[:0]])


def last_segment(
    cutter: SegmentCutter, items: Sequence[Item], prefix: Prefix, *, words: int = 2
) -> Piece:
    """The segment that is spoken when a prefix is there: its last ``words``."""
    end = len(prefix.words)
    return cutter.cut(items[prefix.item], max(0, end - words), end)
