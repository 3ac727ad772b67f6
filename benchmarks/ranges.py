"""What the default voice's linear layers are given while it speaks: the ranges with which they compute in integers.

    python benchmarks/ranges.py recipes/heart/ranges.json --texts val.csv [--acoustic RUN] [--count 16]

``--acoustic`` names the run whose networks they are; without one, they are those of hibari-tts.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from sayahead.training.heart.export import export
from sayahead.training.heart.ranges import observe, save_ranges
from sayahead.training.loop.trained import load_trained
from sayahead.training.voice import make_heart, write_voice


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ranges", type=Path, help="the file to write")
    parser.add_argument("--texts", type=Path, required=True, help="id|text lines")
    parser.add_argument("--acoustic", type=Path, help="a run of the task heart or heart-memory")
    parser.add_argument("--settings", type=Path, default=Path("recipes/heart/voice.toml"))
    parser.add_argument("--count", type=int, default=16)
    arguments = parser.parse_args()
    lines = [line.split("|", 1)[1] for line in arguments.texts.read_text(encoding="utf-8").splitlines()]
    texts = lines[:: max(1, len(lines) // arguments.count)][: arguments.count]
    run = None if arguments.acoustic is None else load_trained(arguments.acoustic)
    with tempfile.TemporaryDirectory() as passing:
        folder = Path(passing)
        make_heart(arguments.settings, folder, acoustic=run)
        files, _ = export(run, folder, observed=True)
        write_voice(folder, json.loads((folder / "voice.json").read_text(encoding="utf-8")), files)
        found = observe(folder, texts)
    save_ranges(found, arguments.ranges)
    print(f"{len(found)} ranges of {len(texts)} texts: {arguments.ranges}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
