"""The service in Pipecat's own pipelines: tokens in, sound and words out, an interruption, a slow
model."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from pipecat.frames.frames import (
    EndFrame,
    ErrorFrame,
    Frame,
    InterruptionFrame,
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    LLMTextFrame,
    OutputAudioRawFrame,
    StartFrame,
    TTSAudioRawFrame,
    TTSSpeakFrame,
    TTSStoppedFrame,
    TTSTextFrame,
    TTSUpdateSettingsFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.transports.base_output import BaseOutputTransport
from pipecat.transports.base_transport import TransportParams
from pipecat.workers.runner import WorkerRunner
from pipecat_sayahead import SayaheadTTSService
from support.faults import FAULTS, Proxy

from sayahead import AudioChunk, Voice, WordTiming, load_voice
from sayahead.sound.pcm import to_pcm16

WAIT_S = 20.0
TEXT = "The tower was built in 1889, and it cost $5 million. Nobody liked it at first."


@pytest.fixture(scope="module")
def voice() -> Voice:
    return load_voice("heart")


class Ear(FrameProcessor):
    """Keeps what passes."""

    def __init__(self) -> None:
        super().__init__(enable_direct_mode=True)
        self.audio: list[TTSAudioRawFrame] = []
        self.words: list[TTSTextFrame] = []
        self.errors: list[str] = []
        self.sounded = asyncio.Event()
        self.stopped = asyncio.Event()

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if isinstance(frame, TTSAudioRawFrame):
            self.audio.append(frame)
            self.sounded.set()
        elif isinstance(frame, TTSTextFrame):
            self.words.append(frame)
        elif isinstance(frame, TTSStoppedFrame):
            self.stopped.set()
        elif isinstance(frame, ErrorFrame):
            self.errors.append(frame.error)
        await self.push_frame(frame, direction)

    def samples(self) -> bytes:
        return b"".join(frame.audio for frame in self.audio)


class Errors(Ear):
    """Stands upstream, where errors go."""


class Bot:
    """A pipeline around a service, running."""

    def __init__(
        self, service: SayaheadTTSService, *after: FrameProcessor, rate: int = 24000
    ) -> None:
        self.up = Errors()
        self.ear = Ear()
        self.started = asyncio.Event()
        self.worker = PipelineWorker(
            Pipeline([self.up, service, self.ear, *after]),
            cancel_on_idle_timeout=False,
            enable_rtvi=False,
            params=PipelineParams(audio_out_sample_rate=rate),
        )
        self.worker.add_event_handler("on_pipeline_started", lambda *_: self.started.set())

    async def __aenter__(self) -> Bot:
        self.runner = WorkerRunner(handle_sigint=False)
        await self.runner.add_workers(self.worker)
        self.running = asyncio.create_task(self.runner.run())
        await asyncio.wait_for(self.started.wait(), WAIT_S)
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.worker.queue_frame(EndFrame())
        await asyncio.wait_for(self.running, WAIT_S)

    async def send(self, *frames: Frame) -> None:
        for frame in frames:
            await self.worker.queue_frame(frame)

    async def say(self, tokens: Sequence[str], *, begins: bool = True, ends: bool = True) -> None:
        await self.send(*[LLMFullResponseStartFrame()] * begins)
        for token in tokens:
            await self.send(LLMTextFrame(token))
            await asyncio.sleep(0.01)
        await self.send(*[LLMFullResponseEndFrame()] * ends)

    async def end_of_turn(self) -> None:
        await asyncio.wait_for(self.ear.stopped.wait(), WAIT_S)
        self.ear.stopped.clear()


def tokens(text: str) -> list[str]:
    return [word + " " for word in text.split(" ")]


def test_sound_comes_before_the_last_word_and_words_have_times(voice: Voice) -> None:
    async def main() -> None:
        async with Bot(SayaheadTTSService()) as bot:
            parts = tokens(TEXT)
            await bot.say(parts[:4], ends=False)
            # From these four words alone.
            await asyncio.wait_for(bot.ear.sounded.wait(), WAIT_S)
            await bot.say(parts[4:], begins=False)
            await bot.end_of_turn()
        assert bot.ear.samples() == to_pcm16(voice.synthesize(TEXT + " ")).tobytes()
        assert "".join(TEXT.split()) == "".join(
            "".join(frame.text.split()) for frame in bot.ear.words
        )
        expected = [
            (word.onset_samples + word.offset_samples) / 48000
            for chunk in voice.stream([TEXT + " "])
            for word in chunk.words
        ]
        times = [frame.pts for frame in bot.ear.words if frame.pts is not None]
        assert len(times) == len(expected)
        late = (np.array(times) - times[0]) / 1e9 + expected[0] - expected
        # On a busy machine there may be nothing to play for a moment.
        assert (np.diff(late) > -1e-3).all()
        assert late[-1] < 1.0
        assert bot.up.errors == bot.ear.errors == []

    asyncio.run(main())


class Loudspeaker(BaseOutputTransport):
    """Plays in real time, into nothing."""

    def __init__(self) -> None:
        super().__init__(TransportParams(audio_out_enabled=True))
        self.played_s = 0.0
        self._until = 0.0

    async def start(self, frame: StartFrame) -> None:
        await super().start(frame)
        await self.set_transport_ready(frame)

    async def write_audio_frame(self, frame: OutputAudioRawFrame) -> bool:
        duration = len(frame.audio) / 2 / frame.sample_rate
        now = time.monotonic()
        # A busy machine wakes it late, which the next frames make up for.
        self._until = duration + (self._until if now - self._until < 0.5 else now)
        await asyncio.sleep(self._until - now)
        self.played_s += duration
        return True


def test_after_an_interruption_the_context_holds_what_was_heard(voice: Voice) -> None:
    text = (
        "The museum opens at nine thirty. Tickets cost twelve dollars. On Sundays it is free, but"
        " expect a line."
    )

    async def main() -> None:
        context = LLMContext()
        loudspeaker = Loudspeaker()
        assistant = LLMContextAggregatorPair(context).assistant()
        async with Bot(SayaheadTTSService(), loudspeaker, assistant) as bot:
            await bot.say(tokens(text))
            while loudspeaker.played_s < 2.5:
                await asyncio.sleep(0.01)
            least_s = loudspeaker.played_s
            await bot.send(InterruptionFrame())
            await asyncio.sleep(0.5)
            most_s = loudspeaker.played_s
            made_s = len(bot.ear.samples()) / 48000
            messages: list[Any] = context.get_messages()
            heard = " ".join(
                message["content"] for message in messages if message["role"] == "assistant"
            )
            truth = voice.speak(text + " ")
            list(truth)
            least = truth.heard(least_s - 0.8).text
            most = truth.heard(most_s + 0.8).text
            assert "".join(text.split()).startswith("".join(heard.split()))
            assert len(least) <= len(heard) <= len(most), (least, heard, most)
            # The next turn is whole, and nothing of the old one is in it.
            bot.ear.audio.clear()
            bot.ear.stopped.clear()
            await bot.say(tokens("Yes, of course."))
            await bot.end_of_turn()
            assert bot.ear.samples() == to_pcm16(voice.synthesize("Yes, of course. ")).tobytes()
            assert made_s > 2.5

    asyncio.run(main())


def test_a_model_that_pauses_loses_nothing(voice: Voice) -> None:
    async def main() -> None:
        service = SayaheadTTSService(idle_s=0.2, stop_frame_timeout_s=0.5)
        async with Bot(service) as bot:
            await bot.say(tokens("Let me check that for you,"), ends=False)
            # Longer than Pipecat keeps an audio context open.
            await asyncio.sleep(2.0)
            before = len(bot.ear.samples())
            await bot.say(tokens("here it is."), begins=False)
            await bot.end_of_turn()
        assert before > 48000 * 0.8
        # What came after the pause was heard after it.
        times = {frame.text: frame.pts or 0 for frame in bot.ear.words}
        assert times["here"] - times["you,"] > 0.8e9
        assert (
            "".join("".join(frame.text.split()) for frame in bot.ear.words)
            == "Letmecheckthatforyou,hereitis."
        )
        assert len(bot.ear.samples()) > before + 48000 * 0.3

    asyncio.run(main())


def test_the_context_holds_what_was_heard_of_a_sentence_that_is_being_written(voice: Voice) -> None:
    async def main() -> None:
        context = LLMContext()
        loudspeaker = Loudspeaker()
        assistant = LLMContextAggregatorPair(context).assistant()
        text = "The museum opens early. On Sundays it is free, but"
        async with Bot(SayaheadTTSService(), loudspeaker, assistant) as bot:
            await bot.say([], ends=False)
            for token in tokens(text):
                await bot.say([token], begins=False, ends=False)
                await asyncio.sleep(0.35)
            await bot.send(InterruptionFrame())
            await asyncio.sleep(0.5)
            heard = " ".join(str(message["content"]) for message in context.get_messages())
        assert text.startswith(heard)
        assert len(heard) >= len("The museum opens early. On Sundays"), heard

    asyncio.run(main())


def test_the_context_holds_all_of_a_reply_that_ends_after_its_last_word() -> None:
    """As where a tool is called behind it."""

    async def main() -> None:
        context = LLMContext()
        loudspeaker = Loudspeaker()
        assistant = LLMContextAggregatorPair(context).assistant()
        text = "One moment. I will look it up."
        async with Bot(SayaheadTTSService(idle_s=0.2), loudspeaker, assistant) as bot:
            await bot.say(tokens(text), ends=False)
            await asyncio.sleep(1.0)
            await bot.say([], begins=False)
            await bot.end_of_turn()
            await asyncio.sleep(2.5)
            assert [message["content"] for message in context.get_messages()] == [text]

    asyncio.run(main())


def test_a_text_to_speak_and_texts_without_words(voice: Voice) -> None:
    async def main() -> None:
        async with Bot(SayaheadTTSService()) as bot:
            await bot.send(TTSSpeakFrame("Good morning to you."))
            await bot.end_of_turn()
            assert bot.ear.samples() == to_pcm16(voice.synthesize("Good morning to you.")).tobytes()
            for _ in range(4):
                bot.ear.audio.clear()
                await bot.say(["🙂"])
                await bot.end_of_turn()
                assert not any(bot.ear.samples())
            await bot.say(tokens("And on it goes."))
            await bot.end_of_turn()
            assert any(bot.ear.samples())
        assert bot.up.errors == bot.ear.errors == []

    asyncio.run(main())


class Pausing(SayaheadTTSService):
    """Nothing comes for a while, as while another server is looked for."""

    async def _chunks(self, text: AsyncIterator[str]) -> AsyncGenerator[AudioChunk, None]:
        count = 0
        async for chunk in super()._chunks(text):
            if (count := count + 1) == 3:
                await asyncio.sleep(1.5)
            yield chunk


def test_sound_that_pauses_after_the_text_loses_nothing(voice: Voice) -> None:
    async def main() -> None:
        async with Bot(Pausing(stop_frame_timeout_s=0.5)) as bot:
            await bot.say(tokens(TEXT))
            await bot.end_of_turn()
        assert " ".join(frame.text for frame in bot.ear.words).split() == TEXT.split()
        assert bot.up.errors == bot.ear.errors == []

    asyncio.run(main())


def chunk_of(text: str, start: int, at: int) -> AudioChunk:
    """A tenth of a second, with the words of a part of a text."""
    words = [
        WordTiming(m[0], start + m.start(), start + m.end(), at, at + 2400)
        for m in re.finditer(r"\S+", text)
    ]
    return AudioChunk(np.full(2400, 0.1, np.float32), at, 24000, tuple(words))


class Bursts(SayaheadTTSService):
    """More of a sentence is spoken in the moment in which its text turns out to be whole."""

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        if isinstance(frame, LLMTextFrame) and frame.text == "Four ":
            (name, turn), *_ = self._turns.items()
            await self._append(turn, name, chunk_of("two three.", 4, 2400), None)
        await super().process_frame(frame, direction)

    async def _chunks(self, text: AsyncIterator[str]) -> AsyncGenerator[AudioChunk, None]:
        yield chunk_of("One", 0, 0)
        async for _ in text:
            pass
        yield chunk_of("Four five.", 15, 4800)


def test_words_keep_their_order_where_they_come_as_their_sentence_ends() -> None:
    async def main() -> None:
        text = "One two three. Four five."
        async with Bot(Bursts()) as bot:
            await bot.say(tokens(text))
            await bot.end_of_turn()
        assert [frame.text for frame in bot.ear.words] == text.split()

    asyncio.run(main())


def test_settings_change_between_turns_and_wrong_ones_are_told(voice: Voice) -> None:
    async def main() -> None:
        async with Bot(SayaheadTTSService()) as bot:
            await bot.send(TTSUpdateSettingsFrame(delta=SayaheadTTSService.Settings(speed=1.25)))
            await bot.say(tokens("Quite a bit faster."))
            await bot.end_of_turn()
            assert (
                bot.ear.samples()
                == to_pcm16(voice.synthesize("Quite a bit faster. ", speed=1.25)).tobytes()
            )
            await bot.send(TTSUpdateSettingsFrame(delta=SayaheadTTSService.Settings(speed=9.0)))
            await bot.say(tokens("Too fast."))
            await bot.end_of_turn()
            assert any("speed is 9" in error for error in bot.up.errors + bot.ear.errors)

    asyncio.run(main())


def test_a_telephone_line_gets_its_own_rate(voice: Voice) -> None:
    async def main() -> None:
        async with Bot(SayaheadTTSService(), rate=8000) as bot:
            await bot.say(tokens("Good morning to you."))
            await bot.end_of_turn()
        assert {frame.sample_rate for frame in bot.ear.audio} == {8000}
        seconds = len(bot.ear.samples()) / 16000
        assert seconds == pytest.approx(
            len(voice.synthesize("Good morning to you. ")) / 24000, abs=0.1
        )

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
    words = tokens(TEXT) * 3

    async def say(bot: Bot) -> None:
        await bot.say(words[:1], ends=False)
        for word in words[1:-1]:
            await bot.say([word], begins=False, ends=False)
            await asyncio.sleep(0.1)
        await bot.say(words[-1:], begins=False)
        await bot.end_of_turn()

    async def main() -> None:
        with server() as (first, process), server() as (second, other):
            async with contextlib.AsyncExitStack() as stack:
                # A breath, where a busy machine writes late, would make another sound.
                services = [SayaheadTTSService(url=[first, second], idle_s=None) for _ in range(5)]
                bots = [await stack.enter_async_context(Bot(service)) for service in services]
                said = asyncio.gather(*(say(bot) for bot in bots))
                await asyncio.sleep(2.5)
                # One at random has more of them.
                (process if taken(first) > taken(second) else other).kill()
                await said
            for bot in bots:
                assert (
                    " ".join(frame.text for frame in bot.ear.words).split()
                    == "".join(words).split()
                )
                # Where the sound of two servers was joined, a wave may be longer or shorter.
                whole = len(voice.synthesize("".join(words)))
                assert len(bot.ear.samples()) / 2 == pytest.approx(whole, abs=0.03 * 24000)
                assert bot.up.errors == bot.ear.errors == []

    asyncio.run(main())


@pytest.fixture(scope="module")
def served() -> Iterator[int]:
    """The port of a server that is never killed."""
    with server() as (address, _):
        yield int(address.rpartition(":")[2])


@pytest.mark.parametrize("fault", FAULTS)
def test_every_word_is_said_whatever_befalls_the_connection(
    served: int, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A server that says nothing is taken for dead at once.
    monkeypatch.setattr("sayahead.client.wire.DUE_S", 0.3)
    monkeypatch.setattr("sayahead.client.wire.END_S", 0.1)
    words = tokens(TEXT)

    async def main() -> None:
        async with Proxy.before(served) as proxy:
            service = SayaheadTTSService(url=f"http://127.0.0.1:{proxy.port}", idle_s=None)
            async with Bot(service) as bot:
                await bot.say(words[:8], ends=False)
                await asyncio.wait_for(bot.ear.sounded.wait(), WAIT_S)
                proxy.fail(fault)
                await bot.say(words[8:], begins=False)
                await asyncio.wait_for(bot.ear.stopped.wait(), 60)
        said = "".join(frame.text for frame in bot.ear.words)
        assert "".join(said.split()) == "".join(TEXT.split())
        assert bot.up.errors == bot.ear.errors == []

    asyncio.run(main())
