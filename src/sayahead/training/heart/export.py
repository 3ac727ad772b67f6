"""The default voice ``heart`` of the package hibari-tts (Apache-2.0) as graphs for the runtime (``systems.heart``).

Its one graph (ids to spectral parts, a whole sentence at a time) becomes three with explicit state: ``text.onnx``
(phoneme ids to two encodings and durations), ``prosody.onnx`` (encoding per 25 ms unit to pitch and energy) and
``decoder.onnx`` (encoding, pitch and energy per 12.5 ms frame to the five spectral parts). Weights stay int8; products
are computed in integers where the ranges of their inputs are known (``ranges.py``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sayahead.errors import ConfigError
from sayahead.training.graph.builder import Array, Graph, Range, Weights
from sayahead.training.heart.decoder import DecoderWeights, HeartVoice
from sayahead.training.heart.network import DILATIONS, SYMBOLS, Heart
from sayahead.training.heart.weights import TrainedWeights
from sayahead.training.hibari import heart_weights
from sayahead.training.loop.trained import Trained
from sayahead.training.part import Written

BLOCKS = 8
LAYERS = {"m": 4, "pn": 6}
"""Applications of the attention layer of the sound's text encoder, and of prosody's."""
WIDTHS = {"m": 128, "pn": 192}
HEADS = 2
MEMORIES = {"m": "sound_", "pn": ""}
"""Prefixes of the names of the encoders' memories."""
RECENT = [WIDTHS["m"]] * 2 + [WIDTHS["pn"]] * 3
"""Inputs of the convolutions: two blocks of each encoder, and the durations'."""
Ranges = Mapping[str, Range] | None


class Past(NamedTuple):
    """An encoder's memory of earlier rows."""

    inputs: Sequence[str]
    """Of each convolution block, (2, D)."""
    keys: str
    """Keys, then values of each attention layer: (2 L H, M, D / H)."""


class Encoded(NamedTuple):
    """An encoder's output for its rows, and what later rows need of them."""

    rows: str
    """(N, D)"""
    inputs: Sequence[str]
    """(N, D) of each convolution block."""
    keys: str
    """Keys, then values of each attention layer: (2 L H, N, D / H)."""


