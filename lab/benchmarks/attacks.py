"""Clients that take what they can get: the worst texts of every protocol, storms of messages, and
who never reads.

Each attack is one client: a few threads that go on until the process is killed, and begin again
where they are cut off."""

from __future__ import annotations

import contextlib
import itertools
import json
import random
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import msgpack
from served import HANDSHAKE, event, frame, opened
from websockets.exceptions import WebSocketException
from websockets.sync.client import connect

MOST = 19_000
PART = 2000
"""Characters of a text, below what may wait, and of a message."""
TEXTS = {
    "pronunciation": "[x](/" + "bæ" * 1500 + "/) yes. ",
    "code block": "``` " + "1 " * 9000,
    "dashes": "- " * 9000,
    "signs": "≤√" * 9000,
    "digits": "9" * 9000,
    "word": "W" * 9000,
    "brackets": "[(<{" * 4000,
    "emphasis": "*_`" * 5000,
    "letters": "\u0301a" * 9000,
    "ideographs": "語" * 9000,
    "prose": "The quick brown fox jumps over the lazy dog, and then it sleeps for a while. " * 200,
    "phonemes": "<phoneme alphabet='ipa' ph='" + "bæ" * 900 + "'>x</phoneme> yes. " * 8,
    "rates": "<prosody rate='fast'>" * 4000 + "yes. ",
    "breaks": "a. <break time='10s'/> " * 400,
}
"""What takes long to read or to say. The last three are SSML."""
SSML = ("phonemes", "rates", "breaks")
Messages = list[str | bytes]


def parts(text: str) -> Iterator[str]:
    for at in range(0, min(len(text), MOST), PART):
        yield text[at : min(at + PART, MOST)]


def native(text: str, name: str = "a", **session: Any) -> Messages:
    """A text and its end."""
    begin = [event("session.update", session=session)] if session else []
    said = [event("input_text.append", context_id=name, text=part) for part in parts(text)]
    return [*begin, *said, event("input_text.end", context_id=name)]


def elevenlabs(text: str) -> Messages:
    said = [json.dumps({"text": part, "context_id": "c"}) for part in parts(text)]
    return [*said, json.dumps({"context_id": "c", "flush": True, "close_context": True})]


def cartesia(text: str) -> Messages:
    form = {"container": "raw", "encoding": "pcm_s16le", "sample_rate": 48000}
    rest = {
        "context_id": "c",
        "model_id": "x",
        "voice": {"mode": "id", "id": "heart"},
        "output_format": form,
    }
    said = [json.dumps({**rest, "transcript": part, "continue": True}) for part in parts(text)]
    return [*said, json.dumps({**rest, "transcript": "", "continue": False})]


def deepgram(text: str) -> Messages:
    return [*(event("Speak", text=part) for part in parts(text)), event("Flush"), event("Close")]


def kyutai(text: str) -> Messages:
    packed = [msgpack.packb({"type": "Text", "text": part}) for part in parts(text)]
    return [*packed, msgpack.packb({"type": "Eos"})]


def jambonz(text: str) -> Messages:
    return [*(event("stream", text=part) for part in parts(text)), event("flush")]


SOCKETS: dict[str, tuple[str, Callable[[str], Messages]]] = {
    "native": ("/v1/stream", native),
    "elevenlabs": (
        "/v1/text-to-speech/heart/multi-stream-input?output_format=pcm_48000&markup=ssml",
        elevenlabs,
    ),
    "cartesia": ("/tts/websocket", cartesia),
    "deepgram": ("/v1/speak?encoding=linear16&sample_rate=48000&markup=ssml", deepgram),
    "kyutai": ("/api/tts_streaming?format=PcmMessagePack&markup=ssml", kyutai),
    "jambonz": ("/v1/jambonz?sampleRate=48000&markup=ssml", jambonz),
}
RAW = {"container": "raw", "encoding": "pcm_s16le", "sample_rate": 48000}
POSTS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "openai over HTTP": (
        "/v1/audio/speech",
        "input",
        {"model": "x", "voice": "heart", "response_format": "mp3"},
    ),
    "elevenlabs over HTTP": (
        "/v1/text-to-speech/heart/stream?output_format=mp3_44100_192&markup=ssml",
        "text",
        {},
    ),
    "cartesia over HTTP": ("/tts/bytes", "transcript", {"output_format": RAW, "markup": "ssml"}),
    "deepgram over HTTP": ("/v1/speak?encoding=flac&markup=ssml", "text", {}),
}
Attack = Callable[["Target"], None]


