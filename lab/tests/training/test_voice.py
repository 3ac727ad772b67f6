"""``sayahead train voice``: two runs become a voice that says what it is made of, and speaks."""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lab_support import tiny
from sayahead import ConfigError, VoiceError, installed_voices, load_voice
from sayahead.cli import main

from sayahead_lab.training.corpus.frontend import MelFrontEnd
from sayahead_lab.training.corpus.making import make_corpus
from sayahead_lab.training.corpus.store import About, Item
from sayahead_lab.training.corpus.teacher import voice_config
from sayahead_lab.training.loop import run as loop
from sayahead_lab.training.loop.recipe import recipe_from
from sayahead_lab.training.loop.run import train
from sayahead_lab.training.loop.saved_run import load_trained
from sayahead_lab.training.ma.network import DeepVoice3Config
from sayahead_lab.training.ma.task import DeepVoice3Task
from sayahead_lab.training.mel.task import MelVocoderTask
from sayahead_lab.training.voice import exchange_vocoder, extend_voice, make_voice

HEART = installed_voices()["heart"]


@dataclass(frozen=True, slots=True)
class Hiss:
    """A corpus of noise, with all that the tasks read."""

    def about(self) -> About:
        source = {"kind": "teacher", "voice": "noise"}
        return About(MelFrontEnd(), dict(voice_config().phonemes), 0, source, "final", seed=0)

    def open(self) -> Hiss:
        return self

    def items(self, name: str, text: str) -> tuple[list[Item], list[str]]:
        draw = np.random.default_rng(len(text))
        durations = np.full(6, 12, np.int16)
        ids = np.array([50, 83, 54, 4], np.int16)
        mel, features = (draw.normal(size=(72, width)).astype(np.float16) for width in (80, 256))
        f0 = np.full(72, 200, np.float16)
        audio = np.zeros(72 * 300, np.int16)
        return [
            Item(name, text, ids, np.array([[0, 3]], np.int16), durations, f0, mel, audio, features)
        ], []


MODELS: dict[str, dict[str, Any]] = {
    "ma": tiny.SIZES,
    "mel": {"front_blocks": 1, "blocks": 1, "right": [1, 0, 1]},
}


def test_two_runs_become_a_voice_that_speaks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(loop, "draw_losses", lambda log, path: None)
    for maker in (DeepVoice3Task, MelVocoderTask):
        monkeypatch.setattr(maker, "samples", lambda self, model, folder: None)
    texts = [(f"noise-{number}", "a" * number) for number in range(1, 4)]
    make_corpus(tmp_path / "corpus", Hiss(), {"train": texts, "val": texts})
    for task, model in MODELS.items():
        data = {"start": "random"} if task == "mel" else {}
        table = {"task": task, "model": model, "data": data, "train": {"batch_size": 2, "steps": 1}}
        train(
            recipe_from(table, name=task, where="a test"),
            tmp_path / "corpus",
            tmp_path / task,
            device="cpu",
        )

    def key_rate() -> Any:
        model: Any = load_trained(tmp_path / "ma").model
        return model.config.key_rate

    rate = key_rate()
    assert rate == pytest.approx(72 / DeepVoice3Config().reduction / 6)
    # All that is needed lies in the runs' folders: no item of the corpus.
    shutil.rmtree(tmp_path / "corpus")
    assert key_rate() == rate
    out = tmp_path / "voice"
    runs = ["--acoustic", str(tmp_path / "ma"), "--vocoder", str(tmp_path / "mel")]
    assert main(["train", "voice", *runs, "--name", "noise", "-o", str(out)]) == 0
    assert "noise, " in capsys.readouterr().err
    voice = load_voice(out)
    assert "(ma, 1 steps)" in voice.config.source
    assert len(voice.synthesize("Two words.")) > 0.4 * 24000
    assert (
        main(
            [
                "train",
                "voice",
                *runs[:3],
                str(tmp_path / "nowhere"),
                "--name",
                "noise",
                "-o",
                str(out),
            ]
        )
        == 2
    )
    assert "nowhere" in capsys.readouterr().err


