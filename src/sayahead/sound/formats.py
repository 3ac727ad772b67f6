"""How audio is sent and kept: streaming encoders from samples to bytes, and files by the endings of
their names."""

from __future__ import annotations

import functools
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
    """One way to send audio; mono."""

    encoding: str = "pcm_s16le"
    """One of ENCODINGS."""
    sample_rate: int | None = None
    """Samples per second, one of RATES; None: the voice's own, or the next that the codec has."""
    bit_rate: int | None = None
    """Bits per second of mp3, opus and aac; None: a good one."""

    def check(self) -> None:
        """ConfigError for an unknown format, or one that needs an extra that is not installed."""
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
        if self.encoding in CODECS:
            codecs()

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
"""What can be sent, and its MIME type: wav is 16 bits after a header that says "until it ends", or
other samples, opus comes in Ogg pages, aac as ADTS."""
IN_WAV = {"wav": "pcm_s16le", "wav_f32le": "pcm_f32le", "wav_mulaw": "mulaw", "wav_alaw": "alaw"}
"""The samples in a WAV file."""
WIDTHS = {"pcm_s16le": 2, "pcm_f32le": 4, "mulaw": 1, "alaw": 1}
RATES = (8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000)
"""Samples per second that a client may choose: each has a filter that is kept."""
OWN_RATES = {"mp3": RATES, "aac": RATES, "opus": (8000, 12000, 16000, 24000, 48000)}
MAX_BITS = {"opus": 256000}
# Codec, container, and how PyAV wants the samples.
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
"""How much codecs look for: at these rates more of it is not heard, and takes two to four times as
long."""


class Encoder(Protocol):
    """Bytes of samples in [-1, 1], chunk by chunk."""

    def push(self, samples: Floats) -> bytes:
        """What can be sent now; may be empty."""
        ...

    def finish(self) -> bytes:
        """What is left."""
        ...


def encoder(
    form: AudioFormat, *, source_rate: int, file: io.RawIOBase | io.BufferedIOBase | None = None
) -> Encoder:
    """An encoder of samples at ``source_rate`` per second. ConfigError for an unknown format.

    ``file``: one that can seek, to which codecs write themselves; ``push`` and ``finish`` then give
    nothing."""
    form.check()
    rate = rate_of(form, source_rate)
    resampler = Resampler(source_rate, rate) if rate != source_rate else None
    quick = QUICK.get(form.encoding)
    if quick is not None and file is None and (module := quick.module()) is not None:
        return quick(module, rate, form.bit_rate, resampler)
    if form.encoding in CODECS:
        return Packed(form.encoding, rate, form.bit_rate, resampler, file)
    return Bare(form.encoding, rate, resampler)


def wav_of(samples: str) -> str:
    """The encoding that puts such samples in a WAV file."""
    return next(name for name, within in IN_WAV.items() if within == samples)


def whole_file(data: bytes, form: AudioFormat) -> bytes:
    """All bytes of a sound, where a header that said "until the end" says how much there is."""
    if form.encoding not in IN_WAV:
        return data
    at = data.index(b"data") + 8
    rate = int.from_bytes(data[24:28], "little")
    return wav_header(rate, len(data) - at, IN_WAV[form.encoding]) + data[at:]


def rate_of(form: AudioFormat, source_rate: int) -> int:
    """Samples per second of what is sent."""
    rate = form.sample_rate or source_rate
    known = OWN_RATES.get(form.encoding, (rate,))
    # What a codec does not have becomes the next higher rate that it has.
    return next((each for each in known if each >= rate), known[-1])


