"""The examples do what they say."""

from __future__ import annotations

import array
import asyncio
import base64
import contextlib
import importlib.util
import io
import json
import math
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import av
import pytest
from starlette.websockets import WebSocketDisconnect
from support.servers import toy_voice
from websockets.asyncio.client import connect
from websockets.asyncio.server import serve

from sayahead import Player

EXAMPLES = Path(__file__).parent.parent / "examples"


def example(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_voice_agent() -> None:
    heard = example("voice_agent").main()
    assert heard.startswith("Sure! The museum opens")
    assert len(heard) < 80


class FakeModel(BaseHTTPRequestHandler):
    """A language model with OpenAI's and Ollama's streams, slow enough to be interrupted."""

    asked: ClassVar[list[list[dict[str, str]]]] = []
    reply = "The museum opens at nine. On Sundays it is free, but expect a long queue. "

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append(body["messages"])
        ollama = self.path == "/api/chat"
        self.send_response(200)
        self.send_header("Content-Type", "application/x-ndjson" if ollama else "text/event-stream")
        self.end_headers()
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            for at in range(0, len(self.reply), 6):
                piece = self.reply[at : at + 6]
                delta = {"choices": [{"index": 0, "delta": {"content": piece}}]}
                line = {"message": {"content": piece}} if ollama else delta
                self.wfile.write(json.dumps(line).encode() + b"\n" if ollama else sse(line))
            self.wfile.write(b"" if ollama else b"data: [DONE]\n\n")

    def log_message(self, *_: object) -> None: ...


def sse(event: object) -> bytes:
    return b"data: " + json.dumps(event).encode() + b"\n\n"


@pytest.fixture
def model() -> Iterator[str]:
    FakeModel.asked.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), FakeModel) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize("kind", ["openai", "ollama"])
