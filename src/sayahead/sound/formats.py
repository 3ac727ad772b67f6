"""Audio formats: streaming encoders from samples to bytes, and file formats by suffix."""

from __future__ import annotations

import functools
import importlib.util
import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sayahead.config import check_whole, nearest, shown
from sayahead.errors import ConfigError
from sayahead.sound.files import FlacWriter, Sink, fail, open_output, wav_file, wav_header
from sayahead.sound.pcm import to_pcm16
from sayahead.sound.resample import Resampler
from sayahead.types import Floats


@dataclass(frozen=True, slots=True)
class AudioFormat:
    """A format for mono audio."""

    encoding: str = "pcm_s16le"
    """One of ENCODINGS."""
    sample_rate: int | None = None
    """Samples per second, one of RATES; None: the voice's own, or the next higher one of the
    codec."""
    bit_rate: int | None = None
    """Bits per second of mp3, opus and aac; None: a usual one."""

    def check(self) -> None:
        """Raise ConfigError for an unknown format, or if it needs an extra that is not
        installed."""
        if self.encoding not in ENCODINGS:
            raise ConfigError(
                f"The encoding {self.encoding!r} is unknown{nearest(self.encoding, ENCODINGS)}."
            )
        rate = self.sample_rate
        if rate is not None and rate not in RATES:
            raise ConfigError(
                f"The sample rate is {shown(rate)}, but must be one of {listed(RATES)}."
            )
        if rate is not None and rate not in OWN_RATES.get(self.encoding, RATES):
            raise ConfigError(
                f"{self.encoding} has no sample rate {rate} (known:"
                f" {listed(OWN_RATES[self.encoding])})."
            )
        if self.bit_rate is not None:
            check_whole(
                f"The bit rate of {self.encoding}",
                self.bit_rate,
                8000,
                MAX_BITS.get(self.encoding, 512000),
            )
        # To import them takes 50 ms, which is left to who encodes: servers check on their loop.
        if self.encoding in CODECS and importlib.util.find_spec("av") is None:
            raise ConfigError(NO_CODECS)

    @property
    def width(self) -> int | None:
        """Bytes per sample if these are bare, so that they may be cut anywhere; else None."""
        return WIDTHS.get(self.encoding)

    @property
    def media_type(self) -> str:
        """Its MIME type."""
        return ENCODINGS[self.encoding]


ENCODINGS = {
    "pcm_s16le": "audio/pcm",
    "pcm_f32le": "audio/pcm",
    "mulaw": "audio/basic",
    "alaw": "audio/x-alaw-basic",
    "wav": "audio/wav",
    "wav_f32le": "audio/wav",
    "wav_mulaw": "audio/wav",
    "wav_alaw": "audio/wav",
    "flac": "audio/flac",
    "mp3": "audio/mpeg",
    "opus": "audio/ogg",
    "aac": "audio/aac",
}
"""Encodings and their MIME types. wav is 16-bit with a header that says "until it ends", the other
wav ones have other samples; opus is in Ogg pages, aac in ADTS."""
IN_WAV = {"wav": "pcm_s16le", "wav_f32le": "pcm_f32le", "wav_mulaw": "mulaw", "wav_alaw": "alaw"}
"""Samples of each WAV encoding."""
WIDTHS = {"pcm_s16le": 2, "pcm_f32le": 4, "mulaw": 1, "alaw": 1}
RATES = (8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000)
"""Sample rates that a client may choose. The list is closed because each has a cached filter."""
OWN_RATES = {"mp3": RATES, "aac": RATES, "opus": (8000, 12000, 16000, 24000, 48000)}
MAX_BITS = {"opus": 256000}
NO_CODECS = "mp3, opus, aac and flac need PyAV: pip install 'sayahead[codecs]'."
# Codec, container, and sample format in PyAV.
CODECS = {
    "flac": ("flac", "flac", "s16"),
    "mp3": ("libmp3lame", "mp3", "s16p"),
    "opus": ("libopus", "ogg", "flt"),
    "aac": ("aac", "adts", "fltp"),
}


LIGHT = {
    "mp3": {"compression_level": "7"},
    "opus": {"compression_level": "3"},
    "aac": {"aac_coder": "fast"},
}
"""Options that limit the codecs' effort: at these bit rates more of it cannot be heard, and takes
two to four times as long."""


class Encoder(Protocol):
    """Encodes samples in [-1, 1], chunk by chunk."""

    def push(self, samples: Floats) -> bytes:
        """Return the bytes that can be sent now; may be empty."""
        ...

    def finish(self) -> bytes:
        """Return the remaining bytes."""
        ...


def encoder(
    form: AudioFormat, *, source_rate: int, file: io.RawIOBase | io.BufferedIOBase | None = None
) -> Encoder:
    """Return an encoder for samples at ``source_rate``. ConfigError for an unknown format.

    ``file``: a seekable file that codecs write directly; ``push`` and ``finish`` then return
    nothing.
    """
    form.check()
    rate = rate_of(form, source_rate)
    resampler = Resampler(source_rate, rate) if rate != source_rate else None
    fast_encoder = FAST.get(form.encoding)
    if fast_encoder is not None and file is None and (module := fast_encoder.module()) is not None:
        return fast_encoder(module, rate, form.bit_rate, resampler)
    if form.encoding in CODECS:
        return Packed(form.encoding, rate, form.bit_rate, resampler, file)
    return Bare(form.encoding, rate, resampler)


