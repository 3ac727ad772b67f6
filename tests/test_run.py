"""Experiments: from one TOML to traces and sound, and on again after a stop."""

from __future__ import annotations

import wave
from pathlib import Path

import pytest

from sayahead import ConfigError
from sayahead.eval.matrix import load_matrix
from sayahead.eval.run import read_texts, run
from sayahead.eval.trace import read_traces

MATRIX = """
count = 2
[[conditions]]
name = "whole"
policy = "wait-all"
[[conditions]]
name = "k = 0, random"
k = 0
context = "random"
[[clocks]]
name = "llm"
kind = "tokens"
[[clocks]]
name = "typist"
kind = "typist"
words_per_min = 60
"""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "matrix.toml").write_text(MATRIX, encoding="utf-8")
    (tmp_path / "texts.csv").write_text(
        "a|Hello there.\nb|Not this one.\nc|How are you?\nd|Nor this.\n", encoding="utf-8"
    )
    return tmp_path


def test_a_run_and_its_continuation(files: Path) -> None:
    matrix, texts = load_matrix(files / "matrix.toml"), read_texts(files / "texts.csv", 2)
    assert [text.name for text in texts] == ["a", "c"]
    out, lines = files / "out", list[str]()
    run(matrix, texts, out, progress=lines.append)
    assert len(lines) == 4
    for condition in ("whole", "k = 0, random"):
        for clock in ("llm", "typist"):
            traces = list(read_traces(out / condition / f"{clock}.jsonl"))
            assert [made.name for made in traces] == ["a", "c"]
            assert {(made.condition, made.clock) for made in traces} == {(condition, clock)}
            for made in traces:
                with wave.open(str(out / condition / "wav" / f"{made.name}.wav")) as sound:
                    assert sound.getnframes() == sum(chunk.samples for chunk in made.chunks)
    # Stopped in the middle of a line: only what is missing is made again.
    path = out / "whole" / "measured.jsonl"
    path.write_text(path.read_text(encoding="utf-8")[:-40], encoding="utf-8")
    again = list[str]()
    run(matrix, texts, out, progress=again.append)
    assert len(again) == 1
    assert [made.name for made in read_traces(out / "whole" / "llm.jsonl")] == ["a", "c"]
    (files / "texts.csv").write_text("a|Other words.\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="holds a with another text"):
        run(matrix, read_texts(files / "texts.csv", 1), out)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('policy = "wait-all"', 'policy = "wait"', r"policy 'wait' is not known \(did you mean 'wait-all'"),
        ('kind = "tokens"', 'kind = "token"', r"kind 'token' is not known \(did you mean 'tokens'"),
        ('context = "random"', 'context = "rnd"', "context 'rnd' is not known"),
        ("k = 0\n", "k = -1\n", "k is -1"),
        ("k = 0\n", "kk = 0\n", r"conditions\[1\]: unknown key 'kk'"),
        ('name = "llm"', 'name = "typist"', "the name 'typist' stands twice"),
        ('name = "llm"', 'name = "a/b"', "cannot be the name of a folder"),
        ("count = 2", "count = 0", "count is 0"),
        ("count = 2", "count = ", "is not TOML"),
        ("words_per_min = 60", "words_per_min = 0", "words_per_min is 0"),
    ],
)
def test_a_bad_matrix_says_where(files: Path, old: str, new: str, message: str) -> None:
    (files / "matrix.toml").write_text(MATRIX.replace(old, new), encoding="utf-8")
    with pytest.raises(ConfigError, match=message):
        load_matrix(files / "matrix.toml")


def test_bad_texts_say_where(files: Path) -> None:
    (files / "texts.csv").write_text("a|One.\nno bar\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"line 2: expected name\|text, found 'no bar'"):
        read_texts(files / "texts.csv", 5)
    with pytest.raises(ConfigError, match="cannot be read"):
        read_texts(files / "missing.csv", 5)


def test_a_language_model_must_be_named(files: Path) -> None:
    (files / "matrix.toml").write_text(MATRIX.replace('"random"', '"lm"'), encoding="utf-8")
    matrix = load_matrix(files / "matrix.toml")
    with pytest.raises(ConfigError, match="wants a language model: give --lm"):
        run(matrix, read_texts(files / "texts.csv", 1), files / "out")
