"""A bill over a crash: what clients of every protocol received of their texts, beside what
``/v1/usage`` says.

    python lab/benchmarks/billed.py --json lab/benchmarks/results/billed.json

Requests of five keys over all protocols that know keys (Wyoming does not), one in ten of a long
text; the server is killed (-9) in the middle and started again with the same file. A text that was
heard to its end counts whole. Of one that broke off, a client knows by the words that came, or
where its protocol tells none, by the samples: the voice says the same text in the same way, so the
words are known that begin in them."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import functools
import json
import os
import random
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import grpc
import httpx
import msgpack
from abuse import free_port
from operate import Server
from sayahead.client import AsyncClient, ServerError
from sayahead.server.protocols.google_messages import new, packed, parsed
from sayahead.voice import Voice, load_voice
from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

KEYS = [f"customer-{number}" for number in range(5)]
RATE = 24000
AT_ONCE = 16
PATIENCE_S = 60.0
PAUSE_S = 0.1
QUIET_S = 10.0
"""After so long without a sound, a text is taken for broken off."""
LONG = (
    "The first train leaves at dawn, and nobody is on it. A second one follows when the sun is up,"
    " full of people who go to work. They read, they sleep, and some of them talk about the"
    " weather. "
)
FORM = {"container": "raw", "encoding": "pcm_s16le", "sample_rate": RATE}
SERVICE = "/google.cloud.texttospeech.v1.TextToSpeech/"
POSTS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "openai": (
        "/v1/audio/speech",
        "input",
        {"model": "tts-1", "voice": "heart", "response_format": "pcm"},
    ),
    "elevenlabs over HTTP": ("/v1/text-to-speech/heart?output_format=pcm_24000", "text", {}),
    "cartesia over HTTP": ("/tts/bytes", "transcript", {"output_format": FORM}),
    "deepgram over HTTP": (
        "/v1/speak?encoding=linear16&sample_rate=24000&container=none",
        "text",
        {},
    ),
}


class Heard:
    """What a client has of its text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.words = 0
        self.samples = 0
        self.whole = False

    def word(self, word: str) -> None:
        """A word came."""
        self.words = self.text.index(word, self.words) + len(word)

    @property
    def characters(self) -> int:
        """So many, of which the last is a word's."""
        if self.whole:
            return len(self.text)
        begun = [end for end, onset in words_of(self.text) if onset < self.samples]
        return max([self.words, *begun])


@functools.cache
def voice() -> Voice:
    return load_voice("heart")


@functools.cache
def words_of(text: str) -> list[tuple[int, int]]:
    """Where each word ends, and the sample with which it begins."""
    return [
        (word.end, word.onset_samples) for chunk in voice().stream([text]) for word in chunk.words
    ]


class Place:
    """Where a server listens, and whose key opens it."""

    def __init__(self, http: str, google: int, key: str = "") -> None:
        self.http = http
        self.google = google
        self.key = key
        self.headers = {"Authorization": f"Bearer {key}-secret"}

    def of(self, key: str) -> Place:
        """The same for a key."""
        return Place(self.http, self.google, key)


Talk = Callable[[Place, Heard], Awaitable[None]]


async def native(place: Place, heard: Heard) -> None:
    async with AsyncClient(place.http, key=f"{place.key}-secret", resume=False) as client:
        async for chunk in client.stream([heard.text]):
            heard.words = max([heard.words, *(word.end for word in chunk.words)])
    heard.whole = True


async def talked(place: Place, path: str, messages: list[Any], take: Callable[[Any], bool]) -> None:
    """Send messages on a socket, and take its answers until one says that it was the last."""
    options: dict[str, Any] = {
        "additional_headers": place.headers,
        "max_size": None,
        "max_queue": None,
    }
    async with connect(f"ws{place.http[4:]}{path}", **options) as socket:
        for message in messages:
            await socket.send(message if isinstance(message, bytes) else json.dumps(message))
        while take(await asyncio.wait_for(socket.recv(), QUIET_S)):
            pass


async def elevenlabs(place: Place, heard: Heard) -> None:
    def take(message: str) -> bool:
        data = json.loads(message)
        heard.whole = bool(data.get("isFinal"))
        told.extend((data.get("alignment") or {}).get("chars", []))
        heard.words = len("".join(told).rstrip())
        return not heard.whole

    told = list[str]()
    path = "/v1/text-to-speech/heart/multi-stream-input?output_format=pcm_24000&sync_alignment=true"
    says = [
        {"context_id": "c", "text": heard.text},
        {"context_id": "c", "flush": True, "close_context": True},
    ]
    await talked(place, path, says, take)


