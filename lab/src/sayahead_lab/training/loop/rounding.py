"""Weights as published runs keep them: matrices in int8, with the greatest magnitude of each
row."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

LEVELS = 127
"""Steps between 0 and the greatest magnitude of a row."""
SMALL = 2048
"""Tensors of fewer numbers stay in float16, as do embeddings, which graphs keep so."""
LEAST = 2.0**-14
"""The greatest magnitude of a row is at least this, the smallest normal number of float16."""
Rounded = Tensor | tuple[Tensor, Tensor]
"""A tensor, or int8 values (N, ...) and magnitudes (N,) in float16 that stand for 127."""


def rounded(weights: Mapping[str, Tensor], levels: int = LEVELS) -> dict[str, Rounded]:
    """Weights by name, floating-point ones in float16, large matrices in int8 of ``levels`` steps
    to each side of 0.

    The rows of a recurrent layer's two matrices share their magnitudes, as in an exported graph. So
    with 127 levels what a graph has in int8 is the same with and without. Rounding what was rounded
    changes nothing."""
    short = {
        name: value.half() if value.dtype == torch.float32 else value
        for name, value in weights.items()
    }
    large = {
        name: value
        for name, value in short.items()
        if value.dtype == torch.float16 and value.ndim > 1
    }
    large = {
        name: value
        for name, value in large.items()
        if value.numel() >= SMALL and "embedding" not in name
    }
    peaks = {
        name: value.float().flatten(1).abs().amax(1).clamp(min=LEAST)
        for name, value in large.items()
    }
    result = dict[str, Rounded](short)
    for name, value in large.items():
        pair = [
            peaks.get(name.replace(one, other)) for one, other in (("_ih", "_hh"), ("_hh", "_ih"))
        ]
        peak = torch.stack([one for one in (peaks[name], *pair) if one is not None]).amax(0)
        steps = torch.round(value.float().flatten(1) / (peak[:, None] / levels)) * (LEVELS / levels)
        result[name] = torch.round(steps).to(torch.int8).reshape(value.shape), peak.half()
    return result


def unrounded(weights: Mapping[str, Rounded]) -> dict[str, Tensor]:
    """All weights as tensors again; those that were rounded are in float16."""
    return {
        name: value if isinstance(value, Tensor) else restored(*value)
        for name, value in weights.items()
    }


def restored(steps: Tensor, peak: Tensor) -> Tensor:
    """A matrix (N, ...) in float16 of its int8 values and the magnitudes (N,) of its rows."""
    return (steps.flatten(1).float() * (peak.float()[:, None] / LEVELS)).half().reshape(steps.shape)
