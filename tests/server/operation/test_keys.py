"""Keys as customers: what each may use, what it has used, and how its requests are found in the
log."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from support.servers import Running, serving

from sayahead.client import AsyncClient, ServerError
from sayahead.errors import ConfigError
from sayahead.server.operation.access import Access
from sayahead.server.operation.keys import Terms
from sayahead.server.operation.metrics import Metrics
from sayahead.server.operation.settings import Settings
from sayahead.server.operation.usage import Usage
from sayahead.server.operation.usage_file import File, Used, today

TEXT = "Hello there, how are you today? I am fine. "
KEYS = f"""
[acme]
key = "acme-secret"
voices = ["toy"]
protocols = ["native", "openai"]
characters_per_month = {3 * len(TEXT)}

[hashed]
sha256 = "{hashlib.sha256(b"hashed-secret").hexdigest()}"
sessions = 1
requests_per_minute = 3

[past]
key = "past-secret"
until = 2020-01-01

[later]
key = "later-secret"
until = 2999-01-01T00:00:00Z
read_only = true

[boss]
key = "boss-secret"
admin = true
characters_per_day = 1000000
"""


def named(name: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {name}-secret"}


def speak(server: Running, name: str, **more: Any) -> httpx.Response:
    body = {"model": "sayahead", "voice": "alloy", "input": TEXT, "response_format": "pcm", **more}
    return httpx.post(f"{server.http}/v1/audio/speech", headers=named(name), json=body)


async def streamed(server: Running, name: str, text: str = TEXT, **options: Any) -> int:
    """Characters up to the last word that came."""
    async with AsyncClient(server.ws, key=f"{name}-secret", **options) as client:
        return max([word.end async for chunk in client.stream([text]) for word in chunk.words])


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Running]:
    (tmp_path / "keys.toml").write_text(KEYS, encoding="utf-8")
    with serving(
        keys_file=str(tmp_path / "keys.toml"), usage=str(tmp_path / "usage.db")
    ) as running:
        yield running


def test_a_key_has_what_its_terms_say(server: Running) -> None:
    assert speak(server, "past").status_code == 401
    answer = speak(server, "later")
    assert (answer.status_code, "may only ask" in answer.text) == (403, True)
    assert httpx.get(f"{server.http}/v1/audio/voices", headers=named("later")).status_code == 200
    assert speak(server, "acme", voice="heart").json()["error"]["code"] == "forbidden"
    assert speak(server, "acme").status_code == 200
    answer = httpx.post(f"{server.http}/v1/speak", headers=named("acme"), json={"text": TEXT})
    assert (answer.status_code, "may not use the protocol deepgram" in answer.text) == (403, True)
    # Two of three are spoken, and no text begins that would not be spoken to its end.
    assert asyncio.run(streamed(server, "acme")) == len(TEXT.rstrip())
    answer = speak(server, "acme", input=2 * TEXT)
    assert (answer.status_code, "43 are left" in answer.text) == (429, True)
    assert speak(server, "acme").status_code == 200
    with pytest.raises(ServerError, match="0 are left"):
        asyncio.run(streamed(server, "acme"))


def test_a_key_has_its_places_and_its_texts_a_minute(server: Running) -> None:
    async def two() -> None:
        async with AsyncClient(server.ws, key="hashed-secret") as client:
            first = client.open_speech()
            second = client.open_speech()
            await first.push(TEXT * 20)
            await anext(first)
            await second.push(TEXT)
            with pytest.raises(ServerError, match="uses 1 places, its limit"):
                await anext(second)

    asyncio.run(two())
    server.settle()
    answer = speak(server, "hashed")
    assert (
        answer.headers["maximum-concurrent-requests"]
        == answer.headers["current-concurrent-requests"]
        == "1"
    )
    assert speak(server, "hashed").status_code == 429
    assert "may begin 3 texts in a minute" in speak(server, "hashed").text


def usage(server: Running, name: str, **query: str) -> Any:
    answer = httpx.get(f"{server.http}/v1/usage", headers=named(name), params=query)
    return answer if query.get("format") or answer.status_code != 200 else answer.json()


def test_usage_is_what_was_spoken(server: Running) -> None:
    sound = speak(server, "acme").content
    assert asyncio.run(streamed(server, "acme")) == len(TEXT.rstrip())
    told = usage(server, "acme")
    assert told["month"] == {"characters": 2 * len(TEXT), "limit": 3 * len(TEXT)}
    rows = {row["protocol"]: row for row in told["rows"]}
    assert {name: row["characters"] for name, row in rows.items()} == {
        "openai": len(TEXT),
        "native": len(TEXT),
    }
    assert rows["openai"]["audio_s"] == pytest.approx(len(sound) / 2 / 24000, abs=1e-3)
    assert (rows["native"]["voice"], rows["native"]["requests"]) == ("toy", 1)

    async def interrupted() -> int:
        async with AsyncClient(server.ws, key="boss-secret") as client:
            speech = client.open_speech()
            await speech.push(TEXT * 20)
            words = [
                word
                async for chunk in speech
                for word in chunk.words
                if word.end < 60 or await speech.cancel()
            ]
            return words[-1].end

    # A text that was cancelled costs what was sent, and it costs that while it is spoken.
    heard = asyncio.run(interrupted())
    assert heard <= usage(server, "boss")["today"]["characters"] < 20 * len(TEXT)
    assert usage(server, "acme", all="true").status_code == 403
    bill = usage(server, "boss", all="true", format="csv").text.splitlines()
    assert bill[0] == "key,day,protocol,voice,requests,characters,audio_s"
    assert f"acme,{today()},native,toy,1,{len(TEXT)}," in "\n".join(bill)
    assert usage(server, "boss", **{"from": "yesterday"}).status_code == 400
    assert server.metric("tts_key_characters_total", key="acme") == 2 * len(TEXT)
    xi = {"xi-api-key": "acme-secret"}
    subscription = httpx.get(f"{server.http}/v1/user/subscription", headers=xi).json()
    assert (subscription["character_count"], subscription["character_limit"]) == (
        2 * len(TEXT),
        3 * len(TEXT),
    )
    assert [
        row["model_id"] for row in httpx.get(f"{server.http}/v1/models", headers=xi).json()
    ] == ["sayahead"]


def test_usage_outlives_the_process(tmp_path: Path) -> None:
    line = (
        "import sys; from sayahead.server.operation.metrics import Metrics\n"
        "from sayahead.server.operation.usage import Usage\n"
        "from sayahead.server.operation.usage_file import File\n"
        "usage = Usage(File(sys.argv[1]), Metrics())\n"
        "while True:\n"
        "    usage.add('acme', 'native', 'toy', characters=1)\n"
        "    assert usage.settle()\n"
        "    print('.', end='', flush=True)\n"
    )
    command = [sys.executable, "-c", line, str(tmp_path / "usage.db")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        told = process.stdout.read(50)
        # Another process of the machine adds to the same file.
        own = Usage(File(str(tmp_path / "usage.db")), Metrics())
        own.add("acme", "openai", "toy", characters=1000)
        os.kill(process.pid, signal.SIGKILL)
        told += process.stdout.read()
    rows = {row.protocol: row.characters for row in own.rows("2000-01-01", today(), "acme")}
    own.close()
    # All that was told was written before; one more may have been.
    assert rows["openai"] == 1000
    assert rows["native"] - len(told) in (0, 1)


def test_who_gets_all_at_once_pays_at_the_end() -> None:
    usage = Usage(File(None), Metrics())
    cut, said = (usage.bill("acme", Terms(), "google", "toy", whole=True) for _ in range(2))
    for bill in (cut, said):
        bill.spoken(10, 1.0)
    assert usage.totals("acme") == (0, 0)
    said.spoken(12, 1.5, over=True)
    for bill in (cut, said):
        bill.spoken(10, 1.0)
        bill.close()
    assert [(row.characters, row.audio_s) for row in usage.rows(today(), today())] == [(12, 1.5)]
    usage.close()


def test_places_of_a_key_hold_over_all_servers_that_share_their_usage(
    server: Running, tmp_path: Path
) -> None:
    async def two(other: Running) -> None:
        async with AsyncClient(server.ws, key="hashed-secret") as client:
            speech = client.open_speech()
            await speech.push(TEXT)
            assert await anext(speech)
            for _ in range(100):
                await asyncio.sleep(0.1)
                answer = await asyncio.to_thread(speak, other, "hashed")
                if answer.status_code == 429:
                    break
            assert "uses 1 places, its limit" in answer.text
            # Others are not touched, nor are those without a number of their own.
            assert (await asyncio.to_thread(speak, other, "boss")).status_code == 200
        while (await asyncio.to_thread(speak, other, "hashed")).status_code == 429:
            await asyncio.sleep(0.1)

    keys = str(tmp_path / "keys.toml")
    usage = str(tmp_path / "usage.db")
    text = (
        (tmp_path / "keys.toml").read_text(encoding="utf-8").replace("requests_per_minute = 3", "")
    )
    (tmp_path / "keys.toml").write_text(text, encoding="utf-8")
    with serving(keys_file=keys, usage=usage) as other:
        asyncio.run(two(other))


def test_a_server_that_is_gone_has_no_places(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = (File(str(tmp_path / "usage.db")) for _ in range(2))
    assert one.meet("one", {"acme": 3}) == {}
    assert two.meet("two", {"acme": 1}) == {"acme": 3}
    monkeypatch.setattr("sayahead.server.operation.usage_file.GONE_S", 0.0)
    assert two.meet("two", {"acme": 1}) == {}
    one.close()
    two.close()


def test_places_of_the_future_are_nobodys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the clock was set back, those of a server that was killed stayed taken until it had
    caught up."""
    one, two = (File(str(tmp_path / "usage.db")) for _ in range(2))
    assert one.meet("one", {"acme": 8}) == {}
    assert two.meet("two", {}) == {"acme": 8}
    now = time.time()
    monkeypatch.setattr("sayahead.server.operation.usage_file.time.time", lambda: now - 3600)
    assert two.meet("two", {"acme": 1}) == {}
    # And who lives says so again.
    assert one.meet("one", {"acme": 3}) == {"acme": 1}
    assert two.meet("two", {"acme": 1}) == {"acme": 3}
    one.close()
    two.close()


