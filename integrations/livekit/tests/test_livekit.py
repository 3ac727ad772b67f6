"""The plug-in under LiveKit's own classes: streams, whole texts, and an AgentSession that is
interrupted."""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Iterator

import numpy as np
import pytest
from livekit import rtc
from livekit.agents import Agent, AgentSession, APIConnectionError, Plugin, metrics, tts
from livekit.agents.types import USERDATA_TIMED_TRANSCRIPT
from livekit.agents.voice import io
from livekit.agents.voice.transcription import TranscriptSynchronizer
from livekit.plugins import sayahead as plugin
from support.faults import FAULTS, Proxy

from sayahead import Voice, load_voice
from sayahead.sound.pcm import to_pcm16
from sayahead.types import Floats

TEXT = "The tower was built in 1889, and it cost $5 million. Nobody liked it at first."


@pytest.fixture(scope="module")
def voice() -> Voice:
    return load_voice("heart")


async def spoken(
    stream: tts.SynthesizeStream | tts.ChunkedStream,
) -> tuple[bytes, list[io.TimedString]]:
    """All samples of a stream, and all its timed text."""
    samples = b""
    timed = []
    async for event in stream:
        samples += event.frame.data.tobytes()
        timed += event.frame.userdata.get(USERDATA_TIMED_TRANSCRIPT, [])
    return samples, timed


def same(samples: bytes, expected: Floats) -> bool:
    """Whether these are the voice's samples; LiveKit may end a segment with a marker of 10 ms of
    silence."""
    whole = to_pcm16(expected).tobytes()
    rest = samples[len(whole) :]
    return samples.startswith(whole) and len(rest) in (0, 480, 960) and not any(rest)


def test_it_registers_itself() -> None:
    assert [known.package for known in Plugin.registered_plugins if "sayahead" in known.title] == [
        plugin.__name__
    ]
    speaker = plugin.TTS()
    assert (speaker.model, speaker.provider, speaker.sample_rate) == ("heart", "sayahead", 24000)
    assert speaker.capabilities.streaming
    assert speaker.capabilities.aligned_transcript


def test_sound_comes_before_the_last_word_and_words_have_times(voice: Voice) -> None:
    async def main() -> None:
        speaker = plugin.TTS(voice=voice)
        collected: list[metrics.TTSMetrics] = []
        speaker.on("metrics_collected", collected.append)
        first = asyncio.Event()
        written = []

        async def write(stream: tts.SynthesizeStream) -> None:
            words = TEXT.split(" ")
            for word in words[:4]:
                stream.push_text(word + " ")
            # Without the rest: the sound must come from these alone.
            await asyncio.wait_for(first.wait(), 10)
            written.append("before the end")
            for word in words[4:]:
                stream.push_text(word + " ")
            stream.end_input()

        samples = b""
        timed = []
        async with speaker.stream() as stream:
            writing = asyncio.create_task(write(stream))
            async for event in stream:
                first.set()
                samples += event.frame.data.tobytes()
                timed += event.frame.userdata.get(USERDATA_TIMED_TRANSCRIPT, [])
            await writing
        assert written
        assert same(samples, voice.synthesize(TEXT + " "))
        # The words as they were written, white space and all; their times as the voice gives them.
        assert "".join(timed) == TEXT + " "
        expected = [word for chunk in voice.stream([TEXT + " "]) for word in chunk.words]
        assert [part.start_time for part in timed[: len(expected)]] == [
            word.onset_samples / 24000 for word in expected
        ]
        assert " $5 million." in timed
        assert [metric.streamed for metric in collected] == [True]
        assert 0 < collected[0].ttfb < 5

    asyncio.run(main())


def test_whole_texts_and_texts_without_words(voice: Voice) -> None:
    async def main() -> None:
        speaker = plugin.TTS(voice=voice)
        samples, timed = await spoken(speaker.synthesize("Good morning to you."))
        assert same(samples, voice.synthesize("Good morning to you."))
        assert "".join(timed) == "Good morning to you."
        failures: list[object] = []
        speaker.on("error", failures.append)
        samples, _ = await spoken(speaker.synthesize("🙂"))
        assert not np.frombuffer(samples, "<i2").any()
        assert not failures

    asyncio.run(main())


