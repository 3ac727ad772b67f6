"""A few steps of training by hand."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import nn


def lessons(
    task: Any, model: nn.Module, batches: Iterable[Any], rate: float
) -> list[dict[str, float]]:
    """Each step's parts of the loss, with the ``loss`` itself: a step of Adam for each batch."""
    optimizer = torch.optim.Adam(model.parameters(), rate)
    steps = []
    for step, batch in enumerate(batches):
        loss, parts = task.loss(model, batch, step)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        steps.append({**parts, "loss": float(loss.detach())})
    return steps
