"""Runs as release files: the exported weights in float16, with what it takes to load and use them.

A published run is a folder like any other run's, without optimizer and random state: it cannot be resumed, but can be
the ``start`` of another one, a teacher, or a part of a voice. A run that names another, as a student does its teacher,
finds it beside itself; the word vectors that it reads are copied.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from sayahead.engine.files import sha256
from sayahead.errors import ConfigError
from sayahead.voices.install.archives import is_archive, unpack, write_archive

from sayahead_lab.training.loop import checkpoint as checkpoints
from sayahead_lab.training.loop.saved_run import DESCRIPTION

SUMS = "SHA256SUMS"
BESIDE = ("recipe.toml", "log.jsonl", "loss.png")
"""Files of a run's folder to copy, if there."""


def publish(runs: Sequence[Path], out: Path) -> list[Path]:
    """Write ``out/NAME/`` for each run, and ``out/SHA256SUMS`` of all files; returns the written files.

    Where ``out`` has an archive's name, it becomes an archive of these. ConfigError for a folder without a
    checkpoint, or a name that exists already.
    """
    if is_archive(out):
        with tempfile.TemporaryDirectory() as place:
            publish(runs, Path(place))
            write_archive(Path(place), out)
        return [out]
    written = list[Path]()
    for run in runs:
        state = checkpoints.load_checkpoint(run)
        folder = out / str(state["name"])
        if folder.exists():
            raise ConfigError(f"{folder} is there already: name another folder, or remove it.")
        folder.mkdir(parents=True)
        checkpoints.save_checkpoint(folder, reduced(state))
        for name in (DESCRIPTION, *BESIDE):
            if (run / name).is_file():
                (folder / name).write_bytes((run / name).read_bytes())
        vectors = Path(state["recipe"]["data"].get("vectors", ""))
        if vectors.name and vectors.is_dir():
            shutil.copytree(vectors, folder / vectors.name)
        written.append(folder)
    files = sorted(path for path in out.rglob("*") if path.is_file() and path.name != SUMS)
    lines = [f"{sha256(path)}  {path.relative_to(out).as_posix()}" for path in files]
    (out / SUMS).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return written


def reduced(state: dict[str, Any]) -> dict[str, Any]:
    """A checkpoint's state with only the exported weights, floating-point ones in float16; nor where its corpus lay."""
    weights = state["model"] if state["ema"] is None else state["ema"]
    small = {name: value.half() if value.dtype == torch.float32 else value for name, value in weights.items()}
    corpus = {**state["corpus"], "folder": ""}
    return {**state, "model": small, "ema": None, "optimizer": {}, "rng": [], "corpus": corpus}


@contextmanager
def opened(release: Path) -> Iterator[Path]:
    """The folder of a release, which may be an archive; checks its digests."""
    if not release.is_file():
        yield release
        return
    with tempfile.TemporaryDirectory() as folder:
        unpack(release, Path(folder))
        check_sums(Path(folder))
        yield Path(folder)


def unpack_release(archive: Path, out: Path) -> list[Path]:
    """Unpack an archive of runs into a folder and check its digests; returns the runs' folders.

    ConfigError for a damaged archive or one that is no release, and where the folder has these runs already.
    """
    with opened(archive) as folder:
        names = sorted(path.name for path in folder.iterdir())
        if there := [name for name in names if (out / name).exists()]:
            raise ConfigError(f"{out / there[0]} is there already: name another folder with -o, or remove it.")
        out.mkdir(parents=True, exist_ok=True)
        for name in names:
            shutil.move(folder / name, out / name)
    return [out / name for name in names if name != SUMS]


def check_sums(folder: Path) -> int:
    """Number of files in a folder's SHA256SUMS, once all are verified; ConfigError names one that fails."""
    if not (folder / SUMS).is_file():
        raise ConfigError(f"There is no {SUMS}: name what sayahead train publish wrote.")
    lines = (folder / SUMS).read_text(encoding="utf-8").splitlines()
    for line in lines:
        digest, name = line.split("  ", 1)
        path = folder / name
        if not path.is_file() or sha256(path) != digest:
            raise ConfigError(f"{path} is missing or damaged: fetch the release again.")
    return len(lines)
