"""What a run left behind, for whoever exports or tries it: the model with its weights, the task, the recipe."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from sayahead.errors import ConfigError
from sayahead.training.loop.checkpoint import load_checkpoint
from sayahead.training.loop.recipe import Recipe, recipe_from
from sayahead.training.loop.task import Task, task_maker

if TYPE_CHECKING:
    from sayahead.training.corpus.store import Corpus

DESCRIPTION = "corpus.json"
"""The corpus's description; a run keeps a copy, which is all of a corpus that exporting needs."""


@dataclass(frozen=True, slots=True)
class Trained:
    """A model that was trained."""

    task: Task
    """The task, made from the checkpoint's own recipe."""
    model: nn.Module
    """With the trained weights, in eval mode, on the processor."""
    recipe: Recipe
    """The recipe in the checkpoint."""
    corpus: Corpus
    """The corpus of the training; where it lies no longer where it lay, its description without any items."""
    step: int
    """Steps it was trained for."""


def load_trained(path: Path, *, ema: bool = True, corpus: Path | None = None) -> Trained:
    """The trained model of a run's folder or of one checkpoint file.

    ``ema``: the moving average of the weights, where the recipe keeps one. ``corpus`` names the corpus where it no
    longer lies where the training read it; without one, the run's copy of its description serves. ConfigError for a
    corpus with another fingerprint.
    """
    state = load_checkpoint(path)
    recipe = recipe_from(state["recipe"], name=state["name"], where=str(path))
    folder = corpus or Path(state["corpus"]["folder"])
    if corpus is None and not (folder / DESCRIPTION).is_file():
        folder = path if path.is_dir() else path.parent
    opened = open_corpus(folder)
    check_corpus(state, folder, str(path))
    # Checkpoints made before this was kept have their corpus read again.
    task = task_maker(recipe.task)({**recipe.model, **state.get("found", {})}, recipe.data, opened)
    # Whoever loads a model amid a training must not change what that draws.
    with torch.random.fork_rng(devices=[]):
        model = task.model()
    weights = state["ema"] if ema and state["ema"] is not None else state["model"]
    load_weights(model, weights, str(path))
    return Trained(task, model.eval(), recipe, opened, int(state["counters"]["step"]))


def found(task: Task) -> dict[str, Any]:
    """Values for the recipe's [model] that the task took from the corpus's items, where the recipe leaves them open.

    A task that does so has them as ``found``. A checkpoint keeps them: they must not change with the corpus, nor be
    missing with it.
    """
    return dict(getattr(task, "found", {}))


def open_corpus(folder: Path) -> Corpus:
    """The corpus in a folder; ConfigError where none is."""
    from sayahead.training.corpus.store import Corpus

    return Corpus(folder)


def corpus_record(folder: Path) -> dict[str, str]:
    """Where a corpus lies, and the digest of its description, which names its front end, phonemes and shards."""
    digest = hashlib.sha256((folder / DESCRIPTION).read_bytes()).hexdigest()
    return {"folder": str(folder.resolve()), "fingerprint": digest}


def check_corpus(state: dict[str, Any], folder: Path, where: str) -> None:
    """ConfigError where the checkpoint was made on another corpus."""
    made, found = state["corpus"], corpus_record(folder)
    if made["fingerprint"] != found["fingerprint"]:
        raise ConfigError(
            f"{where} was trained on another corpus than {found['folder']}: name the one that lay in {made['folder']}."
        )


def hours(corpus: Corpus) -> float:
    """Hours of speech in the train split."""
    front_end = corpus.info.front_end
    frames = int(corpus.split("train").lengths.sum())
    return float(frames * front_end.hop / front_end.sample_rate / 3600)


def load_weights(model: nn.Module, weights: dict[str, Any], where: str) -> None:
    """Set the model's weights; ConfigError where they are another model's."""
    try:
        model.load_state_dict(weights)
    except RuntimeError as error:
        told = " ".join(str(error).split())
        raise ConfigError(f"The weights in {where} do not fit the model of this version: {told[:300]}") from error
