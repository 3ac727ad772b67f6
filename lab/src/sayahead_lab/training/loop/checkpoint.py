"""Checkpoints: all that a run needs to resume exactly, in one file, whole or absent; the last two
are kept."""

from __future__ import annotations

import logging
import os
import pickle
import random
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sayahead.errors import ConfigError

from sayahead_lab.training.loop.rounding import unrounded

NAME = "checkpoint.pt"
PREVIOUS = "checkpoint.previous.pt"
PARTIAL = "checkpoint.partial"
FORMAT = 1
PUBLISHED = 2
"""Of a run's checkpoint, and of a published one, whose weights are rounded."""
KEYS = (
    "format",
    "name",
    "recipe",
    "corpus",
    "versions",
    "counters",
    "model",
    "ema",
    "optimizer",
    "rng",
)
logger = logging.getLogger("sayahead")


def save_checkpoint(folder: Path, state: dict[str, Any]) -> None:
    """Write the state as the folder's checkpoint; the current one becomes the previous one.

    At every moment one of the two files is whole: a new one gets its name only once it is on disk.
    """
    partial = folder / PARTIAL
    with partial.open("wb") as file:
        torch.save({"format": FORMAT, **state}, file)
        file.flush()
        os.fsync(file.fileno())
    if (folder / NAME).exists():
        os.replace(folder / NAME, folder / PREVIOUS)
    os.replace(partial, folder / NAME)
    sync_folder(folder)


def sync_folder(folder: Path) -> None:
    """Sync the folder's names to disk; does nothing where folders cannot be opened (Windows)."""
    if hasattr(os, "O_DIRECTORY"):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def has_checkpoint(folder: Path) -> bool:
    """Whether a run has a checkpoint to resume from."""
    return any((folder / name).exists() for name in (NAME, PREVIOUS))


def load_checkpoint(path: Path) -> dict[str, Any]:
    """The state in a run's folder, or in one file; on the CPU.

    In a folder, a damaged newest checkpoint gives way to the one before it, with a warning.
    ConfigError where none can be read.
    """
    if path.is_file():
        return read_checkpoint(path)
    if not has_checkpoint(path):
        raise ConfigError(
            f"{path} has no checkpoint ({NAME}): train first, or name the folder of a run."
        )
    failures: list[str] = []
    for name in (NAME, PREVIOUS):
        if not (path / name).exists():
            continue
        try:
            state = read_checkpoint(path / name)
        except ConfigError as error:
            failures.append(str(error))
            continue
        for failure in failures:
            logger.warning(
                "%s Resuming from %s, step %d.", failure, name, state["counters"]["step"]
            )
        return state
    raise ConfigError(
        " ".join(failures) + " Nothing is left to resume from: train anew into another folder."
    )


def read_checkpoint(path: Path) -> dict[str, Any]:
    """The state in one file; ConfigError where it is damaged or of another format."""
    try:
        # torch ignores a wrong checksum; zipfile does not.
        with zipfile.ZipFile(path) as archive:
            damaged = archive.testzip()
        if damaged is not None:
            raise ConfigError(f"{path} is damaged: {damaged} in it fails its checksum.")
        state = torch.load(path, map_location="cpu", weights_only=True)
    except (
        zipfile.BadZipFile,
        zipfile.LargeZipFile,
        pickle.UnpicklingError,
        RuntimeError,
        EOFError,
        KeyError,
    ) as error:
        raise ConfigError(
            f"{path} is damaged: {str(error).splitlines()[0].rstrip('.') or 'unreadable'}."
        ) from error
    missing = [key for key in KEYS if not isinstance(state, dict) or key not in state]
    if missing:
        raise ConfigError(f"{path} is no checkpoint of sayahead train: it has no {missing[0]!r}.")
    if state["format"] not in (FORMAT, PUBLISHED):
        raise ConfigError(
            f"{path} has format {state['format']}, this version reads {FORMAT} and {PUBLISHED}: use"
            " a later version."
        )
    return {**state, "model": unrounded(state["model"])}


def seed_all(seed: int) -> None:
    """Seed Python's, numpy's and torch's global generators."""
    random.seed(seed)
    np.random.seed(seed % 2**32)
    torch.manual_seed(seed)


def random_state(device: torch.device) -> dict[str, Any]:
    """The state of all global generators, in types that ``torch.load`` reads without running
    code."""
    version, numbers, gauss = random.getstate()
    kind, keys, position, has_gauss, cached = np.random.get_state()
    return {
        "python": [version, list(numbers), gauss],
        "numpy": [kind, torch.from_numpy(np.asarray(keys, np.int64)), position, has_gauss, cached],
        "torch": torch.get_rng_state(),
        "cuda": torch.cuda.get_rng_state(device) if device.type == "cuda" else None,
    }


def restore_random(state: dict[str, Any], device: torch.device) -> None:
    """Set all global generators to a state of ``random_state``."""
    version, numbers, gauss = state["python"]
    random.setstate((version, tuple(numbers), gauss))
    kind, keys, position, has_gauss, cached = state["numpy"]
    np.random.set_state((kind, keys.numpy().astype(np.uint32), position, has_gauss, cached))
    torch.set_rng_state(state["torch"])
    if device.type == "cuda" and state["cuda"] is not None:
        torch.cuda.set_rng_state(state["cuda"], device)
