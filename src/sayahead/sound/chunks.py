"""Chunks of sound, resampled or encoded."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from dataclasses import replace
from typing import Protocol

import numpy as np

from sayahead.sound.formats import AudioFormat, Encoder, encoder, rate_of
from sayahead.sound.resample import Resampler
from sayahead.types import AudioChunk, EncodedChunk, WordTiming


class Resampled:
    """Resamples chunks; at their own rate they are unchanged."""

    def __init__(self, source: int, target: int | None) -> None:
        """``target``: the new rate; None for the source's own. ConfigError if it is neither that
        nor one of ``sound.formats.RATES``."""
        if target is not None and target != source:
            AudioFormat("pcm_f32le", target).check()
        self.rate = target or source
        """Samples per second of the output."""
        self._source = source
        self._samples = 0
        self._resampler = None if self.rate == source else Resampler(source, self.rate)

    def push(self, chunk: AudioChunk) -> AudioChunk:
        """Resample a chunk. The result may be shorter by up to 3 ms, which come with the next
        one."""
        if self._resampler is None:
            return chunk
        samples = self._resampler.push(chunk.samples)
        resampled = AudioChunk(
            samples, self._samples, self.rate, tuple(self._word(word) for word in chunk.words)
        )
        self._samples += len(samples)
        return resampled

    def finish(self) -> AudioChunk | None:
        """Return the rest, or None if there is none."""
        samples = np.zeros(0, np.float32) if self._resampler is None else self._resampler.finish()
        self._resampler = None
        return AudioChunk(samples, self._samples, self.rate, ()) if len(samples) else None

    def _word(self, word: WordTiming) -> WordTiming:
        """Convert a word's times to samples of the new rate."""
        onset, offset = (
            round(at * self.rate / self._source) for at in (word.onset_samples, word.offset_samples)
        )
        return replace(word, onset_samples=onset, offset_samples=offset)


class Source(Iterable[AudioChunk], AsyncIterable[AudioChunk], Protocol):
    """An iterable of chunks, synchronous and asynchronous."""


class Encoded:
    """Chunks encoded in one format, to be iterated once by ``for`` or ``async for``. Joined, they
    are a file or a stream."""

    def __init__(self, source: Source, form: AudioFormat, source_rate: int) -> None:
        """ConfigError for an unavailable format."""
        self._source = source
        self._source_rate = source_rate
        self._encoder: Encoder = encoder(form, source_rate=source_rate)
        self.media_type = form.media_type
        self.sample_rate = rate_of(form, source_rate)
        """Its MIME type, and samples per second of what is sent."""
        self._end_s = 0.0

    def __iter__(self) -> Iterator[EncodedChunk]:
        for chunk in self._source:
            yield self._push(chunk)
        yield self._finish()

    async def __aiter__(self) -> AsyncIterator[EncodedChunk]:
        async for chunk in self._source:
            yield self._push(chunk)
        yield self._finish()

    def _push(self, chunk: AudioChunk) -> EncodedChunk:
        begin_s = self._end_s
        self._end_s = self._end_s + chunk.duration_s
        return EncodedChunk(
            self._encoder.push(chunk.samples),
            begin_s,
            chunk.duration_s,
            chunk.sample_rate,
            chunk.words,
        )

    def _finish(self) -> EncodedChunk:
        return EncodedChunk(self._encoder.finish(), self._end_s, 0.0, self._source_rate, ())