@dataclass(frozen=True, slots=True)
class Target:
    """Where a server listens."""

    host: str
    http: int
    wyoming: int
    google: int

    @property
    def url(self) -> str:
        """Its address over HTTP."""
        return f"http://{self.host}:{self.http}"

    def connected(self, port: int = 0) -> socket.socket:
        """A connection, to its port of HTTP unless another is named."""
        return socket.create_connection((self.host, port or self.http), timeout=60)

    def opened(self) -> socket.socket:
        """A connection to the native socket, its handshake done."""
        return opened(self.http, self.host)


def over_socket(path: str, talks: Iterable[Messages]) -> Attack:
    """One connection for each text, whose sound is read as it comes."""
    waiting = itertools.cycle(talks)

    def attack(target: Target) -> None:
        with connect(
            f"ws{target.url[4:]}{path}", open_timeout=60, close_timeout=1, max_size=None
        ) as peer:
            for message in next(waiting):
                peer.send(message)
            for _ in peer:
                pass

    return attack


def over_http(path: str, bodies: Iterable[dict[str, Any]]) -> Attack:
    """One request after the other."""
    waiting = itertools.cycle(bodies)

    def attack(target: Target) -> None:
        with httpx.Client(base_url=target.url, timeout=120) as http:
            while True:
                with http.stream("POST", path, json=next(waiting)) as answer:
                    for _ in answer.iter_raw():
                        pass

    return attack


def contexts(text: str, **session: Any) -> Attack:
    """Eight contexts on one connection."""
    talk = [message for n in range(8) for message in native(text, str(n), **session)]
    return over_socket("/v1/stream", [talk])


def google(target: Target) -> None:
    """Each text as a stream over gRPC, of which two are SSML in its other call."""
    import grpc
    from sayahead.server.protocols.google_messages import new, packed

    service = "/google.cloud.texttospeech.v1.TextToSpeech/"
    with grpc.insecure_channel(f"{target.host}:{target.google}") as channel:
        stream = channel.stream_stream(service + "StreamingSynthesize")
        whole = channel.unary_stream(service + "SynthesizeSpeech")
        for text in shuffled(TEXTS.values()):
            config = packed(
                "StreamingSynthesizeRequest", streaming_config=new("StreamingSynthesizeConfig")
            )
            said = [
                packed("StreamingSynthesizeRequest", input={"text": part}) for part in parts(text)
            ]
            with contextlib.suppress(grpc.RpcError):
                for _ in stream(iter([config, *said])):
                    pass
            request = packed(
                "SynthesizeSpeechRequest", input={"ssml": f"<speak>{text[:4000]}</speak>"}
            )
            with contextlib.suppress(grpc.RpcError):
                for _ in whole(request):
                    pass


def wyoming(target: Target) -> None:
    """Each text as Home Assistant streams it."""
    for text in shuffled(TEXTS.values()):
        with target.connected(target.wyoming) as peer, contextlib.suppress(OSError):
            begin: dict[str, Any] = {"voice": {"name": "heart", "markup": "ssml"}}
            events = [("synthesize-start", begin)]
            events += [("synthesize-chunk", {"text": part}) for part in parts(text)]
            for kind, data in [*events, ("synthesize-stop", {})]:
                peer.sendall(json.dumps({"type": kind, "data": data}).encode() + b"\n")
            while b"synthesize-stopped" not in (heard := peer.recv(1 << 20)) and heard:
                pass


