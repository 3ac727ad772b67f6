"""A corpus whose mel is an acoustic model's: each frame predicted after the true ones, as long as
these.

A vocoder that has heard only true mel meets another one in a voice: smoother, with harmonics
blurred. Trained further on a corpus of this kind, it hears what it will be given, beside the sound
that belongs there (as Shen et al. 2018, 3.1, train the vocoder of Tacotron 2).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from sayahead.errors import ConfigError
from sayahead.types import Floats

from sayahead_lab.training.corpus.making import Texts
from sayahead_lab.training.corpus.store import About, Corpus, Item
from sayahead_lab.training.loop.saved_run import Trained, load_trained


@runtime_checkable
class Predicts(Protocol):
    """A task whose model predicts mel."""

    def predicted(self, model: Any, item: Item) -> Floats:
        """Log mel (T, n_mels) of an item, each step after the item's own frames before it."""
        ...


@dataclass(frozen=True, slots=True)
class PredictedSpec:
    """The same items as another corpus, but for their mel."""

    run: Path
    """The acoustic model's run."""
    corpus: Path
    """The corpus with the true mel and the sound."""

    def about(self) -> About:
        """What is said of the other corpus, and whose the mel is."""
        info = Corpus(self.corpus).info
        run = self.open().run
        return replace(info, source={**info.source, "mel": f"{run.recipe.name}, {run.step} steps"})

    def open(self) -> Predictions:
        """The run's predictions; ConfigError for a run that predicts no mel, or of another front
        end."""
        return opened(self)

    def splits(self) -> Mapping[str, Texts]:
        """Name and text of each item."""
        corpus = Corpus(self.corpus)
        return {
            name: [(item.name, item.text) for item in corpus.split(name)]
            for name in corpus.info.splits
        }


class Predictions:
    """A source whose items have the mel that a run predicts."""

    def __init__(self, spec: PredictedSpec) -> None:
        self.run: Trained[Any, Any] = load_trained(spec.run)
        task = self.run.task
        corpus = Corpus(spec.corpus)
        if not isinstance(task, Predicts):
            raise ConfigError(
                f"{spec.run} is a run of {self.run.recipe.task}, which predicts no mel."
            )
        self.task: Predicts = task
        theirs = self.run.corpus.info
        ours = corpus.info
        if (theirs.front_end, theirs.phonemes, theirs.pad) != (
            ours.front_end,
            ours.phonemes,
            ours.pad,
        ):
            raise ConfigError(
                f"{spec.run} has other frames or phonemes than the corpus {spec.corpus}."
            )
        self._items = {
            item.name: (split, number)
            for split in ours.splits
            for number, item in enumerate(corpus.split(split))
        }
        self._splits = {split: corpus.split(split) for split in ours.splits}

    def items(self, name: str, text: str) -> tuple[list[Item], list[str]]:
        split, number = self._items[name]
        item = self._splits[split][number]
        mel = self.task.predicted(self.run.model, item)
        return [replace(item, mel=mel.astype(np.float16))], []


@functools.lru_cache(maxsize=1)
def opened(spec: PredictedSpec) -> Predictions:
    """The source, loaded once a process."""
    return Predictions(spec)
