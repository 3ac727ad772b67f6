"""Google's Text-to-Speech over gRPC: by hand, and with the published client."""

from __future__ import annotations

import asyncio
import io
import os
import queue
import random
import shutil
import socket
import subprocess
import sys
import threading
import time
import wave
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from support.effort import examples
from support.servers import KEY, Running, certified, free_port, serving, toy_voice

grpc = pytest.importorskip("grpc", reason="needs sayahead[grpc]")

from sayahead.errors import ConfigError  # noqa: E402
from sayahead.server.operation.settings import settings_of  # noqa: E402
from sayahead.server.protocols import google_calls  # noqa: E402
from sayahead.server.protocols import google_messages as messages  # noqa: E402
from sayahead.server.protocols.google import Renewed  # noqa: E402
from sayahead.server.protocols.google_calls import address_of, stream_options  # noqa: E402
from sayahead.text.saying.lexicon import Lexicon  # noqa: E402

TEXT = "Hello there, how are you today? I am fine. "
SERVICE = "/google.cloud.texttospeech.v1.TextToSpeech/"
CONFIG: dict[str, Any] = {"voice": {"language_code": "en-US", "name": "toy"}}
PCM: dict[str, Any] = {"audio_encoding": 7}


@pytest.fixture(scope="module")
def port() -> int:
    return free_port()


@pytest.fixture(scope="module")
def server(port: int) -> Iterator[Running]:
    with serving(grpc_port=port, limits={"first_message_s": 0.5, "idle_s": 0.5}) as running:
        yield running


@pytest.fixture
def channel(port: int, server: Running) -> Iterator[Any]:
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        yield channel


def sound(data: bytes) -> Any:
    return np.frombuffer(data, "<i2") / np.float32(32767)


def check(data: bytes, text: str = TEXT) -> None:
    said = sound(data)
    wanted = toy_voice().synthesize(text)
    assert len(said) == len(wanted)
    assert np.abs(said - wanted).max() < 1e-4


class Stream:
    """A ``StreamingSynthesize`` call whose requests come from here, one by one."""

    def __init__(
        self, channel: Any, *requests: bytes, metadata: tuple[tuple[str, str], ...] = ()
    ) -> None:
        self._requests: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        for request in requests:
            self._requests.put(request)
        call = channel.stream_stream(SERVICE + "StreamingSynthesize")
        self.call = call(iter(self._requests.get, None), timeout=30, metadata=metadata)

    def text(self, *texts: str) -> None:
        for text in texts:
            self._requests.put(said(text))

    def end(self) -> None:
        self._requests.put(None)

    def hear(self) -> bytes:
        """The next audio. RpcError if the call has failed."""
        data: bytes = messages.parsed("StreamingSynthesizeResponse", next(self.call)).audio_content
        return data

    def rest(self) -> bytes:
        return b"".join(
            messages.parsed("StreamingSynthesizeResponse", part).audio_content for part in self.call
        )

    def failure(self) -> tuple[str, str]:
        """The status and the sentence with which it fails."""
        try:
            with pytest.raises(grpc.RpcError) as caught:
                self.rest()
        finally:
            self.end()
        return caught.value.code().name, caught.value.details()


def said(text: str) -> bytes:
    return messages.packed("StreamingSynthesizeRequest", input={"text": text})


def config(**fields: Any) -> bytes:
    return messages.packed("StreamingSynthesizeRequest", streaming_config=fields)


def whole(channel: Any, *, metadata: tuple[tuple[str, str], ...] = (), **fields: Any) -> bytes:
    request = messages.packed("SynthesizeSpeechRequest", **fields)
    answer = channel.unary_unary(SERVICE + "SynthesizeSpeech")(
        request, timeout=30, metadata=metadata
    )
    data: bytes = messages.parsed("SynthesizeSpeechResponse", answer).audio_content
    return data


def refusal(channel: Any, **fields: Any) -> tuple[str, str]:
    """The status and the sentence that a whole text is refused with."""
    with pytest.raises(grpc.RpcError) as caught:
        whole(channel, **fields)
    return caught.value.code().name, caught.value.details()


