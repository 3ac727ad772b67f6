"""Word vectors for students: fastText's two kinds of files, learning, principal axes, the
command."""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from sayahead.cli import main
from sayahead.contexts.word_vectors import WordVectors, fnv, ngrams
from sayahead.errors import ConfigError
from sayahead.types import Floats

from sayahead_lab.training.distilled.vectors import (
    MAGIC,
    VectorsConfig,
    learn,
    principal,
    read_vectors,
)

DRAW = np.random.default_rng(0)


def test_vectors_of_the_text_form(tmp_path: Path) -> None:
    path = tmp_path / "few.vec"
    path.write_text("3 2\nthe 1 2\nnaïve 3 -4.5\n, 0 1\n", encoding="utf-8")
    found = read_vectors(path, ["naïve", "unknown", ","])
    assert found.tolist() == [[3, -4.5], [0, 0], [0, 1]]
    path.write_text("hello\n")
    with pytest.raises(ConfigError, match=r"few.vec cannot be read as fastText's vectors"):
        read_vectors(path, ["the"])


def write_bin(
    path: Path, words: Sequence[str], matrix: Floats, *, buckets: int, magic: int = MAGIC
) -> None:
    """A model as fastText 0.9 writes it: header, arguments, dictionary, input matrix."""
    channels = matrix.shape[1]
    with path.open("wb") as file:
        file.write(struct.pack("<ii", magic, 12))
        file.write(struct.pack("<12id", channels, 5, 5, 5, 5, 1, 1, 2, buckets, 3, 4, 100, 1e-4))
        file.write(struct.pack("<3i2q", len(words), len(words), 0, 99, -1))
        for word in words:
            file.write(word.encode() + b"\0" + struct.pack("<qb", 7, 0))
        file.write(struct.pack("<?2q", False, *matrix.shape))
        file.write(matrix.astype("<f4").tobytes())


def test_vectors_of_the_binary_form_know_words_by_their_grams(tmp_path: Path) -> None:
    path = tmp_path / "few.bin"
    matrix = DRAW.normal(size=(2 + 10, 5)).astype(np.float32)
    write_bin(path, ["</s>", "cat"], matrix, buckets=10)
    found = read_vectors(path, ["cat", "catch"])
    for row, word in enumerate(["cat", "catch"]):
        rows = [2 + fnv(gram) % 10 for gram in ngrams(word, 3, 4)]
        rows = [1, *rows] if word == "cat" else rows
        assert np.allclose(found[row], matrix[rows].mean(axis=0), atol=1e-6)
    write_bin(path, ["cat"], matrix, buckets=10, magic=1)
    with pytest.raises(ConfigError, match="no fastText model"):
        read_vectors(path, ["cat"])


def test_words_in_like_places_come_to_lie_together() -> None:
    texts = [[a, "eats", b] for a in ("tom", "kim") for b in ("rice", "soup")] * 40
    texts += [["red", "and", "blue"], ["blue", "and", "red"]] * 40
    words = ["tom", "kim", "eats", "rice", "soup", "red", "and", "blue"]
    how = VectorsConfig(channels=12, buckets=64, passes=8, batch=64, often=1.0, rate=2e-2)
    made = learn(texts, words, how, seed=0, note=lambda line: None)
    assert made.shape == (8 + 64, 12)
    again = learn(texts, words, how, seed=0, note=lambda line: None)
    assert np.array_equal(made, again)
    table = WordVectors.of(
        {w: i for i, w in enumerate(words)}, made, buckets=64, shortest=3, longest=6
    )
    own = table(words)
    own = own / np.linalg.norm(own, axis=1, keepdims=True)
    likeness = own @ own.T
    rice, soup, blue = (words.index(word) for word in ("rice", "soup", "blue"))
    assert likeness[rice, soup] > likeness[rice, blue] + 0.2


def test_principal_axes_give_back_what_lies_on_few() -> None:
    vectors = (DRAW.normal(size=(20, 3)) @ DRAW.normal(size=(3, 9))).astype(np.float32)
    short, axes = principal(vectors, 3)
    assert short.shape == (20, 3)
    assert np.allclose(short @ axes, vectors, atol=1e-4)
    few, two = principal(vectors, 2)
    assert np.abs(few @ two - vectors).max() > 0.01


def test_the_command_lays_down_published_vectors(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = tmp_path / "texts.csv"
    path = tmp_path / "few.vec"
    texts.write_text("a|The cat sat.\nb|The cat ran.\n")
    path.write_text("3 4\nthe 1 0 0 2\ncat 0 1 0 0\n. 0 0 3 1\n")
    command = [
        "train",
        "vectors",
        str(tmp_path / "out"),
        "--texts",
        str(texts),
        "--from",
        str(path),
        "--axes",
        "3",
    ]
    assert main(command) == 0
    told = capsys.readouterr().err
    assert "100.0% of their square kept" in told
    # Words that the file does not have are counted, not passed over.
    assert re.search(r"few.vec has no vector of \d+ of \d+ words", told)
    table = WordVectors.load(tmp_path / "out" / "words.npz")
    axes = np.load(tmp_path / "out" / "axes.npy")
    assert list(table.words)[:3] == ["the", "cat", "."]
    assert np.allclose(
        table(["the", "cat", "sat"]) @ axes, [[1, 0, 0, 2], [0, 1, 0, 0], [0, 0, 0, 0]], atol=0.03
    )