async def cartesia(place: Place, heard: Heard) -> None:
    def take(message: str) -> bool:
        data = json.loads(message)
        for word in data.get("word_timestamps", {}).get("words", []):
            heard.word(word)
        heard.whole = data["type"] == "done"
        return str(data["type"]) not in ("done", "error")

    rest = {
        "context_id": "c",
        "model_id": "x",
        "voice": {"mode": "id", "id": "heart"},
        "output_format": FORM,
    }
    says = {**rest, "add_timestamps": True, "transcript": heard.text, "continue": False}
    await talked(place, "/tts/websocket", [says], take)


async def deepgram(place: Place, heard: Heard) -> None:
    def take(message: str | bytes) -> bool:
        if isinstance(message, bytes):
            heard.samples += len(message) // 2
            return True
        return str(json.loads(message)["type"]) != "Flushed"

    says = [{"type": "Speak", "text": heard.text}, {"type": "Flush"}]
    await talked(place, "/v1/speak?encoding=linear16&sample_rate=24000", says, take)


async def kyutai(place: Place, heard: Heard) -> None:
    def take(message: bytes) -> bool:
        data = msgpack.unpackb(message)
        if data["type"] == "Text":
            heard.word(data["text"])
        return True

    says = [msgpack.packb({"type": "Text", "text": heard.text}), msgpack.packb({"type": "Eos"})]
    try:
        await talked(place, "/api/tts_streaming?format=PcmMessagePack&voice=heart", says, take)
    except WebSocketException as end:
        heard.whole = "1000" in str(end)


async def jambonz(place: Place, heard: Heard) -> None:
    def take(message: str | bytes) -> bool:
        heard.samples += len(message) // 2 if isinstance(message, bytes) else 0
        return heard.samples < words_of(heard.text)[-1][1] + RATE // 10

    says = [{"type": "stream", "text": heard.text}, {"type": "flush"}]
    await talked(place, "/v1/jambonz?voice=heart&sampleRate=24000", says, take)


def posted(protocol: str) -> Talk:
    """A text over HTTP, as bare samples."""

    async def talk(place: Place, heard: Heard) -> None:
        path, field, rest = POSTS[protocol]
        request: dict[str, Any] = {"json": {**rest, field: heard.text}, "headers": place.headers}
        async with (
            httpx.AsyncClient(timeout=60) as http,
            http.stream("POST", place.http + path, **request) as answer,
        ):
            if answer.status_code != 200:
                return
            size = 0
            async for data in answer.aiter_raw():
                size += len(data)
                heard.samples = size // 2
            heard.whole = True

    return talk


async def google(place: Place, heard: Heard) -> None:
    said = [packed("StreamingSynthesizeRequest", streaming_config=new("StreamingSynthesizeConfig"))]
    said.append(packed("StreamingSynthesizeRequest", input={"text": heard.text}))
    metadata = [("authorization", place.headers["Authorization"])]
    async with grpc.aio.insecure_channel(f"127.0.0.1:{place.google}") as channel:
        async for answer in channel.stream_stream(SERVICE + "StreamingSynthesize")(
            iter(said), metadata=metadata
        ):
            heard.samples += len(parsed("StreamingSynthesizeResponse", answer).audio_content) // 2
    heard.whole = True


async def google_whole(place: Place, heard: Heard) -> None:
    request = packed(
        "SynthesizeSpeechRequest", input={"text": heard.text}, audio_config={"audio_encoding": 1}
    )
    metadata = [("authorization", place.headers["Authorization"])]
    async with grpc.aio.insecure_channel(f"127.0.0.1:{place.google}") as channel:
        async for _ in channel.unary_stream(SERVICE + "SynthesizeSpeech")(
            request, metadata=metadata
        ):
            heard.whole = True


TALKS: dict[str, Talk] = {
    "native": native,
    "elevenlabs": elevenlabs,
    "cartesia": cartesia,
    "deepgram": deepgram,
    "kyutai": kyutai,
    "jambonz": jambonz,
    "google": google,
    "google, whole texts": google_whole,
    **{protocol: posted(protocol) for protocol in POSTS},
}
ENDS = (
    ServerError,
    OSError,
    EOFError,
    TimeoutError,
    WebSocketException,
    httpx.HTTPError,
    grpc.RpcError,
)
"""How a client learns that its server has gone."""


