"""How well the package's aligner aligns: word onsets in the default voice's speech, and texts that were not spoken.

    python lab/benchmarks/aligner.py CORPUS RECORDINGS TEXTS.csv

``CORPUS`` is one of the default voice, with a val split (lab/recipes/aligner.toml); ``RECORDINGS`` a folder with wavs/,
whose texts TEXTS.csv has. Writes ``lab/benchmarks/results/aligner.md``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from sayahead.errors import ConfigError
from sayahead.text.english.phonemizer import PAUSES

from sayahead_lab.scripts import read_texts
from sayahead_lab.training.aligner.alignment import LEAST, load_aligner
from sayahead_lab.training.aligner.sounds import FRONT_END, UNSOUNDED
from sayahead_lab.training.corpus.aligned import AlignedSpec
from sayahead_lab.training.corpus.store import Corpus

ITEMS = 100


def onsets(corpus: Corpus) -> np.ndarray:
    """(N,) errors of word onsets in ms, over items of the val split."""
    symbols, errors = {number: symbol for symbol, number in corpus.info.phonemes.items()}, list[float]()
    split = corpus.split("val")
    for item in split[: min(ITEMS, len(split))]:
        read = [[symbols[int(number)] for number in item.ids[first:end]] for first, end in item.words]
        words = [[one for one in word if one not in UNSOUNDED and one not in PAUSES] for word in read]
        found = load_aligner().align(np.asarray(item.mel, np.float32), [word for word in words if word])
        begins = np.cumsum(item.durations)
        firsts = np.cumsum([0, *(len(word) for word in words)])[:-1]
        errors += [
            1000 * float(found.begin_s[first]) - 12.5 * float(begins[int(span[0])])
            for first, span, word in zip(firsts, item.words, words, strict=True)
            if word
        ]
    return np.array(errors)


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
    corpus, folder = Corpus(Path(sys.argv[1])), Path(sys.argv[2])
    errors = onsets(corpus)
    texts = {one.name: one.text for one in read_texts(Path(sys.argv[3]))}
    right, wrong = scores(folder, texts)
    lines = [
        "| | |",
        "| --- | --- |",
        f"| word onsets, the default voice's val split ({len(errors)} words): median error | "
        f"{np.median(np.abs(errors)):.0f} ms |",
        f"| 90 of 100 are within | {np.quantile(np.abs(errors), 0.9):.0f} ms |",
        f"| mean (bias) | {errors.mean():+.0f} ms |",
        f"| score of {len(right)} recordings with their own texts | {np.mean(right):.2f} "
        f"({min(right):.2f} to {max(right):.2f}) |",
        f"| with another's text ({len(wrong)} that are long enough) | {np.mean(wrong):.2f} "
        f"({min(wrong):.2f} to {max(wrong):.2f}) |",
        f"| least score that is taken | {LEAST:.2f} |",
    ]
    text = "\n".join(lines) + "\n"
    (Path(__file__).parent / "results" / "aligner.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
