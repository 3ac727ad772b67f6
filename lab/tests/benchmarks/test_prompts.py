"""A person's prompts as a corpus: what is tested was not taught, and recordings stand beside what
voices say."""

from __future__ import annotations

import gzip
import importlib
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sayahead.sound.files import write_wav

MA = Path(__file__).parents[2] / "benchmarks" / "ma"
RATE = 16000


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module ``prompts``."""
    monkeypatch.syspath_prepend(str(MA))
    for name in ("prompts", "word_ends", "truth"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return importlib.import_module("prompts")


def test_what_is_like_a_test_prompt_is_not_taught(
    script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    listed = {
        "hold": "Please hold the line until somebody is there for you.",
        "hold-2": "Please hold the line until somebody is there.",
        "two": "All lines are busy. Please call again tomorrow, when the weather is much better.",
        "noise": "[a tone that is eight words long or more]",
        "short": "No entry.",
        "gone": "Nobody ever found the recording of these eight words.",
        "val": "Your call is important.",
        "train": "Enter a number.",
    }
    monkeypatch.setattr(script, "VAL", 1)
    monkeypatch.setattr(script, "decoded", lambda path: np.full(RATE, 0.25, np.float32))
    texts = tmp_path / "texts.gz"
    texts.write_bytes(
        gzip.compress("".join(f"{name}: {text}\n" for name, text in listed.items()).encode())
    )
    monkeypatch.setattr(script, "TEST", 1)
    for name in listed.keys() - {"gone"}:
        (tmp_path / f"{name}.g722").touch()
    script.main([str(tmp_path), str(texts), "-o", str(tmp_path / "out")])
    names = {
        split: [
            line.split("|")[0]
            for line in (tmp_path / "out" / f"{split}.csv").read_text().splitlines()
        ]
        for split in ("train", "val", "test")
    }
    assert names == {"test": ["hold"], "val": ["two"], "train": ["val", "train"]}
    assert {one.stem for one in (tmp_path / "out" / "wavs").glob("*.wav")} == {
        "hold",
        "two",
        "val",
        "train",
    }
    assert "test: 1 prompts" in capsys.readouterr().out


def test_a_recording_is_found_by_its_text(script: Any, tmp_path: Path) -> None:
    truth = importlib.import_module("truth")
    sound = (np.sin(np.arange(RATE) / 20) / 2).astype(np.float32)
    (tmp_path / "wavs").mkdir()
    write_wav(tmp_path / "wavs" / "hold.wav", sound, RATE)
    (tmp_path / "test.csv").write_text("hold|Please hold the line.\n")
    about, speak = truth.load_recordings(str(tmp_path), 24000)
    (heard,) = speak(iter(["Please hold the line. "]), True, 0)
    assert about == {"rate": 24000}
    assert len(heard) == 24000
    assert 0.45 < np.abs(heard).max() < 0.55