def test_without_an_audio_config_it_is_24000_samples_a_second(channel: Any) -> None:
    stream = Stream(channel, config(**CONFIG), said(TEXT))
    stream.end()
    assert len(stream.rest()) / 48000 == pytest.approx(
        len(toy_voice().synthesize(TEXT)) / 8000, abs=0.01
    )


@pytest.mark.parametrize(
    ("encoding", "rate", "width"), [(5, 8000, 1), (6, 16000, 1), (7, 44100, 2), (3, 0, 0)]
)
def test_encodings_that_are_streamed(channel: Any, encoding: int, rate: int, width: int) -> None:
    audio = {"audio_encoding": encoding, "sample_rate_hertz": rate}
    stream = Stream(channel, config(**CONFIG, streaming_audio_config=audio), said(TEXT))
    stream.end()
    data = stream.rest()
    if width:
        assert len(data) / rate / width == pytest.approx(
            len(toy_voice().synthesize(TEXT)) / 8000, abs=0.01
        )
    else:
        assert data.startswith(b"OggS")


def test_the_pace_and_words_of_ones_own(channel: Any) -> None:
    def with_phrase(encoding: int) -> dict[str, Any]:
        phrase = {"phrase": "Nguyen", "phonetic_encoding": encoding, "pronunciation": "ˈwɪn"}
        audio = {**PCM, "speaking_rate": 0.5}
        return {
            **CONFIG,
            "streaming_audio_config": audio,
            "custom_pronunciations": {"pronunciations": [phrase]},
        }

    options = stream_options(messages.new("StreamingSynthesizeConfig", **with_phrase(1)))
    session = options.session
    assert (options.voice, options.language, session.speed) == ("toy", "en-US", 0.5)
    assert isinstance(session.lexicon, Lexicon)
    assert {
        word: (entry.said, entry.alphabet) for word, entry in session.lexicon.entries.items()
    } == {"Nguyen": ("ˈwɪn", "ipa")}
    assert Stream(channel, config(**with_phrase(2))).failure() == (
        "INVALID_ARGUMENT",
        "custom pronunciation 1: phonetic_encoding must be PHONETIC_ENCODING_IPA.",
    )


@pytest.mark.parametrize(
    ("requests", "sentence"),
    [
        ([said("Hello.")], "The first message must have streaming_config"),
        ([b""], "The first message must have streaming_config"),
        ([config(**CONFIG), config(**CONFIG)], "The first message must have streaming_config"),
        ([b"\xff\xff"], "is not a StreamingSynthesizeRequest"),
        ([config(**CONFIG), b"\x12\x03\x2a\x01x"], "An input needs text: markup"),
        (
            [config(streaming_audio_config={"audio_encoding": 2})],
            "MP3 cannot be streamed: use one of PCM",
        ),
        (
            [config(streaming_audio_config={"audio_encoding": 99})],
            "audio_encoding is missing or not supported",
        ),
        (
            [config(streaming_audio_config={**PCM, "sample_rate_hertz": 7})],
            "The sample rate is 7, but must be one of",
        ),
        (
            [config(streaming_audio_config={**PCM, "speaking_rate": 9.0})],
            "speaking_rate is 9, but must be from 0.25",
        ),
        ([config(streaming_audio_config={**PCM, "speaking_rate": np.nan})], "speaking_rate is nan"),
    ],
)
def test_what_cannot_be_is_told(
    server: Running, channel: Any, requests: list[bytes], sentence: str
) -> None:
    code, told = Stream(channel, *requests).failure()
    assert code == "INVALID_ARGUMENT"
    assert sentence in told
    server.settle()


def test_a_stream_without_a_message_is_told(channel: Any) -> None:
    stream = Stream(channel)
    stream.end()
    assert stream.failure()[0] == "INVALID_ARGUMENT"


def test_who_says_nothing_or_no_more_is_told(server: Running, channel: Any) -> None:
    assert Stream(channel).failure() == ("ABORTED", "Nothing arrived for 0.5 seconds.")
    assert Stream(channel, config(**CONFIG), said("Hello ")).failure() == (
        "ABORTED",
        "No text arrived for 0.5 seconds.",
    )
    server.settle()


