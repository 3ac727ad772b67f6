"""The quality of a Piper voice word by word on many sentences, in parts: whatever is done by the
end counts.

    python lab/benchmarks/vits/quality.py --texts test.csv --count 200 -o OUT [--minutes 60] \
        [--score PYTHON]
        --whisper FOLDER
    python lab/benchmarks/vits/report.py OUT/part* -o lab/benchmarks/results/vits

The texts are dealt into parts of 20, each of which is strided over the whole list. A part is an
experiment of its own (``piper.toml``), spoken and then scored; a programme that was stopped goes on
where it was, within a part as well. No part is begun after ``--minutes``. ``--score`` names another
Python for the listeners, which need torch."""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from sayahead_lab.scripts import ScriptLine, read_texts, strided

EXPERIMENT = Path(__file__).with_name("piper.toml")
SIZE = 20


def dealt(texts: Sequence[ScriptLine]) -> list[Sequence[ScriptLine]]:
    """Parts of about ``SIZE`` texts, each from the whole list."""
    count = max(1, round(len(texts) / SIZE))
    return [texts[part::count] for part in range(count)]


def sayahead(python: str, *arguments: str) -> None:
    """Run a command of the package; CalledProcessError if it fails."""
    subprocess.run([python, "-m", "sayahead", *arguments], check=True)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--texts", type=Path, required=True, help="lines of name|text")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--whisper", required=True, help="Whisper for faster-whisper")
    parser.add_argument("--score", metavar="PYTHON", default=sys.executable)
    parser.add_argument("-o", "--out", type=Path, required=True)
    arguments = parser.parse_args()
    end = time.monotonic() + 60 * arguments.minutes
    for number, part in enumerate(dealt(strided(read_texts(arguments.texts), arguments.count))):
        folder = arguments.out / f"part{number}"
        texts = folder.with_suffix(".csv")
        done = folder.with_suffix(".done")
        if done.is_file() or time.monotonic() > end:
            continue
        arguments.out.mkdir(parents=True, exist_ok=True)
        texts.write_text("".join(f"{one.name}|{one.text}\n" for one in part), encoding="utf-8")
        sayahead(
            sys.executable, "eval", "run", str(EXPERIMENT), "--texts", str(texts), "-o", str(folder)
        )
        score = [
            "eval",
            "score",
            str(folder),
            "--whisper",
            arguments.whisper,
            "--without",
            "dnsmos",
        ]
        sayahead(arguments.score, *score)
        done.touch()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
