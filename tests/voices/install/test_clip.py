"""A clip as a voice: what is read, what is heard in it, and how a speaker is corrected; without a
family's weights."""

from __future__ import annotations

import struct
import wave
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.command import Command

from sayahead import Voice
from sayahead.errors import ConfigError
from sayahead.sound.files import write_wav
from sayahead.sound.pitch import pitch_hz
from sayahead.types import Floats
from sayahead.vocoders.manner import MANNER, in_manner
from sayahead.voices.install.clip import making
from sayahead.voices.install.clip.embedding import PARTIAL, WIDTH, Embedder, mel_frames, unit
from sayahead.voices.install.clip.hearing import ClipMeasures, check, group_similarity, hear
from sayahead.voices.install.clip.manner import Manner, manner_of, moved_manner
from sayahead.voices.install.clip.reading import RATE, at_rate, clip_of, read_clip
from sayahead.voices.install.clip.speaker import GRAPHS, Fitted, SpeakerMaker, Tables, gelu

SENTENCE = (
    "The morning train was late again, so we walked along the river, and talked about the garden."
)


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    """A network of random weights: enough for all but who speaks."""
    return Embedder(random_weights())


@pytest.fixture(scope="module")
def speech(heart: Voice) -> Floats:
    """Somebody speaking for five seconds."""
    return heart.synthesize(SENTENCE, policy="wait-all")


def random_weights() -> dict[str, Floats]:
    draw = np.random.default_rng(1)
    shapes = {"linear.weight": (WIDTH, WIDTH), "linear.bias": (WIDTH,)}
    for layer in range(3):
        shapes[f"lstm.weight_ih_l{layer}"] = (4 * WIDTH, WIDTH if layer else 40)
        shapes[f"lstm.weight_hh_l{layer}"] = (4 * WIDTH, WIDTH)
        shapes |= {f"lstm.bias_{kind}_l{layer}": (4 * WIDTH,) for kind in ("ih", "hh")}
    return {name: draw.normal(0, 0.1, shape).astype(np.float32) for name, shape in shapes.items()}


def sentence_of(samples: Floats, embedder: Embedder) -> str:
    """What is said of a clip that no voice can be made of."""
    with pytest.raises(ConfigError) as caught:
        check(hear(clip_of(samples, RATE), embedder), "clip.wav")
    return str(caught.value)


def written(path: Path, samples: Floats, rate: int, width: int = 2, channels: int = 1) -> Path:
    """A WAV file of samples of so many bytes, the same in each channel."""
    full = 1 << (8 * width - 1)
    whole = np.clip(np.round(samples.astype(np.float64) * full), -full, full - 1).astype(np.int64)
    packed = [
        struct.pack("<q", value + (128 if width == 1 else 0))[:width] * channels for value in whole
    ]
    with wave.open(str(path), "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(width)
        file.setframerate(rate)
        file.writeframes(b"".join(packed))
    return path


def test_speech_is_accepted(speech: Floats, embedder: Embedder) -> None:
    heard = hear(clip_of(speech, RATE), embedder)
    check(heard, "clip.wav")
    assert 150 < heard.f0 < 260
    assert 3 < heard.spoken < heard.seconds


@pytest.mark.parametrize("rate", [8000, 16000, 22050, 44100, 48000])
def test_a_clip_of_any_rate_is_the_same_clip(rate: int, tmp_path: Path) -> None:
    at = np.arange(2 * rate) / rate
    clip = read_clip(
        written(
            tmp_path / "tone.wav", (0.3 * np.sin(2 * np.pi * 220 * at)).astype(np.float32), rate
        )
    ).samples
    assert abs(len(clip) / RATE - 2) < 0.01
    spectrum = np.abs(np.fft.rfft(clip[2000:-2000] * np.hanning(len(clip) - 4000)))
    assert abs(spectrum.argmax() * RATE / (len(clip) - 4000) - 220) < 1
    assert abs(np.abs(clip[2000:-2000]).max() - 0.3) < 0.01


@pytest.mark.parametrize("width", [1, 2, 3, 4])
@pytest.mark.parametrize("channels", [1, 2])
def test_samples_of_any_width_and_channels(width: int, channels: int, tmp_path: Path) -> None:
    ramp = np.linspace(-0.9, 0.9, 240, dtype=np.float32)
    clip = read_clip(written(tmp_path / "ramp.wav", ramp, RATE, width, channels)).samples
    assert np.abs(clip - ramp).max() < 1.01 / (1 << (8 * width - 1))


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (
            b"This is a letter, and no sound at all." * 99,
            "cannot be read as a sound|one more package",
        ),
    ],
)
def test_what_is_no_sound(content: bytes, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "clip.wav").write_bytes(content)
    with pytest.raises(ConfigError, match=sentence):
        read_clip(tmp_path / "clip.wav")


