"""The trained mel vocoder as a streaming graph for the runtime."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import numpy as np
from sayahead.vocoders.mel import MelConfig
from sayahead.voices.install.onnx.graph import Array

from sayahead_lab.training.graph.builder import GraphBuilder, quantized
from sayahead_lab.training.hibari import heart_weights
from sayahead_lab.training.layers import Block
from sayahead_lab.training.losses import REFERENCE_HZ
from sayahead_lab.training.mel.network import PARTS, MelVocoderNetwork
from sayahead_lab.training.voice_parts import VoicePart, Written


class NetworkWeights:
    """A trained network's weights by their names: see Weights."""

    def __init__(self, model: MelVocoderNetwork) -> None:
        self.tensors: dict[str, Array] = {
            name: value.detach().numpy() for name, value in model.state_dict().items()
        }
        self.linears = {
            name.removesuffix(".weight"): quantized(value.T)
            for name, value in self.tensors.items()
            if name.endswith(("pw1.weight", "pw2.weight", "head.weight"))
        }

    def __getitem__(self, name: str) -> Array:
        return self.tensors[name]


def melvocoder_graph(model: MelVocoderNetwork) -> GraphBuilder:
    """mel (T, n_mels), rows, commit, caches -> spectrum (rows, 3005), f0 (T,) in Hz, 0 unvoiced,
    and the caches.

    Rows are as in ``heart.prosody_graph``; both caches are cut at the commit.
    """
    config = model.config
    t = NetworkWeights(model)
    g = GraphBuilder()
    mel = g.input("mel", np.float32, ["T", config.n_mels])
    rows = g.input("rows", np.int64, [1])
    commit = g.input("commit", np.int64, [1])
    lefts = [config.kernel - 1 - right for right in config.right]
    input_cache = g.input("input_cache", np.float32, [lefts[0], config.n_mels])
    cache = g.input("cache", np.float32, [sum(lefts[1:]), config.channels])
    x = g.op("Div", g.op("Sub", mel, g.constant(t["mean"])), g.constant(t["std"]))
    x, rest = g.streaming_conv(
        x, t["input.weight"], t["input.bias"], input_cache, commit, right=config.right[0]
    )
    g.output(rest, "next_input_cache", np.float32, [lefts[0], config.n_mels])
    parts = g.op("Split", cache, g.constant(np.array(lefts[1:])), outputs=len(lefts) - 1, axis=0)
    caches = []
    names = [f"front.{i}" for i in range(config.front_blocks)] + [
        f"back.{i}" for i in range(config.blocks)
    ]
    for number, (name, part) in enumerate(zip(names, parts, strict=True)):
        if number == config.front_blocks:
            x = g.op("Add", x, pitch(g, t, x))
        depthwise = (t[f"{name}.dw.weight"], t[f"{name}.dw.bias"])
        right = config.right[1 + number]
        mixed, rest = g.streaming_conv(
            x, *depthwise, part, commit, group=config.channels, right=right
        )
        caches.append(rest)
        if number >= config.front_blocks:
            more = sum(config.right[2 + number :])
            x = g.head(x, rows, more)
            mixed = g.head(mixed, rows, more)
        x = g.op("Add", x, g.pointwise(t, mixed, name))
    g.output(
        g.op("Concat", *caches, axis=0), "next_cache", np.float32, [sum(lefts[1:]), config.channels]
    )
    x = g.norm(x, t["norm.weight"], t["norm.bias"])
    source = t if config.own_head else heart_weights()
    name = "head" if config.own_head else "m.head"
    g.output(
        g.linear(x, *source.linears[name], source[f"{name}.bias"]),
        "spectrum",
        np.float32,
        ["C", PARTS],
    )
    return g


def pitch(g: GraphBuilder, t: NetworkWeights, x: str) -> str:
    """The pitch as input of the later blocks (T, D); the pitch itself becomes the output ``f0``."""
    out = g.op(
        "Add", g.op("MatMul", x, g.constant(t["pitch.weight"].T)), g.constant(t["pitch.bias"])
    )
    high, voicing = g.op("Split", out, outputs=2, axis=1)
    voiced = g.op("Cast", g.op("Greater", voicing, g.constant(np.float32(0))), to=1)
    hertz = g.op("Mul", g.op("Exp", high), g.constant(np.float32(REFERENCE_HZ)))
    flat = g.constant(np.array([-1]))
    g.output(g.op("Reshape", g.op("Mul", hertz, voiced), flat), "f0", np.float32, ["T"])
    both = g.op("Concat", high, g.op("Sigmoid", voicing), axis=1)
    return str(
        g.op(
            "Add", g.op("MatMul", both, g.constant(t["join.weight"].T)), g.constant(t["join.bias"])
        )
    )


def export(model: MelVocoderNetwork, folder: Path) -> Written:
    """Write ``vocoder.onnx``; returns its path, and its entry ``vocoder`` of a voice's ``model``
    table."""
    path = folder / "vocoder.onnx"
    config = model.config
    melvocoder_graph(model.eval()).save(str(path))
    lefts = [block.left for block in (*model.front, *model.back) if isinstance(block, Block)]
    caches = (config.kernel - 1 - config.right[0], sum(lefts), config.channels)
    return [path], asdict(MelConfig(config.n_mels, sum(config.right), caches))


PART: VoicePart[MelVocoderNetwork] = VoicePart(
    "mel", "the mel vocoder", lambda run, folder: export(run.model, folder)
)
