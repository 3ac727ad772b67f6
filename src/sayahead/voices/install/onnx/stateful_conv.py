"""Convolutions that remember: a graph of plain convolutions over time is changed to run a few
frames at a time.

Every convolution that sees to its left is given the last inputs of the step before instead of
zeros, and returns those before *commit*, the frame from which the next step goes on. What it sees
to its right is what it is given, and zeros after it. A cache of zeros is the padding that a
sentence begins with. So, where what is given to the right of the commit is what then comes, steps
are the whole.

Right of the commit, only what the rest of the graph sees is computed: a decoder's last layers,
which are most of its work, need a frame where its first one needs twelve."""

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
"""Nodes that a part of a VITS may have; none of them mixes frames but the convolutions."""


@dataclass(frozen=True, slots=True)
class Layer:
    """A convolution with a past."""

    number: int
    """Its place among the graph's nodes."""
    channels: int
    """Of its input."""
    past: int
    """Rows of its input before the first that it is given."""
    scale: int
    """Its rows to a frame."""


def with_caches(
    graph: Graph, ahead: int, *, trim: Sequence[str] = ("ConvTranspose", "Split")
) -> Graph:
    """The same part of a VITS with a cache for each convolution and the commit as one more input.

    ``ahead`` is how many of its output's rows after the commit must be right; in front of nodes of
    the types in ``trim``, what these do not need is left out. Inputs are ``rows``, ``commit`` (1,)
    and ``cache0`` ... (1, C, L); outputs ``next0`` ... . VoiceError for a part with nodes that this
    cannot be done to."""
    unknown = sorted({node.op_type for node in graph.nodes} - LOCAL)
    if unknown:
        raise graph.strange(f"has {unknown[0]} nodes in its flow or its decoder")
    layers, scales = find_layers(graph)
    needed = rows_needed(graph, ahead)
    timed = graph.downstream("rows")
    of_number = {layer.number: (place, layer) for place, layer in enumerate(layers)}
    new = Nodes("cached_")
    changes = dict[int, list[Any]]()

    def whole(number: int) -> str:
        return new.constant(np.array([number], np.int64))

    commits = {scale: new.op("Mul", "commit", whole(scale)) for scale in sorted({*scales.values()})}
    for number, node in enumerate(graph.nodes):
        copy = copied(node, {})
        if node.op_type in trim and node.input[0] in timed:
            end = new.op("Add", commits[scales.get(node.input[0], 1)], whole(needed[node.input[0]]))
            copy.input[0] = new.op("Slice", node.input[0], whole(0), end, whole(2))
        if number in of_number:
            place, layer = of_number[number]
            begin = commits[layer.scale]
            copy.input[0] = new.op("Concat", f"cache{place}", copy.input[0], axis=2)
            end = new.op("Add", begin, whole(layer.past))
            new.op("Slice", copy.input[0], begin, end, whole(2), name=f"next{place}")
            shift_pads(copy, layer.past * (attributes(node)["strides"][0] if is_up(node) else -1))
        changes[number] = [*new.taken(), copy]
    info = graph.onnx.helper.make_tensor_value_info
    caches, nexts = (
        [
            info(f"{name}{place}", FLOAT, (1, layer.channels, layer.past))
            for place, layer in enumerate(layers)
        ]
        for name in ("cache", "next")
    )
    return graph.rewritten(
        changes, new.weights, inputs=[info("commit", INT64, (1,)), *caches], outputs=nexts
    )


def is_up(node: Any) -> bool:
    """Whether a node makes several rows of each row of its input."""
    return bool(node.op_type == "ConvTranspose")


def rows_needed(graph: Graph, ahead: int) -> dict[str, int]:
    """How many rows of each tensor, behind those that are final, it takes to compute ``ahead``
    rows of the output behind its final ones."""
    needed = dict.fromkeys(graph.outputs, ahead)
    for node in reversed(graph.nodes):
        rows = max((needed.get(tensor, 0) for tensor in node.output), default=0)
        if node.op_type == "Conv":
            rows += attributes(node).get("pads", [0, 0])[1]
        if is_up(node):
            # Each row of the input makes as many as the strides say, less the padding before them.
            about = attributes(node)
            rows = (rows - 1 + about.get("pads", [0, 0])[0]) // about["strides"][0] + 1
        for tensor in node.input:
            needed[tensor] = max(needed.get(tensor, 0), rows)
    return needed


def find_layers(graph: Graph) -> tuple[list[Layer], dict[str, int]]:
    """The convolutions with a past, and how many rows of each tensor make a frame; VoiceError for
    what is not plain."""
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
    """Rows to its left that a convolution sees; VoiceError for one that does not keep its place in
    time."""
    stride = about.get("strides", [1])[0]
    dilation = about.get("dilations", [1])[0]
    begin, end = about.get("pads", [0, 0])
    plain = about.get("auto_pad", b"NOTSET") == b"NOTSET" and not any(
        about.get("output_padding", [0])
    )
    if up and plain and dilation == 1 and begin + end == kernel - stride and begin < kernel:
        return int((kernel - 1 - begin) // stride)
    if not up and plain and stride == 1 and begin + end == dilation * (kernel - 1):
        return int(begin)
    raise graph.strange("has a convolution that is not as long as its input")


def shift_pads(node: Any, by: int) -> None:
    """Take another count of zeros before a convolution's input: fewer, or of a transposed one's
    output more off."""
    for attribute in node.attribute:
        if attribute.name == "pads":
            attribute.ints[0] += by
