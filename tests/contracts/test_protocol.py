"""What every protocol promises, whichever client speaks it; what is a protocol's own stands in its
own suite."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import numpy as np
import pytest
from support.protocols import CLIENTS, Client, Event, RefusedError
from support.servers import KEY, Running, free_port, onsets, serving

pytest.importorskip("grpc", reason="needs sayahead[grpc]")

TEXT = "Hello there, how are you today? I am fine. "
LONG = "word " * 600
STEP_S = 0.01
clients = pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.__name__)


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    """A server of every protocol."""
    wyoming = f"tcp://127.0.0.1:{free_port()}"
    with serving(
        grpc_port=free_port(), wyoming=wyoming, step_s=STEP_S, limits={"message_bytes": 100_000}
    ) as running:
        yield running


@pytest.fixture(scope="module")
def locked() -> Iterator[Running]:
    """A server that wants a key; Wyoming has none."""
    with serving(grpc_port=free_port(), keys=(f"me:{KEY}",)) as running:
        yield running


def play(
    server: Running,
    client: type[Client],
    run: Callable[[Any], Awaitable[None]],
    *,
    settle_s: float = 10.0,
    headers: dict[str, str] | None = None,
    query: str = "",
    voice: str = "toy",
) -> None:
    """Connect, run a conversation, and see the server's places free again."""

    async def whole() -> None:
        async with client.open(server, headers or {}, query, voice) as connection:
            await run(connection)

    asyncio.run(asyncio.wait_for(whole(), 60))
    server.settle(settle_s)


async def finish(client: Client, *pieces: str, before: bytes = b"") -> Event:
    """Send a text, or what is left of it; its sound is what Python's voice says, but for a silence
    at its end."""
    for piece in pieces:
        await client.text(piece)
    await client.end()
    heard = await client.rest()
    samples = client.samples(before + heard.sound)
    wanted = client.wanted(TEXT)
    wanted = wanted[: len(wanted) - client.tail]
    assert len(wanted) <= len(samples) <= len(wanted) + client.tail
    assert np.abs(samples[: len(wanted)] - wanted).max() < 1e-4
    return heard


async def say(client: Client) -> None:
    """The whole text at once."""
    await finish(client, TEXT)


async def begin(client: Client) -> bytes:
    """Send the beginning of the text; its first sound comes before the rest is sent."""
    for piece in client.pieces[:3]:
        await client.text(piece)
    return await client.first() if client.streams else b""


@clients
def test_a_whole_text_sounds_as_in_python(server: Running, client: type[Client]) -> None:
    play(server, client, say)


@clients
def test_pieces_sound_as_the_whole_and_before_the_last_is_sent(
    server: Running, client: type[Client]
) -> None:
    async def run(connection: Client) -> None:
        await finish(connection, *client.pieces[3:], before=await begin(connection))

    play(server, client, run)


@pytest.mark.parametrize(
    "client", [client for client in CLIENTS if client.times], ids=lambda client: client.__name__
)
def test_words_are_told_at_their_times(server: Running, client: type[Client]) -> None:
    async def run(connection: Client) -> None:
        heard = await finish(connection, *client.pieces)
        wanted = onsets(TEXT)
        assert len(heard.words) == len(wanted)
        assert all(
            word.startswith(told) for (told, _), (word, _) in zip(heard.words, wanted, strict=True)
        )
        starts = [onset for _, onset in heard.words]
        assert starts == pytest.approx([onset for _, onset in wanted], abs=0.002)
        assert starts == sorted(starts)
        assert starts[-1] < len(connection.samples(heard.sound)) / client.rate

    play(server, client, run)


@clients
def test_what_is_cancelled_falls_silent(server: Running, client: type[Client]) -> None:
    async def run(connection: Client) -> None:
        await connection.text(LONG)
        if not client.streams:
            await connection.end()
        first = await connection.first()
        await connection.cancel()
        heard = connection.samples(first + (await connection.rest()).sound)
        assert len(heard) < len(connection.wanted(LONG)) / 2
        assert connection.closed != client.goes_on
        if client.goes_on:
            await say(connection)

    # To speak it all would take longer.
    play(server, client, run, settle_s=600 * STEP_S / 2)


@pytest.mark.parametrize(
    "client", [client for client in CLIENTS if client.streams], ids=lambda one: one.__name__
)
def test_who_hangs_up_while_spoken_to_is_counted(server: Running, client: type[Client]) -> None:
    async def run(connection: Client) -> None:
        await connection.text(LONG)
        await connection.first()

    def dropped() -> float:
        samples = [
            sample for metric in server.hub.metrics.registry.collect() for sample in metric.samples
        ]
        return sum(
            one.value
            for one in samples
            if one.labels.get("outcome") == "dropped" and one.name.endswith("_total")
        )

    before = dropped()
    play(server, client, run, settle_s=600 * STEP_S / 2)
    assert dropped() == before + 1


@pytest.mark.parametrize(
    ("client", "place"),
    [(client, place) for client in CLIENTS for place in client.keys],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)
def test_a_key_opens_and_nothing_else_does(
    locked: Running, client: type[Client], place: str
) -> None:
    def with_key(key: str) -> dict[str, Any]:
        if place.startswith("?"):
            return {"query": f"&{place[1:]}={key}"}
        return {"headers": {place: f"{client.scheme} {key}" if place == "authorization" else key}}

    play(locked, client, say, **with_key(KEY))
    for wrong in (with_key("another-key"), {}):
        before = locked.metric("tts_rejected_total", reason="unauthorized")
        with pytest.raises(RefusedError, match="API key is required"):
            play(locked, client, say, **wrong)
        assert locked.metric("tts_rejected_total", reason="unauthorized") == before + 1
    locked.settle()


@clients
def test_an_unknown_voice_is_the_default_one_or_the_nearest_is_named(
    server: Running, client: type[Client]
) -> None:
    if client.strict:
        with pytest.raises(RefusedError, match=r"There is no voice 'toi' \(did you mean 'toy'\?\)"):
            play(server, client, say, voice="toi")
        server.settle()
    else:
        play(server, client, say, voice="toi")


@pytest.mark.parametrize(
    ("client", "message"),
    [(client, message) for client in CLIENTS for message in client.nonsense],
    ids=lambda value: value.__name__ if isinstance(value, type) else repr(value[:30]),
)
def test_nonsense_is_an_error_and_harms_nobody_else(
    server: Running, client: type[Client], message: Any
) -> None:
    async def run(connection: Client) -> None:
        async with client.open(server, {}, "", "toy") as other:
            before = await begin(other)
            await connection.send(message)
            with pytest.raises(RefusedError):
                await connection.rest()
            await finish(other, *client.pieces[3:], before=before)
        if client.forgives:
            await say(connection)
        else:
            await connection.hear()
            assert connection.closed

    play(server, client, run)
