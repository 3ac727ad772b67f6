"""Whether two versions' graphs of one voice make the same sound, word by word.

    python lab/benchmarks/vits/same.py VOICE --before FOLDER --texts test.csv [--count 8] [--results FILE.json]

``--before`` is the same voice as another version added it. Loudness, which ``voices add`` measures anew, is made equal.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from output import tell_figures
from sayahead import LookaheadK, load_voice

from sayahead_lab.eval.experiment.machine import versions
from sayahead_lab.scripts import read_texts, strided


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("voice", help="a voice's name or folder")
    parser.add_argument("--before", type=Path, required=True)
    parser.add_argument("--texts", type=Path, required=True, help="lines of name|text")
    parser.add_argument("--count", type=int, default=8)
    parser.add_argument("--results", type=Path, help="write the figures here (JSON)")
    arguments = parser.parse_args()
    now, before = load_voice(arguments.voice), load_voice(arguments.before)
    gain, off = now.config.gain / before.config.gain, list[float | None]()
    for script in strided(read_texts(arguments.texts), arguments.count):
        one, two = (voice.synthesize(script.text, policy=LookaheadK(1)) for voice in (now, before))
        off.append(float(np.abs(one - gain * two).max()) if len(one) == len(two) else None)
    command = f"python lab/benchmarks/vits/same.py {now.config.name} --before OLD --texts test.csv --count {len(off)}"
    known = [value for value in off if value is not None]
    found = {
        "versions": versions(),
        "command": command,
        "sentences": len(off),
        "as_long": len(known),
        "most": max(known, default=None),
        "differences": off,
    }
    tell_figures(found, arguments.results)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
