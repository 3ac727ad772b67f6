"""A LiveKit ``tts.TTS`` whose streams speak each word as soon as it is certain."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from pathlib import Path

from livekit.agents import APIConnectionError, APIConnectOptions, tts, utils
from livekit.agents.types import DEFAULT_API_CONNECT_OPTIONS
from livekit.agents.voice.io import TimedString

from sayahead import AudioChunk, Options, SayaheadError, Voice, WordTiming, load_voice
from sayahead.client import AsyncClient
from sayahead.sound.pcm import to_pcm16
from sayahead.speech import IDLE_S
from sayahead.voices import installed_voices, read_config

FRAME_MS = 20
"""Milliseconds of a frame; LiveKit's own 200 would add that much to the time to first audio."""
SERVED_RATE = 24000
"""Samples per second of what servers speak."""
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


class TTS(tts.TTS):
    """Speech in the agent's own process: no key, no network, no GPU; or that of servers.

    ``voice`` is a voice's name or folder, or a ``sayahead.Voice``. ``idle_s``: seconds without text
    after which all that was written is spoken, and the sentence goes on; None: it waits.
    ``options`` are those of ``Voice.session``: ``policy``, ``context``, ``speed``, ``volume``,
    ``seed``, ``hold_back_s``. A value that the voice does not take is an error of the first stream,
    or of ``sayahead.load_voice(voice).session(**options)``. ``url`` is the address of a server
    (``sayahead serve``) that speaks instead of this process, or of several; ``key`` opens it, and
    ``voice`` is a name that it knows. If a server goes down mid-speech, another one says the rest.
    """

    def __init__(
        self,
        *,
        voice: str | Path | Voice = "heart",
        idle_s: float | None = IDLE_S,
        options: Options | None = None,
        url: str | Sequence[str] | None = None,
        key: str | None = None,
    ) -> None:
        name = voice if isinstance(voice, Voice) else str(voice)
        rate = SERVED_RATE
        model = str(voice)
        if url is None:
            config = (
                name.config
                if isinstance(name, Voice)
                else read_config(installed_voices().get(name, Path(name)))
            )
            rate = config.sample_rate
            model = config.name
        super().__init__(
            capabilities=tts.TTSCapabilities(streaming=True, aligned_transcript=True),
            sample_rate=rate,
            num_channels=1,
        )
        self._voice = name
        self._model = model
        self._url = url
        self._key = key
        self._idle_s = idle_s
        self._options = Options(**(options or {}))

    @property
    def model(self) -> str:
        """The voice's name."""
        return self._model

    @property
    def provider(self) -> str:
        """Who speaks."""
        return "sayahead"

    def prewarm(self) -> None:
        """Load the voice in the background, so that the first stream need not; one of servers is
        theirs."""
        if self._url is None:
            threading.Thread(target=self.voice, name="sayahead-prewarm", daemon=True).start()

    def voice(self) -> Voice:
        """The loaded voice; takes some 0.5 s the first time. VoiceError if it cannot be read."""
        return self._voice if isinstance(self._voice, Voice) else loaded(self._voice)

    def update_options(self, options: Options) -> None:
        """Change options of ``Voice.session`` for the streams that begin later."""
        self._options = Options(**{**self._options, **options})

    async def speak(self, text: AsyncIterator[str]) -> AsyncGenerator[AudioChunk, None]:
        """The sound and words of a text; to be closed."""
        if self._url is not None:
            more = {"voice": self._voice, "sample_rate": SERVED_RATE, "idle_s": PATIENCE_S}
            more |= {"breath_s": self._idle_s or 0.0, **self._options}
            client = AsyncClient(self._url, key=self._key, resume=True, **more)
            async with client, contextlib.aclosing(client.stream(text)) as served:
                async for chunk in served:
                    yield chunk
            return
        voice = await asyncio.to_thread(self.voice)
        speech = voice.speak(text, idle_s=self._idle_s, **self._options)
        try:
            async for chunk in speech:
                yield chunk
        finally:
            speech.cancel()

    def synthesize(
        self, text: str, *, conn_options: APIConnectOptions = DEFAULT_API_CONNECT_OPTIONS
    ) -> tts.ChunkedStream:
        """A whole text."""
        return self._synthesize_with_stream(text, conn_options=conn_options)

    def stream(
        self, *, conn_options: APIConnectOptions = DEFAULT_API_CONNECT_OPTIONS
    ) -> SynthesizeStream:
        """A text that is still being written: one segment, as of LiveKit Agents 1.x."""
        return SynthesizeStream(tts=self, conn_options=conn_options)


class SynthesizeStream(tts.SynthesizeStream):
    """One text; words in, frames of 16-bit samples and word times out."""

    def __init__(self, *, tts: TTS, conn_options: APIConnectOptions) -> None:
        super().__init__(tts=tts, conn_options=conn_options)
        self._sayahead = tts
        self._written: list[str] = []
        # End of the source text that was handed out with times.
        self._timed = 0

    async def _text(self) -> AsyncIterator[str]:
        """The text up to its flush, which ends a segment."""
        async for part in self._input_ch:
            if not isinstance(part, str):
                return
            self._mark_started()
            self._written.append(part)
            yield part

    async def _run(self, output_emitter: tts.AudioEmitter) -> None:
        request = utils.shortuuid()
        output_emitter.initialize(
            request_id=request,
            sample_rate=self._sayahead.sample_rate,
            num_channels=1,
            mime_type="audio/pcm",
            frame_size_ms=FRAME_MS,
            stream=True,
        )
        self._written.clear()
        self._timed = 0
        started = False
        try:
            async with contextlib.aclosing(self._sayahead.speak(self._text())) as speech:
                async for chunk in speech:
                    if not started:
                        output_emitter.start_segment(segment_id=request)
                        started = True
                    output_emitter.push_timed_transcript(
                        self._timings(chunk.words, chunk.sample_rate)
                    )
                    output_emitter.push(to_pcm16(chunk.samples).tobytes())
        except SayaheadError as error:
            # What the voice refuses it refuses again, and what was spoken must not be spoken twice.
            raise APIConnectionError(str(error), retryable=False) from error
        self._end(output_emitter, request, started)

    def _end(self, output_emitter: tts.AudioEmitter, request: str, started: bool) -> None:
        """The end of the segment. A text without a word (an emoji, say) is a moment of silence:
        LiveKit takes no audio at all for a failure, and tries again."""
        if not started and self._written:
            output_emitter.start_segment(segment_id=request)
            output_emitter.push(bytes(2 * self._sayahead.sample_rate * FRAME_MS // 1000))
        rest = "".join(self._written)[self._timed :]
        if rest:
            output_emitter.push_timed_transcript(TimedString(rest))
        if started or self._written:
            output_emitter.end_segment()

    def _timings(self, words: tuple[WordTiming, ...], rate: int) -> list[TimedString]:
        """The source text of each word, with the white space before it, and its times in
        seconds."""
        source = "".join(self._written)
        timed = []
        for word in words:
            text = source[self._timed : word.end]
            timed.append(
                TimedString(
                    text, start_time=word.onset_samples / rate, end_time=word.offset_samples / rate
                )
            )
            self._timed = word.end
        return timed
