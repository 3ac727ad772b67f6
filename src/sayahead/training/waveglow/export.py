"""The trained WaveGlow as a graph for the runtime (``sayahead.vocoders.waveglow``)."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from sayahead.training.graph.builder import Graph
from sayahead.training.graph.recurrent import array, halved
from sayahead.training.part import Part, Written
from sayahead.training.waveglow.network import Coupling, WaveGlow, WaveGlowConfig
from sayahead.vocoders.waveglow import WaveGlowModel


def reach(config: WaveGlowConfig) -> tuple[int, int]:
    """Frames to the left and to the right of a frame on which its samples depend."""
    rows = config.flows * (config.kernel // 2) * (2**config.layers - 1)
    frames = -(-rows * config.group // config.hop)
    # A mel frame spreads over a window of samples, from its own first one on.
    return frames + -(-config.window // config.hop), frames


def convolved(g: Graph, x: str, layer: nn.Module, *, dilation: int = 1) -> str:
    """A convolution of x (1, D, U) that keeps its length, with weights in float16."""
    weight, bias = layer.weight, layer.bias
    assert isinstance(weight, torch.Tensor)
    assert isinstance(bias, torch.Tensor)
    margin = dilation * (weight.shape[2] - 1) // 2
    inputs = (x, halved(g, array(weight)), g.constant(array(bias)))
    return str(g.op("Conv", *inputs, dilations=[dilation], pads=[margin, margin]))


def coupling(g: Graph, x: str, conditions: str, layer: Coupling) -> tuple[str, str]:
    """Coupling: shift and log scale (1, half, U) of x (1, half, U) and conditions (1, n_mels * G, U)."""
    x = convolved(g, x, layer.start)
    given = g.op("Split", convolved(g, conditions, layer.condition), outputs=layer.layers, axis=1)
    given, total = [given] if layer.layers == 1 else given, ""
    for at, (inner, outer) in enumerate(zip(layer.inner, layer.outer, strict=True)):
        value, gate = g.op("Split", g.op("Add", convolved(g, x, inner, dilation=2**at), given[at]), outputs=2, axis=1)
        out = convolved(g, g.op("Mul", g.op("Tanh", value), g.op("Sigmoid", gate)), outer)
        if at < layer.layers - 1:
            residual, out = g.op("Split", out, outputs=2, axis=1)
            x = str(g.op("Add", x, residual))
        total = str(g.op("Add", total, out)) if total else out
    shift, log_scale = g.op("Split", convolved(g, total, layer.end), outputs=2, axis=1)
    return str(shift), str(log_scale)


def rows_of(g: Graph, mel: str, model: WaveGlow) -> str:
    """WaveGlow.conditions (1, n_mels * G, U) of log mel (T, n_mels)."""
    c = model.config
    normal = g.op("Div", g.op("Sub", mel, g.constant(array(model.mean))), g.constant(array(model.std)))
    x = g.op("Unsqueeze", g.op("Transpose", normal, perm=[1, 0]), g.constant(np.array([0])))
    assert model.upsample.bias is not None
    weights = halved(g, array(model.upsample.weight)), g.constant(array(model.upsample.bias))
    samples = g.op("ConvTranspose", x, *weights, strides=[c.hop])
    frames = g.op("Slice", g.op("Shape", mel), g.constant(np.array([0])), g.constant(np.array([1])))
    end = g.op("Mul", frames, g.constant(np.array([c.hop])))
    samples = g.op("Slice", samples, g.constant(np.array([0])), end, g.constant(np.array([2])))
    grouped = g.op("Reshape", samples, g.constant(np.array([1, c.n_mels, -1, c.group])))
    turned = g.op("Transpose", grouped, perm=[0, 1, 3, 2])
    return str(g.op("Reshape", turned, g.constant(np.array([1, c.n_mels * c.group, -1]))))


def waveglow_graph(model: WaveGlow) -> Graph:
    """mel (T, n_mels), z (T, hop) noise -> ``samples`` (T, hop); T * hop makes whole rows."""
    g, c = Graph(), model.config
    mel, z = g.input("mel", np.float32, ["T", c.n_mels]), g.input("z", np.float32, ["T", c.hop])
    conditions = rows_of(g, mel, model)
    x = str(g.op("Transpose", g.op("Reshape", z, g.constant(np.array([1, -1, c.group]))), perm=[0, 2, 1]))
    leaving = [flow for flow in range(c.flows) if model.leaves(flow)]
    sizes = g.constant(np.array([*[c.early_size] * len(leaving), model.remaining]))
    *early, x = g.op("Split", x, sizes, outputs=len(leaving) + 1, axis=1) if leaving else [x]
    for flow in reversed(range(c.flows)):
        layer, mixing = model.couplings[flow], model.mixings[flow]
        assert isinstance(layer, Coupling)
        kept, changed = g.op("Split", x, outputs=2, axis=1)
        shift, log_scale = coupling(g, kept, conditions, layer)
        changed = g.op("Mul", g.op("Sub", changed, shift), g.op("Exp", g.op("Neg", log_scale)))
        inverse = g.constant(array(torch.linalg.inv(mixing.detach().double()).float())[..., None])
        x = str(g.op("Conv", g.op("Concat", kept, changed, axis=1), inverse))
        if model.leaves(flow):
            x = str(g.op("Concat", early.pop(), x, axis=1))
    flat = g.op("Transpose", x, perm=[0, 2, 1])
    g.output(g.op("Reshape", flat, g.constant(np.array([-1, c.hop]))), "samples", np.float32, ["T", c.hop])
    return g


def export(model: WaveGlow, folder: Path) -> Written:
    """Write ``waveglow.onnx``; its path, and what a voice's ``model`` table says of it under ``vocoder``."""
    path, c = folder / "waveglow.onnx", model.config
    waveglow_graph(model.eval().cpu()).save(str(path))
    about: dict[str, Any] = asdict(WaveGlowModel(c.n_mels, c.hop, c.group, *reach(c)))
    return [path], {key: value for key, value in about.items() if value is not None}


PART: Part[WaveGlow] = Part("waveglow", "WaveGlow", lambda run, folder: export(run.model, folder))
