"""ElevenLabs' clients as they are published, pointed at a server: its own SDK, LiveKit's plugin,
Pipecat's service."""

from __future__ import annotations

import asyncio
import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.servers import (
    LEAVING_SOCKETS,
    Running,
    certified,
    check_times,
    onsets,
    serving,
    toy_voice,
)

TEXT = "Hello there, how are you today? I am fine. "
RATE = 8000
pytestmark = [LEAVING_SOCKETS, pytest.mark.usefixtures("leftovers")]


class TestSdk:
    """elevenlabs."""

    @pytest.fixture
    def client(self, server: Running) -> Any:
        sdk = pytest.importorskip("elevenlabs.client", reason="needs sayahead[compat]")
        return sdk.ElevenLabs(api_key="some-key", base_url=server.http)

    @pytest.mark.skipif(shutil.which("openssl") is None, reason="needs the command openssl")
    # The SDK reads the closing code in a way that websockets wants to give up.
    @pytest.mark.filterwarnings("ignore:ConnectionClosed.code is deprecated:DeprecationWarning")
    def test_realtime_speaks_before_the_last_words(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        sdk = pytest.importorskip("elevenlabs.client", reason="needs sayahead[compat]")
        heard = threading.Event()
        key, certificate = certified(tmp_path)
        # The SDK uses TLS for every socket.
        monkeypatch.setenv("SSL_CERT_FILE", certificate)

        def words() -> Iterator[str]:
            end = time.monotonic() + 20
            for number, word in enumerate(TEXT.split()):
                # The last words wait for sound, for which the SDK looks only when it has sent
                # something.
                while number >= 6 and not heard.is_set():
                    assert time.monotonic() < end
                    yield " "
                yield word + " "

        data = b""
        with serving(certificate=certificate, certificate_key=key) as server:
            client = sdk.ElevenLabs(api_key="some-key", base_url=f"https://127.0.0.1:{server.port}")
            for piece in client.text_to_speech.convert_realtime(
                "any", text=words(), output_format="pcm_8000"
            ):
                data += piece
                heard.set()
        sound = np.frombuffer(data, "<i2") / np.float32(32767)
        assert np.abs(sound - toy_voice().synthesize(TEXT)).max() < 1e-4

    def test_http(self, client: Any) -> None:
        wanted = toy_voice().synthesize(TEXT)
        for speak in (client.text_to_speech.stream, client.text_to_speech.convert):
            data = b"".join(speak("any", text=TEXT, output_format="pcm_8000"))
            assert np.abs(np.frombuffer(data, "<i2") / np.float32(32767) - wanted).max() < 1e-4
        told = list(
            client.text_to_speech.stream_with_timestamps("any", text=TEXT, output_format="pcm_8000")
        )
        chars = "".join("".join(piece.alignment.characters) for piece in told if piece.alignment)
        assert chars.split() == TEXT.split()

    def test_voices(self, client: Any, server: Running) -> None:
        names = list(server.hub.voices.configs)
        assert [voice.voice_id for voice in client.voices.get_all().voices] == names
        assert [voice.voice_id for voice in client.voices.search().voices] == names
        assert client.voices.get("toy").name == "toy"

    def test_models_and_what_is_left(self, client: Any) -> None:
        assert [model.model_id for model in client.models.list()] == ["sayahead"]
        before = client.user.subscription.get().character_count
        b"".join(client.text_to_speech.convert("any", text=TEXT, output_format="pcm_8000"))
        assert client.user.subscription.get().character_count - before == len(TEXT)


class TestLiveKit:
    """livekit-plugins-elevenlabs."""

    def speak(self, server: Running, run: Any, **options: Any) -> None:
        plugin = pytest.importorskip("livekit.plugins.elevenlabs", reason="needs sayahead[compat]")
        import aiohttp

        async def whole() -> None:
            async with aiohttp.ClientSession() as http:
                service = plugin.TTS(
                    base_url=server.http + "/v1",
                    api_key="some-key",
                    http_session=http,
                    **{"encoding": "pcm_8000"} | options,
                )
                await asyncio.wait_for(run(service), 60)
                await service.aclose()

        asyncio.run(whole())
        server.settle()

    def test_words_are_heard_at_their_times_before_the_last_is_sent(self, server: Running) -> None:
        async def run(service: Any) -> None:
            stream = service.stream()
            sound = b""
            words = list[Any]()
            sent = TEXT.split()
            for word in sent[:5]:
                stream.push_text(word + " ")
            first = await asyncio.wait_for(anext(stream), 20)
            for word in sent[5:]:
                stream.push_text(word + " ")
            stream.end_input()
            async for event in chain(first, stream):
                sound += bytes(event.frame.data)
                words += event.frame.userdata.get("lk.timed_transcripts", [])
            assert (
                np.abs(
                    np.frombuffer(sound, "<i2") / np.float32(32767) - toy_voice().synthesize(TEXT)
                ).max()
                < 1e-4
            )
            check_times([(str(word).strip(), word.start_time) for word in words], TEXT)
            await stream.aclose()

        self.speak(server, run, auto_mode=False)

    def test_it_needs_times_from_the_contexts_start(self) -> None:
        async def run(service: Any) -> None:
            stream = service.stream()
            stream.push_text(TEXT)
            stream.end_input()
            words = [
                word
                async for event in stream
                for word in event.frame.userdata.get("lk.timed_transcripts", [])
            ]
            # Each message begins at zero, and the plugin takes that as it is.
            assert len(words) == len(TEXT.split())
            assert max(word.start_time for word in words) < onsets(TEXT)[1][1]
            await stream.aclose()

        with serving(step_words=1) as server:
            self.speak(server, run, auto_mode=False, sync_alignment=False)

    def test_sentences_in_mp3_by_default(self, server: Running) -> None:
        async def run(service: Any) -> None:
            for _ in range(2):
                stream = service.stream()
                stream.push_text(TEXT)
                stream.end_input()
                seconds = [event.frame.duration async for event in stream]
                assert sum(seconds) == pytest.approx(
                    len(toy_voice().synthesize(TEXT)) / RATE, abs=0.15
                )
                await stream.aclose()

        self.speak(server, run, encoding="mp3_22050_32")

    def test_a_stream_that_is_left_ends_its_context(self, server: Running) -> None:
        async def run(service: Any) -> None:
            stream = service.stream()
            stream.push_text("word " * 50)
            await asyncio.wait_for(anext(stream), 20)
            await stream.aclose()
            again = service.stream()
            again.push_text("Again. ")
            again.end_input()
            assert len([event async for event in again]) > 0
            await again.aclose()

        self.speak(server, run, auto_mode=False)

    def test_http_and_voices(self, server: Running) -> None:
        async def run(service: Any) -> None:
            frame = await service.synthesize(TEXT).collect()
            assert frame.duration == pytest.approx(
                len(toy_voice().synthesize(TEXT)) / RATE, abs=0.05
            )
            assert [voice.id for voice in await service.list_voices()] == list(
                server.hub.voices.configs
            )

        self.speak(server, run)


async def chain(first: Any, rest: Any) -> Any:
    """An event that was taken already, and those that follow."""
    yield first
    async for event in rest:
        yield event


def test_pipecat_needs_times_from_each_messages_start() -> None:
    pytest.importorskip("pipecat.services.elevenlabs.tts", reason="needs sayahead[compat]")
    from support.pipecat_run import TOKENS, services, turn

    with serving(step_words=1) as server:
        service = services(server)["elevenlabs"]()
        address = service._build_websocket_url
        service._build_websocket_url = lambda: address() + "&sync_alignment=true"
        heard = asyncio.run(turn(service, TOKENS))
    # It adds up what is added up already.
    assert heard.words[-1][1] > 4 * onsets("".join(TOKENS))[-1][1]