def shuffled(texts: Iterable[str]) -> list[str]:
    return random.sample(found := list(texts), len(found))


def messages(message: str | bytes, opcode: int = 1) -> Attack:
    """The same message again and again, its answers read."""

    def attack(target: Target) -> None:
        with target.opened() as peer:
            drain(peer)
            data = frame(message, opcode=opcode)
            while True:
                peer.sendall(data)

    return attack


def drain(peer: socket.socket) -> None:
    """Read what comes, on a thread."""

    def read() -> None:
        with contextlib.suppress(OSError):
            while peer.recv(1 << 20):
                pass

    threading.Thread(target=read, daemon=True).start()


def posted(path: str, content: bytes, kind: str = "application/json") -> Attack:
    """The same request again and again."""

    def attack(target: Target) -> None:
        with httpx.Client(base_url=target.url, timeout=120) as http:
            while True:
                http.post(path, content=content, headers={"content-type": kind})

    return attack


def fetched(path: str) -> Attack:
    """The same question again and again."""

    def attack(target: Target) -> None:
        with httpx.Client(base_url=target.url, timeout=120) as http:
            while True:
                http.get(path)

    return attack


def held(beginning: bytes, number: int, then_s: float = 30.0) -> Attack:
    """Connections that begin so and say no more."""

    def attack(target: Target) -> None:
        with contextlib.ExitStack() as peers:
            for _ in range(number):
                peer = peers.enter_context(target.connected())
                peer.sendall(beginning)
            time.sleep(then_s)

    return attack


def opened_and_dropped(target: Target) -> None:
    """Handshakes whose connections end at once."""
    while True:
        target.opened().close()


def cut_in_speech(target: Target) -> None:
    """Texts whose client is killed: its connection is reset."""
    while True:
        with target.opened() as peer:
            peer.sendall(frame(event("input_text.append", text=TEXTS["prose"][:PART])))
            peer.recv(1000)
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def bomb(target: Target) -> None:
    """A small message of gRPC that unpacks to 64 MB."""
    import grpc
    from sayahead.server.protocols.google_messages import packed

    request = packed("SynthesizeSpeechRequest", input={"text": "a" * 64_000_000})
    options = [("grpc.max_send_message_length", -1)]
    with grpc.insecure_channel(f"{target.host}:{target.google}", options) as channel:
        call = channel.unary_stream("/google.cloud.texttospeech.v1.TextToSpeech/SynthesizeSpeech")
        while True:
            with contextlib.suppress(grpc.RpcError):
                list(call(request, compression=grpc.Compression.Gzip))


def never_read(target: Target) -> None:
    """A text on a socket, and one over HTTP, that nobody reads."""
    text = TEXTS["prose"][:MOST]
    with contextlib.ExitStack() as peers:
        for n in range(8):
            peer = peers.enter_context(target.opened())
            for message in native(text, str(n)):
                peer.sendall(frame(message))
            body = json.dumps(
                {"model": "x", "voice": "heart", "input": text, "response_format": "wav"}
            ).encode()
            head = (
                "POST /v1/audio/speech HTTP/1.1\r\nHost: localhost\r\nContent-Length:"
                f" {len(body)}\r\n\r\n".encode()
            )
            peer = peers.enter_context(target.connected())
            peer.sendall(head + body)
        time.sleep(30)


def revised(target: Target) -> None:
    """A sentence revised from its beginning, eight times at once."""
    with target.opened() as peer:
        drain(peer)
        for n in itertools.count():
            text = f"{n} times " + "and again " * 150
            peer.sendall(frame(event("input_text.revise", context_id=str(n % 8), at=0, text=text)))


def cancelled(target: Target) -> None:
    """Texts that are begun and cancelled."""
    with target.opened() as peer:
        drain(peer)
        for n in itertools.count():
            peer.sendall(
                frame(
                    event("input_text.append", context_id=str(n), text="Hello there, how are you? ")
                )
            )
            peer.sendall(frame(event("input_text.cancel", context_id=str(n))))


