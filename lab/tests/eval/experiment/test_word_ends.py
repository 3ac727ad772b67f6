"""Word ends of a speaker: from files, and from a voice in the speaker's place."""

from __future__ import annotations

from pathlib import Path

import pytest
from lab_support.textgrid import GRID
from sayahead import ConfigError
from sayahead.types import WordTiming

from sayahead_lab.eval.experiment.trace import Trace
from sayahead_lab.eval.experiment.word_ends import read_word_ends, spoken_word_ends


def test_words_of_a_speaker(tmp_path: Path) -> None:
    def ends(grid: str, text: str) -> tuple[float, ...]:
        path = tmp_path / "a.TextGrid"
        path.write_text(grid, encoding="utf-8")
        return read_word_ends(path, text)

    def word(start: int, end: int, onset: int, offset: int) -> WordTiming:
        return WordTiming("", start, end, onset, offset)

    text = "It — costs $5 million."
    words = (word(0, 2, 5, 10), word(3, 4, 20, 20), word(5, 10, 20, 40), word(11, 22, 50, 90))
    assert spoken_word_ends(Trace(0, text, 100, (), (), words)) == (0.1, 0.1, 0.4, 0.9, 0.9)
    grid = GRID.replace('"how"', '"well"').replace('"are"', '"known"')
    assert ends(grid, "Well-known — you!") == (0.75, 0.75, 1.25)
    # Numbers are written as they are said: then the words must be as many.
    assert ends(grid, "5 known you") == (0.5, 0.75, 1.25)
    with pytest.raises(ConfigError, match="its words are 'well known you'"):
        ends(grid, "Other words are these.")
    with pytest.raises(ConfigError, match="no tiers named 'words'"):
        ends(grid.replace('"words"', '"other"'), "well known you")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[0.1]", "has 1 word ends, but its text has 2 words"),
        ("[0.2, 0.1]", "never go back"),
        ("[-1, 0.1]", "seconds from 0 on"),
        ("[0.1, NaN]", "seconds from 0 on"),
        ("{", "cannot be read as word ends"),
        ("3", "cannot be read as word ends"),
    ],
)
def test_bad_word_ends_name_their_file(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "a.json").write_text(content, encoding="utf-8")
    with pytest.raises(ConfigError, match=rf"a\.json.*{message}"):
        read_word_ends(tmp_path / "a.json", "Hello there.")