def test_a_clip_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="There is no file"):
        read_clip(tmp_path / "clip.wav")


def test_ten_minutes_are_no_clip(tmp_path: Path) -> None:
    write_wav(tmp_path / "long.wav", np.zeros(600 * 8000, np.float32), 8000)
    with pytest.raises(ConfigError, match=r"lasts 600 s.*cut out 5 to 20 seconds"):
        read_clip(tmp_path / "long.wav")


def test_what_is_heard_is_said(speech: Floats, embedder: Embedder) -> None:
    draw = np.random.default_rng(1)
    rms = float(np.sqrt(np.mean(np.square(speech))))
    noise = draw.normal(0, 1, len(speech)).astype(np.float32)
    at = np.arange(6 * RATE) / RATE
    tones = [np.sin(2 * np.pi * 110 * number * at) / number for number in range(1, 9)]
    organ = np.sum(tones, axis=0).astype(np.float32)
    loud = speech / np.abs(speech).max()
    sentences = {
        "nothing can be heard": np.zeros(5 * RATE, np.float32),
        "it lasts 1.0 s": speech[:RATE],
        "too quiet": 0.001 / rms * speech,
        "is cut off": np.clip(8 * loud, -1, 1),
        "no voice is heard": 0.1 * draw.normal(0, 1, 5 * RATE).astype(np.float32),
        "music, noise or others": 0.1 * organ,
        "beneath; record one person": speech + 0.5 * rms * noise,
        "of it are spoken": np.pad(speech[: int(1.5 * RATE)], (0, 8 * RATE)),
    }
    for sentence, samples in sentences.items():
        assert sentence in sentence_of(samples, embedder)


