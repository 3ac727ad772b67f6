"""Policies and contexts by name, over every protocol that can carry them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import httpx
import numpy as np
import pytest
from support.servers import Running, serving, toy_voice
from support.toy_voices import toy
from websockets.asyncio.client import connect

from sayahead import KeepUp, Voice
from sayahead.client import AsyncClient, ServerError
from sayahead.engine.policy import Read, Speak, View
from sayahead.errors import ConfigError
from sayahead.extensions import Extensible
from sayahead.research import SessionOptions
from sayahead.server.synthesis.offers import TABLES, offered, offers, session_of
from sayahead.types import Floats


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    """Word by word, as what it is compared with."""
    with serving(step_words=1) as running:
        yield running


TEXT = "Hello there, how are you today? I am fine. "


def heard(voice: Voice, text: str, **session: Any) -> Floats:
    """What a server says, which gets the text in two parts."""

    async def run(address: str) -> Floats:
        async with AsyncClient(address, **session) as client:
            return np.concatenate(
                [chunk.samples async for chunk in client.stream([text[:9], text[9:]])]
            )

    with serving(voice=voice, step_words=1) as server:
        return asyncio.run(run(server.ws))


@pytest.mark.parametrize("policy", ["learned:price=2,words_per_min=120", {"name": "wait-all"}])
def test_a_policy_says_over_the_socket_what_it_says_in_python(heart: Voice, policy: Any) -> None:
    text = "It speaks a word behind, and knows when to wait."
    local = heart.synthesize(text, policy=policy)
    assert np.abs(heard(heart, text, policy=policy) - local).max() < 1e-4
    assert not np.array_equal(local, heart.synthesize(text))


def test_a_context_says_over_the_socket_what_it_says_in_python(heart: Voice) -> None:
    text = "It speaks a word behind, and knows when to wait."
    policy = "lookahead:k=0"
    local = heart.synthesize(text, policy=policy, context="none")
    assert np.abs(heard(heart, text, policy=policy, context="none") - local).max() < 1e-4
    assert not np.array_equal(
        local, heart.synthesize(text, policy=policy, context="random:count=2")
    )


def test_a_voice_of_characters_speaks_by_its_own_policies() -> None:
    voice = toy("mohan")
    text = "Hello there. "
    for policy in (None, "wait-all", "wait-k-steps:k=3"):
        local = voice.synthesize(text, policy=voice.policy(policy))
        assert np.abs(heard(voice, text, policy=policy) - local).max() < 1e-4


@pytest.mark.parametrize(
    ("session", "message"),
    [
        ({"policy": "lerned"}, "policy 'lerned' is not known .did you mean 'learned'"),
        ({"policy": "lookahead:kk=1"}, "unknown option 'kk' .did you mean 'k'"),
        ({"policy": "lookahead:k=17"}, "k is 17, but must be a whole number from 0 to 16"),
        ({"policy": "learned"}, "voice 'toy' has no policy 'learned'"),
        ({"policy": "wait-end"}, "decides on characters"),
        ({"policy": 5}, "policy is int 5, but must be a name"),
        ({"context": "lm:model=gpt2"}, "context 'lm' is not known"),
        ({"context": "random:count=-1"}, "count is -1, but must be a whole number from 0 to 16"),
    ],
)
def test_what_is_not_offered_is_refused_and_the_connection_stays(
    server: Running, session: dict[str, Any], message: str
) -> None:
    async def run() -> None:
        async with AsyncClient(server.ws) as client:
            await client._say("session.update", session=session)
            chunks = [chunk async for chunk in client.stream(["Hello."])]
            assert chunks
        with pytest.raises(ServerError, match=message) as caught:
            async with AsyncClient(server.ws, **session):
                pass
        assert caught.value.code == "invalid_option"

    asyncio.run(run())


class Mirror:
    """A policy of another package, which declares no bounds."""

    unit = "words"

    def __init__(self, words: int = 1, gentle: bool = False, file: str = "") -> None:
        self.words = words

    def decide(self, view: View) -> Read | Speak:
        return Speak(1, 0)


def test_another_packages_policy_is_offered_with_numbers_within_bounds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(TABLES, "policy", Extensible("nobody.policies", {}))
    TABLES["policy"]["mirror"] = Mirror
    assert offers("policy") == ["mirror"]
    assert offered("policy", "mirror:words=100,gentle=1") == {
        "name": "mirror",
        "words": 100,
        "gentle": 1,
    }
    with pytest.raises(ConfigError, match="words is 101, but must be a whole number from 0 to 100"):
        offered("policy", {"name": "mirror", "words": 101})
    with pytest.raises(ConfigError, match="file cannot be chosen by clients"):
        offered("policy", "mirror:file=secrets")
    monkeypatch.setattr(Mirror, "served", False, raising=False)
    with pytest.raises(ConfigError, match="policy 'mirror' is not known"):
        offered("policy", "mirror")


def requests(policy: str | None = None, **choice: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Path and body of a request of each protocol that is answered with 16-bit samples at 8 kHz."""
    choice = choice if policy is None else {"policy": policy, **choice}
    query = "".join(f"&{name}={value}" for name, value in choice.items())
    form = {"container": "raw", "encoding": "pcm_s16le", "sample_rate": 8000}
    yield "/tts/bytes", {"transcript": TEXT, "output_format": form, "generation_config": choice}
    yield f"/v1/speak?encoding=linear16&container=none&sample_rate=8000{query}", {"text": TEXT}
    yield f"/v1/text-to-speech/toy?output_format=pcm_8000{query}", {"text": TEXT}


