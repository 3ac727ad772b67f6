"""The default voice ``heart`` of the package hibari-tts (Apache-2.0) as graphs for the runtime (``systems.heart``).

Its one graph (ids to spectral parts, a whole sentence at a time) becomes three with explicit state: ``text.onnx``
(phoneme ids to two encodings and durations), ``prosody.onnx`` (encoding per 25 ms unit to pitch and energy) and
``decoder.onnx`` (encoding, pitch and energy per 12.5 ms frame to the five spectral parts). Weights stay int8.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from sayahead.errors import ConfigError
from sayahead.training.graph.builder import Graph, Weights
from sayahead.training.heart.network import DILATIONS, SYMBOLS, Heart
from sayahead.training.heart.weights import TrainedWeights
from sayahead.training.hibari import Teacher, heart_weights
from sayahead.training.loop.trained import Trained
from sayahead.training.part import Written

BLOCKS = 8
LAYERS = {"m": 4, "pn": 6}


def encoder(g: Graph, t: Weights, ids: str, first: str, part: str, context: str | None, heads: int = 2) -> str:
    """Embedding, two convolution blocks, and one attention layer applied several times; rows from ``first`` on."""
    table = g.constant(t[f"{part}.text.emb.weight"])
    if context is not None:
        # The future tokens: what they say in general, and what the context embedding says of this place.
        tokens = t[f"{part}.text.future"]
        expected = g.op("MatMul", g.constant(t[f"{part}.text.context"]), context)
        expected = g.op("Add", g.op("Reshape", expected, g.constant(np.array(tokens.shape))), g.constant(tokens))
        table = str(g.op("Concat", table, expected, axis=0))
    x = g.op("Gather", table, ids)
    for i in range(2):
        name = f"{part}.text.convs.{i}"
        width = t[f"{name}.dw.weight"].shape[0]
        mixed = g.conv(x, t[f"{name}.dw.weight"], t[f"{name}.dw.bias"], group=width)
        x = g.op("Add", x, g.pointwise(t, mixed, name))
    name = f"{part}.text.attn"
    width = t[f"{name}.norm1.weight"].shape[0]
    split = g.constant(np.array([0, heads, width // heads]))
    end = g.constant(np.array([np.iinfo(np.int64).max]))
    for layer in range(LAYERS[part]):
        normed = g.norm(x, t[f"{name}.norm1.weight"], t[f"{name}.norm1.bias"])
        projected = g.linear(normed, *t.linears[f"{name}.self_attn.in_proj"], t[f"{name}.self_attn.in_proj_bias"])
        q, k, v = g.op("Split", projected, outputs=3, axis=1)
        if layer == LAYERS[part] - 1:
            # The last time, nothing looks at the other rows any more.
            q, x = g.cut(q, first, end), g.cut(x, first, end)
        q = g.op("Transpose", g.op("Reshape", q, split), perm=[1, 0, 2])
        k = g.op("Transpose", g.op("Reshape", k, split), perm=[1, 2, 0])
        v = g.op("Transpose", g.op("Reshape", v, split), perm=[1, 0, 2])
        q = g.op("Mul", q, g.constant(np.float32((width // heads) ** -0.5)))
        seen = g.op("MatMul", g.op("Softmax", g.op("MatMul", q, k), axis=-1), v)
        seen = g.op("Reshape", g.op("Transpose", seen, perm=[1, 0, 2]), g.constant(np.array([0, width])))
        out = f"{name}.self_attn.out_proj"
        x = g.op("Add", x, g.linear(seen, *t.linears[out], t[f"{out}.bias"]))
        normed = g.norm(x, t[f"{name}.norm2.weight"], t[f"{name}.norm2.bias"])
        hidden = g.gelu(g.linear(normed, *t.linears[f"{name}.linear1"], t[f"{name}.linear1.bias"]))
        x = g.op("Add", x, g.linear(hidden, *t.linears[f"{name}.linear2"], t[f"{name}.linear2.bias"]))
    return g.norm(x, t[f"{part}.text.norm.weight"], t[f"{part}.text.norm.bias"])


def text_graph(t: Weights, *, expects: bool = False) -> Graph:
    """ids (P,), speed, first -> sound encoding (R, 128), prosody encoding (R, 192), durations (R,), R = P - first.

    Where it ``expects``, a context embedding (C,) is an input too. Durations are in units of 25 ms; that of row
    ``first`` is right only where ``first`` is 0: it misses a neighbour.
    """
    g = Graph()
    ids, speed = g.input("ids", np.int64, ["P"]), g.input("speed", np.float32, [1])
    first = g.input("first", np.int64, [1])
    context = g.input("context", np.float32, ["C"]) if expects else None
    g.output(encoder(g, t, ids, first, "m", context), "sound_encoding", np.float32, ["R", 128])
    prosody = encoder(g, t, ids, first, "pn", context)
    g.output(prosody, "prosody_encoding", np.float32, ["R", 192])
    hidden = g.gelu(g.conv(prosody, t["pn.dur.0.weight"], t["pn.dur.0.bias"]))
    weight = g.constant(np.ascontiguousarray(t["pn.dur.2.weight"][0]))
    logs = g.op("Add", g.op("MatMul", hidden, weight), g.constant(t["pn.dur.2.bias"]))
    flat = g.op("Squeeze", logs, g.constant(np.array([1])))
    units = g.op("Div", g.op("Sub", g.op("Exp", flat), g.constant(np.float32(1))), speed)
    g.output(units, "durations", np.float32, ["R"])
    return g


def prosody_graph(t: Weights) -> Graph:
    """prosody encoding (U, 192), rows, commit, cache -> f0 (2 rows,) Hz, energy (2 rows,), cache (54, 192).

    Each layer computes no more rows than those after it can see: of the right context, half.
    """
    g = Graph()
    x = g.input("prosody_encoding", np.float32, ["U", 192])
    rows, commit = g.input("rows", np.int64, [1]), g.input("commit", np.int64, [1])
    margins = [3 * d for d in DILATIONS]
    cache = g.input("cache", np.float32, [sum(margins), 192])
    parts = g.op("Split", cache, g.constant(np.array(margins)), outputs=len(margins), axis=0)
    x = g.op("Add", g.op("MatMul", x, g.constant(t["pn.pro_in.weight"][:, :, 0].T)), g.constant(t["pn.pro_in.bias"]))
    caches = []
    for i, (dilation, part) in enumerate(zip(DILATIONS, parts, strict=True)):
        name = f"pn.pro.{i}"
        depthwise = (t[f"{name}.dw.weight"], t[f"{name}.dw.bias"])
        mixed, kept = g.streaming_conv(x, *depthwise, part, commit, group=192, dilation=dilation)
        caches.append(kept)
        more = sum(margins[i + 1 :])
        x = g.op("Add", g.head(x, rows, more), g.pointwise(t, g.head(mixed, rows, more), name))
    weight = g.constant(t["pn.pro_out.weight"][:, :, 0].T)
    out = g.op("Add", g.op("MatMul", x, weight), g.constant(t["pn.pro_out.bias"]))
    # Columns: pitch of the unit's two frames, then energy of the two.
    f0, energy = g.op("Split", out, outputs=2, axis=1)
    flat = g.constant(np.array([-1]))
    g.output(g.op("Mul", g.op("Reshape", f0, flat), g.constant(np.float32(100))), "f0", np.float32, ["T"])
    g.output(g.op("Mul", g.op("Reshape", energy, flat), g.constant(np.float32(5))), "energy", np.float32, ["T"])
    g.output(g.op("Concat", *caches, axis=0), "next_cache", np.float32, [sum(margins), 192])
    return g


def expect_graph(t: Weights) -> Graph:
    """ids (L,) of a predicted future -> context (C,): ``network.ContextNetwork``."""
    g = Graph()
    ids = g.input("ids", np.int64, ["L"])
    x = g.op("Unsqueeze", g.op("Gather", g.constant(t["expect.emb"]), ids), g.constant(np.array([1])))
    gru = [g.constant(t[f"expect.{name}"]) for name in ("input", "hidden", "bias")]
    # An optional input that is not given has an empty name.
    sizes = {"direction": "bidirectional", "hidden_size": t["expect.hidden"].shape[2], "linear_before_reset": 1}
    _, last = g.op("GRU", x, *gru, "", outputs=2, **sizes)
    flat = g.op("Reshape", last, g.constant(np.array([1, -1])))
    out = g.op("Add", g.op("MatMul", flat, g.constant(t["expect.out"].T)), g.constant(t["expect.out_bias"]))
    g.output(g.op("Squeeze", out, g.constant(np.array([0]))), "context", np.float32, ["C"])
    return g


def decoder_graph(t: Teacher) -> Graph:
    """sound encoding (T, 128), f0 (T,), energy (T,), rows, commit, caches -> spectrum (rows, 3005), caches.

    Rows are as in ``prosody_graph``.
    """
    g = Graph()
    encoding = g.input("sound_encoding", np.float32, ["T", 128])
    f0, energy = g.input("f0", np.float32, ["T"]), g.input("energy", np.float32, ["T"])
    rows, commit = g.input("rows", np.int64, [1]), g.input("commit", np.int64, [1])
    input_cache = g.input("input_cache", np.float32, [3, 130])
    cache = g.input("cache", np.float32, [3 * BLOCKS, 256])
    column = g.constant(np.array([1]))
    pitch = g.op("Log", g.op("Add", g.op("Relu", f0), g.constant(np.float32(1))))
    pitch = g.op("Div", g.op("Unsqueeze", pitch, column), g.constant(t["/Constant_172_output_0"]))
    loud = g.op("Div", g.op("Unsqueeze", energy, column), g.constant(t["/Constant_174_output_0"]))
    x = g.op("Concat", encoding, pitch, loud, axis=1)
    x, kept = g.streaming_conv(x, t["m.dec_in.weight"], t["m.dec_in.bias"], input_cache, commit)
    g.output(kept, "next_input_cache", np.float32, [3, 130])
    parts = g.op("Split", cache, outputs=BLOCKS, axis=0)
    caches = []
    for i, part in enumerate(parts):
        name = f"m.dec.{i}"
        mixed, kept = g.streaming_conv(x, t[f"{name}.dw.weight"], t[f"{name}.dw.bias"], part, commit, group=256)
        caches.append(kept)
        more = 3 * (BLOCKS - 1 - i)
        x = g.op("Add", g.head(x, rows, more), g.pointwise(t, g.head(mixed, rows, more), name))
    g.output(g.op("Concat", *caches, axis=0), "next_cache", np.float32, [3 * BLOCKS, 256])
    x = g.norm(x, t["m.dec_norm.weight"], t["m.dec_norm.bias"])
    g.output(g.linear(x, *t.linears["m.head"], t["m.head.bias"]), "spectrum", np.float32, ["C", 3005])
    return g


def export(run: Trained[Any, Any] | None, folder: Path) -> Written:
    """Write the graphs, with what a run of the task ``heart`` learned or as hibari has them.

    Their paths, and what the voice's ``model`` table says of the future tokens. ConfigError for a run of another task.
    """
    teacher, table, weights = heart_weights(), dict[str, Any](), None
    if run is not None:
        if not isinstance(run.model, Heart):
            raise ConfigError(f"{run.recipe.name} is a run of {run.recipe.task}, but one of heart is needed.")
        weights, futures = TrainedWeights(run.model), run.model.config.futures
        table = {"futures": list(range(SYMBOLS, SYMBOLS + futures)), "context": run.model.config.context}
    graphs = {"decoder": decoder_graph(teacher), "prosody": prosody_graph(weights or teacher)}
    graphs["text"] = text_graph(weights or teacher, expects=weights is not None)
    if weights is not None:
        graphs["expect"] = expect_graph(weights)
    for name, graph in graphs.items():
        graph.save(str(folder / f"{name}.onnx"))
    return [folder / f"{name}.onnx" for name in graphs], table
