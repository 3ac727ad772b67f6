"""Texts with several speakers, over the server's protocols."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import httpx
import numpy as np
import pytest
from support.servers import Running, serving, toy_voice
from websockets.asyncio.client import connect

from sayahead import Voice
from sayahead.types import Floats

HELLO = "Hello there. "
FINE = "I am fine. "


def ben() -> Voice:
    """A second toy, half as loud."""
    toy = toy_voice()
    return toy.described(replace(toy.config, name="ben", gain=0.5), toy.synthesizer)


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with serving() as running:
        running.hub.voices.put(ben())
        yield running


def samples_of(data: bytes) -> Floats:
    return np.frombuffer(data, "<i2").astype(np.float32) / np.float32(32767)


def both() -> Floats:
    return np.concatenate([toy_voice().synthesize(HELLO), ben().synthesize(FINE)])


def test_a_name_in_the_text_changes_the_speaker(server: Running) -> None:
    address = f"{server.http}/v2/speak?encoding=linear16&container=none&sample_rate=8000&model=toy"
    answer = httpx.post(address, json={"text": f"{HELLO}[voice:ben]{FINE}"})
    assert np.abs(samples_of(answer.content) - both()).max() < 1e-4
    silent = httpx.post(
        address, json={"text": f"[voice:heart]Hello [voice:nobody]there. [voice:ben]{FINE}"}
    )
    assert np.abs(samples_of(silent.content) - both()).max() < 1e-4


def test_our_own_socket_says_who_speaks_and_who_is_not_there(server: Running) -> None:
    async def run() -> list[dict[str, Any]]:
        async with connect(server.ws + "/v1/stream") as socket:
            text = f"{HELLO}[voice:nobody][voice:ben]{FINE}"
            for piece in (text[:18], text[18:30], text[30:]):
                await socket.send(json.dumps({"type": "input_text.append", "text": piece}))
            await socket.send(json.dumps({"type": "input_text.end"}))
            messages = list[dict[str, Any]]()
            while not messages or messages[-1]["type"] != "speech.done":
                message = await asyncio.wait_for(socket.recv(), 20)
                if isinstance(message, str):
                    messages.append(json.loads(message))
            return messages

    messages = asyncio.run(run())
    rows = [
        row for message in messages if message["type"] == "speech.audio" for row in message["words"]
    ]
    assert [row.get("speaker") for row in rows] == [None, None, "ben", "ben", "ben"]
    skipped = [message["text"] for message in messages if message["type"] == "speech.skipped"]
    assert skipped == ["[voice:nobody]"]


def test_a_key_may_name_only_voices_of_its_own(tmp_path: Any) -> None:
    keys = tmp_path / "keys.toml"
    keys.write_text("[alice]\nkey = 'secret-key-of-alice'\nvoices = ['toy']\n")
    with serving(keys_file=str(keys)) as server:
        server.hub.voices.put(ben())
        address = (
            f"{server.http}/v2/speak?encoding=linear16&container=none&sample_rate=8000&model=toy"
        )
        headers = {"Authorization": "Token secret-key-of-alice"}
        answer = httpx.post(address, json={"text": f"[voice:ben]{HELLO}"}, headers=headers)
        assert answer.status_code == 200, answer.text
        assert np.abs(samples_of(answer.content) - toy_voice().synthesize(HELLO)).max() < 1e-4
