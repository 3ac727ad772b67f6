"""Two speakers and 200 changes: the same sound in any split, the gaps between turns, and what a
change costs.

    python lab/benchmarks/dialogue.py --json lab/benchmarks/results/dialogue.json

A gap is silence (below -50 dBFS) around a change of speakers. What is longer than the pause after a
sentence of the voice that has spoken is beyond it.
"""

from __future__ import annotations

import argparse
import itertools
import random
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from output import tell_figures
from sayahead import load_voice
from sayahead.casting import Speakers
from sayahead.research import SessionOptions
from sayahead.types import Floats, WordTiming

CHANGES = 200
SPLITS = 3
RATE = 24000
LINES = {
    "Ann": [
        "Good morning, Ben.",
        "Did you hear the news?",
        "I had no idea!",
        "Well, that is all for today.",
    ],
    "Ben": [
        "Good morning to you.",
        "Not yet, tell me.",
        "Nor had I, to be honest.",
        "See you next week.",
    ],
}


def script() -> str:
    """Turns of the two, one after the other."""
    names = ("Ann", "Ben")
    return "".join(
        f"{names[n % 2]}: {LINES[names[n % 2]][n // 2 % 4]}\n" for n in range(CHANGES + 1)
    )


def spoken(speakers: Speakers, text: str, seed: int | None) -> tuple[Floats, list[WordTiming]]:
    """The sound and the words of a script, whole or in pieces of any size."""
    session = speakers.session()
    draw = random.Random(seed)
    samples = []
    words = list[WordTiming]()
    while text:
        size = len(text) if seed is None else draw.randint(1, 20)
        session.push(text[:size])
        text = text[size:]
        for chunk in session.chunks():
            samples.append(chunk.samples)
            words += chunk.words
    session.finish()
    for chunk in session.chunks():
        samples.append(chunk.samples)
        words += chunk.words
    return np.concatenate(samples), words


def gaps(samples: Floats, words: list[WordTiming]) -> list[float]:
    """Seconds of silence at each change of speakers."""
    loud = np.flatnonzero(np.abs(samples) > 10 ** (-50 / 20))
    found = []
    for last, word in itertools.pairwise(words):
        if last.speaker != word.speaker:
            middle = np.searchsorted(loud, (last.offset_samples + word.onset_samples) // 2)
            near = slice(max(0, middle - 4000), middle + 4000)
            found.append(float(np.diff(loud[near]).max()) / RATE)
    return found


def main() -> int:
    """Measure; the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    results: dict[str, Any] = {"changes": CHANGES, "pairs": {}}
    for first, second in (("heart", "am_michael"), ("am_michael", "af_bella")):
        cast = {"Ann": load_voice(first), "Ben": load_voice(second)}
        speakers = Speakers(cast, SessionOptions())
        text = script()
        begun = time.process_time()
        samples, words = spoken(speakers, text, None)
        spent_s = time.process_time() - begun
        begun = time.process_time()
        for _ in range(CHANGES):
            cast["Ben"].session()
        change_ms = (time.process_time() - begun) / CHANGES * 1000
        same = sum(
            bool(np.array_equal(samples, spoken(speakers, text, seed)[0])) for seed in range(SPLITS)
        )
        silence = np.array(gaps(samples, words))
        pause_s = cast["Ann"].config.pause_s
        results["pairs"][f"{first}, {second}"] = {
            "changes heard": len(silence),
            "same sound": f"{same} of {SPLITS} splits",
            "pause_s": pause_s,
            "gap_s": {
                "least": round(silence.min(), 4),
                "median": round(float(np.median(silence)), 4),
            },
            "most_beyond_pause_ms": round((silence.max() - pause_s) * 1000, 1),
            "rtf": round(spent_s / (len(samples) / RATE), 4),
            "session_ms": round(change_ms, 3),
        }
    tell_figures(results, arguments.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
