"""A Pipecat ``TTSService`` whose turns speak each word as soon as it is certain."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import threading
import time
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from pipecat.audio.utils import create_stream_resampler
from pipecat.frames.frames import (
    CancelFrame,
    ControlFrame,
    EndFrame,
    ErrorFrame,
    Frame,
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    StartFrame,
    TextFrame,
    TextType,
    TTSAudioRawFrame,
    TTSSpeakFrame,
    TTSStartedFrame,
    TTSStoppedFrame,
    TTSTextFrame,
)
from pipecat.processors.frame_processor import FrameDirection
from pipecat.services.settings import TTSSettings
from pipecat.services.tts_service import TextAggregationMode, TTSService
from pipecat.transcriptions.language import Language
from pipecat.utils.types import NOT_GIVEN, NotGiven, is_given

from sayahead import AudioChunk, Options, SayaheadError, Voice, load_voice
from sayahead.client import AsyncClient
from sayahead.sound.pcm import to_pcm16
from sayahead.speech import IDLE_S

SILENCE_S = 0.02
"""What a text without a word becomes: Pipecat takes no audio for a failure, and three of them for a
broken service."""
QUIET_S = 10.0
"""After so long without a sound Pipecat closes a turn; it is told twice in this time that the turn
goes on."""
PATIENCE_S = 3600.0
"""How long a server is to wait for a text that goes on, as a voice in this process does for
ever."""

_loading = threading.Lock()


@functools.lru_cache(maxsize=8)
def _load(voice: str) -> Voice:
    return load_voice(voice)


def loaded(voice: str) -> Voice:
    """A voice by its name or folder, loaded once in a process."""
    with _loading:
        return _load(voice)


@dataclass
class SayaheadTTSSettings(TTSSettings):
    """What may change between turns; ``voice`` is a voice's name or folder, the others are
    ``Voice.session``'s."""

    policy: Any | NotGiven = field(default_factory=lambda: NOT_GIVEN)
    """When to speak; None: the voice's own."""
    context: Any | NotGiven = field(default_factory=lambda: NOT_GIVEN)
    """What stands in for the words to come; None: the voice's own."""
    speed: float | NotGiven = field(default_factory=lambda: NOT_GIVEN)
    volume: float | NotGiven = field(default_factory=lambda: NOT_GIVEN)

    def options(self) -> Options:
        """Of ``Voice.session``."""
        names = ("policy", "context", "speed", "volume")
        given = {
            name: value
            for name in names
            if is_given(value := getattr(self, name)) and value is not None
        }
        return Options(**given)


class Mark(ControlFrame):
    """Tells that all that was queued before it has been handed on; goes no further itself."""


@dataclass
class Turn:
    """A text being spoken."""

    text: asyncio.Queue[str | None] = field(default_factory=asyncio.Queue)
    written: list[str] = field(default_factory=list)
    task: asyncio.Task[None] | None = None
    until_s: float | None = None
    """When all sound that was handed on will have been played; None: none was."""
    late_s: float = 0.0
    """How long there has been nothing to play in between."""

    def hand_on(self, duration_s: float) -> None:
        """Sound is played from now on, or after what is there."""
        self.until_s = max(self.until_s or 0.0, time.monotonic()) + duration_s

    def wait(self) -> None:
        """More sound comes: after a gap, all of it is that much later."""
        if self.until_s is not None and (gap_s := time.monotonic() - self.until_s) > 0:
            self.late_s = self.late_s + gap_s
            self.until_s = self.until_s + gap_s

    async def fragments(self) -> AsyncIterator[str]:
        """The text as it comes."""
        while (part := await self.text.get()) is not None:
            yield part


