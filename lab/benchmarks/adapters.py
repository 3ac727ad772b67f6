"""A text spoken by servers through the adapters for LiveKit Agents and Pipecat, word by word as a
model writes it.

``operate.py --adapters`` has them beside the client. They need ``livekit-plugins-sayahead`` and
``pipecat-sayahead`` of ``integrations/``, which the extra ``compat`` has room for in one
environment."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

from livekit.agents.types import USERDATA_TIMED_TRANSCRIPT
from livekit.plugins.sayahead import tts as livekit_tts
from pipecat.frames.frames import (
    EndFrame,
    ErrorFrame,
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    LLMTextFrame,
    TTSAudioRawFrame,
    TTSStoppedFrame,
    TTSTextFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.workers.runner import WorkerRunner
from pipecat_sayahead import tts as pipecat_tts
from sayahead.client import AsyncClient
from sayahead.sound.pcm import from_pcm16
from sayahead.types import Floats

WAIT_S = 600.0
"""How long a text may take beyond its writing."""


def use(client: type[AsyncClient]) -> None:
    """Have both adapters connect with a client of one's own."""
    livekit_tts.Client = client
    pipecat_tts.Client = client


async def livekit(urls: list[str], words: list[str], pause_s: float) -> tuple[list[str], Floats]:
    """The words that LiveKit's transcript has, and the sound of its frames."""
    samples = b""
    said = list[str]()
    async with livekit_tts.TTS(url=urls, idle_s=None).stream() as stream:

        async def write() -> None:
            for word in words:
                stream.push_text(word + " ")
                await asyncio.sleep(pause_s)
            stream.end_input()

        writing = asyncio.create_task(write())
        async for event in stream:
            samples += event.frame.data.tobytes()
            said += event.frame.userdata.get(USERDATA_TIMED_TRANSCRIPT, [])
        await writing
    return "".join(said).split(), from_pcm16(samples)


class Ear(FrameProcessor):  # type: ignore[misc]
    """Keeps what comes out of a pipeline."""

    def __init__(self) -> None:
        super().__init__(enable_direct_mode=True)
        self.samples = b""
        self.said = list[str]()
        self.errors = list[str]()
        self.ended = asyncio.Event()

    async def process_frame(self, frame: Any, direction: FrameDirection) -> None:
        """Note a frame, and pass it on."""
        await super().process_frame(frame, direction)
        if isinstance(frame, TTSAudioRawFrame):
            self.samples += frame.audio
        elif isinstance(frame, TTSTextFrame):
            self.said += frame.text.split()
        elif isinstance(frame, TTSStoppedFrame):
            self.ended.set()
        elif isinstance(frame, ErrorFrame):
            self.errors.append(frame.error)
        await self.push_frame(frame, direction)


async def pipecat(urls: list[str], words: list[str], pause_s: float) -> tuple[list[str], Floats]:
    """The words and the sound that come out of a pipeline."""
    ear = Ear()
    began = asyncio.Event()
    stages = Pipeline([pipecat_tts.SayaheadTTSService(url=urls, idle_s=None), ear])
    worker = PipelineWorker(
        stages,
        cancel_on_idle_timeout=False,
        enable_rtvi=False,
        params=PipelineParams(audio_out_sample_rate=24000),
    )
    worker.add_event_handler("on_pipeline_started", lambda *_: began.set())
    runner = WorkerRunner(handle_sigint=False)
    await runner.add_workers(worker)
    running = asyncio.create_task(runner.run())
    try:
        await began.wait()
        await worker.queue_frame(LLMFullResponseStartFrame())
        for word in words:
            await worker.queue_frame(LLMTextFrame(word + " "))
            await asyncio.sleep(pause_s)
        await worker.queue_frame(LLMFullResponseEndFrame())
        async with asyncio.timeout(WAIT_S):
            await ear.ended.wait()
        await worker.queue_frame(EndFrame())
        await running
    finally:
        running.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await running
    if ear.errors:
        raise RuntimeError("; ".join(ear.errors))
    return ear.said, from_pcm16(ear.samples)
