"""The trained Tacotron 2 with a contextual embedding as five graphs for the runtime
(``sayahead.systems.saeki``)."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sayahead.systems.saeki import GRAPHS, SegmentalConfig
from torch import nn

from sayahead_lab.training.graph.builder import GraphBuilder, fields
from sayahead_lab.training.graph.recurrent import (
    FLOAT,
    Gru,
    array,
    convolved,
    dense,
    halved,
    lstm,
    lstm_step,
    normed,
    tokens,
)
from sayahead_lab.training.layers import MaskedNorm
from sayahead_lab.training.loop.saved_run import Trained
from sayahead_lab.training.saeki.network import Tacotron
from sayahead_lab.training.saeki.task import HasTacotron, SaekiTask
from sayahead_lab.training.voice_parts import Acoustic, Written

LONGEST_S = 0.5
"""Longest that attention may rest on a phoneme before it is moved on."""


def export(model: Tacotron, folder: Path, *, frame_s: float, past: int) -> Written:
    """Write the graphs of a model; ``frame_s`` seconds a frame, ``past`` as it was trained.

    Taught attention keeps to its window, is moved on where it rests and is believed to stop at the
    end alone; free attention has none of these rules, as in the papers. Returned: the paths, and
    what a voice's ``model`` table says of them under ``acoustic``, the fields of SegmentalConfig.
    """
    model, config = model.eval().cpu(), model.config
    makers = (encoder_graph, context_graph, memory_graph, decoder_graph, postnet_graph)
    paths = [folder / f"{name}.onnx" for name in GRAPHS]
    for path, make in zip(paths, makers, strict=True):
        make(model).save(str(path))
    sizes = fields(config, "n_mels reduction attention_rnn decoder_rnn location_kernel")
    longest = round(LONGEST_S / frame_s / config.reduction)
    window, longest, early_stop = (config.window, longest, False) if config.taught else (0, 0, True)
    rules: dict[str, Any] = {"window": window, "longest": longest, "early_stop": early_stop}
    units = sum(config.prenet)
    dropped = config.prenet_dropout
    about = SegmentalConfig(**sizes, **rules, past=past, prenet=units, prenet_dropout=dropped)
    return paths, asdict(about)


def encoder_graph(model: Tacotron) -> GraphBuilder:
    """ids (P,) -> ``states`` (P, D)."""
    g = GraphBuilder()
    encoder = model.encoder
    ids = g.input("ids", np.int64, ["P"])
    table = g.constant(array(encoder.embedding.weight).astype(np.float16))
    x = g.op("Cast", g.op("Gather", table, ids), to=FLOAT)
    for layer, norm in zip(encoder.convolutions, encoder.norms, strict=True):
        assert isinstance(norm, MaskedNorm)
        x = g.op("Relu", convolved(g, x, layer, norm.norm))
    states, _ = lstm(g, x, [encoder.ahead, encoder.back])
    g.output(states, "states", np.float32, ["P", model.config.embedding])
    return g


def context_graph(model: Tacotron) -> GraphBuilder:
    """States ``past`` (P, D) and ``future`` (R, D), ``there`` (2, 1) 1 where such a text is ->
    ``embedding`` (E,)."""
    g = GraphBuilder()
    reference = model.contextual.reference
    wide = model.config.embedding
    sides = [
        g.input(name, np.float32, [rows, wide]) for name, rows in (("past", "P"), ("future", "R"))
    ]
    there = g.op("Split", g.input("there", np.float32, [2, 1]), outputs=2, axis=0)
    recurrent = Gru(g, reference.recurrent)
    weights = []
    for layer, norm in zip(reference.convolutions, reference.norms, strict=True):
        assert isinstance(layer, nn.Conv2d)
        assert isinstance(norm, MaskedNorm)
        assert layer.bias is not None
        weight, bias = normed(layer.weight, layer.bias, norm.norm)
        weights.append((halved(g, array(weight)), g.constant(array(bias)), layer.stride))
    ends = []
    outer = g.constant(np.array([0, 1]))
    for x, counts in zip(sides, there, strict=True):
        x_after = g.op("Unsqueeze", x, outer)
        for kernel, bias_name, stride in weights:
            x_after = g.op(
                "Relu",
                g.op("Conv", x_after, kernel, bias_name, strides=list(stride), pads=[1, 1, 1, 1]),
            )
        # Rows of what the recurrent layer reads, one a step: channels of the states, then those of
        # the convolution.
        turned = g.op("Transpose", x_after, perm=[2, 0, 3, 1])
        rows = g.op("Reshape", turned, g.constant(np.array([0, 1, reference.recurrent.input_size])))
        ends.append(g.op("Mul", recurrent.last(g, rows), counts))
    x_after = tokens(g, g.op("Concat", *ends, axis=1), model.contextual.attention)
    g.output(x_after, "embedding", np.float32, [model.config.context.embedding])
    return g


def memory_graph(model: Tacotron) -> GraphBuilder:
    """``states`` (P, D) of a segment, ``embedding`` (1, E) -> ``rows`` (P, M), ``keys`` (P, A)."""
    g = GraphBuilder()
    config = model.config
    states = g.input("states", np.float32, ["P", config.embedding])
    embedding = g.input("embedding", np.float32, [1, config.context.embedding])
    rows = g.op(
        "Slice", g.op("Shape", states), g.constant(np.array([0])), g.constant(np.array([1]))
    )
    shape = g.op("Concat", rows, g.constant(np.array([1])), axis=0)
    memory = g.op("Concat", states, g.op("Expand", embedding, shape), axis=1)
    g.output(memory, "rows", np.float32, ["P", model.decoder.memory])
    g.output(
        dense(g, memory, model.decoder.key.weight), "keys", np.float32, ["P", config.attention]
    )
    return g


def decoder_graph(model: Tacotron) -> GraphBuilder:
    """One step: frame (1, F), context (1, M), states (2, D), window of memory (W, M), (W, A),
    places seen (W, 2 K), and ``kept``, factors of the prenet's units.

    Gives ``next_frame`` (1, F) normalized, ``stop`` (r,) probabilities, ``weights`` (1, W) and the
    next states."""
    g = GraphBuilder()
    config = model.config
    decoder = model.decoder
    size = config.reduction * config.n_mels
    wide = decoder.memory
    x = g.input("frame", np.float32, [1, size])
    context = g.input("context", np.float32, [1, wide])
    first = g.input("attention", np.float32, [2, config.attention_rnn])
    second = g.input("decoder", np.float32, [2, config.decoder_rnn])
    rows = g.input("rows", np.float32, ["W", wide])
    keys = g.input("keys", np.float32, ["W", config.attention])
    window = g.input("seen", np.float32, ["W", 2 * config.location_kernel])
    kept = g.input("kept", np.float32, [1, sum(config.prenet)])
    widths = g.constant(np.array(config.prenet))
    factors = g.op("Split", kept, widths, outputs=len(config.prenet), axis=1)
    for layer, factor in zip(decoder.prenet, factors, strict=True):
        assert isinstance(layer, nn.Linear)
        x = g.op("Mul", g.op("Relu", dense(g, x, layer.weight)), factor)
    query, state = lstm_step(g, g.op("Concat", x, context, axis=1), first, decoder.attention_rnn)
    g.output(state, "next_attention", np.float32, [2, config.attention_rnn])
    placed = g.op(
        "MatMul", window, g.constant(array((decoder.placed.weight @ decoder.place.weight).T))
    )
    compared = g.op("Add", g.op("Add", dense(g, query, decoder.query.weight), keys), placed)
    scores = g.op("MatMul", g.op("Tanh", compared), g.constant(array(decoder.energy.weight.T)))
    weights = g.op("Softmax", g.op("Transpose", scores, perm=[1, 0]), axis=-1)
    g.output(weights, "weights", np.float32, [1, "W"])
    context_after = g.op("MatMul", weights, rows)
    output, state = lstm_step(
        g, g.op("Concat", query, context_after, axis=1), second, decoder.decoder_rnn
    )
    g.output(state, "next_decoder", np.float32, [2, config.decoder_rnn])
    last = (decoder.frames, decoder.stop)
    weight = torch.cat([layer.weight for layer in last])
    bias = torch.cat([layer.bias for layer in last])
    both = dense(g, g.op("Concat", output, context_after, axis=1), weight, bias)
    frame, stop = g.op(
        "Split", both, g.constant(np.array([size, config.reduction])), outputs=2, axis=1
    )
    g.output(frame, "next_frame", np.float32, [1, size])
    flat = g.constant(np.array([-1]))
    g.output(g.op("Reshape", g.op("Sigmoid", stop), flat), "stop", np.float32, [config.reduction])
    return g


def postnet_graph(model: Tacotron) -> GraphBuilder:
    """A segment's normalized ``frames`` (T, n_mels) -> ``mel`` (T, n_mels), log."""
    g = GraphBuilder()
    config = model.config
    postnet = model.postnet
    frames = g.input("frames", np.float32, ["T", config.n_mels])
    x = frames
    last = len(postnet.norms) - 1
    for number, (layer, norm) in enumerate(zip(postnet.convolutions, postnet.norms, strict=True)):
        assert isinstance(norm, MaskedNorm)
        x = convolved(g, x, layer, norm.norm)
        x = x if number == last else g.op("Tanh", x)
    mel = g.op("Mul", g.op("Add", frames, x), g.constant(array(model.std)))
    g.output(
        g.op("Add", mel, g.constant(array(model.mean))), "mel", np.float32, ["T", config.n_mels]
    )
    return g


def write(run: Trained[SaekiTask, HasTacotron], folder: Path) -> Written:
    """Write the voice's files of a Tacotron, or of one whose context network was fine-tuned."""
    return export(run.model.tacotron, folder, frame_s=run.frame_s, past=run.task.data.past)


# As much sound waits for the next segment as the mel vocoder needs to see real frames at each join:
# 9 of 12.5 ms.
PART: Acoustic[HasTacotron] = Acoustic(
    kind="saeki",
    title="Tacotron 2 with a contextual embedding",
    write=write,
    hold_back_s=0.1125,
    words=2,
)
GUIDED = replace(PART, title="Tacotron 2 with a guided contextual embedding")
