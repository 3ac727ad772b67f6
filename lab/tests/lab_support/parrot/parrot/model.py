"""A model to train: the average mel frame and duration of each phoneme; torch exports its graph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from sayahead_lab.training.corpus.batches import Share, shuffled
from sayahead_lab.training.corpus.store import Corpus, count_ids
from sayahead_lab.training.loop.saved_run import Trained
from sayahead_lab.training.loop.task import Batch, Task
from sayahead_lab.training.voice_parts import Acoustic, Written


class Table(nn.Module):
    """From phoneme ids (P,) to mel frames (P, n_mels) and how many frames each lasts (P,)."""

    def __init__(self, phonemes: int, n_mels: int) -> None:
        super().__init__()
        self.rows = nn.Embedding(phonemes, n_mels + 1)

    def forward(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        rows = self.rows(ids)
        return rows[:, :-1], rows[:, -1]


class AveragesTask(Task[Table]):
    """Learns the table from a corpus."""

    def __init__(self, model: Mapping[str, Any], data: Mapping[str, Any], corpus: Corpus) -> None:
        self.corpus = corpus

    def model(self) -> Table:
        return Table(count_ids(self.corpus.info, 0), self.corpus.info.front_end.n_mels)

    def batches(
        self, split: str, *, batch_size: int, seed: int, rank: int, ranks: int
    ) -> Iterator[Batch]:
        items = self.corpus.split(split)
        share = Share(batch_size, rank, ranks)
        for _, numbers in shuffled(len(items), np.random.default_rng(seed), share):
            own = [items[int(number)] for number in numbers]
            ids = np.concatenate([item.ids for item in own]).astype(np.int64)
            lasting = np.concatenate([item.durations[1:-1] for item in own]).astype(np.int64)
            sounding = [item.mel[item.durations[0] : -item.durations[-1]] for item in own]
            mel = np.concatenate(sounding)
            yield {
                "ids": torch.from_numpy(ids),
                "lasting": torch.from_numpy(lasting),
                "mel": torch.from_numpy(mel.astype(np.float32)),
            }

    def loss(self, model: nn.Module, batch: Batch, step: int) -> tuple[Tensor, dict[str, float]]:
        mel, lasting = model(batch["ids"])
        frames = mel.repeat_interleave(batch["lasting"], dim=0)
        sound = (frames - batch["mel"]).square().mean()
        length = (lasting - batch["lasting"]).square().mean()
        return sound + length, {"mel": float(sound.detach()), "lasting": float(length.detach())}


def write(run: Trained[Any, Table], folder: Path) -> Written:
    """The graph in a voice's folder, as torch exports it, and the voice's table about it."""
    path = folder / "averages.onnx"
    names: dict[str, Any] = {"input_names": ["ids"], "output_names": ["mel", "lasting"]}
    axes = {"ids": {0: "P"}, "mel": {0: "P"}, "lasting": {0: "P"}}
    ids = torch.zeros(3, dtype=torch.int64)
    torch.onnx.export(run.model, (ids,), path, dynamo=False, dynamic_axes=axes, **names)
    return [path], {"n_mels": run.corpus.info.front_end.n_mels}


PART = Acoustic("averages", "Averages of phonemes", write)
