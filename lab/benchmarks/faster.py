"""The default voice's cost beside a release's and hibari-tts's, in turns: processor time over sound.

    python lab/benchmarks/faster.py RELEASE/src [--rounds 3] [--results FILE]

RELEASE is a checkout. Both versions say each sentence in turns, each in a process of its own: one of 10, 20 or 40 words
with one word of lookahead, whole, and with hibari-tts. A first round does not count; medians over the others.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

from output import tell
from release import beside_release
from served import SOURCE

MEASURE = """
import json, sys, time
from sayahead import LookaheadK, WaitAll, load_voice
from sayahead_lab.eval.speed.bench import load_peer, sentences, streamed
voice, peer = load_voice(), load_peer()
texts = [text for words in (10, 20, 40) for text in sentences(words, 4)]
def stream(text):
    return streamed(voice.session(policy=LookaheadK(1)), text)[1]
def whole(text):
    return len(voice.synthesize(text, policy=WaitAll())) / voice.sample_rate
ways = {"streamed": stream, "whole": whole, "hibari": lambda text: len(peer(text)) / 24000}
print(len(texts), flush=True)
for line in sys.stdin:
    spent = {}
    for name, way in ways.items():
        begun = time.process_time()
        audio_s = way(texts[int(line)])
        spent[name] = time.process_time() - begun, audio_s
    print(json.dumps(spent), flush=True)
"""


class Version:
    """One version in a process of its own."""

    def __init__(self, source: Path) -> None:
        environment = {**os.environ, "PYTHONPATH": str(source), "OMP_NUM_THREADS": "1"}
        command, pipe = [sys.executable, "-c", MEASURE], subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environment)
        self.texts = int(self._line())

    def said(self, number: int) -> dict[str, tuple[float, float]]:
        """Processor time and seconds of sound of each way of saying a text."""
        assert self._process.stdin is not None
        print(number, file=self._process.stdin, flush=True)
        found: dict[str, tuple[float, float]] = json.loads(self._line())
        return found

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()


def shares(said: list[dict[str, tuple[float, float]]]) -> dict[str, float]:
    """Processor time over sound of each way, for all texts of a round."""
    return {way: sum(one[way][0] for one in said) / sum(one[way][1] for one in said) for way in said[0]}


def main() -> None:
    arguments = beside_release(__doc__, rounds=3).parse_args()
    sources = {"release": arguments.release, "now": SOURCE}
    versions = {name: Version(source) for name, source in sources.items()}
    runs: dict[str, list[dict[str, float]]] = {name: [] for name in sources}
    for lap in range(1 + arguments.rounds):
        said: dict[str, list[dict[str, tuple[float, float]]]] = {name: [] for name in sources}
        for number in range(versions["now"].texts):
            for name in sorted(versions, reverse=bool((lap + number) % 2)):
                said[name].append(versions[name].said(number))
        for name in versions if lap else ():
            runs[name].append(shares(said[name]))
    lines = [
        f"`python lab/benchmarks/faster.py RELEASE/src --rounds {arguments.rounds}`: processor time over hibari-tts's, "
        "for as much sound in the same processes; medians of the rounds.",
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
