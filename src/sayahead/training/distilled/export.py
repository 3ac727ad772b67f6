"""The student of context as a graph."""

from __future__ import annotations

import numpy as np
from torch import nn

from sayahead.training.distilled.network import Student
from sayahead.training.graph.builder import Array, Graph
from sayahead.training.graph.recurrent import dense, lstm
from sayahead.training.saeki.export import folded


def student_graph(model: Student, axes: Array | None = None) -> Graph:
    """``vectors`` (N, K) of tokens -> ``embedding`` (E,); ``axes`` (K, D) make word vectors of shorter ones."""
    g, config = Graph(), model.config
    layers: list[nn.RNNBase] = [model.ahead, model.back]
    if axes is not None:
        layers = [folded(layer, axes) for layer in (model.ahead, model.back)]
    x = g.input("vectors", np.float32, ["N", layers[0].input_size])
    _, ends = lstm(g, x, layers)
    made = g.op("Relu", dense(g, ends, model.inward.weight, model.inward.bias))
    made = dense(g, made, model.outward.weight, model.outward.bias)
    flat = g.op("Reshape", made, g.constant(np.array([-1])))
    g.output(flat, "embedding", np.float32, [config.embedding])
    return g
