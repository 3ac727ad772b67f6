"""The student of context as a graph."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sayahead.contexts.distilled import DistilledConfig
from sayahead.errors import ConfigError
from sayahead.voices.install.onnx.graph import Array
from torch import nn

from sayahead_lab.training.distilled.network import Student
from sayahead_lab.training.distilled.task import DistilTask
from sayahead_lab.training.graph.builder import GraphBuilder
from sayahead_lab.training.graph.recurrent import dense, lstm
from sayahead_lab.training.loop.saved_run import Trained
from sayahead_lab.training.voice_parts import Written


def student_graph(model: Student, axes: Array | None = None) -> GraphBuilder:
    """``vectors`` (N, K) of tokens -> ``embedding`` (E,); ``axes`` (K, D) make word vectors of
    shorter ones."""
    g = GraphBuilder()
    config = model.config
    layers: list[nn.RNNBase] = [model.ahead, model.back]
    if axes is not None:
        layers = [folded(layer, axes) for layer in (model.ahead, model.back)]
    x = g.input("vectors", np.float32, ["N", layers[0].input_size])
    _, ends = lstm(g, x, layers)
    hidden = g.op("Relu", dense(g, ends, model.inward.weight, model.inward.bias))
    hidden = dense(g, hidden, model.outward.weight, model.outward.bias)
    flat = g.op("Reshape", hidden, g.constant(np.array([-1])))
    g.output(flat, "embedding", np.float32, [config.embedding])
    return g


def folded(layer: nn.LSTM, axes: Array) -> nn.LSTM:
    """The layer for inputs (N, K) in place of inputs times axes (K, D)."""
    short = nn.LSTM(len(axes), layer.hidden_size)
    weights = {name: weight.detach() for name, weight in layer.named_parameters()}
    weights["weight_ih_l0"] = weights["weight_ih_l0"] @ torch.from_numpy(axes).T
    short.load_state_dict(weights)
    return short


def write_student(run: Trained[Any, Any], folder: Path) -> Written:
    """Write a student's graph and its word vectors; returns their paths, and their entries of
    voice.json."""
    task = run.task
    if not isinstance(task, DistilTask):
        raise ConfigError(
            f"{run.recipe.name} is a run of {run.recipe.task}, which is no student of context."
        )
    about = DistilledConfig("distilled.onnx", "words.npz", task.most)
    student_graph(run.model.student, task.axes).save(str(folder / about.graph))
    task.vectors.save(folder / about.vectors)
    return [folder / about.graph, folder / about.vectors], asdict(about)
