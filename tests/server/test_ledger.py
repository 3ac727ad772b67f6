"""The ledger: what clients received is what was billed, whoever asks for the bill, and whenever the
server is killed, stands still or has its clock set. Full size: SAYAHEAD_TESTS=full, any other:
SAYAHEAD_LEDGER="requests keys readers kills at-once"."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import signal
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from support.effort import FULL
from support.toy_server import Clock, ToyServer
from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

WORDS = "Hello there, how are you today? I am fine, and so is everybody else who was asked about it. ".split(  # noqa: E501
    " "
)
SIZE = os.environ.get("SAYAHEAD_LEDGER") or ("10000 20 16 20 24" if FULL else "40 4 1 1 8")
"""Requests, keys, readers, kills, and texts at once."""
REQUESTS, KEYS, ASKERS, KILLS, AT_ONCE = map(int, SIZE.split())
ENDS = (OSError, EOFError, TimeoutError, WebSocketException, httpx.HTTPError)
RATE = 8000
PAUSE_S = 0.2
CHUNK_S = 1.0
"""No chunk of these texts has more sound."""


@dataclass
class Received:
    """What a client has of one text."""

    key: str
    text: str
    characters: int = 0
    """Up to the last word that came, or all where the end came."""
    audio_s: float = 0.0
    begun: bool = False
    whole: bool = False


def text_of(dice: random.Random) -> str:
    return " ".join(dice.choices(WORDS, k=dice.randint(1, 25))).strip()


async def stream(server: ToyServer, got: Received) -> None:
    """Over the native socket."""
    headers = {"Authorization": f"Bearer {got.key}-secret"}
    async with connect(
        server.ws + "/v1/stream", additional_headers=headers, open_timeout=5
    ) as socket:
        for part in (got.text[:20], got.text[20:]):
            await socket.send(json.dumps({"type": "input_text.append", "text": part}))
        await socket.send(json.dumps({"type": "input_text.end"}))
        while not got.whole:
            message = await asyncio.wait_for(socket.recv(), 30)
            if isinstance(message, bytes):
                got.audio_s += len(message) / 2 / RATE
                continue
            event = json.loads(message)
            if event["type"] == "error":
                return
            got.begun = got.begun or event["type"] not in ("session.created", "session.updated")
            for word in event.get("words", ()):
                got.characters = max(got.characters, word["end"])
            if event["type"] == "speech.done":
                got.whole, got.characters = True, len(got.text)


async def post(server: ToyServer, got: Received) -> None:
    """Over OpenAI's endpoint."""
    body = {"model": "x", "voice": "toy", "input": got.text, "response_format": "pcm"}
    headers = {"Authorization": f"Bearer {got.key}-secret"}
    async with (
        httpx.AsyncClient(timeout=30) as http,
        http.stream("POST", f"{server.http}/v1/audio/speech", json=body, headers=headers) as answer,
    ):
        if answer.status_code != 200:
            return
        got.begun = True
        # Sound comes at 24 kHz there.
        async for data in answer.aiter_raw():
            got.audio_s += len(data) / 2 / 24000
        got.whole, got.characters = True, len(got.text)


