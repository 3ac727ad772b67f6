"""The positive control of Saeki et al.'s Table I: does an experiment see the failure that both
papers report at N = 1?

    export SAYAHEAD_VOICES=voices
    for row in independent unicontext bicontext; do sayahead voices add \
        archives/saeki-free-$row.tar.gz; done
    python lab/benchmarks/saeki/control.py lab/benchmarks/saeki/free.toml --texts test.csv \
        --count 20 \
        -o lab/benchmarks/results/saeki

Segments of N = 1, 2 and 3 words in every row of an experiment, and the share of them in which
attention or stop fail as ``segments.py`` counts it. "Our proposed method often outputs
unintelligible speech with N = 1" (a, III-A): an experiment in which nothing fails there cannot tell
what repairs it. Writes control.md and control.json. """

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from segments import Row, value  # type: ignore[import-not-found]

from sayahead_lab.eval.experiment.conditions import load_matrix
from sayahead_lab.eval.measures.intervals import Values
from sayahead_lab.overrides import override
from sayahead_lab.scripts import read_texts, strided

WORDS = (1, 2, 3)


def failing(row: Row, texts: list[str]) -> Values:
    """(N, 2) segments that fail, and segments, of each text."""
    spoken = [row.speak(text)[0] for text in texts]
    return np.array(
        [(sum(any(one.failures().values()) for one in own), len(own)) for own in spoken], np.float64
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("experiment", type=Path)
    parser.add_argument("--texts", type=Path, required=True, help="id|text lines")
    parser.add_argument("--count", type=int, default=20, help="sentences")
    parser.add_argument(
        "--set", metavar="KEY=VALUE", type=override, action="append", help="as of sayahead eval run"
    )
    parser.add_argument("-o", "--out", type=Path, required=True)
    arguments = parser.parse_args()
    texts = [one.text for one in strided(read_texts(arguments.texts), arguments.count)]
    sums = dict[str, dict[int, Values]]()
    for words in WORDS:
        policy = ("conditions.*.policy", f"lookahead:k=0,words={words}")
        for condition in load_matrix(
            arguments.experiment, [policy, *(arguments.set or ())]
        ).conditions:
            sums.setdefault(condition.name, {})[words] = failing(Row(condition, None), texts)
            print(condition.name, words, flush=True)
    lines = [f"Segments that fail, %, of {len(texts)} sentences.", ""]
    lines += [
        f"| segments | {' | '.join(f'N = {words} | number' for words in WORDS)} |",
        "| --- |" + " ---: |" * 6,
    ]
    for name, own in sums.items():
        cells = (f"{value(one, 100, 1)} | {one[:, 1].sum():.0f}" for one in own.values())
        lines.append(f"| {name} | {' | '.join(cells)} |")
    shares = {
        name: {
            str(words): 100 * float(one[:, 0].sum() / one[:, 1].sum()) for words, one in own.items()
        }
        for name, own in sums.items()
    }
    arguments.out.mkdir(parents=True, exist_ok=True)
    (arguments.out / "control.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (arguments.out / "control.json").write_text(
        json.dumps(shares, indent=1) + "\n", encoding="utf-8"
    )
    print("\n".join(lines))


if __name__ == "__main__":
    main()
