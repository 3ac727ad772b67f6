"""The trained Deep Voice 3 as two graphs for the runtime (``sayahead.systems.ma``)."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from sayahead.systems.ma import AttentionConfig
from sayahead.voices.install.onnx.graph import Array
from torch import Tensor, nn

from sayahead_lab.training.graph.builder import GraphBuilder, fields, quantized
from sayahead_lab.training.layers import HALF, GatedBlock, PositionedAttention
from sayahead_lab.training.ma.network import DeepVoice3
from sayahead_lab.training.voice_parts import Acoustic, Written

LONGEST_S = 0.6
"""Longest that attention may rest on a phoneme before it is moved on."""


def export(model: DeepVoice3, folder: Path, *, frame_s: float) -> Written:
    """Write ``encoder.onnx`` and ``decoder.onnx``; ``frame_s`` seconds a frame.

    Their paths, and what a voice's ``model`` table says of them under ``acoustic``: the fields of
    AttentionConfig."""
    model, config = model.eval().cpu(), model.config
    paths = [folder / "encoder.onnx", folder / "decoder.onnx"]
    for path, make in zip(paths, (encoder_graph, decoder_graph), strict=True):
        make(model).save(str(path))
    about = AttentionConfig(
        **fields(config, "n_mels reduction window own_windows clock key_rate"),
        channels=config.embedding,
        layers=config.decoder_layers,
        kernel=config.decoder_kernel,
        past=config.encoder_layers * (config.encoder_kernel // 2),
        longest=round(LONGEST_S / frame_s / config.reduction),
    )
    return paths, asdict(about)


def encoder_graph(model: DeepVoice3) -> GraphBuilder:
    """ids (P,) and their places in the sentence (P,) -> ``memory1``, ``memory2`` (P, 2 A).

    A memory holds what one attention looks at: its projected keys, positions included, and its
    values."""
    g = GraphBuilder()
    config = model.config
    encoder = model.encoder
    ids = g.input("ids", np.int64, ["P"])
    places = g.input("places", np.int64, ["P"])
    table = g.constant(array(encoder.embedding.weight).astype(np.float16))
    embedded = g.op("Cast", g.op("Gather", table, ids), to=onnx.TensorProto.FLOAT)
    x = dense(g, embedded, encoder.inward)
    for block in encoder.blocks:
        assert isinstance(block, GatedBlock)
        x = gated(g, x, unfolded(g, x, block), block)
    keys = dense(g, x, encoder.outward)
    values = g.op("Mul", g.op("Add", keys, embedded), g.constant(np.float32(HALF)))
    rate = g.constant(np.float32(config.key_rate))
    positions = g.op("Mul", g.op("Cast", places, to=onnx.TensorProto.FLOAT), rate)
    placed = g.op(
        "Add",
        keys,
        code(g, g.op("Unsqueeze", positions, g.constant(np.array([1]))), config.embedding),
    )
    for number, attention in enumerate(model.decoder.attentions, 1):
        assert isinstance(attention, PositionedAttention)
        memory = g.op(
            "Concat", dense(g, placed, attention.key), dense(g, values, attention.value), axis=1
        )
        g.output(memory, f"memory{number}", np.float32, ["P", 2 * config.attention])
    return g


def decoder_graph(model: DeepVoice3) -> GraphBuilder:
    """One step: frames (1, F), cache (layers, (kernel - 1) D), memories (W, 2 A), positions (2, 1)
    of the queries.

    Gives ``mel`` (r, n_mels), the same normalized as ``next_frames``, ``stop`` (1, 1) the
    probability that this step is the last, ``weights1`` and ``weights2`` (1, W), ``next_cache``.
    """
    g = GraphBuilder()
    config = model.config
    decoder = model.decoder
    wide = config.embedding
    size = config.reduction * config.n_mels
    history = config.decoder_kernel - 1
    x = g.input("frames", np.float32, [1, size])
    cache = g.input("cache", np.float32, [config.decoder_layers, history * wide])
    memories = [
        g.input(f"memory{number}", np.float32, [f"W{number}", 2 * config.attention])
        for number in (1, 2)
    ]
    codes = g.op(
        "Split", code(g, g.input("positions", np.float32, [2, 1]), wide), outputs=2, axis=0
    )
    for layer in decoder.prenet:
        x = g.op("Relu", dense(g, x, layer))
    inputs = []
    for number, (block, past) in enumerate(
        zip(decoder.blocks, rows(g, cache, config.decoder_layers), strict=True)
    ):
        assert isinstance(block, GatedBlock)
        inputs.append(x)
        x = gated(g, x, g.op("Concat", past, x, axis=1), block)
        if number in (0, config.decoder_layers - 1):
            which = min(number, 1)
            x, weights = attend(g, x, codes[which], memories[which], decoder.attentions[which])
            g.output(weights, f"weights{which + 1}", np.float32, [1, f"W{which + 1}"])
    forgotten = g.cut(
        cache, g.constant(np.array([wide])), g.constant(np.array([history * wide])), axis=1
    )
    after = g.op("Concat", forgotten, g.op("Concat", *inputs, axis=0), axis=1)
    g.output(after, "next_cache", np.float32, [config.decoder_layers, history * wide])
    last = (decoder.frames, decoder.stop)
    both = linear(
        g, x, torch.cat([layer.weight for layer in last]), torch.cat([layer.bias for layer in last])
    )
    frames, stop = g.op("Split", both, g.constant(np.array([size, 1])), outputs=2, axis=1)
    g.output(g.op("Sigmoid", stop), "stop", np.float32, [1, 1])
    g.output(frames, "next_frames", np.float32, [1, size])
    mel = g.op("Reshape", frames, g.constant(np.array([config.reduction, config.n_mels])))
    mel = g.op("Add", g.op("Mul", mel, g.constant(array(model.std))), g.constant(array(model.mean)))
    g.output(mel, "mel", np.float32, [config.reduction, config.n_mels])
    return g


def attend(
    g: GraphBuilder, x: str, query: str, memory: str, attention: nn.Module
) -> tuple[str, str]:
    """PositionedAttention of one row (1, D) over a memory (W, 2 A): the next row and the weights
    (1, W)."""
    assert isinstance(attention, PositionedAttention)
    keys, values = g.op("Split", memory, outputs=2, axis=1)
    query = dense(g, g.op("Add", x, query), attention.query)
    scores = g.op("Gemm", query, keys, transB=1, alpha=attention.hidden**-0.5)
    weights = g.op("Softmax", scores, axis=-1)
    added = g.op("Add", x, dense(g, g.op("MatMul", weights, values), attention.out))
    return g.op("Mul", added, g.constant(np.float32(HALF))), weights


def gated(g: GraphBuilder, x: str, window: str, block: GatedBlock) -> str:
    """GatedBlock's rows (T, D) from the windows (T, kernel D) that each sees."""
    value, gate = g.op("Split", dense(g, window, block.conv.dense), outputs=2, axis=1)
    added = g.op("Add", x, g.op("Mul", value, g.op("Sigmoid", gate)))
    return str(g.op("Mul", added, g.constant(np.float32(HALF))))


