"""A corpus of tones: what networks can learn in seconds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sayahead_lab.training.corpus.frontend import MelFrontEnd
from sayahead_lab.training.corpus.making import make_corpus
from sayahead_lab.training.corpus.store import About, Corpus, Item

PAD = 0
SPACE = 1
SYMBOLS = {" ": SPACE, "a": 2, "b": 3, "c": 4, "d": 5, ".": 6}


@dataclass(frozen=True, slots=True)
class Tones:
    """A corpus without sound: each phoneme has a spectrum of its own, plus noise."""

    front_end: MelFrontEnd = MelFrontEnd()  # noqa: RUF009

    def about(self) -> About:
        return About(self.front_end, SYMBOLS, PAD, {"kind": "tones"}, "final", seed=0)

    def open(self) -> Tones:
        return self

    def items(self, name: str, text: str) -> tuple[list[Item], list[str]]:
        draw = np.random.default_rng(int(name))
        ids = np.array([SYMBOLS[letter] for letter in text], np.int16)
        durations = 2 * draw.integers(1, 6, len(ids) + 2).astype(np.int16)
        spectra = np.random.default_rng(1).normal(size=(len(SYMBOLS) + 1, 80))
        mel = np.repeat(spectra[np.concatenate([[PAD], ids, [PAD]])], durations, axis=0)
        mel = (mel + 0.1 * draw.normal(size=mel.shape)).astype(np.float16)
        ends = np.append(np.flatnonzero(ids == SPACE), len(ids) - 1)
        starts = np.insert(ends[:-1] + 1, 0, 0)
        words = np.stack([starts, ends], 1).astype(np.int16)
        return [Item(name, text, ids, words, durations, np.zeros(len(mel), np.float16), mel)], []


class Hummed(Tones):
    """With sound: a pulse train at 100 Hz under noise."""

    def items(self, name: str, text: str) -> tuple[list[Item], list[str]]:
        items, said = super().items(name, text)
        return [
            replace(item, f0=np.full(len(item.mel), 100, np.float16), audio=hum(item))
            for item in items
        ], said


def hum(item: Item) -> NDArray[np.int16]:
    """(300 T,) samples of an item at 24 kHz."""
    draw = np.random.default_rng(len(item.mel))
    samples = 300 * draw.normal(size=300 * len(item.mel))
    samples[::240] += 8000
    return samples.astype(np.int16)


def tones_corpus(path: Path, tones: Tones | None = None) -> Corpus:
    """Seventeen short texts to train on, four to validate."""
    draw = np.random.default_rng(3)
    words = ["".join(draw.choice(list("abcd"), 3)) for _ in range(9)]
    texts = [(str(i), " ".join(draw.choice(words, draw.integers(2, 6))) + ".") for i in range(21)]
    make_corpus(path, tones or Tones(), {"train": texts[:17], "val": texts[17:]}, shard_texts=8)
    return Corpus(path)
