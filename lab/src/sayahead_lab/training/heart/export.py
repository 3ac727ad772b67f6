"""The default voice ``heart`` of the package hibari-tts (Apache-2.0) as graphs for the runtime
(``systems.heart``).

Its one graph (ids to spectral parts, a whole sentence at a time) becomes three with explicit state:
``text.onnx`` (phoneme ids to two encodings and durations), ``prosody.onnx`` (encoding per 25 ms
unit to pitch and energy) and ``decoder.onnx`` (encoding, pitch and energy per 12.5 ms frame to the
five spectral parts). Weights stay int8; products are computed in integers where the ranges of their
inputs are known (``quantization.py``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sayahead.errors import ConfigError
from sayahead.systems.speakers import SPEAKERS

from sayahead_lab.training.graph.builder import LINE, GraphBuilder, Range, Weights
from sayahead_lab.training.heart.decoder import DecoderWeights, HeartVoice
from sayahead_lab.training.heart.network import DILATIONS, SYMBOLS, Heart
from sayahead_lab.training.heart.speaker_tables import SpeakerTable, speaker_tables
from sayahead_lab.training.heart.weights import TrainedWeights
from sayahead_lab.training.hibari import heart_weights
from sayahead_lab.training.loop.saved_run import Trained
from sayahead_lab.training.voice_parts import Written

BLOCKS = 8
LAYERS = {"m": 4, "pn": 6}
"""Applications of the attention layer of the sound's text encoder, and of prosody's."""
WIDTHS = {"m": 128, "pn": 192}
HEADS = 2
MEMORIES = {"m": "sound_memory", "pn": "memory"}
"""Names of the encoders' memories."""
RECENT = [WIDTHS["m"]] * 2 + [WIDTHS["pn"]] * 3
"""Inputs of the convolutions: two blocks of each encoder, and the durations'."""
Ranges = Mapping[str, Range] | None
Own = Mapping[str, int]
NOBODY: Own = {}


class EarlierRows(NamedTuple):
    """An encoder's memory of earlier rows."""

    inputs: Sequence[str]
    """Of each convolution block, (1, 1, 2, D)."""
    memory: str
    """Keys and values of each attention layer: (L, 2, 1, H, M, D / H)."""


class EncodedRows(NamedTuple):
    """An encoder's output for its rows, and what later rows need of them."""

    rows: str
    """(1, 1, N, D)"""
    inputs: Sequence[str]
    """(1, 1, N, D) of each convolution block."""
    memory: str
    """Keys and values of each attention layer: (L, 2, 1, H, N, D / H)."""


class FutureTokens(NamedTuple):
    """What is known of the future tokens."""

    context: str
    """(1, C) the context embedding."""
    tokens: str
    """(N,) which of the tokens stands in a row, from 1; 0 where there is none."""


class OwnWeights:
    """A network's weights (``builder.Weights``) of which some are a speaker's own: parts of the
    graph's input."""

    def __init__(self, g: GraphBuilder, weights: Weights, own: Mapping[str, int]) -> None:
        """``own``: names and sizes of the speaker's, in the order of the input ``speaker`` (V,)."""
        self._weights = weights
        self.linears = weights.linears
        self._own = dict[str, str]()
        if own:
            sizes = list(own.values())
            given = g.input("speaker", np.float32, [sum(sizes)])
            parts = g.op("Split", given, g.constant(np.array(sizes)), outputs=len(sizes), axis=0)
            self._own = dict(zip(own, parts, strict=True))

    def __getitem__(self, name: str) -> Any:
        return self._own.get(name) or self._weights[name]


def embedded(g: GraphBuilder, t: Weights, ids: str, part: str, futures: FutureTokens | None) -> str:
    """(1, 1, N, D) the vectors of phonemes, and of future tokens with what the context embedding
    adds to them."""
    table = g.constant(t[f"{part}.text.emb.weight"])
    if futures is None:
        return g.image(g.op("Gather", table, ids))
    # A matrix on the right is packed once; on the left, at every call.
    meaning = g.constant(np.ascontiguousarray(t[f"{part}.text.context"].T))
    tokens = t[f"{part}.text.future"]
    table = str(g.op("Concat", table, g.constant(tokens), axis=0))
    expected = g.op(
        "Reshape", g.op("MatMul", futures.context, meaning), g.constant(np.array(tokens.shape))
    )
    expected = g.op("Concat", g.constant(np.zeros_like(tokens[:1])), expected, axis=0)
    return g.image(
        g.op("Add", g.op("Gather", table, ids), g.op("Gather", expected, futures.tokens))
    )


