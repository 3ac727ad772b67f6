"""The weights of a voice folder's graphs, read back: training can continue from a voice whose runs
are gone.

The graphs are built a second time with numbers in place of weights, each of which names one weight.
What a voice's own graphs have where the others have a number is that weight, whatever was turned,
cut or joined on the way."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from sayahead.errors import ConfigError
from sayahead.voices import read_config
from sayahead.voices.install.onnx.graph import Array
from torch import Tensor, nn

from sayahead_lab.training.graph.builder import GraphBuilder, Range, Weights, quantized
from sayahead_lab.training.heart.export import (
    HEADS,
    decoder_graph,
    expect_graph,
    prosody_graph,
    text_graph,
)
from sayahead_lab.training.heart.network import Heart, HeartNetworkConfig, load_imported
from sayahead_lab.training.heart.weights import (
    ENCODERS,
    expectation,
    gates,
    imported,
    linear_names,
    plain_names,
    tensor,
)
from sayahead_lab.training.hibari import heart_weights
from sayahead_lab.training.voice_parts import Written

GAMMA = ".gamma"


class Numbered:
    """Numbers from 1 in place of a model's weights, by hibari's names (``builder.Weights``);
    layers' scales are 1."""

    def __init__(self, model: nn.Module) -> None:
        state = {name: value.detach().numpy() for name, value in model.state_dict().items()}
        sizes = {theirs: state[own].shape for own, theirs in plain_names()}
        for name in ("pn.pro_in.weight", "pn.pro_out.weight", "pn.dur.2.weight"):
            sizes[name] = (*sizes[name], 1)
        for own, part in ENCODERS.items():
            sizes[f"{part}.future"] = state[f"{own}.future"].shape
            sizes[f"{part}.context"] = state[f"{own}.context.weight"].shape
        sizes |= {name: array.shape for name, array in expectation(state).items()}
        self._count = 0
        self.tensors = {name: self._next(size) for name, size in sizes.items()}
        self.tensors |= {
            name: np.ones(size, np.float32) for name, size in sizes.items() if name.endswith(GAMMA)
        }
        layers = {theirs: state[f"{own}.weight"].shape[::-1] for own, theirs in linear_names()}
        scales = {name: self._next(size[1:]) for name, size in layers.items()}
        self.linears = {
            name: (self._next(size).astype(np.int64), scales[name]) for name, size in layers.items()
        }

    def _next(self, shape: tuple[int, ...]) -> Array:
        first = self._count + 1
        self._count += math.prod(shape)
        if self._count >= 2**24:
            raise ConfigError(
                f"a network of {self._count:,} weights is larger than can be read back (16"
                " million)."
            )
        return np.arange(first, self._count + 1, dtype=np.float32).reshape(shape)

    def __getitem__(self, name: str) -> Array:
        return self.tensors[name]

    @property
    def count(self) -> int:
        """Count of the numbers."""
        return self._count


class Shipped:
    """The weights that stand for numbers.

    A block's scale (``gamma``) is known only as a factor of its last layer's; ``like`` has a layer
    of the same size, of which the layer's own part is taken.
    """

    def __init__(self, numbered: Numbered, values: Array, like: Weights) -> None:
        def read(numbers: Array) -> Array:
            return np.asarray(values[numbers.astype(np.int64)])

        self._tensors: dict[str, Array] = {
            name: read(numbers).astype(np.float32) for name, numbers in numbered.tensors.items()
        }
        linears = {
            name: (read(w).astype(np.int8), read(s)) for name, (w, s) in numbered.linears.items()
        }
        for name in [name for name in self._tensors if name.endswith(GAMMA)]:
            last = name.replace(GAMMA, ".pw2")
            weight, product = linears[last]
            theirs, theirs_scale = like.linears[last]
            scale = quantized(theirs * theirs_scale)[1]
            self._tensors[name] = (product / scale).astype(np.float32)
            self._tensors[f"{last}.bias"] = self._tensors[f"{last}.bias"] * scale / product
            linears[last] = (weight, scale)
        self.linears: Mapping[str, tuple[Array, Array]] = linears

    def __getitem__(self, name: str) -> Array:
        return self._tensors[name]


def load_shipped(
    model: nn.Module, folder: Path, like: Weights, ranges: Mapping[str, Range] | None = None
) -> None:
    """Set a ``Heart`` to the weights of a trained voice in a folder.

    ``like``: the imported weights (see ``Shipped``); ``ranges``: those that the voice was written
    with (``lab/recipes/heart/ranges.json``). ConfigError for a folder whose graphs are not written
    as they are today."""
    numbered = Numbered(model)
    values: Array = np.full(numbered.count + 1, np.nan)
    graphs = {
        "text": text_graph(numbered, expects=True, ranges=ranges),
        "prosody": prosody_graph(numbered, ranges=ranges),
        "expect": expect_graph(numbered),
    }
    for name, graph in graphs.items():
        for numbers, entries in _pairs(graph, folder / f"{name}.onnx"):
            np.put(values, numbers, entries)
    weights = Shipped(numbered, values, like)
    state = {**imported(weights), **dict(_new_weights(weights))}
    missing = sorted(name for name, value in state.items() if not bool(torch.isfinite(value).all()))
    if missing:
        raise ConfigError(f"{folder} has graphs without the weights of {', '.join(missing[:3])}.")
    load_imported(model, state)


def context_of(folder: Path, model: nn.Module) -> dict[str, Tensor]:
    """The context network's weights in a voice's folder, by the names of a ``Heart``, which gives
    their sizes."""
    numbered = Numbered(model)
    values: Array = np.ones(numbered.count + 1)
    for numbers, entries in _pairs(expect_graph(numbered), folder / "expect.onnx"):
        np.put(values, numbers, entries)
    weights = Shipped(numbered, values, heart_weights())
    return {name: value for name, value in _new_weights(weights) if name.startswith("expect.")}


