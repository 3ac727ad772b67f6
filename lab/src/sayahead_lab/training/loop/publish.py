"""Runs as release files: the exported weights, rounded, with what it takes to load and use them.

A published run is a folder like any other run's, without optimizer and random state: it cannot be
resumed, but can be the ``start`` of another one, a teacher, or a part of a voice. A run that names
another, as a student does its teacher, finds it beside itself; the word vectors that it reads are
copied."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

import torch
from sayahead import __version__
from sayahead.engine.files import sha256
from sayahead.errors import ConfigError
from sayahead.voices.install.archives import is_archive, unpack, write_archive
from sayahead.voices.install.fetch import Digest, fetch
from torch import Tensor

from sayahead_lab.training.loop import checkpoint as checkpoints
from sayahead_lab.training.loop.rounding import LEVELS, rounded
from sayahead_lab.training.loop.saved_run import DESCRIPTION, released

SUMS = "SHA256SUMS"
ADDRESS = "https://github.com/sayahead/sayahead/releases/download"
"""Where releases have their archives, each below its tag."""
BESIDE = ("recipe.toml", "log.jsonl")
"""Files of a run's folder to copy, if there; the curve of its losses can be drawn from the log."""


def publish(
    runs: Sequence[Path], out: Path, levels: int = LEVELS, *, mean: bool = False
) -> list[Path]:
    """Write ``out/NAME/`` for each run, and ``out/SHA256SUMS`` of all files; returns the written
    files.

    Where ``out`` has an archive's name, it becomes an archive of these. ``levels``: see
    ``rounded``. ``mean``: only the last run, with the mean of the weights of all (Wortsman et al.,
    Model Soups, 2022). ConfigError for a folder without a checkpoint, a name that exists already,
    or a mean of runs with different weights."""
    if is_archive(out):
        with tempfile.TemporaryDirectory() as place:
            publish(runs, Path(place), levels, mean=mean)
            write_archive(Path(place), out)
        return [out]
    folders = list[Path]()
    for run in runs[-1:] if mean else runs:
        state = checkpoints.load_checkpoint(run)
        if mean:
            state = {**state, "ema": averaged(runs)}
        folder = out / str(state["name"])
        if folder.exists():
            raise ConfigError(f"{folder} is there already: name another folder, or remove it.")
        folder.mkdir(parents=True)
        checkpoints.save_checkpoint(folder, reduced(state, levels))
        for name in (DESCRIPTION, *BESIDE):
            if (run / name).is_file():
                (folder / name).write_bytes((run / name).read_bytes())
        vectors = Path(released(state["recipe"]["data"], run).get("vectors", ""))
        if vectors.name and vectors.is_dir():
            shutil.copytree(vectors, folder / vectors.name)
        folders.append(folder)
    parts = sorted(path for path in out.rglob("*") if path.is_file() and path.name != SUMS)
    lines = [f"{sha256(path)}  {path.relative_to(out).as_posix()}" for path in parts]
    (out / SUMS).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folders


def exported(state: Mapping[str, Any]) -> Mapping[str, Tensor]:
    """A checkpoint's weights: their moving average, where it has one."""
    weights: Mapping[str, Tensor] = state["model"] if state["ema"] is None else state["ema"]
    return weights


def averaged(runs: Sequence[Path]) -> dict[str, Tensor]:
    """The mean of the runs' exported weights; of what is no fraction, the last run's. ConfigError
    where they differ."""
    *others, last = (exported(checkpoints.load_checkpoint(run)) for run in runs)
    shapes = [
        {name: weight.shape for name, weight in weights.items()} for weights in (*others, last)
    ]
    for run, shape in zip(runs, shapes, strict=True):
        if shape != shapes[-1]:
            raise ConfigError(
                f"{run} has other weights than {runs[-1]}: a mean is of runs of one model."
            )
    mean = {
        name: torch.stack([weights[name].float() for weights in (*others, last)]).mean(0)
        for name in last
    }
    return {
        name: mean[name] if weight.is_floating_point() else weight for name, weight in last.items()
    }


def reduced(state: dict[str, Any], levels: int) -> dict[str, Any]:
    """A checkpoint's state with only the exported weights, rounded, and without the place where its
    corpus lay."""
    corpus = {**state["corpus"], "folder": ""}
    published = {
        "format": checkpoints.PUBLISHED,
        "model": rounded(exported(state), levels),
        "corpus": corpus,
    }
    return {**state, **published, "ema": None, "optimizer": {}, "rng": []}


def offered() -> dict[str, str]:
    """The digests (SHA-256) of the archives of runs that belong to this version, by name."""
    rows = (
        files("sayahead_lab.training.loop")
        .joinpath("archives.tsv")
        .read_text(encoding="utf-8")
        .splitlines()
    )
    return dict(row.split("\t") for row in rows)


@contextmanager
def opened(release: Path) -> Iterator[Path]:
    """The folder of a release, which may be an archive, or the name of one to download; checks its
    digests."""
    name = str(release)
    if release.is_dir():
        yield release
        return
    if not release.exists() and name not in offered():
        raise ConfigError(
            f"There is no {release}: name an archive, or one to download: {', '.join(offered())}."
        )
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as passing:
        if not release.is_file():
            release = Path(passing) / f"{name}.tar.xz"
            fetch(
                f"{ADDRESS}/v{__version__}/{release.name}",
                release,
                Digest("sha256", offered()[name]),
            )
        unpack(release, Path(folder))
        check_sums(Path(folder))
        yield Path(folder)


def unpack_release(archive: Path, out: Path) -> list[Path]:
    """Unpack an archive of runs, or one of ``offered``, into a folder and check its digests;
    returns the runs' folders.

    The folder may have other runs: digests of all are in its SHA256SUMS. ConfigError for a damaged
    archive or one that is no release, and where the folder has one of these runs already."""
    with opened(archive) as folder:
        names = sorted(path.name for path in folder.iterdir() if path.name != SUMS)
        if there := [name for name in names if (out / name).exists()]:
            raise ConfigError(
                f"{out / there[0]} is there already: name another folder with -o, or remove it."
            )
        out.mkdir(parents=True, exist_ok=True)
        for name in names:
            shutil.move(folder / name, out / name)
        with (out / SUMS).open("a", encoding="utf-8") as sums:
            sums.write((folder / SUMS).read_text(encoding="utf-8"))
    return [out / name for name in names]


def check_sums(folder: Path) -> int:
    """Number of files in a folder's SHA256SUMS, once all are verified; ConfigError names one that
    fails."""
    if not (folder / SUMS).is_file():
        raise ConfigError(f"There is no {SUMS}: name what sayahead train publish wrote.")
    lines = (folder / SUMS).read_text(encoding="utf-8").splitlines()
    for line in lines:
        digest, name = line.split("  ", 1)
        path = folder / name
        if not path.is_file() or sha256(path) != digest:
            raise ConfigError(f"{path} is missing or damaged: fetch the release again.")
    return len(lines)