def encoder(g: GraphBuilder, t: Weights, x: str, part: str, past: EarlierRows) -> EncodedRows:
    """Two convolution blocks, and one attention layer applied several times."""
    inputs = list[str]()
    for i, before in enumerate(past.inputs):
        name = f"{part}.text.convs.{i}"
        weight = t[f"{name}.dw.weight"]
        inputs.append(x)
        rows = g.op("Concat", before, x, axis=LINE)
        width = weight.shape[0]
        mixed = g.conv(
            rows, weight, t[f"{name}.dw.bias"], group=width, after=weight.shape[2] // 2, axis=LINE
        )
        x = g.op("Add", x, g.pointwise(t, mixed, name))
    # One attention layer in a loop, not copies of it: its weights are packed once, and stay in the
    # processor's cache.
    name = f"{part}.text.attn"
    first = g.constant(np.array([0]))
    layers = [
        f"{name}.{layer}"
        for layer in ("self_attn.in_proj", "self_attn.out_proj", "linear1", "linear2")
    ]
    # The rows of the past stand first in what an attention returns.
    length = g.op("Shape", past.memory, start=4, end=5)
    shapes: list[list[int | str]] = [[1, "N", WIDTHS[part]], memory_shape(part, "N")[1:]]
    x, own = g.turns(
        g.op("Squeeze", x, first),
        LAYERS[part],
        [past.memory],
        layers,
        lambda x, past: attention_layer(g, t, name, x, past[0], length),
        shapes,
    )
    x = g.norm(
        g.op("Unsqueeze", x, first), t[f"{part}.text.norm.weight"], t[f"{part}.text.norm.bias"]
    )
    return EncodedRows(x, inputs, own)


def attention_layer(
    g: GraphBuilder, t: Weights, name: str, x: str, past: str, length: str
) -> list[str]:
    """The rows x (1, N, D) after attention to themselves and the past; their keys and values (2, 1,
    H, N, D / H).

    The past's are (2, 1, H, M, D / H); ``length`` names M, (1,).
    """

    def linear(x: str, layer: str) -> str:
        return g.linear(
            x, *t.linears[f"{name}.{layer}"], t[f"{name}.{layer}.bias"], f"{name}.{layer}"
        )

    normed = g.norm(x, t[f"{name}.norm1.weight"], t[f"{name}.norm1.bias"])
    layer = f"{name}.self_attn.in_proj"
    mixed, both = g.attention(
        normed, *t.linears[layer], t[f"{layer}_bias"], past, heads=HEADS, name=layer
    )
    own = g.cut(both, length, g.constant(np.array([np.iinfo(np.int64).max])), 3)
    x = g.op("Add", x, linear(mixed, "self_attn.out_proj"))
    normed = g.norm(x, t[f"{name}.norm2.weight"], t[f"{name}.norm2.bias"])
    return [str(g.op("Add", x, linear(g.gelu(linear(normed, "linear1")), "linear2"))), own]


