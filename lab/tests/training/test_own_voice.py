"""A user's recordings become a voice by the commands of docs/how-to/own-voice.md."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import soundfile
from sayahead import load_voice
from sayahead.cli import main
from sayahead.sound.files import write_wav

from sayahead_lab.training.corpus.frontend import PRESETS
from sayahead_lab.training.corpus.store import Corpus
from sayahead_lab.training.corpus.teacher import TeacherSpec

ROOT = Path(__file__).parents[2]
TEXTS = ("They went home.", "The sea was calm.", "We saw a bird.", "It was cold.", "Birds sing.")


def test_recordings_become_a_voice_that_speaks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # A person is not at hand: the default voice speaks, at another rate, as FLAC and as WAV, in the folder or below.
    folder, made = tmp_path / "mine", TeacherSpec(PRESETS["ma"], "final").open()
    (folder / "wavs").mkdir(parents=True)
    lines = list[str]()
    for number in range(10):
        text = TEXTS[number % len(TEXTS)]
        items, _ = made.items(f"R-{number}", text)
        pause, spoken = np.zeros(2400, np.float32), np.asarray(items[0].audio, np.float32) / 32767
        sound = np.concatenate([pause, spoken, pause])
        if number % 2:
            write_wav(folder / f"R-{number}.wav", sound, 24000)
        else:
            soundfile.write(folder / "wavs" / f"R-{number}.flac", sound[::2], 12000)
        lines.append(f"R-{number}|{text}")
    (folder / "metadata.csv").write_text("\n".join(lines) + "\n")
    corpus, run, voice = (str(tmp_path / name) for name in ("corpus", "run", "voice"))
    assert main(["train", "corpus", corpus, "--recordings", str(folder), "--skip-missing"]) == 0
    splits = Corpus(corpus)
    assert [item.name for item in splits.split("val")] == ["R-9"]
    assert len(splits.split("train")) >= 7
    recipe = ROOT / "recipes" / "ma" / "own-voice.toml"
    assert main(["train", str(recipe), "--corpus", corpus, "--out", run, "--steps", "1"]) == 0
    assert "Beginning with the voice ma-lj" in capsys.readouterr().err
    recipe, vocoder = ROOT / "recipes" / "ma" / "melvocoder-sound.toml", str(tmp_path / "vocoder")
    assert main(["train", str(recipe), "--corpus", corpus, "--out", vocoder, "--steps", "1"]) == 0
    command = ["train", "voice", "--acoustic", run, "--vocoder", vocoder, "--name", "mine", "-o", voice]
    assert main(command) == 2
    assert "--license" in capsys.readouterr().err
    assert main([*command, "--license", "CC0-1.0"]) == 0
    loaded = load_voice(voice)
    assert loaded.config.license == "CC0-1.0"
    speech = loaded.synthesize("They saw a calm sea.")
    # A step hardly changes what ma-lj says.
    assert 0.5 * loaded.sample_rate < len(speech) < 4 * loaded.sample_rate
    assert np.abs(speech).max() > 0.05


def test_the_how_to_has_these_commands() -> None:
    text = (ROOT.parent / "docs" / "how-to" / "own-voice.md").read_text(encoding="utf-8")
    commands = re.findall(r"^    (sayahead train .*)$", text, re.MULTILINE)
    recipes = ["lab/recipes/ma/own-voice.toml", "lab/recipes/ma/melvocoder-sound.toml"]
    assert [command.split()[2] for command in commands[:4]] == ["corpus", *recipes, "voice"]
