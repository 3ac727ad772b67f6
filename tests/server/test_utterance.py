"""Breaths of idle text and what a listener heard, over the sockets, against the toy voice in this
process."""

from __future__ import annotations

import asyncio
import base64
import functools
import gc
import json
import time
import weakref
from collections.abc import Awaitable, Callable
from typing import Any

import msgpack
import numpy as np
import pytest
from support.servers import Running, serving, toy_voice
from websockets.asyncio.client import ClientConnection, connect

from sayahead.client import AsyncClient
from sayahead.engine.session import Session
from sayahead.errors import ConfigError
from sayahead.server.hub import Hub
from sayahead.server.operation.access import Caller
from sayahead.server.outbox import Outbox
from sayahead.server.synthesis import messages as m
from sayahead.server.synthesis.threads import Speaking
from sayahead.server.utterance import Utterance
from sayahead.types import AudioChunk, Floats

BREATH_S = 0.15


def samples(chunks: list[AudioChunk]) -> Floats:
    return np.concatenate([chunk.samples for chunk in chunks])


def breathing(*parts: str) -> Floats:
    """The toy's sound of text with a breath behind each part, where the last part may be all that
    comes."""
    session: Session = toy_voice().session()
    chunks = list[AudioChunk]()
    for part in parts:
        session.push(part)
        session.flush(end=False)
        chunks += session.chunks()
    return samples(chunks)


async def until_s(speech: Any, seconds: float) -> list[AudioChunk]:
    """Chunks of a client's speech, until there is so much sound."""
    chunks = list[AudioChunk]()
    while sum(chunk.duration_s for chunk in chunks) < seconds - 1e-6:
        chunks.append(await asyncio.wait_for(anext(speech), 20))
    return chunks


