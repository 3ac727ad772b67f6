"""Runs as release files: the weights that are exported, in float16, with what it takes to load and to use them.

A published run is a folder like any other run's, without optimizer and random state: it cannot be resumed, but be the
``start`` of another one, a teacher, or a part of a voice.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from sayahead.errors import ConfigError
from sayahead.training.loop import checkpoint as checkpoints
from sayahead.training.loop.trained import DESCRIPTION

SUMS = "SHA256SUMS"
BESIDE = ("recipe.toml", "log.jsonl", "loss.png")
"""What of a run's folder is copied where it is there."""


def publish(runs: Sequence[Path], out: Path) -> list[Path]:
    """Write ``out/NAME/`` for each run, and ``out/SHA256SUMS`` of all files; the folders written.

    ConfigError for a folder without a checkpoint, or of a name that was there already.
    """
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
        written.append(folder)
    files = sorted(path for path in out.rglob("*") if path.is_file() and path.name != SUMS)
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(out).as_posix()}" for path in files]
    (out / SUMS).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return written


def reduced(state: dict[str, Any]) -> dict[str, Any]:
    """A checkpoint's state with the weights that are exported alone, those of floating point in float16."""
    weights = state["model"] if state["ema"] is None else state["ema"]
    small = {name: value.half() if value.dtype == torch.float32 else value for name, value in weights.items()}
    return {**state, "model": small, "ema": None, "optimizer": {}, "rng": []}


def check_sums(folder: Path) -> int:
    """How many files a folder's SHA256SUMS lists, all of which are as they were; ConfigError names one that is not."""
    lines = (folder / SUMS).read_text(encoding="utf-8").splitlines()
    for line in lines:
        digest, name = line.split("  ", 1)
        path = folder / name
        if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != digest:
            raise ConfigError(f"{path} is missing or damaged: fetch the release again.")
    return len(lines)