def test_chat(
    model: str, kind: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SAYAHEAD_DEVICE", "null")
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    monkeypatch.setattr(
        FakeModel, "reply", "It opens at nine. " if kind == "ollama" else FakeModel.reply
    )
    command = ["--model", "m", "--url", model, *(["--ollama"] if kind == "ollama" else [])]

    def typed() -> Iterator[str]:
        yield "When does it open?\n"
        if kind == "openai":
            time.sleep(1.5)
            yield "Thank you!\n"
            time.sleep(0.5)
            yield "\n"

    history = example("chat").main(typed(), command)
    assert [message["role"] for message in history[:3]] == ["system", "user", "assistant"]
    if kind == "ollama":
        assert [message["content"] for message in history[1:]] == [
            "When does it open?",
            "It opens at nine.",
        ]
    else:
        heard = history[2]["content"]
        assert heard.startswith("The museum")
        assert len(heard) < len(FakeModel.reply) - 10
        # The model is told what was heard, and asked the next question.
        assert FakeModel.asked[1][2:] == [
            {"role": "assistant", "content": heard},
            {"role": "user", "content": "Thank you!"},
        ]
    assert history[2]["content"].removesuffix(" —") in capsys.readouterr().out


def test_microphone(monkeypatch: pytest.MonkeyPatch) -> None:
    microphone = example("microphone")
    noise = [array.array("h", [(-1) ** n * 100 for n in range(320)])] * 50
    talk = [array.array("h", [round(8000 * math.sin(n / 5)) for n in range(320)])] * 10
    detector = microphone.Detector()
    assert not any(detector.speaks(frame) for frame in noise)
    assert [detector.speaks(frame) for frame in talk].index(True) == 4

    def frames() -> Iterator[array.array[int]]:
        yield from noise
        while speech_player.played_s < 0.4:
            time.sleep(0.01)
        yield from talk

    with Player(8000, device="null") as speech_player:
        heard = microphone.read_aloud(
            toy_voice(), "one two three four five six. " * 5, frames(), speech_player
        )
    assert 0 < heard.word_count < 30


def test_telephone() -> None:
    telephone = example("telephone")
    payloads = list(telephone.packets(toy_voice(), ["one two ", "three. "]))
    assert {len(payload) for payload in payloads} == {160}
    chunks = toy_voice().stream("one two three. ", format="mulaw", sample_rate=8000)
    whole = b"".join(chunk.data for chunk in chunks)
    assert b"".join(payloads) == whole.ljust(160 * len(payloads), b"\xff")

    async def run() -> tuple[Any, list[str]]:
        calls = list[Any]()
        events = list[str]()

        async def hold(socket: Any) -> None:
            calls.append(await telephone.answer(socket, toy_voice()))

        async with serve(hold, "127.0.0.1", 0) as server:
            port = next(iter(server.sockets)).getsockname()[1]
            async with connect(f"ws://127.0.0.1:{port}") as twilio:
                start = {"event": "start", "start": {"streamSid": "MZ1"}}
                await twilio.send(json.dumps({"event": "connected"}))
                await twilio.send(json.dumps(start))
                while events.count("mark") < 4:
                    message = json.loads(await twilio.recv())
                    events.append(message["event"])
                    assert message["streamSid"] == "MZ1"
                    if message["event"] == "mark" and events.count("mark") == 2:
                        # Twilio has played up to here.
                        await twilio.send(json.dumps(message))
                for quiet in (b"\xff" * 160, b"\x00\x80" * 80):
                    payload = base64.b64encode(quiet).decode()
                    await twilio.send(json.dumps({"event": "media", "media": {"payload": payload}}))
                while events[-1] != "clear":
                    events.append(json.loads(await asyncio.wait_for(twilio.recv(), 10))["event"])
                await twilio.send(json.dumps({"event": "stop"}))
                await twilio.wait_closed()
        return calls[0], events

    call, events = asyncio.run(asyncio.wait_for(run(), 30))
    assert events[:2] == ["media", "mark"]
    assert len(call.heard) == 1
    assert telephone.GREETING.replace(" ", "").startswith(call.heard[0].text.replace(" ", ""))


def test_relay() -> None:
    pytest.importorskip("fastapi", reason="needs FastAPI: pip install fastapi")
    from starlette.testclient import TestClient

    relay = example("relay")
    with TestClient(relay.app) as client:
        answer = client.get("/speech", params={"text": "Hello there."})
        assert answer.headers["content-type"] == "audio/flac"
        with av.open(io.BytesIO(answer.content), "r") as sound:
            assert 0.5 < sum(frame.samples / frame.rate for frame in sound.decode(audio=0)) < 3
        with client.websocket_connect("/speech") as socket:
            socket.send_text("Hello ")
            socket.send_text("there.")
            socket.send_text("")
            words = []
            sound_bytes = b""
            with contextlib.suppress(WebSocketDisconnect):
                while True:
                    message = socket.receive()
                    if message["type"] == "websocket.close":
                        break
                    if message.get("text"):
                        words.append(json.loads(message["text"])["word"])
                    else:
                        sound_bytes += message["bytes"]
        assert words == ["Hello", "there."]
        assert sound_bytes[:1] == b"\xff"


def test_captions(tmp_path: Path) -> None:
    captions = example("captions")

    def lines() -> Iterator[str]:
        yield "one two\n"
        yield "one two thr\n"
        yield "one two four five\n"
        yield "one two four five. six. \n"

    speech = captions.captions(toy_voice(), lines(), str(tmp_path / "x.wav"))
    assert speech.text == "one two four five. six. "
    assert [word.text for word in speech.words] == ["one", "two", "four", "five.", "six."]
    assert (tmp_path / "x.wav").stat().st_size > 5000


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_every_example_is_tested(path: Path) -> None:
    assert f"def test_{path.stem}(" in Path(__file__).read_text(encoding="utf-8")


def test_podcast(tmp_path: Path) -> None:
    podcast = example("podcast")
    cast = {"Ann": toy_voice(), "Ben": toy_voice()}
    speech = podcast.podcast(podcast.SCRIPT, cast, tmp_path / "podcast.wav")
    assert {word.speaker for word in speech.words} == {"Ann", "Ben"}
    captions = (tmp_path / "podcast.vtt").read_text()
    assert "<v Ann>Welcome" in captions
    assert "<v Ben>Shall" in captions
    assert (tmp_path / "podcast.wav").stat().st_size > 1000
