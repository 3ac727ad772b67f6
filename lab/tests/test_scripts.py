"""Lists of texts: what is read from them, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from sayahead.errors import ConfigError

from sayahead_lab.scripts import read_texts, strided


def test_the_last_column_is_the_text_and_empty_lines_are_skipped(tmp_path: Path) -> None:
    file = tmp_path / "texts.csv"
    file.write_text("a|raw 1|one\n b | two \n\n", encoding="utf-8")
    assert read_texts(file) == [("a", "one"), ("b", "two")]
    assert read_texts(file)[0].name == "a"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a|One.\nno bar\n", r"line 2: expected name\|text, found 'no bar'"),
        (b"a|One.\n |Two.\n", r"line 2: expected name\|text"),
        (b"a/b|One.\n", r"line 1: expected name\|text"),
        (b"a\\b|One.\n", r"line 1: expected name\|text"),
        (b"a|x\na|y\n", "line 2: the name 'a' appears twice"),
        (b"\n\n", "has no texts"),
        (b"a|\xff\n", "cannot be read as UTF-8"),
    ],
)
def test_bad_files_say_where(tmp_path: Path, content: bytes, message: str) -> None:
    file = tmp_path / "texts.csv"
    file.write_bytes(content)
    with pytest.raises(ConfigError, match=message):
        read_texts(file)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"texts\.csv cannot be read: No such file"):
        read_texts(tmp_path / "texts.csv")


def test_samples_lie_at_equal_distances() -> None:
    assert strided("abcdefghij", 4) == ["a", "c", "e", "g"]
    assert strided("abc", 5) == ["a", "b", "c"]
