"""The family's sentences by other listeners: whether a second opinion and a second recognizer agree
with the first.

    python lab/benchmarks/family.py TESTS --voices FOLDER --whisper WHISPER --sounds SOUNDS -o OUT
    python lab/benchmarks/second_listeners.py OUT SOUNDS --english ANOTHER --results FILE

Opinions are DistillMOS, which OUT has, and DNSMOS; agreement is Spearman's rank correlation over
voices, of what they are rated and of what they are below their teachers. The second recognizer
hears the English voices."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from family import TEACHER, recognizer, share
from output import keep
from sayahead.sound.files import read_wav
from sayahead.types import Floats

from sayahead_lab.eval.listening.blind_test import TEXTS
from sayahead_lab.eval.listening.listeners import at_16khz, load_dnsmos

COMPARED = (TEACHER, "k = 1")
HEAD = (
    "| voice | DistillMOS: teacher, k = 1 | DNSMOS: teacher, k = 1 | WER by the first, %: teacher,"
    " k = 1 | by the second: teacher, k = 1 |"
)


def sounds_of(folder: Path) -> dict[str, list[tuple[str, Floats, int]]]:
    """Texts, samples (S,) and their rate, by condition."""
    lines = dict(
        line.split("|", 1) for line in (folder / TEXTS).read_text(encoding="utf-8").splitlines()
    )
    heard = dict[str, list[tuple[str, Floats, int]]]()
    for condition in COMPARED:
        for name, text in lines.items():
            samples, rate = read_wav(folder / condition.replace(" ", "") / f"{name}.wav")
            heard.setdefault(condition, []).append((text, samples, rate))
    return heard


def ranks(values: Floats) -> Floats:
    """(N,) the place of each value in their order."""
    return np.argsort(np.argsort(values)).astype(np.float32)


def agreement(one: Floats, other: Floats) -> float:
    """Spearman's rank correlation."""
    return float(np.corrcoef(ranks(one), ranks(other))[0, 1])


def wrong(heard: dict[str, Any]) -> float:
    """Word errors, %."""
    return float(100 * sum(heard["errors"]) / sum(heard["words"]))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("figures", type=Path, metavar="OUT")
    parser.add_argument("sounds", type=Path, metavar="SOUNDS")
    parser.add_argument(
        "--english", type=Path, required=True, help="a second Whisper model, of English alone"
    )
    parser.add_argument("--results", type=Path, help="write the table here (Markdown)")
    arguments = parser.parse_args()
    rate = load_dnsmos()
    rows = [HEAD, "|---|---|---|---|---|"]
    first = list[Any]()
    second = list[Any]()
    for path in sorted(arguments.figures.glob("*.json")):
        figures = json.loads(path.read_text(encoding="utf-8"))
        sounds = sounds_of(arguments.sounds / path.stem)
        theirs = {
            condition: float(
                np.mean([rate(at_16khz(samples, hz)) for _, samples, hz in sounds[condition]])
            )
            for condition in COMPARED
        }
        ours = {condition: float(np.mean(figures[condition]["opinion"])) for condition in COMPARED}
        first.append([ours[condition] for condition in COMPARED])
        second.append([theirs[condition] for condition in COMPARED])
        words = ""
        if figures["language"].startswith("en"):
            recognize = recognizer(arguments.english, "en")
            counts = {
                condition: np.array(
                    [recognize(text, samples) for text, samples, _ in sounds[condition]], np.float64
                )
                for condition in COMPARED
            }
            words = ", ".join(f"{100 * share(found.sum(0)):.1f}" for found in counts.values())
        opinions = ", ".join(f"{ours[condition]:.2f}" for condition in COMPARED)
        others = ", ".join(f"{theirs[condition]:.2f}" for condition in COMPARED)
        errors = ", ".join(f"{wrong(figures[condition]):.1f}" for condition in COMPARED)
        rows.append(f"| {path.stem} | {opinions} | {others} | {errors} | {words} |")
        print(rows[-1], flush=True)
    one = np.array(first)
    other = np.array(second)
    rated = agreement(one[:, 1], other[:, 1])
    below = agreement(one[:, 1] - one[:, 0], other[:, 1] - other[:, 0])
    rows += [
        "",
        (
            f"Rank correlation of the two opinions over {len(one)} voices: {rated:.2f}, of what"
            f" they are below their teachers {below:.2f}. Below their teachers are"
            f" {(one[:, 1] < one[:, 0]).sum()} and {(other[:, 1] < other[:, 0]).sum()}."
        ),
    ]
    keep(rows, arguments.results)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
