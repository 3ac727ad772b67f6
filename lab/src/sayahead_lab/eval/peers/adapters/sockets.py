"""Services that take text and give sound on a socket, by their makers' documented messages. Nothing
of sayahead.

``url`` is the service's, or that of any server that speaks its protocol; ``key`` names the
environment variable that holds the key. What is measured is when sound reaches this process;
``round_trip_ms`` is the socket's own."""

from __future__ import annotations

import base64
import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from socket import create_connection
from typing import Any, TypeAlias
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import numpy as np
from websockets.exceptions import ConnectionClosed, ConnectionClosedOK
from websockets.sync.client import ClientConnection, connect

RATE = 24000
LISTEN_S = 0.02
Write: TypeAlias = "Callable[[str], str | bytes | None]"
"""The message for a piece of text."""


def elevenlabs(
    url: str, key: str = "ELEVENLABS_API_KEY", voice: str = "any", model: str = "eleven_flash_v2_5"
) -> Any:
    """ElevenLabs' ``stream-input``."""
    place = f"{url}/v1/text-to-speech/{voice}/stream-input?model_id={model}&output_format=pcm_24000&auto_mode=true"  # noqa: E501

    def speak(text: Iterator[str], whole: bool, seed: int) -> Iterator[Any]:
        with opened(place, additional_headers=keyed("xi-api-key", key)) as socket:
            socket.send(json.dumps({"text": " "}))
            with sending(
                socket, text, lambda piece: json.dumps({"text": piece}), json.dumps({"text": ""})
            ):
                for message in received(socket):
                    data = json.loads(message or "{}")
                    yield pcm16(base64.b64decode(data.get("audio") or ""))
                    if data.get("isFinal"):
                        return

    return about(place, model), speak


def cartesia(
    url: str, key: str = "CARTESIA_API_KEY", voice: str = "any", model: str = "sonic-2"
) -> Any:
    """Cartesia's ``/tts/websocket``."""
    form = {"container": "raw", "encoding": "pcm_s16le", "sample_rate": RATE}
    asked = {
        "model_id": model,
        "voice": {"mode": "id", "id": voice},
        "output_format": form,
        "context_id": "c",
    }
    place = f"{url}/tts/websocket?api_key={os.environ.get(key, '')}&cartesia_version=2025-04-16"

    def speak(text: Iterator[str], whole: bool, seed: int) -> Iterator[Any]:
        def write(piece: str, more: bool = True) -> str:
            return json.dumps({**asked, "transcript": piece, "continue": more})

        with opened(place) as socket, sending(socket, text, write, write("", False)):
            for message in received(socket):
                data = json.loads(message or "{}")
                yield pcm16(base64.b64decode(data.get("data") or ""))
                if data.get("done"):
                    return

    return about(place, model), speak


def deepgram(url: str, key: str = "DEEPGRAM_API_KEY", model: str = "aura-2-thalia-en") -> Any:
    """Deepgram's ``/v1/speak``: it speaks what has come when it is flushed."""
    return speak_socket(f"{url}/v1/speak", key, model, last="Flushed")


def flux(url: str, key: str = "DEEPGRAM_API_KEY", model: str = "flux-alexis-en") -> Any:
    """Deepgram's ``/v2/speak``: it speaks tokens as they come, and a turn ends with its figures."""
    return speak_socket(f"{url}/v2/speak", key, model, last="SpeechMetadata")


def speak_socket(address: str, key: str, model: str, *, last: str) -> Any:
    """Return the adapter of a socket of Deepgram. ``last``: type of the message that follows the
    last sound of a text."""
    place = f"{address}?model={model}&encoding=linear16&sample_rate={RATE}"

    def speak(text: Iterator[str], whole: bool, seed: int) -> Iterator[Any]:
        def write(piece: str) -> str:
            return json.dumps({"type": "Speak", "text": piece})

        with (
            opened(place, additional_headers=keyed("Authorization", key, "Token ")) as socket,
            sending(socket, text, write, json.dumps({"type": "Flush"})),
        ):
            for message in received(socket):
                if not isinstance(message, str):
                    yield pcm16(message or b"")
                elif json.loads(message)["type"] == last:
                    return

    return about(place, model), speak


