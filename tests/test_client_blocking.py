"""The client without asyncio, against a real server."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from support.servers import Running, serving, toy_voice

import sayahead
from sayahead import SessionError, TextError
from sayahead.client import Client, ServerError

pytestmark = pytest.mark.smoke

TEXT = "Hello there, how are you today? I am fine. "


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with serving(step_s=0.005, step_words=1) as running:
        yield running


def test_a_stream_is_what_the_voice_says_and_comes_while_it_is_written(server: Running) -> None:
    heard = threading.Event()

    def fragments() -> Iterator[str]:
        yield TEXT[:20]
        assert heard.wait(20)
        yield TEXT[20:]

    with Client(server.ws) as client:
        chunks = []
        for chunk in client.stream(fragments()):
            heard.set()
            chunks.append(chunk)
    assert (
        np.abs(np.concatenate([c.samples for c in chunks]) - toy_voice().synthesize(TEXT)).max()
        < 1e-4
    )


def test_text_is_pushed_revised_flushed_and_cancelled(server: Running, tmp_path: Path) -> None:
    with Client(server.ws, policy="lookahead:k=0") as client:
        speech = client.open_speech()
        speech.push("Hello there I am")
        assert speech.revise(12, "you are. ") == 12
        speech.flush()
        speech.finish()
        words = [word.text for chunk in speech for word in chunk.words]
        assert words == ["Hello", "there", "you", "are."]
        assert speech.text == "Hello there you are. "
        assert speech.heard().word_count == 4
        speech = client.open_speech()
        speech.push(TEXT)
        next(iter(speech))
        assert speech.cancel(0.0).word_count == 0
        with pytest.raises(SessionError, match="after the end"):
            speech.push("more")
        client.speak(TEXT).save(tmp_path / "x.wav")
    toy_voice().speak(TEXT, policy="lookahead:k=0").save(tmp_path / "y.wav")
    assert (tmp_path / "x.wav").stat().st_size == (tmp_path / "y.wav").stat().st_size


def test_leaving_early_silences_it_and_the_next_text_is_spoken(server: Running) -> None:
    with Client(server.ws) as client:
        for _ in client.stream([TEXT] * 20):
            break
        assert [word.text for chunk in client.stream("Hello. ") for word in chunk.words] == [
            "Hello."
        ]


def test_it_is_played(server: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAYAHEAD_DEVICE", "null")
    with Client(server.ws) as client:
        assert client.speak("Hello there. ").play().text == "Hello there."
        with sayahead.Player(client.sample_rate) as player:
            assert client.speak("Hello there. ").play(player).text == "Hello there."


def test_what_goes_wrong_is_told_where_one_waits_for_it(server: Running) -> None:
    def broken() -> Iterator[str]:
        yield "Hello "
        raise KeyError("the model failed")

    with Client(server.ws) as client:
        with pytest.raises(KeyError, match="the model failed"):
            list(client.stream(broken()))
        with pytest.raises(TextError, match="not int"):
            client.open_speech().push(3)  # type: ignore[arg-type]
    with pytest.raises(SessionError, match="not connected"):
        client.open_speech()
    with pytest.raises(ServerError, match="nobody"), Client(server.ws, voice="nobody"):
        pass
