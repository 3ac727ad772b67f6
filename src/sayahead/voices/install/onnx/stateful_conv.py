"""Gives convolutions a cache, so that a graph of convolutions over time runs a few frames at a
time.

A convolution that sees to its left reads the last inputs of the previous step from its cache
instead of zeros, and returns those before *commit*, the frame at which the next step begins. To the
right it sees the frames that it is given, then zeros. A cache of zeros is the padding at the
beginning of a sentence. If the frames given to the right of the commit are those that the next step
begins with, steps give the same as the whole.

To the right of the commit, only what later layers need is computed: the last layers of a decoder,
which are most of its work, need one frame where the first one needs twelve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sayahead.voices.install.onnx.graph import FLOAT, INT64, Graph, Nodes, attributes, copied

LOCAL = set(
    (
        "Add Cast Concat Constant ConstantOfShape Conv ConvTranspose Div Exp Expand Flatten Gather"
        " Identity LeakyRelu Mul Neg Pow Reshape Shape Sigmoid Slice Split Squeeze Sub Tanh"
        " Unsqueeze Where"
    ).split()
)
"""Operators that a part of a VITS may have. Of these, only convolutions mix frames."""


@dataclass(frozen=True, slots=True)
class Layer:
    """A convolution that sees to its left."""

    number: int
    """Its index among the graph's nodes."""
    channels: int
    """Channels of its input."""
    past: int
    """Rows of its cache: how far it sees to the left of a row."""
    scale: int
    """Rows of its input per frame."""


def with_caches(
    graph: Graph, ahead: int, *, trim: Sequence[str] = ("ConvTranspose", "Split")
) -> Graph:
    """Return a part of a VITS with a cache for each convolution that sees to its left.

    The part's input is ``rows``; inputs ``commit`` (1,) and ``cache0``, ``cache1``, ... (1, C, L)
    are added, and outputs ``next0``, ``next1``, ... with the next caches. ``ahead``: how many rows
    of the output after the commit must be right. ``trim``: operators before which rows that are
    not needed for these are dropped. VoiceError if a node may mix frames in another way."""
    unknown = sorted({node.op_type for node in graph.nodes} - LOCAL)
    if unknown:
        raise graph.strange(f"has {unknown[0]} nodes in its flow or its decoder")
    layers, scales = find_layers(graph)
    needed = rows_needed(graph, ahead)
    timed = graph.downstream("rows")
    cached = {layer.number: (cache, layer) for cache, layer in enumerate(layers)}
    new = Nodes("cached_")
    changes = dict[int, list[Any]]()

    def integer(value: int) -> str:
        return new.constant(np.array([value], np.int64))

    commits = {
        scale: new.op("Mul", "commit", integer(scale)) for scale in sorted({*scales.values()})
    }
    for number, node in enumerate(graph.nodes):
        copy = copied(node, {})
        if node.op_type in trim and node.input[0] in timed:
            tensor = node.input[0]
            end = new.op("Add", commits[scales.get(tensor, 1)], integer(needed[tensor]))
            copy.input[0] = new.op("Slice", tensor, integer(0), end, integer(2))
        if number in cached:
            cache, layer = cached[number]
            begin = commits[layer.scale]
            copy.input[0] = new.op("Concat", f"cache{cache}", copy.input[0], axis=2)
            end = new.op("Add", begin, integer(layer.past))
            new.op("Slice", copy.input[0], begin, end, integer(2), name=f"next{cache}")
            # Rows from the cache replace padding, and what they make upsampled is cut off.
            shift_pads(copy, layer.past * (attributes(node)["strides"][0] if is_up(node) else -1))
        changes[number] = [*new.take(), copy]
    info = graph.onnx.helper.make_tensor_value_info
    caches, nexts = (
        [
            info(f"{name}{cache}", FLOAT, (1, layer.channels, layer.past))
            for cache, layer in enumerate(layers)
        ]
        for name in ("cache", "next")
    )
    return graph.rewritten(
        changes, new.weights, inputs=[info("commit", INT64, (1,)), *caches], outputs=nexts
    )


def is_up(node: Any) -> bool:
    """Return whether a node upsamples: whether it is a transposed convolution."""
    return bool(node.op_type == "ConvTranspose")


def rows_needed(graph: Graph, ahead: int) -> dict[str, int]:
    """Return how many rows of each tensor after the commit are needed to compute ``ahead`` rows of
    the outputs after it."""
    needed = dict.fromkeys(graph.outputs, ahead)
    for node in reversed(graph.nodes):
        rows = max((needed.get(tensor, 0) for tensor in node.output), default=0)
        if node.op_type == "Conv":
            rows += attributes(node).get("pads", [0, 0])[1]
        if is_up(node):
            # Each row of the input makes a stride of rows; the padding cuts off the first ones.
            about = attributes(node)
            rows = (rows - 1 + about.get("pads", [0, 0])[0]) // about["strides"][0] + 1
        for tensor in node.input:
            needed[tensor] = max(needed.get(tensor, 0), rows)
    return needed


def find_layers(graph: Graph) -> tuple[list[Layer], dict[str, int]]:
    """Return the convolutions that see to their left, and the rows per frame of each tensor.
    VoiceError if the weights of a convolution vary, or ``reach`` raises it."""
    scales = {"rows": 1}
    layers = list[Layer]()
    for number, node in enumerate(graph.nodes):
        scale = max((scales.get(tensor, 1) for tensor in node.input), default=1)
        if node.op_type in ("Conv", "ConvTranspose"):
            about = attributes(node)
            weight = graph.value(node.input[1])
            if weight is None or weight.ndim != 3:
                raise graph.strange("has a convolution whose weights vary")
            past = reach(graph, about, weight.shape[2], up=is_up(node))
            channels = weight.shape[0] if is_up(node) else weight.shape[1] * about.get("group", 1)
            if past:
                layers.append(Layer(number, channels, past, scale))
            scale *= about.get("strides", [1])[0] if is_up(node) else 1
        scales |= dict.fromkeys(node.output, scale)
    return layers, scales


def reach(graph: Graph, about: dict[str, Any], kernel: int, *, up: bool) -> int:
    """Return how many rows to its left a convolution sees; ``about`` are its attributes, ``up``
    whether it is transposed.

    VoiceError unless its output is as long as its input, or ``stride`` times as long if it is
    transposed."""
    stride = about.get("strides", [1])[0]
    dilation = about.get("dilations", [1])[0]
    begin, end = about.get("pads", [0, 0])
    has_plain_pads = about.get("auto_pad", b"NOTSET") == b"NOTSET" and not any(
        about.get("output_padding", [0])
    )
    if up:
        keeps_length = dilation == 1 and begin + end == kernel - stride and begin < kernel
        past = (kernel - 1 - begin) // stride
    else:
        keeps_length = stride == 1 and begin + end == dilation * (kernel - 1)
        past = begin
    if has_plain_pads and keeps_length:
        return int(past)
    raise graph.strange("has a convolution that is not as long as its input")


def shift_pads(node: Any, by: int) -> None:
    """Add ``by`` to a convolution's padding at the beginning. That is zeros before its input; of a
    transposed convolution, rows that are cut off its output."""
    for attribute in node.attribute:
        if attribute.name == "pads":
            attribute.ints[0] += by