@pytest.mark.parametrize("rate", [16000, 24000, 44100])
def test_what_is_cut_off_is_noticed_at_any_rate(rate: int, speech: Floats, tmp_path: Path) -> None:
    """Another rate rounds what was flat: it is looked for in the file's own samples."""
    loud = at_rate(speech, RATE * RATE // rate)[: 5 * rate]
    cut = np.clip(6 * loud / np.abs(loud).max(), -1, 1)
    assert read_clip(written(tmp_path / "cut.wav", cut, rate)).clipped > 0.002
    assert read_clip(written(tmp_path / "whole.wav", cut / 6, rate)).clipped > 0.002
    assert (
        read_clip(written(tmp_path / "good.wav", loud / np.abs(loud).max(), rate)).clipped < 0.001
    )


def test_two_people_are_told_from_one() -> None:
    """Windows of two people lie in two groups; those of one lie around one place."""
    draw = np.random.default_rng(1)
    one, other = (unit(draw.normal(0, 1, 256).astype(np.float32)) for _ in range(2))

    def windows(who: Floats, count: int) -> list[Floats]:
        return [unit(who + draw.normal(0, 0.03, 256).astype(np.float32)) for _ in range(count)]

    assert group_similarity(np.stack(windows(one, 10))) > 0.8
    assert group_similarity(np.stack(windows(one, 5) + windows(other, 5))) < 0.5


def test_of_two_people_and_of_a_wrong_rate_it_is_said_what_to_do(
    speech: Floats, embedder: Embedder, tmp_path: Path
) -> None:
    heard = replace(hear(clip_of(speech, RATE), embedder), similarity=0.41)
    with pytest.raises(ConfigError, match=r"two people seem to speak.*cut out 5 to 20 s of one"):
        check(heard, "clip.wav")
    written(tmp_path / "slow.wav", speech[:8000], 4000)
    with pytest.raises(ConfigError, match=r"4000 samples a second, but 8000 to 192000.*convert it"):
        read_clip(tmp_path / "slow.wav")


def test_an_embedding_does_not_depend_on_the_rate(embedder: Embedder) -> None:
    """A window has the same bins at any of the rates."""
    at = np.arange(2 * 48000) / 48000
    slow = np.sin(2 * np.pi * 300 * at) * (1 + np.sin(2 * np.pi * 3 * at))
    frames = [
        mel_frames(slow[:: 48000 // rate].astype(np.float32), rate)
        for rate in (16000, 24000, 48000)
    ]
    for other in frames[1:]:
        assert np.abs(frames[0][2:-2] - other[2:-2]).max() < 0.02 * frames[0].max()


def test_windows_of_a_short_sound_are_padded(embedder: Embedder) -> None:
    assert embedder.partials(np.ones((30, 40), np.float32)).shape == (1, WIDTH)
    assert embedder.partials(np.ones((PARTIAL + 100, 40), np.float32)).shape == (3, WIDTH)


def toy_maker() -> tuple[SpeakerMaker, dict[str, Floats]]:
    """A family of two speakers of ten numbers, four of which the network moves by what it is asked
    for."""
    draw = np.random.default_rng(2)
    sizes = dict(zip(GRAPHS, (3, 3, 4), strict=True))
    rows = {graph: draw.normal(0, 1, (2, size)).astype(np.float32) for graph, size in sizes.items()}
    arrays = {f"embedder.{name}": value for name, value in random_weights().items()}
    arrays |= {
        "bank.shares": np.eye(2, dtype=np.float32),
        "bank.embeddings": np.stack(
            [unit(draw.normal(0, 1, WIDTH).astype(np.float32)) for _ in range(2)]
        ),
        "bank.f0": np.array([100, 200], np.float32),
        "network.inner.weight": draw.normal(0, 0.1, (8, 2 * WIDTH + 1)).astype(np.float32),
        "network.inner.bias": np.zeros(8, np.float32),
        "network.outer.weight": draw.normal(0, 1, (4, 8)).astype(np.float32),
        "network.outer.bias": np.zeros(4, np.float32),
        "network.directions": np.eye(4, dtype=np.float32),
        "network.columns": np.arange(6, 10, dtype=np.float32),
        "person.mean": np.zeros(WIDTH, np.float32),
        "person.gain": np.eye(WIDTH, dtype=np.float32),
    }
    return SpeakerMaker(arrays, rows), rows


def test_natural_is_a_blend_and_near_is_what_was_fitted() -> None:
    maker, rows = toy_maker()
    wanted = unit(np.random.default_rng(3).normal(0, 1, WIDTH).astype(np.float32))

    def speak(tables: Tables) -> Floats:
        return np.ones(24000, np.float32)

    found = [
        maker.fit(wanted, 200.0, [1], speak, near=near, rounds=1, step=0.7)
        for near in (0.0, 0.5, 1.0)
    ]
    natural, between, near = (np.concatenate(list(one.tables.values())) for one in found)
    assert np.allclose(natural, np.concatenate([rows[graph][1] for graph in GRAPHS]))
    assert np.allclose(between, (natural + near) / 2, atol=1e-6)
    assert np.abs(near - natural).max() > 0.01


def test_pitch_chooses_between_blends_that_are_alike() -> None:
    maker, _ = toy_maker()
    between = unit(maker._embeddings.sum(0))
    assert [maker.nearest(between, hertz) for hertz in (95.0, 210.0)] == [[0], [1]]


def test_more_rounds_never_sound_less_alike() -> None:
    """Each round is heard, and the best one is kept."""
    maker, _ = toy_maker()
    draw = np.random.default_rng(3)
    mixing = draw.normal(0, 1, (10, WIDTH)).astype(np.float32)
    wanted = unit(draw.normal(0, 1, WIDTH).astype(np.float32))

    def speak(tables: Tables) -> Floats:
        return np.concatenate(list(tables.values())) @ mixing

    maker.embed = lambda samples, rate: unit(samples)  # type: ignore[assignment]
    fits = [
        maker.fit(wanted, 150.0, [0, 1], speak, near=1.0, rounds=rounds, step=0.7)
        for rounds in (1, 3, 9)
    ]
    found = [fitted.similarity for fitted in fits]
    assert found == sorted(found)


@pytest.mark.parametrize(
    ("first", "others", "starts", "taken"),
    [(0.94, 0.99, 1, 0.94), (0.8, 0.81, 6, 0.8), (0.8, 0.83, 6, 0.83)],
    ids=["good enough", "hardly better", "better"],
)
def test_a_poor_fit_is_made_of_other_blends_too(
    first: float, others: float, starts: int, taken: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = list[list[int]]()

    class Maker:
        def person(self, clip: Floats) -> Floats:
            return clip

        def nearest(self, wanted: Floats, f0: float, count: int) -> list[int]:
            return list(range(count))

        def blended(self, start: list[int]) -> Tables:
            return {}

        def fit(self, wanted: Floats, f0: float, start: list[int], *_: Any, **__: Any) -> Fitted:
            tried.append(start)
            return Fitted({}, first if len(tried) == 1 else others)

    monkeypatch.setattr(making, "manner_like", lambda *_: np.zeros(3, np.float32))
    heard = ClipMeasures(5, 4, -20, 0, 40, 0.8, 120, 1, np.zeros(WIDTH, np.float32))
    studio: Any = None
    maker: Any = Maker()
    assert making.fit(studio, maker, heard).similarity == taken
    assert len(tried) == starts


@pytest.mark.parametrize(
    ("wanted", "own", "pace", "pitch_range"),
    [
        (Manner(4.0, 1.0, 5.0), Manner(4.0, 1.0, 4.0), 1.0, 1.0),
        (Manner(5.0, 1.0, 5.0), Manner(4.0, 0.5, 4.0), 1.118, 1.516),
        (Manner(99.0, 9.0, 5.0), Manner(4.0, 0.5, 4.0), 1.3, 1.6),
        (None, Manner(4.0, 0.5, 4.0), 1.0, 1.0),
    ],
)
def test_a_speaker_takes_a_part_of_a_clips_manner(
    wanted: Manner | None, own: Manner, pace: float, pitch_range: float
) -> None:
    manner = moved_manner(150.0, wanted, 120.0, own)
    assert np.exp(manner[2]) == pytest.approx(pace, abs=0.001)
    assert manner[1] == pytest.approx(pitch_range, abs=0.001)
    # Whatever the range, the median is the clip's.
    assert in_manner(np.full(3, 120.0), {MANNER: manner}) == pytest.approx(150.0, rel=1e-3)


def test_pitch_is_moved_by_half_an_octave_and_a_bit_at_most() -> None:
    manner = moved_manner(400.0, None, 100.0, None)
    assert in_manner(np.array([100.0, 0.0]), {MANNER: manner}) == pytest.approx([149.8, 0], abs=0.1)


def test_faster_speech_has_more_syllables_a_second(heart: Voice) -> None:
    found = list[Manner]()
    for speed in (0.8, 1.25):
        samples = heart.synthesize(SENTENCE, policy="wait-all", speed=speed)
        manner = manner_of(samples, pitch_hz(samples, RATE))
        assert manner is not None
        found.append(manner)
    assert found[1].pace > 1.2 * found[0].pace
    assert manner_of(np.zeros(RATE, np.float32), np.zeros(101, np.float32)) is None


def test_the_activation_is_that_of_training() -> None:
    x = np.array([-3.0, -1.0, 0.0, 0.5, 2.0], np.float32)
    expected = [-0.00404969, -0.15865525, 0.0, 0.34573123, 1.95449974]
    assert np.abs(gelu(x) - expected).max() < 1e-6


def test_a_family_that_is_not_installed(
    sayahead: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "sayahead.voices.install.clip.making.installed_voices", lambda: {"heart": Path("heart")}
    )
    write_wav(tmp_path / "clip.wav", np.zeros(24000, np.float32), 24000)
    _, told = sayahead("voices", "from-clip", str(tmp_path / "clip.wav"), "--name", "mine", code=2)
    assert "pip install ./voices/family" in told
