"""What a Kokoro voice costs by whole sentences, and in pieces of them.

    python lab/benchmarks/kokoro/speed.py VOICE [--results FILE.json]

Processor time of one thread for two short sentences, the lesser of two tries.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from output import tell_figures
from sayahead import Independent, WaitAll, load_voice

from sayahead_lab.eval.experiment.machine import versions

TEXTS = ("Hello there, my friend.", "Every word is said when the sentence is there.")
WAYS: dict[str, Any] = {"whole sentences": WaitAll(), "pieces of four words": Independent(words=4)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("voice", help="a voice's name or folder")
    parser.add_argument("--results", type=Path, help="write the figures here (JSON)")
    arguments = parser.parse_args()
    voice, figures = load_voice(arguments.voice), dict[str, Any]()
    for way, policy in WAYS.items():
        spent, seconds = 0.0, 0.0
        for text in TEXTS:
            tries = list[float]()
            for _ in range(2):
                start_s = time.thread_time()
                samples = voice.synthesize(text, policy=policy)
                tries.append(time.thread_time() - start_s)
            spent, seconds = spent + min(tries), seconds + len(samples) / voice.sample_rate
        figures[way] = {"rtf": spent / seconds, "seconds": seconds}
    about = {"voice": voice.config.name, "versions": versions(), "figures": figures}
    about["command"] = f"python lab/benchmarks/kokoro/speed.py {voice.config.name}"
    tell_figures(about, arguments.results)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
