"""OpenAI's own client against a real server."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import io
import json
import socket
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import av
import httpx
import pytest
from support.servers import KEY, Running, serving, toy_voice

if TYPE_CHECKING:
    import openai

TEXT = "Hello there, how are you today? I am fine. "
FORMATS = ("mp3", "opus", "aac", "flac", "wav", "pcm")


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with serving(step_s=0.01, keys=(f"me:{KEY}",)) as running:
        yield running


@pytest.fixture(scope="module")
def client(server: Running) -> Iterator[openai.OpenAI]:
    pytest.importorskip("openai", reason="needs sayahead[test-all]")
    # Most of a second of imports, for the process that uses it alone.
    import openai

    with openai.OpenAI(api_key=KEY, base_url=server.http + "/v1", max_retries=0) as made:
        yield made


def seconds(data: bytes, form: str) -> float:
    if form == "pcm":
        return len(data) / 2 / 24000
    with av.open(io.BytesIO(data), "r") as container:
        frames = list(container.decode(audio=0))
    return sum(frame.samples for frame in frames) / frames[0].rate


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_is_streamed(client: openai.OpenAI, form: Any) -> None:
    answer = client.audio.speech.with_streaming_response.create(
        model="gpt-4o-mini-tts", voice="alloy", input=TEXT * 8, response_format=form
    )
    with answer as response:
        parts = list(response.iter_bytes())
        kind = response.headers["content-type"]
    assert kind.startswith("audio/")
    assert len(parts) > 10
    wanted = len(toy_voice().synthesize(TEXT * 8)) / 8000
    assert seconds(b"".join(parts), form) == pytest.approx(wanted, abs=0.15)


@pytest.mark.parametrize("form", FORMATS)
def test_a_text_without_words_is_a_moment_of_silence_in_a_file(
    client: openai.OpenAI, form: Any
) -> None:
    sound = client.audio.speech.create(
        model="x", voice="toy", input="\U0001f600", response_format=form
    ).content
    if form == "pcm":
        assert sound == b""
    else:
        assert 0.05 < seconds(sound, form) < 0.25


def test_events_carry_the_same_sound(client: openai.OpenAI) -> None:
    plain = client.audio.speech.create(
        model="x", voice="toy", input=TEXT, response_format="pcm"
    ).content
    answer = client.audio.speech.with_streaming_response.create(
        model="x", voice="toy", input=TEXT, response_format="pcm", stream_format="sse"
    )
    with answer as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        lines = [json.loads(line.removeprefix("data: ")) for line in response.iter_lines() if line]
    assert [line["type"] for line in lines] == ["speech.audio.delta"] * (len(lines) - 1) + [
        "speech.audio.done"
    ]
    assert b"".join(base64.b64decode(line["audio"]) for line in lines[:-1]) == plain
    usage = lines[-1]["usage"]
    assert usage["total_tokens"] == usage["input_tokens"] + usage["output_tokens"] > 0


def test_speed_shortens(client: openai.OpenAI) -> None:
    def spoken(speed: float) -> int:
        made = client.audio.speech.create(
            model="x", voice="toy", input=TEXT, response_format="pcm", speed=speed
        )
        return len(made.content)

    # The toy knows no speed; what matters is that all that OpenAI allows is taken.
    assert spoken(0.25) == spoken(1.0) == spoken(4.0)


def test_instructions_are_read_for_names_of_styles(client: openai.OpenAI) -> None:
    def length(**options: Any) -> int:
        made = client.audio.speech.create(
            model="gpt-4o-mini-tts",
            voice={"id": "toy"},
            input=TEXT,
            response_format="pcm",
            **options,
        )
        return len(made.content)

    assert length(instructions="Sound sad.") > length() == length(instructions="Never sound sad.")


def test_lists(client: openai.OpenAI, server: Running) -> None:
    assert "sayahead" in [model.id for model in client.models.list()]
    voices = httpx.get(
        server.http + "/v1/audio/voices", headers={"Authorization": f"Bearer {KEY}"}
    ).json()
    assert voices["voices"][0] == {"id": "toy", "name": "toy"}
    assert voices["details"][0]["default"]
    assert voices["details"][0]["unit"] == "words"
    assert not voices["details"][0]["research"]


@pytest.mark.parametrize(
    ("change", "param"),
    [
        ({"input": ""}, "input"),
        ({"input": "x" * 5000}, "input"),
        ({"input": None}, "input"),
        ({"voice": "nobody"}, "voice"),
        ({"response_format": "mp4"}, "response_format"),
        ({"response_format": {}}, "response_format"),
        ({"response_format": [1]}, "response_format"),
        ({"speed": 9}, "speed"),
        ({"speed": "fast"}, "speed"),
        ({"speed": True}, "speed"),
        ({"stream_format": "x"}, "stream_format"),
        ({"model": None}, "model"),
    ],
)
def test_what_is_wrong_is_named(server: Running, change: dict[str, Any], param: str) -> None:
    body = {"model": "x", "voice": "alloy", "input": "Hello.", **change}
    answer = httpx.post(
        server.http + "/v1/audio/speech", json=body, headers={"Authorization": f"Bearer {KEY}"}
    )
    error = answer.json()["error"]
    assert (answer.status_code, error["param"], error["type"]) == (
        400,
        param,
        "invalid_request_error",
    )


def test_errors_are_those_of_the_client(server: Running, client: openai.OpenAI) -> None:
    import openai

    wrong = openai.OpenAI(api_key="wrong-key-of-all", base_url=server.http + "/v1", max_retries=0)
    with pytest.raises(openai.AuthenticationError):
        wrong.models.list()
    with pytest.raises(openai.InternalServerError):
        client.audio.speech.create(model="x", voice="toy", input="explode")
    wrong.close()


@pytest.mark.parametrize(
    ("body", "status"), [(b"{", 400), (b"[1]", 400), (b"\xff", 400), (b"x" * 300_000, 413)]
)
def test_a_body_that_is_none(server: Running, body: bytes, status: int) -> None:
    answer = httpx.post(
        server.http + "/v1/audio/speech", content=body, headers={"Authorization": f"Bearer {KEY}"}
    )
    assert answer.status_code == status
    assert answer.json()["error"]["message"]


def test_a_failure_in_the_middle_breaks_the_answer(server: Running) -> None:
    # The status says 200 by then: whoever reads must see that the sound is not whole.
    body = {
        "model": "x",
        "voice": "toy",
        "input": TEXT * 4 + "explode now, please.",
        "response_format": "pcm",
    }

    def read() -> bytes:
        key = {"Authorization": f"Bearer {KEY}"}
        with httpx.stream(
            "POST", server.http + "/v1/audio/speech", json=body, headers=key
        ) as answer:
            assert answer.status_code == 200
            return b"".join(answer.iter_bytes())

    with pytest.raises(httpx.RemoteProtocolError):
        read()


def test_whoever_does_not_read_is_cut_off() -> None:
    body = json.dumps(
        {"model": "x", "voice": "toy", "input": TEXT * 400, "response_format": "pcm"}
    ).encode()
    head = f"POST /v1/audio/speech HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n".encode()  # noqa: E501
    with (
        serving(limits={"write_stall_s": 0.5, "message_characters": 20000}) as server,
        contextlib.ExitStack() as stack,
    ):
        for _ in range(3):
            peer = stack.enter_context(socket.socket())
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            peer.connect(("127.0.0.1", server.port))
            peer.sendall(head + body)
        end = time.monotonic() + 10
        while server.hub.connections < 3 and time.monotonic() < end:
            time.sleep(0.01)
        server.settle(30)
        assert server.metric("tts_sessions_total", protocol="openai", outcome="dropped") == 3


def batch(server: Running) -> list[int]:
    """The sorted statuses of six requests at once."""

    async def run() -> list[int]:
        body = {"model": "x", "voice": "toy", "input": TEXT, "response_format": "pcm"}
        async with httpx.AsyncClient(timeout=30) as http:
            asked = (http.post(server.http + "/v1/audio/speech", json=body) for _ in range(6))
            answers = await asyncio.gather(*asked)
        for answer in answers:
            if answer.status_code == 429:
                assert answer.headers["Retry-After"]
                assert answer.json()["error"]["type"] == "rate_limit_error"
        return sorted(answer.status_code for answer in answers)

    return asyncio.run(run())


def test_overload_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sayahead.server.hub.BATCH_S", 0.0)
    with serving(step_s=0.05, limits={"sessions": 2}) as server:
        assert batch(server) == [200, 200, 429, 429, 429, 429]
        assert server.metric("tts_rejected_total", reason="overloaded") == 4


def test_a_batch_waits_a_moment_for_places(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makers of audiobooks send several texts at once, and ask for none again."""
    monkeypatch.setattr("sayahead.server.hub.BATCH_S", 60.0)
    with serving(limits={"sessions": 2}) as server:
        assert batch(server) == [200] * 6
        assert server.metric("tts_rejected_total", reason="overloaded") == 0
