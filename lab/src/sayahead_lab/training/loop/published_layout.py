"""Checkpoints of other releases: their weights by name and shape, and runs of this package that are
made of them."""

from __future__ import annotations

import pickle
import shutil
import zipfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from sayahead import __version__
from sayahead.errors import ConfigError
from torch import Tensor, nn

from sayahead_lab.training.corpus.store import Corpus
from sayahead_lab.training.loop import checkpoint as checkpoints
from sayahead_lab.training.loop.recipe import Recipe
from sayahead_lab.training.loop.saved_run import DESCRIPTION, corpus_record
from sayahead_lab.training.loop.schedule import Counters
from sayahead_lab.training.loop.task import TrainSettings

PARALLEL = "module."
"""Before each name in checkpoints of trainings on several GPUs."""
COUNTERS = ".num_batches_tracked"
"""What batch normalization counts and nobody needs."""


class PublishedWeights:
    """The weights of a checkpoint. Each is taken once; what is left over at the end has no place
    here."""

    def __init__(self, weights: Mapping[str, Tensor], where: str) -> None:
        self.where = where
        self._left = {name.removeprefix(PARALLEL): value for name, value in weights.items()}
        self._left = {
            name: value.float() for name, value in self._left.items() if not name.endswith(COUNTERS)
        }

    def __contains__(self, name: str) -> bool:
        return name in self._left

    def count(self, pattern: str) -> int:
        """How many of ``pattern`` there are, with 0, 1 and so on in place of its braces."""
        number = 0
        while pattern.format(number) in self:
            number += 1
        return number

    def shape(self, name: str, axes: int) -> tuple[int, ...]:
        """The shape of a weight of so many axes; ConfigError where there is none."""
        value = self._left.get(name)
        if value is None:
            raise ConfigError(f"{self.where} has no {name}: it is of another layout.")
        if value.ndim != axes:
            raise ConfigError(f"{self.where}: {name} has {value.ndim} axes, but must have {axes}.")
        return tuple(value.shape)

    def take(self, name: str, *shape: int) -> Tensor:
        """A weight; ConfigError where it is missing or of another shape."""
        found = self.shape(name, len(shape))
        if found != shape:
            raise ConfigError(f"{self.where}: {name} is {list(found)}, but must be {list(shape)}.")
        return self._left.pop(name)

    def finish(self) -> None:
        """ConfigError where weights are left over."""
        if self._left:
            names = ", ".join(sorted(self._left)[:3])
            raise ConfigError(
                f"{self.where} has {len(self._left)} weights for which there is no place here, such"
                f" as {names}: a network that uses them cannot be imported."
            )


def read_weights(path: Path) -> PublishedWeights:
    """The weights in a file that ``torch.save`` wrote; no code of it is run. ConfigError where it
    holds none."""
    try:
        found = torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        raise ConfigError(
            f"{path} holds more than weights, and reading that would run its code. Save the weights"
            " alone where the code it came with is installed: torch.save(torch.load(FILE,"
            " weights_only=False)['model'].state_dict(), NEW)."
        ) from error
    except (OSError, RuntimeError, EOFError, KeyError, ValueError, zipfile.BadZipFile) as error:
        reason = (str(error).splitlines() or ["unreadable"])[0].rstrip(".")
        raise ConfigError(f"{path} cannot be read as a checkpoint: {reason}.") from error
    for key in ("state_dict", "model"):
        if isinstance(found, Mapping) and isinstance(found.get(key), Mapping):
            found = found[key]
    if (
        not isinstance(found, Mapping)
        or not found
        or not all(isinstance(one, Tensor) for one in found.values())
    ):
        raise ConfigError(
            f"{path} holds no weights by name: a state_dict is wanted, by itself or under that key."
        )
    return PublishedWeights(found, str(path))


def write_run(
    folder: Path, task: str, model: nn.Module, table: Mapping[str, Any], corpus: Corpus
) -> None:
    """Write a model as a published run of a task on a corpus; ``table`` is the recipe's [model].

    ConfigError where the folder has a run already.
    """
    if checkpoints.has_checkpoint(folder):
        raise ConfigError(f"{folder} has a run already: name another folder.")
    folder.mkdir(parents=True, exist_ok=True)
    recipe = Recipe(folder.name, task, TrainSettings(batch_size=1, steps=1), model=table)
    state: dict[str, Any] = {
        "name": folder.name,
        "recipe": recipe.resolved(),
        "corpus": {**corpus_record(corpus.path), "folder": ""},
        "versions": {"torch": str(torch.__version__), "sayahead": __version__},
        "counters": asdict(Counters()),
        "rng": [],
        "found": {},
        "model": model.state_dict(),
        "optimizer": {},
        "ema": None,
    }
    checkpoints.save_checkpoint(folder, state)
    shutil.copyfile(corpus.path / DESCRIPTION, folder / DESCRIPTION)
