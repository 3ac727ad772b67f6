"""A user's recordings: each file is looked at, and what can be used is laid out as a corpus reads
it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sayahead.errors import ConfigError
from sayahead.sound.files import write_wav
from sayahead.types import Floats

from sayahead_lab.training.corpus.teacher import RATE, resample

KINDS = (".wav", ".flac")
MIN_RATE = 16000
"""Least samples per second: below, half of the consonants are missing."""
MIN_S = 0.8
MAX_S = 60.0
"""Shortest and longest recording."""
LEVEL_DB = -20.0
"""Mean level of what is loud in the corpus, in dBFS: near those of the speakers that the training
begins with."""
MIN_DB = -50.0
"""Level of a recording that is too quiet to be one."""
CLIPPED = 0.001
"""Share of a recording's samples that may stand at its limit."""
METADATA = "metadata.csv"


@dataclass(frozen=True, slots=True)
class GivenRecording:
    """A recording that can be used."""

    path: Path
    """Its file."""
    samples: Floats
    """(S,) at 24 kHz, mono."""
    text: str
    """What is said in it; empty where that is not known."""

    @property
    def seconds(self) -> float:
        """How long it is."""
        return len(self.samples) / RATE


def read_folder(folder: Path) -> tuple[list[GivenRecording], list[str]]:
    """The recordings of a folder, or of ``wavs`` in it, and a line for each file that cannot be
    used.

    ConfigError where there is no folder, or no recording in it.
    """
    texts, left_out = read_texts(folder)
    places = [place for place in (folder / "wavs", folder) if place.is_dir()]
    paths = {
        path.stem: path
        for place in reversed(places)
        for path in sorted(place.iterdir())
        if is_sound(path)
    }
    if not paths:
        raise ConfigError(
            f"{folder} has no recordings: put WAV or FLAC files there, or into {folder / 'wavs'}."
        )
    missing = [name for name in texts if name not in paths]
    left_out += [
        f"{name}: {METADATA} has its text, but there is no {name}.wav or .flac: record it."
        for name in missing
    ]
    good = list[GivenRecording]()
    for name, path in sorted(paths.items()):
        try:
            good.append(GivenRecording(path, checked(*read_sound(path)), texts.get(name, "")))
        except ConfigError as error:
            left_out.append(f"{path.name}: {error}")
    return good, left_out


def is_sound(path: Path) -> bool:
    """Whether a file is a recording by its name."""
    return path.suffix.lower() in KINDS and not path.name.startswith(".")


def read_texts(folder: Path) -> tuple[dict[str, str], list[str]]:
    """Name to spoken text of metadata.csv, if there is one, and a line for each row that cannot be
    used."""
    path = folder / METADATA
    texts = dict[str, str]()
    left_out = list[str]()
    if not path.is_file():
        return texts, left_out
    for row, line in enumerate(
        path.read_text(encoding="utf-8-sig", errors="replace").splitlines(), 1
    ):
        name, *rest = line.split("|")
        name = name.strip()
        stem = Path(name).stem if name.lower().endswith(KINDS) else name
        if rest and stem and rest[-1].strip():
            texts[stem] = rest[-1].strip()
        elif line.strip():
            left_out.append(f"{METADATA}, line {row}: {line[:60]!r} is not name|text: write it so.")
    return texts, left_out


def read_sound(path: Path) -> tuple[Floats, int]:
    """Samples (S,), the mean of its channels, and rate of a WAV or FLAC file; ConfigError where it
    is neither."""
    import soundfile

    try:
        samples, rate = soundfile.read(path, dtype="float32", always_2d=True)
    except (OSError, RuntimeError) as error:
        raise ConfigError("cannot be read as sound: save it as 16-bit WAV or FLAC.") from error
    return np.asarray(samples.mean(axis=1), np.float32), int(rate)