class Broken(File):
    """A disk that is full."""

    full = True

    def add(self, rows: list[Used]) -> None:
        if self.full:
            raise OSError("disk full")
        super().add(rows)


def test_what_cannot_be_written_is_kept(caplog: pytest.LogCaptureFixture) -> None:
    store = Broken(None)
    used = Usage(store, Metrics())
    for _ in range(3):
        used.add("acme", "native", "toy", characters=10)
    assert used.settle()
    assert "disk full" in str([vars(record).get("why") for record in caplog.records])
    assert used.totals("acme") == (30, 30)
    assert used.refusal("acme", Terms(characters_per_day=35), 6) is not None
    assert used.refusal("acme", Terms(characters_per_day=35), 5) is None
    store.full = False
    used.add("acme", "native", "toy", characters=1)
    while not store.rows(today(), today()):
        used.settle()
    assert [row.characters for row in store.rows(today(), today())] == [31]
    used.close()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[a]\nkey = 'long-enough'\nvoice = ['x']", "unknown key 'voice'"),
        ("[a]\nkey = 'short'", "shorter than 8"),
        ("[a]\nsessions = 3", "give key or sha256, one of them"),
        ("[a]\nsha256 = 'abc'", "64 hexadecimal digits"),
        ("[a]\nkey = 'long-enough'\nprotocols = ['opena']", "did you mean 'openai'"),
        ("[a]\nkey = 'long-enough'\nsessions = -1", "must be a whole number"),
        ("[a", "is not TOML"),
        ("", "contains no key"),
    ],
)
def test_wrong_terms_are_told(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "keys.toml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=message):
        Access(Settings(keys_file=str(tmp_path / "keys.toml")))


def test_a_request_is_found_in_the_log_by_its_id(
    server: Running, caplog: pytest.LogCaptureFixture
) -> None:
    async def talk() -> str:
        async with AsyncClient(server.ws, key="boss-secret", language="en") as client:
            assert [chunk async for chunk in client.stream([TEXT])]
            return str(client.created["session_id"])

    url = f"{server.http}/v1/audio/speech"
    body = {"model": "x", "voice": "toy", "input": TEXT, "response_format": "pcm"}
    with caplog.at_level(logging.INFO, "sayahead.server"):
        given = httpx.post(url, headers={**named("boss"), "x-request-id": "mine-1"}, json=body)
        made = httpx.post(url, headers={**named("boss"), "x-request-id": "no good"}, json=body)
        wrong = httpx.post(url, headers=named("nobody"), json=body)
        session = asyncio.run(talk())
        server.settle()
    assert given.headers["x-request-id"] == "mine-1"
    rows = {
        vars(row).get("session"): vars(row)
        for row in caplog.records
        if row.msg in ("closed", "refused")
    }
    assert rows["mine-1"]["caller"] == "boss"
    assert rows[made.headers["x-request-id"]]["outcome"] == "done"
    assert rows[wrong.headers["x-request-id"]]["reason"] == "unauthorized"
    closed = rows[session]
    assert (closed["protocol"], closed["voice"], closed["language"]) == ("native", "toy", "en")
    assert (closed["address"], closed["texts"], closed["underruns"]) == ("127.0.0.1", 1, 0)
    assert 0 < closed["first_audio_s"] < 10


def test_what_is_served_is_described(server: Running) -> None:
    described = httpx.get(f"{server.http}/openapi.json").json()
    assert described["paths"]["/v1/usage"]["get"]["summary"].startswith("What the key has used")
    assert described["paths"]["/v1/stream"]["get"]["responses"] == {
        "101": {"description": "A WebSocket."}
    }
    version = httpx.get(f"{server.http}/version").json()["version"]
    text = httpx.get(f"{server.http}/metrics").text
    assert f'sayahead_build_info{{version="{version}"}} 1.0' in text
    assert 'tts_rejected_total{reason="quota"} 0.0' in text
    assert "process_resident_memory_bytes" in text
