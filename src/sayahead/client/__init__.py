"""Clients of ``sayahead serve``: ``Client``, whose calls wait, and ``AsyncClient`` for asyncio."""

from sayahead.client.asynchronous import AsyncClient, AsyncSpeech
from sayahead.client.blocking import Client, Speech
from sayahead.client.wire import ServerError

__all__ = ["AsyncClient", "AsyncSpeech", "Client", "ServerError", "Speech"]
