"""Metrics of other people: by entry point or from a file, on the command line, in the report like
any other."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lab_support.listeners import plain, rate
from sayahead.cli import main
from sayahead.errors import ConfigError
from sayahead.sound.files import read_wav, write_wav

from sayahead_lab.eval.listening.metrics import METRICS, SpokenSentence, find_metric, measured
from sayahead_lab.eval.listening.quality import Listeners
from sayahead_lab.eval.listening.score import score
from sayahead_lab.eval.measures.world import (
    mel_cepstral_distortion,
    pitch_error,
    voicing_error,
    warped,
)
from sayahead_lab.eval.report.tables import read_csv

EXAMPLE = Path(__file__).parents[3] / "examples" / "custom_metric.py"
LOUDNESS = f"{EXAMPLE}:loudness_error"
MATRIX = """
count = 2
[[conditions]]
name = "full"
policy = "wait-all"
[[conditions]]
name = "k = 1"
[[clocks]]
name = "llm"
kind = "tokens"
"""
RATE = 24_000


@pytest.fixture(scope="module")
def spoken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("experiment")
    (folder / "matrix.toml").write_text(MATRIX, encoding="utf-8")
    (folder / "texts.csv").write_text("a|Hello there.\nb|How are you?\n", encoding="utf-8")
    texts = str(folder / "texts.csv")
    out = folder / "out"
    assert main(["eval", "run", str(folder / "matrix.toml"), "--texts", texts, "-o", str(out)]) == 0
    return out


@pytest.fixture
def experiment(spoken: Path, tmp_path: Path) -> Path:
    return shutil.copytree(spoken, tmp_path / "out")


def scored(experiment: Path, *arguments: str) -> dict[str, Any]:
    """The rows of the second condition, by sentence, as the command line scores them without any
    listener."""
    without = [
        part for column in ("wer", "cer", "distillmos", "dnsmos") for part in ("--without", column)
    ]
    assert main(["eval", "score", str(experiment), *without, *arguments]) == 0
    quality = json.loads((experiment / "k = 1" / "quality.json").read_text(encoding="utf-8"))
    return {row["name"]: row["metrics"] for row in quality["rows"]}


def test_a_metric_of_a_file_stands_in_the_report(experiment: Path, tmp_path: Path) -> None:
    rows = scored(experiment, "--metric", LOUDNESS, "--reference", "full")
    mean = np.mean([row["loudness_error"] for row in rows.values()])
    assert mean > 0
    assert (
        main(["eval", "report", str(experiment), "-o", str(tmp_path / "report"), "--no-page"]) == 0
    )
    full, near = read_csv(tmp_path / "report" / "tables.csv", "quality").values()
    assert float(full["loudness_error"]) == 0
    assert float(near["loudness_error"]) == pytest.approx(mean, rel=1e-4)
    assert float(near["loudness_error: difference"]) == pytest.approx(mean, rel=1e-4)


def test_recordings_are_references_at_whatever_rate(experiment: Path, tmp_path: Path) -> None:
    recordings = tmp_path / "recordings"
    recordings.mkdir()
    for name in ("a", "b"):
        samples, rate = read_wav(experiment / "full" / "wav" / f"{name}.wav")
        write_wav(recordings / f"{name}.wav", np.repeat(samples, 2), 2 * rate)
    own = scored(experiment, "--metric", LOUDNESS, "--reference", "full")
    again = scored(experiment, "--metric", LOUDNESS, "--reference", str(recordings))
    assert again["a"]["loudness_error"] == pytest.approx(own["a"]["loudness_error"], abs=0.5)
    (recordings / "b.wav").unlink()
    assert (
        main(
            ["eval", "score", str(experiment), "--metric", LOUDNESS, "--reference", str(recordings)]
        )
        == 2
    )


def test_what_was_measured_is_measured_anew_when_the_metric_or_the_reference_changed(
    experiment: Path, tmp_path: Path
) -> None:
    path = tmp_path / "mine.py"
    listeners = Listeners(transcriber=lambda _: "", normalizer=plain, distillmos=rate, dnsmos=rate)
    for value in (1, 1, 2):
        path.write_text(
            f"def mine(utterance):\n    return {value} + len(utterance.text)\n", encoding="utf-8"
        )
        find_metric.cache_clear()
        score(experiment, listeners, metrics=[f"{path}:mine"])
    lines = (experiment / "full" / "scores.jsonl").read_text(encoding="utf-8").splitlines()
    found = [json.loads(line)["found"] for line in lines]
    assert [one for one in found if f"metric: {path}:mine" in one] == [
        {f"metric: {path}:mine": float(value + len(text))}
        for value in (1, 2)
        for text in ("Hello there.", "How are you?")
    ]


def test_a_metric_that_is_none_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"'mdc' is not known \(did you mean 'mcd'"):
        find_metric("mdc")
    with pytest.raises(ConfigError, match="cannot be loaded"):
        find_metric(f"{tmp_path / 'none.py'}:mine")
    silent = SpokenSentence(np.zeros(RATE, np.float32), RATE, "Hello.")
    with pytest.raises(ConfigError, match="--reference"):
        measured(LOUDNESS, silent)
    path = tmp_path / "nan.py"
    path.write_text("def mine(utterance):\n    return float('nan')\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="gives nan"):
        measured(f"{path}:mine", silent)


def test_frames_are_paired_over_another_pace() -> None:
    one = np.arange(5.0)[:, None]
    path = warped(one, np.repeat(one, 2, axis=0))
    assert path.tolist() == [[row, 2 * row + half] for row in range(5) for half in (0, 1)]


def test_a_higher_pitch_and_another_vowel_are_told_apart() -> None:
    pytest.importorskip("pyworld", reason="needs WORLD: pip install pyworld")
    assert {"mcd", "f0_rmse", "vuv"} <= set(METRICS)
    low = vowel(110, 700)
    high = vowel(220, 700)
    other = vowel(110, 300)
    same, octave, vowels = (SpokenSentence(sound, RATE, "Ah.", low) for sound in (low, high, other))
    assert mel_cepstral_distortion(same) == pytest.approx(0, abs=1e-6)
    assert voicing_error(same) == pitch_error(same) == 0
    assert pitch_error(octave) == pytest.approx(1200, abs=40)
    assert mel_cepstral_distortion(vowels) > 3
    assert pitch_error(vowels) < 60


def vowel(pitch: float, formant: float) -> np.ndarray:
    """Half a second of pulses through one resonance, and silence around it."""
    at = np.arange(RATE // 2) / RATE
    harmonics = np.arange(1, 40) * pitch
    levels = 1 / (1 + ((harmonics - formant) / 200) ** 2)
    sound = (levels[:, None] * np.sin(2 * np.pi * harmonics[:, None] * at)).sum(axis=0)
    return np.pad(0.3 * sound / np.abs(sound).max(), RATE // 10).astype(np.float32)
