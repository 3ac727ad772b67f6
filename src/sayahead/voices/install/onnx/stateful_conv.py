"""Convolutions that remember: a graph of plain convolutions over time is changed to run a few frames at a time.

Every convolution that sees to its left is given the last inputs of the step before instead of zeros, and hands out
those before *commit*, the frame from which the next step goes on. What it sees to its right is what it is given, and
zeros after it. A cache of zeros is the padding that a sentence begins with. So, where what is given to the right of the
commit is what then comes, steps are the whole.

Only so much is computed right of the commit as what follows in the graph sees of it: a decoder's last layers, which
are most of its work, need a frame where its first one needs twelve.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sayahead.errors import VoiceError
from sayahead.voices.install.onnx.graph import FLOAT, INT64, Graph, attributes

LOCAL = {
    "Add",
    "Cast",
    "Concat",
    "Constant",
    "ConstantOfShape",
    "Conv",
    "ConvTranspose",
    "Div",
    "Exp",
    "Expand",
    "Flatten",
    "Gather",
    "Identity",
    "LeakyRelu",
    "Mul",
    "Neg",
    "Pow",
    "Reshape",
    "Shape",
    "Sigmoid",
    "Slice",
    "Split",
    "Squeeze",
    "Sub",
    "Tanh",
    "Unsqueeze",
    "Where",
}
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


def with_caches(model: Any, ahead: int, *, where: str, trim: Sequence[str] = ("ConvTranspose", "Split")) -> Any:
    """The same part of a VITS with a cache for each convolution and the commit as one more input.

    ``ahead`` is how many of its output's rows after the commit must be right; in front of nodes of the types in
    ``trim``, what these do not need is left out. Inputs are ``rows``, ``commit`` (1,) and ``cache0`` ... (1, C, L);
    outputs ``next0`` ... . VoiceError for a part with nodes that this cannot be done to.
    """
    graph = Graph(model, where=where)
    unknown = sorted({node.op_type for node in graph.nodes} - LOCAL)
    if unknown:
        raise VoiceError(f"{where} is no VITS that this version knows: its flow or its decoder has {unknown[0]} nodes.")
    helper, (layers, scales), needed = graph.onnx.helper, find_layers(graph), rows_needed(graph, ahead)
    of_number = {layer.number: (place, layer) for place, layer in enumerate(layers)}
    nodes, weights, scaled = list[Any](), list(graph.weights.values()), dict[int, str]()

    def constant(name: str, values: list[int]) -> str:
        weights.append(graph.onnx.numpy_helper.from_array(np.array(values, np.int64), name))
        return name

    axis, start = constant("time_axis", [2]), constant("start", [0])
    timed = graph.after("rows")
    for scale in sorted({*scales.values()}):
        scaled[scale] = f"commit_{scale}"
        nodes.append(helper.make_node("Mul", ["commit", constant(f"rows_{scale}", [scale])], [scaled[scale]]))
    for number, node in enumerate(graph.nodes):
        copy = type(node)()
        copy.CopyFrom(node)
        data = node.input[0] if node.input else ""
        if node.op_type in trim and data in timed:
            data, end = f"trimmed{number}", f"until{number}"
            rows = constant(f"needed{number}", [needed[node.input[0]]])
            nodes.append(helper.make_node("Add", [scaled[scales.get(node.input[0], 1)], rows], [end]))
            nodes.append(helper.make_node("Slice", [node.input[0], start, end, axis], [data]))
            copy.input[0] = data
        if number in of_number:
            place, layer = of_number[number]
            seen, begin, end = f"seen{place}", scaled[layer.scale], f"end{place}"
            nodes.append(helper.make_node("Concat", [f"cache{place}", data], [seen], axis=2))
            nodes.append(helper.make_node("Add", [begin, constant(f"past{place}", [layer.past])], [end]))
            nodes.append(helper.make_node("Slice", [seen, begin, end, axis], [f"next{place}"]))
            copy.input[0] = seen
            shift_pads(copy, layer.past * (attributes(graph, node)["strides"][0] if is_up(node) else -1))
        nodes.append(copy)
    caches = [(f"{{}}{place}", FLOAT, (1, layer.channels, layer.past)) for place, layer in enumerate(layers)]
    given = [*model.graph.input, helper.make_tensor_value_info("commit", INT64, (1,))]
    given += [helper.make_tensor_value_info(name.format("cache"), *rest) for name, *rest in caches]
    made = [*model.graph.output, *(helper.make_tensor_value_info(name.format("next"), *rest) for name, *rest in caches)]
    changed = helper.make_graph(nodes, "streamed", given, made, weights)
    return helper.make_model(changed, opset_imports=model.opset_import, ir_version=model.ir_version)


def is_up(node: Any) -> bool:
    """Whether a node makes more rows of its input's."""
    return bool(node.op_type == "ConvTranspose")


def rows_needed(graph: Graph, ahead: int) -> dict[str, int]:
    """How many of each tensor's rows after the commit it takes for ``ahead`` of the output's."""
    needed = dict.fromkeys(graph.outputs, ahead)
    for node in reversed(graph.nodes):
        rows = max((needed.get(made, 0) for made in node.output), default=0)
        if node.op_type == "Conv":
            rows += attributes(graph, node).get("pads", [0, 0])[1]
        if is_up(node):
            about = attributes(graph, node)
            rows = (rows - 1 + about.get("pads", [0, 0])[0]) // about["strides"][0] + 1
        for tensor in node.input:
            needed[tensor] = max(needed.get(tensor, 0), rows)
    return needed


def find_layers(graph: Graph) -> tuple[list[Layer], dict[str, int]]:
    """The convolutions with a past, and how many rows of each tensor make a frame; VoiceError for what is not plain."""
    scales, layers = {"rows": 1}, list[Layer]()
    for number, node in enumerate(graph.nodes):
        scale = max((scales.get(tensor, 1) for tensor in node.input), default=1)
        if node.op_type in ("Conv", "ConvTranspose"):
            about, weight = attributes(graph, node), graph.value(node.input[1])
            if weight is None or weight.ndim != 3:
                raise VoiceError(f"{graph.where} is no VITS that this version knows: a convolution's weights vary.")
            past = reach(graph, about, weight.shape[2], up=is_up(node))
            channels = weight.shape[0] if is_up(node) else weight.shape[1] * about.get("group", 1)
            if past:
                layers.append(Layer(number, channels, past, scale))
            scale *= about.get("strides", [1])[0] if is_up(node) else 1
        scales |= dict.fromkeys(node.output, scale)
    return layers, scales


def reach(graph: Graph, about: dict[str, Any], kernel: int, *, up: bool) -> int:
    """Rows to its left that a convolution sees; VoiceError for one that does not keep its place in time."""
    stride, dilation = about.get("strides", [1])[0], about.get("dilations", [1])[0]
    begin, end = about.get("pads", [0, 0])
    plain = about.get("auto_pad", b"NOTSET") == b"NOTSET" and not any(about.get("output_padding", [0]))
    if up and plain and dilation == 1 and begin + end == kernel - stride and begin < kernel:
        return int((kernel - 1 - begin) // stride)
    if not up and plain and stride == 1 and begin + end == dilation * (kernel - 1):
        return int(begin)
    raise VoiceError(f"{graph.where} is no VITS that this version knows: a convolution is not as long as its input.")


def shift_pads(node: Any, by: int) -> None:
    """Take another count of zeros before a convolution's input: fewer, or of a transposed one's output more off."""
    for attribute in node.attribute:
        if attribute.name == "pads":
            attribute.ints[0] += by
