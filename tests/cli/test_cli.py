"""The command line, as a person and a pipe use it: real processes where a signal, a pipe or a
terminal is at stake."""

from __future__ import annotations

import io
import json
import os
import re
import select
import signal
import subprocess
import sys
import time
import wave
from pathlib import Path
from typing import Any

import pytest
from support.command import Command, end, kept, spawned, start

from sayahead import __version__, extensions
from sayahead.cli import COMMANDS, main
from sayahead.cli.text_source import Typed
from sayahead.sound.files import WavWriter
from sayahead.sound.pcm import to_pcm16
from sayahead.types import Floats

RATE = 24000
POSIX = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals, pipes or terminals")


def seconds(path: Path | io.BytesIO) -> float:
    """Length of a WAV file that is whole."""
    with wave.open(path if isinstance(path, io.BytesIO) else str(path), "rb") as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (RATE, 1, 2)
        return len(file.readframes(file.getnframes())) / 2 / RATE


def test_help_and_version(sayahead: Command) -> None:
    stdout, _ = spawned("--help")
    assert all(name in stdout.decode() for name in COMMANDS)
    stdout, _ = sayahead("say", "--help")
    assert "examples:" in stdout.decode()
    assert "llm 'Tell me a story.' | sayahead say" in stdout.decode()
    assert sayahead("--version")[0].decode().strip() == f"sayahead {__version__}"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "usage: sayahead COMMAND"),
        (["sya"], "did you mean 'say'?"),
        (["Hello there"], "To speak it: sayahead say 'Hello there'"),
        (["say", "--polcy", "x", "hi"], "there is no option '--polcy' (did you mean '--policy'?)"),
        (["say", "--policy", "wait-al", "hi"], "'wait-al' is not known (did you mean 'wait-all'?)"),
        (["say", "--context", "randm", "hi"], "did you mean 'random'?"),
        (["say", "-k", "-1", "hi"], "must be a whole number of at least 0"),
        (["say", "-k", "two", "hi"], "must be a whole number of at least 0"),
        (["say", "--hold-back", "nan", "hi"], "must be a number from 0 to 2000"),
        (
            ["say", "--policy", "lookahead:chunk=0", "hi"],
            "chunk is 0, but must be a whole number of at least 1",
        ),
        (["say", "--idle", "-1", "hi"], "at least 0"),
        (["say", "-o", "a.wma", "hi"], "use .wav, .flac, .mp3, .opus, .ogg, .aac."),
        (["say", "-o", "a", "hi"], "use .wav, .flac, .mp3, .opus, .ogg, .aac."),
        (["say", "--timings", "a.txt", "hi"], "use .json, .srt, .vtt."),
        (["say", "-o", "a.wav", "--raw", "hi"], "leave out -o or --raw"),
        (["say", "-f", "a.txt", "hi"], "Give TEXT or --file, not both"),
        (["say", "-f", "no such file"], "no such file cannot be read: "),
        (
            ["say", "--keep-up", "lag=2", "hi"],
            "keep_up: unknown option 'lag' (did you mean 'lag_s'?)",
        ),
        (["say", "--policy", "wait-all", "-k", "2", "hi"], "policy 'wait-all': unknown option 'k'"),
        (["say", "--context", "lm", "hi"], "--lm NAME"),
        (
            ["say", "--context", "none", "--lm", "gpt2", "hi"],
            "--lm does not apply to --context none",
        ),
        (["say", "--voice", "hart", "hi"], "There is no voice 'hart' (did you mean 'heart'?)"),
        (
            ["say", "-o", "-", "--speed", "9", "hi"],
            "speed is 9.0, but must be a number from 0.5 to 2.",
        ),
    ],
)
def test_wrong_calls(
    sayahead: Command,
    arguments: list[str],
    sentence: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    stdout, stderr = sayahead(*arguments, code=2)
    assert sentence in stderr
    assert stdout == b""
    assert not list(tmp_path.iterdir())


def test_a_row_of_voices_fits_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One long licence made all rows 190 columns wide."""
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "60")
    assert main(["voices"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines[:-1])) == 60
    assert lines[1].endswith("…")


def test_research_and_settings_are_told_apart_in_help(sayahead: Command) -> None:
    say = sayahead("say", "--help")[0].decode()
    usual, research = say.split("for research:")
    assert "--policy" in usual
    assert all(flag in research for flag in ("--context", "--k2", "--delta", "--lm"))
    serve = sayahead("serve", "--help")[0].decode()
    for usage in ("--voice NAME", "--certificate FILE", "--workers N", "--origin URL"):
        assert usage in serve
    assert "whether to load all voices" in serve


def test_wrong_calls_have_no_traceback(sayahead: Command, tmp_path: Path) -> None:
    _, stderr = sayahead("say", "-o", str(tmp_path / "missing" / "a.wav"), "Hi", code=2)
    assert re.fullmatch(r"sayahead: error: .* there is no folder .*missing\.\n", stderr)
    _, stderr = sayahead("say", "-f", str(tmp_path / "missing.txt"), code=2)
    assert stderr.count("\n") == 1


def test_wav_flac_and_timings(sayahead: Command, tmp_path: Path) -> None:
    import soundfile

    text = "The quick brown fox jumps. It sleeps & dreams."
    _, stderr = sayahead(
        "say", "-o", str(tmp_path / "a.wav"), text, "--timings", str(tmp_path / "a.json")
    )
    assert re.search(r"a\.wav: \d\.\d s, 9 words, first sound \d+ ms after its text\n$", stderr)
    length = seconds(tmp_path / "a.wav")
    assert length > 2
    timings = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    words = timings["words"]
    assert [text[word["start"] : word["end"]].rstrip(".") for word in words] == text.replace(
        ".", ""
    ).split()
    times = [time for word in words for time in (word["onset"], word["offset"])]
    assert times == sorted(times)
    assert 0 <= times[0] < words[-1]["onset"] < length * RATE

    sayahead(
        "say", "-q", "-o", str(tmp_path / "a.FLAC"), text, "--timings", str(tmp_path / "a.srt")
    )
    samples, rate = soundfile.read(tmp_path / "a.FLAC", dtype="int16")
    with wave.open(str(tmp_path / "a.wav"), "rb") as file:
        assert (samples.tobytes(), rate) == (file.readframes(file.getnframes()), RATE)
    assert monotone((tmp_path / "a.srt").read_text(encoding="utf-8"), ",") == 2


def monotone(subtitles: str, point: str) -> int:
    """How many subtitles there are, one after the other."""
    stamp = rf"(\d\d):(\d\d):(\d\d){re.escape(point)}(\d\d\d)"
    cues = re.findall(rf"^{stamp} --> {stamp}$", subtitles, re.MULTILINE)
    times = [[int(n) for n in cue[at : at + 4]] for cue in cues for at in (0, 4)]
    assert times == sorted(times)
    return len(cues)


@POSIX
def test_streams_raw_and_wav(sayahead: Command, tmp_path: Path) -> None:
    raw, stderr = sayahead("say", "--raw", "Hello there.", "--timings", str(tmp_path / "a.vtt"))
    assert "signed 16-bit little-endian, mono, 24000 samples a second" in stderr
    assert monotone((tmp_path / "a.vtt").read_text(encoding="utf-8"), ".") == 1
    for source in (["-f", "-"], ["-"]):
        whole, stderr = sayahead("say", "-q", "-o", "-", *source, stdin=b"Hello there.")
        assert stderr == ""
        assert whole[44:] == raw
    assert seconds(io.BytesIO(whole)) == len(raw) / 2 / RATE
    # Standard output that is a file gets a header with its size.
    with open(tmp_path / "a.wav", "wb") as file:
        spawned("say", "-q", "-o", "-", "Hello there.", stdout=file)
    assert (tmp_path / "a.wav").stat().st_size == 44 + len(raw)
    assert (tmp_path / "a.wav").read_bytes()[40:44] == len(raw).to_bytes(4, "little")


def test_sound_comes_before_the_end_of_the_input() -> None:
    with start("say", "--raw", "-q") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"The quick brown ")
        first = process.stdout.read(2)
        assert len(first) == 2
        process.stdin.write("fox jumps\u2009.".encode()[:-2])
        rest, stderr = end(process)
    assert process.returncode == 0
    assert stderr == ""
    assert len(rest) > RATE


def spoken(*parts: str) -> list[bytes]:
    """Bare samples of what the voice says to each part of a text, where it breathes behind each."""
    session = kept("heart").session()
    sounds = list[bytes]()
    for part in parts:
        session.push(part)
        session.flush(end=False)
        sounds.append(b"".join(to_pcm16(chunk.samples).tobytes() for chunk in session.chunks()))
    return sounds


def read_sound(process: subprocess.Popen[bytes], count: int) -> bytes:
    """So many bytes of a command's sound; AssertionError where they do not come while its input
    stays open."""
    assert process.stdout is not None
    sound = b""
    limit = time.monotonic() + 100
    while len(sound) < count:
        ready, _, _ = select.select([process.stdout], [], [], limit - time.monotonic())
        assert ready, f"{len(sound)} of {count} bytes came"
        sound += process.stdout.read(count - len(sound))
    return sound


@POSIX
def test_a_line_is_spoken_to_its_end_without_the_next_one() -> None:
    (sound,) = spoken("Build finished.\n")
    with start("say", "--raw", "-q") as process:
        assert process.stdin is not None
        process.stdin.write(b"Build finished.\n")
        assert read_sound(process, len(sound)) == sound
        rest, _ = end(process)
    assert rest == b""


@pytest.mark.slow
@POSIX
def test_words_before_a_pause_are_spoken_and_their_sentence_goes_on() -> None:
    before, after = spoken("Let me check that for you", " right now")
    with start("say", "--raw", "-q") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"Let me check that for you")
        assert read_sound(process, len(before)) == before
        # No pause follows, as one would behind a sentence.
        assert select.select([process.stdout], [], [], 1.0)[0] == []
        process.stdin.write(b" right now")
        assert read_sound(process, len(after)) == after
        end(process)
    assert process.returncode == 0


@POSIX
def test_a_word_is_finished_before_a_listener_runs_dry() -> None:
    """Of one who listens to a pipe, in real time: the end of "two" comes at once, not with the next
    word."""
    with start("say", "--raw", "-q", "--keep-up", "on", "-k", "0", "--idle", "9") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"one two ")
        whole = len(spoken("one two ", "three")[0])
        assert len(read_sound(process, whole)) > whole - RATE // 50
        process.stdin.write(b"three ")
        end(process)
    assert process.returncode == 0


def test_idle_input_is_spoken() -> None:
    with start("say", "--raw", "-q", "--idle", "0.2") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"Hello")
        assert len(process.stdout.read(2)) == 2
        rest, _ = end(process)
    assert len(rest) > RATE // 4
    assert process.returncode == 0


@POSIX
@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, 143, marks=pytest.mark.slow)],
)
@pytest.mark.usefixtures("interruptible")
def test_a_signal_leaves_whole_files(tmp_path: Path, number: signal.Signals, code: int) -> None:
    wav = tmp_path / "a.wav"
    timings = tmp_path / "a.json"
    with start("say", "-o", str(wav), "--timings", str(timings)) as process:
        assert process.stdin is not None
        process.stdin.write(b"One two three four five six seven ")
        limit = time.monotonic() + 100
        while not wav.exists() or wav.stat().st_size < 48_000:
            assert time.monotonic() < limit
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(number)
        process.wait(60)
        _, stderr = end(process)
    assert process.returncode == code
    assert "words, first sound" in stderr
    assert stderr.endswith(", stopped\n")
    words = json.loads(timings.read_text(encoding="utf-8"))["words"]
    assert [word["text"] for word in words][:2] == ["One", "two"]
    assert words[-1]["onset"] <= seconds(wav) * RATE


def test_timings_are_of_what_was_written_when_a_signal_came(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Words of a chunk that was made, and not written yet, had times behind the file's end."""
    wav = tmp_path / "a.wav"
    timings = tmp_path / "a.json"
    write = WavWriter.write

    def interrupted(self: WavWriter, samples: Floats) -> None:
        if wav.stat().st_size > 30_000:
            raise KeyboardInterrupt
        write(self, samples)

    monkeypatch.setattr(WavWriter, "write", interrupted)
    text = "One two three four five six seven."
    assert main(["say", "-q", "-o", str(wav), "--timings", str(timings), text]) == 130
    words = json.loads(timings.read_text(encoding="utf-8"))["words"]
    assert words[0]["text"] == "One"
    assert words[-1]["onset"] < seconds(wav) * RATE


@POSIX
def test_a_reader_that_has_heard_enough() -> None:
    with start("say", "--raw", "-f", "-") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"One two three four. " * 20)
        assert len(process.stdout.read(1000)) > 0
        process.stdout.close()
        process.stdin.close()
        assert process.wait(100) == 0
        assert process.stderr is not None
        assert process.stderr.read().count(b"\n") == 1
    reader, writer = os.pipe()
    os.close(reader)
    _, stderr = spawned("voices", stdout=writer)
    os.close(writer)
    assert stderr == ""