async def speak_all(server: ToyServer, dice: random.Random) -> list[Received]:
    """Texts of all keys, over crashes, beside readers; what clients have of them."""
    found = list[Received]()
    jobs = iter(
        [
            (dice.choice([stream, stream, post]), f"key-{dice.randrange(KEYS)}", text_of(dice))
            for _ in range(REQUESTS)
        ]
    )
    over = asyncio.Event()

    async def work() -> None:
        for talk, key, text in jobs:
            end = time.monotonic() + 60
            while time.monotonic() < end:
                got = Received(key, text)
                with contextlib.suppress(*ENDS):
                    await talk(server, got)
                if got.begun:
                    found.append(got)
                    break
                await asyncio.sleep(0.05)

    async def ask(number: int) -> None:
        headers = {"Authorization": f"Bearer key-{number % KEYS}-secret"}
        async with httpx.AsyncClient(timeout=30) as http:
            while not over.is_set():
                with contextlib.suppress(*ENDS):
                    answer = await http.get(
                        f"{server.http}/v1/usage", params={"all": "true"}, headers=headers
                    )
                    assert answer.status_code in (200, 503)

    async def kill() -> None:
        for number in range(2 * KILLS):
            while len(found) < (number + 1) * REQUESTS // (2 * KILLS + 1):
                await asyncio.sleep(0.002)
            if number % 2:
                await asyncio.to_thread(server.kill)
                await asyncio.to_thread(server.start)
            elif hasattr(signal, "SIGSTOP"):
                # It stands still, as a machine that was moved: whoever waits, waits. Its clock is
                # another then.
                server.send(signal.SIGSTOP)
                await asyncio.sleep(PAUSE_S)
                if Clock.SIGNAL is not None:
                    server.send(Clock.SIGNAL)
                server.send(signal.SIGCONT)

    others = [asyncio.create_task(ask(number)) for number in range(ASKERS)] + [
        asyncio.create_task(kill())
    ]
    await asyncio.gather(*(work() for _ in range(AT_ONCE)))
    over.set()
    await asyncio.gather(*others)
    return found


@pytest.mark.timeout(4 * 3600 if REQUESTS > 100 else 300)
def test_what_was_received_is_what_is_billed(tmp_path: Path) -> None:
    """Askers doubled rows (up to 47 %), a crash lost the sound that had left (14 %)."""
    keys = tmp_path / "keys.toml"
    tables = [
        f'[key-{number}]\nkey = "key-{number}-secret"\nadmin = true\n' for number in range(KEYS)
    ]
    keys.write_text("\n".join(tables), encoding="utf-8")
    lag = tmp_path / "lag"
    server = ToyServer(
        step_s=0.004,
        lag=lag,
        keys_file=str(keys),
        usage=str(tmp_path / "usage.db"),
        step_words=1,
        limits={"sessions": 1000, "requests_per_s": 10_000},
    )
    server.start()
    try:
        found = asyncio.run(speak_all(server, random.Random(1)))
        headers = {"Authorization": "Bearer key-0-secret"}
        asked = {"all": "true", "from": "2000-01-01", "to": "2999-12-31"}
        answer = httpx.get(f"{server.http}/v1/usage", params=asked, headers=headers, timeout=30)
        rows = answer.json()["rows"]
    finally:
        server.kill()
    # Nobody, /health among them, waits for a step of the event loop that takes long.
    assert not lag.exists(), lag.read_text(encoding="utf-8")
    billed = Counter[str]()
    billed_s = Counter[str]()
    requests = Counter[str]()
    for row in rows:
        billed[row["key"]] += row["characters"]
        billed_s[row["key"]] += row["audio_s"]
        requests[row["key"]] += row["requests"]
    told = {"requests": len(found), "broken": sum(not got.whole for got in found)}
    told |= {"characters": sum(got.characters for got in found), "billed": sum(billed.values())}
    told |= {
        "seconds": round(sum(got.audio_s for got in found)),
        "billed_s": round(sum(billed_s.values())),
    }
    print(json.dumps(told))
    longest = max(map(len, WORDS)) + 1
    for key in {got.key for got in found}:
        own = [got for got in found if got.key == key]
        broken = [got for got in own if not got.whole]
        received = sum(got.characters for got in own)
        received_s = sum(got.audio_s for got in own)
        # Who heard nothing of a text before a crash asks again.
        again = requests[key] - len(own)
        assert 0 <= again <= KILLS * AT_ONCE, key
        # Over HTTP no words come; and what is written and was not sent when the server was killed,
        # is billed.
        unknown = (
            sum(len(got.text) if not got.characters else longest * 2 for got in broken)
            + again * longest * 2
        )
        unknown_s = CHUNK_S * (len(broken) + again)
        assert received <= billed[key] <= received + unknown, key
        assert received_s - 1e-2 <= billed_s[key] <= received_s + unknown_s + 1e-2, key
