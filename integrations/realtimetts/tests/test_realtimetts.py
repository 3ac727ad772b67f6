"""The engine in RealtimeTTS' own stream: muted, since there is no sound device."""

from __future__ import annotations

import os
import tempfile
import threading
import time
import wave
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

NOTHING = Path(tempfile.mkdtemp()) / "asound.conf"
NOTHING.write_text("pcm.!default { type null }\nctl.!default { type null }\n", encoding="utf-8")
# Before PortAudio is loaded: it looks for devices then.
os.environ["ALSA_CONFIG_PATH"] = f"/usr/share/alsa/alsa.conf:{NOTHING}"

from RealtimeTTS import TextToAudioStream  # noqa: E402
from realtimetts_sayahead import SayaheadEngine  # noqa: E402

from sayahead import ConfigError, load_voice  # noqa: E402
from sayahead.sound.pcm import to_pcm16  # noqa: E402

TEXT = "The tower was built in 1889, and nobody liked it at first."
TIMED = "It opens at 9:30."


@pytest.fixture(scope="module")
def engine() -> SayaheadEngine:
    return SayaheadEngine()


def slowly(text: str, log: list[float]) -> Iterator[str]:
    for word in text.split(" "):
        log.append(time.monotonic())
        yield word + " "
        time.sleep(0.1)


def stream(engine: SayaheadEngine, **options: Any) -> TextToAudioStream:
    return TextToAudioStream(engine, muted=True, **options)


def test_it_speaks_while_the_text_is_written(engine: SayaheadEngine, tmp_path: Path) -> None:
    written: list[float] = []
    heard: list[float] = []
    path = tmp_path / "a.wav"
    chunks: list[bytes] = []

    def chunk(data: bytes) -> None:
        heard.append(time.monotonic())
        chunks.append(data)

    stream(engine).feed(slowly(TEXT, written)).play(
        muted=True, on_audio_chunk=chunk, output_wavfile=str(path)
    )
    assert heard[0] < written[-1]
    expected = to_pcm16(load_voice("heart").synthesize(TEXT + " ")).tobytes()
    assert b"".join(chunks) == expected
    with wave.open(str(path)) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (24000, 1, 2)
        assert file.readframes(file.getnframes()) == expected


def test_words_are_told_with_their_times(engine: SayaheadEngine) -> None:
    words: list[Any] = []
    # Words are told as they are played, so this one plays, into ALSA's null device.
    TextToAudioStream(engine, on_word=words.append).feed(TIMED).play()
    expected = [
        word for part in load_voice("heart").stream([TIMED]) for word in part.words if word.written
    ]
    assert "9:30." in [word.word for word in words]
    assert [word.word for word in words] == [word.written for word in expected]
    assert [word.start_time for word in words] == [word.onset_samples / 24000 for word in expected]
    assert engine.timings.empty()


def test_stop_ends_synthesis(engine: SayaheadEngine) -> None:
    player = stream(engine)
    written: list[float] = []
    player.feed(slowly("word " * 300, written)).play_async(muted=True)
    time.sleep(1.0)
    since = time.monotonic()
    player.stop()
    assert time.monotonic() - since < 5
    count = len(written)
    time.sleep(0.5)
    assert len(written) <= count + 1
    # And it speaks again.
    chunks: list[bytes] = []
    player.feed("Again.").play(muted=True, on_audio_chunk=chunks.append)
    assert b"".join(chunks) == to_pcm16(load_voice("heart").synthesize("Again.")).tobytes()
    assert threading.active_count() < 20


def test_options_are_checked(engine: SayaheadEngine) -> None:
    with pytest.raises(ConfigError, match="speed is 9"):
        SayaheadEngine(speed=9.0)
    assert "heart" in engine.get_voices()
    engine.set_voice_parameters(speed=1.5)
    chunks: list[bytes] = []
    stream(engine).feed(TEXT).play(muted=True, on_audio_chunk=chunks.append)
    assert b"".join(chunks) == to_pcm16(load_voice("heart").synthesize(TEXT, speed=1.5)).tobytes()
    engine.set_voice_parameters(speed=1.0)