def test_commands_of_a_command_are_listed_and_suggested(sayahead: Command) -> None:
    listed, _ = sayahead("voices", "--help")
    for part in ("add", "shape", "from-clip", "pack", "remove"):
        assert f"\n  {part} ".encode() in listed
    _, stderr = sayahead("voices", "remov", code=2)
    assert "unexpected argument 'remov' (did you mean 'remove'?)" in stderr
    assert b"--hold-back MS        milliseconds of sound" in sayahead("say", "--help")[0]


def test_bytes_that_are_no_text(sayahead: Command, tmp_path: Path) -> None:
    wav = tmp_path / "a.wav"
    timings = tmp_path / "a.json"
    _, stderr = sayahead(
        "say",
        "-o",
        str(wav),
        "--timings",
        str(timings),
        stdin=b"Hello \xff\xfe there\x00 friend. \xc3",
    )
    assert "Standard input is not UTF-8 at byte 6" in stderr
    assert "Standard input is not UTF-8 in 3 places." in stderr
    words = json.loads(timings.read_text(encoding="utf-8"))["words"]
    assert [re.sub(r"\W", "", word["text"]) for word in words if word["text"].strip("\ufffd")] == [
        "Hello",
        "there",
        "friend",
    ]


@pytest.mark.parametrize(
    ("text", "reason"), [("", "is empty"), ("\U0001f642 ... !", "has no word")]
)
def test_nothing_to_say(sayahead: Command, tmp_path: Path, text: str, reason: str) -> None:
    _, stderr = sayahead("say", "-o", str(tmp_path / "a.wav"), text)
    assert "warning: Nothing to say: the text" in stderr
    assert reason in stderr
    assert seconds(tmp_path / "a.wav") == 0


