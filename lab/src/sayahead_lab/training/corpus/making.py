"""Making corpora: texts in shards, by several workers, resumable."""

from __future__ import annotations

import hashlib
import importlib.metadata
import itertools
import json
import os
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from sayahead.errors import ConfigError

from sayahead_lab.training.corpus.frontend import MelFrontEnd
from sayahead_lab.training.corpus.store import FORMAT, About, CorpusInfo, Item, read_info
from sayahead_lab.workers import Local, Work, Workers

Texts = Sequence[tuple[str, str]]
ORDER = ("val", "test")
"""Splits to make first: they are small, and every training needs them."""
PROGRESS = ("splits", "complete", "mel_mean", "mel_std", "joined")
"""Fields of a description that change while the corpus is made, or that only a joined one has."""
PACKAGES = ("numpy", "onnxruntime", "hibari-tts", "soxr")


class ItemSource(Protocol):
    """Turns texts into items."""

    def items(self, name: str, text: str) -> tuple[list[Item], list[str]]:
        """The items of a text, and a line for each part left out."""
        ...


class Spec(Protocol):
    """A corpus's settings for its source; sent to the workers that make shards."""

    def about(self) -> About:
        """What it says of the corpus."""
        ...

    def open(self) -> ItemSource:
        """The source, loaded."""
        ...


@dataclass(frozen=True, slots=True)
class ShardJob:
    """A shard to make."""

    path: Path
    """Its folder."""
    texts: Texts
    """Name and text of each."""

    @property
    def name(self) -> str:
        """Split and number."""
        return f"{self.path.parent.name}/{self.path.name}"


@dataclass(frozen=True, slots=True)
class ShardContents:
    """A shard's contents, before they are written."""

    arrays: Mapping[str, Any]
    """Its arrays by name."""
    listed: Mapping[str, Any]
    """Contents of names.json."""
    sums: Mapping[str, Any]
    """Contents of statistics.json: sums over its frames."""


def make_corpus(
    path: Path,
    spec: Spec,
    splits: Mapping[str, Texts],
    *,
    workers: Workers | None = None,
    shard_texts: int = 250,
    note: Callable[[str], None] = lambda line: None,
) -> CorpusInfo:
    """Make the missing shards of a corpus, and its description; ``note`` gets a line for each
    shard. Without workers, this process makes them.

    Existing shards of the same description are kept; ConfigError for others. The bytes do not
    depend on ``workers`` nor on interruptions.
    """
    plan = {name: cut(path / name, splits[name], shard_texts) for name in sorted(splits, key=rank)}
    info = describe(spec, splits, shard_texts)
    path.mkdir(parents=True, exist_ok=True)
    if (path / "corpus.json").is_file():
        check_same(path, read_info(path), info)
    write_info(path, info, plan)
    open_jobs = [job for shards in plan.values() for job in shards if not job.path.is_dir()]
    progress = ShardProgress(
        sum(len(job.texts) for job in open_jobs), len(open_jobs), info.front_end, note
    )
    with (workers or Local()).open(partial(maker, spec)) as spread:
        for job, shard in spread(open_jobs, lambda job: f"Shard {job.name}"):
            put(shard, job, fingerprint(info))
            write_info(path, info, plan)
            progress.shard(job)
    return read_info(path)


def rank(split: str) -> tuple[int, str]:
    """Sort key of splits: the order of making them."""
    return (ORDER.index(split) if split in ORDER else len(ORDER), split)


def cut(folder: Path, texts: Texts, size: int) -> list[ShardJob]:
    """Jobs of ``size`` texts."""
    starts = range(0, len(texts), size)
    return [
        ShardJob(folder / f"{number:05d}", texts[at : at + size])
        for number, at in enumerate(starts)
    ]


def describe(spec: Spec, splits: Mapping[str, Texts], shard_texts: int) -> CorpusInfo:
    """The description of the corpus before any of it is made."""
    about = spec.about()
    digests = {
        name: hashlib.sha256(
            "".join(f"{key}|{text}\n" for key, text in splits[name]).encode()
        ).hexdigest()
        for name in sorted(splits, key=rank)
    }
    versions = {name: version for name in PACKAGES if (version := installed(name))}
    return CorpusInfo(
        **{field.name: getattr(about, field.name) for field in fields(About)},
        format=FORMAT,
        texts=digests,
        shard_texts=shard_texts,
        versions=versions,
        splits=dict.fromkeys(digests, ()),
        complete=False,
        mel_mean=(),
        mel_std=(),
    )


