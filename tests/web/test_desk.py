"""The page's texts: messages in, messages and sound out, as on the native socket."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from support.browser_tab import desk_here
from support.servers import toy_voice

from sayahead.errors import VoiceError
from sayahead.sound.pcm import to_pcm16
from sayahead.voice import Voice

TEXT = "One two three four, five six seven. Eight nine ten."


class Page:
    """Somebody at the desk."""

    def __init__(self, voice: Voice) -> None:
        self.messages = list[dict[str, Any]]()
        self.sound = dict[str, bytes]()
        self.loaded = list[str]()
        self._voice = voice
        self.desk = desk_here(self._hear, self._load)

    def _load(self, name: str) -> Voice:
        self.loaded.append(name)
        if name == "nobody":
            raise VoiceError("There is no voice 'nobody'.")
        return self._voice

    def _hear(self, message: str, data: bytes) -> None:
        self.messages.append(json.loads(message))
        name = self.messages[-1]["context_id"]
        self.sound[name] = self.sound.get(name, b"") + data

    def say(self, kind: str, name: str = "a", **rest: Any) -> None:
        self.desk.receive(json.dumps({"type": kind, "context_id": name, **rest}))

    def work(self) -> None:
        while self.desk.step():
            pass

    def kinds(self, name: str = "a") -> list[str]:
        return [message["type"] for message in self.messages if message["context_id"] == name]

    @property
    def words(self) -> list[dict[str, Any]]:
        return [word for message in self.messages for word in message.get("words", [])]


@pytest.fixture
def page() -> Page:
    return Page(toy_voice())


def whole(voice: Voice, text: str, **options: Any) -> bytes:
    return to_pcm16(voice.synthesize(text, **options)).tobytes()


@pytest.mark.parametrize("size", [1, 7, len(TEXT)])
def test_sound_is_that_of_a_session_however_the_text_comes(page: Page, size: int) -> None:
    for at in range(0, len(TEXT), size):
        page.say("input_text.append", text=TEXT[at : at + size])
        page.work()
    page.say("input_text.end")
    page.work()
    assert page.sound["a"] == whole(toy_voice(), TEXT)
    assert page.kinds()[-1] == "speech.done"
    assert page.messages[-1]["characters"] == len(TEXT)
    assert [TEXT[word["start"] : word["end"]] for word in page.words] == TEXT.split()


def test_chunks_follow_one_another_without_a_gap(page: Page) -> None:
    page.say("input_text.append", text=TEXT)
    page.say("input_text.end")
    page.work()
    audio = [message for message in page.messages if message["type"] == "speech.audio"]
    starts = np.cumsum([0.0, *(message["duration_s"] for message in audio)])
    assert [message["start_s"] for message in audio] == pytest.approx(starts[:-1])
    assert page.messages[-1]["audio_s"] == pytest.approx(starts[-1])
    assert all(
        message["words"] == sorted(message["words"], key=lambda word: word["onset_s"])
        for message in audio
    )


def test_a_flush_is_answered_behind_its_sound_and_before_what_follows(page: Page) -> None:
    page.say("input_text.append", text="One two three. ")
    page.say("input_text.flush", flush_id=1, end=True)
    page.say("input_text.append", text="Four five. ")
    page.work()
    kinds = page.kinds()
    answer = kinds.index("speech.flushed")
    assert page.messages[answer]["flush_id"] == 1
    assert [word["word"] for message in page.messages[:answer] for word in message["words"]] == [
        "One",
        "two",
        "three.",
    ]
    assert kinds.count("speech.flushed") == 1


def test_options_are_the_sessions(page: Page) -> None:
    page.say("session.update", session={"speed": 1.5, "policy": "wait-all", "voice": None})
    page.say("input_text.append", text=TEXT)
    page.say("input_text.end")
    page.work()
    assert page.sound["a"] == whole(toy_voice(), TEXT, speed=1.5, policy="wait-all")


def test_another_rate_is_another_number_of_samples(page: Page) -> None:
    voice = toy_voice()
    page.say("session.update", session={"sample_rate": 48000})
    page.say("input_text.append", text=TEXT)
    page.say("input_text.end")
    page.work()
    seconds = len(whole(voice, TEXT)) / 2 / voice.sample_rate
    assert len(page.sound["a"]) / 2 / 48000 == pytest.approx(seconds, abs=0.01)
    assert page.messages[-1]["audio_s"] == pytest.approx(seconds, abs=0.01)


def test_a_revision_changes_what_was_not_spoken(page: Page) -> None:
    page.say("input_text.append", text="One two three four five")
    page.work()
    page.say("input_text.flush", flush_id=3)
    page.say("input_text.revise", at=14, text="for six. ", revise_id=7)
    assert page.kinds()[-2:] == ["speech.flushed", "speech.revised"]
    assert page.messages[-1] == {**page.messages[-1], "revise_id": 7, "at": 14, "text": "for six. "}
    page.say("input_text.end")
    page.work()
    assert [word["word"] for word in page.words] == ["One", "two", "three", "for", "six."]


def test_a_cancelled_text_is_silent_and_its_name_is_free(page: Page) -> None:
    page.say("input_text.append", text=TEXT)
    assert page.desk.step()
    before = page.sound["a"]
    page.say("input_text.cancel")
    page.work()
    assert page.sound["a"] == before
    page.say("input_text.append", text=TEXT)
    page.say("input_text.end")
    page.work()
    assert page.sound["a"] == before + whole(toy_voice(), TEXT)


def test_who_has_least_sound_speaks_next(page: Page) -> None:
    for name in ("a", "b"):
        page.say("input_text.append", name, text=TEXT)
        page.say("input_text.end", name)
    for _ in range(6):
        page.desk.step()
    assert abs(len(page.sound["a"]) - len(page.sound["b"])) < len(whole(toy_voice(), TEXT)) / 2
    page.work()
    assert page.sound["a"] == page.sound["b"] == whole(toy_voice(), TEXT)


def test_a_text_without_words_loads_the_voice(page: Page) -> None:
    page.say("input_text.end")
    page.work()
    assert page.loaded == ["heart"]
    assert page.kinds() == ["speech.done"]


def test_what_cannot_be_is_told_and_harms_no_other_text(page: Page) -> None:
    page.say("input_text.append", text=TEXT)
    page.say("session.update", session={"voice": "nobody"})
    page.say("input_text.append", "b", text="Hello. ")
    page.say("session.update", session={"speed": 9.0})
    page.say("input_text.append", "c", text="Hello. ")
    errors = [message for message in page.messages if message["type"] == "error"]
    assert [(error["context_id"], error["code"]) for error in errors] == [
        ("b", "invalid"),
        ("c", "invalid"),
    ]
    assert "nobody" in errors[0]["message"]
    assert "speed" in errors[1]["message"]
    page.say("input_text.end")
    page.work()
    assert page.sound["a"] == whole(toy_voice(), TEXT)


def test_a_step_that_fails_ends_its_text_alone(page: Page) -> None:
    page.say("input_text.append", text="Now explode. ")
    page.say("input_text.append", "b", text=TEXT)
    for name in ("a", "b"):
        page.say("input_text.end", name)
    page.work()
    errors = [message for message in page.messages if message["type"] == "error"]
    assert [(error["context_id"], error["gone"], error["code"]) for error in errors] == [
        ("a", True, "failed")
    ]
    assert page.sound["b"] == whole(toy_voice(), TEXT)


def test_what_cannot_be_read_is_told_with_its_place(page: Page) -> None:
    page.say("input_text.append", text="Hello Привет there. ")
    page.say("input_text.end")
    page.work()
    told = [message for message in page.messages if message["type"] == "speech.skipped"]
    assert [(each["start"], each["end"], each["text"]) for each in told] == [(6, 12, "Привет")]
