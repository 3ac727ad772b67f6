"""What one client is allowed: others wait for none of its debts."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import time
from collections.abc import Callable
from types import SimpleNamespace

import httpx
import pytest
from support.servers import Running, serving
from websockets.asyncio.client import ClientConnection, connect

from sayahead.server.operation.rate_limits import Account, Allowance, Reading


class Clock:
    """Time that passes when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0

    async def sleep(self, seconds: float) -> None:
        end = self.now + seconds
        await asyncio.sleep(0)
        self.now = max(self.now, end)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    module = "sayahead.server.operation.rate_limits"
    monkeypatch.setattr(f"{module}.time", SimpleNamespace(monotonic=lambda: made.now))
    monkeypatch.setattr(f"{module}.asyncio", SimpleNamespace(sleep=made.sleep, Lock=asyncio.Lock))
    return made


def played(run: Callable[[], object]) -> None:
    asyncio.run(run())  # type: ignore[arg-type]


def test_who_waits_has_its_turn_in_order_and_at_the_pace(clock: Clock) -> None:
    async def run() -> None:
        allowance = Allowance(10, 10)
        order = list[tuple[int, float]]()

        async def one(number: int) -> None:
            assert await allowance.turn()
            order.append((number, round(clock.now, 3)))

        await asyncio.gather(*(one(number) for number in range(30)))
        assert [number for number, _ in order] == list(range(30))
        assert order[9][1] == 0.0
        assert order[29][1] == pytest.approx(2.0, abs=0.05)

    played(run)


def test_those_who_are_gone_owe_nothing(clock: Clock) -> None:
    """364 dropped requests a second for 10 s: the next one waited 6.9 s."""

    async def run() -> None:
        allowance = Allowance(200, 200)
        left = set[int]()
        waiting = [
            asyncio.ensure_future(allowance.turn(gone=lambda number=number: number in left))  # type: ignore[misc]
            for number in range(3640)
        ]
        await asyncio.sleep(0)
        left |= set(range(3640))
        begun = clock.now
        assert await allowance.turn()
        assert clock.now - begun < 0.2
        assert await asyncio.gather(*waiting)

    played(run)


def test_a_turn_that_is_cancelled_takes_nothing(clock: Clock) -> None:
    async def run() -> None:
        allowance = Allowance(1, 1)
        assert await allowance.turn()
        waiting = [asyncio.ensure_future(allowance.turn()) for _ in range(100)]
        await asyncio.sleep(0)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        begun = clock.now
        assert await allowance.turn()
        assert clock.now - begun <= 1.05

    played(run)


def test_who_would_wait_too_long_is_told_at_once(clock: Clock) -> None:
    async def run() -> None:
        allowance = Allowance(10, 10)
        told = [asyncio.ensure_future(allowance.turn(most_s=2.0)) for _ in range(100)]
        assert sum(await asyncio.gather(*told)) == 30
        assert await allowance.turn(most_s=2.0)

    played(run)


def test_a_debt_has_a_floor() -> None:
    allowance = Allowance(10, 10)
    for _ in range(10_000):
        early_s = allowance.take()
    assert early_s == pytest.approx(Allowance.FLOOR, abs=0.1)


def storm(server: Running, seconds: float) -> int:
    """Requests that are sent, and whose connections are dropped at once."""
    end = time.monotonic() + seconds
    sent = 0
    while time.monotonic() < end:
        with (
            contextlib.suppress(OSError),
            socket.create_connection(("127.0.0.1", server.port), timeout=5) as peer,
        ):
            peer.sendall(
                b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 203.0.113.1\r\n\r\n"
            )
            sent += 1
    return sent


def test_dropped_requests_hold_up_no_key_and_nobody_afterwards() -> None:
    """Whoever came from the same address, key or not, waited for debts of those who had left,
    without bound."""
    headers = {"X-Forwarded-For": "203.0.113.1"}
    limits = {"requests_per_s": 1, "sessions": 8}
    with serving(
        keys=("a:first-key", "b:second-key"), proxies=("127.0.0.1",), limits=limits
    ) as server:
        assert storm(server, 1.0) > 32
        begun = time.monotonic()
        answer = httpx.get(
            f"{server.http}/v1/models", headers={**headers, "Authorization": "Bearer first-key"}
        )
        assert answer.status_code == 200
        assert time.monotonic() - begun < 1.0
        # Without a key it waits for what is really asked, at most two seconds, or comes again.
        answer = httpx.get(f"{server.http}/health", headers=headers)
        assert answer.status_code in (200, 429)
        assert time.monotonic() - begun < 4.0