def test_streams_at_once_do_not_mix(voice: Voice) -> None:
    async def main() -> None:
        speaker = plugin.TTS(voice=voice, options={"speed": 1.2})
        texts = ["One, two, three, four.", "A quite different text."]

        async def say(text: str) -> bytes:
            async with speaker.stream() as stream:
                for character in text:
                    stream.push_text(character)
                stream.end_input()
                return (await spoken(stream))[0]

        got = await asyncio.gather(*[say(text) for text in texts])
        for samples, text in zip(got, texts, strict=True):
            assert same(samples, voice.synthesize(text, speed=1.2))

    asyncio.run(main())


def test_a_wrong_option_is_one_error_and_is_not_tried_again(voice: Voice) -> None:
    async def main() -> None:
        speaker = plugin.TTS(voice=voice)
        speaker.update_options({"speed": 9.0})
        failures: list[tts.TTSError] = []
        speaker.on("error", failures.append)
        with pytest.raises(APIConnectionError, match="speed is 9"):
            await spoken(speaker.synthesize("Hello."))
        # One of the stream, one of the whole that is made of it.
        assert [failure.recoverable for failure in failures] == [False, False]

    asyncio.run(main())


class Loudspeaker(io.AudioOutput):
    """Plays in real time, into nothing."""

    def __init__(self) -> None:
        super().__init__(
            label="test", capabilities=io.AudioOutputCapabilities(pause=False), sample_rate=24000
        )
        self.begun = 0.0
        self.queued_s = 0.0
        self._end: asyncio.TimerHandle | None = None

    async def capture_frame(self, frame: rtc.AudioFrame) -> None:
        await super().capture_frame(frame)
        if not self.begun:
            self.begun = time.monotonic()
            self.on_playback_started(created_at=time.time())
        self.queued_s += frame.duration

    def played_s(self) -> float:
        return min(self.queued_s, time.monotonic() - self.begun) if self.begun else 0.0

    def flush(self) -> None:
        super().flush()
        if self.begun:
            rest = self.queued_s - self.played_s()
            self._end = asyncio.get_running_loop().call_later(rest, self._finish, False)

    def clear_buffer(self) -> None:
        if self._end is not None:
            self._end.cancel()
        if self.begun:
            self._finish(True)

    def _finish(self, interrupted: bool) -> None:
        position = self.played_s()
        self._end = None
        self.begun = 0.0
        self.queued_s = 0.0
        self.on_playback_finished(playback_position=position, interrupted=interrupted)


def test_an_interrupted_agent_remembers_what_was_heard(voice: Voice) -> None:
    tokens = (
        "The museum opens at nine thirty, and tickets cost twelve dollars. On Sundays it is free,"
        " but expect a line."
    )

    async def reply() -> AsyncIterator[str]:
        for token in tokens.split(" "):
            yield token + " "
            await asyncio.sleep(0.02)

    async def main() -> None:
        speaker = plugin.TTS(voice=voice)
        loudspeaker = Loudspeaker()
        session: AgentSession[None] = AgentSession(tts=speaker, use_tts_aligned_transcript=True)
        synchronizer = TranscriptSynchronizer(
            next_in_chain_audio=loudspeaker, next_in_chain_text=None
        )
        session.output.audio = synchronizer.audio_output
        session.output.transcription = synchronizer.text_output
        await session.start(Agent(instructions="Say what you are told to."))
        try:
            handle = session.say(reply())
            while loudspeaker.played_s() < 2.0:
                await asyncio.sleep(0.01)
            # Synthesis was far ahead of the loudspeaker.
            assert loudspeaker.queued_s > 3.0
            await session.interrupt()
            await handle
            said = [
                item.text_content or "" for item in session.history.items if item.type == "message"
            ]
            assert len(said) == 1
            heard = said[0].strip()
            # LiveKit goes by the word times, and may be a word before or after.
            truth = voice.speak(tokens)
            list(truth)
            least = truth.heard(1.2).text
            most = truth.heard(2.8).text
            assert tokens.startswith(heard)
            assert len(least) <= len(heard) <= len(most), (least, heard, most)
        finally:
            await session.aclose()
            await synchronizer.aclose()

    asyncio.run(main())


def test_an_abandoned_stream_stops_synthesis(voice: Voice) -> None:
    async def main() -> None:
        speaker = plugin.TTS(voice=voice)
        stream = speaker.stream()
        stream.push_text("A long text. " * 400)
        await anext(stream)
        since = time.monotonic()
        await stream.aclose()
        assert time.monotonic() - since < 2

    asyncio.run(main())


