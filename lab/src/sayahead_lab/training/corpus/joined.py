"""Corpora of several speakers: a description beside those of one speaker each, whose items are
theirs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from sayahead.errors import ConfigError

from sayahead_lab.training.corpus.making import plain, write_json
from sayahead_lab.training.corpus.store import ACCENT, Corpus, CorpusInfo, language_of, read_info

FILE = "corpus.json"


def join(path: Path, speakers: Sequence[str]) -> CorpusInfo:
    """Write the description of the corpus in ``path`` whose folders ``speakers`` are corpora, one a
    speaker.

    Mean and deviation are those of all. ConfigError where one is missing, is of another kind than
    the first (phonemes, frames, punctuation), or where the folder is a corpus of its own."""
    if not speakers:
        raise ConfigError("A corpus of several speakers needs their folders.")
    if (path / FILE).is_file() and not read_info(path).joined:
        raise ConfigError(
            f"{path} is a corpus of its own: name a folder that has the speakers' corpora in it."
        )
    infos = {name: read_info(path / name) for name in dict.fromkeys(speakers)}
    first, *_ = infos.values()
    for name, info in infos.items():
        for what in ("front_end", "phonemes", "pad", "punctuation"):
            if getattr(info, what) != getattr(first, what):
                raise ConfigError(
                    f"{path / name} has another {what} than {path / next(iter(infos))}."
                )
    mean = np.zeros(len(first.mel_mean))
    square = np.zeros(len(first.mel_mean))
    weights = {name: frames(path / name) for name in infos}
    for name, info in infos.items():
        share = weights[name] / max(1, sum(weights.values()))
        mean += share * np.array(info.mel_mean)
        square += share * (np.array(info.mel_std) ** 2 + np.array(info.mel_mean) ** 2)
    splits = [
        split for split in first.splits if all(split in info.splits for info in infos.values())
    ]
    kinds = {info.source.get("kind", "") for info in infos.values()}
    source = {"kind": kinds.pop() if len(kinds) == 1 else "", "voice": ", ".join(infos)}
    languages = {name: language_of(info) for name, info in infos.items()}
    source |= {ACCENT: "British"} if "en-GB" in languages.values() else {}
    whole = replace(
        first,
        source=source,
        texts={
            f"{name}/{split}": digest
            for name, info in infos.items()
            for split, digest in info.texts.items()
        },
        splits=dict.fromkeys(splits, ()),
        complete=all(info.complete for info in infos.values()),
        mel_mean=tuple(mean.tolist()),
        mel_std=tuple(np.sqrt(np.maximum(square - mean**2, 1e-8)).tolist()),
        joined=languages,
    )
    write_json(path / FILE, plain(whole))
    return whole


def frames(path: Path) -> int:
    """Frames to train on."""
    return int(Corpus(path).split("train").lengths.sum())
