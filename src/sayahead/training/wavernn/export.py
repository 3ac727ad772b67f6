"""The trained WaveRNN as arrays for the runtime (``sayahead.vocoders.wavernn``)."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from sayahead.training.graph.recurrent import array, normed
from sayahead.training.part import Part, Written
from sayahead.training.wavernn.network import PARTS, WaveRNN, decoded
from sayahead.types import Floats
from sayahead.vocoders.wavernn import WaveRNNModel, WaveRNNVocoder


def about(model: WaveRNN) -> WaveRNNModel:
    """What the runtime has to know beside the weights."""
    c = model.config
    left, right = max(c.left, c.smoothing), max(c.right, c.smoothing)
    return WaveRNNModel(c.n_mels, c.hop, left, right)


def turned(weight: Tensor) -> Floats:
    """A layer's weights (N, K) as (K, N), to multiply rows with."""
    return np.ascontiguousarray(array(weight).T)


def arrays(model: WaveRNN) -> dict[str, Floats]:
    """All weights by the names that the runtime reads; what is linear together is multiplied out."""
    c, conditions, seen = model.config, model.conditions, about(model)
    weights = {"mean": array(conditions.mean), "std": array(conditions.std)}
    sight = np.zeros(seen.left + 1 + seen.right, np.float32)
    sight[seen.left - c.left : seen.left + 1 + c.right] = 1
    weights["sight"], weights["spread"] = sight, spread(model)

    def folded(name: str, weight: Tensor, bias: Tensor, norm: nn.Module) -> None:
        assert isinstance(norm, nn.BatchNorm1d)
        weight_folded, shift = normed(weight, bias, norm)
        weights[name], weights[f"{name}.bias"] = turned(weight_folded.permute(0, 2, 1).flatten(1)), array(shift)

    folded("entry", conditions.input.weight, torch.zeros(c.channels), conditions.norm)
    for number, block in enumerate(conditions.blocks):
        for place, name in enumerate(("first", "second")):
            layer: Any = block.get_submodule(name)
            folded(f"block{number}.{name}", layer.weight, layer.bias, block.get_submodule(f"norms.{place}"))
    weights["parts"], weights["parts.bias"] = turned(conditions.output.weight[..., 0]), array(conditions.output.bias)
    weights |= recurrent(model)
    weights["values"] = array(decoded(torch.arange(c.classes), c.classes))
    return weights


def recurrent(model: WaveRNN) -> dict[str, Floats]:
    """The weights of everything that runs sample by sample."""
    c, weights, part = model.config, dict[str, Floats](), model.config.aux // PARTS
    sample, mel, aux = torch.split(model.input.weight, [1, c.n_mels, part], 1)
    weights["input.sample"], weights["input.bias"] = array(sample[:, 0]), array(model.input.bias)
    weights["input.mel"], weights["input.part"] = turned(mel), turned(aux)
    for name, layer in (("first", model.first), ("second", model.second)):
        inner, outer, inner_bias, outer_bias = layer.all_weights[0]
        weights[f"{name}.inner"], weights[f"{name}.inner.bias"] = turned(inner[:, : c.rnn]), array(inner_bias)
        weights[f"{name}.outer"], weights[f"{name}.outer.bias"] = turned(outer), array(outer_bias)
        if name == "second":
            weights["second.part"] = turned(inner[:, c.rnn :])
    weights["input.sample.gates"] = weights["input.sample"] @ weights["first.inner"]
    for number, wide in ((0, c.rnn), (1, c.dense)):
        weight, bias = (model.dense[number].get_parameter(name) for name in ("weight", "bias"))
        weights[f"dense{number}"], weights[f"dense{number}.part"] = turned(weight[:, :wide]), turned(weight[:, wide:])
        weights[f"dense{number}.bias"] = array(bias)
    weights["out"], weights["out.bias"] = turned(model.output.weight), array(model.output.bias)
    return weights


@torch.no_grad()
def spread(model: WaveRNN) -> Floats:
    """(hop, left + 1 + right) by which the frames around a frame make its samples: the upsampling network is linear."""
    seen, hop = about(model), model.config.hop
    wide = seen.left + 1 + seen.right
    # Two frames of zeros at each end keep the network's own edges away.
    impulses = torch.zeros(1, wide, wide + 4)
    impulses[0, :, 2:-2] = torch.eye(wide)
    up = model.conditions.upsampled(impulses.to(model.conditions.mean.device))[0]
    middle = 2 + seen.left
    return turned(up[:, middle * hop : (middle + 1) * hop])


def runtime(model: WaveRNN) -> WaveRNNVocoder:
    """The vocoder at run time."""
    return WaveRNNVocoder(about(model), arrays(model))


def export(model: WaveRNN, folder: Path) -> Written:
    """Write ``wavernn.npz``; its path, and what a voice's ``model`` table says of it under ``vocoder``."""
    path = folder / "wavernn.npz"
    kept: dict[str, Any] = {
        name: value.astype(np.float16) if value.ndim > 1 else value for name, value in arrays(model).items()
    }
    np.savez(path, **kept)
    return [path], asdict(about(model))


PART: Part[WaveRNN] = Part("wavernn", "WaveRNN", lambda run, folder: export(run.model, folder))
