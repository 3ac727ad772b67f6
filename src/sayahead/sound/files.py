"""Sound files and pipes: WAV, FLAC and raw samples."""

from __future__ import annotations

import contextlib
import io
import os
import struct
import time
import wave
from pathlib import Path
from typing import Any, NoReturn, Protocol

import numpy as np

from sayahead.errors import ConfigError, SayaheadError
from sayahead.sound.pcm import from_pcm16, to_pcm16
from sayahead.types import Floats


class OutputError(SayaheadError):
    """Output that this machine cannot deliver: no sound device, a full disk, or a missing extra."""


WAV_CODES = {"pcm_s16le": (1, 2), "pcm_f32le": (3, 4), "alaw": (6, 1), "mulaw": (7, 1)}
"""WAV format code and bytes per sample of each encoding."""


def wav_header(sample_rate: int, data_bytes: int | None, samples: str = "pcm_s16le") -> bytes:
    """Return the WAV header of mono samples; 44 bytes for 16-bit ones.

    ``data_bytes``: their size; None for the value that readers take as "until the end".
    ``samples``: one of WAV_CODES.
    """
    code, width = WAV_CODES[samples]
    form = struct.pack("<HHIIHH", code, 1, sample_rate, width * sample_rate, width, 8 * width)
    chunks = [(b"fmt ", form)]
    if samples != "pcm_s16le":
        # Formats other than PCM need an extension size and the number of samples.
        count = 0xFFFFFFFF if data_bytes is None else data_bytes // width
        chunks = [(b"fmt ", form + bytes(2)), (b"fact", struct.pack("<I", count))]
    head = b"".join(name + struct.pack("<I", len(data)) + data for name, data in chunks)
    size = 0xFFFFFFFF
    riff = 0xFFFFFFFF
    if data_bytes is not None:
        size = min(data_bytes, 0xFFFFFFFF - len(head) - 13)
        riff = size + len(head) + 12
    return struct.pack("<4sI4s", b"RIFF", riff, b"WAVE") + head + struct.pack("<4sI", b"data", size)


class Sink(Protocol):
    """Receives sound. OutputError if it cannot be written, BrokenPipeError if the reader has
    gone."""

    def write(self, samples: Floats) -> None:
        """Write samples (S,); may block."""
        ...

    def drain(self) -> None:
        """Wait until everything written has arrived."""
        ...

    def close(self) -> None:
        """Close at once; may be called again."""
        ...


class RawWriter:
    """Writes signed 16-bit little-endian mono samples, unbuffered."""

    def __init__(self, file: io.RawIOBase, name: str) -> None:
        self._file = file
        self._name = name

    def write(self, samples: Floats) -> None:
        try:
            self._write_all(to_pcm16(samples).tobytes())
        except OSError as error:
            fail(self._name, error)

    def drain(self) -> None:
        return

    def close(self) -> None:
        self._file.close()

    def _write_all(self, data: bytes) -> None:
        """Write all of the data, which a pipe may take in parts."""
        view = memoryview(data)
        while view:
            written = self._file.write(view)
            if written is None:
                # A pipe in non-blocking mode is full.
                time.sleep(0.01)
            else:
                view = view[written:]


class WavWriter(RawWriter):
    """A WAV file with a correct header after every chunk, or one that says "until the end" if it
    cannot be rewritten."""

    def __init__(self, file: io.RawIOBase, name: str, *, sample_rate: int) -> None:
        super().__init__(file, name)
        self._sample_rate = sample_rate
        self._is_rewritable = rewritable(file)
        try:
            self._write_all(wav_header(sample_rate, 0 if self._is_rewritable else None))
        except OSError as error:
            file.close()
            fail(name, error)

    def _write_all(self, data: bytes) -> None:
        super()._write_all(data)
        if self._is_rewritable and self._file.tell() > 44:
            self._update_header()

    def _update_header(self) -> None:
        """Write the current size into the header, and remove half a sample left by an interrupted
        write."""
        end = self._file.seek(0, os.SEEK_END)
        if end % 2:
            end = self._file.truncate(end - 1)
        self._file.seek(0)
        super()._write_all(wav_header(self._sample_rate, max(0, end - 44)))
        self._file.seek(end)

    def close(self) -> None:
        if not self._file.closed:
            with contextlib.suppress(OSError):
                if self._is_rewritable:
                    self._update_header()
            super().close()


