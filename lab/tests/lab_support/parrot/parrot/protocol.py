"""A protocol with a port of its own: a text a line, its samples as an answer; and an address on the
server's."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from typing import Annotated

from sayahead.config import Bound
from sayahead.server.hub import Hub
from sayahead.server.operation.settings import ProtocolSettings, Settings
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import BaseRoute, Route


@dataclass(frozen=True, slots=True)
class ParrotSettings(ProtocolSettings):
    """What an operator decides."""

    parrot_port: Annotated[int | None, Bound(0, 65535)] = None
    """Port for parrots; none: it is not served."""

    def addresses(self, server: Settings) -> Iterable[tuple[str, int]]:
        return () if self.parrot_port is None else ((server.host, self.parrot_port),)


SETTINGS = ParrotSettings


@contextlib.asynccontextmanager
async def listening(hub: Hub) -> AsyncIterator[None]:
    """Serve at ``parrot_port`` while inside."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        text = (await reader.readline()).decode()
        voice = await asyncio.to_thread(hub.voices.load, hub.voices.default)
        samples = await asyncio.to_thread(voice.synthesize, text)
        writer.write(samples.tobytes())
        await writer.drain()
        writer.close()

    port = hub.settings.of(ParrotSettings).parrot_port
    if port is None:
        yield
        return
    server = await asyncio.start_server(answer, hub.settings.host, port)
    try:
        yield
    finally:
        server.close()


def routes(hub: Hub) -> list[BaseRoute]:
    """``/parrot``."""

    async def greet(request: Request) -> PlainTextResponse:
        return PlainTextResponse(f"Hello from {hub.voices.default}.")

    return [Route("/parrot", greet)]