def test_a_whole_text(server: Running, channel: Any) -> None:
    given: dict[str, Any] = {"input": {"text": TEXT}, "voice": {"language_code": "en"}}
    check(whole(channel, **given, audio_config=PCM))
    with wave.open(io.BytesIO(whole(channel, **given, audio_config={"audio_encoding": 1}))) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (8000, 1, 2)
        check(file.readframes(file.getnframes()))
    for encoding, start in ((2, b"\xff"), (3, b"OggS")):
        assert whole(channel, **given, audio_config={"audio_encoding": encoding}).startswith(start)
    loud, soft = (
        sound(whole(channel, **given, audio_config={**PCM, "volume_gain_db": db}))
        for db in (0.0, -6.0)
    )
    assert np.abs(soft).max() / np.abs(loud).max() == pytest.approx(0.5, abs=0.01)
    paused = whole(
        channel, input={"ssml": "<speak>One. <break time='900ms'/> Two.</speak>"}, audio_config=PCM
    )
    assert len(paused) - len(whole(channel, input={"text": "One. Two."}, audio_config=PCM)) > 8000
    server.settle()


@pytest.mark.parametrize("encoding", [5, 6])
def test_companded_sound_has_a_header_that_others_read(channel: Any, encoding: int) -> None:
    soundfile = pytest.importorskip("soundfile")
    data = whole(
        channel,
        input={"text": TEXT},
        audio_config={"audio_encoding": encoding, "sample_rate_hertz": 8000},
    )
    samples, rate = soundfile.read(io.BytesIO(data), dtype="float32")
    wanted = toy_voice().synthesize(TEXT)
    assert (rate, len(samples)) == (8000, len(wanted))
    assert np.abs(samples - wanted).max() < 0.03


def test_whole_texts_that_cannot_be_are_told(server: Running, channel: Any) -> None:
    good = {"input": {"text": TEXT}, "audio_config": PCM}
    for change, sentence in (
        ({"input": {}}, "input is missing"),
        ({"input": {"text": "a" * 5001}}, "input has 5001 bytes; 5000 are allowed"),
        ({"audio_config": {}}, "audio_encoding is missing"),
        ({"audio_config": {**PCM, "pitch": 30.0}}, "pitch is 30, but must be from -20 to 20"),
        ({"audio_config": {**PCM, "pitch": 3.0}}, "has no source and filter, so pitch"),
        ({"audio_config": {**PCM, "volume_gain_db": 30.0}}, "volume_gain_db is 30"),
    ):
        code, told = refusal(channel, **{**good, **change})
        assert code == "INVALID_ARGUMENT"
        assert sentence in told
    spent = server.metric("tts_key_characters_total", key="anybody")
    assert (
        refusal(channel, input={"text": f"{TEXT} Now explode."}, audio_config=PCM)[0] == "INTERNAL"
    )
    server.settle()
    # Who gets nothing pays nothing.
    assert server.metric("tts_key_characters_total", key="anybody") == spent


def test_voices_are_listed(server: Running, channel: Any) -> None:
    def listed(language: str) -> list[str]:
        call = channel.unary_unary(SERVICE.replace("v1", "v1beta1") + "ListVoices")
        answer = call(messages.packed("ListVoicesRequest", language_code=language), timeout=20)
        voices = messages.parsed("ListVoicesResponse", answer).voices
        assert all(voice.natural_sample_rate_hertz in (8000, 24000) for voice in voices)
        return [voice.name for voice in voices]

    assert listed("") == list(server.hub.voices.configs)
    assert listed("en-US")[0] == "toy"
    assert listed("de") == []


def test_who_does_not_read_loses_the_place_and_hears_why_later() -> None:
    port = free_port()
    options = [("grpc.http2.lookahead_bytes", 16384), ("grpc.http2.bdp_probe", 0)]
    with (
        serving(
            grpc_port=port, limits={"write_stall_s": 0.3, "buffered_audio_s": 9000.0}
        ) as server,
        grpc.insecure_channel(f"127.0.0.1:{port}", options=options) as channel,
    ):
        stream = Stream(
            channel, config(**CONFIG, streaming_audio_config={**PCM, "sample_rate_hertz": 48000})
        )
        stream.text(*["word " * 200] * 15)
        stream.hear()
        server.settle(20.0)
        assert stream.failure() == ("ABORTED", "The client did not read for 0.3 seconds.")


