"""The command in llm's own command line, with a model that writes slowly."""

from __future__ import annotations

import time
import wave
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import llm
import numpy as np
import pytest
from click.testing import CliRunner, Result
from llm.cli import cli
from llm.plugins import load_plugins, pm

from sayahead import Speech, load_voice
from sayahead.sound.pcm import to_pcm16
from sayahead.voice import Voice

ANSWER = "The sky is blue, since air scatters short waves more than long ones."
written: list[tuple[float, str]] = []


class Slow(llm.Model):
    model_id = "slow"
    can_stream = True

    def execute(self, prompt: Any, stream: bool, response: Any, conversation: Any) -> Iterator[str]:
        for word in ANSWER.split(" "):
            written.append((time.monotonic(), word))
            yield word + " "
            time.sleep(0.05)
        self.ended()

    def ended(self) -> None:
        """All of the answer is written."""


class Models:
    __name__ = "models"

    @llm.hookimpl
    def register_models(self, register: Any) -> None:
        register(Slow())


@pytest.fixture(autouse=True)
def models(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setenv("LLM_USER_PATH", str(tmp_path / "llm"))
    load_plugins()
    written.clear()
    pm.register(Models(), name="models")
    yield
    pm.unregister(name="models")


def say(*arguments: str, stdin: str = "") -> Result:
    return CliRunner().invoke(cli, ["say", *arguments], input=stdin)


def test_the_answer_is_spoken_and_printed(tmp_path: Path) -> None:
    result = say("-m", "slow", "Why?", "-o", str(tmp_path / "a.wav"))
    assert result.exit_code == 0, result.output
    assert result.output.strip() == ANSWER
    with wave.open(str(tmp_path / "a.wav")) as file:
        data = file.readframes(file.getnframes())
    assert data == to_pcm16(load_voice("heart").synthesize(ANSWER + " ")).tobytes()


def test_it_speaks_while_the_model_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    speeches: list[Speech] = []
    speak = Voice.speak

    def kept(self: Voice, *arguments: Any, **options: Any) -> Speech:
        speeches.append(speak(self, *arguments, **options))
        return speeches[-1]

    monkeypatch.setattr(Voice, "speak", kept)
    monkeypatch.setattr(Slow, "ended", lambda self: spoken.append(len(speeches[0].words)))
    spoken: list[int] = []
    assert say("-q", "-m", "slow", "Why?", "-o", str(tmp_path / "a.wav")).output == ""
    assert spoken[0] > 0


def test_it_is_logged_as_other_answers_are(tmp_path: Path) -> None:
    assert say("-q", "-m", "slow", "Why is it so?", "-o", str(tmp_path / "a.wav")).exit_code == 0
    assert "Why is it so?" in CliRunner().invoke(cli, ["logs", "list"]).output


def test_a_prompt_from_a_pipe_and_options(tmp_path: Path) -> None:
    result = say(
        "-m", "slow", "--speed", "2", "-k", "0", "-o", str(tmp_path / "a.wav"), stdin="Notes."
    )
    assert result.exit_code == 0, result.output
    with wave.open(str(tmp_path / "a.wav")) as file:
        seconds = file.getnframes() / 24000
    assert seconds < len(load_voice("heart").synthesize(ANSWER)) / 24000
    assert np.isfinite(seconds)


def test_what_is_wrong_is_told_before_the_model_is_asked(tmp_path: Path) -> None:
    for arguments, sentence in (
        (["-m", "slow", "Why?", "--speed", "9"], "speed is 9"),
        (["-m", "slow", "Why?", "--voice", "nobody"], "nobody"),
        (["-m", "slow", "Why?", "-o", "a.xyz"], "unsupported extension"),
        (["-m", "nothing", "Why?", "-o", str(tmp_path / "a.wav")], "nothing"),
        ([], "no prompt"),
    ):
        result = say(*arguments)
        assert result.exit_code == 1
        assert sentence in result.output
    assert not written
