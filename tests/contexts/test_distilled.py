"""Word vectors of subwords, and the predictor of context that reads them."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from support.toy_voices import TOYS

from sayahead import VoiceError
from sayahead.contexts.distilled import Distilled, DistilledConfig, open_sentence
from sayahead.contexts.word_vectors import WordVectors, fnv, ngrams, tokens_of
from sayahead.engine.context import NOTHING


def vectors(buckets: int = 8) -> WordVectors:
    draw = np.random.default_rng(0).normal(size=(2 + buckets, 4)).astype(np.float32)
    return WordVectors.of({"the": 0, ",": 1}, draw, buckets=buckets, shortest=3, longest=6)


def test_grams_and_their_hash_are_those_of_fasttext() -> None:
    # The paper's example (Bojanowski et al. 2017, 3.2), and published values of 32-bit FNV-1a.
    assert ngrams("where", 3, 3) == ["<wh", "whe", "her", "ere", "re>"]
    assert (fnv(""), fnv("a"), fnv("foobar")) == (0x811C9DC5, 0xE40C292C, 0xBF9CF968)
    assert ngrams("ab", 1, 2) == ["<a", "a", "ab", "b", "b>"]


def test_a_word_is_the_mean_of_its_rows_and_any_word_has_some() -> None:
    made = vectors()
    rows = made.rows("the")
    assert rows[0] == 0
    assert len(rows) == 1 + len(ngrams("the", 3, 6))
    expected = (made.table[rows] * made.scale[rows, None]).mean(axis=0)
    assert np.allclose(made(["the", "unheard"])[0], expected)
    assert np.abs(made(["unheard"])).max() > 0
    assert not vectors(0)(["unheard"]).any()


def test_tokens_are_bare_words_and_the_marks_behind_them() -> None:
    assert tokens_of(["“Well,”", "said", "(the)", "dog's", "end..."]) == [
        "well",
        ",",
        "said",
        "the",
        "dog's",
        "end",
        ".",
    ]
    assert tokens_of(["—"]) == ["—"]


def test_a_table_comes_back_and_a_damaged_one_is_named(tmp_path: Path) -> None:
    path = tmp_path / "words.npz"
    vectors().save(path)
    found = WordVectors.load(path)
    assert found.words == {"the": 0, ",": 1}
    assert np.array_equal(found(["the", "x"]), vectors()(["the", "x"]))
    first = path.read_bytes()
    vectors().save(path)
    assert path.read_bytes() == first
    path.write_bytes(first[:50])
    with pytest.raises(VoiceError, match=r"words.npz is not a file of word vectors"):
        WordVectors.load(path)


def test_the_open_sentence_begins_behind_the_last_closed_one() -> None:
    assert open_sentence(["A", "cat.", "The", "dog,"]) == ["The", "dog,"]
    assert open_sentence(["A", "cat.”"]) == []


def test_the_predictor_reads_the_open_sentence_alone(tmp_path: Path) -> None:
    shutil.copy(TOYS / "contexts" / "distilled.onnx", tmp_path)
    vectors().save(tmp_path / "words.npz")
    made = Distilled.load(tmp_path, DistilledConfig("distilled.onnx", "words.npz", most=3))
    expected = vectors()(["the", "dog", ","]).sum(axis=0)
    found = made.predict(["Over.", "See", "the", "dog,"])
    assert found.embedding is not None
    assert np.allclose(found.embedding, expected, atol=1e-6)
    assert found.words == ()
    assert made.predict(["Over."]) == NOTHING