def wav_of(samples: str) -> str:
    """Return the WAV encoding of an encoding of samples."""
    return next(name for name, within in IN_WAV.items() if within == samples)


def whole_file(data: bytes, form: AudioFormat) -> bytes:
    """Return all bytes of a sound, with the actual size in a header that said "until the end"."""
    if form.encoding not in IN_WAV:
        return data
    data_start = data.index(b"data") + 8
    rate = int.from_bytes(data[24:28], "little")
    return wav_header(rate, len(data) - data_start, IN_WAV[form.encoding]) + data[data_start:]


def rate_of(form: AudioFormat, source_rate: int) -> int:
    """Return the sample rate of the output."""
    rate = form.sample_rate or source_rate
    codec_rates = OWN_RATES.get(form.encoding, (rate,))
    # A rate that the codec lacks becomes the next higher one.
    return next((candidate for candidate in codec_rates if candidate >= rate), codec_rates[-1])


class Bare:
    """Encodes sample by sample: PCM, mu-law, A-law, and WAV."""

    def __init__(self, encoding: str, rate: int, resampler: Resampler | None) -> None:
        samples = IN_WAV.get(encoding, encoding)
        self._convert = {"pcm_f32le": floats, "mulaw": mulaw, "alaw": alaw}.get(samples, pcm16)
        self._head = wav_header(rate, None, samples) if encoding in IN_WAV else b""
        self._resampler = resampler

    def push(self, samples: Floats) -> bytes:
        return self._out(self._resampler.push(samples) if self._resampler else samples)

    def finish(self) -> bytes:
        return self._out(self._resampler.finish() if self._resampler else np.zeros(0, np.float32))

    def _out(self, samples: Floats) -> bytes:
        head = self._head
        self._head = b""
        return head + self._convert(samples)


class Packed:
    """Encodes mp3, opus, aac and flac with FFmpeg's codecs (PyAV)."""

    def __init__(
        self,
        encoding: str,
        rate: int,
        bit_rate: int | None,
        resampler: Resampler | None,
        file: io.RawIOBase | io.BufferedIOBase | None = None,
    ) -> None:
        """``file``: receives the bytes, and its headers are completed at the end; None if ``push``
        returns them."""
        av = codecs()
        codec, container, self._form = CODECS[encoding]
        self._av = av
        self._rate = rate
        self._resampler = resampler
        self._samples = 0
        self._file = io.BytesIO()
        # With longer pages than 60 ms, an Ogg reader would wait a second for the first audio.
        options = {"page_duration": "60000"} if container == "ogg" else {}
        if container == "mp3":
            # The Xing header has the duration and the encoder's delay, which are only known at the
            # end.
            options |= {"write_xing": "0" if file is None else "1", "id3v2_version": "0"}
        target = _Unseekable(self._file) if file is None else file
        self._container: Any = av.open(target, "w", format=container, options=options)
        self._stream: Any = self._container.add_stream(
            codec, rate=rate, layout="mono", options=LIGHT.get(encoding, {})
        )
        self._stream.codec_context.format = self._form
        if encoding != "flac":
            self._stream.bit_rate = bit_rate or usual_bit_rate(rate)
        # Cuts frames of any length into those that the codec needs.
        self._fifo: Any = av.AudioFifo()

    def push(self, samples: Floats) -> bytes:
        return self._encode(self._resampler.push(samples) if self._resampler else samples)

    def finish(self) -> bytes:
        """Return the rest: an unfinished frame, and what the codec and the container hold."""
        rest = self._encode(self._resampler.finish()) if self._resampler else b""
        frame = self._fifo.read(0, partial=True)
        if frame is not None:
            self._container.mux(self._stream.encode(frame))
        self._container.mux(self._stream.encode(None))
        self._container.close()
        return rest + self._take()

    def _encode(self, samples: Floats) -> bytes:
        """Return the bytes that the codec makes of samples, in frames of the size it needs."""
        if len(samples):
            data: NDArray[Any] = (
                to_pcm16(samples) if self._form.startswith("s16") else samples.astype("<f4")
            )
            frame = self._av.AudioFrame.from_ndarray(
                data[None, :], format=self._form, layout="mono"
            )
            frame.sample_rate = self._rate
            frame.pts = self._samples
            self._samples += len(samples)
            self._fifo.write(frame)
        # The frame size is only known once the codec is open.
        self._stream.codec_context.open(strict=False)
        size = self._stream.codec_context.frame_size or 1024
        while (frame := self._fifo.read(size)) is not None:
            self._container.mux(self._stream.encode(frame))
        return self._take()

    def _take(self) -> bytes:
        data = self._file.getvalue()
        self._file.seek(0)
        self._file.truncate()
        return data


