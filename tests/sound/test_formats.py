"""Encoders and the resampler: what comes out does not depend on how it went in."""

from __future__ import annotations

import io
import itertools
import os
import sys
import threading
import tracemalloc
from pathlib import Path

import av
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.effort import examples

from sayahead import ConfigError
from sayahead.sound import formats
from sayahead.sound.formats import (
    ENCODINGS,
    IN_WAV,
    OWN_RATES,
    AudioFormat,
    encoder,
    whole_file,
    writer,
)
from sayahead.sound.pcm import to_pcm16
from sayahead.sound.resample import Resampler
from sayahead.types import Floats

RATE = 24000
EVERY_RATE = (8000, 11025, 16000, 22050, 32000, 44100, 48000)


def tone(hertz: float, rate: int = RATE, samples: int = RATE) -> Floats:
    return (0.5 * np.sin(2 * np.pi * hertz * np.arange(samples) / rate)).astype(np.float32)


def encode(form: AudioFormat, samples: Floats, step: int) -> bytes:
    making = encoder(form, source_rate=RATE)
    return b"".join(
        [
            *(making.push(samples[at : at + step]) for at in range(0, len(samples), step)),
            making.finish(),
        ]
    )


def decode(data: bytes) -> tuple[Floats, int]:
    with av.open(io.BytesIO(data), "r") as container:
        frames = list(container.decode(audio=0))
    rows = [frame.to_ndarray() for frame in frames]
    scale = 32767.0 if rows[0].dtype == np.int16 else 1.0
    return np.concatenate([row.reshape(-1) for row in rows]).astype(np.float32) / np.float32(
        scale
    ), frames[0].rate