def form(content: str) -> bytes:
    return (
        f'--b\r\nContent-Disposition: form-data; name="name"\r\n\r\n{content}\r\n--b--\r\n'.encode()
    )


RULES = [{"type": "alias", "string_to_replace": f"word{n}", "alias": "9 " * 20} for n in range(900)]
LEXICON = {f"word{n}": "9 " * 20 for n in range(900)}
NESTED = "".join(
    f"Content-Type: multipart/mixed; boundary=b{n}\r\n\r\n--b{n}\r\n" for n in range(3000)
)
DICTIONARIES = "/v1/pronunciation-dictionaries"
LINE = HANDSHAKE[:-2] + b"X-n: " + b"a" * 9000 + b"\r\n\r\n"
ATTACKS: dict[str, Attack] = {
    **{
        f"native: {name}": contexts(text, markup="ssml" if name in SSML else "none")
        for name, text in TEXTS.items()
    },
    "native: breaks at 48 kHz": contexts(TEXTS["breaks"], markup="ssml", sample_rate=48000),
    "native: policy wait-all": contexts(TEXTS["prose"], policy="wait-all"),
    "native: lexicon's alias": contexts("word1 " * 900, lexicon={"word1": "9 " * 100}),
    "native: another voice": contexts(TEXTS["prose"], voice="saeki-lj"),
    **{
        f"{name}: all texts": over_socket(path, map(of, shuffled(TEXTS.values())))
        for name, (path, of) in SOCKETS.items()
    },
    **{
        f"{name}: all texts": over_http(
            path, [{**rest, field: text[:MOST]} for text in shuffled(TEXTS.values())]
        )
        for name, (path, field, rest) in POSTS.items()
    },
    "google over gRPC: all texts": google,
    "wyoming: all texts": wyoming,
    "storm: lexicons": messages(event("session.update", session={"lexicon": LEXICON})),
    "storm: large messages": messages(event("session.ping", more=list(range(40000)))),
    "storm: pings": messages(b"x" * 120, opcode=9),
    "storm: garbage": messages(b"\xff\xfe{" * 20),
    "storm: revisions": revised,
    "storm: begun and cancelled": cancelled,
    "storm: handshakes dropped": opened_and_dropped,
    "storm: dictionaries": posted(
        f"{DICTIONARIES}/add-from-rules", json.dumps({"name": "a", "rules": RULES}).encode()
    ),
    "storm: dictionaries refused": posted(
        f"{DICTIONARIES}/add-from-rules", json.dumps({"name": "", "rules": [*RULES, {}]}).encode()
    ),
    "storm: forms": posted(
        f"{DICTIONARIES}/add-from-file", form(";" * 200_000), "multipart/form-data; boundary=b"
    ),
    "storm: nested forms": posted(
        f"{DICTIONARIES}/add-from-file",
        form(NESTED),
        "multipart/form-data; boundary=b; " + "(" * 20000,
    ),
    "storm: large bodies": posted(
        "/v1/audio/speech", json.dumps({"input": 5, "more": list(range(40000))}).encode()
    ),
    "storm: /metrics": fetched("/metrics"),
    "storm: /v1/voices": fetched("/v1/voices"),
    "storm: cut in mid-speech": cut_in_speech,
    "bomb: gRPC": bomb,
    "few files: silent connections": held(b"", 100),
    "full disk: prose": contexts(TEXTS["prose"]),
    "held: handshakes with a long line": held(LINE, 60),
    "held: silent connections": held(b"", 100),
    "held: silent sockets": held(HANDSHAKE, 40),
    "held: who never reads": never_read,
}
"""Each goes on until it is cut off."""
THREADS = 4


def pour(name: str, target: Target) -> None:
    """Carry out an attack, on a few threads, until killed."""

    def again() -> None:
        while True:
            with contextlib.suppress(OSError, EOFError, WebSocketException, httpx.HTTPError):
                ATTACKS[name](target)
            time.sleep(0.05)

    for _ in range(THREADS):
        threading.Thread(target=again, daemon=True).start()
    threading.Event().wait()
