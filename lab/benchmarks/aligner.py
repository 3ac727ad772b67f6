"""How well the package's aligner aligns: edges in speech whose durations are exact, and texts that
were not spoken.

    python lab/benchmarks/aligner.py CORPUS RECORDINGS TEXTS.csv

``CORPUS`` has exact durations and a val split, of one speaker or several
(lab/recipes/aligner.toml); ``RECORDINGS`` is a folder with wavs/, whose texts TEXTS.csv has. Writes
``lab/benchmarks/results/aligner.md``."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from sayahead.errors import ConfigError
from sayahead.text.saying.english.phonemizer import PAUSES

from sayahead_lab.eval.measures.intervals import ConfidenceInterval
from sayahead_lab.results import table, tell
from sayahead_lab.scripts import read_texts
from sayahead_lab.training.aligner.alignment import LEAST, load_aligner
from sayahead_lab.training.aligner.sounds import FRONT_END
from sayahead_lab.training.corpus.aligned import AlignedSpec
from sayahead_lab.training.corpus.store import Corpus

MS = 1000 * FRONT_END.hop / FRONT_END.sample_rate
"""Of a frame."""


def edges(corpus: Corpus) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Errors in ms of the beginnings of all phonemes (N,), and of those of words (M,), by speaker,
    in the val split."""
    symbols = {number: symbol for symbol, number in corpus.info.phonemes.items()}
    found = dict[str, list[tuple[np.ndarray, np.ndarray]]]()
    for item in corpus.split("val"):
        read = "".join(symbols[int(number)] for number in item.ids)
        times = load_aligner().align(np.asarray(item.mel, np.float32), read)
        exact = MS * np.cumsum(item.durations.astype(np.int64))[: len(read.rstrip(PAUSES))]
        errors = 1000 * times.begin_s[: len(exact)] - exact
        words = [int(first) for first, _ in item.words if first < len(exact)]
        found.setdefault(item.speaker, []).append((errors, errors[words]))
    return {
        name: (np.concatenate([one[0] for one in rows]), np.concatenate([one[1] for one in rows]))
        for name, rows in found.items()
    }


def row(name: str, errors: np.ndarray, onsets: np.ndarray) -> list[str]:
    """A row of the table."""
    size = np.abs(errors)
    within = f"{np.quantile(size, 0.9):.0f}"
    figures = [f"{size.mean():.0f}", within, f"{errors.mean():+.0f}"]
    return [name, str(len(errors)), *figures, f"{np.abs(onsets).mean():.0f}"]


def scores(folder: Path, texts: dict[str, str]) -> tuple[list[float], list[float]]:
    """Scores of recordings with their own texts, and with the text of another one."""
    source = AlignedSpec(FRONT_END, folder).open()
    names = sorted(texts)
    found: tuple[list[float], list[float]] = ([], [])
    for at, name in enumerate(names):
        for kind, text in enumerate((texts[name], texts[names[(at + 7) % len(names)]])):
            try:
                found[kind].append(source.score(name, text))
            except ConfigError:
                continue
    return found


def main() -> None:
    corpus = Corpus(Path(sys.argv[1]))
    folder = Path(sys.argv[2])
    found = edges(corpus)
    texts = {one.name: one.text for one in read_texts(Path(sys.argv[3]))}
    right, wrong = scores(folder, texts)
    both = [np.concatenate(parts) for parts in zip(*found.values(), strict=True)]
    rows = [row(name or "the corpus", *errors) for name, errors in found.items()]
    recordings = [
        [
            f"{len(right)} recordings with their own texts",
            f"{ConfidenceInterval.spread(right):.2f}",
        ],
        [
            f"with another's text ({len(wrong)} that are long enough)",
            f"{ConfidenceInterval.spread(wrong):.2f}",
        ],
        ["least score that is taken", f"{LEAST:.2f}"],
    ]
    heading = (
        "speaker|edges|mean error, ms|90 of 100 within, ms|bias, ms|word onsets: mean error, ms"
    )
    lines = [*table(heading, [*rows, row("all", *both)]), "", *table("|score", recordings)]
    tell(lines, Path(__file__).parent / "results" / "aligner.md")


if __name__ == "__main__":
    main()
