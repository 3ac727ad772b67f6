"""The client beside every fault of its connection, at every state of a text: nothing hangs, each
word is heard once."""

from __future__ import annotations

import asyncio
import itertools
import re
import threading
import time
from collections.abc import Callable, Iterator

import pytest
from support.cuts import many
from support.effort import FULL
from support.faults import FAULTS, Proxy
from support.servers import Running, serving

from sayahead import SessionError
from sayahead.client import AsyncClient, AsyncSpeech, Client
from sayahead.types import WordTiming

TEXT = "Hello there, how are you today? I am fine, and so is everybody else. Good! "


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with serving(step_s=0.002, limits={"requests_per_s": 10_000}) as running:
        yield running


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sayahead.client.wire.DUE_S", 0.2)
    monkeypatch.setattr("sayahead.client.wire.END_S", 0.1)
    monkeypatch.setattr("sayahead.client.asynchronous.SILENCE_S", 0.1)


def said(words: list[WordTiming], text: str) -> list[str]:
    assert all(
        one.end <= other.start and one.onset_samples <= other.onset_samples
        for one, other in itertools.pairwise(words)
    )
    return [text[word.start : word.end] for word in words]


async def in_parts(speech: AsyncSpeech, until: int, then: Callable[[], None]) -> None:
    """Write the text by words, with something after some of them."""
    for number, word in enumerate(re.findall(r"\S+\s*", TEXT)):
        if number == until:
            then()
        await speech.push(word)
        await asyncio.sleep(0)
    await speech.finish()


STATES = {"before the text": 0, "in the text": 6, "at the end": 13}


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("fault", FAULTS)
def test_every_word_is_heard_once_whatever_befalls_the_connection(
    server: Running, fault: str, state: str
) -> None:
    async def run() -> None:
        async with (
            Proxy.before(server.port) as proxy,
            AsyncClient(f"ws://127.0.0.1:{proxy.port}", resume=True) as client,
        ):
            speech = client.open_speech()
            writing = asyncio.create_task(
                in_parts(speech, STATES[state], lambda: proxy.fail(fault))
            )
            async with asyncio.timeout(20):
                words = [word async for chunk in speech for word in chunk.words]
                await writing
            assert said(words, TEXT) == TEXT.split()
            assert client.resumed == (fault != "slow") or state == "at the end"
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(run())
    server.settle()


@pytest.mark.parametrize("resume", [True, False])
@pytest.mark.parametrize("fault", FAULTS)
def test_barge_in_is_silent_within_a_second_whatever_the_network_does(
    server: Running, fault: str, resume: bool
) -> None:
    """On a half-open connection it waited for 21 s."""

    async def run() -> None:
        async with (
            Proxy.before(server.port) as proxy,
            AsyncClient(f"ws://127.0.0.1:{proxy.port}", resume=resume) as client,
        ):
            speech = client.open_speech()
            await speech.push(TEXT * 20)
            await anext(speech)
            proxy.fail(fault)
            begin = time.monotonic()
            heard = await speech.cancel()
            assert time.monotonic() - begin < 1.0
            assert 0 < heard.word_count < 200
            assert [chunk async for chunk in speech] == []
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(run())


def test_a_revision_waits_for_no_server_that_is_gone(server: Running) -> None:
    async def run() -> None:
        async with (
            Proxy.before(server.port) as proxy,
            AsyncClient(f"ws://127.0.0.1:{proxy.port}", resume=True) as client,
        ):
            speech = client.open_speech()
            await speech.push("Hello there, how are you today")
            await anext(speech)
            proxy.fail("silent")
            async with asyncio.timeout(5):
                assert await speech.revise(21, "they. ") == 21
                await speech.finish()
                [chunk async for chunk in speech]
            assert said(speech.words, speech.text) == "Hello there, how are they.".split()

    asyncio.run(run())


def test_what_touches_a_word_that_was_spoken_is_said_by_the_next_server(server: Running) -> None:
    """The next server read both as one word, of which all was left out."""

    async def run() -> None:
        async with (
            Proxy.before(server.port) as proxy,
            AsyncClient(f"ws://127.0.0.1:{proxy.port}", resume=True) as client,
        ):
            speech = client.open_speech()
            await speech.push("Hello there. ")
            await speech.flush()
            while len(speech.words) < 2:
                await anext(speech)
            assert await speech.revise(11, "") == 12
            await speech.push("ox and so on.")
            proxy.fail("cut")
            await speech.finish()
            [chunk async for chunk in speech]
            assert client.resumed == 1
            assert said(speech.words, speech.text) == ["Hello", "there.", "ox", "and", "so", "on."]

    asyncio.run(run())


@pytest.mark.timeout(1800 if FULL else 300)
def test_any_history_over_connections_that_break_says_every_word_once(server: Running) -> None:
    """Seventeen of a thousand lost a word, or said it twice, where a revision had touched one that
    was spoken."""
    assert asyncio.run(many(range(2000 if FULL else 24), server.port)) == []


def test_who_reads_while_the_client_is_closed_is_told_in_our_words(server: Running) -> None:
    """It was concurrent.futures.CancelledError."""
    told = list[BaseException]()
    reading = threading.Event()

    def read(client: Client) -> None:
        try:
            for _ in client.open_speech():
                pass
            reading.set()
            while True:
                client.open_speech()
        except BaseException as error:
            told.append(error)

    with Client(server.ws) as client:
        threads = [threading.Thread(target=read, args=(client,)) for _ in range(3)]
        for thread in threads:
            thread.start()
    for thread in threads:
        thread.join(10)
        assert not thread.is_alive()
    assert {type(error) for error in told} == {SessionError}
