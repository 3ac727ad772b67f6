"""A clip becomes a voice of the family: it speaks, shares the family's networks, blends, and says
whose it is."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from sayahead import load_voice
from sayahead.engine import onnx
from sayahead.engine.files import save_arrays, sha256
from sayahead.errors import ConfigError, VoiceError
from sayahead.sound.files import write_wav
from sayahead.sound.pitch import pitch_hz
from sayahead.types import Floats
from sayahead.vocoders.manner import MANNER
from sayahead.voice import Voice
from sayahead.voices.install.clip.making import FromClip, Studio, manner_like, voice_from_clip
from sayahead.voices.locations import installed_voices

CLIP = (
    "Nobody had seen the old lighthouse keeper since the storm, and the boats stayed in the harbor"
    " all week long."
)
TEXT = "Text comes in word by word."


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A man of the family, whose formants and pitch are nobody's there."""
    path = tmp_path_factory.mktemp("clip") / "clip.wav"
    samples = load_voice("am_puck").synthesize(CLIP, policy="wait-all", formants=0.92, pitch=-1.5)
    write_wav(path, samples, 24000)
    return path


@pytest.fixture(scope="module")
def made(clip: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FromClip]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SAYAHEAD_VOICES", str(tmp_path_factory.mktemp("voices")))
        yield voice_from_clip(clip, "mine", consent="It is a test.")


def embedded(samples: Floats) -> Floats:
    return Studio(installed_voices()["family"]).maker.embed(samples, 24000)


def test_it_is_like_the_clip(made: FromClip) -> None:
    """More than what the fit began with, and at the clip's pitch."""
    studio = Studio(installed_voices()["family"])
    heard = made.heard
    maker = studio.maker
    blend = maker.blended(maker.nearest(heard.embedding, heard.f0))
    before = maker.embed(studio.say({**blend, MANNER: manner_like(studio, blend, heard)}), 24000)
    assert made.similarity > float(before @ maker.person(heard.embedding)) + 0.01
    voice = load_voice(made.added.folder)
    samples = np.concatenate([voice.synthesize(text) for text in (CLIP, TEXT)])
    assert float(maker.embed(samples, 24000) @ heard.embedding) > 0.85
    hertz = pitch_hz(samples, 24000)
    assert abs(12 * np.log2(np.median(hertz[hertz > 0]) / heard.f0)) < 1.5


def with_pace(made: FromClip, name: str, pace: float) -> Voice:
    """The voice of the clip at another pace."""
    with np.load(made.added.folder / "speakers.npz") as file:
        numbers = {key: file[key] for key in file.files}
    numbers[MANNER] = np.array([[0.5, 1.0, np.log(pace)]], np.float16)
    folder = made.added.folder.with_name(name)
    shutil.copytree(made.added.folder, folder)
    save_arrays(folder / "speakers.npz", numbers)
    told = json.loads((folder / "voice.json").read_text())
    told["files"]["speakers.npz"] = sha256(folder / "speakers.npz")
    (folder / "voice.json").write_text(json.dumps(told))
    return load_voice(folder)


def test_it_takes_its_manner_along_into_a_blend(made: FromClip) -> None:
    """Half of somebody has half of their pace."""
    plain, slow = (with_pace(made, f"pace-{pace}", pace) for pace in (1.0, 0.5))
    assert len(slow.synthesize(TEXT)) > 1.7 * len(plain.synthesize(TEXT))
    half = len(slow.synthesize(TEXT, speaker="mine:0.5+bf_emma:0.5"))
    unslowed = len(plain.synthesize(TEXT, speaker="mine:0.5+bf_emma:0.5"))
    assert 1.2 * unslowed < half < 0.85 * len(slow.synthesize(TEXT))


def test_it_costs_twenty_kilobytes_and_no_networks(made: FromClip) -> None:
    sizes = {path.name: path.stat().st_size for path in made.added.folder.iterdir()}
    assert not [name for name in sizes if name.endswith(".onnx")]
    assert sizes["speakers.npz"] < 25_000
    family = load_voice("family")
    loaded = dict(onnx.in_use)
    mine = load_voice(made.added.folder)
    assert dict(onnx.in_use) == loaded
    assert mine.config.speakers == {"mine": 0}
    assert len(family.config.speakers) == 12


def test_any_split_sounds_the_same(made: FromClip) -> None:
    voice = load_voice(made.added.folder)
    whole, letters = (
        np.concatenate([chunk.samples for chunk in voice.stream(text)])
        for text in ([TEXT], list(TEXT))
    )
    assert np.array_equal(whole, letters)


def test_it_blends_with_the_family(made: FromClip) -> None:
    voice = load_voice(made.added.folder)
    sounds = [voice.synthesize(TEXT, speaker=who) for who in ("mine", "mine:0.5+bf_emma:0.5")]
    assert float(embedded(sounds[0]) @ embedded(sounds[1])) < 0.99
    with pytest.raises(ConfigError, match="no speaker 'bob'"):
        voice.synthesize(TEXT, speaker="mine+bob")


def test_it_says_whose_it_is(made: FromClip) -> None:
    told = json.loads((made.added.folder / "voice.json").read_text())
    assert told["consent"] == "It is a test."
    assert "a clip of 6" in told["source"] or "a clip of 7" in told["source"]
    assert "SHA-256" in told["source"]
    assert "Consent of the speaker: It is a test." in (made.added.folder / "NOTICE").read_text()


@pytest.mark.slow
def test_it_reads_another_language_of_the_family(
    clip: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SAYAHEAD_VOICES", str(tmp_path))
    voice = load_voice(voice_from_clip(clip, "mia", language="es").added.folder)
    assert voice.config.language == "es"
    words = [word.text for chunk in voice.stream(["El texto llega."]) for word in chunk.words]
    assert words == ["El", "texto", "llega."]
    with pytest.raises(ConfigError, match=r"does not speak 'de': it speaks .*fr-FR"):
        voice_from_clip(clip, "mia", language="de", replace=True)
    with pytest.raises(ConfigError, match="There is a voice 'mia' already"):
        voice_from_clip(clip, "mia")


def test_a_voice_whose_family_has_changed(made: FromClip, tmp_path: Path) -> None:
    """Numbers of other graphs would be noise: the loan names their digests."""
    told = json.loads((made.added.folder / "voice.json").read_text())
    told["model"]["graphs"]["files"]["decoder.onnx"] = "0" * 64
    (tmp_path / "voice.json").write_text(json.dumps(told))
    (tmp_path / "speakers.npz").write_bytes((made.added.folder / "speakers.npz").read_bytes())
    with pytest.raises(VoiceError, match="damaged"):
        load_voice(tmp_path)