def installed(name: str) -> str | None:
    """A package's version, or None where it is not installed."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def check_same(path: Path, existing: CorpusInfo, info: CorpusInfo) -> None:
    """ConfigError where the existing corpus has another description."""
    before = plain(existing)
    after = plain(info)
    for key, value in after.items():
        if key in PROGRESS or before[key] == value:
            continue
        where = f"{key} was {before[key]!r} and is {value!r}"
        if isinstance(value, dict):
            keys = [k for k in {**before[key], **value} if before[key].get(k) != value.get(k)]
            where = f"the {key} differ ({', '.join(keys[:3])})"
        raise ConfigError(
            f"{path} holds a corpus made in another way: {where}. Name another folder."
        )


def fingerprint(info: CorpusInfo) -> str:
    """SHA-256 of a description without the fields that grow with the shards; each shard stores
    it."""
    fixed = {key: value for key, value in plain(info).items() if key not in PROGRESS}
    return hashlib.sha256(json.dumps(fixed, sort_keys=True).encode()).hexdigest()


def maker(spec: Spec) -> Work:
    """Makes the shards of jobs, with a source loaded once."""
    return partial(make_shard, spec.open())


def make_shard(source: ItemSource, job: ShardJob) -> ShardContents:
    """The shard of a job."""
    items: list[Item] = []
    left_out: list[str] = []
    for name, text in job.texts:
        sentences, missing = source.items(name, text)
        items += sentences
        left_out += missing
    listed = {
        "names": [item.name for item in items],
        "texts": [item.text for item in items],
        "left_out": left_out,
    }
    total, squares = np.zeros((2, 1))
    for item in items:
        rows = item.mel.astype(np.float64)
        total = total + rows.sum(axis=0)
        squares = squares + (rows**2).sum(axis=0)
    sums = {
        "frames": sum(len(item.mel) for item in items),
        "sum": total.tolist(),
        "squares": squares.tolist(),
    }
    return ShardContents(joined(items), listed, sums)


def put(shard: ShardContents, job: ShardJob, corpus: str) -> None:
    """Write a shard of the corpus with that fingerprint to a temporary folder, and move it in place
    when whole."""
    draft = job.path.parent / f".{job.path.name}"
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(parents=True)
    for name, array in shard.arrays.items():
        np.save(draft / f"{name}.npy", array)
    write_json(draft / "names.json", shard.listed)
    write_json(draft / "statistics.json", {"corpus": corpus, **shard.sums})
    os.rename(draft, job.path)


EMPTY: dict[str, tuple[Any, ...]] = {
    "ids": (np.int16,),
    "words": (np.int16, 2),
    "durations": (np.int16,),
    "f0": (np.float16,),
    "mel": (np.float16, 0),
    "audio": (np.int16,),
    "features": (np.float16, 0),
    "energy": (np.float16,),
}
"""Arrays of a shard: dtype, and columns if there are no items."""


def joined(items: Sequence[Item]) -> dict[str, Any]:
    """The arrays of a shard by file name."""
    arrays: dict[str, Any] = {}
    for name, (kind, *shape) in EMPTY.items():
        parts = [getattr(item, name) for item in items]
        if parts and parts[0] is None:
            continue
        arrays[name] = np.concatenate(parts).astype(kind) if parts else np.zeros((0, *shape), kind)
    for name, lengths in (
        ("ids", [len(item.ids) for item in items]),
        ("words", [len(item.words) for item in items]),
        ("frames", [len(item.mel) for item in items]),
    ):
        arrays[f"{name}_at"] = np.array([0, *itertools.accumulate(lengths)], np.int64)
    arrays["durations_at"] = arrays["ids_at"] + 2 * np.arange(len(items) + 1)
    return arrays


def write_info(path: Path, info: CorpusInfo, plan: Mapping[str, Sequence[ShardJob]]) -> None:
    """Write corpus.json for the shards that are there; ConfigError where one is of another
    corpus."""
    there = {name: [job for job in shards if job.path.is_dir()] for name, shards in plan.items()}
    sums = {
        job.path: read_sums(job, fingerprint(info)) for shards in there.values() for job in shards
    }
    parts = [sums[job.path] for job in there.get("train", [])] or list(sums.values())
    frames = max(1, sum(shard["frames"] for shard in parts))
    total = sum((np.array(shard["sum"]) for shard in parts), np.zeros(1))
    mean = total / frames
    squares = sum((np.array(shard["squares"]) for shard in parts), np.zeros(1)) / frames
    data = plain(info)
    data["splits"] = {name: [job.path.name for job in shards] for name, shards in there.items()}
    data["complete"] = all(len(there[name]) == len(shards) for name, shards in plan.items())
    data["mel_mean"] = mean.tolist()
    data["mel_std"] = np.sqrt(np.maximum(squares - mean**2, 1e-8)).tolist()
    write_json(path / "corpus.json", data)


def read_sums(job: ShardJob, corpus: str) -> dict[str, Any]:
    """A shard's sums over its frames; ConfigError where they are damaged, or the shard belongs to
    another corpus."""
    file = job.path / "statistics.json"
    try:
        sums: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        same = sums["corpus"] == corpus
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigError(
            f"{file} is damaged: remove the folder {job.path}, and it is made anew."
        ) from error
    if not same:
        raise ConfigError(
            f"{job.path} belongs to a corpus that was made in another way: name another folder."
        )
    return sums


def plain(info: CorpusInfo) -> dict[str, Any]:
    """A description in JSON's own types."""
    data: dict[str, Any] = json.loads(json.dumps(asdict(info)))
    return data


def write_json(path: Path, data: Any) -> None:
    """Write a file whole or not at all."""
    draft = path.with_name(f".{path.name}")
    draft.write_text(json.dumps(data, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    os.replace(draft, path)


class ShardProgress:
    """A line for each shard: hours of speech so far, and estimated time left."""

    def __init__(
        self, texts: int, shards: int, front_end: MelFrontEnd, note: Callable[[str], None]
    ) -> None:
        self._texts = texts
        self._shards = shards
        self._front = front_end
        self._note = note
        self._begun_s = time.monotonic()
        self._done = 0
        self._number = 0
        self._frames = 0

    def shard(self, job: ShardJob) -> None:
        """Report one more shard."""
        self._done = self._done + len(job.texts)
        self._number = self._number + 1
        self._frames += int(np.load(job.path / "frames_at.npy")[-1])
        hours = self._frames * self._front.hop / self._front.sample_rate / 3600
        left_s = (time.monotonic() - self._begun_s) / self._done * (self._texts - self._done)
        self._note(
            f"{job.name}: {self._number} of {self._shards} shards, {hours:.2f} h of speech so far, "
            f"about {left_s / 60:.0f} min left"
        )
