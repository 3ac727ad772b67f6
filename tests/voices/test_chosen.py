"""Voices that are chosen by language and gender, and speakers of a voice who are voices by name."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from support.command import Command
from support.toy_voices import TOYS

from sayahead import ConfigError, VoiceError, extensions, load_voice
from sayahead.cli import main
from sayahead.types import Shape
from sayahead.voices import chosen, read_config
from sayahead.voices.install.shaped import shape_voice, write_shaped
from sayahead.voices.write import change_voice

TEXT = "Every word is said."


@pytest.fixture(scope="module")
def added(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of added voices with one of two speakers, and both of them as voices by name."""
    folder = tmp_path_factory.mktemp("added")
    shutil.copytree(TOYS / "kokoro", folder / "two")
    change_voice(folder / "two", {"name": "two"})
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SAYAHEAD_VOICES", str(folder))
        shape_voice("two", "one", Shape(), speaker="af_one")
    write_shaped(
        folder / "two",
        "him",
        Shape(),
        folder / "him",
        speaker="am_two",
        description="A man",
        gender="male",
    )
    return folder


@pytest.fixture
def voices(added: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of them, which are all that there are."""
    shutil.copytree(added, tmp_path, dirs_exist_ok=True)
    monkeypatch.setenv("SAYAHEAD_VOICES", str(tmp_path))
    # Voices of other packages may be installed beside.
    monkeypatch.setattr(extensions, "folders", lambda group: {})
    return tmp_path


def test_a_speaker_is_a_voice_by_name(voices: Path) -> None:
    base = load_voice("two")
    him = load_voice("him")
    assert him.config.speakers == {"am_two": base.config.speakers["am_two"]}
    assert (him.config.description, him.config.gender) == ("A man", "male")
    expected = base.synthesize(TEXT, speaker="am_two") / np.float32(base.config.gain)
    assert np.allclose(him.synthesize(TEXT), np.clip(expected, -1, 1), atol=1e-6)
    assert not np.allclose(him.synthesize(TEXT, pitch=3.0), him.synthesize(TEXT), atol=1e-3)
    with pytest.raises(ConfigError, match="no speaker 'af_one'"):
        him.session(speaker="af_one")
    with pytest.raises(VoiceError, match=r"no speaker 'am_too'.*did you mean 'am_two'"):
        shape_voice("two", "other", Shape(), speaker="am_too")
    with pytest.raises(VoiceError, match=r"shape that one .--from two --speaker am_two"):
        shape_voice("him", "other", Shape())
    with pytest.raises(ConfigError, match="choose another name, or replace it"):
        shape_voice("two", "one", Shape(), speaker="af_one")


def test_the_command_line_names_a_speaker_and_a_shape(
    voices: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        main(["voices", "shape", "her", "--from", "two", "--speaker", "af_one", "--pitch", "2"])
        == 0
    )
    assert "Added her: af_one of two" in capsys.readouterr().out
    assert list(load_voice("her").config.speakers) == ["af_one"]
    assert load_voice("her").config.shape == Shape(pitch=2.0)


def test_voices_are_chosen_by_language_and_gender(voices: Path) -> None:
    assert chosen() == "heart"
    assert chosen("en", "female") == "heart"
    assert chosen("en-US", "male") == "him"
    assert load_voice(gender="male").config.name == "him"
    change_voice(voices / "one", {"language": "fr-FR", "gender": "female"})
    for wrong, sentence in (
        ({"gender": "woman"}, "gender is 'woman', but must be female or male"),
        ({"language": "English"}, "language is 'English', but must be a tag, such as en or pt-BR"),
    ):
        with pytest.raises(VoiceError, match=sentence):
            chosen(**wrong)
    assert chosen("fr") == chosen("FR_fr", "female") == "one"
    # One voice of several speakers comes after voices of one.
    change_voice(voices / "two", {"language": "fr-FR"})
    assert chosen("fr") == "one"
    with pytest.raises(VoiceError, match=r"No male voice .* fr is installed .*catalogue fr"):
        chosen("fr", "male")
    (voices / "one" / "voice.json").write_text("{}", encoding="utf-8")
    assert chosen("fr") == "two"
    change_voice(voices / "two", {"gender": "man"})
    with pytest.raises(VoiceError, match="gender is 'man', but must be female, male or empty"):
        read_config(voices / "two")


def test_the_command_line_chooses_too(voices: Path, sayahead: Command, tmp_path: Path) -> None:
    rows = sayahead("voices", "--gender", "male")[0].decode().splitlines()
    assert [row.split()[0] for row in rows] == ["name", "him"]
    said = sayahead("say", "--gender", "male", "-o", str(tmp_path / "him.wav"), TEXT)[1]
    assert "him.wav" in said
    assert (
        "No voice that speaks de"
        in sayahead("say", "--language", "de", "-o", str(tmp_path / "x.wav"), "Ja.", code=2)[1]
    )
