"""Reads a clip from an audio file: WAV by itself, other formats by an installed decoder."""

from __future__ import annotations

import wave
from math import gcd
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sayahead.errors import ConfigError
from sayahead.sound.resample import Resampler
from sayahead.types import Floats

RATE = 24000
"""Sample rate of a clip; files of other rates are resampled."""
MAX_SECONDS = 60.0
"""Longest clip. More than 20 s of one person in one mood tell nothing new about the voice."""
MIN_RATE = 8000
MAX_RATE = 192_000
WIDTHS: dict[int, tuple[np.dtype[Any], float, float]] = {
    1: (np.dtype("u1"), 128.0, 128.0),
    2: (np.dtype("<i2"), 0.0, 32768.0),
    4: (np.dtype("<i4"), 0.0, 2147483648.0),
}
"""Formats of WAV samples by width in bytes: type, value of silence, full scale. Three bytes are
read as four."""
MAX_BYTES = 400_000_000
"""Largest file: a minute of eight channels at 192 kHz fits."""


class Clip(NamedTuple):
    """A clip in the form that is measured."""

    samples: Floats
    """(S,) at 24 kHz."""
    clipped: float
    """Share of samples that are clipped. It is measured at the file's own rate, because resampling
    rounds the flat tops that clipping leaves."""


def read_clip(path: Path) -> Clip:
    """Read an audio file and mix its channels.

    ConfigError, which says what to do, for a file that is missing, empty, too large, too long, no
    audio, or of an unusual sample rate."""
    if not path.is_file():
        raise ConfigError(f"There is no file {path}.")
    if path.stat().st_size == 0:
        raise ConfigError(f"{path} is empty: record 5 to 20 seconds of one person.")
    if path.stat().st_size > MAX_BYTES:
        raise ConfigError(
            f"{path} is larger than any clip: cut 5 to 20 seconds of one person out of it."
        )
    samples, rate = read_wav(path) or decoded(path)
    if not MIN_RATE <= rate <= MAX_RATE:
        raise ConfigError(
            f"{path} has {rate} samples a second, but {MIN_RATE} to {MAX_RATE} can be read:"
            " convert it."
        )
    seconds = len(samples) / rate
    if seconds > MAX_SECONDS:
        raise ConfigError(
            f"{path} lasts {seconds:.0f} s, and {MAX_SECONDS:.0f} s are the most: cut out 5 to 20"
            " seconds in which one person speaks, and nobody else."
        )
    if not np.isfinite(samples).all():
        raise ConfigError(f"{path} has samples that are no numbers: record it again.")
    return clip_of(samples.mean(1), rate)


def clip_of(samples: Floats, rate: int) -> Clip:
    """Make a clip of samples (S,) at any rate."""
    return Clip(at_rate(samples, rate), clipped_share(samples))


def clipped_share(samples: Floats) -> float:
    """Return the share of samples at the peak if the sound is clipped, otherwise 0.

    A sound is clipped if over 45% of the samples above 0.9 of its peak are above 0.985 of it. For a
    sine, which stays near its peak longer than speech does, that is 38%."""
    magnitudes = np.abs(samples) / max(float(np.abs(samples).max(initial=0)), 1e-9)
    peak_count = int((magnitudes > 0.985).sum())
    high_count = int((magnitudes > 0.9).sum())
    return peak_count / max(len(samples), 1) if peak_count > 0.45 * high_count else 0.0


def read_wav(path: Path) -> tuple[Floats, int] | None:
    """Read samples (S, C) and sample rate of a PCM WAV file. None for a file of another kind;
    ConfigError if the file cannot be opened."""
    try:
        with wave.open(str(path)) as file:
            channels = file.getnchannels()
            width = file.getsampwidth()
            rate = file.getframerate()
            data = file.readframes(min(file.getnframes(), MAX_BYTES))
    except (EOFError, wave.Error):
        return None
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}.") from error
    data = data[: len(data) // (width * channels) * width * channels]
    if width == 3:
        # numpy has no type of three bytes: a low byte of zero is put before each sample.
        wide = np.zeros((len(data) // 3, 4), np.uint8)
        wide[:, 1:] = np.frombuffer(data, np.uint8).reshape(-1, 3)
        data = wide.tobytes()
        width = 4
    dtype, silence, full_scale = WIDTHS[width]
    samples = np.frombuffer(data, dtype).astype(np.float32) - np.float32(silence)
    return (samples / np.float32(full_scale)).reshape(-1, channels), rate


def decoded(path: Path) -> tuple[Floats, int]:
    """Decode samples (S, C) and sample rate of any other file with soundfile or, if that is missing
    or fails, PyAV.

    ConfigError if neither package is installed, or none can read the file."""
    is_missing = list[bool]()
    for decode in (by_soundfile, by_av):
        try:
            return decode(path)
        except ImportError:
            is_missing.append(True)
        except Exception:
            # Decoders raise different errors for each format.
            is_missing.append(False)
    if all(is_missing):
        raise ConfigError(
            f"{path} is not a plain WAV file; FLAC and others need one more package: pip install"
            " 'sayahead[codecs]'."
        )
    raise ConfigError(f"{path} cannot be read as a sound: give a WAV, FLAC, MP3, M4A or Ogg file.")


def by_soundfile(path: Path) -> tuple[Floats, int]:
    """Decode with libsndfile: WAV, FLAC, Ogg, MP3."""
    import soundfile

    samples, rate = soundfile.read(str(path), dtype="float32", always_2d=True)
    return samples, int(rate)


def by_av(path: Path) -> tuple[Floats, int]:
    """Decode with FFmpeg, mixed to one channel; stops soon after ``MAX_SECONDS``, so that a long
    film is not decoded whole."""
    import av

    with av.open(str(path)) as file:
        stream = file.streams.audio[0]
        rate = int(stream.rate)
        pieces = list[Floats]()
        mixer = av.AudioResampler(format="fltp", layout="mono", rate=rate)
        for frame in file.decode(stream):
            pieces += [mixed.to_ndarray()[0] for mixed in mixer.resample(frame)]
            if sum(map(len, pieces)) > (MAX_SECONDS + 1) * rate:
                break
    return np.concatenate(pieces)[:, None].astype(np.float32), rate


def at_rate(samples: Floats, rate: int) -> Floats:
    """Resample (S,) to 24 kHz."""
    if rate == RATE:
        return np.asarray(samples, np.float32)
    phase_count = RATE // gcd(rate, RATE)
    if phase_count > 1000:
        # The resampler has a filter for each phase; a multiple of 50 Hz needs at most 480.
        rate = 50 * round(rate / 50)
    resampler = Resampler(rate, RATE)
    return np.concatenate([resampler.push(np.asarray(samples, np.float32)), resampler.finish()])