def unfolded(g: GraphBuilder, x: str, block: GatedBlock) -> str:
    """The windows (T, kernel D) around rows (T, D), with zeros outside."""
    kernel = block.conv.kernel
    left = block.conv.left
    width = array(block.conv.dense.weight).shape[1] // kernel
    around = [g.constant(np.zeros((size, width), np.float32)) for size in (left, kernel - 1 - left)]
    padded = g.op("Concat", around[0], x, around[1], axis=0)
    parts = []
    for at in range(kernel):
        end = at - kernel + 1 or np.iinfo(np.int64).max
        parts.append(g.cut(padded, g.constant(np.array([at])), g.constant(np.array([end]))))
    return str(g.op("Concat", *parts, axis=1))


def rows(g: GraphBuilder, x: str, size: int) -> list[str]:
    """Each of the ``size`` rows of x as (1, D)."""
    return list(g.op("Split", x, outputs=size, axis=0))


def code(g: GraphBuilder, positions: str, channels: int) -> str:
    """``layers.position_code`` of positions (T, 1): (T, D)."""
    rates = torch.pow(10_000.0, -torch.arange(0, channels, 2, dtype=torch.float32) / channels)
    angles = g.op("Mul", positions, g.constant(array(rates)[None]))
    last = g.constant(np.array([2]))
    turned = [g.op("Unsqueeze", g.op(kind, angles), last) for kind in ("Sin", "Cos")]
    return str(
        g.op("Reshape", g.op("Concat", *turned, axis=2), g.constant(np.array([-1, channels])))
    )


def dense(g: GraphBuilder, x: str, layer: nn.Module) -> str:
    """A linear layer, normalized or not."""
    assert isinstance(layer.weight, Tensor)
    assert isinstance(layer.bias, Tensor)
    return linear(g, x, layer.weight, layer.bias)


def linear(g: GraphBuilder, x: str, weight: Tensor, bias: Tensor) -> str:
    """x W + b of weights (N, K) and biases (N,)."""
    return g.linear(x, *quantized(array(weight).T), array(bias))


def array(x: Any) -> Array:
    """A tensor's values."""
    out: Array = x.detach().numpy()
    return out


PART: Acoustic[DeepVoice3] = Acoustic(
    kind="ma",
    title="Deep Voice 3",
    write=lambda run, folder: export(run.model, folder, frame_s=run.frame_s),
    model={"continuation": "", "blind_continuation": " "},
    lookahead=1,
)