async def events_came(socket_: ClientConnection, kind: str, count: int) -> None:
    """Wait for a number of events of a kind; none may be an error."""
    while count:
        message = await asyncio.wait_for(socket_.recv(), 30)
        if isinstance(message, str):
            event = json.loads(message)
            assert event["type"] != "error", event
            if event["type"] == kind:
                count -= 1


def test_who_waits_for_us_is_not_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection whose messages waited, as its client had sent too many, was closed as idle."""

    async def run(server: Running) -> None:
        async with connect(server.ws + "/v1/stream") as socket_:
            for number in range(3):
                text = {
                    "type": "input_text.append",
                    "context_id": f"c{number}",
                    "text": "Hello there. ",
                }
                await socket_.send(json.dumps(text))
            for number in range(3):
                await socket_.send(
                    json.dumps({"type": "input_text.end", "context_id": f"c{number}"})
                )
            await events_came(socket_, "speech.done", 3)

    with serving(limits={"idle_s": 0.7, "first_message_s": 0.7, "sessions": 64}) as server:
        # Each message is read a second after the one before.
        shared = [Allowance(1e9, 1e9), Allowance(1, 1), Allowance(1e9, 1e9), Allowance(1e9, 1e9)]
        budgets = tuple(shared)
        monkeypatch.setattr(
            server.hub.accounts,
            "of_connection",
            lambda share: Account(budgets),  # type: ignore[arg-type]
        )
        asyncio.run(run(server))


def test_what_waits_is_known(clock: Clock) -> None:
    async def run() -> None:
        from sayahead.server.operation.settings import Limits

        allowances = [Allowance(1, 1) for _ in range(4)]
        reading = Reading(Account(tuple(allowances)), Limits())  # type: ignore[arg-type]
        await reading.turn(1)
        task = asyncio.ensure_future(reading.turn(1))
        await asyncio.sleep(0)
        assert reading.waiting
        await task
        assert not reading.waiting

    played(run)


def test_a_thousand_cancels_take_no_turns() -> None:
    """Each text took one as it began, spoken or not: half a minute, and what was sent after them
    waited."""

    async def run(server: Running) -> None:
        async with connect(server.ws + "/v1/stream") as socket_:
            for number in range(1000):
                for kind, more in (("append", {"text": "Hello there. "}), ("cancel", {})):
                    text = {"type": f"input_text.{kind}", "context_id": f"c{number}", **more}
                    await socket_.send(json.dumps(text))
            await events_came(socket_, "speech.cancelled", 1000)

    # Two texts a second.
    with serving(limits={"sessions": 2, "messages_per_s": 100_000}) as server:
        begun = time.monotonic()
        asyncio.run(run(server))
        assert time.monotonic() - begun < 300


def test_who_waits_for_its_turn_is_not_taken_for_dead(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its answer to a ping was behind messages that were not read yet: it was cut off, with
    1011."""

    async def run(server: Running) -> None:
        async with connect(server.ws + "/v1/stream") as socket_:
            await socket_.recv()
            for _ in range(40):
                # Each fills what is read at once.
                await socket_.send(json.dumps({"type": "session.ping", "more": "x" * 20_000}))
            for _ in range(40):
                assert (
                    json.loads(await asyncio.wait_for(socket_.recv(), 20))["type"] == "session.pong"
                )

    with serving() as server:
        monkeypatch.setattr(server.server.config, "ws_ping_interval", 0.1)
        monkeypatch.setattr(server.server.config, "ws_ping_timeout", 0.1)
        shared = [Allowance(20_000, 400_000), *(Allowance(1e9, 1e9) for _ in range(3))]
        budgets = tuple(shared)
        monkeypatch.setattr(
            server.hub.accounts,
            "of_connection",
            lambda share: Account(budgets),  # type: ignore[arg-type]
        )
        asyncio.run(run(server))
