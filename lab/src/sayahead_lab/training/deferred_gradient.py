"""A linear layer for every step of a loop, whose weights get their gradient once for all steps."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

Uses = list[tuple[Tensor, Tensor]]
"""Inputs (B, D) and gradients of outputs (B, N) of the steps that have run backward."""


class Deferred:
    """x W of rows x (B, D) and weights (N, D), in autocast's precision, for any number of calls.

    Otherwise each backward step of a loop computes and adds a whole matrix, which takes longer than
    all the rest. Second derivatives are not supported.
    """

    def __init__(self, weight: Tensor) -> None:
        device = weight.device.type
        if torch.is_autocast_enabled(device):
            weight = weight.to(torch.get_autocast_dtype(device))
        self._uses: Uses = []
        self._weight: Tensor = _Shared.apply(weight, self._uses)  # type: ignore[no-untyped-call]

    def __call__(self, x: Tensor) -> Tensor:
        out: Tensor = _Use.apply(x.to(self._weight.dtype), self._weight, self._uses)  # type: ignore[no-untyped-call]
        return out


class _Shared(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, weight: Tensor, uses: Uses) -> Tensor:
        ctx.uses = uses
        return weight.view_as(weight)

    @staticmethod
    def backward(ctx: Any, *_: Tensor) -> tuple[Tensor, None]:
        inputs, grads = (torch.cat(parts) for parts in zip(*ctx.uses, strict=True))
        ctx.uses.clear()
        return grads.t() @ inputs, None


class _Use(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, uses: Uses) -> Tensor:
        ctx.save_for_backward(x, weight)
        ctx.uses = uses
        return x @ weight.t()

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None]:
        x, weight = ctx.saved_tensors
        ctx.uses.append((x, grads[0]))
        return grads[0] @ weight, None, None
