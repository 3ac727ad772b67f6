"""How often a speaker pauses between two words: what a future would tell a segment, and what a
corpus may lack.

    sayahead train corpus corpus/lj32 --recordings LJ32 --train lj32.csv --punctuation all \
        --no-audio
    sayahead train corpus corpus/heart32 --train lj32.csv --punctuation final --no-audio
    python lab/benchmarks/saeki/pauses.py "LJ Speech's reader, all marks=corpus/lj32" \
        "default voice, final marks=corpus/heart32" -o lab/benchmarks/results/saeki

Corpora of the same 32 texts, LJ001-0001 to 0032. A gap is the time between the end of a word's last
sounding phoneme and the begin of the next one's first, spaces and marks included, within a
sentence. Beside it the deviation of pitch in voiced frames. Writes pauses.md.
"""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
from sayahead.types import Floats

from sayahead_lab.results import options, publish, table
from sayahead_lab.training.corpus.store import Corpus, Item

GAPS_MS = (100, 200)
VOICED_HZ = 40


def gaps_of(item: Item, frame_ms: float) -> list[float]:
    """Milliseconds between each two words that sound."""
    # The first pad is not among the ids.
    edges = np.concatenate([[0], np.cumsum(item.durations.astype(np.int64)[1:-1])])
    words = [(int(first), int(end)) for first, end in item.words if end > first]
    return [
        float(edges[after[0]] - edges[before[1]]) * frame_ms
        for before, after in itertools.pairwise(words)
    ]


def cents(items: list[Item]) -> float:
    """The deviation of pitch in voiced frames."""
    pitch: Floats = np.concatenate([item.f0.astype(np.float64) for item in items])
    return float((1200 * np.log2(pitch[pitch > VOICED_HZ])).std())


def measured(folder: Path, split: str) -> dict[str, float]:
    """A corpus's figures."""
    corpus = Corpus(folder)
    front = corpus.info.front_end
    items = list(corpus.split(split))
    frame_ms = 1000 * front.hop / front.sample_rate
    gaps = np.array([gap for item in items for gap in gaps_of(item, frame_ms)])
    shares = {f"at least {least} ms, %": 100 * float((gaps >= least).mean()) for least in GAPS_MS}
    return {
        "sentences": len(items),
        "boundaries": len(gaps),
        **shares,
        "pitch deviation, cents": cents(items),
    }


def main() -> None:
    parser = options(__doc__, "out", split="train")
    parser.add_argument("corpora", nargs="+", metavar="NAME=FOLDER")
    arguments = parser.parse_args()
    pairs = [one.partition("=") for one in arguments.corpora]
    found = {name: measured(Path(folder), arguments.split) for name, _, folder in pairs}
    rows = [
        [name, *(f"{value:.{0 if value > 20 else 1}f}" for value in own.values())]
        for name, own in found.items()
    ]
    lines = table("|".join(("speaker", *next(iter(found.values())))), rows)
    publish(arguments.out / "pauses.md", lines, {"corpora": found})


if __name__ == "__main__":
    main()
