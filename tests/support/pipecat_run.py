"""A Pipecat pipeline around one text-to-speech service, as an agent's: tokens in, sound and words
out."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pipecat.frames.frames import (
    BotStoppedSpeakingFrame,
    EndFrame,
    ErrorFrame,
    Frame,
    InterruptionFrame,
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    LLMTextFrame,
    TTSAudioRawFrame,
    TTSStoppedFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.services.tts_service import TextAggregationMode
from pipecat.workers.runner import WorkerRunner

from support.servers import Running

WAIT_S = 20.0
TOKENS = ["Hello", " there", ",", " how", " are", " you", " today", "?", " I", " am", " fine", "."]


@dataclass
class Heard:
    """What came out of one turn, and when."""

    audio: list[bytes] = field(default_factory=list)
    """The sound, piece by piece."""
    words: list[tuple[str, float]] = field(default_factory=list)
    """Words with their times in seconds, as the service understood them."""
    errors: list[str] = field(default_factory=list)
    """Errors that the service told of."""
    tokens_before_sound: int = 0
    """Tokens that were sent when the first sound came."""
    sound_after_interruption: int = 0
    """Bytes that came when the bot had been interrupted."""

    def samples(self) -> NDArray[np.float32]:
        """The sound, in [-1, 1]."""
        return np.frombuffer(b"".join(self.audio), "<i2").astype(np.float32) / np.float32(32767)


class Sink(FrameProcessor):  # type: ignore[misc]
    """Stands where the loudspeaker is."""

    def __init__(self, heard: Heard) -> None:
        super().__init__(enable_direct_mode=True)
        self.heard = heard
        self.sounded = asyncio.Event()
        self.stopped = asyncio.Event()
        self.interrupted = False

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if isinstance(frame, TTSAudioRawFrame):
            self.heard.audio.append(frame.audio)
            self.heard.sound_after_interruption += len(frame.audio) * self.interrupted
            self.sounded.set()
        if isinstance(frame, TTSStoppedFrame):
            self.stopped.set()
            # A service may wait until what it said was heard.
            await self.push_frame(BotStoppedSpeakingFrame(), FrameDirection.UPSTREAM)
        await self.push_frame(frame, direction)


class Source(FrameProcessor):  # type: ignore[misc]
    """Stands where the language model is, and hears of errors."""

    def __init__(self, heard: Heard) -> None:
        super().__init__(enable_direct_mode=True)
        self.heard = heard

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if isinstance(frame, ErrorFrame):
            self.heard.errors.append(frame.error)
        await self.push_frame(frame, direction)


async def turn(
    service: Any, tokens: Sequence[str], *, interrupt: bool = False, more: Sequence[str] = ()
) -> Heard:
    """Speak the tokens, the last two of them only when sound was heard; or interrupt then, and
    speak ``more``."""
    heard = Heard()
    sink = Sink(heard)
    started = asyncio.Event()
    add = service.add_word_timestamps

    async def record(times: list[tuple[str, float]], *rest: Any, **options: Any) -> None:
        heard.words += times
        await add(times, *rest, **options)

    service.add_word_timestamps = record
    worker = PipelineWorker(
        Pipeline([Source(heard), service, sink]),
        cancel_on_idle_timeout=False,
        enable_rtvi=False,
        params=PipelineParams(),
    )
    worker.add_event_handler("on_pipeline_started", lambda *_: started.set())

    async def feed() -> None:
        await asyncio.wait_for(started.wait(), WAIT_S)
        await say(worker, tokens[:-2], begins=True)
        await asyncio.wait_for(sink.sounded.wait(), WAIT_S)
        heard.tokens_before_sound = len(tokens) - 2
        if interrupt:
            await worker.queue_frame(InterruptionFrame())
            await asyncio.sleep(0.5)
            sink.interrupted = True
            await asyncio.sleep(0.5)
            sink.interrupted = False
            heard.audio.clear()
            heard.words.clear()
            sink.stopped.clear()
            await say(worker, more, begins=True, ends=True)
        else:
            await say(worker, tokens[-2:], ends=True)
        await asyncio.wait_for(sink.stopped.wait(), WAIT_S)
        await worker.queue_frame(EndFrame())

    runner = WorkerRunner(handle_sigint=False)
    await runner.add_workers(worker)
    await asyncio.wait_for(asyncio.gather(runner.run(), feed()), 3 * WAIT_S)
    return heard


async def interruptions(service: Any, tokens: Sequence[str], seconds: Sequence[float]) -> None:
    """Speak the tokens and interrupt once so much sound has come, for each number of seconds.

    The service is to have an ``interrupted`` event, which is set when the server has answered.
    """
    heard = Heard()
    sink = Sink(heard)
    started = asyncio.Event()
    worker = PipelineWorker(
        Pipeline([Source(heard), service, sink]),
        cancel_on_idle_timeout=False,
        enable_rtvi=False,
        params=PipelineParams(),
    )
    worker.add_event_handler("on_pipeline_started", lambda *_: started.set())

    async def feed() -> None:
        await asyncio.wait_for(started.wait(), WAIT_S)
        for wanted_s in seconds:
            heard.audio.clear()
            service.interrupted.clear()
            await say(worker, tokens, begins=True)
            while len(heard.samples()) < wanted_s * service.sample_rate:
                sink.sounded.clear()
                await asyncio.wait_for(sink.sounded.wait(), WAIT_S)
            await worker.queue_frame(InterruptionFrame())
            await asyncio.wait_for(service.interrupted.wait(), WAIT_S)
        await worker.queue_frame(EndFrame())

    runner = WorkerRunner(handle_sigint=False)
    await runner.add_workers(worker)
    await asyncio.wait_for(asyncio.gather(runner.run(), feed()), 9 * WAIT_S)
    assert heard.errors == []


def services(server: Running) -> dict[str, Callable[[], Any]]:
    """Pipecat's services for this server, by the protocol that each speaks."""

    def service(module: str, name: str, settings: dict[str, str], **where: str) -> Any:
        kind = getattr(importlib.import_module(f"pipecat.services.{module}.tts"), name)
        form = {"sample_rate": 8000, "text_aggregation_mode": TextAggregationMode.TOKEN}
        return kind(
            api_key="some-key", settings=kind.Settings(voice="any", **settings), **form, **where
        )

    return {
        "cartesia": partial(
            service, "cartesia", "CartesiaTTSService", {}, url=server.ws + "/tts/websocket"
        ),
        "deepgram": partial(service, "deepgram", "DeepgramTTSService", {}, base_url=server.ws),
        "flux": partial(
            service, "deepgram.flux", "DeepgramFluxTTSService", {}, url=server.ws + "/v2/speak"
        ),
        "elevenlabs": partial(
            service,
            "elevenlabs",
            "ElevenLabsTTSService",
            {"model": "eleven_turbo_v2_5"},
            url=server.ws,
        ),
    }


async def say(
    worker: Any, tokens: Sequence[str], *, begins: bool = False, ends: bool = False
) -> None:
    """A language model's tokens."""
    frames: list[Frame] = [LLMTextFrame(token) for token in tokens]
    if begins:
        frames.insert(0, LLMFullResponseStartFrame())
    if ends:
        frames.append(LLMFullResponseEndFrame())
    for frame in frames:
        await worker.queue_frame(frame)
        await asyncio.sleep(0.01)
