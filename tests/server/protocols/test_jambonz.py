"""jambonz' socket: what it has of its own."""

from __future__ import annotations

import asyncio
import json

import pytest
from support.servers import Running, talk, toy_voice
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import InvalidStatus

TEXT = "Hello there, how are you today? I am fine."
PATH = "/v1/jambonz?voice=toy&language=en-US"


@pytest.mark.parametrize(("query", "rate"), [("", 16000), ("&sampleRate=8000", 8000)])
def test_a_call_has_one_rate_and_text_after_text(server: Running, query: str, rate: int) -> None:
    async def run(socket: ClientConnection) -> None:
        assert json.loads(await socket.recv())["data"]["sample_rate"] == rate
        for text in (TEXT, "And more."):
            await socket.send(json.dumps({"type": "stream", "text": text}))
            await socket.send(json.dumps({"type": "flush"}))
            size = 0
            whole = len(toy_voice().synthesize(text + " ")) * 2 * rate // 8000
            while size < whole - rate // 4:
                message = await asyncio.wait_for(socket.recv(), 20)
                assert isinstance(message, bytes), message
                size += len(message)
            assert size <= whole

    talk(server.ws + PATH + query, run)
    server.settle()


def test_a_rate_that_cannot_be_is_refused(server: Running) -> None:
    with pytest.raises(InvalidStatus, match="400"):
        talk(server.ws + PATH + "&sampleRate=12345", ClientConnection.close)