@POSIX
def test_a_full_disk(sayahead: Command, tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    (tmp_path / "a.wav").symlink_to("/dev/full")
    _, stderr = sayahead("say", "-o", str(tmp_path / "a.wav"), "Hi", code=1)
    assert "cannot be written: No space left on device." in stderr
    with open("/dev/full", "wb") as full:
        _, stderr = spawned("voices", stdout=full.fileno(), code=1)
    assert stderr == "sayahead: error: Output cannot be written: No space left on device.\n"


@POSIX
def test_typing_lines_on_a_terminal() -> None:
    import pty

    person, terminal = pty.openpty()
    with start("say", "--raw", stdin=terminal, stderr=terminal) as process:
        os.close(terminal)
        shown = read_until(person, b"Ctrl-D ends")
        os.write(person, b"Hello there, my friend\n")
        assert process.stdout is not None
        # A line is spoken when it ends, whatever may follow.
        assert len(process.stdout.read(2 * RATE)) > 0
        os.write(person, b"\x04")
        process.stdout.read()
        shown += read_until(person, b"first sound")
        assert process.wait(60) == 0
    os.close(person)
    assert b"Type, and press Enter to hear each line" in shown


@POSIX
def test_typing_keys_on_a_terminal(tmp_path: Path) -> None:
    import pty

    person, terminal = pty.openpty()
    options = ["-o", str(tmp_path / "a.wav"), "--timings", str(tmp_path / "a.json"), "--idle", "5"]
    with start("say", "-i", *options, stdin=terminal, stderr=terminal) as process:
        os.close(terminal)
        shown = read_until(person, b"Ctrl-D ends")
        # Each word is spoken as it is finished; what was not spoken is taken back.
        os.write(person, b"I live in \x1b[1m")
        shown += read_until(person, b"\x1b[7mlive\x1b[0m")
        # Arrows, Delete, F1 and what a terminal puts around a paste are no text, wherever they are
        # cut.
        os.write(person, b"\x1b[A\x1b[3~\x1bOP\x1b[200~")
        os.write(person, b"Berlim" + 6 * b"\x7f" + b"Rome\x17Paris\x1b[1;5D now.\n\x04")
        shown += read_until(person, b"first sound")
        assert process.wait(60) == 0
    os.close(person)
    words = [word["text"] for word in json.loads((tmp_path / "a.json").read_text())["words"]]
    assert words == ["I", "live", "in", "Paris", "now."]
    # What was typed must not give orders to the terminal.
    assert b"\x1b[1m" not in shown


@pytest.mark.slow
@POSIX
def test_keys_that_came_while_the_voice_was_loaded_are_spoken(tmp_path: Path) -> None:
    import pty

    person, terminal = pty.openpty()
    os.write(person, b"Early words ")
    options = ["-o", str(tmp_path / "a.wav"), "--timings", str(tmp_path / "a.json")]
    with start("say", "-i", *options, stdin=terminal, stderr=terminal) as process:
        os.close(terminal)
        read_until(person, b"Ctrl-D ends")
        os.write(person, b"and late ones.\x04")
        read_until(person, b"first sound")
        assert process.wait(60) == 0
    os.close(person)
    words = [word["text"] for word in json.loads((tmp_path / "a.json").read_text())["words"]]
    assert words == ["Early", "words", "and", "late", "ones."]


def read_until(terminal: int, expected: bytes) -> bytes:
    """What a terminal shows up to and with ``expected``."""
    shown = b""
    limit = time.monotonic() + 60
    while expected not in shown:
        ready, _, _ = select.select([terminal], [], [], max(0.0, limit - time.monotonic()))
        assert ready, shown
        shown += os.read(terminal, 4096)
    return shown


def test_playing(sayahead: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    import miniaudio

    monkeypatch.setattr(
        "sayahead.sound.device.real_backends", lambda miniaudio: [miniaudio.Backend.NULL]
    )
    begun = time.monotonic()
    stdout, stderr = sayahead("say", "-i", "Hello there, friend.")
    assert stdout == b""
    assert stderr.startswith("Hello there, friend. \nSpoken: ")
    assert time.monotonic() - begun > 0.8

    def broken(**_: Any) -> None:
        raise miniaudio.MiniaudioError("failed to init device", -1)

    monkeypatch.setattr(miniaudio, "PlaybackDevice", broken)
    _, stderr = sayahead("say", "Hello.", code=1)
    assert "No sound device could be opened" in stderr
    assert "-o hello.wav" in stderr
    assert "--raw ... | aplay" in stderr

    monkeypatch.setitem(sys.modules, "miniaudio", None)
    _, stderr = sayahead("say", "Hello.", code=1)
    assert "pip install 'sayahead[play]'" in stderr
    # Its silent device needs miniaudio, too.
    assert "SAYAHEAD_DEVICE" not in stderr


def test_missing_extras_are_this_machines_lack(
    sayahead: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    _, stderr = sayahead("say", "-o", "-", "--lm", "gpt2", "Hello.", code=1)
    assert "pip install 'sayahead[lm]'" in stderr


def test_policies_and_context(sayahead: Command, tmp_path: Path) -> None:
    options = [
        "--policy",
        "wait-all",
        "--context",
        "random",
        "--seed",
        "3",
        "--speed",
        "2",
        "--volume",
        "0.5",
    ]
    sayahead("say", "-q", "-o", str(tmp_path / "a.wav"), *options, "Hello there.")
    options = [
        "-k",
        "0",
        "--policy",
        "lookahead:first_chunk=18,chunk=6",
        "--hold-back",
        "0",
        "--context",
        "none",
        "--k2",
        "1",
    ]
    sayahead("say", "-q", "-o", str(tmp_path / "b.wav"), *options, "--delta", "10", "Hello there.")
    assert 0.2 < seconds(tmp_path / "a.wav") < seconds(tmp_path / "b.wav")


def test_voices(sayahead: Command) -> None:
    table = sayahead("voices")[0].decode().splitlines()
    assert table[0].split() == [
        "name",
        "language",
        "gender",
        "speakers",
        "rate",
        "size",
        "licence",
        "package",
        "description",
    ]
    assert any(line.startswith("heart ") for line in table)
    assert any(line.startswith("heart-low ") and " in heart " in line for line in table)
    rows = json.loads(sayahead("voices", "--json")[0])
    assert rows[0].keys() >= {"name", "language", "sample_rate", "bytes", "license", "description"}
    packages = {row["name"]: row["package"] for row in rows}
    assert packages["heart"] == packages["heart-low"] == "sayahead"
    assert not any(row["research"] for row in rows)
    every = json.loads(sayahead("voices", "--all", "--json")[0])
    packages = {row["name"]: row["package"] for row in every}
    assert packages.get("ma-lj", "sayahead-voices-papers") == "sayahead-voices-papers"
    assert {row["name"] for row in every} - {row["name"] for row in rows} == {
        row["name"] for row in every if row["research"]
    }


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ("train", "recipe.toml"),
            "sayahead train is part of sayahead-lab, which is not installed",
        ),
        (
            ("say", "--voice", "ma-lj", "Hi."),
            "The voice 'ma-lj' is part of sayahead-voices-papers, which is not installed",
        ),
    ],
)
def test_what_other_packages_bring_says_which_to_install(
    sayahead: Command, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], sentence: str
) -> None:
    monkeypatch.setattr(extensions, "entry_points", lambda group: {})
    assert sentence in sayahead(*words, code=1 if words[0] == "train" else 2)[1]