class SayaheadTTSService(TTSService):
    """Speech in the bot's own process, or that of servers.

    ``idle_s``: seconds without text after which all of it is spoken, and the sentence goes on;
    None: never. ``url`` is the address of a server (``sayahead serve``) that speaks instead of this
    process, or of several; ``key`` opens it, and the voice is a name that it knows. If a server
    goes down mid-speech, another one says the rest."""

    Settings = SayaheadTTSSettings
    _settings: SayaheadTTSSettings

    def __init__(
        self,
        *,
        settings: SayaheadTTSSettings | None = None,
        idle_s: float | None = IDLE_S,
        url: str | Sequence[str] | None = None,
        key: str | None = None,
        **options: Any,
    ) -> None:
        """``options`` are TTSService's. The voice is loaded when the pipeline starts."""
        chosen = SayaheadTTSSettings(
            model=None,
            voice="heart",
            language=Language.EN_US,
            policy=None,
            context=None,
            speed=1.0,
            volume=1.0,
        )
        if settings is not None:
            chosen.apply_update(settings)
        options.setdefault("text_aggregation_mode", TextAggregationMode.TOKEN)
        options.setdefault("stop_frame_timeout_s", QUIET_S)
        super().__init__(
            push_text_frames=False,
            push_start_frame=True,
            push_stop_frames=False,
            settings=chosen,
            **options,
        )
        self._idle_s = idle_s
        self._url = url
        self._key = key
        self._turns: dict[str, Turn] = {}
        # Words are queued, or text is read: not both at once.
        self._order = asyncio.Lock()
        self._passed = asyncio.Event()
        # When the last word is heard, and those that were handed on before Pipecat does so.
        self._last_word: int | None = None
        self._told = dict[int | None, str]()
        self._appends = True

    @property
    def supports_processing_metrics(self) -> bool:
        """run_tts only hands the text on."""
        return False

    def can_generate_metrics(self) -> bool:
        """Time to first audio and usage."""
        return True

    async def start(self, frame: StartFrame) -> None:
        """Load the voice before the first turn. An ErrorFrame if it cannot be read."""
        await super().start(frame)
        if self._url is not None:
            return
        try:
            await asyncio.to_thread(loaded, str(self._settings.voice))
        except SayaheadError as error:
            await self.push_error(str(error), exception=error, force_treat_as_permanent=True)

    async def stop(self, frame: EndFrame) -> None:
        """What was begun is spoken to its end before this; what hangs is dropped."""
        await super().stop(frame)
        await self._drop_all()

    async def cancel(self, frame: CancelFrame) -> None:
        """Silence."""
        await super().cancel(frame)
        await self._drop_all()

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Read text when all words that have come are handed on.

        Pipecat keeps a sentence's words until its text is whole, and then queues them: behind later
        ones of it, if any waited there."""
        if isinstance(frame, (TextFrame, TTSSpeakFrame, LLMFullResponseEndFrame)):
            async with self._order:
                await self._settle()
                await super().process_frame(frame, direction)
        else:
            await super().process_frame(frame, direction)

    async def push_frame(
        self, frame: Frame, direction: FrameDirection = FrameDirection.DOWNSTREAM
    ) -> None:
        """Hand a frame on: a word with its sound, once, and a reply's end with its last word.

        Pipecat keeps words until their sentence is whole, and does not count them where it ends a
        reply: the context would lack what was heard at an interruption, and what was said before a
        tool was called."""
        if isinstance(frame, Mark):
            self._passed.set()
            return
        if isinstance(frame, TTSStartedFrame):
            self._appends = frame.append_to_context
        elif isinstance(frame, TTSAudioRawFrame):
            if (turn := self._turns.get(frame.context_id or "")) is not None:
                turn.hand_on(frame.num_frames / frame.sample_rate)
            for word in self._kept(frame.context_id):
                self._last_word = word.pts
                await super().push_frame(word)
        elif isinstance(frame, TTSTextFrame):
            told = self._told.pop(frame.pts, "")
            if told:
                # What has no sound of its own, such as an emoji before the word, comes with it.
                frame.text = (frame.raw_text or frame.text).strip().removesuffix(told).strip()
                frame.raw_text = None
            self._last_word = frame.pts
            if told and not frame.text:
                return
        elif isinstance(frame, LLMFullResponseStartFrame):
            self._last_word = None
        elif isinstance(frame, LLMFullResponseEndFrame) and self._last_word is not None:
            frame.pts = self._last_word
        await super().push_frame(frame, direction)

    def _kept(self, context_id: str | None) -> list[TTSTextFrame]:
        """The words that Pipecat keeps until their sentence is whole, each once."""
        frames = list[TTSTextFrame]()
        for word in getattr(self._aggregated_frame_sequencer, "_buffered_words", ()):
            if word.context_id == context_id and word.pts not in self._told:
                self._told[word.pts] = word.word
                frame = TTSTextFrame(word.word, TextType.WORD)
                frame.pts = word.pts
                frame.context_id = context_id
                frame.append_to_context = self._appends
                frames.append(frame)
        return frames

    async def _settle(self) -> None:
        """Wait until what is queued of the turn that is handed on has been, or the turn is over."""
        if self.has_active_audio_context():
            self._passed.clear()
            await self.append_to_audio_context(self.get_active_audio_context_id(), Mark())
            await self._passed.wait()

    async def run_tts(self, text: str, context_id: str) -> AsyncGenerator[Frame | None, None]:
        """Hand a piece of text to its turn, whose audio comes from a task of its own."""
        turn = self._turns.get(context_id)
        if turn is None:
            turn = Turn()
            self._turns[context_id] = turn
            turn.task = self.create_task(self._speak(turn, context_id), name=f"speak-{context_id}")
        turn.written.append(text)
        turn.text.put_nowait(text)
        yield None

    async def flush_audio(self, context_id: str | None = None) -> None:
        """No more text comes for a turn."""
        turn = self._turns.get(context_id or self.get_active_audio_context_id() or "")
        if turn is not None:
            turn.text.put_nowait(None)

    async def on_audio_context_interrupted(self, context_id: str) -> None:
        """Stop synthesis at once."""
        self._passed.set()
        self._told.clear()
        await self._drop(context_id)

    async def on_audio_context_completed(self, context_id: str) -> None:
        """A turn's audio was handed on, or it went quiet for longer than Pipecat waits; its session
        then goes on."""
        self._passed.set()
        turn = self._turns.get(context_id)
        if turn is not None and turn.task is not None and turn.task.done():
            del self._turns[context_id]

    async def _drop(self, context_id: str) -> None:
        turn = self._turns.pop(context_id, None)
        if turn is not None and turn.task is not None and not turn.task.done():
            await self.cancel_task(turn.task)

    async def _drop_all(self) -> None:
        for context_id in list(self._turns):
            await self._drop(context_id)

    async def _speak(self, turn: Turn, context_id: str) -> None:
        """A turn's audio and words, until its text has ended."""
        resampler = create_stream_resampler()
        spoke = False
        keeping = self.create_task(self._keep(context_id), name=f"keep-{context_id}")
        try:
            async with contextlib.aclosing(self._chunks(turn.fragments())) as chunks:
                async for chunk in chunks:
                    await self._append(turn, context_id, chunk, resampler)
                    spoke = True
        except SayaheadError as error:
            await self.append_to_audio_context(
                context_id, ErrorFrame(error=str(error), exception=error)
            )
        finally:
            await self.cancel_task(keeping)
        if not spoke:
            silence = bytes(2 * int(SILENCE_S * self.sample_rate))
            await self._sound(context_id, silence)
        self._turns.pop(context_id, None)
        await self.append_to_audio_context(context_id, TTSStoppedFrame(context_id=context_id))
        await self.remove_audio_context(context_id)

    async def _keep(self, context_id: str) -> None:
        """Pipecat closes a context that is quiet, as while text or another server is waited for,
        and forgets the words of its unfinished sentence."""
        while True:
            await asyncio.sleep(self._stop_frame_timeout_s / 2)
            self._refresh_audio_context(context_id)

    async def _chunks(self, text: AsyncIterator[str]) -> AsyncGenerator[AudioChunk, None]:
        """The sound and words of a text; to be closed."""
        voice = str(self._settings.voice)
        options = self._settings.options()
        if self._url is not None:
            more = {
                "voice": voice,
                "idle_s": PATIENCE_S,
                "breath_s": self._idle_s or 0.0,
                **options,
            }
            client = AsyncClient(self._url, key=self._key, resume=True, **more)
            async with client, contextlib.aclosing(client.stream(text)) as served:
                async for chunk in served:
                    yield chunk
            return
        speech = (await asyncio.to_thread(loaded, voice)).speak(
            text, idle_s=self._idle_s, **options
        )
        try:
            async for chunk in speech:
                yield chunk
        finally:
            speech.cancel()

    async def _append(self, turn: Turn, context_id: str, chunk: AudioChunk, resampler: Any) -> None:
        """A chunk's words, as they were written, with the seconds in their middle, and its samples.

        Pipecat takes a word for heard from its time on; it was when half of it had been."""
        source = "".join(turn.written)
        twice = 2 * chunk.sample_rate
        turn.wait()
        words = [
            (
                source[word.start : word.end],
                (word.onset_samples + word.offset_samples) / twice + turn.late_s,
            )
            for word in chunk.words
        ]
        async with self._order:
            await self.add_word_timestamps(words, context_id)
        samples = to_pcm16(chunk.samples).tobytes()
        if chunk.sample_rate != self.sample_rate:
            samples = await resampler.resample(samples, chunk.sample_rate, self.sample_rate)
        if samples:
            await self._sound(context_id, samples)

    async def _sound(self, context_id: str, samples: bytes) -> None:
        frame = TTSAudioRawFrame(samples, self.sample_rate, 1, context_id=context_id)
        await self.append_to_audio_context(context_id, frame)
