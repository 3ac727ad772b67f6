"""Convolutions over time as convolutions over a plane of height one.

They say the same; but ONNX Runtime has faster kernels for planes (channels in blocks), and takes the plain way, by a
product of large matrices, for whatever has one axis.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sayahead.voices.install.onnx.graph import Graph, attributes
from sayahead.voices.install.onnx.simplify import rewritten

AXIS = 2
"""Where the axis of one lies."""


def with_planes(model: Any, *, where: str) -> Any:
    """The same graph with each convolution of more than one tap over a plane."""
    graph = Graph(model, where=where)
    helper, arrays = graph.onnx.helper, graph.onnx.numpy_helper
    weights, changes = {"plane_axis": np.array([AXIS], np.int64)}, dict[int, list[Any]]()
    for number, node in enumerate(graph.nodes):
        weight = graph.value(node.input[1]) if node.op_type == "Conv" else None
        if weight is None or weight.ndim != 3 or weight.shape[2] == 1:
            continue
        name, about = f"{node.input[1]}_plane", attributes(graph, node)
        weights[name] = np.expand_dims(weight, AXIS)
        for key in ("dilations", "strides", "kernel_shape"):
            if key in about:
                about[key] = [1, *about[key]]
        if "pads" in about:
            about["pads"] = [0, about["pads"][0], 0, about["pads"][1]]
        inputs = [f"rows{number}", name, *node.input[2:]]
        changes[number] = [
            helper.make_node("Unsqueeze", [node.input[0], "plane_axis"], [f"rows{number}"]),
            helper.make_node("Conv", inputs, [f"plane{number}"], **about),
            helper.make_node("Squeeze", [f"plane{number}", "plane_axis"], [node.output[0]]),
        ]
    return rewritten(graph, changes, [arrays.from_array(value, name) for name, value in weights.items()])