class FlacWriter:
    """A 16-bit FLAC file, written by soundfile."""

    def __init__(self, path: Path, *, sample_rate: int) -> None:
        try:
            import soundfile
        except (ImportError, OSError) as error:
            raise OutputError(
                f"Writing {path.name} needs soundfile: pip install 'sayahead[flac]'."
            ) from error
        open_output(path).close()
        self._path = path
        self._empty = True
        self._error = soundfile.LibsndfileError
        self._file: Any = soundfile.SoundFile(
            path, "w", samplerate=sample_rate, channels=1, subtype="PCM_16"
        )

    def write(self, samples: Floats) -> None:
        try:
            self._file.write(to_pcm16(samples))
        except self._error as error:
            reason = error.error_string.rstrip(".")
            raise OutputError(
                f"{self._path} cannot be written: is the disk full? ({reason})"
            ) from error
        self._empty = self._empty and not len(samples)

    def drain(self) -> None:
        return

    def close(self) -> None:
        if self._empty and not self._file.closed:
            # Without any samples it would not be a valid FLAC file.
            with contextlib.suppress(self._error):
                self._file.write(np.zeros(1, np.int16))
        self._file.close()


def fail(name: str, error: OSError) -> NoReturn:
    """Raise the right error for a failed write: BrokenPipeError as it is, else OutputError."""
    if isinstance(error, BrokenPipeError):
        raise error
    raise OutputError(f"{name} cannot be written: {error.strerror or error}.") from error


def rewritable(file: io.RawIOBase) -> bool:
    """Return whether the beginning of the file can be rewritten later."""
    if not file.seekable() or file.tell():
        return False
    try:
        import fcntl
    except ImportError:
        return True
    return not fcntl.fcntl(file.fileno(), fcntl.F_GETFL) & os.O_APPEND


def open_output(path: Path) -> io.FileIO:
    """Create a file, empty and unbuffered. ConfigError with the reason if that fails."""
    try:
        return open(path, "wb", buffering=0)
    except FileNotFoundError as error:
        has_folder = path.parent.is_dir()
        reason = (
            f"{path.parent} takes no files" if has_folder else f"there is no folder {path.parent}"
        )
        raise ConfigError(f"{path} cannot be written: {reason}.") from error
    except IsADirectoryError as error:
        raise ConfigError(
            f"{path} cannot be written: it is a folder; name a file in it."
        ) from error
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror or error}.") from error


def wav_file(path: Path, *, sample_rate: int) -> WavWriter:
    """Create a WAV file."""
    return WavWriter(open_output(path), str(path), sample_rate=sample_rate)


def write_wav(path: Path, samples: Floats, sample_rate: int) -> None:
    """Write samples (S,) to a WAV file, creating folders if necessary. ConfigError or OutputError
    on failure."""
    path.parent.mkdir(parents=True, exist_ok=True)
    writer = wav_file(path, sample_rate=sample_rate)
    writer.write(samples)
    writer.close()


def read_wav(path: Path) -> tuple[Floats, int]:
    """Return the samples (S,) in [-1, 1) and the sample rate of a 16-bit mono WAV file. ConfigError
    if it is not one."""
    try:
        with wave.open(str(path)) as file:
            channels = file.getnchannels()
            width = file.getsampwidth()
            rate = file.getframerate()
            data = file.readframes(file.getnframes())
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}.") from error
    except (EOFError, wave.Error) as error:
        raise ConfigError(
            f"{path} cannot be read as a WAV file: {str(error) or 'it is empty'}."
        ) from error
    if (channels, width) != (1, 2):
        raise ConfigError(
            f"{path} is not 16-bit mono (bits: {8 * width}, channels: {channels}): convert it."
        )
    return from_pcm16(data), rate