class Bare:
    """Samples one by one: PCM, mu-law, A-law, and WAV."""

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
    """mp3, opus, aac and flac by FFmpeg's encoders (PyAV)."""

    def __init__(
        self,
        encoding: str,
        rate: int,
        bit_rate: int | None,
        resampler: Resampler | None,
        file: io.RawIOBase | io.BufferedIOBase | None = None,
    ) -> None:
        """``file``: where the bytes go, and headers are completed at the end; None: they come from
        ``push``."""
        av = codecs()
        codec, container, self._form = CODECS[encoding]
        self._av = av
        self._rate = rate
        self._resampler = resampler
        self._samples = 0
        self._file = io.BytesIO()
        # Pages of at most 60 ms, or an Ogg reader would wait a second for the first audio.
        options = {"page_duration": "60000"} if container == "ogg" else {}
        if container == "mp3":
            # How long it is, and what the encoder has put before the first sample, can only be said
            # at the end.
            options |= {"write_xing": "0" if file is None else "1", "id3v2_version": "0"}
        target = _Unseekable(self._file) if file is None else file
        self._container: Any = av.open(target, "w", format=container, options=options)
        self._stream: Any = self._container.add_stream(
            codec, rate=rate, layout="mono", options=LIGHT.get(encoding, {})
        )
        self._stream.codec_context.format = self._form
        if encoding != "flac":
            self._stream.bit_rate = bit_rate or usual_bit_rate(rate)
        # Frames of any length go in; those that the codec wants come out.
        self._fifo: Any = av.AudioFifo()

    def push(self, samples: Floats) -> bytes:
        return self._encode(self._resampler.push(samples) if self._resampler else samples)

    def finish(self) -> bytes:
        rest = self._encode(self._resampler.finish()) if self._resampler else b""
        frame = self._fifo.read(0, partial=True)
        if frame is not None:
            self._container.mux(self._stream.encode(frame))
        self._container.mux(self._stream.encode(None))
        self._container.close()
        return rest + self._take()

    def _encode(self, samples: Floats) -> bytes:
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
        # A codec has a frame size only once it is open.
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
    """mp3 frames by the package lameenc: the LAME that FFmpeg has, too, but built for the vector
    instructions of processors, which takes a quarter of the time."""

    def __init__(
        self, module: Any, rate: int, bit_rate: int | None, resampler: Resampler | None
    ) -> None:
        self._resampler = resampler
        self._begun = False
        self._lame = module.Encoder()
        self._lame.set_channels(1)
        self._lame.set_in_sample_rate(rate)
        self._lame.set_out_sample_rate(rate)
        self._lame.set_bit_rate((bit_rate or usual_bit_rate(rate)) // 1000)
        self._lame.set_quality(int(LIGHT["mp3"]["compression_level"]))
        self._lame.silence()

    @staticmethod
    def module() -> Any:
        """The package; None where it is not installed."""
        try:
            import lameenc
        except ImportError:
            return None
        return lameenc

    def push(self, samples: Floats) -> bytes:
        return self._encode(self._resampler.push(samples) if self._resampler else samples)

    def finish(self) -> bytes:
        rest = self._encode(self._resampler.finish()) if self._resampler else b""
        return rest + (bytes(self._lame.flush()) if self._begun else b"")

    def _encode(self, samples: Floats) -> bytes:
        if not len(samples):
            return b""
        self._begun = True
        return bytes(self._lame.encode(pcm16(samples)))


QUICK = {"mp3": Lame}
"""Encoders of what is streamed that need another package, and less time."""


def usual_bit_rate(rate: int) -> int:
    """Bits per second of so many samples, where nobody has chosen."""
    return 64000 if rate > 16000 else 32000


class _Unseekable:
    """A file that can only be written to, like a socket: no container goes back to its header."""

    def __init__(self, file: io.BytesIO) -> None:
        self.write = file.write


def listed(rates: tuple[int, ...]) -> str:
    """Rates as an error names them."""
    return ", ".join(map(str, rates))


def codecs() -> Any:
    """PyAV, or a ConfigError that says how to get it."""
    try:
        import av
    except ImportError as error:
        raise ConfigError(
            "mp3, opus, aac and flac need PyAV: pip install 'sayahead[codecs]'."
        ) from error
    return av


def pcm16(samples: Floats) -> bytes:
    """16 bits, little-endian."""
    return to_pcm16(samples).tobytes()


def floats(samples: Floats) -> bytes:
    """32-bit floats, little-endian."""
    return np.clip(samples, -1.0, 1.0).astype("<f4").tobytes()


def mulaw(samples: Floats) -> bytes:
    """Eight bits on a logarithmic scale (ITU-T G.711, mu-law)."""
    pcm = to_pcm16(samples).astype(np.int32) >> 2
    size = np.minimum(np.abs(pcm), 8158) + 33
    exponent = np.floor(np.log2(size)).astype(np.int32) - 5
    code = (exponent << 4) | ((size >> (exponent + 1)) & 15) | np.where(pcm < 0, 128, 0)
    return bytes((~code & 255).astype(np.uint8))


def alaw(samples: Floats) -> bytes:
    """Eight bits on a logarithmic scale (ITU-T G.711, A-law)."""
    pcm = to_pcm16(samples).astype(np.int32)
    size = np.where(pcm < 0, -pcm - 1, pcm) >> 3
    exponent = np.maximum(0, np.floor(np.log2(np.maximum(size, 1))).astype(np.int32) - 4)
    code = (exponent << 4) | ((size >> np.maximum(1, exponent)) & 15) | np.where(pcm < 0, 0, 128)
    return bytes(((code ^ 0x55) & 255).astype(np.uint8))


class EncodedWriter:
    """A file of an encoder's bytes."""

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
    """What opens files of an encoding."""
    return functools.partial(EncodedWriter, encoding=encoding)


FORMATS: dict[str, Callable[..., Sink]] = {
    ".wav": wav_file,
    ".flac": FlacWriter,
    ".mp3": encoded("mp3"),
    ".opus": encoded("opus"),
    ".ogg": encoded("opus"),
    ".aac": encoded("aac"),
}
"""How a file is written, by the extension of its name."""


def writer(path: Path) -> Callable[..., Sink]:
    """What opens a file, by the extension of its name; ConfigError for an unknown one."""
    if path.suffix.lower() not in FORMATS:
        raise ConfigError(
            f"{path}: unsupported extension {path.suffix!r}; use {', '.join(FORMATS)}."
        )
    return FORMATS[path.suffix.lower()]