def test_other_protocols_carry_a_policy(server: Running) -> None:
    for policy in (None, "lookahead:k=0", "wait-all"):
        local = toy_voice().synthesize(TEXT, policy=toy_voice().policy(policy))
        for path, body in requests(policy):
            answer = httpx.post(server.http + path, json=body)
            samples = np.frombuffer(answer.content, "<i2") / np.float32(32767)
            assert np.abs(samples - local).max() < 1e-4, path
    for path, body in requests("lerned"):
        answer = httpx.post(server.http + path, json=body)
        assert answer.status_code == 400
        assert "did you mean 'learned'" in answer.text


def test_other_protocols_carry_any_option(server: Running) -> None:
    local = toy_voice().synthesize(TEXT, hold_back_s=0.2, research={"k2": 1})
    assert not np.array_equal(local, toy_voice().synthesize(TEXT))
    for path, body in requests(hold_back_s=0.2, k2=1):
        answer = httpx.post(server.http + path, json=body)
        assert (
            np.abs(np.frombuffer(answer.content, "<i2") / np.float32(32767) - local).max() < 1e-4
        ), path
    for path, body in requests(k2=17):
        answer = httpx.post(server.http + path, json=body)
        assert answer.status_code == 400
        assert "k2 is 17, but must be a whole number from 0 to 16" in answer.text


def test_options_of_a_query_are_text_and_files_are_not_read() -> None:
    query = {
        "pitch": "-2.5",
        "k2": "3",
        "speaker": "low",
        "keep_up": "on",
        "markup": "ssml",
        "voice": "x",
        "seed": "9",
    }
    options = session_of(query, seed=1, speed=20.0)
    assert options == SessionOptions(
        pitch=-2.5, k2=3, speaker="low", keep_up=KeepUp(), markup="ssml", seed=1, speed=10.0
    )
    with pytest.raises(ConfigError, match="lexicon: expected dict"):
        session_of({"lexicon": "/etc/passwd"})


def test_openai_carries_a_policy(server: Running) -> None:
    body = {"model": "tts-1", "voice": "alloy", "input": TEXT, "response_format": "pcm"}
    sounds = {
        httpx.post(f"{server.http}/v1/audio/speech", json={**body, "policy": policy}).content
        for policy in ("wait-all", "lookahead:k=0", {"name": "lookahead", "k": 0})
    }
    assert len(sounds) == 2
    answer = httpx.post(f"{server.http}/v1/audio/speech", json={**body, "policy": "lerned"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid_option")


def test_sockets_carry_a_policy_in_their_query(server: Running) -> None:
    async def kyutai(policy: str) -> bytes:
        async with connect(f"{server.ws}/api/tts_streaming?format=Pcm&policy={policy}") as socket:
            for word in TEXT.split():
                await socket.send(word)
            await socket.send(b"\0")
            return b"".join([part async for part in socket if isinstance(part, bytes)])

    assert asyncio.run(kyutai("wait-all")) != asyncio.run(kyutai("lookahead:k=0"))