def test_doctor(sayahead: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    from sayahead.cli import doctor

    installed = doctor.installed
    monkeypatch.setattr(
        doctor, "installed", lambda name: None if name == "torch" else installed(name)
    )
    report = json.loads(sayahead("doctor", "--json")[0])
    findings = {finding["name"]: finding for finding in report["findings"]}
    assert report["ok"]
    missing = {
        "name": "torch",
        "found": "not installed: pip install 'sayahead[lm]'",
        "state": "optional",
    }
    assert findings["torch"] == missing
    assert "first audible sample after" in findings["speech"]["found"]
    monkeypatch.setattr(doctor, "installed", lambda name: None)
    monkeypatch.setattr(doctor, "speech", lambda: doctor.Finding("speech", "silent", "broken"))
    stdout, _ = sayahead("doctor", code=1)
    assert "broken    speech: silent" in stdout.decode()


@pytest.mark.parametrize("cut", range(1, 12))
def test_keys_that_are_no_characters_are_left_out_wherever_they_are_cut(cut: int) -> None:
    typed = Typed()
    text = "a\x1b[1;5Db\x1bOPc"
    assert typed.characters(text[:cut]) + typed.characters(text[cut:]) == "abc"


def test_a_key_behind_escape_and_a_pause_is_a_character() -> None:
    typed = Typed()
    assert [typed.characters(fragment) for fragment in ("a\x1b", "", None, "[b")] == [
        "a",
        "",
        "",
        "[b",
    ]
