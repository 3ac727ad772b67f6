"""A Piper voice word by word against the mean of two seeds of its own whole sentences: figures of a
scored experiment.

    python lab/benchmarks/vits/report.py OUT ... --results lab/benchmarks/results/vits/piper.json

OUT is the folder of ``sayahead eval run lab/benchmarks/vits/piper.toml``, scored by ``sayahead eval
score``; of several folders, those count that are scored to the end. Two seeds of
one voice differ, so a condition's sentence is compared with the mean of both; intervals are over
sentences, which are drawn again 5,000 times. The pitch of a beginning is the median of the first
half second after the first audible sample, in semitones over the median of the whole sentence
(Boersma's method)."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1]))

from output import options, tell_figures
from sayahead.sound.files import read_wav
from sayahead.sound.pcm import audible
from sayahead.sound.pitch import HOP_S, pitch_hz

from sayahead_lab.eval.experiment.folder import wav_path

WHOLE = ("whole", "whole, another seed")
BEGINNING_S = 0.5
DRAWS = 5000

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
    rows = json.loads((folder / "quality.json").read_text(encoding="utf-8"))["rows"]
    errors = [row["errors"] for row in rows]
    seams = [row["seams"] or {} for row in rows]
    columns: dict[str, Any] = {
        "errors": [
            found["substitutions"] + found["deletions"] + found["insertions"] for found in errors
        ],
        "words": [found["words"] for found in errors],
        "distillmos": [row["distillmos"] for row in rows],
        "seconds": [row["duration_s"] for row in rows],
        "beginning": [beginning(wav_path(folder, row["name"])) for row in rows],
    }
    for key in ("seams", "clicks", "jumps", "elsewhere", "clicks_elsewhere", "jumps_elsewhere"):
        columns[key] = [seam.get(key, 0) for seam in seams]
    return {name: np.array(values, np.float64) for name, values in columns.items()}


def scored(folder: Path) -> bool:
    """Whether all conditions of an experiment have their scores."""
    path = folder / "experiment.json"
    names = json.loads(path.read_text(encoding="utf-8"))["conditions"] if path.is_file() else []
    return bool(names) and all((folder / name / "quality.json").is_file() for name in names)


def interval(change: Values, weight: Values | None = None) -> dict[str, float]:
    """A mean of paired differences over the sum of weights, with its 95 % bootstrap interval."""
    known = np.isfinite(change)
    change = change[known]
    weight = np.ones(known.sum()) if weight is None else weight[known]
    draws = np.random.default_rng(0).integers(0, len(change), (DRAWS, len(change)))
    drawn = change[draws].sum(axis=1) / weight[draws].sum(axis=1)
    low, high = np.percentile(drawn, [2.5, 97.5])
    return {"mean": float(change.sum() / weight.sum()), "low": float(low), "high": float(high)}


def figures(one: dict[str, Values], base: dict[str, Values]) -> dict[str, Any]:
    """A condition's figures, and its differences to the mean of two seeds."""
    return {
        "wer": 100 * float(one["errors"].sum() / one["words"].sum()),
        "wer_difference": interval(100 * (one["errors"] - base["errors"]), base["words"]),
        "distillmos": float(one["distillmos"].mean()),
        "distillmos_difference": interval(one["distillmos"] - base["distillmos"]),
        "beginning_semitones": float(np.nanmean(one["beginning"])),
        "beginning_difference": interval(one["beginning"] - base["beginning"]),
        "length": float(one["seconds"].sum() / base["seconds"].sum()),
        "clicks_at_seams": 100 * float(one["clicks"].sum() / max(1.0, one["seams"].sum())),
        "clicks_elsewhere": (
            100 * float(one["clicks_elsewhere"].sum() / max(1.0, one["elsewhere"].sum()))
        ),
        "jumps_at_seams": 100 * float(one["jumps"].sum() / max(1.0, one["seams"].sum())),
        "seams": int(one["seams"].sum()),
    }


def main() -> int:
    parser = options(__doc__, "--results")
    parser.add_argument("out", type=Path, nargs="+", help="folders of scored experiments")
    arguments = parser.parse_args()
    parts = [folder for folder in arguments.out if scored(folder)]
    about = json.loads((parts[0] / "experiment.json").read_text(encoding="utf-8"))
    columns = dict[str, dict[str, Values]]()
    for name in about["conditions"]:
        read_parts = [read(folder / name) for folder in parts]
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
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