def taken(address: str) -> int:
    """How many conversations a server has."""
    with contextlib.ExitStack() as stack:
        try:
            answer = stack.enter_context(urllib.request.urlopen(f"{address}/ready"))
        except urllib.error.HTTPError as unready:
            answer = stack.enter_context(unready)
        return int(json.load(answer)["taken"])


@contextlib.contextmanager
def server() -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The address of a server in a process of its own, with places for all, however busy the
    machine is, whose sound does not depend on when a text came."""
    command = [
        sys.executable,
        "-m",
        "sayahead",
        "serve",
        "--port",
        "0",
        "--log",
        "json",
        "--voice",
        "heart",
    ]
    command += ["--set", "limits.sessions=20", "--set", "step_words=1"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        rows = (json.loads(line) for line in process.stderr)
        try:
            yield next(row["url"] for row in rows if row["event"] == "listening"), process
        finally:
            process.kill()


def test_conversations_are_said_to_their_end_where_a_server_is_killed(voice: Voice) -> None:
    words = [word + " " for word in (TEXT + " ").split()] * 3

    async def say(speaker: plugin.TTS) -> tuple[bytes, list[io.TimedString]]:
        async def write(stream: tts.SynthesizeStream) -> None:
            for word in words:
                stream.push_text(word)
                await asyncio.sleep(0.1)
            stream.end_input()

        async with speaker.stream() as stream:
            writing = asyncio.create_task(write(stream))
            said = await spoken(stream)
            await writing
        return said

    async def main() -> None:
        with server() as (first, process), server() as (second, other):
            # A breath, where a busy machine writes late, would make another sound.
            speaker = plugin.TTS(url=[first, second], idle_s=None)
            said = asyncio.gather(*(say(speaker) for _ in range(5)))
            await asyncio.sleep(2.5)
            # One at random has more of them.
            (process if taken(first) > taken(second) else other).kill()
            for samples, timed in await said:
                assert "".join(timed) == "".join(words)
                whole = voice.synthesize("".join(words))
                # Where the sound of two servers was joined, a wave may be longer or shorter.
                assert len(samples) / 2 == pytest.approx(len(whole), abs=0.03 * 24000)
                times = [part.start_time for part in timed if isinstance(part.start_time, float)]
                assert times == sorted(times)

    asyncio.run(main())


@pytest.fixture(scope="module")
def served() -> Iterator[int]:
    """The port of a server that is never killed."""
    with server() as (address, _):
        yield int(address.rpartition(":")[2])


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that says nothing is taken for dead at once."""
    monkeypatch.setattr("sayahead.client.wire.DUE_S", 0.3)
    monkeypatch.setattr("sayahead.client.wire.END_S", 0.1)


@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize("fault", FAULTS)
def test_every_word_is_said_whatever_befalls_the_connection(served: int, fault: str) -> None:
    words = [word + " " for word in TEXT.split()]

    async def main() -> None:
        async with Proxy.before(served) as proxy:
            speaker = plugin.TTS(url=f"http://127.0.0.1:{proxy.port}", idle_s=None)
            async with speaker.stream() as stream:
                for word in words[:8]:
                    stream.push_text(word)
                first = await anext(stream)
                proxy.fail(fault)
                for word in words[8:]:
                    stream.push_text(word)
                stream.end_input()
                async with asyncio.timeout(60):
                    _, timed = await spoken(stream)
        begun = first.frame.userdata.get(USERDATA_TIMED_TRANSCRIPT, [])
        assert "".join([*begun, *timed]) == "".join(words)
        times = [part.start_time for part in timed if isinstance(part.start_time, float)]
        assert times == sorted(times)

    asyncio.run(main())


@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize("fault", FAULTS)
def test_an_interruption_waits_for_no_connection(served: int, fault: str) -> None:
    async def main() -> None:
        async with Proxy.before(served) as proxy:
            stream = plugin.TTS(url=f"http://127.0.0.1:{proxy.port}").stream()
            stream.push_text("A long text. " * 40)
            await anext(stream)
            proxy.fail(fault)
            since = time.monotonic()
            await stream.aclose()
            assert time.monotonic() - since < 2

    asyncio.run(main())
