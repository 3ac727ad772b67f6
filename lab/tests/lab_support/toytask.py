"""A task of a few lines for the training loop: fit a linear map of noise, with dropout so that
random draws matter."""

from __future__ import annotations

import os
import sys
import time
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sayahead.errors import ConfigError
from torch import Tensor, nn

from sayahead_lab.training.corpus.frontend import MelFrontEnd
from sayahead_lab.training.corpus.making import make_corpus
from sayahead_lab.training.corpus.store import About, Item
from sayahead_lab.training.loop.checkpoint import load_checkpoint
from sayahead_lab.training.loop.recipe import Recipe
from sayahead_lab.training.loop.task import TASKS, Batch, Task, TrainSettings

ITEMS = 40


class Silence:
    """A source of items of four silent frames."""

    def about(self) -> About:
        return About(MelFrontEnd(n_mels=2), {"_": 0, "a": 1}, 0, {"kind": "silence"}, "all", seed=0)

    def open(self) -> Silence:
        return self

    def items(self, name: str, text: str) -> tuple[list[Item], list[str]]:
        words = np.array([[0, 2]], np.int16)
        mel = np.zeros((4, 2), np.float16)
        ones = np.ones(4, np.int16)
        return [Item(name, text, ones[:2], words, ones, np.zeros(4, np.float16), mel)], []


def toy_corpus(folder: Path) -> Path:
    """The folder, with a corpus in it."""
    make_corpus(folder, Silence(), {"train": [(f"item-{number}", "a") for number in range(ITEMS)]})
    return folder


class ToyTask(Task[nn.Module]):
    """Learns y = A x of ``ITEMS`` items, or what its [data] table asks for."""

    def __init__(self, model: Mapping[str, Any], data: Mapping[str, Any], corpus: Any) -> None:
        self.dropout = model.get("dropout", 0.0)
        self.data = data
        numbers = torch.Generator().manual_seed(5)
        self.x = torch.randn(ITEMS, 8, generator=numbers)
        self.y = self.x @ torch.randn(8, 3, generator=numbers)

    def model(self) -> nn.Module:
        first = nn.Linear(8, self.data.get("hidden", 16)).requires_grad_(
            not self.data.get("fixed", False)
        )
        return nn.Sequential(
            first, nn.Tanh(), nn.Dropout(self.dropout), nn.Linear(self.data.get("hidden", 16), 3)
        )

    def batches(
        self, split: str, *, batch_size: int, seed: int, rank: int, ranks: int
    ) -> Iterator[Batch]:
        order = torch.randperm(ITEMS, generator=torch.Generator().manual_seed(seed)).tolist()
        whole = batch_size * ranks
        for first in range(0, ITEMS - whole + 1, whole):
            items = torch.tensor(order[first : first + whole][rank::ranks])
            yield {"items": items, "x": self.x[items], "y": self.y[items]}

    def loss(self, model: nn.Module, batch: Batch, step: int) -> tuple[Tensor, dict[str, float]]:
        if step == self.data.get("signals_at"):
            for number in self.data["signals"]:
                os.kill(os.getpid(), number)
        time.sleep(self.data.get("sleep_s", 0.0))
        error: Tensor = (model(batch["x"]) - batch["y"]).square().mean()
        bad = self.data.get("bad_from", 10**9) <= step < self.data.get("bad_to", 10**9)
        return error * float("nan") if bad else error, {"square": float(error.detach())}

    def check_start(self, *, voice: bool, run: bool) -> None:
        if self.data.get("voice_only") and not voice:
            raise ConfigError("A voice, please.")

    def samples(self, model: nn.Module, folder: Path) -> None:
        if self.data.get("bad_samples"):
            raise ValueError("no sound today")
        torch.rand(3)
        (folder / "sample.txt").write_text(str(model.training), encoding="utf-8")


PLAIN = TrainSettings(batch_size=8, steps=20, learning_rate=1e-2, log_every=5, ema=0.9)


def toy(data: Mapping[str, Any] | None = None, dropout: float = 0.2, **settings: Any) -> Recipe:
    return Recipe(
        "toy", "toy", replace(PLAIN, **settings), model={"dropout": dropout}, data=data or {}
    )


def weights(out: Path) -> dict[str, torch.Tensor]:
    """All numbers of the newest checkpoint that training changes."""
    state = load_checkpoint(out)
    flat = {f"{part}.{k}": v for part in ("model", "ema") for k, v in (state[part] or {}).items()}
    moments = {
        f"{n}.{k}": v for n, one in state["optimizer"]["state"].items() for k, v in one.items()
    }
    return flat | moments


def hurt(path: Path, damage: str) -> None:
    """Damage a checkpoint: cut it off, turn a bit of its weights, empty it, or put another file
    there."""
    data = bytearray(path.read_bytes())
    if damage == "bit":
        with zipfile.ZipFile(path) as archive:
            largest = max(archive.infolist(), key=lambda info: info.file_size)
            where = data.index(archive.read(largest))
        data[where + 5] ^= 1
    if damage == "other":
        torch.save({"weights": torch.ones(3)}, path)
    else:
        path.write_bytes(data[: {"cut": len(data) // 2, "bit": len(data), "empty": 0}[damage]])


TOY: Any = ToyTask
TASKS["toy"] = TOY

if __name__ == "__main__":
    from sayahead.cli import main

    sys.exit(main(sys.argv[1:]))