def test_whole_answers_that_are_not_read_are_bounded_and_end_when_they_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(google_calls, "MAX_ANSWER", 1_000_000)
    port = free_port()
    audio = {**PCM, "sample_rate_hertz": 48000}
    request = messages.packed(
        "SynthesizeSpeechRequest", input={"text": "word " * 100}, audio_config=audio
    )
    options = [("grpc.http2.lookahead_bytes", 16384), ("grpc.http2.bdp_probe", 0)]
    limits = {"write_stall_s": 0.5, "sessions": 4, "sessions_per_key": 1}
    with (
        serving(grpc_port=port, limits=limits) as server,
        grpc.insecure_channel(f"127.0.0.1:{port}", options=options) as channel,
    ):
        unread = []
        for spoken in (1, 2, 3):
            unread.append(channel.unary_stream(SERVICE + "SynthesizeSpeech")(request, timeout=60))
            while server.metric("tts_sessions_total", protocol="google", outcome="done") < spoken:
                time.sleep(0.01)
        server.settle()
        # None of them has a place; but they are kept until they are read.
        assert refusal(channel, input={"text": "Hello."}, audio_config=PCM) == (
            "RESOURCE_EXHAUSTED",
            "Too many answers were not read: read them, or cancel their calls.",
        )
        assert server.metric("tts_rejected_total", reason="overloaded") == 1
        time.sleep(1.0)
        for call in unread:
            assert len(next(call)) > 680_000
            with pytest.raises(grpc.RpcError) as caught:
                next(call)
            assert caught.value.code().name == "ABORTED"
            assert caught.value.details() == "The client did not read for 0.5 seconds."
        check(whole(channel, input={"text": TEXT}, audio_config=PCM))


def test_keys_and_places() -> None:
    port = free_port()
    mine = (("x-goog-api-key", KEY),)
    limits = {"sessions": 1, "sessions_per_key": 1}
    with (
        serving(grpc_port=port, keys=(f"me:{KEY}",), limits=limits) as server,
        grpc.insecure_channel(f"127.0.0.1:{port}") as channel,
    ):
        with pytest.raises(grpc.RpcError, match="UNAUTHENTICATED"):
            channel.unary_unary(SERVICE + "ListVoices")(b"", timeout=20)
        assert server.metric("tts_rejected_total", reason="unauthorized") == 1
        first = Stream(
            channel,
            config(**CONFIG),
            said("Hello there, who "),
            metadata=(("authorization", f"Bearer {KEY}"),),
        )
        assert first.hear()
        code, told = Stream(channel, config(**CONFIG), said("Hello."), metadata=mine).failure()
        assert code == "RESOURCE_EXHAUSTED"
        assert "its limit" in told
        with pytest.raises(grpc.RpcError, match="RESOURCE_EXHAUSTED"):
            whole(channel, metadata=mine, input={"text": TEXT}, audio_config=PCM)
        first.end()
        first.rest()
        check(whole(channel, metadata=mine, input={"text": TEXT}, audio_config=PCM))


def test_a_server_that_goes_down_finishes_texts_and_takes_no_more() -> None:
    port = free_port()
    with (
        serving(grpc_port=port, drain_s=10.0) as server,
        grpc.insecure_channel(f"127.0.0.1:{port}") as channel,
    ):
        stream = Stream(channel, config(**CONFIG, streaming_audio_config=PCM), said(TEXT[:16]))
        data = stream.hear()
        server.hub.draining = True
        assert Stream(channel, config(**CONFIG)).failure()[0] == "UNAVAILABLE"
        stream.text(TEXT[16:])
        stream.end()
        check(data + stream.rest())
        server.hub.draining = False
        late = Stream(channel, config(**CONFIG), said("Hello there, who "))
        late.hear()
        server.server.servers[0].get_loop().call_soon_threadsafe(server.hub.closing.set)
        assert late.failure() == ("UNAVAILABLE", "The server is shutting down.")


