"""A clip's samples, from a file of any kind that can be read here."""

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
"""Samples per second of what is read, whatever the file's."""
MAX_SECONDS = 60.0
"""Longest clip: one person in one mood says no more in it than in 20 s."""
MIN_RATE = 8000
MAX_RATE = 192_000
WIDTHS: dict[int, tuple[np.dtype[Any], float, float]] = {
    1: (np.dtype("u1"), 128.0, 128.0),
    2: (np.dtype("<i2"), 0.0, 32768.0),
    4: (np.dtype("<i4"), 0.0, 2147483648.0),
}
"""By bytes of a sample: its type, what is silence, and full scale."""
MAX_BYTES = 400_000_000


class Clip(NamedTuple):
    """A clip that was read."""

    samples: Floats
    """(S,) at 24 kHz."""
    clipped: float
    """Share of the file's samples that are cut off: at another rate, what was flat is no longer."""


def read_clip(path: Path) -> Clip:
    """A sound file, its channels mixed; ConfigError for what is no clip."""
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
    """Samples (S,) at any rate as a clip."""
    return Clip(at_rate(samples, rate), clipped_share(samples))


def clipped_share(samples: Floats) -> float:
    """The share of samples at the largest value, where more lie there than a sound has that is not
    cut off.

    Of a tone, which is at its top longest, 0.38 of what lies above 0.9 lies above 0.985 of the
    largest value."""
    sizes = np.abs(samples) / max(float(np.abs(samples).max(initial=0)), 1e-9)
    top = int((sizes > 0.985).sum())
    high = int((sizes > 0.9).sum())
    return top / max(len(samples), 1) if top > 0.45 * high else 0.0


def read_wav(path: Path) -> tuple[Floats, int] | None:
    """(S, C) samples of a plain WAV file and their rate; None for another kind of file."""
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
        whole = np.zeros((len(data) // 3, 4), np.uint8)
        whole[:, 1:] = np.frombuffer(data, np.uint8).reshape(-1, 3)
        data = whole.tobytes()
        width = 4
    kind, silence, full = WIDTHS[width]
    samples = (np.frombuffer(data, kind).astype(np.float32) - np.float32(silence)) / np.float32(
        full
    )
    return samples.reshape(-1, channels), rate


def decoded(path: Path) -> tuple[Floats, int]:
    """(S, C) samples of another file, by the packages that are here: soundfile, else PyAV."""
    problems = list[str]()
    for decode in (by_soundfile, by_av):
        try:
            return decode(path)
        except ImportError as error:
            problems.append(str(error.name))
        except Exception:
            # Decoders fail in as many ways as there are formats.
            problems.append("")
    if all(problems):
        raise ConfigError(
            f"{path} is not a plain WAV file; FLAC and others need one more package: pip install"
            " 'sayahead[codecs]'."
        )
    raise ConfigError(f"{path} cannot be read as a sound: give a WAV, FLAC, MP3, M4A or Ogg file.")


def by_soundfile(path: Path) -> tuple[Floats, int]:
    """By libsndfile."""
    import soundfile

    samples, rate = soundfile.read(str(path), dtype="float32", always_2d=True)
    return samples, int(rate)


def by_av(path: Path) -> tuple[Floats, int]:
    """By FFmpeg."""
    import av

    with av.open(str(path)) as file:
        stream = file.streams.audio[0]
        rate = int(stream.rate)
        pieces = list[Floats]()
        convert = av.AudioResampler(format="fltp", layout="mono", rate=rate)
        for frame in file.decode(stream):
            pieces += [one.to_ndarray()[0] for one in convert.resample(frame)]
            if sum(map(len, pieces)) > (MAX_SECONDS + 1) * rate:
                break
    return np.concatenate(pieces)[:, None].astype(np.float32), rate


def at_rate(samples: Floats, rate: int) -> Floats:
    """(S,) at 24 kHz."""
    if rate == RATE:
        return np.asarray(samples, np.float32)
    if RATE // gcd(rate, RATE) > 1000:
        # A filter for each of so many phases would be large: the nearest rate that has few.
        rate = 50 * round(rate / 50)
    resampler = Resampler(rate, RATE)
    return np.concatenate([resampler.push(np.asarray(samples, np.float32)), resampler.finish()])
