"""Reads products of quantized weights in a graph, and writes the same graph in floats.

ONNX Runtime's dynamic quantization takes the range of each whole tensor, so part of an utterance
gives other values than the whole. Graphs that are to run in steps are therefore read here as plain
products, and quantized again with fixed ranges by ``kokoro.layers``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sayahead.voices.install.onnx.graph import Array, Graph, Nodes, attributes

PRODUCTS = ("ConvInteger", "MatMulInteger")
"""Operators that multiply by integers."""


@dataclass(frozen=True, slots=True)
class Product:
    """A convolution or a matrix product with constant weights, (weight - zero) * scale."""

    rows: str
    """Name of the input, in floats."""
    weight: Array
    """Integers, or floats if the graph is not quantized."""
    zero: Array
    """Zero point: (1,), or one for each output channel."""
    scale: Array
    """Scale, of the shape of ``zero``."""
    bias: str
    """Name of the bias; empty if there is none."""
    about: dict[str, Any]
    """Attributes of the node."""

    @property
    def floats(self) -> Array:
        """The weights as floats."""
        matrix = self.weight.ndim == 2
        zero, scale = (
            values
            if values.size == 1 or matrix
            else values.reshape(-1, *(1,) * (self.weight.ndim - 1))
            for values in (self.zero.astype(np.float32), self.scale)
        )
        return np.asarray((self.weight.astype(np.float32) - zero) * scale, np.float32)


def product_of(graph: Graph, tensor: str) -> Product | None:
    """Return the product, quantized or not, that makes a tensor. None if another node does, or the
    weights are not constants."""
    node = graph.made_by(tensor)
    if node is None or node.op_type == "Mul":
        return None if node is None else integers_at(graph, node)
    if node.op_type == "Add":
        return biased_product(graph, node)
    weight = (
        graph.value(node.input[1]) if node.op_type in ("Conv", "ConvTranspose", "MatMul") else None
    )
    if weight is None or weight.dtype != np.float32:
        return None
    bias = node.input[2] if len(node.input) > 2 else ""
    return Product(
        node.input[0], weight, np.zeros(1, np.int8), np.ones(1, np.float32), bias, attributes(node)
    )


def biased_product(graph: Graph, add: Any) -> Product | None:
    """Match a product of integers, scaled, to which the node ``add`` adds a constant bias: the form
    of newer quantizers. None if the node adds something else."""
    biases = [name for tensor in add.input if (name := constant_behind(graph, tensor))]
    scaled = inputs_by(graph, add, "Mul")
    if len(biases) != 1 or len(scaled) != 1:
        return None
    product = integers_at(graph, scaled[0])
    return None if product is None else replace(product, bias=biases[0])


def inputs_by(graph: Graph, node: Any, op_type: str) -> list[Any]:
    """Return the nodes of an operator that make inputs of a node."""
    makers = (graph.made_by(name) for name in node.input)
    return [maker for maker in makers if maker is not None and maker.op_type == op_type]


def constant_behind(graph: Graph, tensor: str) -> str:
    """Return the name of the constant that a tensor is, perhaps reshaped; empty if it is none."""
    node = graph.made_by(tensor)
    while node is not None and node.op_type == "Reshape":
        tensor = node.input[0]
        node = graph.made_by(node.input[0])
    return tensor if graph.value(tensor) is not None else ""


def integers_at(graph: Graph, scaling: Any) -> Product | None:
    """Match a product of integers that ends in the node ``scaling``, a Mul. None if it is none.

    The pattern: DynamicQuantizeLinear, MatMulInteger or ConvInteger, Add of a bias (optional), Cast
    to floats, and Mul with the scales of input and weights."""
    casts = inputs_by(graph, scaling, "Cast")
    # The product of the input's scale, which is computed, and the weights', which is constant.
    scale_products = inputs_by(graph, scaling, "Mul")
    if len(casts) != 1 or len(scale_products) != 1:
        return None
    product, bias = summed_product(graph, casts[0].input[0])
    if product is None:
        return None
    rows = graph.made_by(product.input[0])
    if rows is None or rows.op_type != "DynamicQuantizeLinear":
        return None
    weight = graph.value(product.input[1])
    zero = graph.value(product.input[3]) if len(product.input) > 3 else np.zeros(1, np.int8)
    scales = [value for name in scale_products[0].input if (value := graph.value(name)) is not None]
    if weight is None or zero is None or not scales:
        return None
    about = attributes(product) if product.op_type == "ConvInteger" else {}
    return Product(rows.input[0], weight, zero.reshape(-1), scales[0].reshape(-1), bias, about)


def summed_product(graph: Graph, tensor: str) -> tuple[Any | None, str]:
    """Return the node of PRODUCTS that makes a tensor, and the name of the bias that is added,
    empty if there is none. The node is None if no product makes it."""
    node = graph.made_by(tensor)
    bias = ""
    if node is not None and node.op_type == "Add":
        bias = next((name for name in node.input if graph.maker(name).op_type not in PRODUCTS), "")
        # Nodes between the constant and the Add, such as a reshaping, are looked through.
        while bias and graph.value(bias) is None:
            bias = graph.maker(bias).input[0]
        products = (made for kind in PRODUCTS for made in inputs_by(graph, node, kind))
        node = next(products, None)
    return (node if node is not None and node.op_type in PRODUCTS else None), bias


def dequantized(graph: Graph) -> Graph:
    """Return the same graph with each product of integers and each quantized LSTM in floats."""
    new = Nodes("plain_")
    changes = dict[int, list[Any]]()
    for number, node in enumerate(graph.nodes):
        product = integers_at(graph, node) if node.op_type == "Mul" else None
        if product is not None:
            inputs = [
                product.rows,
                new.constant(product.floats),
                *([product.bias] if product.bias else []),
            ]
            new.op(
                "Conv" if product.weight.ndim > 2 else "MatMul",
                *inputs,
                name=node.output[0],
                **product.about,
            )
            changes[number] = new.take()
        elif node.op_type == "DynamicQuantizeLSTM":
            about = attributes(node)
            about = {key: about[key] for key in ("hidden_size", "direction") if key in about}
            kernels = [new.constant(kernel) for kernel in recurrent(graph, node)]
            lstm = new.onnx.helper.make_node(
                "LSTM", [node.input[0], *kernels, *node.input[3:7]], node.output, **about
            )
            changes[number] = [lstm]
    return graph.rewritten(changes, new.weights)


def recurrent(graph: Graph, node: Any) -> tuple[Array, Array]:
    """Return the weights of an LSTM in floats: (directions, 4 H, I) of the input and (directions, 4
    H, H) of the state. VoiceError if they are not constants.

    A quantized LSTM has its weights transposed, and their scales and zero points as inputs 8 and 9
    (input) and 10 and 11 (state)."""

    def constant(index: int) -> Array:
        value = graph.value(node.input[index])
        if value is None:
            raise graph.strange("has a recurrent network whose weights vary")
        return value

    weights = list[Array]()
    for index in (1, 2):
        weight = constant(index)
        if node.op_type == "DynamicQuantizeLSTM":
            scale = constant(6 + 2 * index)
            zero = constant(7 + 2 * index).astype(np.float32)
            shape = (len(weight), 1, -1) if scale.size > 1 else (1, 1, 1)
            floats = (weight.astype(np.float32) - zero.reshape(shape)) * scale.reshape(shape)
            weight = floats.transpose(0, 2, 1)
        weights.append(np.ascontiguousarray(weight, np.float32))
    return weights[0], weights[1]
