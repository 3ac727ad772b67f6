"""The default voice's cost beside a release's and hibari-tts's, in turns: processor time over sound.

    python benchmarks/faster.py RELEASE/src [--rounds 3] [--results FILE]

RELEASE is a checkout. Each round is a process of each version, one after the other; a process says sentences of 10, 20
and 40 words with one word of lookahead, whole, and with hibari-tts. Medians over the rounds.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

from tell import tell

MEASURE = """
import json, time
from sayahead import LookaheadK, WaitAll, load_voice
from sayahead.eval.speed.bench import load_peer, sentences, streamed
voice, peer = load_voice(), load_peer()
texts = [text for words in (10, 20, 40) for text in sentences(words, 4)]
def stream(text):
    return streamed(voice.session(policy=LookaheadK(1)), text)[1]
def whole(text):
    return len(voice.synthesize(text, policy=WaitAll())) / voice.sample_rate
ways = {"streamed": stream, "whole": whole, "hibari": lambda text: len(peer(text)) / 24000}
spent = {name: [0.0, 0.0] for name in ways}
for lap in range(2):
    for text in texts:
        for name, way in ways.items():
            begun = time.process_time()
            audio_s = way(text)
            if lap:
                spent[name][0] += time.process_time() - begun
                spent[name][1] += audio_s
print(json.dumps({name: seconds / audio_s for name, (seconds, audio_s) in spent.items()}))
"""


def measured(source: Path) -> dict[str, float]:
    """Processor time over sound of each way of speaking, by one version in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(source), "OMP_NUM_THREADS": "1"}
    run = subprocess.run([sys.executable, "-c", MEASURE], capture_output=True, text=True, check=True, env=environment)
    found: dict[str, float] = json.loads(run.stdout)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("release", type=Path, help="src of a checkout of the release")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--results", type=Path, help="write the table here (Markdown)")
    arguments = parser.parse_args()
    sources = {"release": arguments.release, "now": Path(__file__).parents[1] / "src"}
    runs: dict[str, list[dict[str, float]]] = {name: [] for name in sources}
    for _ in range(arguments.rounds):
        for name, source in sources.items():
            runs[name].append(measured(source))
    lines = [
        f"`python benchmarks/faster.py RELEASE/src --rounds {arguments.rounds}`: processor time over hibari-tts's, for "
        "as much sound in the same processes; medians of the rounds.",
        "",
        "| | word by word, k = 1 | whole sentences |",
        "|---|---:|---:|",
    ]
    for name, found in runs.items():
        ratios = [statistics.median(one[way] / one["hibari"] for one in found) for way in ("streamed", "whole")]
        lines.append(f"| {name} | {ratios[0]:.2f} | {ratios[1]:.2f} |")
    tell(lines, arguments.results)


if __name__ == "__main__":
    main()
