"""Every protocol beside every fault of its connection, at each state of a text: the server's places
are free soon, no connection is left, whoever is told an end is told it at once, and a slow
connection loses nothing.

Full size: SAYAHEAD_TESTS=full; otherwise three rows of each protocol.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import httpx
import numpy as np
import pytest
from support.effort import FULL
from support.faults import FAULTS, Proxy
from support.protocols import CLIENTS, Client, Google, Native, RefusedError, Wyoming
from support.servers import Running, free_port, serving

from sayahead.server.protocols.google import GoogleSettings
from sayahead.server.protocols.wyoming import WyomingSettings

pytest.importorskip("grpc", reason="needs sayahead[grpc]")

TEXT = "Hello there, how are you today? I am fine. "
SOON_S = 2.0
"""Within so long nothing hangs any more; the server's own patience is half a second here."""
PATIENCE = {"first_message_s": 0.5, "idle_s": 0.5, "idle_most_s": 0.5, "write_stall_s": 0.5}
STATES = ("connected", "begun", "ended")
ROWS = [
    row
    for row in itertools.product(CLIENTS, STATES, FAULTS)
    # A request is sent as a whole.
    if row[0].streams or row[1] == "ended"
]
FEW = [row for number, row in enumerate(ROWS) if FULL or number % 7 == 0]


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    wyoming = f"tcp://127.0.0.1:{free_port()}"
    with serving(grpc_port=free_port(), wyoming=wyoming, step_s=0.002, limits=PATIENCE) as running:
        yield running


def port_of(server: Running, client: type[Client]) -> int:
    """Where a protocol is spoken."""
    if issubclass(client, Google):
        return int(server.hub.settings.of(GoogleSettings).grpc_port or 0)
    if issubclass(client, Wyoming):
        return int(str(server.hub.settings.of(WyomingSettings).wyoming).rpartition(":")[2])
    return server.port


def behind(port: int) -> Any:
    """What a client needs to know of a server at a port, whatever the protocol."""

    def of(kind: type[Any]) -> Any:
        return (
            kind(grpc_port=port)
            if kind is GoogleSettings
            else kind(wyoming=f"tcp://127.0.0.1:{port}")
        )

    hub = SimpleNamespace(settings=SimpleNamespace(of=of))
    return SimpleNamespace(
        http=f"http://127.0.0.1:{port}", ws=f"ws://127.0.0.1:{port}", port=port, hub=hub
    )


async def reach(client: Client, state: str) -> bytes:
    """Bring a connection to a state; what was heard by then."""
    pieces = client.pieces[:3] if state == "begun" else client.pieces
    if state == "connected":
        return b""
    for piece in pieces:
        await client.text(piece)
    if state == "ended":
        await client.end()
    return await client.first()


@pytest.mark.parametrize(
    ("client", "state", "fault"), FEW, ids=[f"{c.__name__}-{s}-{f}" for c, s, f in FEW]
)
def test_nothing_hangs_and_nothing_is_left(
    server: Running, client: type[Client], state: str, fault: str
) -> None:
    async def run() -> None:
        async with (
            Proxy.before(port_of(server, client)) as proxy,
            client.open(behind(proxy.port), {}, "", "toy") as connection,
        ):
            before = await reach(connection, state)
            await proxy.linked()
            proxy.fail(fault)
            if fault == "slow" and state == "ended":
                whole = connection.samples(before + (await connection.rest()).sound)
                wanted = connection.wanted(TEXT)
                assert len(whole) >= len(wanted) - client.tail
                assert np.abs(whole[: len(wanted)] - wanted[: len(whole)]).max() < 1e-3
            elif fault in ("cut", "closed"):
                async with asyncio.timeout(SOON_S):
                    while not (connection.closed or await ended(connection)):
                        pass
            # While both are still connected to the proxy: whoever has gone says nothing more.
            await asyncio.to_thread(server.settle, SOON_S + 2 * PATIENCE["idle_s"])
            proxy.fail("cut")

    asyncio.run(asyncio.wait_for(run(), 30))

    async def goes_on() -> None:
        async with Native.open(server, {}, "", "toy") as other:
            await other.text("Hello.")
            await other.end()
            assert (await other.rest()).sound

    asyncio.run(asyncio.wait_for(goes_on(), 10))
    server.settle(SOON_S)


async def ended(connection: Client) -> bool:
    """Hear one more message; whether it was none, or the connection's end."""
    try:
        event = await connection.hear()
    except (OSError, EOFError, RefusedError, httpx.HTTPError):
        return True
    # An answer over HTTP may have come whole before its connection was cut.
    return bool(event.error) or (event.over and not connection.streams)