def checked(samples: Floats, rate: int) -> Floats:
    """The samples (S,) at 24 kHz; ConfigError says what is wrong with a recording, where, and what
    to do."""
    if rate < MIN_RATE:
        raise ConfigError(
            f"has {rate:,} samples a second: record at {MIN_RATE:,} at least, best 24,000 or more."
        )
    seconds = len(samples) / rate
    if not MIN_S <= seconds <= MAX_S:
        least, most = (f"{bound:g}" for bound in (MIN_S, MAX_S))
        what = "say a sentence" if seconds < MIN_S else "cut it into sentences"
        raise ConfigError(f"lasts {seconds:.1f} s, not {least} to {most}: {what}.")
    if not np.isfinite(samples).all():
        raise ConfigError("has samples that are no numbers: save it as 16-bit WAV.")
    if level_db(samples) < MIN_DB:
        raise ConfigError(
            f"is silent (its loud parts have {level_db(samples):.0f} dBFS): record it anew, louder."
        )
    high = clipped(samples)
    if high.mean() > CLIPPED:
        raise ConfigError(
            f"is clipped, first at {int(high.argmax()) / rate:.2f} s ({high.mean():.1%} of it):"
            " record it anew, with less gain."
        )
    return resample(samples, rate, RATE)


def clipped(samples: Floats) -> NDArray[np.bool_]:
    """(S,) whether a sample is one of three or more in a row at the loudest value, above half of
    full scale."""
    most = float(np.abs(samples).max(initial=0.0))
    high = np.abs(samples) >= max(0.5, most * 0.9995)
    inner = high & np.concatenate([[False], high[:-1]]) & np.concatenate([high[1:], [False]])
    out: NDArray[np.bool_] = (
        inner | np.concatenate([[False], inner[:-1]]) | np.concatenate([inner[1:], [False]])
    )
    return out


def level_db(samples: Floats) -> float:
    """Mean level in dBFS of the parts (12.5 ms) of samples within 30 dB of the loudest one."""
    hop = 300
    parts = (samples[: len(samples) // hop * hop].reshape(-1, hop).astype(np.float64) ** 2).mean(
        axis=1
    )
    loud = parts[parts >= parts.max(initial=0.0) * 1e-3]
    return float(10 * np.log10(max(loud.mean() if len(loud) else 0.0, 1e-10)))


def with_texts(
    recordings: Sequence[GivenRecording], transcribe: Callable[[Floats], str] | None
) -> tuple[list[GivenRecording], list[str]]:
    """Recordings with texts, where they have none by what is heard in samples at 24 kHz, and lines
    about others."""
    out = list[GivenRecording]()
    left_out = list[str]()
    for one in recordings:
        text = one.text or (transcribe(one.samples).strip() if transcribe is not None else "")
        if text:
            out.append(replace(one, text=text))
        elif transcribe is None:
            left_out.append(
                f"{one.path.name}: has no text: write it into {METADATA}, or name a Whisper model"
                " with --whisper."
            )
        else:
            left_out.append(
                f"{one.path.name}: no words are heard in it: write its text into {METADATA}."
            )
    return out, left_out


def lay_out(recordings: Sequence[GivenRecording], folder: Path) -> None:
    """Write recordings and texts into a folder as a corpus reads them, all by one factor to
    ``LEVEL_DB``."""
    folder.mkdir(parents=True, exist_ok=True)
    mean = float(np.mean([level_db(one.samples) for one in recordings]))
    loudest = max(float(np.abs(one.samples).max()) for one in recordings)
    gain = np.float32(min(10 ** ((LEVEL_DB - mean) / 20), 0.99 / loudest))
    for one in recordings:
        write_wav(folder / f"{one.path.stem}.wav", one.samples * gain, RATE)
    lines = [
        f"{one.path.stem}|{' '.join(one.text.replace('|', ' ').split())}" for one in recordings
    ]
    (folder / METADATA).write_text("\n".join(lines) + "\n", encoding="utf-8")
