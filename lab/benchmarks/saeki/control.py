"""The positive control of Saeki et al.'s Table I: does an experiment see the failure that both
papers report at N = 1?

    export SAYAHEAD_VOICES=voices
    for row in independent unicontext bicontext; do sayahead voices add --replace \
        archives/saeki-free-$row.tar.gz; done
    python lab/benchmarks/saeki/control.py lab/benchmarks/saeki/free.toml --texts test.csv \
        --count 20 \
        -o lab/benchmarks/results/saeki

Segments of N = 1, 2 and 3 words in every row of an experiment, and the share of them in which
attention or stop fail as ``segments.py`` counts it. "Our proposed method often outputs
unintelligible speech with N = 1" (a, III-A): an experiment in which nothing fails there cannot tell
what repairs it. Writes control.md. """

from __future__ import annotations

import numpy as np
from segments import Row, value  # type: ignore[import-not-found]

from sayahead_lab.eval.experiment.conditions import load_matrix
from sayahead_lab.eval.measures.intervals import Values
from sayahead_lab.results import options, publish, table
from sayahead_lab.scripts import texts_at

WORDS = (1, 2, 3)


def failing(row: Row, texts: list[str]) -> Values:
    """(N, 2) segments that fail, and segments, of each text."""
    spoken = [row.speak(text)[0] for text in texts]
    return np.array(
        [(sum(any(one.failures().values()) for one in own), len(own)) for own in spoken], np.float64
    )


def main() -> None:
    arguments = options(__doc__, "experiment", "texts", "set", "out", count=20).parse_args()
    texts = texts_at(arguments.texts, arguments.count)
    sums = dict[str, dict[int, Values]]()
    for words in WORDS:
        policy = ("conditions.*.policy", f"lookahead:k=0,words={words}")
        for condition in load_matrix(arguments.experiment, [policy, *arguments.set]).conditions:
            sums.setdefault(condition.name, {})[words] = failing(Row(condition, None), texts)
            print(condition.name, words, flush=True)
    rows = [
        [name, *(f"{value(one, 100, 1)} | {one[:, 1].sum():.0f}" for one in own.values())]
        for name, own in sums.items()
    ]
    heading = "segments" + "".join(f"|N = {words}|number" for words in WORDS)
    lines = [f"Segments that fail, %, of {len(texts)} sentences.", "", *table(heading, rows)]
    shares = {
        name: {
            str(words): 100 * float(one[:, 0].sum() / one[:, 1].sum()) for words, one in own.items()
        }
        for name, own in sums.items()
    }
    publish(arguments.out / "control.md", lines, shares)


if __name__ == "__main__":
    main()