@pytest.mark.parametrize("way", ["cancelled", "left"])
def test_a_text_that_ends_early_is_forgotten_without_a_search_for_circles(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sessions = list[weakref.ref[Session]]()
    speaking = Speaking.__init__

    def remembered(self: Speaking, *arguments: Any) -> None:
        speaking(self, *arguments)
        sessions.append(weakref.ref(self.session))

    async def run(server: Running) -> None:
        async with connect(f"{server.ws}/v1/stream") as socket:
            await socket.recv()
            await socket.send(json.dumps({"type": "input_text.append", "text": "one two three"}))
            while not isinstance(await socket.recv(), bytes):
                pass
            if way == "cancelled":
                await socket.send(json.dumps({"type": "input_text.cancel"}))
                while "cancelled" not in str(await socket.recv()):
                    pass
        end = time.monotonic() + 5
        while sessions[0]() is not None and time.monotonic() < end:
            await asyncio.sleep(0.02)
        assert sessions[0]() is None

    monkeypatch.setattr(Speaking, "__init__", remembered)
    with serving(breath_s=BREATH_S) as server:
        gc.disable()
        try:
            asyncio.run(run(server))
        finally:
            gc.enable()


def test_idle_text_is_spoken_and_its_sentence_goes_on() -> None:
    async def run(server: Running) -> None:
        async with AsyncClient(server.ws) as client:
            speech = client.open_speech()
            await speech.push("one two three")
            chunks = await until_s(speech, len(breathing("one two three")) / 8000)
            await speech.push(" four five")
            both = breathing("one two three", " four five")
            chunks += await until_s(
                speech, len(both) / 8000 - sum(chunk.duration_s for chunk in chunks)
            )
            # No pause, no end, nothing twice, nothing lost.
            assert np.abs(samples(chunks) - both).max() < 1e-4
            assert [
                word.text for chunk in chunks for word in chunk.words
            ] == "one two three four five".split()
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(anext(speech), 3 * BREATH_S)

    with serving(breath_s=BREATH_S) as server:
        asyncio.run(run(server))


def test_a_client_may_choose_never_and_flush_by_itself() -> None:
    async def run(server: Running) -> None:
        async with AsyncClient(server.ws, breath_s=0) as client:
            speech = client.open_speech()
            await speech.push("one two three")
            await asyncio.sleep(4 * BREATH_S)
            await speech.flush(end=False)
            await speech.push(" four five.")
            await speech.finish()
            chunks = [chunk async for chunk in speech]
        session = toy_voice().session()
        session.push("one two three")
        session.flush(end=False)
        session.push(" four five.")
        session.finish()
        assert np.abs(samples(chunks) - samples(list(session.chunks()))).max() < 1e-4

    with serving(breath_s=BREATH_S) as server:
        asyncio.run(run(server))
    with serving(breath_s=0) as server:
        asyncio.run(silent(server))


async def silent(server: Running) -> None:
    async with AsyncClient(server.ws) as client:
        speech = client.open_speech()
        await speech.push("one two three")
        await asyncio.sleep(4 * BREATH_S)
        await speech.finish()
        session = toy_voice().session()
        session.push("one two three")
        session.finish()
        chunks = [chunk async for chunk in speech]
        assert np.abs(samples(chunks) - samples(list(session.chunks()))).max() < 1e-4


def test_text_that_came_while_the_server_was_busy_is_not_cut() -> None:
    async def run(server: Running) -> None:
        async with AsyncClient(server.ws) as client:
            speech = client.open_speech()
            await speech.push("one two thr")
            await asyncio.sleep(0.05)
            # A step takes far longer than a breath is waited for.
            await speech.push("ee four. ")
            await speech.finish()
            words = [word.text async for chunk in speech for word in chunk.words]
            assert words == "one two three four.".split()

    with serving(step_s=0.6, breath_s=BREATH_S) as server:
        asyncio.run(run(server))


def native(text: str) -> list[str | bytes]:
    update = {"type": "session.update", "session": {"sample_rate": 8000}}
    return [json.dumps(update), json.dumps({"type": "input_text.append", "text": text})]


def elevenlabs(text: str) -> list[str | bytes]:
    return [json.dumps({"text": " "}), json.dumps({"text": text, "try_trigger_generation": False})]


def cartesia(text: str) -> list[str | bytes]:
    form = {"container": "raw", "encoding": "pcm_s16le", "sample_rate": 8000}
    begin = {"context_id": "a", "model_id": "any", "voice": {"id": "toy"}, "output_format": form}
    return [json.dumps({**begin, "transcript": text, "continue": True})]


def deepgram(text: str) -> list[str | bytes]:
    return [json.dumps({"type": "Speak", "text": text})]


def kyutai(text: str) -> list[str | bytes]:
    return [msgpack.packb({"type": "Text", "text": text})]


def bytes_in(message: str | bytes) -> int:
    """How much sound a message has."""
    if isinstance(message, bytes):
        return len(message)
    data = json.loads(message)
    return len(base64.b64decode(data.get("data") or data.get("audio") or ""))


@pytest.mark.parametrize(
    ("path", "say", "bytes_per_s"),
    [
        ("/v1/stream", native, 16000),
        ("/v1/text-to-speech/toy/stream-input?output_format=pcm_8000", elevenlabs, 16000),
        ("/v1/text-to-speech/toy/multi-stream-input?output_format=pcm_8000", elevenlabs, 16000),
        ("/tts/websocket", cartesia, 16000),
        ("/v1/speak?encoding=linear16&sample_rate=8000", deepgram, 16000),
        ("/api/tts_streaming?format=Pcm&voice=toy", kyutai, 4 * 24000),
    ],
)
def test_idle_text_is_spoken_on_every_socket(
    path: str, say: Callable[[str], list[str | bytes]], bytes_per_s: int
) -> None:
    wanted_s = len(breathing("one two three")) / 8000

    async def run(server: Running) -> None:
        async with connect(server.ws + path) as socket:
            for message in say("one two three"):
                await socket.send(message)
            sound_s = 0.0
            begun = time.monotonic()
            # What the resampler holds back is a few milliseconds.
            while sound_s < wanted_s - 0.01:
                sound_s += bytes_in(await asyncio.wait_for(socket.recv(), 20)) / bytes_per_s
            assert time.monotonic() - begun > BREATH_S / 2
            # No pause follows it, no end.
            with pytest.raises(asyncio.TimeoutError):
                sound_s += (
                    bytes_in(await asyncio.wait_for(socket.recv(), 2 * BREATH_S)) / bytes_per_s
                )
            assert sound_s < wanted_s + 0.001

    with serving(breath_s=BREATH_S) as server:
        asyncio.run(run(server))


class Hand:
    """The native socket by hand: audio, words, and the other messages."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self.words = list[dict[str, Any]]()
        self.sent_s = 0.0

    async def say(self, kind: str, **rest: Any) -> None:
        await self._socket.send(json.dumps({"type": kind, **rest}))

    async def until(self, *kinds: str) -> dict[str, Any]:
        while True:
            message = await asyncio.wait_for(self._socket.recv(), 20)
            if isinstance(message, bytes):
                continue
            data: dict[str, Any] = json.loads(message)
            if data["type"] == "speech.audio":
                self.words += data["words"]
                self.sent_s = data["start_s"] + data["duration_s"]
            if data["type"] in kinds:
                return data


TEXT = "one two three, four five six. seven eight nine ten eleven. " * 4


def by_hand(run: Callable[[Hand], Awaitable[None]], **settings: Any) -> None:
    async def opened(server: Running) -> None:
        async with connect(server.ws + "/v1/stream") as socket:
            hand = Hand(socket)
            await hand.until("session.created")
            await run(hand)

    with serving(**settings) as server:
        asyncio.run(opened(server))


@pytest.mark.parametrize("played_s", [0.0, 0.31, 0.77, 1.0, 1.9])
def test_what_was_heard_is_told_by_the_seconds_that_were_played(played_s: float) -> None:
    async def run(hand: Hand) -> None:
        await hand.say("input_text.append", text=TEXT)
        while hand.sent_s < 2.0:
            await hand.until("speech.audio")
        await hand.say("input_text.cancel", played_s=played_s)
        heard = await hand.until("speech.cancelled")
        # The definition, by itself: more than half of a word's sound was played.
        words = [
            w for w in hand.words if played_s - w["onset_s"] > (w["offset_s"] - w["onset_s"]) / 2
        ]
        end = words[-1]["end"] if words else 0
        told = {name: heard[name] for name in ("audio_s", "words", "text_end", "text", "message")}
        assert told == {
            "audio_s": played_s,
            "words": len(words),
            "text_end": end,
            "text": TEXT[:end],
            "message": None,
        }

    by_hand(run, step_s=0.02)


def test_seconds_beyond_the_sound_cancel_and_are_told() -> None:
    async def run(hand: Hand) -> None:
        for played_s in (99.0, None):
            await hand.say("input_text.append", text=TEXT)
            await hand.until("speech.audio")
            await hand.say("input_text.cancel", played_s=played_s)
            heard = await hand.until("speech.cancelled")
            assert heard["audio_s"] == pytest.approx(hand.sent_s)
            assert heard["text"] == TEXT[: heard["text_end"]]
            assert 0 < heard["words"] <= len(hand.words)
            if played_s is None:
                assert heard["message"] is None
            else:
                assert f"99.000, but only {hand.sent_s:.3f} s" in heard["message"]
            hand.words.clear()

    by_hand(run, step_s=0.05)


@pytest.mark.parametrize("played_s", ["2", -0.5, True, [1.0]])
def test_seconds_that_are_none_cancel_too(played_s: Any) -> None:
    async def run(hand: Hand) -> None:
        await hand.say("input_text.append", text=TEXT)
        await hand.until("speech.audio")
        await hand.say("input_text.cancel", played_s=played_s)
        error = await hand.until("error")
        assert (error["code"], error["gone"]) == ("invalid_message", False)
        assert "played_s must be a number of seconds" in error["message"]
        assert (await hand.until("speech.cancelled"))["audio_s"] == pytest.approx(hand.sent_s)

    by_hand(run, step_s=0.05)


@pytest.mark.parametrize("breath_s", [-1, "soon", 1e9])
def test_a_breath_that_cannot_be_is_refused(breath_s: Any) -> None:
    async def run(hand: Hand) -> None:
        await hand.say("session.update", session={"breath_s": breath_s})
        assert "breath_s" in (await hand.until("error"))["message"]
        await hand.say("input_text.append", text="one")
        await hand.say("input_text.flush", end="no")
        assert "end must be true or false" in (await hand.until("error"))["message"]

    by_hand(run)


def test_a_client_knows_what_was_heard_while_it_is_sent_and_long_after() -> None:
    async def run(server: Running) -> None:
        async with AsyncClient(server.ws) as client:
            speech = client.open_speech()
            await speech.push(TEXT)
            chunks = await until_s(speech, 1.5)
            words = [word for chunk in chunks for word in chunk.words]
            middle_s = (words[3].onset_samples + words[3].offset_samples) / 2 / 8000
            assert speech.heard(middle_s - 0.01).word_count == 3
            assert speech.heard(middle_s + 0.01).word_count == 4
            with pytest.raises(ConfigError, match=r"played_s is 99\.000, but only"):
                speech.heard(99.0)
            await speech.finish()
            chunks += [chunk async for chunk in speech]
            # The server has forgotten it; the listener has not heard all.
            heard = await speech.cancel(middle_s + 0.01)
            assert (heard.word_count, heard.text) == (4, "one two three, four")
            # The turn is over: what was heard is decided, whatever the server had sent.
            assert speech.heard() == heard

    with serving(step_s=0.01) as server:
        asyncio.run(run(server))


def test_a_client_that_is_ahead_of_its_sound_falls_silent_and_is_told() -> None:
    async def run(server: Running) -> None:
        async with AsyncClient(server.ws) as client:
            speech = client.open_speech()
            await speech.push(TEXT)
            await anext(speech)
            with pytest.raises(ConfigError, match="count only the sound of this text"):
                await speech.cancel(99.0)
            assert [chunk async for chunk in speech] == []
        # The server counts it when it has ended it, a moment after it has told its client.
        cancelled = functools.partial(
            server.metric, "tts_sessions_total", protocol="native", outcome="cancelled"
        )
        while cancelled() != 1:
            await asyncio.sleep(0.01)

    with serving(step_s=0.05) as server:
        asyncio.run(run(server))


def test_a_text_whose_client_has_left_leaves_no_task_behind() -> None:
    """Its task waited for more text for ever, and was destroyed while it did."""

    async def run(hub: Hub) -> None:
        async def gone(event: m.Event) -> None:
            raise m.GoneError("The client closed the connection.")

        hub.own()
        lease = hub.enter("native", Caller("anybody"))
        left = list[str]()
        outbox = Outbox(gone, stall_s=1.0)
        bill = hub.bill(lease, m.Options())
        utterance = Utterance(
            "a", m.Options(), hub, lease, outbox, bill, leave=lambda _, how: left.append(how)
        )
        utterance.start()
        utterance.push("Hello")
        await asyncio.sleep(0.1)
        with pytest.raises(m.GoneError):
            await utterance.cancel(None)
        await asyncio.sleep(0.05)
        assert left == ["cancelled"]
        assert asyncio.all_tasks() == {asyncio.current_task()}
        hub.leave(lease)

    with serving() as server:
        asyncio.run(run(server.hub))
