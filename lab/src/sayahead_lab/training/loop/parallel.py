"""The device of a run, and the processes that share it: one alone, or those that torchrun
started."""

from __future__ import annotations

import os
import platform
import queue
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from sayahead.errors import ConfigError
from torch import nn

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Ranks:
    """This process among those that train together; all of them make each call below at the same
    point."""

    rank: int
    """Number of this process; process 0 writes."""
    count: int
    """Processes."""
    device: torch.device
    """Device of this process."""

    def wrap(self, model: nn.Module) -> nn.Module:
        """The model, with gradients averaged over all processes in its backward pass."""
        if self.count == 1:
            return model
        return nn.parallel.DistributedDataParallel(
            model, device_ids=[self.device.index] if self.device.type == "cuda" else None
        )

    def largest(self, *values: float) -> list[float]:
        """Each value's maximum over the processes."""
        return self._reduce(values, dist.ReduceOp.MAX)

    def mean(self, values: Sequence[float]) -> list[float]:
        """Each value's mean over the processes."""
        return [value / self.count for value in self._reduce(values, dist.ReduceOp.SUM)]

    def gather(self, item: Any) -> list[Any]:
        """Every process's object, by rank."""
        if self.count == 1:
            return [item]
        items = [None] * self.count
        dist.all_gather_object(items, item)
        return list(items)

    def _reduce(self, values: Sequence[float], operation: Any) -> list[float]:
        if self.count == 1:
            return [float(value) for value in values]
        shared = torch.tensor(values, dtype=torch.float64, device=self.device)
        dist.all_reduce(shared, op=operation)
        return [float(value) for value in shared.tolist()]


@contextmanager
def join(device: str) -> Iterator[Ranks]:
    """This process's rank among those that torchrun sets in the environment; alone without them."""
    rank = int(os.environ.get("RANK", "0"))
    count = int(os.environ.get("WORLD_SIZE", "1"))
    kind = device_kind(device)
    if kind == "cuda":
        place = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
        torch.cuda.set_device(place)
    else:
        place = torch.device("cpu")
    if count == 1:
        yield Ranks(0, 1, place)
        return
    dist.init_process_group("nccl" if kind == "cuda" else "gloo", rank=rank, world_size=count)
    try:
        yield Ranks(rank, count, place)
    finally:
        dist.destroy_process_group()


def device_kind(device: str) -> str:
    """``cpu`` or ``cuda`` for cpu, cuda or auto; ConfigError for an unavailable device."""
    if device not in ("auto", "cpu", "cuda"):
        raise ConfigError(f"The device {device!r} is not known: choose cpu, cuda or auto.")
    if device == "cuda" and not torch.cuda.is_available():
        raise ConfigError(
            "This torch finds no CUDA device: use --device cpu, or install a build of torch for"
            " CUDA."
        )
    return "cuda" if device != "cpu" and torch.cuda.is_available() else "cpu"


def emulates_bfloat16(device: torch.device) -> bool:
    """Whether the device emulates bfloat16 in float32, which is slower; False where that is
    unknown."""
    if device.type != "cpu" or platform.machine() not in ("x86_64", "AMD64"):
        return False
    checks = [
        getattr(torch.cpu, f"_is_{name}_supported", None) for name in ("avx512_bf16", "amx_tile")
    ]
    return all(ask is not None and not ask() for ask in checks)


def ahead(items: Iterator[T], count: int) -> Iterator[T]:
    """The same items, up to ``count`` of them prepared ahead in another thread."""
    ready: queue.Queue[tuple[T | None, BaseException | None]] = queue.Queue(count)
    ended = threading.Event()

    def make() -> None:
        try:
            for item in items:
                ready.put((item, None))
                if ended.is_set():
                    return
            ready.put((None, None))
        except BaseException as error:
            ready.put((None, error))

    worker = threading.Thread(target=make, daemon=True)
    worker.start()
    try:
        while True:
            item, error = ready.get()
            if error is not None:
                raise error
            if item is None:
                return
            yield item
    finally:
        ended.set()
        while not ready.empty():
            ready.get()