def kyutai(url: str, key: str = "KYUTAI_API_KEY", voice: str = "expresso/any.wav") -> Any:
    """Kyutai's ``/api/tts_streaming``: words in, bare floats out, the end of the text is a zero
    byte."""
    place = f"{url}/api/tts_streaming?voice={voice}&format=Pcm"

    def speak(text: Iterator[str], whole: bool, seed: int) -> Iterator[Any]:
        with (
            opened(place, additional_headers=keyed("kyutai-api-key", key)) as socket,
            sending(socket, text, lambda piece: piece.strip() or None, b"\0"),
        ):
            for message in received(socket):
                yield np.frombuffer(message if isinstance(message, bytes) else b"", "<f4")

    return about(place, voice), speak


def openai(
    url: str, key: str = "OPENAI_API_KEY", voice: str = "alloy", model: str = "gpt-4o-mini-tts"
) -> Any:
    """OpenAI's ``/v1/audio/speech``: a piece of text a request, its sound as it comes."""
    headers = {
        "Content-Type": "application/json",
        "Authorization": f"Bearer {os.environ.get(key, 'none')}",
    }

    def speak(text: Iterator[str], whole: bool, seed: int) -> Iterator[Any]:
        for piece in text:
            asked = {"model": model, "voice": voice, "input": piece, "response_format": "pcm"}
            request = Request(f"{url}/v1/audio/speech", json.dumps(asked).encode(), headers)
            with urlopen(request, timeout=60) as answer:
                left = b""
                while data := answer.read1(65536):
                    data = left + data
                    even = len(data) // 2 * 2
                    yield pcm16(data[:even])
                    left = data[even:]

    return about(url, model), speak


def opened(place: str, **options: Any) -> ClientConnection:
    """A connection that takes in all that comes: one that is full cannot be closed."""
    connection: ClientConnection = connect(place, max_queue=None, **options)
    return connection


def received(socket: ClientConnection) -> Iterator[str | bytes | None]:
    """A socket's messages, and None after each ``LISTEN_S`` without one, so that a reader can be
    cancelled."""
    while True:
        try:
            yield socket.recv(timeout=LISTEN_S)
        except TimeoutError:
            yield None
        except ConnectionClosedOK:
            return


class sending:  # noqa: N801 - used as a function
    """Writes the pieces of a text to a socket from a thread of its own while the caller reads; then
    the end."""

    def __init__(
        self, socket: ClientConnection, text: Iterator[str], write: Write, end: str | bytes
    ) -> None:
        self._socket = socket
        self._text = text
        self._write = write
        self._end = end
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *error: object) -> None:
        self._socket.close()

    def _run(self) -> None:
        with suppress(ConnectionClosed):
            try:
                for piece in self._text:
                    if piece and (message := self._write(piece)) is not None:
                        self._socket.send(message)
                self._socket.send(self._end)
            except ConnectionClosed:
                raise
            except Exception:
                # Nobody listens any more: whoever reads is told by the end of the connection.
                self._socket.close()


def about(place: str, model: str) -> dict[str, Any]:
    """What a card says of a service; the round trip is that of opening a connection."""
    address = urlsplit(place)
    begun = time.monotonic()
    port = address.port or (443 if address.scheme in ("wss", "https") else 80)
    create_connection((address.hostname or "", port), timeout=30).close()
    trip_ms = 1000 * (time.monotonic() - begun)
    told = {
        "rate": RATE,
        "version": model,
        "licence": "a service",
        "device": "remote",
        "threads": 0,
    }
    return {**told, "set": place.split("?")[0], "simulates": False, "round_trip_ms": trip_ms}


def keyed(name: str, variable: str, before: str = "") -> dict[str, str]:
    """The header with a key, where there is one."""
    value = os.environ.get(variable)
    return {name: before + value} if value else {}


def pcm16(data: bytes) -> Any:
    """Little-endian 16-bit samples as floats."""
    return np.frombuffer(data, "<i2").astype(np.float32) / np.float32(32768)
