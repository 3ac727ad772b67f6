"""How many of a sentence's steps must see the long tail, by the pitch of beginnings; no sentence is
spoken to its end.

    python lab/benchmarks/vits/beginnings.py VOICE --texts val.csv [--count 100] [--k 0] \
        [--long-steps 1 2 3 5]
        [--results FILE.json]

VOICE is a folder of kind ``vits``. Its ``long_steps`` is each of the numbers in turn (at k = 0 one
step more sees the tail: ``VitsConfig``); what it then says in the first half second is compared
with the mean of two seeds of its whole sentences, in semitones (Boersma's method).
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1]))

from output import tell_figures
from sayahead import Voice, load_voice
from sayahead.research import LookaheadK, WaitAll
from sayahead.sound.pcm import audible
from sayahead.sound.pitch import HOP_S, pitch_hz

from sayahead_lab.eval.experiment.machine import versions
from sayahead_lab.scripts import read_texts, strided

BEGINNING_S = 0.5
DRAWS = 5000
HEARD_S = 3 * BEGINNING_S
"""Seconds of a sentence that are spoken."""


def with_steps(folder: Path, steps: int, scratch: Path) -> Voice:
    """The voice with another count of steps that see the long tail."""
    copy = Path(shutil.copytree(folder, scratch / str(steps)))
    about = json.loads((folder / "voice.json").read_text(encoding="utf-8"))
    about["model"]["long_steps"] = steps
    (copy / "voice.json").write_text(json.dumps(about), encoding="utf-8")
    return load_voice(copy, verify=False)


def beginning(voice: Voice, text: str, **options: Any) -> float:
    """Pitch in semitones over 100 Hz of the first half second after the first audible sample; nan
    without voice."""
    session = voice.session(**options)
    parts = [np.zeros(0, np.float32)]
    wanted = HEARD_S * voice.sample_rate
    session.push(text)
    session.finish()
    while sum(len(part) for part in parts) < wanted and (chunk := session.pull()) is not None:
        parts.append(chunk.samples)
    samples = np.concatenate(parts)[: int(wanted)]
    heard = audible(samples)
    first = int(heard[0] / voice.sample_rate / HOP_S) if len(heard) else 0
    pitch = pitch_hz(samples, voice.sample_rate)[first : first + round(BEGINNING_S / HOP_S)]
    return (
        float(12 * np.log2(np.median(pitch[pitch > 0]) / 100))
        if (pitch > 0).any()
        else float("nan")
    )


def interval(change: NDArray[np.float64]) -> dict[str, float]:
    """A mean of paired differences with its 95 % bootstrap interval; those that are nan are left
    out."""
    known = change[np.isfinite(change)]
    draws = np.random.default_rng(0).integers(0, len(known), (DRAWS, len(known)))
    low, high = np.percentile(known[draws].mean(axis=1), [2.5, 97.5])
    return {"mean": float(known.mean()), "low": float(low), "high": float(high)}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("voice", type=Path, help="the folder of a voice")
    parser.add_argument("--texts", type=Path, required=True, help="lines of name|text")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--k", type=int, default=0, help="words of lookahead")
    parser.add_argument("--long-steps", type=int, nargs="+", default=[1, 2, 3, 5], dest="steps")
    parser.add_argument("--results", type=Path, help="write the figures here (JSON)")
    arguments = parser.parse_args()
    texts = [script.text for script in strided(read_texts(arguments.texts), arguments.count)]
    whole = load_voice(arguments.voice)
    figures = dict[str, dict[str, float]]()
    seeds = [
        np.array([beginning(whole, text, policy=WaitAll(), seed=seed) for text in texts])
        for seed in (0, 1)
    ]
    base = (seeds[0] + seeds[1]) / 2
    figures["whole"] = interval(seeds[0] - base)
    with tempfile.TemporaryDirectory() as scratch:
        for steps in arguments.steps:
            voice = with_steps(arguments.voice, steps, Path(scratch))
            made = [beginning(voice, text, policy=LookaheadK(arguments.k)) for text in texts]
            figures[f"k = {arguments.k}, long_steps = {steps}"] = interval(np.array(made) - base)
            print(steps, figures[f"k = {arguments.k}, long_steps = {steps}"], flush=True)
    numbers = " ".join(map(str, arguments.steps))
    command = (
        f"python lab/benchmarks/vits/beginnings.py {arguments.voice.name} --texts"
        f" {arguments.texts.name}"
    )
    command += f" --count {len(texts)} --k {arguments.k} --long-steps {numbers}"
    tell_figures(
        {"versions": versions(), "command": command, "semitones_off": figures}, arguments.results
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
