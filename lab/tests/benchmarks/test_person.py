"""A person's word ends from recordings: files that the clock reads, prompts that are sentences."""

from __future__ import annotations

import gzip
import importlib
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sayahead.sound.files import write_wav

from sayahead_lab.eval.experiment.conditions import load_matrix, text_clock
from sayahead_lab.eval.experiment.word_ends import read_word_ends
from sayahead_lab.training.corpus.frontend import PRESETS
from sayahead_lab.training.corpus.teacher import TeacherSpec

MA = Path(__file__).parents[2] / "benchmarks" / "ma"
TEXT = "The old man said nothing."


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module ``word_ends``."""
    monkeypatch.syspath_prepend(str(MA))
    monkeypatch.delitem(sys.modules, "word_ends", raising=False)
    return importlib.import_module("word_ends")


def test_word_ends_are_those_of_the_sound(
    script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (item,), _ = TeacherSpec(PRESETS["ma"], "final").open().items("R-1", TEXT)
    for name in ("R-1", "R-2"):
        (tmp_path / "wavs").mkdir(exist_ok=True)
        write_wav(
            tmp_path / "wavs" / f"{name}.wav",
            np.asarray(item.audio, np.float32) / np.float32(32767),
            24000,
        )
    texts = tmp_path / "texts.csv"
    texts.write_text(f"R-1|{TEXT}\nR-2|Quite other words were spoken here by us.\nR-3|{TEXT}\n")
    monkeypatch.setattr(
        sys, "argv", ["word_ends", str(tmp_path), str(texts), "-o", str(tmp_path / "out")]
    )
    script.main()
    assert "R-2 does not sound like its text" in capsys.readouterr().out
    assert (tmp_path / "out" / "texts.csv").read_text() == f"R-1|{TEXT}\n"
    found = read_word_ends(tmp_path / "out" / "R-1.json", TEXT)
    meant = [0.0125 * item.durations[: end + 1].sum() for _, end in item.words]
    assert np.abs(np.subtract(found, meant))[:-1].max() < 0.1


def test_prompts_are_whole_sentences(script: Any, tmp_path: Path) -> None:
    path = tmp_path / "core-sounds-en.txt.gz"
    lines = ["; Core", "", "beep: [a tone that is rather a long one: six]", "added: Added."]
    lines += ["please: Please enter your number, then press the pound key."]
    lines += ["two: Please enter your number. Then press the pound key."]
    path.write_bytes(gzip.compress("\n".join(lines).encode()))
    assert list(script.prompts(path)) == [
        ("please", "Please enter your number, then press the pound key.")
    ]


def test_the_persons_experiment_is_that_of_the_voice(tmp_path: Path) -> None:
    text = (MA / "person.toml").read_text(encoding="utf-8")
    (tmp_path / "a" / "b" / "c").mkdir(parents=True)
    (tmp_path / "word_ends").mkdir()
    (tmp_path / "a" / "b" / "c" / "person.toml").write_text(text)
    person = load_matrix(tmp_path / "a" / "b" / "c" / "person.toml")
    voice = load_matrix(MA / "shadowing.toml")
    rows = [
        [(one.name, one.policy, one.k2, one.delta) for one in matrix.conditions]
        for matrix in (person, voice)
    ]
    assert rows[0] == rows[1]
    assert text_clock(person.clocks[0], (0.5, 0.9)).arrivals("Well, yes.")[1].at_s == 0.9
