"""Errors that several networks learn from. Axes: B batch, S steps, T frames."""

from __future__ import annotations

import torch
from sayahead.vocoders.pulses import VOICED_HZ
from torch import Tensor
from torch.nn import functional

REFERENCE_HZ = 200.0
"""Pitch is learned as its logarithm relative to this."""


def average(values: Tensor, weights: Tensor) -> Tensor:
    """The mean of values by weights from 0 to 1 of the same shape; 0 where none counts."""
    return (values * weights).sum() / weights.sum().clamp(min=1)


def stop_error(stop: Tensor, ends: Tensor, learned: Tensor, *, positive: float) -> Tensor:
    """Mean cross entropy of logits ``stop`` (B, S) with ``ends`` (B, S), over the steps ``learned``
    (B, S).

    ``positive`` weighs the steps that are an end, which are few.
    """
    weight = torch.tensor(positive, device=stop.device)
    unsure = functional.binary_cross_entropy_with_logits(
        stop, ends, reduction="none", pos_weight=weight
    )
    return average(unsure, learned)


def pitch_errors(
    log_pitch: Tensor, voicing: Tensor, f0: Tensor, counts: Tensor
) -> tuple[Tensor, Tensor]:
    """Error of log(pitch / 200 Hz) (B, T) in voiced frames, and cross entropy of the logit of being
    voiced (B, T).

    ``f0`` (B, T) is in Hz, ``counts`` (B, T) 1 for frames that count. The error is ten times the
    mean absolute one: a pitch that is off by a tenth weighs as much as an entropy of 1 nat."""
    voiced = (f0 > VOICED_HZ).float()
    wrong = (log_pitch - torch.log(f0.clamp(min=VOICED_HZ) / REFERENCE_HZ)).abs()
    unsure = functional.binary_cross_entropy_with_logits(voicing, voiced, reduction="none")
    return 10 * average(wrong, voiced * counts), average(unsure, counts)


def guided_attention(weights: Tensor, lengths: Tensor, learned: Tensor, width: float) -> Tensor:
    """Mean of ``A[s, p] (1 - exp(-(p / P - s / S)^2 / 2 g^2))`` over steps that count (Tachibana et
    al., Eq. 5, 6).

    ``weights`` (B, S, P) are logarithms; a step's sum over phonemes stands for their mean, so that
    it does not fall with the length of the text.
    """
    places = torch.arange(weights.shape[2], device=weights.device) / lengths[:, None]
    steps = torch.arange(weights.shape[1], device=weights.device) / learned.sum(1, keepdim=True)
    apart = places[:, None] - steps[..., None]
    penalty = 1 - torch.exp(-apart.square() / (2 * width**2))
    return average((weights.exp() * penalty).sum(-1), learned)
