"""A Piper voice word by word against the mean of two seeds of its own whole sentences: figures of a
scored experiment.

    python lab/benchmarks/vits/report.py OUT ... --results lab/benchmarks/results/vits/piper.json

OUT is the folder of ``sayahead eval run lab/benchmarks/vits/piper.toml``, scored by ``sayahead eval
score``; several are taken together. Two seeds of
one voice differ, so a condition's sentence is compared with the mean of both; intervals are over
sentences. The pitch of a beginning is the median of the first
half second after the first audible sample, in semitones over the median of the whole sentence
(Boersma's method)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sayahead.sound.files import read_wav
from sayahead.sound.pcm import audible
from sayahead.sound.pitch import HOP_S, pitch_hz

from sayahead_lab.eval.experiment.folder import read_experiment, wav_path
from sayahead_lab.eval.listening.score import read_rows
from sayahead_lab.eval.measures.intervals import estimate, quotient
from sayahead_lab.results import options, tell_figures

WHOLE = ("whole", "whole, another seed")
BEGINNING_S = 0.5

Values = NDArray[np.float64]


def beginning(path: Path) -> float:
    """Semitones of a sentence's beginning over its median pitch; nan where either has no voice."""
    samples, rate = read_wav(path)
    heard = audible(samples)
    pitch = pitch_hz(samples, rate)
    first = int(heard[0] / rate / HOP_S) if len(heard) else 0
    start = pitch[first : first + round(BEGINNING_S / HOP_S)]
    if not (start > 0).any():
        return float("nan")
    return float(12 * np.log2(np.median(start[start > 0]) / np.median(pitch[pitch > 0])))


def read(folder: Path) -> dict[str, Values]:
    """Columns of a condition by name, a number for each sentence."""
    rows, _ = read_rows(folder)
    errors = [row.errors for row in rows if row.errors is not None]
    seams = [row.seams or {} for row in rows]
    columns: dict[str, Any] = {
        "errors": [one.total for one in errors],
        "words": [one.words for one in errors],
        "distillmos": [row.distillmos for row in rows],
        "seconds": [row.duration_s for row in rows],
        "beginning": [beginning(wav_path(folder, row.name)) for row in rows],
    }
    for key in ("seams", "clicks", "jumps", "elsewhere", "clicks_elsewhere", "jumps_elsewhere"):
        columns[key] = [seam.get(key, 0) for seam in seams]
    return {name: np.array(values, np.float64) for name, values in columns.items()}


def interval(change: Values, weight: Values | None = None) -> dict[str, float]:
    """A mean of paired differences over the sum of weights, with its 95 % bootstrap interval."""
    parts = np.stack([change, np.ones(len(change)) if weight is None else weight], axis=1)
    one = estimate(parts[np.isfinite(change)], quotient)
    return {"mean": one.value, "low": one.low, "high": one.high}


def figures(one: dict[str, Values], base: dict[str, Values]) -> dict[str, Any]:
    """A condition's figures, and its differences to the mean of two seeds."""

    def share(part: str, whole: str) -> float:
        return 100 * float(one[part].sum() / max(1.0, one[whole].sum()))

    return {
        "wer": share("errors", "words"),
        "wer_difference": interval(100 * (one["errors"] - base["errors"]), base["words"]),
        "distillmos": float(one["distillmos"].mean()),
        "distillmos_difference": interval(one["distillmos"] - base["distillmos"]),
        "beginning_semitones": float(np.nanmean(one["beginning"])),
        "beginning_difference": interval(one["beginning"] - base["beginning"]),
        "length": float(one["seconds"].sum() / base["seconds"].sum()),
        "clicks_at_seams": share("clicks", "seams"),
        "clicks_elsewhere": share("clicks_elsewhere", "elsewhere"),
        "jumps_at_seams": share("jumps", "seams"),
        "seams": int(one["seams"].sum()),
    }


def main() -> None:
    arguments = options(__doc__, "OUT...", "results").parse_args()
    about = read_experiment(arguments.out[0])
    columns = dict[str, dict[str, Values]]()
    for name in about["conditions"]:
        read_parts = [read(folder / name) for folder in arguments.out]
        columns[name] = {
            key: np.concatenate([part[key] for part in read_parts]) for key in read_parts[0]
        }
    base = {key: (columns[WHOLE[0]][key] + columns[WHOLE[1]][key]) / 2 for key in columns[WHOLE[0]]}
    made = {name: figures(one, base) for name, one in columns.items()}
    found = {
        "sentences": len(base["words"]),
        "words": int(base["words"].sum()),
        "versions": about.get("versions"),
        "conditions": made,
    }
    tell_figures(found, arguments.results)


if __name__ == "__main__":
    main()
