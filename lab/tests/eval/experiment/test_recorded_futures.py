"""Futures from a file as a predictor."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sayahead.errors import ConfigError

from sayahead_lab.eval.experiment.recorded_futures import recorded_futures


def test_futures_of_a_file_are_found_by_the_words_before_them(tmp_path: Path) -> None:
    path = tmp_path / "f.jsonl"
    words = [f"w{i}" for i in range(80)]
    lines = [
        {"name": "a", "words": ["See", "the", "cat."], "futures": [["a", "dog."], ["sun"], None]},
        {"name": "b", "words": words, "futures": [None] * 69 + [["late"]] + [None] * 10},
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    context = recorded_futures(path)
    assert context.predict(["See"]).words == ("a", "dog.")
    assert context.predict(["See", "the"]).words == ("sun",)
    # A session shows no more than 64 words.
    assert context.predict(words[6:70]).words == ("late",)
    # Nothing follows a whole text; an earlier word is not there.
    assert context.predict(["See", "the", "cat."]).words == ()
    with pytest.raises(ConfigError, match=r"no future of 'Hear'"):
        context.predict(["Hear"])


def test_a_file_that_is_none_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text("{}\n")
    with pytest.raises(ConfigError, match=r"x\.jsonl cannot be read as futures"):
        recorded_futures(tmp_path / "x.jsonl")