def memory_shape(part: str, rows: str) -> list[int | str]:
    """The shape of an encoder's memory: layers, keys and values, a batch of one, heads, rows,
    channels."""
    return [LAYERS[part], 2, 1, HEADS, rows, WIDTHS[part] // HEADS]


def text_graph(
    weights: Weights,
    *,
    expects: bool = False,
    ranges: Ranges = None,
    observed: bool = False,
    own: Own = NOBODY,
) -> GraphBuilder:
    """ids (N,), speed and the past -> encodings (N, 128), (N, 192), durations (N,), and each row's
    part of the past.

    The past: ``sound_memory`` (4, 2, 1, 2, M, 64) and ``memory`` (6, 2, 1, 2, M, 96), keys and
    values of every attention layer and head, of which each row adds its own; ``recent`` (2, 832),
    inputs of the convolutions, zeros at a sentence's begin, where M is 0. Where the graph
    ``expects``, a context embedding (C,) is an input too. Durations are in units of 25 ms. ``own``:
    see OwnWeights.
    """
    g = GraphBuilder(ranges, observed=observed)
    t = OwnWeights(g, weights, own)
    ids = g.input("ids", np.int64, ["P"])
    speed = g.input("speed", np.float32, [1])
    recent = g.input("recent", np.float32, [2, sum(RECENT)])
    memories = {
        part: g.input(name, np.float32, memory_shape(part, "M")) for part, name in MEMORIES.items()
    }
    futures = None
    if expects:
        context = g.op(
            "Unsqueeze", g.input("context", np.float32, ["C"]), g.constant(np.array([0]))
        )
        before = g.constant(np.array(len(t["m.text.emb.weight"]) - 1))
        futures = FutureTokens(
            context, g.op("Max", g.op("Sub", ids, before), g.constant(np.array(0)))
        )
    inputs = g.op(
        "Split", g.image(recent), g.constant(np.array(RECENT)), outputs=len(RECENT), axis=3
    )
    sound = encoder(
        g, t, embedded(g, t, ids, "m", futures), "m", EarlierRows(inputs[:2], memories["m"])
    )
    prosody = encoder(
        g, t, embedded(g, t, ids, "pn", futures), "pn", EarlierRows(inputs[2:4], memories["pn"])
    )
    g.output(g.flat(sound.rows), "sound_encoding", np.float32, ["N", WIDTHS["m"]])
    g.output(g.flat(prosody.rows), "prosody_encoding", np.float32, ["N", WIDTHS["pn"]])
    # The durations' convolution sees one row to each side.
    last = g.cut(inputs[4], g.constant(np.array([1])), g.constant(np.array([2])), LINE)
    rows = g.op("Concat", last, prosody.rows, axis=LINE)
    hidden = g.gelu(
        g.flat(g.conv(rows, t["pn.dur.0.weight"], t["pn.dur.0.bias"], after=1, axis=LINE))
    )
    weight = g.constant(np.ascontiguousarray(t["pn.dur.2.weight"][0]))
    logs = g.op("Add", g.op("MatMul", hidden, weight), g.constant(t["pn.dur.2.bias"]))
    flat = g.op("Squeeze", logs, g.constant(np.array([1])))
    units = g.op("Div", g.op("Sub", g.op("Exp", flat), g.constant(np.float32(1))), speed)
    g.output(units, "durations", np.float32, ["N"])
    for part, part_rows in (("m", sound), ("pn", prosody)):
        g.output(part_rows.memory, f"next_{MEMORIES[part]}", np.float32, memory_shape(part, "N"))
    recent_rows = g.op("Concat", *sound.inputs, *prosody.inputs, prosody.rows, axis=3)
    g.output(g.flat(recent_rows), "next_recent", np.float32, ["N", sum(RECENT)])
    return g


def cut_where_it_pays(g: GraphBuilder, x: str, mixed: str, rows: str, more: int) -> tuple[str, str]:
    """Both images without what lies ``more`` rows and further after the first ``rows``, which no
    later layer sees.

    A word is followed by ten rows: to cut one or two of them costs more than what it saves.
    """
    return (
        (x, mixed) if more > 6 else (g.head(x, rows, more, LINE), g.head(mixed, rows, more, LINE))
    )


def prosody_graph(
    weights: Weights, *, ranges: Ranges = None, observed: bool = False, own: Own = NOBODY
) -> GraphBuilder:
    """prosody encoding (U, 192), rows, commit, cache -> f0 (2 rows,) Hz, energy (2 rows,), cache
    (54, 192).

    The last layers compute no more rows than those after them can see. ``own``: see OwnWeights.
    """
    g = GraphBuilder(ranges, observed=observed)
    t = OwnWeights(g, weights, own)
    x = g.input("prosody_encoding", np.float32, ["U", 192])
    rows = g.input("rows", np.int64, [1])
    commit = g.input("commit", np.int64, [1])
    margins = [3 * d for d in DILATIONS]
    cache = g.input("cache", np.float32, [sum(margins), 192])
    parts = g.op(
        "Split", g.image(cache), g.constant(np.array(margins)), outputs=len(margins), axis=LINE
    )
    x = g.op(
        "Add",
        g.op("MatMul", x, g.constant(t["pn.pro_in.weight"][:, :, 0].T)),
        g.constant(t["pn.pro_in.bias"]),
    )
    x = g.image(x)
    caches = []
    for i, (dilation, part) in enumerate(zip(DILATIONS, parts, strict=True)):
        name = f"pn.pro.{i}"
        depthwise = (t[f"{name}.dw.weight"], t[f"{name}.dw.bias"])
        mixed, rest = g.streaming_conv(
            x, *depthwise, part, commit, group=192, dilation=dilation, axis=LINE
        )
        caches.append(rest)
        x, mixed = cut_where_it_pays(g, x, mixed, rows, sum(margins[i + 1 :]))
        x = g.op("Add", x, g.pointwise(t, mixed, name))
    x = g.flat(x)
    weight = g.constant(t["pn.pro_out.weight"][:, :, 0].T)
    out = g.op("Add", g.op("MatMul", x, weight), g.constant(t["pn.pro_out.bias"]))
    # Columns: pitch of the unit's two frames, then energy of the two.
    f0, energy = g.op("Split", out, outputs=2, axis=1)
    flat = g.constant(np.array([-1]))
    g.output(
        g.op("Mul", g.op("Reshape", f0, flat), g.constant(np.float32(100))), "f0", np.float32, ["T"]
    )
    g.output(
        g.op("Mul", g.op("Reshape", energy, flat), g.constant(np.float32(5))),
        "energy",
        np.float32,
        ["T"],
    )
    g.output(
        g.flat(g.op("Concat", *caches, axis=LINE)), "next_cache", np.float32, [sum(margins), 192]
    )
    return g


def expect_graph(t: Weights) -> GraphBuilder:
    """ids (L,) of a predicted future -> context (C,): ``network.ContextNetwork``."""
    g = GraphBuilder()
    ids = g.input("ids", np.int64, ["L"])
    x = g.op(
        "Unsqueeze", g.op("Gather", g.constant(t["expect.emb"]), ids), g.constant(np.array([1]))
    )
    gru = [g.constant(t[f"expect.{name}"]) for name in ("input", "hidden", "bias")]
    # An omitted optional input has an empty name.
    sizes = {
        "direction": "bidirectional",
        "hidden_size": t["expect.hidden"].shape[2],
        "linear_before_reset": 1,
    }
    _, last = g.op("GRU", x, *gru, "", outputs=2, **sizes)
    flat = g.op("Reshape", last, g.constant(np.array([1, -1])))
    out = g.op(
        "Add", g.op("MatMul", flat, g.constant(t["expect.out"].T)), g.constant(t["expect.out_bias"])
    )
    g.output(g.op("Squeeze", out, g.constant(np.array([0]))), "context", np.float32, ["C"])
    return g


def decoder_input(g: GraphBuilder, t: Weights, x: str, cache: str, commit: str) -> tuple[str, str]:
    """(1, 1, T, 256) the decoder's first layer, a convolution of rows x (T, 130), and its next
    cache (3, 130).

    The encoding is computed in integers where it has a range. Its columns that have one of their
    own stay in float32, since they are much larger than the others, and so do pitch and energy, the
    last two: of pitch, a level of 127 would be most of a semitone.
    """
    name = "m.dec_in"
    weight = t["m.dec_in.weight"]
    bias = t["m.dec_in.bias"]
    _, inputs, size = weight.shape
    right = size // 2
    end = inputs - 2
    rows = g.op("Concat", cache, x, g.constant(np.zeros((right, inputs), np.float32)), axis=0)
    next_cache = g.cut(rows, commit, g.op("Add", commit, g.constant(np.array([size - 1 - right]))))
    encoding = g.cut(rows, g.constant(np.array([0])), g.constant(np.array([end])), 1)
    g.observe(encoding, name, end, columns=True)
    if name not in g.ranges:
        return g.image(g.conv(rows, weight, bias, after=0)), next_cache
    exact = [column for column in range(inputs) if column >= end or f"{name}#{column}" in g.ranges]
    rest = weight[:, :end].copy()
    rest[:, exact[:-2]] = 0
    sound = g.window(encoding, rest, bias, name)
    precise = g.op("Gather", rows, g.constant(np.array(exact)), axis=1)
    return g.image(
        g.op("Add", sound, g.conv(precise, weight[:, exact], np.zeros_like(bias), after=0))
    ), next_cache


def decoder_graph(
    weights: Weights, *, ranges: Ranges = None, observed: bool = False, own: Own = NOBODY
) -> GraphBuilder:
    """sound encoding (T, 128), f0 (T,), energy (T,), rows, commit, caches -> spectrum (rows, 3005),
    caches.

    Rows are as in ``prosody_graph``. ``own``: see OwnWeights.
    """
    g = GraphBuilder(ranges, observed=observed)
    t = OwnWeights(g, weights, own)
    encoding = g.input("sound_encoding", np.float32, ["T", 128])
    f0 = g.input("f0", np.float32, ["T"])
    energy = g.input("energy", np.float32, ["T"])
    rows = g.input("rows", np.int64, [1])
    commit = g.input("commit", np.int64, [1])
    input_cache = g.input("input_cache", np.float32, [3, 130])
    cache = g.input("cache", np.float32, [3 * BLOCKS, 256])
    column = g.constant(np.array([1]))
    pitch = g.op("Log", g.op("Add", g.op("Relu", f0), g.constant(np.float32(1))))
    pitch = g.op("Div", g.op("Unsqueeze", pitch, column), g.constant(t["/Constant_172_output_0"]))
    loud = g.op("Div", g.op("Unsqueeze", energy, column), g.constant(t["/Constant_174_output_0"]))
    x, rest = decoder_input(
        g, t, g.op("Concat", encoding, pitch, loud, axis=1), input_cache, commit
    )
    g.output(rest, "next_input_cache", np.float32, [3, 130])
    parts = g.op("Split", g.image(cache), outputs=BLOCKS, axis=LINE)
    caches = []
    for i, part in enumerate(parts):
        name = f"m.dec.{i}"
        depthwise = (t[f"{name}.dw.weight"], t[f"{name}.dw.bias"])
        mixed, rest = g.streaming_conv(x, *depthwise, part, commit, group=256, axis=LINE)
        caches.append(rest)
        x, mixed = cut_where_it_pays(g, x, mixed, rows, 3 * (BLOCKS - 1 - i))
        x = g.op("Add", x, g.pointwise(t, mixed, name))
    g.output(
        g.flat(g.op("Concat", *caches, axis=LINE)), "next_cache", np.float32, [3 * BLOCKS, 256]
    )
    x = g.norm(g.flat(x), t["m.dec_norm.weight"], t["m.dec_norm.bias"])
    g.output(
        g.linear(x, *t.linears["m.head"], t["m.head.bias"], "m.head"),
        "spectrum",
        np.float32,
        ["C", 3005],
    )
    return g


def export(
    run: Trained[Any, Any] | None, folder: Path, *, ranges: Ranges = None, observed: bool = False
) -> Written:
    """Write the graphs, with the weights of a run of the tasks ``heart`` or ``heart-voice``, or
    hibari's.

    ``ranges``: of what linear layers are given (``ranges.observe``), which computes them in
    integers; ``observed``: see Graph. Their paths, and what the voice's ``model`` table says of the
    future tokens. ConfigError for a run of another task.
    """
    teacher = heart_weights()
    table = dict[str, Any]()
    weights = None
    decoder: Weights = teacher
    tables = dict[str, SpeakerTable]()
    if run is not None:
        heart: object = run.model
        if isinstance(heart, HeartVoice):
            tables = speaker_tables(heart)
            decoder = DecoderWeights(heart.decoder)
            heart = heart.heart
        if not isinstance(heart, Heart):
            raise ConfigError(
                f"{run.recipe.name} is a run of {run.recipe.task}, but one of heart is needed."
            )
        weights = TrainedWeights(heart)
        futures = heart.config.futures
        table = {
            "futures": list(range(SYMBOLS, SYMBOLS + futures)),
            "context": heart.config.context,
        }
    own = weights or teacher
    expects = weights is not None
    how: dict[str, Any] = {"ranges": ranges, "observed": observed}
    parts = {name: table.sizes for name, table in tables.items()}
    graphs = {
        "decoder": decoder_graph(decoder, own=parts.get("decoder", NOBODY), **how),
        "prosody": prosody_graph(own, own=parts.get("prosody", NOBODY), **how),
        "text": text_graph(own, expects=expects, own=parts.get("text", NOBODY), **how),
    }
    if weights is not None:
        graphs["expect"] = expect_graph(weights)
    for name, graph in graphs.items():
        graph.save(str(folder / f"{name}.onnx"))
    files = [folder / f"{name}.onnx" for name in graphs]
    if tables:
        arrays: dict[str, Any] = {name: table.values for name, table in tables.items()}
        np.savez(folder / SPEAKERS, **arrays)
        files.append(folder / SPEAKERS)
    return files, table
