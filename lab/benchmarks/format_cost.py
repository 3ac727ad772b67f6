"""What each format costs a server: processor time for a second of sound, synthesis included.

    python lab/benchmarks/format_cost.py [--out lab/benchmarks/results/format_cost.json]

Formats take turns, so that what else the machine does weighs on all alike; the median of each
counts."""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path

from output import tell_figures
from sayahead import load_voice
from sayahead.voice import Voice

TEXT = (
    "The museum opens at half past nine, and tickets cost twelve euros. Children under six are free"
    " of charge. " * 2
)
FORMATS = ("pcm_s16le", "wav", "mulaw", "flac", "opus", "aac", "mp3")
ROUNDS = 9


def cost(voice: Voice, name: str, seconds: float) -> float:
    """Seconds of processor time for a second of sound, of a text that has so many."""
    begun = time.process_time()
    for _ in voice.speak(TEXT).encoded(name):
        pass
    return (time.process_time() - begun) / seconds


def main() -> None:
    """Measure, and write milliseconds."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--out", type=Path, default=Path("lab/benchmarks/results/format_cost.json"))
    args = parser.parse_args()
    voice = load_voice("heart")
    seconds = len(voice.synthesize(TEXT)) / voice.sample_rate
    trials: dict[str, list[float]] = {name: [] for name in FORMATS}
    for _ in range(ROUNDS + 1):
        for name in FORMATS:
            trials[name].append(cost(voice, name, seconds))
    # The first round loads what is loaded once.
    medians = {name: round(1000 * statistics.median(each[1:]), 1) for name, each in trials.items()}
    tell_figures(medians, args.out)


if __name__ == "__main__":
    main()
