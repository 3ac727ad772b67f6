"""Products of integers in a graph: what they are products of, and the same graph in floats.

ONNX Runtime's dynamic quantization takes the range of each whole tensor, so a part of an utterance
comes out otherwise than the whole. What is to be cut is read here as plain products of its own
weights, and quantized again with fixed ranges.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sayahead.voices.install.onnx.graph import Array, Graph, Nodes, attributes

PRODUCTS = {"ConvInteger": "Conv", "MatMulInteger": "MatMul"}


@dataclass(frozen=True, slots=True)
class Product:
    """A convolution or a product of matrices."""

    rows: str
    """Its input, in floats."""
    weight: Array
    """Its weights: integers, or floats where the graph has these."""
    zero: Array
    """The integer that is zero, (1,) or one for each output."""
    scale: Array
    """What an integer is worth, likewise."""
    bias: str
    """Its bias; empty if it has none."""
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
    """The product that yields a tensor; None if its weights are not constants of the graph."""
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
    """The product of integers to which a node adds a bias once it is scaled, as newer quantizers
    write it; None if it adds something else."""
    biases = [name for tensor in add.input if (name := constant_behind(graph, tensor))]
    scaled = inputs_by(graph, add, "Mul")
    if len(biases) != 1 or len(scaled) != 1:
        return None
    product = integers_at(graph, scaled[0])
    return None if product is None else replace(product, bias=biases[0])


def inputs_by(graph: Graph, node: Any, op_type: str) -> list[Any]:
    """The nodes of a type that make inputs of a node."""
    makers = (graph.made_by(name) for name in node.input)
    return [maker for maker in makers if maker is not None and maker.op_type == op_type]


def constant_behind(graph: Graph, tensor: str) -> str:
    """The constant that a tensor is, but for its shape; empty if it is none."""
    node = graph.made_by(tensor)
    while node is not None and node.op_type == "Reshape":
        tensor = node.input[0]
        node = graph.made_by(node.input[0])
    return tensor if graph.value(tensor) is not None else ""


def integers_at(graph: Graph, scaling: Any) -> Product | None:
    """Match DynamicQuantizeLinear, MatMulInteger or ConvInteger, Add of a bias (or none), Cast and
    Mul.

    ``scaling`` is that Mul. None if the graph is otherwise."""
    casts = inputs_by(graph, scaling, "Cast")
    # The input's scale times the weight's, of which only the weight's is constant.
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
    """The product of integers that a tensor is, and the bias that was added to it, if any; None if
    it is no such product."""
    node = graph.made_by(tensor)
    bias = ""
    if node is not None and node.op_type == "Add":
        bias = next((name for name in node.input if graph.maker(name).op_type not in PRODUCTS), "")
        while bias and graph.value(bias) is None:
            bias = graph.maker(bias).input[0]
        makers = (graph.made_by(name) for name in node.input)
        products = (maker for maker in makers if maker is not None and maker.op_type in PRODUCTS)
        node = next(products, None)
    return (node if node is not None and node.op_type in PRODUCTS else None), bias


def dequantized(graph: Graph) -> Graph:
    """The same graph with each product of integers, and each recurrent network of them, in
    floats."""
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
            changes[number] = new.taken()
        elif node.op_type == "DynamicQuantizeLSTM":
            about = {
                key: value
                for key, value in attributes(node).items()
                if key in ("hidden_size", "direction")
            }
            kernels = [new.constant(kernel) for kernel in recurrent(graph, node)]
            network = new.onnx.helper.make_node(
                "LSTM", [node.input[0], *kernels, *node.input[3:7]], node.output, **about
            )
            changes[number] = [network]
    return graph.rewritten(changes, new.weights)


def recurrent(graph: Graph, node: Any) -> tuple[Array, Array]:
    """(directions, 4 H, I) weights of the input and (directions, 4 H, H) of the state of an LSTM,
    as floats."""
    weights = list[Array]()
    for place in (0, 1):
        weight = graph.value(node.input[1 + place])
        if node.op_type == "DynamicQuantizeLSTM" and weight is not None:
            scale, zero = (graph.value(node.input[n + 2 * place]) for n in (8, 9))
            if scale is None or zero is None:
                raise graph.strange("has a recurrent network whose weights vary")
            shape = (len(weight), 1, -1) if scale.size > 1 else (1, 1, 1)
            floats = (
                weight.astype(np.float32) - zero.astype(np.float32).reshape(shape)
            ) * scale.reshape(shape)
            weight = floats.transpose(0, 2, 1)
        if weight is None:
            raise graph.strange("has a recurrent network whose weights vary")
        weights.append(np.ascontiguousarray(weight, np.float32))
    return weights[0], weights[1]