@pytest.mark.parametrize("rate", OWN_RATES["mp3"])
def test_mp3_is_the_same_by_lameenc(rate: int, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("lameenc", reason="needs sayahead[mp3]")
    form = AudioFormat("mp3", rate)
    sound = np.concatenate([tone(440), tone(880)])
    quick = encode(form, sound, 700)
    monkeypatch.setattr(formats, "FAST", {})
    usual = encode(form, sound, 700)
    assert len(quick) == pytest.approx(len(usual), rel=0.02)
    (heard, heard_rate), (wanted, wanted_rate) = decode(quick), decode(usual)
    assert (len(heard), heard_rate) == (len(wanted), wanted_rate)
    assert np.abs(heard - wanted).max() < 0.02


def test_nothing_is_no_mp3() -> None:
    pytest.importorskip("lameenc", reason="needs sayahead[mp3]")
    assert encode(AudioFormat("mp3"), tone(440, samples=0), 1) == b""


@pytest.mark.parametrize("target", EVERY_RATE)
def test_a_tone_stays_where_and_when_it_was(target: int) -> None:
    resampler = Resampler(RATE, target)
    made = np.concatenate([resampler.push(tone(440)), resampler.finish()])
    assert len(made) == target
    assert np.abs(made - tone(440, target, target))[100:-100].max() < 1e-3


@pytest.mark.parametrize("target", [8000, 16000])
def test_what_the_lower_rate_cannot_hold_is_gone(target: int) -> None:
    resampler = Resampler(RATE, target)
    made = np.concatenate([resampler.push(tone(0.5 * target * 1.15)), resampler.finish()])
    assert np.abs(made[200:-200]).max() < 0.5 * 10 ** (-60 / 20)


@given(st.lists(st.integers(0, 3000), max_size=8), st.sampled_from(EVERY_RATE))
@settings(max_examples=examples(100))
def test_joins_are_not_heard(cuts: list[int], target: int) -> None:
    samples = np.random.default_rng(len(cuts)).standard_normal(sum(cuts)).astype(np.float32)
    whole = Resampler(RATE, target)
    pieces = Resampler(RATE, target)
    once = np.concatenate([whole.push(samples), whole.finish()])
    ends = np.cumsum([0, *cuts])
    many = [pieces.push(samples[a:b]) for a, b in itertools.pairwise(ends)]
    assert np.array_equal(once, np.concatenate([*many, pieces.finish()]))


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("target", [None, 16000, 48000])
def test_pieces_give_the_bytes_of_the_whole(encoding: str, target: int | None) -> None:
    form = AudioFormat(encoding, target)
    whole = encode(form, tone(440), RATE)
    for step in (100, 1733, 9000):
        assert encode(form, tone(440), step) == whole or encoding == "opus"
    # An Ogg stream has a number of its own, but its sound must be the same.
    if encoding == "opus":
        assert np.array_equal(decode(encode(form, tone(440), 1733))[0], decode(whole)[0])


@pytest.mark.parametrize(
    "encoding", ["wav", "wav_f32le", "wav_mulaw", "wav_alaw", "flac", "mp3", "opus", "aac"]
)
def test_what_others_decode_is_the_tone(encoding: str) -> None:
    heard, rate = decode(encode(AudioFormat(encoding), tone(440), 1733))
    assert rate == (48000 if encoding == "opus" else RATE)
    assert len(heard) / rate == pytest.approx(1.0, abs=0.1)
    middle = heard[rate // 4 : 3 * rate // 4]
    assert np.abs(np.fft.rfft(middle)).argmax() == pytest.approx(220, abs=1)
    assert np.abs(middle).max() == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize(
    ("encoding", "codec", "codes"),
    [
        ("mulaw", "pcm_mulaw", "ffff7efe7ef272e767ce4ea0208000"),
        ("alaw", "pcm_alaw", "d5d555d555d353da5afa7a8a0aaa2a"),
    ],
)
def test_logarithmic_samples_are_those_of_the_standard(
    encoding: str, codec: str, codes: str
) -> None:
    ramp = (np.arange(-32767, 32768) / 32767).astype(np.float32)
    ours = encode(AudioFormat(encoding), ramp, len(ramp))
    # Half a step of its segment is the most that the standard's decoder is off.
    decoder = av.CodecContext.create(codec, "r")
    assert isinstance(decoder, av.AudioCodecContext)
    decoder.sample_rate = RATE
    decoder.layout = "mono"
    frame = decoder.decode(av.Packet(bytes(range(256))))[0]
    table = frame.to_ndarray().reshape(-1).astype(np.int64)
    wanted = to_pcm16(ramp).astype(np.int64)
    error = np.abs(table[np.frombuffer(ours, np.uint8)] - wanted)
    assert (error <= (np.abs(wanted) + 132) / 16).all()
    some = np.array(
        [0, 1, -1, 7, -8, 100, -100, 255, -256, 1000, -1000, 8031, -8031, 32767, -32767]
    )
    assert encode(AudioFormat(encoding), (some / 32767).astype(np.float32), 4).hex() == codes


def test_an_mp3_file_says_what_its_encoder_put_before_the_first_sample(tmp_path: Path) -> None:
    path = tmp_path / "a.mp3"
    sink = writer(path)(path, sample_rate=RATE)
    sink.write(tone(440))
    sink.close()
    heard, rate = decode(path.read_bytes())
    assert (len(heard), rate) == (len(tone(440)), RATE)
    # It begins where the tone does.
    wanted = tone(440)[: RATE // 10]
    assert np.corrcoef(heard[: RATE // 10], wanted)[0, 1] > 0.98


def test_a_pipe_takes_an_mp3(tmp_path: Path) -> None:
    path = tmp_path / "a.mp3"
    read = list[bytes]()
    os.mkfifo(path)
    reader = threading.Thread(target=lambda: read.append(path.read_bytes()))
    reader.start()
    sink = writer(path)(path, sample_rate=RATE)
    sink.write(tone(440))
    sink.close()
    reader.join(30)
    assert read == [encode(AudioFormat("mp3"), tone(440), RATE)]


@pytest.mark.parametrize("encoding", IN_WAV)
def test_a_whole_wav_says_how_much_it_holds(encoding: str) -> None:
    data = whole_file(encode(AudioFormat(encoding), tone(440), 1733), AudioFormat(encoding))
    assert int.from_bytes(data[4:8], "little") == len(data) - 8
    assert (
        int.from_bytes(data[data.index(b"data") + 4 :][:4], "little")
        == len(data) - data.index(b"data") - 8
    )
    heard, rate = decode(data)
    assert (len(heard), rate) == (len(tone(440)), RATE)


def test_bare_samples_are_the_samples() -> None:
    assert encode(AudioFormat(), tone(440), 777) == to_pcm16(tone(440)).tobytes()
    assert encode(AudioFormat("pcm_f32le"), tone(440), 777) == tone(440).astype("<f4").tobytes()


@pytest.mark.parametrize("encoding", ["mp3", "opus", "flac", "aac"])
def test_sound_comes_while_more_is_pushed(encoding: str) -> None:
    making = encoder(AudioFormat(encoding), source_rate=RATE)
    sizes = [len(making.push(tone(440, samples=RATE // 10))) for _ in range(10)]
    assert all(sizes[1:]), sizes


@pytest.mark.parametrize(
    ("form", "message"),
    [
        (AudioFormat("mp4"), "'mp4' is unknown .did you mean 'mp3'"),
        (AudioFormat("pcm_s16le", 4000), "one of 8000, 11025"),
        (AudioFormat("opus", 44100), "opus has no sample rate 44100"),
        (AudioFormat("mp3", 24000, 1), "bit rate"),
    ],
)
def test_what_is_not_there_is_named(form: AudioFormat, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        form.check()


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(ConfigError, match=r"sayahead\[codecs\]"):
        AudioFormat("mp3").check()
    AudioFormat("wav").check()


def test_a_format_is_checked_without_loading_codecs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers check on their event loop, which the first mp3 held for 50 ms."""
    monkeypatch.setattr(formats, "codecs", lambda: pytest.fail("The codecs were loaded."))
    AudioFormat("mp3").check()


def test_resampling_a_long_chunk_takes_little_memory() -> None:
    """Ten seconds at 48 kHz took 198 MB."""
    making = Resampler(RATE, 48000)
    tracemalloc.start()
    try:
        assert len(making.push(np.zeros(10 * RATE, np.float32))) > 9 * 48000
        assert tracemalloc.get_traced_memory()[1] < 25e6
    finally:
        tracemalloc.stop()
