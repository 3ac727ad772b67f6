"""The trained WaveGlow as a graph for the runtime (``sayahead.vocoders.waveglow``)."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sayahead.config import from_mapping
from sayahead.vocoders.waveglow import WaveGlowModel
from torch import nn

from sayahead_lab.training.clarinet.writer import ConditionWriter, write_pitch
from sayahead_lab.training.graph.builder import GraphBuilder
from sayahead_lab.training.graph.recurrent import array, halved
from sayahead_lab.training.loop.saved_run import Trained
from sayahead_lab.training.voice_parts import VoicePart, Written
from sayahead_lab.training.waveglow.network import SOFTER, Bands, Coupling, Flows, Groups, WaveGlow
from sayahead_lab.training.waveglow.task import WaveGlowData


def convolved(g: GraphBuilder, x: str, layer: nn.Module, *, dilation: int = 1) -> str:
    """A convolution of x (1, D, U) that keeps its length, with weights in float16."""
    weight = layer.weight
    bias = layer.bias
    assert isinstance(weight, torch.Tensor)
    assert isinstance(bias, torch.Tensor)
    margin = dilation * (weight.shape[2] - 1) // 2
    inputs = (x, halved(g, array(weight)), g.constant(array(bias)))
    return str(g.op("Conv", *inputs, dilations=[dilation], pads=[margin, margin]))


def coupling(g: GraphBuilder, x: str, conditions: str, layer: Coupling) -> tuple[str, str]:
    """Coupling: shift and log scale (1, half, U) of x (1, half, U) and conditions (1, K, U)."""
    x = convolved(g, x, layer.start)
    parts = g.op("Split", convolved(g, conditions, layer.condition), outputs=layer.layers, axis=1)
    parts = [parts] if layer.layers == 1 else parts
    total = ""
    for at, (inner, outer) in enumerate(zip(layer.inner, layer.outer, strict=True)):
        value, gate = g.op(
            "Split",
            g.op("Add", convolved(g, x, inner, dilation=2**at), parts[at]),
            outputs=2,
            axis=1,
        )
        out = convolved(g, g.op("Mul", g.op("Tanh", value), g.op("Sigmoid", gate)), outer)
        if at < layer.layers - 1:
            residual, out = g.op("Split", out, outputs=2, axis=1)
            x = str(g.op("Add", x, residual))
        total = str(g.op("Add", total, out)) if total else out
    shift, log_scale = g.op("Split", convolved(g, total, layer.end), outputs=2, axis=1)
    return str(shift), str(log_scale)


def rows_of(g: GraphBuilder, mel: str, rows: Groups) -> str:
    """Groups.conditions (1, n_mels * G, U) of log mel (T, n_mels)."""
    c = rows.config
    normal = g.op(
        "Div", g.op("Sub", mel, g.constant(array(rows.mean))), g.constant(array(rows.std))
    )
    x = g.op("Unsqueeze", g.op("Transpose", normal, perm=[1, 0]), g.constant(np.array([0])))
    assert rows.upsample.bias is not None
    weights = halved(g, array(rows.upsample.weight)), g.constant(array(rows.upsample.bias))
    samples = g.op("ConvTranspose", x, *weights, strides=[c.hop])
    frames = g.op("Slice", g.op("Shape", mel), g.constant(np.array([0])), g.constant(np.array([1])))
    end = g.op("Mul", frames, g.constant(np.array([c.hop])))
    samples = g.op("Slice", samples, g.constant(np.array([0])), end, g.constant(np.array([2])))
    grouped = g.op("Reshape", samples, g.constant(np.array([1, c.n_mels, -1, c.group])))
    turned = g.op("Transpose", grouped, perm=[0, 1, 3, 2])
    return str(g.op("Reshape", turned, g.constant(np.array([1, c.n_mels * c.group, -1]))))


def inverse(g: GraphBuilder, conditions: str, flows: Flows) -> str:
    """Flows.inverse of the input ``z`` (T, hop) under conditions (1, K, U): rows (1, G, U)."""
    c = flows.config
    z = g.input("z", np.float32, ["T", c.hop])
    x = str(
        g.op(
            "Transpose", g.op("Reshape", z, g.constant(np.array([1, -1, c.group]))), perm=[0, 2, 1]
        )
    )
    leaving = [flow for flow in range(c.flows) if flows.leaves(flow)]
    sizes = g.constant(np.array([*[c.early_size] * len(leaving), flows.remaining]))
    *early, x = g.op("Split", x, sizes, outputs=len(leaving) + 1, axis=1) if leaving else [x]
    for flow in reversed(range(c.flows)):
        layer = flows.couplings[flow]
        mixing = flows.mixings[flow]
        assert isinstance(layer, Coupling)
        fixed, changed = g.op("Split", x, outputs=2, axis=1)
        shift, log_scale = coupling(g, fixed, conditions, layer)
        changed = g.op("Mul", g.op("Sub", changed, shift), g.op("Exp", g.op("Neg", log_scale)))
        unmixing = g.constant(array(torch.linalg.inv(mixing.detach().double()).float())[..., None])
        x = str(g.op("Conv", g.op("Concat", fixed, changed, axis=1), unmixing))
        if flows.leaves(flow):
            x = str(g.op("Concat", early.pop(), x, axis=1))
    return x


def waveglow_graph(model: WaveGlow) -> GraphBuilder:
    """mel (T, n_mels), z (T, hop) noise, pulses (T, 2 * hop), if any -> ``samples`` (T, hop).

    T * hop makes whole rows.
    """
    c = model.config
    rows = model.rows
    if isinstance(rows, Groups):
        g = GraphBuilder()
        mel = g.input("mel", np.float32, ["T", c.n_mels])
        x = inverse(g, rows_of(g, mel, rows), model.flows)
        samples = str(
            g.op("Reshape", g.op("Transpose", x, perm=[0, 2, 1]), g.constant(np.array([-1, c.hop])))
        )
    else:
        writer = ConditionWriter(rows, rows.conditioner)
        g = writer.g
        mel = writer.mel()
        conditions, voice = writer.conditions(mel)
        x = inverse(g, conditions, model.flows)
        samples = writer.joined(str(g.op("Add", x, voice)) if voice else x, mel)
    g.output(samples, "samples", np.float32, ["T", c.hop])
    return g


def export(
    model: WaveGlow, folder: Path, *, sample_rate: int, temperature: float = SOFTER
) -> Written:
    """Write ``waveglow.onnx``, and ``pitch.onnx`` where the network hears pulses.

    Returned: their paths, and what a voice's ``model`` table says of them under ``vocoder``,
    WaveGlowModel's fields."""
    c = model.config
    rows = model.eval().cpu().rows
    paths = [folder / "waveglow.onnx"]
    pulses = None
    waveglow_graph(model).save(str(paths[0]))
    if isinstance(rows, Bands) and rows.conditioner.pitch is not None:
        paths.append(folder / "pitch.onnx")
        pulses = write_pitch(rows, rows.conditioner, paths[1], sample_rate=sample_rate)
    about = WaveGlowModel(
        c.n_mels, c.hop, c.group, *c.reach, temperature=temperature, pulses=pulses
    )
    return paths, {key: value for key, value in asdict(about).items() if value is not None}


def write(run: Trained[Any, WaveGlow], folder: Path) -> Written:
    """Write a run's model as a voice's second stage."""
    data = from_mapping(WaveGlowData, run.recipe.data, where="[data]")
    rate = run.corpus.info.front_end.sample_rate
    return export(run.model, folder, sample_rate=rate, temperature=data.temperature)


PART: VoicePart[WaveGlow] = VoicePart("waveglow", "WaveGlow", write)
