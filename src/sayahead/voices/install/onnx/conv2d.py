"""Convolutions over time as convolutions over a plane of height one.

They say the same; but ONNX Runtime has faster kernels for planes (channels in blocks), and takes
the plain way, by a product of large matrices, for whatever has one axis.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sayahead.voices.install.onnx.graph import Graph, Nodes, attributes

AXIS = 2
"""Where the axis of one lies."""


def with_planes(graph: Graph) -> Graph:
    """The same graph with each convolution of more than one tap over a plane."""
    new = Nodes("plane_")
    changes = dict[int, list[Any]]()
    axis = new.constant(np.array([AXIS], np.int64))
    for number, node in enumerate(graph.nodes):
        weight = graph.value(node.input[1]) if node.op_type == "Conv" else None
        if weight is None or weight.ndim != 3 or weight.shape[2] == 1:
            continue
        about = attributes(node)
        for key in {"dilations", "strides", "kernel_shape"} & about.keys():
            about[key] = [1, *about[key]]
        if "pads" in about:
            about["pads"] = [0, about["pads"][0], 0, about["pads"][1]]
        rows = new.op("Unsqueeze", node.input[0], axis)
        kernel = new.constant(np.expand_dims(weight, AXIS))
        plane = new.op("Conv", rows, kernel, *node.input[2:], **about)
        new.op("Squeeze", plane, axis, name=node.output[0])
        changes[number] = new.taken()
    return graph.rewritten(changes, new.weights)
