"""The trained aligner as a graph that needs no torch, with its phonemes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from sayahead.voices.install.onnx.graph import Array

from sayahead_lab.training.aligner.network import AlignerNetwork
from sayahead_lab.training.aligner.task import AlignerTask
from sayahead_lab.training.graph.builder import GraphBuilder, quantized
from sayahead_lab.training.loop.saved_run import Trained


class AlignerWeights:
    """The network's weights for the graph's builder, linear layers rounded to int8."""

    def __init__(self, model: AlignerNetwork) -> None:
        self._tensors: dict[str, Array] = {
            name: value.detach().numpy() for name, value in model.state_dict().items()
        }
        self.linears = {
            name.removesuffix(".weight"): quantized(value.T)
            for name, value in self._tensors.items()
            if name.endswith(".weight") and value.ndim == 2
        }

    def __getitem__(self, name: str) -> Array:
        return self._tensors[name]


def aligner_graph(model: AlignerNetwork) -> GraphBuilder:
    """bands (T, bands) -> ``posteriors`` (T, classes), logarithms."""
    g = GraphBuilder()
    t = AlignerWeights(model)
    c = model.config
    x = g.input("bands", np.float32, ["T", c.bands])
    x = g.gelu(g.conv(x, t["first.weight"], t["first.bias"]))
    for number in range(c.blocks):
        name = f"blocks.{number}"
        mixed = g.conv(x, t[f"{name}.dw.weight"], t[f"{name}.dw.bias"], group=c.channels)
        x = str(g.op("Add", x, g.pointwise(t, mixed, name)))
    x = g.norm(x, t["norm.weight"], t["norm.bias"])
    logits = g.linear(x, *t.linears["last"], t["last.bias"])
    g.output(g.op("LogSoftmax", logits, axis=-1), "posteriors", np.float32, ["T", c.classes])
    return g


def export(run: Trained[AlignerTask, AlignerNetwork], folder: Path) -> None:
    """Write ``aligner.onnx`` and ``aligner.json``: the class of each phoneme symbol, and the
    training."""
    folder.mkdir(parents=True, exist_ok=True)
    aligner_graph(run.model).save(str(folder / "aligner.onnx"))
    phonemes = run.corpus.info.phonemes
    classes = {
        symbol: run.task.classes[number]
        for symbol, number in phonemes.items()
        if number in run.task.classes
    }
    about: dict[str, Any] = {
        "steps": run.step,
        "source": run.corpus.info.source.get("voice", ""),
        "classes": classes,
    }
    text = json.dumps(about, ensure_ascii=False, indent=1) + "\n"
    (folder / "aligner.json").write_text(text, encoding="utf-8")