SETTINGS = str(Path(__file__).parents[2] / "recipes" / "heart" / "voice.toml")


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["--acoustic", "runs/a", "--vocoder", "ma-lj"], "--name"),
        (["--acoustic", "runs/a", "--name", "a"], "runs/a has no checkpoint"),
        (["--acoustic", "ma-lj", "--name", "a"], "--vocoder"),
        (["--heart", SETTINGS, "--name", "a"], "--name does not apply to --heart"),
        (["--heart", "nowhere.toml"], "nowhere.toml cannot be read"),
        (["--vocoder", "ma-lj", "--policy", "policy.npz"], "policy.npz"),
        ([], "Nothing to make"),
        (["--agent", "runs/a"], "runs/a has no checkpoint"),
        (["--policy", str(installed_voices()["heart"] / "policy.npz")], "voice.json"),
    ],
)
def test_options_that_make_no_voice_are_refused(
    options: list[str], error: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["train", "voice", *options, "-o", str(tmp_path / "voice")]) == 2
    assert error in capsys.readouterr().err


def test_a_policy_joins_a_voice_that_is_there(tmp_path: Path) -> None:
    make_voice(*trained_pair(), tmp_path, name="tiny")
    before = json.loads((tmp_path / "voice.json").read_text())
    policy = installed_voices()["heart"] / "policy.npz"
    assert main(["train", "voice", "--policy", str(policy), "-o", str(tmp_path)]) == 0
    after = json.loads((tmp_path / "voice.json").read_text())
    assert after.pop("learned") == {"weights": "policy.npz"}
    digest = hashlib.sha256(policy.read_bytes()).hexdigest()
    assert after == {**before, "files": {**before["files"], "policy.npz": digest}}
    load_voice(tmp_path)


def test_a_student_comes_from_another_voice(tmp_path: Path) -> None:
    make_voice(*trained_pair(), tmp_path, name="tiny")
    with pytest.raises(ConfigError, match="has no student"):
        extend_voice(tmp_path, student="ma-lj")
    assert main(["train", "voice", "--student", "heart", "-o", str(tmp_path)]) == 0
    config, theirs = (
        json.loads((folder / "voice.json").read_text()) for folder in (tmp_path, HEART)
    )
    assert config["distilled"] == theirs["distilled"]
    for name in ("distilled.onnx", "words.npz"):
        assert config["files"][name] == theirs["files"][name]
        assert (tmp_path / name).read_bytes() == (HEART / name).read_bytes()


def test_an_installed_voice_is_heard_with_another_vocoder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    vocoder = tiny.trained("mel", tiny.vocoder("mel"))
    for lender in ("ma-lj", "saeki-lj"):
        folder = tmp_path / lender
        exchange_vocoder(lender, vocoder, folder, name=f"{lender}-tiny")
        config = load_voice(folder).config
        theirs = load_voice(lender).config
        assert config.model["acoustic"] == theirs.model["acoustic"]
        assert (config.defaults, config.distilled) == (theirs.defaults, theirs.distilled)
        assert {name for name in config.files if config.files[name] != theirs.files.get(name)} == {
            "vocoder.onnx"
        }
        assert "the mel vocoder" in config.source
        assert len(load_voice(folder).synthesize("Heard anew.")) > 12_000
    exchange_vocoder("ma-lj", vocoder, tmp_path / "other", name="tiny", license="CC-BY-4.0")
    assert not (tmp_path / "other" / "LICENSE").exists()
    assert "see LICENSE" not in (tmp_path / "other" / "NOTICE").read_text()
    with pytest.raises(ConfigError, match="does not make mel frames"):
        exchange_vocoder("heart", vocoder, tmp_path / "heart", name="tiny")
    other = tiny.trained("mel", tiny.vocoder("mel"), front_end=MelFrontEnd(hop=256))
    with pytest.raises(ConfigError, match="are not those of the run"):
        exchange_vocoder("ma-lj", other, tmp_path / "third", name="tiny")
    monkeypatch.setenv("SAYAHEAD_VOICES", str(tmp_path / "added"))
    packed = tmp_path / "tiny.tar.gz"
    assert main(["voices", "pack", str(tmp_path / "saeki-lj"), "-o", str(packed)]) == 0
    assert "Left out, as packaged voices have them: context.onnx" in capsys.readouterr().out
    assert main(["voices", "add", str(packed)]) == 0
    added = load_voice("saeki-lj-tiny").config
    assert added.files == load_voice(tmp_path / "saeki-lj").config.files