def renewed(voice: Path, folder: Path, ranges: Mapping[str, Range] | None = None) -> Written:
    """Write the graphs of a trained voice's folder as they are written today, with the same weights
    to the bit.

    A layout may change what stands between the weights, but not their order and shapes. ``ranges``
    are those that the voice was written with. Their paths, and what its ``model`` table says of the
    future tokens; ConfigError for a folder whose graphs have other weights, and for another
    speaker's, whose decoder is not the imported one."""
    model = read_config(voice).model
    table: dict[str, Any] = {name: model[name] for name in ("futures", "context") if name in model}
    if len(table) < 2:
        raise ConfigError(
            f"{voice} is no trained voice of the kind heart: it has no future tokens."
        )
    teacher = heart_weights()
    head = teacher.linears["m.head"][0]
    if not any(
        np.array_equal(numpy_helper.to_array(one), head)
        for one in _read(voice / "decoder.onnx").initializer
    ):
        raise ConfigError(
            f"{voice} has a decoder of its own: write it anew from its run, as when it was made."
        )
    numbered = Numbered(
        Heart(HeartNetworkConfig(futures=len(table["futures"]), context=table["context"]))
    )
    graphs = {
        "prosody": prosody_graph(numbered, ranges=ranges),
        "text": text_graph(numbered, expects=True, ranges=ranges),
        "expect": expect_graph(numbered),
    }
    paths = [folder / "decoder.onnx"]
    decoder_graph(teacher, ranges=ranges).save(str(paths[0]))
    for name, graph in graphs.items():
        paths.append(folder / f"{name}.onnx")
        before = _read(voice / paths[-1].name)
        _unscaled(before)
        there = [one for one in before.initializer if _is_weight(numpy_helper.to_array(one))]
        places = [
            at for at, one in enumerate(graph.weights) if _is_weight(numpy_helper.to_array(one))
        ]
        if [list(graph.weights[at].dims) for at in places] != [list(one.dims) for one in there]:
            raise ConfigError(
                f"{voice / paths[-1].name} has other weights than this voice with these ranges."
            )
        for at, weight in zip(places, there, strict=True):
            weight.name = graph.weights[at].name
            graph.weights[at] = weight
        graph.save(str(paths[-1]))
    return paths, table


def _read(path: Path) -> onnx.GraphProto:
    """The graph of a file; ConfigError where it is not a graph."""
    try:
        return onnx.load(str(path)).graph
    except Exception as error:
        raise ConfigError(f"{path} cannot be read as a graph: {error}") from error


def _unscaled(graph: onnx.GraphProto) -> None:
    """Take the scale of the dot product out of the projections of queries, where an earlier version
    has put it."""
    bodies = [
        value.g
        for node in graph.node
        if node.op_type == "Scan"
        for value in node.attribute
        if value.name == "body"
    ]
    weights = {one.name: one for one in graph.initializer}
    for body in bodies:
        makers = {name: node for node in body.node for name in node.output}
        for split in (node for node in body.node if node.op_type == "Split"):
            projection = makers[split.input[0]]
            for name in (projection.input[3], projection.input[6]):
                values = numpy_helper.to_array(weights[name]).copy()
                width = len(values) // 3
                values[:width] /= (width // HEADS) ** -0.5
                weights[name].CopyFrom(numpy_helper.from_array(values, name))


def _is_weight(array: Array) -> bool:
    """Whether a constant is a weight, or a scale: the others are single numbers, sizes and
    zeros."""
    kind = array.dtype == np.float32 or (array.dtype in (np.int8, np.int64) and array.ndim == 2)
    return bool(array.ndim and kind and array.any())


def _pairs(graph: GraphBuilder, path: Path) -> Iterator[tuple[Array, Array]]:
    """Numbers and what a voice's graph has in their places."""
    there = {one.name: numpy_helper.to_array(one) for one in _read(path).initializer}
    numbers = {one.name: numpy_helper.to_array(one) for one in graph.weights}
    if {name: array.shape for name, array in numbers.items()} != {
        name: array.shape for name, array in there.items()
    }:
        raise ConfigError(
            f"{path} is not as a trained voice of the kind heart is written today with these"
            " ranges: make the voice again with `sayahead train voice`, or name the ranges that it"
            " was made with."
        )
    for name, array in numbers.items():
        # Numbers are in float32 (plain weights, scales) or in matrices of int64 (layers); all else
        # is the graph's own.
        if array.ndim and (
            array.dtype == np.float32 or (array.dtype == np.int64 and array.ndim == 2)
        ):
            whole = array.astype(np.int64)
            yield whole[whole > 0], there[name][whole > 0]


def _new_weights(weights: Weights) -> Iterator[tuple[str, Tensor]]:
    """The weights that the imported voice does not have, by our names."""
    for own, part in ENCODERS.items():
        yield f"{own}.future", tensor(weights[f"{part}.future"])
        yield f"{own}.context.weight", tensor(weights[f"{part}.context"])
    yield "expect.emb.weight", tensor(weights["expect.emb"])
    yield "expect.out.weight", tensor(weights["expect.out"])
    yield "expect.out.bias", tensor(weights["expect.out_bias"])
    for way, mark in enumerate(("", "_reverse")):
        for name, kind in (("input", "ih"), ("hidden", "hh")):
            yield (
                f"expect.gru.weight_{kind}_l0{mark}",
                tensor(gates(weights[f"expect.{name}"][way])),
            )
        for bias, kind in zip(np.split(weights["expect.bias"][way], 2), ("ih", "hh"), strict=True):
            yield f"expect.gru.bias_{kind}_l0{mark}", tensor(gates(bias))
