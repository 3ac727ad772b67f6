"""What the command line reads and writes: text as it arrives, sound files, subtitles, the sound
device."""

from __future__ import annotations

import codecs
import contextlib
import io
import json
import os
import re
import sys
import time
import wave
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sayahead.cli.text_source import Source
from sayahead.engine.written import as_written
from sayahead.errors import ConfigError
from sayahead.sound.device import Player
from sayahead.sound.files import (
    FlacWriter,
    OutputError,
    RawWriter,
    WavWriter,
    read_wav,
    wav_file,
    write_wav,
)
from sayahead.sound.formats import FORMATS
from sayahead.sound.out import save
from sayahead.sound.pcm import AUDIBLE, audible, audible_ends, from_pcm16, to_pcm16
from sayahead.sound.subtitles import FORMS, lines, shown, timings_srt, write_timings
from sayahead.types import Floats, WordTiming
from sayahead.voice import Voice

RATE = 24000
POSIX = pytest.mark.skipif(os.name != "posix", reason="needs POSIX pipes and files")


def tone(samples: int) -> Floats:
    return (0.5 * np.sin(np.arange(samples) / 10)).astype(np.float32)


def unbuffered(file: int | Path, mode: str = "wb") -> io.FileIO:
    opened = open(file, mode, buffering=0)  # noqa: SIM115
    assert isinstance(opened, io.FileIO)
    return opened


def pcm_of(source: Any) -> np.ndarray[Any, np.dtype[np.int16]]:
    with wave.open(source, "rb") as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (RATE, 1, 2)
        return np.frombuffer(file.readframes(file.getnframes()), "<i2")


def test_pcm_clips_and_silences() -> None:
    samples = np.array([0, 1, -1, 2, -2, np.nan, np.inf, 0.5], np.float32)
    assert to_pcm16(samples).tolist() == [0, 32767, -32767, 32767, -32767, 0, 32767, 16384]


@pytest.mark.parametrize(
    ("samples", "ends"),
    [
        ([], None),
        ([0, 0.5 * AUDIBLE], None),
        ([0.1], (0, 0)),
        ([0, 0.1, 0, -0.2, 0, 0], (1, 3)),
        ([-0.1, 0], (0, 0)),
    ],
)
def test_the_first_and_the_last_audible_sample(
    samples: list[float], ends: tuple[int, int] | None
) -> None:
    array = np.array(samples, np.float32)
    assert audible_ends(array) == ends
    found = audible(array)
    assert ends == ((int(found[0]), int(found[-1])) if len(found) else None)


def test_pcm_comes_back_as_samples() -> None:
    assert from_pcm16(to_pcm16(np.array([0, 1, -1], np.float32)).tobytes() + b"\x00").tolist() == [
        0.0,
        32767 / 32768,
        -32767 / 32768,
    ]


def test_audible_samples_are_those_above_the_threshold() -> None:
    samples = np.array([0, 1.01 * AUDIBLE, 0.99 * AUDIBLE, -1.01 * AUDIBLE], np.float32)
    assert audible(samples).tolist() == [1, 3]
    assert not len(audible(samples[:1]))


def test_a_wav_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "new" / "a.wav"
    write_wav(path, tone(1000), RATE)
    samples, rate = read_wav(path)
    assert rate == RATE
    assert np.array_equal(np.rint(samples * 32768), to_pcm16(tone(1000)))


def test_what_is_no_wav_file_of_16_bit_mono_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    with pytest.raises(ConfigError, match=r"a\.wav cannot be read: No such file"):
        read_wav(path)
    for content in (b"", b"RIFF", b"no sound at all"):
        path.write_bytes(content)
        with pytest.raises(ConfigError, match=r"cannot be read as a WAV file: \w"):
            read_wav(path)
    with wave.open(str(path), "wb") as file:
        file.setparams((2, 1, RATE, 0, "NONE", ""))
        file.writeframes(bytes(8))
    with pytest.raises(ConfigError, match=r"not 16-bit mono \(bits: 8, channels: 2\)"):
        read_wav(path)