class Lame:
    """Encodes mp3 with the package lameenc. It is the same LAME that FFmpeg has, but built for
    vector instructions, and takes a quarter of the time."""

    def __init__(
        self, module: Any, rate: int, bit_rate: int | None, resampler: Resampler | None
    ) -> None:
        self._resampler = resampler
        self._has_samples = False
        self._lame = module.Encoder()
        self._lame.set_channels(1)
        self._lame.set_in_sample_rate(rate)
        self._lame.set_out_sample_rate(rate)
        self._lame.set_bit_rate((bit_rate or usual_bit_rate(rate)) // 1000)
        self._lame.set_quality(int(LIGHT["mp3"]["compression_level"]))
        self._lame.silence()

    @staticmethod
    def module() -> Any:
        """Return the package lameenc, or None if it is not installed."""
        try:
            import lameenc
        except ImportError:
            return None
        return lameenc

    def push(self, samples: Floats) -> bytes:
        return self._encode(self._resampler.push(samples) if self._resampler else samples)

    def finish(self) -> bytes:
        rest = self._encode(self._resampler.finish()) if self._resampler else b""
        return rest + (bytes(self._lame.flush()) if self._has_samples else b"")

    def _encode(self, samples: Floats) -> bytes:
        if not len(samples):
            return b""
        self._has_samples = True
        return bytes(self._lame.encode(pcm16(samples)))


FAST = {"mp3": Lame}
"""Faster streaming encoders, which need another package."""


def usual_bit_rate(rate: int) -> int:
    """Return the default bit rate for a sample rate."""
    return 64000 if rate > 16000 else 32000


class _Unseekable:
    """A write-only file like a socket, so that no container goes back to its header."""

    def __init__(self, file: io.BytesIO) -> None:
        self.write = file.write


def listed(rates: tuple[int, ...]) -> str:
    """Return rates as a list for an error message."""
    return ", ".join(map(str, rates))


def codecs() -> Any:
    """Return PyAV; ConfigError with instructions if it is not installed."""
    try:
        import av
    except ImportError as error:
        raise ConfigError(NO_CODECS) from error
    return av


def pcm16(samples: Floats) -> bytes:
    """Encode as 16-bit little-endian integers."""
    return to_pcm16(samples).tobytes()


def floats(samples: Floats) -> bytes:
    """Encode as 32-bit little-endian floats."""
    return np.clip(samples, -1.0, 1.0).astype("<f4").tobytes()


def mulaw(samples: Floats) -> bytes:
    """Encode as ITU-T G.711 mu-law: eight bits on a logarithmic scale."""
    pcm = to_pcm16(samples).astype(np.int32) >> 2
    size = np.minimum(np.abs(pcm), 8158) + 33
    exponent = np.floor(np.log2(size)).astype(np.int32) - 5
    code = (exponent << 4) | ((size >> (exponent + 1)) & 15) | np.where(pcm < 0, 128, 0)
    return bytes((~code & 255).astype(np.uint8))


def alaw(samples: Floats) -> bytes:
    """Encode as ITU-T G.711 A-law: eight bits on a logarithmic scale."""
    pcm = to_pcm16(samples).astype(np.int32)
    size = np.where(pcm < 0, -pcm - 1, pcm) >> 3
    exponent = np.maximum(0, np.floor(np.log2(np.maximum(size, 1))).astype(np.int32) - 4)
    code = (exponent << 4) | ((size >> np.maximum(1, exponent)) & 15) | np.where(pcm < 0, 0, 128)
    return bytes(((code ^ 0x55) & 255).astype(np.uint8))


class EncodedWriter:
    """A sink that writes an encoder's bytes to a file."""

    def __init__(self, path: Path, *, sample_rate: int, encoding: str) -> None:
        self._path = path
        self._file = open_output(path)
        seekable = self._file if self._file.seekable() else None
        self._encoder = encoder(AudioFormat(encoding), source_rate=sample_rate, file=seekable)

    def write(self, samples: Floats) -> None:
        self._put(lambda: self._encoder.push(samples))

    def drain(self) -> None:
        return

    def close(self) -> None:
        if not self._file.closed:
            with self._file:
                self._put(self._encoder.finish)

    def _put(self, encode: Callable[[], bytes]) -> None:
        try:
            self._file.write(encode())
        except OSError as error:
            fail(str(self._path), error)


def encoded(encoding: str) -> Callable[..., Sink]:
    """Return a function that opens files of an encoding."""
    return functools.partial(EncodedWriter, encoding=encoding)


FORMATS: dict[str, Callable[..., Sink]] = {
    ".wav": wav_file,
    ".flac": FlacWriter,
    ".mp3": encoded("mp3"),
    ".opus": encoded("opus"),
    ".ogg": encoded("opus"),
    ".aac": encoded("aac"),
}
"""Functions that open files for writing, by suffix."""


def writer(path: Path) -> Callable[..., Sink]:
    """Return the function that opens a file for writing, by its suffix. ConfigError for an unknown
    one."""
    if path.suffix.lower() not in FORMATS:
        raise ConfigError(
            f"{path}: unsupported extension {path.suffix!r}; use {', '.join(FORMATS)}."
        )
    return FORMATS[path.suffix.lower()]