def text_of(number: int) -> str:
    """A text of its own length."""
    return LONG if number % 10 == 9 else "Hello " + "there, " * (number % 4) + "you. "


async def asked(
    place: Place, requests: int, crash: Callable[[], None]
) -> list[tuple[str, str, Heard]]:
    """Carry out requests, with a crash in the middle; what clients have, by protocol and key."""
    dice = random.Random(1)
    found = list[tuple[str, str, Heard]]()
    half = requests // 2
    jobs = []
    for number in range(requests):
        # Some are to be in the middle of a text when the server is killed.
        text = LONG if half - 2 * AT_ONCE <= number < half else text_of(dice.randrange(100))
        jobs.append((list(TALKS)[number % len(TALKS)], dice.choice(KEYS), text))

    async def work(waiting: Iterator[tuple[str, str, str]]) -> None:
        for protocol, key, text in waiting:
            heard = Heard(text)
            end = time.monotonic() + PATIENCE_S
            while not heard.characters and time.monotonic() < end:
                # A server that is full, or gone, is asked again.
                with contextlib.suppress(*ENDS):
                    await TALKS[protocol](place.of(key), heard)
                await asyncio.sleep(PAUSE_S)
            found.append((protocol, key, heard))

    for part, crashes in ((jobs[:half], True), (jobs[half:], False)):
        waiting = iter(part)
        workers = [asyncio.create_task(work(waiting)) for _ in range(AT_ONCE)]
        if crashes:
            while len(found) < half - AT_ONCE:
                await asyncio.sleep(0.005)
            await asyncio.to_thread(crash)
        await asyncio.gather(*workers)
    return found


def rows_of(
    found: list[tuple[str, str, Heard]], told: list[dict[str, Any]]
) -> dict[str, dict[str, int]]:
    """By protocol: what was received and billed, and where both differ for a key, the most."""
    received = Counter[tuple[str, str]]()
    cut = Counter[str]()
    billed = Counter[tuple[str, str]]()
    for protocol, key, heard in found:
        name = protocol.partition(" over ")[0].partition(",")[0]
        received[name, key] += heard.characters
        cut[name] += (
            bool(heard.characters) and not heard.whole and name not in ("deepgram", "jambonz")
        )
    for row in told:
        billed[row["protocol"], row["key"]] += row["characters"]
    rows = {}
    for name in dict.fromkeys(name for name, _ in received):
        places = {place for place in [*received, *billed] if place[0] == name}
        rows[name] = {
            "texts broken off": cut[name],
            "characters received": sum(received[place] for place in places),
            "billed": sum(billed[place] for place in places),
            "largest difference of a key": max(
                abs(received[place] - billed[place]) for place in places
            ),
        }
    return rows


def bill(folder: Path, requests: int) -> dict[str, Any]:
    """Requests over a crash, and what the bill says."""
    keys = folder / "bill.toml"
    google_port = free_port()
    tables = [f'[{name}]\nkey = "{name}-secret"\nadmin = true\n' for name in KEYS]
    keys.write_text("\n".join(tables), encoding="utf-8")
    for number in range(10):
        words_of(text_of(number))
    flags = [f"--keys-file={keys}", f"--usage={folder / 'usage.db'}", f"--grpc-port={google_port}"]
    flags += ["--set", "limits.sessions=64"]
    servers = [Server(folder, *flags)]

    def crash() -> None:
        servers[-1].kill()
        servers.append(Server(folder, *flags, port=servers[-1].port))

    try:
        found = asyncio.run(asked(Place(servers[0].http, google_port), requests, crash))
        headers = {"Authorization": f"Bearer {KEYS[0]}-secret"}
        told = httpx.get(
            f"{servers[-1].http}/v1/usage", params={"all": "true"}, headers=headers
        ).json()["rows"]
    finally:
        servers[-1].end()
    return {"requests": len(found), "keys": len(KEYS), "protocols": rows_of(found, told)}


def main() -> None:
    """Run it, and print or write the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path)
    parser.add_argument("--requests", type=int, default=1000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        load = round(os.getloadavg()[0], 1)
        figures = bill(Path(folder), arguments.requests) | {"load": load}
    print(json.dumps(figures, indent=1))
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
