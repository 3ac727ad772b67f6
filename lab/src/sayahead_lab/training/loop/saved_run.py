"""A trained run, for export and trial: the model with its weights, the task, the recipe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

import torch
from sayahead.engine.files import sha256
from sayahead.errors import ConfigError
from torch import nn

from sayahead_lab.training.corpus.store import Corpus, CorpusInfo, read_info
from sayahead_lab.training.loop.checkpoint import load_checkpoint
from sayahead_lab.training.loop.recipe import Recipe, recipe_from
from sayahead_lab.training.loop.task import TASKS, M, Task

T = TypeVar("T", bound=Task[Any])
DESCRIPTION = "corpus.json"
"""The corpus's description; a run has a copy, all that export needs of a corpus."""


@dataclass(frozen=True, slots=True)
class Trained(Generic[T, M]):
    """A model M that a task T has trained."""

    task: T
    """The task, built from the checkpoint's own recipe."""
    model: M
    """The model with the trained weights, in eval mode, on the CPU."""
    recipe: Recipe
    """The recipe in the checkpoint."""
    corpus: Corpus
    """The training corpus; if that is gone, its description without items."""
    step: int
    """Steps it was trained for."""

    @property
    def frame_s(self) -> float:
        """Seconds between two frames of the corpus."""
        front = self.corpus.info.front_end
        return front.hop / front.sample_rate


def load_trained(path: Path, *, ema: bool = True, corpus: Path | None = None) -> Trained[Any, Any]:
    """The trained model of a run's folder or of one checkpoint file.

    ``ema``: use the moving average of the weights, if the recipe has one. ``corpus`` is the
    corpus's folder if it has moved since the training, or another corpus of the same phonemes and
    frames; without it, and where the training's is gone, the run's copy of its description serves.
    ConfigError for a corpus that does not fit the run."""
    state = load_checkpoint(path)
    recipe = recipe_from(state["recipe"], name=state["name"], where=str(path))
    if published(state):
        recipe = replace(recipe, data=released(recipe.data, path if path.is_dir() else path.parent))
    own = path if path.is_dir() else path.parent
    folder = corpus or Path(state["corpus"]["folder"] or own)
    if corpus is None and not (folder / DESCRIPTION).is_file():
        folder = own
    maker = TASKS[recipe.task]
    opened = maker.open(folder)
    if isinstance(opened, Corpus):
        opened.info = described(state, opened, own, str(path))
    else:
        check_corpus(state, folder, str(path))
    # For checkpoints from before this was stored, read the corpus again.
    task = maker({**recipe.model, **state.get("found", {})}, recipe.data, opened)
    # Loading a model during training must not change the training's random draws.
    with torch.random.fork_rng(devices=[]):
        model = task.model()
    weights = state["ema"] if ema and state["ema"] is not None else state["model"]
    load_weights(model, weights, str(path))
    return Trained(task, model.eval(), recipe, opened, int(state["counters"]["step"]))


def published(state: Mapping[str, Any]) -> bool:
    """Whether a checkpoint's state is of ``sayahead train publish``, which leaves the optimizer
    out."""
    return not state["optimizer"]


def released(data: Mapping[str, Any], run: Path) -> dict[str, Any]:
    """A published run's [data]: folders that the release has, in or beside the run, instead of
    those it was made of."""

    def there(value: Any) -> Any:
        name = Path(value).name if isinstance(value, str) else ""
        return next(
            (str(path) for path in (run / name, run.parent / name) if name and path.is_dir()), value
        )

    return {key: there(value) for key, value in data.items()}


def load_run_of(
    task: type[T], model: type[M], path: Path, corpus: Path | None = None
) -> Trained[T, M]:
    """A run as ``load_trained`` loads it; ConfigError for a run of another task, or with another
    model."""
    run = load_trained(path, corpus=corpus)
    if isinstance(run.task, task) and isinstance(run.model, model):
        return run
    kind: Any = task
    names = ", ".join(name for name, maker in TASKS.items() if maker is kind)
    raise ConfigError(
        f"{path} is a run of the task {run.recipe.task}, but one of {names} is needed here."
    )


def corpus_record(folder: Path) -> dict[str, str]:
    """A corpus's folder, and the digest of its description: front end, phonemes and shards."""
    digest = sha256(folder / DESCRIPTION)
    return {"folder": str(folder.resolve()), "fingerprint": digest}


def check_corpus(state: Mapping[str, Any], folder: Path, where: str) -> None:
    """ConfigError where the checkpoint is of another corpus."""
    old = state["corpus"]
    new = corpus_record(folder)
    if old["fingerprint"] != new["fingerprint"]:
        raise ConfigError(
            f"{where} was trained on another corpus than {new['folder']}: name the one that was in"
            f" {old['folder']}."
        )


def described(state: Mapping[str, Any], corpus: Corpus, own: Path, where: str) -> CorpusInfo:
    """How a run reads a corpus: of one that is not its own it takes the items, and normalizes them
    as it did its own.

    ``own`` has the run's description of its corpus. ConfigError where there is none, or phonemes or
    frames differ."""
    if state["corpus"]["fingerprint"] == corpus_record(corpus.path)["fingerprint"]:
        return corpus.info
    if not (own / DESCRIPTION).is_file():
        check_corpus(state, corpus.path, where)
    old = read_info(own)
    new = corpus.info
    check_fits(
        old, new, f"{where} was trained on a corpus of other phonemes or frames than {corpus.path}"
    )
    return replace(
        old, texts=new.texts, shard_texts=new.shard_texts, splits=new.splits, complete=new.complete
    )


def check_fits(old: CorpusInfo, new: CorpusInfo, what: str) -> None:
    """ConfigError, that says ``what``, where two corpora differ in phonemes or frames."""
    if (old.phonemes, old.pad, old.front_end) != (new.phonemes, new.pad, new.front_end):
        raise ConfigError(f"{what}: make that one with the same --front-end, or begin afresh.")


def load_weights(model: nn.Module, weights: dict[str, Any], where: str) -> None:
    """Set the model's weights; ConfigError where they are of another model."""
    try:
        model.load_state_dict(weights)
    except RuntimeError as error:
        reason = " ".join(str(error).split())[:300]
        raise ConfigError(
            f"The weights in {where} do not fit the model of this version: {reason}"
        ) from error
