"""A text of half an hour through one session: memory stays flat and a word costs the same at the
end as at the start.

    python lab/benchmarks/long_text.py [--minutes 30] [--endless] [--json FILE]

Sentences of 5 to 40 words are cut from a passage; with ``--endless`` there is no full stop at all.
The time of each SPEAK and the resident memory are noted minute by minute of the sound; slopes come
with their 95 % intervals."""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sayahead import load_voice

from sayahead_lab.eval.experiment.machine import pin, processor
from sayahead_lab.eval.measures.statistics import regress
from sayahead_lab.eval.speed.bench import PASSAGE


def words(endless: bool) -> Iterator[str]:
    """Words without end, in sentences of changing length."""
    passage = itertools.cycle(PASSAGE)
    for length in itertools.cycle(range(5, 41, 7)):
        for number in range(length):
            word = next(passage)
            yield word + ("." if number == length - 1 and not endless else "")


def resident_mb() -> float:
    """Resident memory of this process now (Linux)."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 2**20


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--minutes", type=float, default=30.0, help="minutes of sound (default: 30)"
    )
    parser.add_argument("--endless", action="store_true", help="one sentence that never ends")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    pin(None)
    voice = load_voice()
    session = voice.session()
    minutes: list[dict[str, float]] = []
    steps: list[float] = []
    spoken = 0
    heard = 0
    for word in words(arguments.endless):
        session.push(word + " ")
        before = time.perf_counter()
        while (chunk := session.pull()) is not None:
            now = time.perf_counter()
            steps.append(1000 * (now - before))
            before = now
            heard += len(chunk.samples)
            spoken += len(chunk.words)
        if heard >= (len(minutes) + 1) * 60 * voice.sample_rate:
            p50, p95 = (float(value) for value in np.quantile(steps, (0.5, 0.95)))
            times = {"word_ms_p50": p50, "word_ms_p95": p95, "word_ms_mean": float(np.mean(steps))}
            minutes.append(
                {"minute": len(minutes) + 1, "words": spoken, "rss_mb": resident_mb(), **times}
            )
            steps.clear()
        if len(minutes) >= arguments.minutes:
            break
    session.finish()
    while session.pull() is not None:
        pass
    number = [row["minute"] for row in minutes]
    result = {
        "machine": processor(),
        "endless_sentence": arguments.endless,
        "minutes_of_sound": len(minutes),
        "words": spoken,
        "rss_mb_after_1_min": minutes[0]["rss_mb"],
        "rss_mb_at_end": minutes[-1]["rss_mb"],
        "word_ms_p50_first_and_last_5_min": [
            statistics.median(row["word_ms_p50"] for row in part)
            for part in (minutes[:5], minutes[-5:])
        ],
        "word_ms_slope_per_minute_ci95": regress(number, [row["word_ms_p50"] for row in minutes])[
            1:
        ],
        "rss_mb_slope_per_minute_ci95": regress(number, [row["rss_mb"] for row in minutes])[1:],
        "minutes": minutes,
    }
    text = json.dumps(result, indent=1)
    if arguments.json:
        arguments.json.write_text(text + "\n", encoding="utf-8")
    print(json.dumps({key: value for key, value in result.items() if key != "minutes"}, indent=1))


if __name__ == "__main__":
    main()
