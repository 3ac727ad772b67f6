"""Readers of corpora in other layouts than LJ Speech's: LibriTTS, VCTK, and anybody's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sayahead import load_voice
from sayahead.cli import main
from sayahead.errors import ConfigError
from sayahead.sound.files import write_wav

from sayahead_lab.training.corpus.readers import recordings_of
from sayahead_lab.training.corpus.store import Corpus

SUPPORT = Path(__file__).parents[1] / "lab_support" / "jsonl_reader.py"
LINES = f"{SUPPORT}:read_lines"
SILENCE = np.zeros(2400, np.float32)


def written(path: Path, text: str) -> None:
    """A file with all its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_libritts_is_read_by_speaker(tmp_path: Path) -> None:
    for speaker, chapter in (("19", "198"), ("26", "495")):
        folder = tmp_path / speaker / chapter
        name = f"{speaker}_{chapter}_000000_000000"
        written(folder / f"{name}.normalized.txt", f"Said by {speaker}.\n")
        write_wav(folder / f"{name}.wav", SILENCE, 24_000)
    found = recordings_of("libritts", tmp_path, "26")
    assert {name: (one.text, one.path.is_file()) for name, one in found.items()} == {
        "26_495_000000_000000": ("Said by 26.", True)
    }
    with pytest.raises(ConfigError, match=r"2 speakers \(19, 26"):
        recordings_of("libritts", tmp_path, "")
    with pytest.raises(ConfigError, match="no speaker '20'"):
        recordings_of("libritts", tmp_path, "20")


def test_vctk_is_read_in_both_of_its_layouts(tmp_path: Path) -> None:
    for name in ("p225_001", "p225_002", "p225_003"):
        written(tmp_path / "txt" / "p225" / f"{name}.txt", "Please call Stella.\n")
    written(tmp_path / "wav48_silence_trimmed" / "p225" / "p225_001_mic1.flac", "")
    written(tmp_path / "wav48" / "p225" / "p225_002.wav", "")
    # Some recordings have a text alone.
    found = recordings_of("vctk", tmp_path, "p225")
    assert {name: one.path.name for name, one in found.items()} == {
        "p225_001": "p225_001_mic1.flac",
        "p225_002": "p225_002.wav",
    }


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_an_audiofolder_has_its_texts_in_a_table(ending: str, tmp_path: Path) -> None:
    rows = [("a/one.wav", "Hello, you.", "7"), ("b/one.flac", "Good-bye.", "8")]
    names = ("file_name", "transcription", "speaker_id")
    lines = [json.dumps(dict(zip(names, row, strict=True))) for row in rows]
    if ending == "csv":
        lines = [",".join(names), *(f'{file},"{text}",{who}' for file, text, who in rows)]
    written(tmp_path / f"metadata.{ending}", "\n".join(lines) + "\n")
    (one,) = recordings_of("audiofolder", tmp_path, "7").values()
    assert (one.name, one.text, one.path) == ("a-one", "Hello, you.", tmp_path / "a" / "one.wav")


def test_a_saved_data_set_is_read_with_the_sound_in_its_tables(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    write_wav(tmp_path / "first.wav", SILENCE, 24_000)
    sound = (tmp_path / "first.wav").read_bytes()
    table = {"audio": [{"bytes": sound, "path": "first.wav"}], "sentence": ["Hello."]}
    rows = datasets.Dataset.from_dict(table, features=features_of(datasets))
    datasets.DatasetDict({"train": rows, "test": rows}).save_to_disk(str(tmp_path / "set"))
    found = recordings_of("datasets", tmp_path / "set", "")
    assert {name: one.text for name, one in found.items()} == {
        "train-000000": "Hello.",
        "test-000000": "Hello.",
    }
    assert found["train-000000"].path.read_bytes() == sound


def features_of(datasets: Any) -> Any:
    """The columns of a data set of sound, as its tables hold them."""
    text = datasets.Value("string")
    return datasets.Features(
        {"audio": {"bytes": datasets.Value("binary"), "path": text}, "sentence": text}
    )


def test_a_data_set_without_its_package_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ConfigError, match="pip install datasets"):
        recordings_of("datasets", tmp_path, "")


def test_somebody_s_own_layout_becomes_a_corpus(tmp_path: Path) -> None:
    voice = load_voice("heart")
    text = "The ship has left the harbour."
    samples = np.pad(voice.synthesize(text, policy="wait-all"), voice.sample_rate // 5)
    one = {"id": "first", "transcript": text, "audio": "deep.wav", "who": "me"}
    written(tmp_path / "in" / "manifest.jsonl", json.dumps(one))
    write_wav(tmp_path / "in" / "deep.wav", samples, voice.sample_rate)
    out = tmp_path / "corpus"
    assert (
        main(["train", "corpus", str(out), "--recordings", str(tmp_path / "in"), "--reader", LINES])
        == 0
    )
    (item,) = Corpus(out).split("train")
    assert item.name == "first"
    assert Corpus(out).info.source["reader"] == "jsonl_reader.py:read_lines"


def test_what_is_no_reader_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"'vctc' is not known \(did you mean 'vctk'"):
        recordings_of("vctc", tmp_path, "")
    with pytest.raises(ConfigError, match="finds no recordings"):
        recordings_of("vctk", tmp_path, "")
    assert (
        main(
            [
                "train",
                "corpus",
                str(tmp_path / "c"),
                "--recordings",
                str(tmp_path),
                "--speaker",
                "x",
            ]
        )
        == 2
    )