def test_wav_is_valid_after_every_chunk(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    made = tone(1000)
    writer = wav_file(path, sample_rate=RATE)
    assert len(pcm_of(str(path))) == 0
    for at in range(0, 1000, 250):
        writer.write(made[at : at + 250])
        assert np.array_equal(pcm_of(str(path)), to_pcm16(made[: at + 250]))
    writer.drain()
    writer.close()
    writer.close()
    assert path.stat().st_size == 44 + 2000


def test_wav_survives_half_a_write(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    file = unbuffered(path)
    writer = WavWriter(file, "a.wav", sample_rate=RATE)
    writer.write(tone(10))
    file.write(b"\x01\x02\x03")
    writer.close()
    assert len(pcm_of(str(path))) == 11


@POSIX
def test_wav_on_a_pipe_says_that_it_goes_on() -> None:
    end, start = os.pipe()
    writer = WavWriter(unbuffered(start), "pipe", sample_rate=RATE)
    writer.write(tone(100))
    writer.close()
    with open(end, "rb") as pipe:
        data = pipe.read()
    assert data[4:8] == data[40:44] == b"\xff" * 4
    assert np.array_equal(pcm_of(io.BytesIO(data)), to_pcm16(tone(100)))


@POSIX
def test_wav_does_not_change_what_it_is_appended_to(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"before")
    writer = WavWriter(unbuffered(path, "ab"), "log", sample_rate=RATE)
    writer.write(tone(10))
    writer.close()
    assert path.read_bytes()[:6] == b"before"
    assert np.array_equal(pcm_of(io.BytesIO(path.read_bytes()[6:])), to_pcm16(tone(10)))


@POSIX
def test_raw_waits_for_a_slow_reader_of_a_non_blocking_pipe() -> None:
    import threading

    end, start = os.pipe()
    os.set_blocking(start, False)
    made = tone(200_000)
    got = bytearray()

    def read() -> None:
        while data := os.read(end, 1 << 16):
            got.extend(data)

    reader = threading.Thread(target=read)
    reader.start()
    writer = RawWriter(unbuffered(start), "pipe")
    writer.write(made)
    writer.close()
    reader.join()
    os.close(end)
    assert bytes(got) == to_pcm16(made).tobytes()


@POSIX
def test_a_closed_pipe_and_a_full_disk_are_told_apart() -> None:
    end, start = os.pipe()
    os.close(end)
    writer = RawWriter(unbuffered(start), "pipe")
    with pytest.raises(BrokenPipeError):
        writer.write(tone(10))
    writer.close()
    if Path("/dev/full").exists():
        with pytest.raises(OutputError, match="cannot be written: No space left"):
            wav_file(Path("/dev/full"), sample_rate=RATE)


@pytest.mark.parametrize("name", ["missing/a.wav", ".", "missing/a.flac"])
def test_paths_that_cannot_be_written(tmp_path: Path, name: str) -> None:
    make = FORMATS[Path(name).suffix or ".wav"]
    with pytest.raises(ConfigError, match="cannot be written: "):
        make(tmp_path / name, sample_rate=RATE)


def test_flac_gives_back_the_samples(tmp_path: Path) -> None:
    import soundfile

    writer = FlacWriter(tmp_path / "a.flac", sample_rate=RATE)
    writer.write(tone(1000))
    writer.write(tone(500))
    writer.close()
    samples, rate = soundfile.read(tmp_path / "a.flac", dtype="int16")
    assert rate == RATE
    assert np.array_equal(samples, np.concatenate([to_pcm16(tone(1000)), to_pcm16(tone(500))]))


def test_an_empty_flac_can_be_opened(tmp_path: Path) -> None:
    import soundfile

    FlacWriter(tmp_path / "a.flac", sample_rate=RATE).close()
    assert soundfile.info(tmp_path / "a.flac").frames == 1


def test_flac_names_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "soundfile", None)
    with pytest.raises(OutputError, match=r"pip install 'sayahead\[flac\]'"):
        FlacWriter(tmp_path / "a.flac", sample_rate=RATE)
    assert not list(tmp_path.iterdir())


WORDS = [
    WordTiming("Salt,", 0, 5, 480, 9600),
    WordTiming("<b>", 6, 9, 9600, 14400),
    WordTiming("rest.", 10, 15, 14400, 24000),
    WordTiming("Then", 16, 20, 36000, 48000 * 3600),
]


def test_subtitles() -> None:
    srt = FORMS[".srt"](WORDS, sample_rate=RATE)
    assert (
        srt == "1\n00:00:00,020 --> 00:00:01,000\nSalt, <b> rest.\n\n2\n00:00:01,500 -->"
        " 02:00:00,000\nThen\n"
    )
    single = FORMS[".srt"](WORDS, sample_rate=RATE, each_word=True)
    assert single.count(" --> ") == len(WORDS)
    assert single.split("\n")[2] == WORDS[0].text
    vtt = FORMS[".vtt"](WORDS, sample_rate=RATE)
    assert vtt.startswith(
        "WEBVTT\n\n00:00:00.020 --> 00:00:01.000\nSalt, <00:00:00.400>&lt;b&gt;"
        " <00:00:00.600>rest.\n\n"
    )
    parsed = json.loads(FORMS[".json"](WORDS, sample_rate=RATE))
    assert parsed["sample_rate"] == RATE
    times = {"onset": 480, "offset": 9600, "onset_s": 0.02, "offset_s": 0.4}
    assert parsed["words"][0] == {
        "text": "Salt,",
        "written": "",
        "start": 0,
        "end": 5,
        "ends": False,
        **times,
    }
    for form in FORMS.values():
        assert form([], sample_rate=RATE) is not None


def test_subtitle_lines_are_short() -> None:
    words = [WordTiming("word" + "s" * (i % 9), 0, 0, i, i + 1) for i in range(100)]
    captions = shown(words, spoken=True)
    cut = list(lines(captions))
    assert [word for line in cut for word in line] == captions
    assert all(len(" ".join(word.text for word in line)) <= 42 for line in cut)


def test_subtitles_have_the_words_as_they_are_written() -> None:
    words = [
        WordTiming("costs", 0, 5, 0, 4800, "costs"),
        WordTiming("one thousand two hundred thirty-four", 6, 15, 4800, 9600, "$1,234.56"),
        WordTiming("dollars and fifty-six cents", 15, 15, 9600, 24000, ""),
        WordTiming("at", 16, 18, 24000, 28800, "at"),
        WordTiming("nine thirty.", 19, 24, 28800, 48000, "9:30."),
        WordTiming("Then", 25, 29, 48000, 52800, "Then"),
    ]
    srt = FORMS[".srt"](words, sample_rate=RATE)
    assert srt.split("\n\n")[0] == "1\n00:00:00,000 --> 00:00:02,000\ncosts $1,234.56 at 9:30."
    assert "costs <00:00:00.200>$1,234.56 <00:00:01.000>at" in FORMS[".vtt"](
        words, sample_rate=RATE
    )
    assert "one thousand two hundred" in FORMS[".srt"](words, sample_rate=RATE, spoken=True)
    single = FORMS[".srt"](words, sample_rate=RATE, each_word=True)
    assert single.split("\n\n")[1] == "2\n00:00:00,200 --> 00:00:01,000\n$1,234.56"
    assert json.loads(FORMS[".json"](words, sample_rate=RATE))["words"][1]["written"] == "$1,234.56"


@pytest.mark.parametrize(
    ("source", "written"),
    [
        ("**June", "June"),
        ("## June", "June"),
        ("#1", "#1"),
        ("2007**", "2007"),
        ("**bold**,", "bold,"),
        ("`code`", "code"),
        ("[the", "the"),
        ("site](https://www.fsf.org/x?y=(1))).", "site)."),
        ("[1]", "[1]"),
        ("(see", "(see"),
        ("*", "*"),
        ("~5", "~5"),
        ("mc^2", "mc^2"),
        ("snake_case", "snake_case"),
        ('<say-as interpret-as="date">3/4</say-as>', "3/4"),
        ("<b>", "<b>"),
        ("AT&T.", "AT&T."),
        ("two\n  lines", "two lines"),
        ("", ""),
    ],
)
def test_a_word_is_written_without_its_markup(source: str, written: str) -> None:
    assert as_written(source) == written


@pytest.mark.parametrize(
    ("text", "cues"),
    [
        ('# One\n\n"It begins," she said.', ["One", '"It begins," she said.']),
        (
            "And on\n\n1. First thing\n2. Second thing",
            ["And on", "1. First thing", "2. Second thing"],
        ),
        ("Dr. Who paid $1,200 (at 9:30).", ["Dr. Who paid $1,200 (at 9:30)."]),
        ("It was 9:30 a.m. when it fell.", ["It was 9:30 a.m. when it fell."]),
        ("It is 9:30 a.m. So go!", ["It is 9:30 a.m.", "So go!"]),
    ],
)
def test_a_subtitle_ends_where_a_heading_or_an_item_does(
    heart: Voice, text: str, cues: list[str]
) -> None:
    speech = heart.speak(text)
    list(speech)
    blocks = timings_srt(speech.words, sample_rate=24000).strip().split("\n\n")
    assert [block.split("\n")[2] for block in blocks] == cues


def test_a_dash_is_shown_with_the_word_before_it(heart: Voice) -> None:
    speech = heart.speak("She said — slowly — and left.")
    list(speech)
    blocks = timings_srt(speech.words, sample_rate=24000, each_word=True).strip().split("\n\n")
    assert [block.split("\n")[2] for block in blocks] == [
        "She",
        "said —",
        "slowly —",
        "and",
        "left.",
    ]


def decoded(data: bytes, size: int) -> tuple[str, list[str]]:
    """A file's text, read in pieces of so many bytes, and the warnings."""
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    warnings = list[str]()

    class Pieces(io.RawIOBase):
        def read(self, size: int = -1) -> bytes:
            return pieces.pop(0) if pieces else b""

    source = Source(Pieces(), "It", warn=warnings.append)
    return "".join(fragment or "" for fragment in source.fragments()), warnings


@pytest.mark.parametrize("size", [1, 2, 3, 4096])
@pytest.mark.parametrize("text", ["Grüße, “naïve” 😀.", "", "a"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_text_files_of_every_unicode(text: str, encoding: str, size: int) -> None:
    assert decoded(text.encode(encoding), size) == (text, [])
    marked = b"\xfe\xff" + text.encode("utf-16-be")
    assert decoded(marked, size) == (text, [])


@pytest.mark.parametrize("size", [1, 4096])
def test_text_of_old_windows_keeps_its_letters_and_quotes(size: int) -> None:
    text, warnings = decoded("It’s a café, “École”.".encode("cp1252") + b" \xff\xfe", size)
    assert text.rstrip("\ufffd ") == "It’s a café, “École”."
    assert "Windows-1252" in warnings[0]


def test_timings_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="cannot be written"):
        write_timings(tmp_path / "missing" / "a.srt", WORDS, sample_rate=RATE)


def test_player_takes_sound_in_real_time() -> None:
    import miniaudio

    player = Player(RATE, backends=[miniaudio.Backend.NULL])
    assert player.backend == "Null"
    begun = time.monotonic()
    player.write(tone(RATE // 2))
    assert player.played() < RATE // 2
    player.drain()
    assert time.monotonic() - begun > 0.4
    assert player.played() == RATE // 2
    player.close()
    player.close()


def test_player_is_bounded_and_stops_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    import miniaudio

    monkeypatch.setattr(Player, "AHEAD_S", 0.2)
    player = Player(RATE, backends=[miniaudio.Backend.NULL])
    player.write(tone(RATE // 2))
    assert player.played() >= RATE // 4
    player.write(tone(RATE // 5))
    before = time.monotonic()
    player.close()
    assert time.monotonic() - before < 5
    assert player.played() < RATE // 2 + RATE // 5


def test_player_does_not_wait_for_a_device_that_is_stuck(monkeypatch: pytest.MonkeyPatch) -> None:
    import miniaudio

    monkeypatch.setattr(Player, "STUCK_S", 0.3)
    player = Player(RATE, backends=[miniaudio.Backend.NULL])
    player._device.stop()
    player.write(tone(100))
    with pytest.raises(OutputError, match="has accepted no sound"):
        player.drain()
    player.close()


def test_player_without_miniaudio(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "miniaudio", None)
    with pytest.raises(OutputError, match=re.escape("pip install 'sayahead[play]'")):
        Player(RATE)


@given(st.lists(st.binary(max_size=6), max_size=6))
@example([b"\xef"])
def test_any_bytes_in_any_pieces_give_the_same_text(blocks: list[bytes]) -> None:
    class Pieces(io.BytesIO):
        left = iter([block for block in blocks if block])

        def read(self, size: int | None = -1, /) -> bytes:
            return next(self.left, b"")

    warnings: list[str] = []
    text = "".join(
        fragment or "" for fragment in Source(Pieces(), "It", warn=warnings.append).fragments()
    )
    whole = b"".join(blocks)
    assert text == decoded(whole, 4096)[0]
    if whole.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        assert not warnings
        return
    with contextlib.suppress(UnicodeDecodeError):
        assert text == whole.decode("utf-8-sig")
    # The first place that Python's own decoder stumbles over.
    good = next(
        size
        for size in range(len(whole), -1, -1)
        if whole[:size].decode("utf-8", "ignore").encode() == whole[:size]
    )
    assert not warnings if good == len(whole) else f"at byte {good}:" in warnings[0]


@pytest.mark.parametrize("sound", [np.zeros(0, np.float32), []])
def test_a_file_stays_where_there_is_no_sound_for_it(tmp_path: Path, sound: Any) -> None:
    kept = tmp_path / "kept.wav"
    fresh = tmp_path / "fresh.wav"
    save(kept, tone(RATE), RATE)
    before = kept.read_bytes()
    for path in (kept, fresh):
        save(path, sound, RATE)
    assert kept.read_bytes() == before
    assert read_wav(fresh)[1] == RATE
    save(kept, tone(10), RATE)
    assert len(read_wav(kept)[0]) == 10
