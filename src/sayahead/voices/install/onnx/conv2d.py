"""Rewrites convolutions over time as two-dimensional ones over a plane of height one.

The result is the same, but ONNX Runtime is faster: it has blocked kernels for two axes, and for one
axis only a product of large matrices.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sayahead.voices.install.onnx.graph import Graph, Nodes, attributes

AXIS = 2
"""Position of the axis of size one."""


def with_planes(graph: Graph) -> Graph:
    """Return the graph with each convolution of more than one tap in two dimensions."""
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
        changes[number] = new.take()
    return graph.rewritten(changes, new.weights)
