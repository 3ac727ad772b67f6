"""The default voice's weights on their way between hibari's graph, PyTorch and our graphs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import torch
from sayahead.voices.install.onnx.graph import Array
from torch import Tensor, nn

from sayahead_lab.training.graph.builder import Weights, quantized
from sayahead_lab.training.hibari import dense

ENCODERS = {"sound": "m.text", "text": "pn.text"}
"""Text encoders by our name and hibari's."""
ATTENTION = {
    "in_proj": "self_attn.in_proj",
    "out_proj": "self_attn.out_proj",
    "linear1": "linear1",
    "linear2": "linear2",
}


def imported(teacher: Weights) -> dict[str, Tensor]:
    """hibari's weights by the names of ``network.Heart``."""
    weights = {name: tensor(teacher[theirs]) for name, theirs in plain_names()}
    for name in ("prosody.pro_in.weight", "prosody.pro_out.weight", "dur_out.weight"):
        weights[name] = weights[name][..., 0]
    return weights | {f"{name}.weight": dense(teacher, theirs) for name, theirs in linear_names()}


class TrainedWeights:
    """A trained ``Heart`` as the graphs' builder wants it: by hibari's names, linear layers int8 by
    column."""

    def __init__(self, model: nn.Module) -> None:
        state = {name: value.detach().float().numpy() for name, value in model.state_dict().items()}
        self._tensors: dict[str, Array] = {theirs: state[name] for name, theirs in plain_names()}
        for name in ("pn.pro_in.weight", "pn.pro_out.weight", "pn.dur.2.weight"):
            self._tensors[name] = self._tensors[name][..., None]
        self._linears = {
            theirs: quantized(state[f"{name}.weight"].T) for name, theirs in linear_names()
        }
        for name, part in ENCODERS.items():
            self._tensors[f"{part}.future"] = state[f"{name}.future"]
            self._tensors[f"{part}.context"] = state[f"{name}.context.weight"]
        self._tensors |= expectation(state)

    @property
    def linears(self) -> Mapping[str, tuple[Array, Array]]:
        return self._linears

    def __getitem__(self, name: str) -> Array:
        return self._tensors[name]


def expectation(state: Mapping[str, Array]) -> dict[str, Array]:
    """The context network's weights as ONNX's GRU has them: gates in the order update, reset, new;
    both directions."""
    weights = {"expect.emb": state["expect.emb.weight"], "expect.out": state["expect.out.weight"]}
    weights["expect.out_bias"] = state["expect.out.bias"]
    for name, kind in (("input", "weight_ih"), ("hidden", "weight_hh")):
        weights[f"expect.{name}"] = np.stack(
            [gates(state[f"expect.gru.{kind}_l0{d}"]) for d in ("", "_reverse")]
        )
    biases = [
        [gates(state[f"expect.gru.bias_{k}_l0{d}"]) for k in ("ih", "hh")] for d in ("", "_reverse")
    ]
    weights["expect.bias"] = np.stack([np.concatenate(pair) for pair in biases])
    return weights


def gates(weight: Array) -> Array:
    """torch's reset, update, new (3 H, ...) as ONNX's update, reset, new."""
    reset, update, new = np.split(weight, 3)
    return np.concatenate([update, reset, new])


def tensor(array: Array) -> Tensor:
    """A copy of the array in float32."""
    return torch.from_numpy(np.array(array, np.float32))


BLOCK_LEAVES = "dw.weight dw.bias norm.weight norm.bias gamma pw1.bias pw2.bias".split()
"""What a block of convolutions has besides its linear layers' weights."""


def plain_names() -> Iterator[tuple[str, str]]:
    """Our name and hibari's of each tensor that is kept as it is."""
    for name, part in ENCODERS.items():
        yield f"{name}.emb.weight", f"{part}.emb.weight"
        for i in range(2):
            for leaf in BLOCK_LEAVES:
                yield f"{name}.convs.{i}.{leaf}", f"{part}.convs.{i}.{leaf}"
        for leaf in ("norm1.weight", "norm1.bias", "norm2.weight", "norm2.bias"):
            yield f"{name}.{leaf}", f"{part}.attn.{leaf}"
        for own, theirs in ATTENTION.items():
            mark = "_bias" if own == "in_proj" else ".bias"
            yield f"{name}.{own}.bias", f"{part}.attn.{theirs}{mark}"
        for leaf in ("norm.weight", "norm.bias"):
            yield f"{name}.{leaf}", f"{part}.{leaf}"
    for leaf in ("weight", "bias"):
        yield f"dur_in.{leaf}", f"pn.dur.0.{leaf}"
        yield f"dur_out.{leaf}", f"pn.dur.2.{leaf}"
        yield f"prosody.pro_in.{leaf}", f"pn.pro_in.{leaf}"
        yield f"prosody.pro_out.{leaf}", f"pn.pro_out.{leaf}"
    for i in range(6):
        for leaf in BLOCK_LEAVES:
            yield f"prosody.pro.{i}.{leaf}", f"pn.pro.{i}.{leaf}"


def linear_names() -> Iterator[tuple[str, str]]:
    """Our name and hibari's of each linear layer that is int8 in the files."""
    for name, part in ENCODERS.items():
        for i in range(2):
            for layer in ("pw1", "pw2"):
                yield f"{name}.convs.{i}.{layer}", f"{part}.convs.{i}.{layer}"
        for own, theirs in ATTENTION.items():
            yield f"{name}.{own}", f"{part}.attn.{theirs}"
    for i in range(6):
        for layer in ("pw1", "pw2"):
            yield f"prosody.pro.{i}.{layer}", f"pn.pro.{i}.{layer}"
