"""Corpora of several speakers: a description beside those of one speaker each, whose items are
theirs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
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
    first = of_one_kind(path, infos)
    mean, std = mel_statistics(infos, {name: frames(path / name) for name in infos})
    splits = set(first.splits).intersection(*(info.splits for info in infos.values()))
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
        splits=dict.fromkeys(sorted(splits, key=list(first.splits).index), ()),
        complete=all(info.complete for info in infos.values()),
        mel_mean=tuple(mean.tolist()),
        mel_std=tuple(std.tolist()),
        joined=languages,
    )
    write_json(path / FILE, plain(whole))
    return whole


def of_one_kind(path: Path, infos: Mapping[str, CorpusInfo]) -> CorpusInfo:
    """The first corpus; ConfigError where another one is of another kind."""
    head, first = next(iter(infos.items()))
    for name, info in infos.items():
        for what in ("front_end", "phonemes", "pad", "punctuation"):
            if getattr(info, what) != getattr(first, what):
                raise ConfigError(f"{path / name} has another {what} than {path / head}.")
    return first


def mel_statistics(
    infos: Mapping[str, CorpusInfo], frame_counts: Mapping[str, int]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and deviation of all corpora's mel bands, of which each has so many frames."""
    shares = np.array([frame_counts[name] for name in infos]) / max(1, sum(frame_counts.values()))
    means = np.array([info.mel_mean for info in infos.values()])
    squares = np.array([info.mel_std for info in infos.values()]) ** 2 + means**2
    mean = shares @ means
    return mean, np.sqrt(np.maximum(shares @ squares - mean**2, 1e-8))


def frames(path: Path) -> int:
    """Frames to train on."""
    return int(Corpus(path).split("train").lengths.sum())
