"""An engine of RealtimeTTS that speaks text while it is still being written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Unpack

from RealtimeTTS.engines.base_engine import BaseEngine, TimingInfo

from sayahead import Options, Voice, installed_voices, load_voice
from sayahead.sound.pcm import to_pcm16

INT16 = 8
"""PyAudio's number for 16-bit samples; the package itself is needed only to play."""


class SayaheadEngine(BaseEngine):
    """One voice; ``options`` are those of ``Voice.session``, checked at once."""

    def __init__(self, voice: str | Path = "heart", **options: Unpack[Options]) -> None:
        """VoiceError for a voice that cannot be loaded, ConfigError for an option that it does not
        take."""
        self._voice: Voice = load_voice(voice)
        self._options = options
        self._voice.session(**options)

    def post_init(self) -> None:
        """What RealtimeTTS must know; it calls this when the base class has set its own."""
        self.engine_name = "sayahead"
        self.can_consume_generators = True
        self.provides_word_timings = True

    def get_stream_info(self) -> tuple[int, int, int]:
        """Format of a sample, channels, samples per second."""
        return INT16, 1, self._voice.sample_rate

    def synthesize(self, text: str | Iterable[str], sentence_count: int = 0) -> bool:
        """Speak a text as it comes, until its end or ``stop``; whether anything was spoken."""
        self.stop_synthesis_event.clear()
        fragments = [text] if isinstance(text, str) else self._until_stopped(text)
        spoken = False
        for chunk in self._voice.stream(fragments, **self._options):
            if self.stop_synthesis_event.is_set():
                return spoken
            rate = chunk.sample_rate
            for word in chunk.words:
                # As it is written: what several words are spoken for comes with the first of them.
                if word.written:
                    self.timings.put(
                        TimingInfo(
                            word.onset_samples / rate, word.offset_samples / rate, word.written
                        )
                    )
            self.queue.put(to_pcm16(chunk.samples).tobytes())
            spoken = True
        return spoken

    def _until_stopped(self, text: Iterable[str]) -> Iterator[str]:
        for fragment in text:
            if self.stop_synthesis_event.is_set():
                return
            yield fragment

    def get_voices(self) -> list[str]:
        """Names of the installed voices."""
        return list(installed_voices())

    def set_voice(self, voice: str | Path) -> None:
        """Another voice, of the same sample rate: the player of a running stream keeps its own."""
        self._voice = load_voice(voice)

    def set_voice_parameters(self, **options: Any) -> None:
        """Options of ``Voice.session`` for the texts that come."""
        chosen = Options(**{**self._options, **options})  # type: ignore[typeddict-item]
        self._voice.session(**chosen)
        self._options = chosen
