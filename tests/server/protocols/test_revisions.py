"""Revisions over the native socket: what was spoken stays, all else can change, and nothing is lost
or spoken twice."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.effort import examples
from support.servers import Running, serving, toy_voice
from websockets.asyncio.client import ClientConnection, connect

from sayahead import ConfigError, SessionError
from sayahead.client import AsyncClient, AsyncSpeech, ServerError
from sayahead.types import Floats, WordTiming


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    """Word by word, as what it is compared with."""
    with serving(step_words=1) as running:
        yield running


WORDS = st.text(st.sampled_from("abc"), min_size=1, max_size=4)
ENDS = st.sampled_from([" ", " ", " ", ", ", ". "])
FRAGMENTS = st.lists(st.tuples(WORDS, ENDS).map("".join), min_size=1, max_size=5).map("".join)
# What a client does next: more text, a revision from a part of the text on, a flush, a rest in
# which words are spoken.
STEPS = st.one_of(
    st.tuples(st.just("push"), FRAGMENTS),
    st.tuples(st.just("revise"), st.floats(0, 1), FRAGMENTS | st.just("")),
    st.tuples(st.just("flush"), st.booleans()),
    st.tuples(st.just("rest"), st.sampled_from([0.0, 0.002, 0.01])),
)


def letters(text: str) -> str:
    return "".join(text.split())


async def follow(
    client: AsyncClient, steps: list[tuple[Any, ...]]
) -> tuple[str, list[WordTiming], Floats]:
    """The text as it was at the end, the words that were spoken, and their sound (S,)."""
    speech = client.open_speech()
    for kind, *rest in steps:
        if kind == "revise":
            part, text = rest
            at = round(part * len(speech.text))
            before = speech.text
            assert at <= await speech.revise(at, text) <= len(before)
            assert speech.text[:at] == before[:at]
        elif kind == "rest":
            await asyncio.sleep(rest[0])
        elif kind == "flush":
            await speech.flush(end=rest[0])
        else:
            # What was spoken and then deleted stays, without the blank behind it.
            glued = speech.text and not speech.text[-1].isspace()
            await speech.push(" " + rest[0] if glued else rest[0])
    await speech.finish()
    chunks = [chunk async for chunk in speech]
    words = [word for chunk in chunks for word in chunk.words]
    return (
        speech.text,
        words,
        np.concatenate([np.zeros(0, np.float32), *(chunk.samples for chunk in chunks)]),
    )


@settings(max_examples=examples(100), suppress_health_check=list(HealthCheck))
@given(
    policy=st.sampled_from(["lookahead:k=0", "lookahead:k=1", "wait-all"]),
    steps=st.lists(STEPS, max_size=8),
)
def test_each_word_of_the_text_is_spoken_once_in_order(
    server: Running, policy: str, steps: list[tuple[Any, ...]]
) -> None:
    async def run() -> None:
        async with AsyncClient(server.ws, policy=policy) as client:
            text, words, _ = await follow(client, steps)
            spoken = [text[word.start : word.end] for word in words]
            assert letters("".join(spoken)) == letters(text)
            assert all(one.end <= other.start for one, other in itertools.pairwise(words))

    asyncio.run(run())


@settings(max_examples=examples(50), suppress_health_check=list(HealthCheck))
@given(steps=st.lists(STEPS.filter(lambda step: step[0] != "flush"), max_size=8))
def test_it_sounds_as_if_the_text_had_always_been_so(
    server: Running, steps: list[tuple[Any, ...]]
) -> None:
    # Without lookahead, no word knows what came behind it and was taken back; with one more, none
    # was the last.
    async def run() -> None:
        async with AsyncClient(server.ws, policy="lookahead:k=0") as client:
            text, _, samples = await follow(client, [*steps, ("push", "abc. ")])
            whole = toy_voice().synthesize(text, policy="lookahead:k=0")
            assert len(samples) == len(whole)
            assert np.abs(samples - whole).max(initial=0.0) < 1e-4

    asyncio.run(run())


# By hand.


async def say(socket: ClientConnection, kind: str, **rest: Any) -> None:
    await socket.send(json.dumps({"type": f"input_text.{kind}", **rest}))


async def answers(socket: ClientConnection, last: str) -> list[dict[str, Any]]:
    """All messages but sound up to one of a kind."""
    found = list[dict[str, Any]]()
    while not found or found[-1]["type"] != last:
        data = json.loads(await asyncio.wait_for(socket.recv(), 20))
        if data["type"] == "speech.audio":
            await socket.recv()
        found.append(data)
    return found


def by_hand(server: Running, talk: Callable[[ClientConnection], Awaitable[None]]) -> None:
    async def run() -> None:
        async with connect(server.ws + "/v1/stream") as socket:
            await answers(socket, "session.created")
            await talk(socket)

    asyncio.run(run())


def words_of(messages: list[dict[str, Any]]) -> list[str]:
    return [word["word"] for message in messages for word in message.get("words", [])]


def test_a_typist_corrects_a_word(server: Running) -> None:
    async def talk(socket: ClientConnection) -> None:
        await say(socket, "append", text="I live in Berlim")
        await say(socket, "revise", at=10, text="Paris now.", revise_id="typo")
        await say(socket, "end")
        messages = await answers(socket, "speech.done")
        revised = next(each for each in messages if each["type"] == "speech.revised")
        assert revised == {
            "type": "speech.revised",
            "context_id": "",
            "revise_id": "typo",
            "at": 10,
            "text": "Paris now.",
        }
        assert words_of(messages) == ["I", "live", "in", "Paris", "now."]
        assert messages[-1]["characters"] == len("I live in Paris now.")

    by_hand(server, talk)


def test_a_word_that_was_spoken_stays_and_the_answer_says_so(server: Running) -> None:
    async def talk(socket: ClientConnection) -> None:
        await say(socket, "append", text="I live in Berlin")
        await say(socket, "flush", end=False)
        spoken = await answers(socket, "speech.flushed")
        await say(socket, "revise", at=10, text="Paris now.")
        await say(socket, "append", text=" Really.")
        await say(socket, "end")
        messages = await answers(socket, "speech.done")
        revised = next(each for each in messages if each["type"] == "speech.revised")
        assert (revised["at"], revised["text"]) == (16, " now.")
        assert words_of(spoken + messages) == ["I", "live", "in", "Berlin", "now.", "Really."]

    by_hand(server, talk)


def test_it_comes_before_the_speech_that_waits_and_takes_its_flushes_back() -> None:
    async def talk(socket: ClientConnection) -> None:
        text = "one two three four five six seven eight nine ten. " * 4
        await say(socket, "append", text=text)
        await say(socket, "flush", flush_id="first")
        await say(socket, "flush", flush_id="second")
        # With its one word out, it is far from the flush.
        first = await answers(socket, "speech.audio")
        await say(socket, "revise", at=100, text="")
        revised = await answers(socket, "speech.revised")
        await say(socket, "append", text="The end.")
        await say(socket, "flush", flush_id="third")
        third = await answers(socket, "speech.flushed")
        await say(socket, "end")
        messages = first + revised + third + await answers(socket, "speech.done")
        marks = [each["flush_id"] for each in messages if each["type"] == "speech.flushed"]
        assert marks == ["first", "second", "third"]
        assert words_of(messages) == [*text[:100].split(), "The", "end."]

    with serving(step_s=0.02) as slow:
        by_hand(slow, talk)


def test_bad_revisions_are_named_and_lose_nothing(server: Running) -> None:
    async def talk(socket: ClientConnection) -> None:
        await say(socket, "revise", at=3, text="x", revise_id=1)
        await say(socket, "append", text="one two three")
        await say(socket, "flush", flush_id="kept")
        for mark, at, text in (
            (2, 14, "x"),
            (3, -1, "x"),
            (4, 1.5, "x"),
            (5, None, "x"),
            (6, True, "x"),
            (7, 3, None),
        ):
            await say(socket, "revise", at=at, text=text, revise_id=mark)
        await say(socket, "revise", at=2**70, text="x", revise_id=8)
        await say(socket, "revise", at=0, text="x" * 5000, revise_id=9)
        await say(socket, "end")
        await say(socket, "revise", at=3, text="x", revise_id=10)
        messages = await answers(socket, "speech.done")
        if not any(each.get("revise_id") == 10 for each in messages):
            # All may be spoken before the last message is read.
            messages += await answers(socket, "error")
        errors = {each["revise_id"]: each for each in messages if each["type"] == "error"}
        assert [errors[mark]["code"] for mark in range(1, 11)] == [
            "unknown_context",
            "invalid_option",
            *["invalid_message"] * 5,
            "invalid_option",
            "too_much_text",
            "unknown_context",
        ]
        assert errors[1]["message"] == "The context '' is not open."
        assert (
            errors[2]["message"] == "at is 14, but the text has 13 characters: nothing was revised."
        )
        assert errors[10]["message"] == "The context '' takes no more text."
        assert not any(each["gone"] for each in errors.values())
        assert [each["flush_id"] for each in messages if each["type"] == "speech.flushed"] == [
            "kept"
        ]
        assert words_of(messages) == ["one", "two", "three"]

    by_hand(server, talk)


def test_all_text_of_revisions_counts(server: Running) -> None:
    async def talk(socket: ClientConnection) -> None:
        await say(socket, "append", text="one two")
        for mark in range(5):
            await say(socket, "revise", at=4, text="more or less", revise_id=mark)
        messages = await answers(socket, "error")
        assert messages[-1]["code"] == "too_much_text"
        assert messages[-1]["revise_id"] == 3
        assert "A context is limited to 50 characters" in messages[-1]["message"]

    with serving(limits={"utterance_characters": 50}) as small:
        by_hand(small, talk)


# With the client.


def test_the_client_revises_and_knows_the_text(server: Running) -> None:
    async def run() -> None:
        async with AsyncClient(server.ws, policy="lookahead:k=0") as client:
            speech = client.open_speech()
            assert await speech.revise(0, "I was ") == 0
            with pytest.raises(
                ConfigError, match="at is 9, but must be a whole number from 0 to 6"
            ):
                await speech.revise(9, "x")
            said = list[str]()
            while len(said) < 2:
                said += [word.text for word in (await anext(speech)).words]
            # Text that comes while a revision is on its way follows it.
            place, _ = await asyncio.gather(
                speech.revise(2, "am here "), speech.push("and there. ")
            )
            assert place == 5
            assert speech.text == "I was here and there. "
            await speech.finish()
            with pytest.raises(SessionError, match=r"revise\(\) after the end"):
                await speech.revise(0, "x")
            said += [
                word.text for chunk in [chunk async for chunk in speech] for word in chunk.words
            ]
            assert said == ["I", "was", "here", "and", "there."]
            assert speech.heard().text == "I was here and there."

    asyncio.run(run())


def test_a_revision_longer_than_a_message_is_sent_in_parts(server: Running) -> None:
    async def run() -> None:
        async with AsyncClient(server.ws, policy="wait-all") as client:
            speech = client.open_speech()
            await speech.push("zero one two ")
            words = [f"w{'abcdefghij'[number % 10]}" for number in range(2000)]
            assert await speech.revise(5, " ".join(words) + ".") == 5
            assert speech.text == "zero " + " ".join(words) + "."
            await speech.cancel()

    asyncio.run(run())


def test_a_revision_of_a_text_that_fails_or_is_cancelled_does_not_hang(server: Running) -> None:
    async def run() -> None:
        async with AsyncClient(server.ws) as client:
            speech = client.open_speech()
            await speech.push("Please explode now, will you? ")
            with pytest.raises((ServerError, SessionError)):
                await revise_often(speech)

    async def revise_often(speech: AsyncSpeech) -> None:
        for _ in range(100):
            await speech.revise(len(speech.text), "more ")
            await asyncio.sleep(0.01)

    asyncio.run(run())
