"""The client of the package, against a real server."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from support.servers import KEY, Running, serving, toy_voice
from websockets.asyncio.client import connect

from sayahead import ConfigError, SessionError, TextError
from sayahead.client import AsyncClient, ServerError
from sayahead.client.choices import Choices
from sayahead.client.resume import Splice, resume_position
from sayahead.engine.options import RESEARCH
from sayahead.research import LookaheadK
from sayahead.server.protocols.native import SessionUpdate
from sayahead.types import AudioChunk, WordTiming

TEXT = "Hello there, how are you today? I am fine. "


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with serving(step_s=0.005) as running:
        yield running


def test_a_stream_is_what_the_voice_says(server: Running) -> None:
    heard = asyncio.Event()

    async def fragments() -> AsyncIterator[str]:
        yield TEXT[:20]
        # The rest is written only when the beginning was heard.
        await asyncio.wait_for(heard.wait(), 20)
        yield TEXT[20:]

    async def run() -> list[AudioChunk]:
        chunks = []
        async with AsyncClient(server.ws) as client:
            async for chunk in client.stream(fragments()):
                heard.set()
                chunks.append(chunk)
        return chunks

    chunks = asyncio.run(run())
    assert (
        np.abs(np.concatenate([c.samples for c in chunks]) - toy_voice().synthesize(TEXT)).max()
        < 1e-4
    )
    assert [c.start_samples for c in chunks] == list(
        np.cumsum([0, *(len(c.samples) for c in chunks[:-1])])
    )
    words = [w for c in chunks for w in c.words]
    assert [TEXT[w.start : w.end] for w in words] == TEXT.split()
    for chunk in chunks:
        for word in chunk.words:
            assert (
                chunk.start_samples <= word.onset_samples < chunk.start_samples + len(chunk.samples)
            )


def test_several_texts_at_once_do_not_mix(server: Running) -> None:
    async def run() -> None:
        async with AsyncClient(server.ws) as client:

            async def one(text: str) -> str:
                return " ".join(
                    [
                        text[w.start : w.end]
                        async for chunk in client.stream([text])
                        for w in chunk.words
                    ]
                )

            texts = [
                f"This is text number {n}, and no other one." for n in "one two three four".split()
            ]
            assert await asyncio.gather(*(one(text) for text in texts)) == texts

    asyncio.run(run())


def test_cancel_is_silent_at_once_and_tells_what_was_sent(server: Running) -> None:
    async def run() -> None:
        async with AsyncClient(server.ws) as client:
            speech = client.open_speech()
            await speech.push(TEXT * 20)
            first = await anext(speech)
            heard = await speech.cancel()
            assert [chunk async for chunk in speech] == []
            assert 0 < heard.word_count < 100
            assert heard.played_s >= len(first.samples) / first.sample_rate
            assert heard.text == (TEXT * 20)[: heard.end]
            # A second time, and before any text: nothing happens.
            assert await speech.cancel() == heard
            assert (await client.open_speech().cancel()).played_s == 0
            with pytest.raises(SessionError, match="after the end"):
                await speech.push("More")
            # The connection goes on.
            assert len([chunk async for chunk in client.stream(["Hello again."])]) > 0

    asyncio.run(run())


def test_leaving_a_stream_early_makes_the_server_stop(server: Running) -> None:
    def cancelled() -> float:
        return server.metric("tts_sessions_total", protocol="native", outcome="cancelled")

    async def run() -> None:
        async with AsyncClient(server.ws) as client:
            stream = client.stream([TEXT * 20])
            async for _ in stream:
                break
            await stream.aclose()  # type: ignore[attr-defined]
            async for _ in client.stream(["Hello."]):
                pass

    before = cancelled()
    asyncio.run(run())
    server.settle()
    assert cancelled() == before + 1


def test_flush_speaks_what_waits(server: Running) -> None:
    async def run() -> None:
        async with AsyncClient(server.ws, policy="lookahead:k=5") as client:
            speech = client.open_speech()
            await speech.push("Hello there")
            await speech.flush()
            words = list[str]()
            while len(words) < 2:
                words += [w.text for w in (await asyncio.wait_for(anext(speech), 10)).words]
            await speech.finish()
            assert words == ["Hello", "there"]

    asyncio.run(run())


def test_a_text_longer_than_the_server_lets_wait_is_spoken_to_its_end() -> None:
    text = TEXT * 20

    async def run() -> list[str]:
        async with AsyncClient(running.ws) as client:
            return [
                text[w.start : w.end] async for chunk in client.stream([text]) for w in chunk.words
            ]

    with serving(limits={"pending_characters": 100, "message_characters": 60}) as running:
        assert asyncio.run(run()) == text.split()


def test_a_text_that_the_server_refused_takes_no_place_there() -> None:
    async def run() -> None:
        async with AsyncClient(running.ws) as client:
            speech = client.open_speech()
            await speech.push(TEXT * 20)
            with pytest.raises(
                ServerError, match="the limit is 100: send more once these have been spoken"
            ):
                [chunk async for chunk in speech]
            assert [chunk async for chunk in client.stream([TEXT])]

    with serving(limits={"pending_characters": 100, "contexts": 1}) as running:
        asyncio.run(run())


def test_errors_name_their_reason(server: Running) -> None:
    async def fails(**options: object) -> str:
        with pytest.raises(ServerError) as caught:
            async with AsyncClient(server.ws, **options):  # type: ignore[arg-type]
                pass
        return caught.value.code

    async def explodes() -> str:
        async with AsyncClient(server.ws) as client:
            with pytest.raises(ServerError) as caught:
                async for _ in client.stream(["Please explode now, will you?"]):
                    pass
            # The failure of one text is not that of the connection.
            assert len([chunk async for chunk in client.stream(["Hello."])]) > 0
            return caught.value.code

    async def unreachable() -> str:
        with pytest.raises(ServerError) as caught:
            async with AsyncClient("ws://127.0.0.1:1"):
                pass
        return caught.value.code

    assert asyncio.run(fails(voice="nobody")) == "unknown_voice"
    assert asyncio.run(fails(sped=2)) == "invalid_option"
    assert asyncio.run(fails(sample_rate=96000)) == "invalid_option"
    assert asyncio.run(explodes()) == "failed"
    assert asyncio.run(unreachable()) == "unreachable"
    with pytest.raises(ConfigError, match="pcm_s16le"):
        AsyncClient(encoding="mp3")  # type: ignore[arg-type]


def test_a_key_opens(server: Running) -> None:
    async def run(running: Running) -> None:
        async with AsyncClient(running.ws, key=KEY) as client:
            assert len([chunk async for chunk in client.stream(["Hello."])]) > 0
        with pytest.raises(ServerError) as caught:
            async with AsyncClient(running.ws, key="wrong-" + KEY):
                pass
        assert caught.value.code == "unauthorized"

    with serving(keys=(f"me:{KEY}",)) as running:
        asyncio.run(run(running))


def test_a_server_that_goes_ends_the_text() -> None:
    async def run(running: Running) -> None:
        async with AsyncClient(running.ws) as client:
            stream = client.stream([TEXT * 40])
            await anext(stream)
            running.server.should_exit = True
            with pytest.raises(ServerError):
                async for _ in stream:
                    pass

    with serving(step_s=0.05) as running:
        asyncio.run(run(running))


@pytest.mark.parametrize(
    "url", ["127.0.0.1:8000", "ftp://127.0.0.1", "ws://", "ws://127.0.0.1:99999", "", None, 5, []]
)
def test_what_is_no_address_is_refused_before_it_is_tried(url: Any) -> None:
    with pytest.raises(ConfigError, match="address"):
        AsyncClient(url)


def test_the_address_of_the_page_is_one(server: Running) -> None:
    async def run() -> None:
        async with AsyncClient(server.ws.replace("ws://", "http://") + "/") as client:
            assert [chunk async for chunk in client.stream("Hello.")]

    asyncio.run(run())


def test_numpys_numbers_are_sent_and_objects_are_not(server: Running) -> None:
    async def run() -> None:
        async with AsyncClient(server.ws, volume=np.float32(0.5), seed=np.int64(2)) as client:  # type: ignore[arg-type]
            speech = client.open_speech()
            await speech.push(TEXT)
            chunk = await anext(speech)
            centisecond: Any = np.float32(0.01)
            assert (await speech.cancel(centisecond)).played_s == pytest.approx(0.01)
            assert chunk.words
        with pytest.raises(ConfigError, match=r"LookaheadK.*cannot be sent"):
            async with AsyncClient(server.ws, policy=LookaheadK(2)):  # type: ignore[arg-type]
                pass

    asyncio.run(run())


@pytest.mark.parametrize("text", [None, 3, b"bytes"])
def test_what_is_no_text_is_told(server: Running, text: Any) -> None:
    async def run() -> None:
        async with AsyncClient(server.ws) as client:
            with pytest.raises(TextError, match="takes text"):
                await client.open_speech().push(text)
            with pytest.raises(TextError, match="takes text"):
                await client.open_speech().write(text)

    asyncio.run(run())


def test_text_that_fails_ends_the_stream_and_no_other(server: Running) -> None:
    """It waited until the server gave up."""

    async def broken() -> AsyncIterator[str]:
        yield TEXT
        raise ValueError("The model is gone.")

    async def run() -> None:
        async with AsyncClient(server.ws) as client:

            async def one(text: Any) -> int:
                return sum([len(chunk.samples) async for chunk in client.stream(text)])

            texts = one([TEXT]), one(broken()), one([None]), one(TEXT)
            first, failed, wrong, last = await asyncio.wait_for(
                asyncio.gather(*texts, return_exceptions=True), 15
            )
            assert first == last == len(toy_voice().synthesize(TEXT))
            assert str(failed) == "The model is gone."
            assert isinstance(wrong, TextError)

    asyncio.run(run())


LONG = (
    "Hello there, how are you today? I am fine, thank you, and I have been for years, as you know."
    " Good! " * 3
)


async def lose(client: AsyncClient) -> None:
    """Break the connection, as the death of a server does."""
    client._wire._socket.transport.abort()
    await asyncio.sleep(0)


@pytest.mark.parametrize("each", [1, 3, 7])
def test_a_text_goes_on_elsewhere(server: Running, each: int) -> None:
    """Every few chunks the connection breaks: nothing is said twice, nothing is missing, and the
    joints are smooth."""

    async def run() -> None:
        async with AsyncClient([server.ws, other.ws]) as client:
            chunks = list[AudioChunk]()
            async for chunk in client.stream(re.findall(r"\S+\s*", LONG)):
                chunks.append(chunk)
                if len(chunks) % each == 0 and client.resumed < 5:
                    await lose(client)
            assert client.resumed >= 3
        words = [word for chunk in chunks for word in chunk.words]
        assert [LONG[word.start : word.end] for word in words] == LONG.split()
        sound = np.concatenate([c.samples for c in chunks])
        whole = toy_voice().synthesize(LONG)
        # Within the first sentence it is the same to the bit; later, this voice's waves begin
        # elsewhere.
        assert np.abs(sound[:3900] - whole[:3900]).max() < 1e-4
        assert len(sound) == pytest.approx(len(whole), abs=5 * 80)
        assert np.abs(np.diff(sound)).max() < np.abs(np.diff(whole)).max() + 0.02
        assert [c.start_samples for c in chunks] == list(
            np.cumsum([0, *(len(c.samples) for c in chunks[:-1])])
        )
        assert all(
            c.start_samples <= word.onset_samples < c.start_samples + len(c.samples)
            for c in chunks
            for word in c.words
        )

    with serving(step_s=0.005) as other:
        asyncio.run(run())


def test_what_was_flushed_revised_and_finished_while_nobody_listened_is_said(
    server: Running,
) -> None:
    async def run() -> None:
        async with AsyncClient(server.ws, resume=True) as client:
            first = client.open_speech()
            second = client.open_speech()
            await first.push("Hello there, how are you")
            await first.flush()
            words = [w.text for w in (await anext(first)).words]
            await lose(client)
            assert await first.revise(13, "old are you") == 13
            await first.finish()
            await second.push("Good morning.")
            await second.finish()
            words += [w.text async for chunk in first for w in chunk.words]
            assert words == ["Hello", "there,", "old", "are", "you"]
            assert first.text == "Hello there, old are you"
            assert [w.text async for chunk in second for w in chunk.words] == ["Good", "morning."]
            # Nothing is open: it connects again when there is something to say, and a cancelled
            # text stays silent.
            await lose(client)
            third = client.open_speech()
            await third.push(TEXT * 20)
            heard = await anext(third)
            await lose(client)
            assert (await third.cancel()).played_s >= len(heard.samples) / heard.sample_rate
            assert [chunk async for chunk in third] == []
            assert [chunk async for chunk in client.stream([TEXT])]
            assert client.resumed >= 2

    asyncio.run(run())


def test_a_text_that_ends_servers_is_given_up(server: Running) -> None:
    async def run() -> None:
        async with AsyncClient(server.ws, resume=True) as client:
            speech = client.open_speech()
            await speech.push("Hello")
            for _ in range(3):
                await lose(client)
                await asyncio.sleep(0.2)
            with pytest.raises(ServerError, match="closed the connection"):
                [chunk async for chunk in speech]

    asyncio.run(run())


def test_where_no_server_is_left_the_texts_end(
    server: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(AsyncClient, "RESUME_S", 0.2)

    async def run() -> None:
        async with AsyncClient(server.ws, resume=True) as client:
            speech = client.open_speech()
            await speech.push(TEXT)
            client._urls[:] = ["ws://127.0.0.1:1/v1/stream"]
            await lose(client)
            with pytest.raises(ServerError) as caught:
                [chunk async for chunk in speech]
            assert caught.value.code == "unreachable"

    asyncio.run(run())


WORDS = [
    WordTiming(name, 4 * n, 4 * n + 3, 100 * n + 10, 100 * n + 80)
    for n, name in enumerate(["one", "two", "six"])
]


@pytest.mark.parametrize(
    ("arrived", "samples", "offset", "shift", "skip"),
    [
        # Nothing, only silence, more of it than there is now.
        (0, 0, 0, 0, 0),
        (0, 5, 0, 0, 5),
        (0, 50, 0, 0, 10),
        # In a word, which is now elsewhere; after it; in a pause that is shorter now.
        (2, 140, 4, 100, 40),
        (2, 190, 4, 100, 90),
        (2, 290, 4, 100, 110),
        # In a word that is not said again as it was.
        (2, 140, 5, 100, 110),
    ],
)
def test_what_is_new_of_a_sentence_said_again(
    arrived: int, samples: int, offset: int, shift: int, skip: int
) -> None:
    old = WORDS[arrived - 1] if arrived else None
    splice = Splice(old, samples, offset, np.zeros(0, np.float32))
    said = [w for w in WORDS if w.start >= offset]
    new = [
        WordTiming(
            w.text,
            w.start - offset,
            w.end - offset,
            w.onset_samples - shift,
            w.offset_samples - shift,
        )
        for w in said
    ]
    whole = np.arange(300, dtype=np.float32)
    parts = list[np.ndarray[Any, Any]]()
    words = list[WordTiming]()
    for at in range(0, 300, 20):
        sound, fresh = splice.take(
            whole[at : at + 20], [w for w in new if at <= w.onset_samples < at + 20]
        )
        parts.append(sound)
        words += fresh
    assert np.array_equal(np.concatenate(parts), whole[skip:])
    assert [(w.text, w.start) for w in words] == [
        (w.text, w.start) for w in WORDS[arrived:] if w.start >= offset
    ]
    assert splice.shift == skip - samples


def test_a_text_is_said_again_from_its_open_sentence() -> None:
    text = 'It is late. "Are you there?" he asked, and'
    words = [WordTiming(m[0], m.start(), m.end(), 0, 0) for m in re.finditer(r"\S+", text)]
    assert [text[resume_position(text, words[:n]) :][:4] for n in (0, 1, 3, 4, 6, 9)] == [
        "It i"
    ] * 3 + ['"Are'] * 2 + ["he a"]
    endless = "word " * 1000
    words = [WordTiming(m[0], m.start(), m.end(), 0, 0) for m in re.finditer(r"\S+", endless)]
    assert len(endless) - resume_position(endless, words) < 450


def test_a_session_that_ends_is_a_success_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    async def run(address: str) -> None:
        async with AsyncClient(address) as client:
            assert [chunk async for chunk in client.stream([TEXT])]
        # Others hang up when they have heard it all.
        async with connect(f"{address}/v1/stream") as socket:
            await socket.send('{"type": "input_text.append", "text": "Hello."}')
            await socket.send('{"type": "input_text.end"}')
            while '"speech.done"' not in str(await socket.recv()):
                pass

    with caplog.at_level(logging.INFO, "sayahead.server"), serving() as running:
        asyncio.run(run(running.ws))
        running.settle()
    assert [vars(record)["outcome"] for record in caplog.records if record.msg == "closed"] == [
        "done",
        "done",
    ]


def test_type_checkers_know_what_the_server_takes() -> None:
    taken = {field.name for field in fields(SessionUpdate)} - {"bit_rate"}
    assert (Choices.__annotations__.keys() - {"research"}) | set(RESEARCH) == taken


def test_what_cannot_be_read_is_in_the_log(
    server: Running, caplog: pytest.LogCaptureFixture
) -> None:
    async def run() -> None:
        async with AsyncClient(server.ws) as client:
            async for _ in client.stream(["Hello Привет ", "there."]):
                pass

    with caplog.at_level(logging.WARNING, "sayahead"):
        asyncio.run(run())
    # The server, in this process, has its own line.
    assert any("characters 6 to 12" in record.getMessage() for record in caplog.records)