def encoder(g: Graph, t: Weights, ids: str, part: str, past: Past, context: str | None) -> Encoded:
    """Embedding, two convolution blocks, and one attention layer applied several times."""
    table = g.constant(t[f"{part}.text.emb.weight"])
    if context is not None:
        # The future tokens: their learned vectors, and the context embedding's contribution.
        tokens = t[f"{part}.text.future"]
        # A matrix on the right is packed once; on the left, at every call.
        meaning = g.constant(np.ascontiguousarray(t[f"{part}.text.context"].T))
        expected = g.op("MatMul", g.op("Unsqueeze", context, g.constant(np.array([0]))), meaning)
        expected = g.op("Add", g.op("Reshape", expected, g.constant(np.array(tokens.shape))), g.constant(tokens))
        table = str(g.op("Concat", table, expected, axis=0))
    x, inputs = g.op("Gather", table, ids), list[str]()
    for i, before in enumerate(past.inputs):
        name = f"{part}.text.convs.{i}"
        weight = t[f"{name}.dw.weight"]
        inputs.append(x)
        rows, width = g.op("Concat", before, x, axis=0), weight.shape[0]
        mixed = g.conv(rows, weight, t[f"{name}.dw.bias"], group=width, behind=weight.shape[2] // 2)
        x = g.op("Add", x, g.pointwise(t, mixed, name))
    x, keys = attention(g, t, x, part, past.keys)
    return Encoded(g.norm(x, t[f"{part}.text.norm.weight"], t[f"{part}.text.norm.bias"]), inputs, keys)


def attention(g: Graph, t: Weights, x: str, part: str, past: str) -> tuple[str, str]:
    """The rows x (N, D) after one attention layer applied several times, and keys and values of each of these.

    A loop in the graph, not copies of the layer: its weights are packed once, and stay in the processor's cache.
    """
    size, count, name = WIDTHS[part] // HEADS, LAYERS[part], f"{part}.text.attn"
    known = g.op("Shape", past, start=1, end=2)
    each = g.op("Concat", g.constant(np.array([count, 2 * HEADS])), known, g.constant(np.array([size])), axis=0)
    before = g.op("Reshape", past, each, allowzero=1)
    layers = [f"{name}.{layer}" for layer in ("self_attn.in_proj", "self_attn.out_proj", "linear1", "linear2")]
    x, own = g.turns(x, count, [before], layers, lambda x, given: attention_layer(g, t, x, name, given[0]))
    return x, str(g.op("Reshape", own, g.constant(np.array([2 * HEADS * count, -1, size]))))


def attention_layer(g: Graph, t: Weights, x: str, name: str, before: str) -> tuple[str, str]:
    """The rows x (N, D) after attention to themselves and those ``before``, and their own keys and values.

    Keys, then values are (2 H, N, D / H), those of the rows before (2 H, M, D / H).
    """
    width, heads = t[f"{name}.norm1.weight"].shape[0], HEADS

    def linear(x: str, layer_name: str, bias: str, scale: Array | float = 1.0) -> str:
        weight, scales = t.linears[f"{name}.{layer_name}"]
        values = np.asarray(t[f"{name}.{bias}"] * scale, np.float32)
        return g.linear(x, weight, np.asarray(scales * scale, np.float32), values, f"{name}.{layer_name}")

    normed = g.norm(x, t[f"{name}.norm1.weight"], t[f"{name}.norm1.bias"])
    # The scale of the dot product is in the projection of the queries.
    scaled = np.repeat(np.array([(width // heads) ** -0.5, 1, 1], np.float32), width)
    projected = linear(normed, "self_attn.in_proj", "self_attn.in_proj_bias", scaled)
    # Heads first, so that memories only have to be joined: (3 H, N, D / H), queries, keys and values.
    turned = g.op("Reshape", projected, g.constant(np.array([0, 3 * heads, width // heads])))
    turned = g.op("Transpose", turned, perm=[1, 0, 2])
    q, own = g.op("Split", turned, g.constant(np.array([heads, 2 * heads])), outputs=2, axis=0)
    k, v = g.op("Split", g.op("Concat", before, own, axis=1), outputs=2, axis=0)
    agreed = g.op("FusedMatMul", q, k, transB=1, domain="com.microsoft")
    seen = g.op("MatMul", g.op("Softmax", agreed, axis=-1), v)
    seen = g.op("Reshape", g.op("Transpose", seen, perm=[1, 0, 2]), g.constant(np.array([0, width])))
    x = g.op("Add", x, linear(seen, "self_attn.out_proj", "self_attn.out_proj.bias"))
    normed = g.norm(x, t[f"{name}.norm2.weight"], t[f"{name}.norm2.bias"])
    hidden = g.gelu(linear(normed, "linear1", "linear1.bias"))
    return str(g.op("Add", x, linear(hidden, "linear2", "linear2.bias"))), own


def memory_shape(part: str, rows: str) -> list[int | str]:
    """The shape of an encoder's memory: keys and values of each layer and head."""
    return [2 * HEADS * LAYERS[part], rows, WIDTHS[part] // HEADS]


def text_graph(t: Weights, *, expects: bool = False, ranges: Ranges = None, observed: bool = False) -> Graph:
    """ids (N,), speed and the past -> encodings (N, 128), (N, 192), durations (N,), and each row's part of the past.

    The past: ``sound_memory`` (16, M, 64) and ``memory`` (24, M, 96), keys and values of every attention layer and
    head; ``recent`` (2, 832), inputs of the convolutions, zeros at a sentence's begin, where M is 0. Where the graph
    ``expects``, a context embedding (C,) is an input too. Durations are in units of 25 ms.
    """
    g = Graph(ranges, observed=observed)
    ids, speed = g.input("ids", np.int64, ["P"]), g.input("speed", np.float32, [1])
    recent = g.input("recent", np.float32, [2, sum(RECENT)])
    context = g.input("context", np.float32, ["C"]) if expects else None
    memories = {part: g.input(f"{name}memory", np.float32, memory_shape(part, "M")) for part, name in MEMORIES.items()}
    inputs = g.op("Split", recent, g.constant(np.array(RECENT)), outputs=len(RECENT), axis=1)
    sound = encoder(g, t, ids, "m", Past(inputs[:2], memories["m"]), context)
    prosody = encoder(g, t, ids, "pn", Past(inputs[2:4], memories["pn"]), context)
    g.output(sound.rows, "sound_encoding", np.float32, ["N", WIDTHS["m"]])
    g.output(prosody.rows, "prosody_encoding", np.float32, ["N", WIDTHS["pn"]])
    # The durations' convolution sees one row to each side.
    last = g.cut(inputs[4], g.constant(np.array([1])), g.constant(np.array([2])))
    rows = g.op("Concat", last, prosody.rows, axis=0)
    hidden = g.gelu(g.conv(rows, t["pn.dur.0.weight"], t["pn.dur.0.bias"], behind=1))
    weight = g.constant(np.ascontiguousarray(t["pn.dur.2.weight"][0]))
    logs = g.op("Add", g.op("MatMul", hidden, weight), g.constant(t["pn.dur.2.bias"]))
    flat = g.op("Squeeze", logs, g.constant(np.array([1])))
    units = g.op("Div", g.op("Sub", g.op("Exp", flat), g.constant(np.float32(1))), speed)
    g.output(units, "durations", np.float32, ["N"])
    for part, made in (("m", sound), ("pn", prosody)):
        g.output(made.keys, f"next_{MEMORIES[part]}memory", np.float32, memory_shape(part, "N"))
    seen = g.op("Concat", *sound.inputs, *prosody.inputs, prosody.rows, axis=1)
    g.output(seen, "next_recent", np.float32, ["N", sum(RECENT)])
    return g


def prosody_graph(t: Weights, *, ranges: Ranges = None, observed: bool = False) -> Graph:
    """prosody encoding (U, 192), rows, commit, cache -> f0 (2 rows,) Hz, energy (2 rows,), cache (54, 192).

    Each layer computes no more rows than those after it can see: of the right context, half.
    """
    g = Graph(ranges, observed=observed)
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
    # An omitted optional input has an empty name.
    sizes = {"direction": "bidirectional", "hidden_size": t["expect.hidden"].shape[2], "linear_before_reset": 1}
    _, last = g.op("GRU", x, *gru, "", outputs=2, **sizes)
    flat = g.op("Reshape", last, g.constant(np.array([1, -1])))
    out = g.op("Add", g.op("MatMul", flat, g.constant(t["expect.out"].T)), g.constant(t["expect.out_bias"]))
    g.output(g.op("Squeeze", out, g.constant(np.array([0]))), "context", np.float32, ["C"])
    return g


def decoder_graph(t: Weights, *, ranges: Ranges = None, observed: bool = False) -> Graph:
    """sound encoding (T, 128), f0 (T,), energy (T,), rows, commit, caches -> spectrum (rows, 3005), caches.

    Rows are as in ``prosody_graph``.
    """
    g = Graph(ranges, observed=observed)
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
    g.output(g.linear(x, *t.linears["m.head"], t["m.head.bias"], "m.head"), "spectrum", np.float32, ["C", 3005])
    return g


def export(run: Trained[Any, Any] | None, folder: Path, *, ranges: Ranges = None, observed: bool = False) -> Written:
    """Write the graphs, with the weights of a run of the tasks ``heart`` or ``heart-voice``, or hibari's.

    ``ranges``: of what linear layers are given (``ranges.observe``), which computes them in integers; ``observed``: see
    Graph. Their paths, and what the voice's ``model`` table says of the future tokens. ConfigError for a run of another
    task.
    """
    teacher, table, weights = heart_weights(), dict[str, Any](), None
    decoder: Weights = teacher
    if run is not None:
        heart: object = run.model
        if isinstance(heart, HeartVoice):
            decoder = DecoderWeights(heart.decoder)
            heart = heart.heart
        if not isinstance(heart, Heart):
            raise ConfigError(f"{run.recipe.name} is a run of {run.recipe.task}, but one of heart is needed.")
        weights, futures = TrainedWeights(heart), heart.config.futures
        table = {"futures": list(range(SYMBOLS, SYMBOLS + futures)), "context": heart.config.context}
    own, told = weights or teacher, weights is not None
    graphs = {
        "decoder": decoder_graph(decoder, ranges=ranges, observed=observed),
        "prosody": prosody_graph(own, ranges=ranges, observed=observed),
        "text": text_graph(own, expects=told, ranges=ranges, observed=observed),
    }
    if weights is not None:
        graphs["expect"] = expect_graph(weights)
    for name, graph in graphs.items():
        graph.save(str(folder / f"{name}.onnx"))
    return [folder / f"{name}.onnx" for name in graphs], table
