"""Whether this package's listeners agree with a yardstick outside it on the same files.

    python benchmarks/agreement.py LIST.tsv WHISPER_DIR SCORES.json [--files N]

LIST.tsv holds ``wav path<TAB>text`` lines. SCORES.json is the yardstick's: ``rows`` with ``wav``, ``reference`` and
``hypothesis`` (normalised), ``distillmos`` and ``dnsmos``. Both are printed over the files of the list, with the
yardstick's error rates by jiwer; the exit code is 1 if WER or CER differ by more than 0.2 points or a predicted MOS by
more than 0.02.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import jiwer
import numpy as np
import soundfile

from sayahead.eval.quality import Listeners, Utterance, summarize

MOST = {"wer": 0.002, "cer": 0.002, "distillmos": 0.02, "dnsmos": 0.02}


def utterances(lines: list[str]) -> Iterator[Utterance]:
    """The files of the list, one at a time."""
    for line in lines:
        path, text = line.split("\t")
        samples, rate = soundfile.read(path, dtype="float32", always_2d=True)
        yield Utterance(path, text, samples[:, 0], rate)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("list", type=Path)
    parser.add_argument("whisper")
    parser.add_argument("scores", type=Path)
    parser.add_argument("--files", type=int, help="only so many, from the first")
    arguments = parser.parse_args()
    lines = arguments.list.read_text(encoding="utf-8").splitlines()[: arguments.files]
    rows = Listeners(arguments.whisper).score(utterances(lines))
    scored = {row["wav"]: row for row in json.loads(arguments.scores.read_text(encoding="utf-8"))["rows"]}
    theirs = [scored[row.name] for row in rows]
    references, hypotheses = [row["reference"] for row in theirs], [row["hypothesis"] for row in theirs]
    yardstick = {
        "wer": jiwer.wer(references, hypotheses),
        "cer": jiwer.cer(references, hypotheses),
        "distillmos": float(np.mean([row["distillmos"] for row in theirs])),
        "dnsmos": float(np.mean([row["dnsmos"] for row in theirs])),
    }
    ours = summarize(rows)
    for row, other in zip(rows, theirs, strict=True):
        if row.hypothesis != other["hypothesis"]:
            print(f"{row.name}: heard {row.hypothesis!r}, the yardstick {other['hypothesis']!r}")
    apart = False
    for column, most in MOST.items():
        value, expected = ours[column].value, yardstick[column]
        apart |= abs(value - expected) > most
        print(f"{column:12} {value:.5f}, yardstick {expected:.5f}, difference {value - expected:+.5f} (most {most})")
    sys.exit(int(apart))


if __name__ == "__main__":
    main()
