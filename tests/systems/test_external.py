"""Engines that speak whole texts: a command or a function as a voice."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sayahead import ConfigError, Voice, VoiceError, load_voice
from sayahead.research import Independent
from sayahead.systems.external import whole_texts
from sayahead.voices import FORMAT, read_config

RATE = 8000
BEEPS = """
import struct, sys, wave
text = sys.argv[1] if len(sys.argv) > 1 else sys.stdin.read()
if "boom" in text:
    sys.exit("it blew up")
with wave.open(sys.stdout.buffer, "wb") as file:
    file.setnchannels(1), file.setsampwidth(2), file.setframerate(8000)
    file.writeframes(b"".join(struct.pack("<h", 9000 if i % 40 < 20 else -9000) for i in range(400 * len(text))))
"""  # noqa: E501


def described(folder: Path, command: list[str], **more: Any) -> Path:
    about = {
        "name": "beeps",
        "language": "en-US",
        "kind": "process",
        "sample_rate": RATE,
        "speed": [1.0, 1.0],
    }
    about |= {
        "format": FORMAT,
        "description": "Beeps.",
        "license": "CC0-1.0",
        "source": "tests",
        "files": {},
    }
    about |= {"defaults": {"lookahead": 1, "hold_back_s": 0.0, "blind_hold_back_s": 0.0}}
    folder.mkdir(exist_ok=True)
    (folder / "voice.json").write_text(
        json.dumps(about | {"model": {"command": command}} | more), "utf-8"
    )
    return folder


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    (tmp_path / "beeps.py").write_text(BEEPS, "utf-8")
    monkeypatch.setenv("SAYAHEAD_COMMANDS", f"other, {sys.executable}")
    return [sys.executable, str(tmp_path / "beeps.py")]


@pytest.mark.parametrize("argument", [[], ["{text}"]])
def test_a_command_says_whole_sentences(
    tmp_path: Path, command: list[str], argument: list[str]
) -> None:
    voice = load_voice(described(tmp_path / "voice", [*command, *argument]))
    chunks = list(voice.stream(list("One two. Three!")))
    assert [len(chunk.samples) for chunk in chunks] == [400 * len("One two."), 400 * len("Three!")]
    words = [word for chunk in chunks for word in chunk.words]
    assert [(word.text, word.onset_samples, word.offset_samples) for word in words] == [
        ("One", 0, 1200),
        ("two.", 1600, 3200),
        ("Three!", 3200, 5600),
    ]
    with pytest.raises(VoiceError, match="ended with code 1: it blew up"):
        voice.synthesize("boom.")


def test_a_folder_runs_nothing_that_was_not_allowed(
    tmp_path: Path, command: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for allowed in ("", "python", "/bin/true"):
        monkeypatch.setenv("SAYAHEAD_COMMANDS", allowed)
        with pytest.raises(VoiceError, match="set SAYAHEAD_COMMANDS="):
            load_voice(described(tmp_path / "voice", command))


def test_who_allows_a_whole_command_allows_no_other_arguments(
    tmp_path: Path, command: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder chose them all: ``espeak-ng -w FILE`` writes where it likes."""
    monkeypatch.setenv("SAYAHEAD_COMMANDS", f"other, {shlex.join(command)}")
    load_voice(described(tmp_path / "voice", command))
    with pytest.raises(VoiceError, match="or to the whole command"):
        load_voice(described(tmp_path / "voice", [*command, "-w", "FILE"]))


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("print('no sound')", "bytes that are no WAV file"),
        ("", "0 bytes that are no WAV file"),
        (BEEPS.replace("8000", "16000"), "wrote 16000 Hz, 1 channels, 16 bits, not 8000, 1, 16"),
    ],
)
def test_commands_that_write_something_else_are_named(
    tmp_path: Path, command: list[str], code: str, message: str
) -> None:
    Path(command[1]).write_text(code, "utf-8")
    with pytest.raises(VoiceError, match=message):
        load_voice(described(tmp_path / "voice", command))


def test_a_command_that_is_not_there_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAYAHEAD_COMMANDS", "no-such-program")
    with pytest.raises(VoiceError, match="no-such-program cannot be run"):
        load_voice(described(tmp_path / "voice", ["no-such-program"]))
    with pytest.raises(VoiceError, match="command is empty"):
        load_voice(described(tmp_path / "voice", []))


def test_a_function_says_what_policies_ask_for(tmp_path: Path) -> None:
    said = list[str]()

    def speaks(text: str) -> Any:
        said.append(text)
        return np.full(10 * len(text), 0.5)

    config = read_config(described(tmp_path / "voice", ["x"]))
    voice = Voice(config, whole_texts(speaks, sample_rate=RATE, language="en-US"))
    assert len(voice.synthesize("One two three. Four.")) == 10 * len("One two three.Four.")
    assert said == ["One two three.", "Four."]
    said.clear()
    voice.synthesize("One two three. Four.", policy=Independent(2))
    assert said == ["One two", "three.", "Four."]
    with pytest.raises(ConfigError, match="is not known"):
        voice.session(policy="lookahed")
