"""The native socket, spoken by hand."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from support.servers import Running, serving, toy_voice
from websockets.asyncio.client import ClientConnection, connect


class Talk:
    """A connection whose messages come in pairs of an event and, for sound, its bytes."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.words = dict[str, list[dict[str, Any]]]()

    async def say(self, kind: str, **rest: Any) -> None:
        await self.socket.send(json.dumps({"type": kind, **rest}))

    async def hear(self) -> dict[str, Any]:
        data: dict[str, Any] = json.loads(await asyncio.wait_for(self.socket.recv(), 20))
        if data["type"] == "speech.audio":
            sound = await self.socket.recv()
            assert isinstance(sound, bytes)
            assert len(sound) == data["bytes"]
            self.words.setdefault(data["context_id"], []).extend(data["words"])
        return data

    async def until(self, kind: str) -> dict[str, Any]:
        while True:
            data = await self.hear()
            if data["type"] == kind:
                return data
            assert data["type"] != "error", data


def talk(server: Running, **options: Any) -> connect:
    return connect(server.ws + "/v1/stream", **options)


async def begin(socket: ClientConnection) -> Talk:
    talking = Talk(socket)
    assert (await talking.hear())["type"] == "session.created"
    return talking


def test_a_lexicon_says_how_words_are_said(server: Running) -> None:
    async def run() -> None:
        async with talk(server) as socket:
            talking = await begin(socket)
            await talking.say(
                "session.update", session={"lexicon": {"New York": "Noo Yawk", "fine": 5}}
            )
            error = await talking.hear()
            assert (error["code"], error["type"]) == ("invalid_option", "error")
            assert "lexicon.fine" in error["message"]
            await talking.say(
                "session.update", session={"lexicon": {"New York": "Noo Yawk", "SQL": "sequel"}}
            )
            assert (await talking.until("session.updated"))["session"]["lexicon"]["SQL"] == "sequel"
            for fragment in ("SQ", "L in New", " York", ", fine."):
                await talking.say("input_text.append", text=fragment)
            await talking.say("input_text.end")
            done = await talking.until("speech.done")
            wanted = toy_voice().synthesize("sequel in Noo Yawk, fine.")
            assert (done["characters"], done["audio_s"]) == (22, pytest.approx(len(wanted) / 8000))
            words = [(word["word"], word["start"], word["end"]) for word in talking.words[""]]
            assert words == [
                ("sequel", 0, 3),
                ("in", 4, 6),
                ("Noo Yawk,", 7, 16),
                ("fine.", 17, 22),
            ]

    asyncio.run(run())


def test_a_servers_lexicon_stands_behind_the_clients(tmp_path: Path) -> None:
    (tmp_path / "names.txt").write_text("SQL = sequel\nfine = dandy\n", encoding="utf-8")

    async def run(server: Running) -> None:
        async with talk(server) as socket:
            talking = await begin(socket)
            await talking.say("session.update", session={"lexicon": {"fine": "grand"}})
            await talking.until("session.updated")
            await talking.say("input_text.append", text="SQL is fine.")
            await talking.say("input_text.end")
            await talking.until("speech.done")
            assert [word["word"] for word in talking.words[""]] == ["sequel", "is", "grand."]

    with serving(lexicon=str(tmp_path / "names.txt")) as server:
        asyncio.run(run(server))


def test_what_cannot_be_read_is_told_with_its_place(server: Running) -> None:
    async def run() -> None:
        async with talk(server) as socket:
            talking = await begin(socket)
            await talking.say("input_text.append", text="Hello Привет there.")
            await talking.say("input_text.end")
            told = await talking.until("speech.skipped")
            assert (told["start"], told["end"], told["text"], told["context_id"]) == (
                6,
                12,
                "Привет",
                "",
            )
            await talking.until("speech.done")

    asyncio.run(run())
