"""Word vectors from subwords (Bojanowski et al. 2017): how the distilled context predictor reads
words."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sayahead.engine.files import save_arrays
from sayahead.errors import VoiceError
from sayahead.types import Floats

PUNCTUATION = ",;:.!?—…"


@dataclass(frozen=True, slots=True)
class WordVectors:
    """A vector for any word: the mean of its own row, if it is known, and of the rows of its
    character n-grams."""

    words: dict[str, int]
    """Known words to their rows."""
    buckets: int
    """Rows of n-grams after those of the words; 0: unknown words have zero vectors."""
    shortest: int
    """Minimum characters of an n-gram, counting the marks at a word's start and end."""
    longest: int
    """Maximum characters."""
    table: NDArray[np.int8]
    """(R, K) rows of words, then of buckets, each in units of its scale."""
    scale: Floats
    """(R,) unit of each row."""

    @property
    def channels(self) -> int:
        """K: dimensions of a vector."""
        return int(self.table.shape[1])

    def rows(self, word: str) -> list[int]:
        """Return the rows whose mean is a word's vector; none if no part of it is known."""
        own = [self.words[word]] if word in self.words else []
        if not self.buckets:
            return own
        return own + [
            len(self.words) + fnv(gram) % self.buckets
            for gram in ngrams(word, self.shortest, self.longest)
        ]

    def __call__(self, tokens: list[str]) -> Floats:
        """Return the vectors (N, K) of tokens."""
        vectors = np.zeros((len(tokens), self.channels), np.float32)
        for index, token in enumerate(tokens):
            rows = self.rows(token)
            if rows:
                vectors[index] = (self.table[rows] * self.scale[rows, None]).mean(axis=0)
        return vectors

    @classmethod
    def of(
        cls, words: dict[str, int], vectors: Floats, *, buckets: int, shortest: int, longest: int
    ) -> WordVectors:
        """Quantize float vectors (R, K) to 8 bits per value."""
        scale = np.maximum(np.abs(vectors).max(axis=1), 1e-12).astype(np.float32) / 127
        table = np.rint(vectors / scale[:, None]).astype(np.int8)
        return cls(
            words, buckets, shortest, longest, table, scale.astype(np.float16).astype(np.float32)
        )

    def save(self, path: Path) -> None:
        """Write the table as an ``.npz`` file; the same table gives the same bytes."""
        words = "\n".join(sorted(self.words, key=self.words.__getitem__)).encode()
        arrays: dict[str, NDArray[Any]] = {
            "words": np.frombuffer(words, np.uint8),
            "table": self.table,
        }
        arrays["scale"] = self.scale.astype(np.float16)
        arrays["grams"] = np.array([self.buckets, self.shortest, self.longest])
        save_arrays(path, arrays)

    @classmethod
    def load(cls, path: Path) -> WordVectors:
        """Load the table from a file. VoiceError if it is not one."""
        try:
            with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
                listed = file["words"].tobytes().decode()
                buckets, shortest, longest = (int(value) for value in file["grams"])
                table = file["table"]
                scale = file["scale"].astype(np.float32)
        except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
            raise VoiceError(
                f"{path} is not a file of word vectors: {error}. Install the voice again."
            ) from error
        words = {word: row for row, word in enumerate(listed.split("\n"))} if listed else {}
        if table.ndim != 2 or len(table) != len(words) + buckets or len(scale) != len(table):
            raise VoiceError(
                f"{path} is damaged: it has {len(table)} rows for its words. Install the voice"
                " again."
            )
        return cls(words, buckets, shortest, longest, table, scale)


def tokens_of(words: list[str]) -> list[str]:
    """Return words as tokens of the vectors: in lower case, with a mark after a word as its own
    token."""
    tokens = []
    for word in words:
        stem = word.strip(" \"'()“”‘’" + PUNCTUATION).lower()
        if stem:
            tokens.append(stem)
        marks = [mark for mark in word if mark in PUNCTUATION]
        if marks and word.rstrip("\"')”’")[-1:] in PUNCTUATION:
            tokens.append(marks[-1])
    return tokens


def ngrams(word: str, shortest: int, longest: int) -> list[str]:
    """Return the character n-grams of a word between the marks ``<`` and ``>``, in fastText's
    order.

    As in fastText, a mark alone is not one.
    """
    marked = f"<{word}>"
    grams = []
    for first in range(len(marked)):
        sizes = range(shortest, min(longest, len(marked) - first) + 1)
        grams += [
            marked[first : first + size]
            for size in sizes
            if size > 1 or 0 < first < len(marked) - 1
        ]
    return grams


def fnv(text: str) -> int:
    """Return fastText's hash: 32-bit FNV-1a over the UTF-8 bytes, each taken as a signed number."""
    value = 2166136261
    for byte in text.encode():
        value = ((value ^ (byte if byte < 128 else byte | 0xFFFFFF00)) * 16777619) & 0xFFFFFFFF
    return value
