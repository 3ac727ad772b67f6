"""The trained modified Tacotron 2 as four graphs for the runtime (``sayahead.systems.mohan``)."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import numpy as np
import torch
from sayahead.systems.mohan import GRAPHS, CharacterConfig
from torch import nn

from sayahead_lab.training.graph.builder import GraphBuilder, fields
from sayahead_lab.training.graph.recurrent import FLOAT, array, dense, lstm_step
from sayahead_lab.training.mohan.network import ModifiedTacotron
from sayahead_lab.training.voice_parts import Acoustic, Written

LONGEST_S = 0.5
"""Longest that attention may look most at a character before it is moved on."""
EVERYWHERE = (1000, 1000)
"""The window of a model that was trained without one."""
PACE_S = 0.05
"""Seconds that a letter is expected to last, about."""


def export(model: ModifiedTacotron, folder: Path, *, frame_s: float) -> Written:
    """Write the graphs of a model; ``frame_s`` seconds a frame.

    Their paths, and what a voice's ``model`` table says of them under ``acoustic``: the fields of
    CharacterConfig."""
    model, config = model.eval().cpu(), model.config
    makers = (encoder_graph, ask_graph, attend_graph, make_graph)
    paths = [folder / f"{name}.onnx" for name in GRAPHS]
    for path, make in zip(paths, makers, strict=True):
        make(model).save(str(path))
    back, ahead = config.window or EVERYWHERE
    sizes = fields(
        config, "n_mels reduction encoder attention attention_rnn decoder_rnn location_kernel"
    )
    longest = round(LONGEST_S / frame_s / config.reduction)
    pace = round(PACE_S / frame_s, 3)
    about = CharacterConfig(**sizes, back=back, ahead=ahead, longest=longest, pace=pace)
    return paths, asdict(about)


def encoder_graph(model: ModifiedTacotron) -> GraphBuilder:
    """A character ``id`` (1,), ``state`` (2, M) -> ``row`` (1, M), ``key`` (1, A), ``next_state``
    (2, M)."""
    g = GraphBuilder()
    config = model.config
    number = g.input("id", np.int64, [1])
    state = g.input("state", np.float32, [2, config.encoder])
    table = g.constant(array(model.embedding.weight).astype(np.float16))
    row, after = lstm_step(
        g, g.op("Cast", g.op("Gather", table, number), to=FLOAT), state, model.encoder
    )
    g.output(row, "row", np.float32, [1, config.encoder])
    g.output(dense(g, row, model.attention.key.weight), "key", np.float32, [1, config.attention])
    g.output(after, "next_state", np.float32, [2, config.encoder])
    return g


def ask_graph(model: ModifiedTacotron) -> GraphBuilder:
    """``frame`` (1, F), ``context`` (1, M), ``attention`` (2, D) -> ``next_attention`` (2, D),
    ``query`` (1, A)."""
    g = GraphBuilder()
    config = model.config
    attention = model.attention
    x = g.input("frame", np.float32, [1, config.reduction * config.n_mels])
    context = g.input("context", np.float32, [1, config.encoder])
    state = g.input("attention", np.float32, [2, config.attention_rnn])
    for layer in model.prenet:
        assert isinstance(layer, nn.Linear)
        x = g.op("Relu", dense(g, x, layer.weight))
    output, after = lstm_step(g, g.op("Concat", x, context, axis=1), state, attention.rnn)
    g.output(after, "next_attention", np.float32, [2, config.attention_rnn])
    g.output(dense(g, output, attention.query.weight), "query", np.float32, [1, config.attention])
    return g


def attend_graph(model: ModifiedTacotron) -> GraphBuilder:
    """query (1, A), rows (W, M), keys (W, A), places ``seen`` (W, 2 K) -> ``weights`` (1, W),
    ``context`` (1, M)."""
    g = GraphBuilder()
    config = model.config
    attention = model.attention
    query = g.input("query", np.float32, [1, config.attention])
    rows = g.input("rows", np.float32, ["W", config.encoder])
    keys = g.input("keys", np.float32, ["W", config.attention])
    window = g.input("seen", np.float32, ["W", 2 * config.location_kernel])
    placed = g.op(
        "MatMul", window, g.constant(array((attention.placed.weight @ attention.place.weight).T))
    )
    compared = g.op("Add", g.op("Add", query, keys), placed)
    scores = g.op("MatMul", g.op("Tanh", compared), g.constant(array(attention.energy.weight.T)))
    weights = g.op("Softmax", g.op("Transpose", scores, perm=[1, 0]), axis=-1)
    g.output(weights, "weights", np.float32, [1, "W"])
    g.output(g.op("MatMul", weights, rows), "context", np.float32, [1, config.encoder])
    return g


def make_graph(model: ModifiedTacotron) -> GraphBuilder:
    """``asked`` (1, D), ``context`` (1, M), ``decoder`` (2, D) -> ``frame`` (1, F), ``mel`` (r,
    n_mels), ``stop`` (1,).

    And ``next_decoder`` (2, D). Frames are normalized, mel is log.
    """
    g = GraphBuilder()
    config = model.config
    size = config.reduction * config.n_mels
    query = g.input("asked", np.float32, [1, config.attention_rnn])
    context = g.input("context", np.float32, [1, config.encoder])
    state = g.input("decoder", np.float32, [2, config.decoder_rnn])
    output, after = lstm_step(g, g.op("Concat", query, context, axis=1), state, model.decoder)
    g.output(after, "next_decoder", np.float32, [2, config.decoder_rnn])
    last = (model.frames, model.stop)
    weight = torch.cat([layer.weight for layer in last])
    bias = torch.cat([layer.bias for layer in last])
    both = dense(g, g.op("Concat", output, context, axis=1), weight, bias)
    frame, stop = g.op("Split", both, g.constant(np.array([size, 1])), outputs=2, axis=1)
    g.output(frame, "frame", np.float32, [1, size])
    rows = g.op("Reshape", frame, g.constant(np.array([config.reduction, config.n_mels])))
    mel = g.op(
        "Add", g.op("Mul", rows, g.constant(array(model.std))), g.constant(array(model.mean))
    )
    g.output(mel, "mel", np.float32, [config.reduction, config.n_mels])
    flat = g.constant(np.array([-1]))
    g.output(g.op("Reshape", g.op("Sigmoid", stop), flat), "stop", np.float32, [1])
    return g


PART: Acoustic[ModifiedTacotron] = Acoustic(
    kind="mohan",
    title="the modified Tacotron 2",
    write=lambda run, folder: export(run.model, folder, frame_s=run.frame_s),
    hold_back_s=0.1125,
    characters=True,
)
