"""The optimizer that a recipe asks for."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor

from sayahead_lab.training.loop.task import TrainSettings


def optimizer(settings: TrainSettings, weights: Iterable[Tensor]) -> torch.optim.Optimizer:
    """Adam, with L2 regularization in the gradient or with AdamW's decoupled decay; the loop sets
    its rate."""
    kind = torch.optim.AdamW if settings.weight_decay else torch.optim.Adam
    decay = settings.weight_decay or settings.l2
    betas = (settings.betas[0], settings.betas[1])
    return kind(weights, lr=0.0, betas=betas, eps=settings.eps, weight_decay=decay, fused=True)