def test_bounds_of_messages_and_connections() -> None:
    port = free_port()
    limits = {
        "message_bytes": 20_000,
        "connections": 8,
        "pending_characters": 2000,
        "messages_per_s": 50,
    }
    with serving(grpc_port=port, limits=limits, step_s=0.02) as server:
        options = [("grpc.max_send_message_length", -1)]
        with grpc.insecure_channel(f"127.0.0.1:{port}", options=options) as channel:
            large = Stream(channel, config(**CONFIG), said("x" * 30_000))
            assert large.failure()[0] == "RESOURCE_EXHAUSTED"
            # A small message that unpacks to a large one.
            bomb = channel.unary_unary(SERVICE + "ListVoices")
            with pytest.raises(grpc.RpcError, match="larger than max"):
                bomb(b"\0" * 20_000_000, timeout=20, compression=grpc.Compression.Gzip)
            code, told = Stream(channel, config(**CONFIG), said("word " * 500)).failure()
            assert (code, "characters are waiting" in told) == ("RESOURCE_EXHAUSTED", True)
            begun = time.monotonic()
            many = Stream(channel, config(**CONFIG), *[said("")] * 90, said("Hello."))
            many.end()
            assert many.rest()
            assert time.monotonic() - begun > 0.7
        server.settle()
        # A quarter of the connections that HTTP may have.
        peers = [socket.create_connection(("127.0.0.1", port), timeout=5) for _ in range(4)]
        try:
            with ThreadPoolExecutor(4) as pool:
                heads = list(pool.map(first_bytes, peers))
            assert sum(map(bool, heads)) <= 2
        finally:
            for peer in peers:
                peer.close()


def test_nonsense_is_the_clients_fault(server: Running, channel: Any) -> None:
    draw = random.Random(1)
    good = [config(**CONFIG, streaming_audio_config=PCM), said(TEXT)]
    for _ in range(examples(250)):
        data = bytearray(draw.choice([*good, draw.randbytes(draw.randrange(60))]))
        for _ in range(draw.randrange(4)):
            if data:
                data[draw.randrange(len(data))] = draw.randrange(256)
        calls = [
            partial(channel.unary_unary(SERVICE + name), bytes(data))
            for name in ("ListVoices", "SynthesizeSpeech")
        ]
        stream = Stream(channel, *draw.sample(good, draw.randrange(2)), bytes(data))
        stream.end()
        assert {*map(ending, calls), ending(stream.rest)} <= {"OK", "INVALID_ARGUMENT"}, bytes(data)
    server.settle()


def ending(call: Callable[[], Any]) -> str:
    """The status with which a call ends."""
    try:
        call()
    except grpc.RpcError as error:
        return str(error.code().name)
    return "OK"


def first_bytes(peer: socket.socket) -> bytes:
    try:
        return peer.recv(9)
    except OSError:
        return b""


def test_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(
        ConfigError, match="grpc_port is 70000, but must be a whole number from 0 to 65535"
    ):
        settings_of({"grpc_port": 70000})
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"pip install 'sayahead\[grpc\]'"):
        settings_of({"grpc_port": 1})


def test_peers_have_addresses() -> None:
    assert address_of("ipv4:10.0.0.1:5000") == "10.0.0.1"
    assert address_of("ipv6:%5B2001:db8::1%5D:5000") == "2001:db8::1"
    assert address_of("unix:/tmp/x") is None


SECURE = """
import sys
import threading
from google.cloud import texttospeech_v1 as speech
client = speech.TextToSpeechClient(client_options={"api_endpoint": sys.argv[1], "api_key": sys.argv[2]})
print([voice.name for voice in client.list_voices().voices][0])
"""  # noqa: E501


