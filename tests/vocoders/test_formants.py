"""Pitch and formants of voices of source and filter: streamed as whole, by option and as voices of
their own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.command import Command
from support.pitch import pitch_of
from support.toy_voices import toy
from support.whistled import whistled

from sayahead import ConfigError, Voice, VoiceError, load_voice
from sayahead.types import Shape
from sayahead.vocoders.formants import MIDDLE_HZ, shaped_pitch, shaped_spectrum
from sayahead.voices import installed_voices, read_config
from sayahead.voices.install.shaped import shape_voice

TEXT = "Printing differs from most of the arts. "


@pytest.fixture(autouse=True)
def own_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SAYAHEAD_VOICES", str(tmp_path / "voices"))


def test_the_pitch_is_moved_by_semitones(heart: Voice) -> None:
    plain = heart.synthesize(TEXT)
    low = heart.synthesize(TEXT, pitch=-7.0)
    ratio = pitch_of(low, 24000) / pitch_of(plain, 24000)
    assert 12 * np.log2(ratio) == pytest.approx(-7.0, abs=0.5)
    # As long, as loud, timed as before.
    assert len(low) == pytest.approx(len(plain), abs=1200)
    assert 10 * np.log10((low**2).mean() / (plain**2).mean()) == pytest.approx(0.0, abs=2.0)


def test_formants_are_moved_and_the_pitch_is_not(heart: Voice) -> None:
    plain = heart.synthesize(TEXT)
    long = heart.synthesize(TEXT, formants=0.8)
    assert pitch_of(long, 24000) == pytest.approx(pitch_of(plain, 24000), rel=0.05)
    # A resonance at 4 kHz in the filter of the pulses; what is no pulse stays where it is.
    spectrum = np.zeros((1, 5, 601), np.float32)
    spectrum[:, [0, 2, 3]] = 5 * np.exp(-(((np.arange(601) - 200) / 20.0) ** 2))
    f0 = np.array([200.0], np.float32)
    moved = shaped_spectrum(spectrum.reshape(1, -1), f0, f0, Shape(formants=0.8)).reshape(5, 601)
    assert moved[[0, 2, 3]].argmax(axis=1) == pytest.approx(np.array([160, 200, 200]), abs=1)


def test_below_the_first_harmonic_the_filter_is_what_it_is_there() -> None:
    """What the network says where it has never been heard means nothing: a bass would roar."""
    spectrum = np.zeros((1, 5, 601), np.float32)
    spectrum[:, 0, :8] = 6.0
    before = np.array([200.0], np.float32)
    after = np.array([100.0], np.float32)
    magnitude = shaped_spectrum(spectrum.reshape(1, -1), before, after, Shape(pitch=-12.0)).reshape(
        5, 601
    )[0]
    assert magnitude[:8] == pytest.approx(0.5 * np.log(0.5), abs=1e-5)


def test_a_shape_that_changes_nothing_changes_no_sample(heart: Voice) -> None:
    same = heart.synthesize("Hello.", pitch=0.0, pitch_range=1.0, formants=1.0)
    np.testing.assert_array_equal(same, heart.synthesize("Hello."))


def test_any_split_gives_the_same(heart: Voice) -> None:
    options: Any = {"pitch": -5.0, "formants": 0.85, "pitch_range": 1.2}
    pieces = [chunk.samples for chunk in heart.stream(list(TEXT), **options)]
    np.testing.assert_array_equal(np.concatenate(pieces), heart.synthesize(TEXT, **options))


def test_frames_are_shaped_one_by_one() -> None:
    draw = np.random.default_rng(0)
    f0 = draw.uniform(0, 400, 40).astype(np.float32)
    spectrum = draw.normal(size=(40, 3005)).astype(np.float32)
    shape = Shape(-4.0, 1.5, 0.9)
    whole = shaped_spectrum(spectrum, f0, shaped_pitch(f0, shape), shape)
    parts = [
        shaped_spectrum(spectrum[i:j], f0[i:j], shaped_pitch(f0[i:j], shape), shape)
        for i, j in ((0, 7), (7, 40))
    ]
    np.testing.assert_array_equal(np.concatenate(parts), whole)
    flat = shaped_pitch(f0, Shape(pitch_range=0.0))
    assert flat[f0 > 40] == pytest.approx(MIDDLE_HZ, rel=1e-5)
    np.testing.assert_array_equal(flat[f0 <= 40], f0[f0 <= 40])


def test_a_shaped_voice_is_one_of_its_own(heart: Voice, tmp_path: Path) -> None:
    added = shape_voice("heart", "bass", Shape(pitch=-6.0, formants=0.85))
    names = {file.name for file in added.folder.iterdir()}
    assert names == {"voice.json", "measured.json", "LICENSE", "NOTICE"}
    base = installed_voices()["heart"]
    assert all(
        (added.folder / name).read_bytes() == (base / name).read_bytes()
        for name in ("LICENSE", "NOTICE")
    )
    bass = load_voice("bass")
    assert bass.config.language == "en-US"
    assert bass.config.shape == Shape(-6.0, 1.0, 0.85)
    wanted = heart.synthesize(TEXT, pitch=-6.0, formants=0.85) * np.float32(bass.config.gain)
    np.testing.assert_allclose(bass.synthesize(TEXT), np.clip(wanted, -1, 1), atol=1e-6)
    # What the voice has learned is there, too, and its shape can be changed on.
    assert bass.session(policy="learned", context="distilled", pitch=2.0) is not None
    with pytest.raises(VoiceError, match="is made of 'heart': shape that one"):
        shape_voice("bass", "deeper", Shape(pitch=-1.0))
    (added.folder.parent / "lost").mkdir()
    about = json.loads((added.folder / "voice.json").read_text()) | {"model": {"voice": "gone"}}
    (added.folder.parent / "lost" / "voice.json").write_text(json.dumps(about))
    with pytest.raises(VoiceError, match="not installed"):
        load_voice("lost")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pitch": 13.0}, "pitch"),
        ({"pitch_range": -1.0}, "pitch_range"),
        ({"formants": 2.0}, "formants"),
    ],
)
def test_shapes_have_bounds(heart: Voice, options: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=f"{message} is"):
        heart.session(**options)


def test_voices_without_source_and_filter_say_so(tmp_path: Path) -> None:
    voice = load_voice(whistled(tmp_path / "silbo"))
    with pytest.raises(ConfigError, match="no source and filter"):
        voice.session(pitch=1.0)
    assert voice.session(pitch=0.0) is not None


def test_voices_of_the_mel_vocoder_can_be_shaped() -> None:
    voice = toy("ma")
    low = voice.synthesize("Hello there.", pitch=-7.0)
    plain = voice.synthesize("Hello there.")
    assert len(low) == len(plain)
    assert np.abs(low - plain).max() > 0.01


def test_the_command_line(sayahead: Command, tmp_path: Path) -> None:
    told = sayahead("voices", "shape", "bass", "--pitch", "-6", "--formants", "0.85")[0].decode()
    assert "Added bass" in told
    assert read_config(tmp_path / "voices" / "bass").shape.pitch == -6.0
    sayahead(
        "say", "-q", "--pitch", "3", "--formants", "1.1", "-o", str(tmp_path / "a.wav"), "Hello."
    )
    assert (
        "pitch is 99"
        in sayahead("say", "-q", "--pitch", "99", "-o", str(tmp_path / "b.wav"), "Hi.", code=2)[1]
    )