def trained_pair(**info: Any) -> tuple[Any, Any]:
    """Both runs, the acoustic one of a corpus that differs."""
    return tiny.trained("ma", tiny.deepvoice3(), **info), tiny.trained("mel", tiny.vocoder("mel"))


def test_a_vocoder_that_nobody_knows_is_named(tmp_path: Path) -> None:
    make_voice(*trained_pair(), tmp_path, name="tiny")
    path = tmp_path / "voice.json"
    table = json.loads(path.read_text())
    table["model"]["vocoder"]["kind"] = "melvocode"
    path.write_text(json.dumps(table))
    with pytest.raises(
        VoiceError, match=r"kind 'melvocode' is unknown \(known: clarinet, mel, waveglow, wavernn\)"
    ):
        load_voice(tmp_path)


def test_a_folder_says_what_it_is_made_of(tmp_path: Path) -> None:
    make_voice(*trained_pair(), tmp_path, name="tiny", description="A tiny one")
    table = json.loads((tmp_path / "voice.json").read_text())
    assert (table["name"], table["kind"], table["description"]) == ("tiny", "ma", "A tiny one")
    assert (table["license"], table["inner_punctuation"], table["speed"]) == (
        "Apache-2.0",
        False,
        [1.0, 1.0],
    )
    assert table["model"]["acoustic"]["past"] == 3
    assert sorted(table["files"]) == ["decoder.onnx", "encoder.onnx", "vocoder.onnx"]
    assert "Apache License" in (tmp_path / "LICENSE").read_text()
    assert "Kokoro-82M" in (tmp_path / "NOTICE").read_text()


def test_recordings_have_a_licence_of_their_own(tmp_path: Path) -> None:
    pair = trained_pair(source={"kind": "recordings"}, punctuation="all")
    with pytest.raises(ConfigError, match="--license"):
        make_voice(*pair, tmp_path, name="tiny")
    make_voice(*pair, tmp_path, name="tiny", license="CC-BY-4.0")
    table = json.loads((tmp_path / "voice.json").read_text())
    assert (table["license"], table["inner_punctuation"]) == ("CC-BY-4.0", True)
    assert not (tmp_path / "LICENSE").exists()


def test_phonemes_that_the_front_end_does_not_speak_are_refused(tmp_path: Path) -> None:
    arpabet = {" ": 1, "EY1": 2, "IH1": 3, "T": 4}
    with pytest.raises(ConfigError, match=r"the front end does not speak \('EY1', 'IH1'\)"):
        make_voice(*trained_pair(phonemes=arpabet), tmp_path / "a", name="tiny")
    few = {symbol: number for symbol, number in voice_config().phonemes.items() if symbol != "t"}
    with pytest.raises(ConfigError, match="no id for 't', which the front end speaks"):
        make_voice(*trained_pair(phonemes=few), tmp_path / "b", name="tiny")
    assert not (tmp_path / "a").exists()


def test_runs_that_make_no_voice_are_refused(tmp_path: Path) -> None:
    first, second = trained_pair(front_end=MelFrontEnd(hop=256))
    with pytest.raises(ConfigError, match="frames of the two runs differ"):
        make_voice(first, second, tmp_path, name="tiny")
    with pytest.raises(ConfigError, match="run of mel, which is not an acoustic model"):
        make_voice(second, second, tmp_path, name="tiny")
    with pytest.raises(ConfigError, match="run of ma, which is not a vocoder"):
        make_voice(first, first, tmp_path, name="tiny")