class TestClient:
    """google-cloud-texttospeech, as it is published."""

    # Its generated code is older than the protobuf that it runs with.
    pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")

    def test_words_are_heard_before_the_last_is_sent(self, server: Running, port: int) -> None:
        speech = pytest.importorskip(
            "google.cloud.texttospeech_v1", reason="needs sayahead[compat]"
        )
        from google.cloud.texttospeech_v1.services.text_to_speech.transports import (
            TextToSpeechGrpcTransport,
        )

        heard = threading.Event()

        def requests() -> Iterator[Any]:
            voice = speech.VoiceSelectionParams(
                language_code="en-US", name="en-US-Chirp3-HD-Charon"
            )
            audio = speech.StreamingAudioConfig(
                audio_encoding=speech.AudioEncoding.PCM, sample_rate_hertz=8000
            )
            config = speech.StreamingSynthesizeConfig(voice=voice, streaming_audio_config=audio)
            yield speech.StreamingSynthesizeRequest(streaming_config=config)
            for part in (TEXT[:16], TEXT[16:]):
                yield speech.StreamingSynthesizeRequest(
                    input=speech.StreamingSynthesisInput(text=part)
                )
                assert heard.wait(20)

        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            client = speech.TextToSpeechClient(transport=TextToSpeechGrpcTransport(channel=channel))
            data = b""
            for answer in client.streaming_synthesize(requests()):
                data += answer.audio_content
                heard.set()
        check(data)
        server.settle()

    def test_whole_texts_voices_and_errors(self, server: Running, port: int) -> None:
        speech = pytest.importorskip(
            "google.cloud.texttospeech_v1", reason="needs sayahead[compat]"
        )
        from google.api_core.exceptions import InvalidArgument
        from google.cloud.texttospeech_v1.services.text_to_speech.transports import (
            TextToSpeechGrpcAsyncIOTransport,
        )

        async def run() -> None:
            async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
                client = speech.TextToSpeechAsyncClient(
                    transport=TextToSpeechGrpcAsyncIOTransport(channel=channel)
                )
                given: dict[str, Any] = {
                    "input": {"text": TEXT},
                    "voice": {"language_code": "en-US"},
                }
                answer = await client.synthesize_speech(
                    **given, audio_config={"audio_encoding": "LINEAR16"}
                )
                with wave.open(io.BytesIO(answer.audio_content)) as file:
                    check(file.readframes(file.getnframes()))
                voices = (await client.list_voices(language_code="en")).voices
                assert (voices[0].name, voices[0].natural_sample_rate_hertz) == ("toy", 8000)
                with pytest.raises(
                    InvalidArgument, match="audio_encoding is missing or not supported"
                ):
                    await client.synthesize_speech(**given, audio_config={"audio_encoding": "M4A"})

        asyncio.run(asyncio.wait_for(run(), 60))
        server.settle()

    @pytest.mark.skipif(shutil.which("openssl") is None, reason="needs the command openssl")
    def test_a_key_and_a_certificate(self, tmp_path: Path) -> None:
        pytest.importorskip("google.cloud.texttospeech_v1", reason="needs sayahead[compat]")
        key, certificate = certified(tmp_path)
        port = free_port()
        with serving(
            grpc_port=port, keys=(f"me:{KEY}",), certificate=certificate, certificate_key=key
        ):
            command = [sys.executable, "-c", SECURE, f"localhost:{port}", KEY]
            trusting = {**os.environ, "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH": certificate}
            ran = subprocess.run(command, env=trusting, capture_output=True, text=True, timeout=60)
        assert (ran.stdout.strip(), ran.returncode) == ("toy", 0), ran.stderr


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs the command openssl")
def test_a_certificate_is_renewed_where_its_files_fit_each_other(tmp_path: Path) -> None:
    """They were read for each connection, and given to gRPC as they were."""
    key, certificate = certified(tmp_path)
    (tmp_path / "new").mkdir()
    new_key, new_certificate = certified(tmp_path / "new")
    settings = settings_of({"certificate": certificate, "certificate_key": key})
    renewed = Renewed(SimpleNamespace(settings=settings))  # type: ignore[arg-type]
    assert renewed() is None
    os.replace(new_certificate, certificate)
    assert renewed() is None, "its key is another"
    os.replace(new_key, key)
    assert renewed() is not None
    assert renewed() is None


def test_a_call_has_a_name(channel: Any, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", "sayahead.server"):
        spoken = Stream(
            channel, config(**CONFIG), said(TEXT), metadata=(("x-request-id", "mine-2"),)
        )
        spoken.end()
        assert spoken.rest()
        wrong = Stream(channel, said(TEXT))
        wrong.failure()
    names = [dict(call.trailing_metadata())["x-request-id"] for call in (spoken.call, wrong.call)]
    assert names[0] == "mine-2"
    closed = {vars(row)["session"] for row in caplog.records if row.msg == "closed"}
    assert closed == set(names)
