"""Kokoro's networks of frames written again: prosody, and the decoder with its source.

StyleTTS 2's decoder (Li et al., NeurIPS 2023) with an inverse STFT at its end: blocks of
convolutions at 40 and 80 rows a second, two steps up to 800 and 4,800, to each of which the
harmonic source is added, and spectra of 20 samples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sayahead.voices.install.kokoro.layers import Kokoro, Layers, Rows, Style
from sayahead.voices.install.onnx.dequantize import recurrent
from sayahead.voices.install.onnx.graph import FLOAT, INT64

KERNELS = (3, 7, 11)
STEPS = (1, 3, 5)
"""Taps of a stage's residual blocks, and how far apart they are in each of a block's three
parts."""
UPS = (10, 6)
"""Rows that each step up makes of one."""
HOP = 5
WINDOW = 20
HARMONICS = 9
UNIT = 600
"""Samples of a unit: 2 x 10 x 6 x 5."""
AHEAD = 240
"""Samples after the commit that a step must get right, for the fade into the next one."""


def reach(taps: int) -> int:
    """Rows to each side that a residual block sees."""
    return sum((step + 1) * (taps - 1) // 2 for step in STEPS)


SPECTRA = AHEAD // HOP + 2
"""Rows after the commit that each part must get right for those that follow: spectra, ..."""
FINE = SPECTRA + 3 + reach(max(KERNELS))
COARSE_OUT = -(-FINE // UPS[1]) + 2
COARSE = COARSE_OUT + reach(max(KERNELS))
HALVES = -(-COARSE // UPS[0]) + 1
RIGHT = -(-(HALVES + 2) // 2) + 1 + 2 * 4
"""Units to the right that make a difference to the decoder: two convolutions in each of five blocks
and one step up."""
PROSODY_RIGHT = RIGHT + 5
"""Units to the right of the commit for which prosody is told what follows; its recurrent network
sees all of them."""


@dataclass(frozen=True, slots=True)
class Network:
    """A network of frames."""

    model: Any
    """onnx.ModelProto."""
    layers: Layers
    """What it was made with: its caches, its ranges, its pieces of the style."""
    early: int
    """How many of its ranges come before the generator's."""
    spectra: str = ""
    """Name of the spectra of the decoder's source."""


def block(layers: Layers, path: str, x: Rows, *, up: bool = False) -> Rows:
    """A residual block of two convolutions, each after a norm."""
    half = 1 / math.sqrt(2)
    h = layers.leaky(layers.norm(x, f"{path}/norm1"), 0.2)
    if up:
        h = pooled(layers, path, h)
    h = layers.leaky(layers.product(h, f"{path}/conv1/Conv", norm=f"{path}/norm2"), 0.2)
    h = layers.product(h, f"{path}/conv2/Conv", factor=half)
    if layers.kokoro.has(f"{path}/conv1x1/Conv"):
        short = layers.product(x, f"{path}/conv1x1/Conv", factor=half)
    else:
        short = layers.plain("Mul", x, layers.new.constant(np.float32(half)))
    return layers.plain("Add", h, (twice(layers, short, short) if up else short).name)


def twice(layers: Layers, even: Rows, odd: Rows) -> Rows:
    """Rows of two in turn."""
    new = layers.new
    name = new.op(
        "Reshape", new.op("Concat", even.name, odd.name, axis=1), layers.whole(-1, even.width)
    )
    return Rows(name, even.width, even.rate * 2, new.op("Mul", even.count, layers.whole(2)))


def pooled(layers: Layers, path: str, x: Rows) -> Rows:
    """Each channel by itself at twice the rate: a transposed convolution of three taps and a stride
    of two."""
    new = layers.new
    product = layers.kokoro.product(f"{path}/pool/ConvTranspose")
    weight = product.floats[:, 0, :]
    bias = new.constant(layers.kokoro.value(product.bias).reshape(-1))
    after = layers.cut(x.name, layers.whole(1), layers.later(x.count, 1))
    nothing = new.constant(np.zeros((1, x.width), np.float32))
    after = new.op("Concat", after, nothing, axis=0)
    before, own, behind = (new.constant(np.ascontiguousarray(weight[:, n])) for n in range(3))
    even = layers.plain("Add", layers.plain("Mul", x, own), bias)
    odd = layers.plain("Add", layers.plain("Mul", x, behind), new.op("Mul", after, before))
    return twice(layers, even, layers.plain("Add", odd, bias))


def raised(layers: Layers, path: str, x: Rows, stride: int, factor: float = 1.0) -> Rows:
    """A transposed convolution as a product of each row and its neighbours."""
    product = layers.kokoro.product(path)
    weight = product.floats * factor
    taps = product.weight.shape[2]
    channels = weight.shape[1]
    pad = (taps - stride) // 2
    matrix = np.zeros((3, x.width, stride, channels), np.float32)
    for row in range(stride):
        for place, tap in enumerate((row + pad + stride, row + pad, row + pad - stride)):
            if 0 <= tap < taps:
                matrix[place, :, row] = weight[:, :, tap]
    flat = matrix.reshape(3 * x.width, stride * channels)
    weight, zero, scale = layers.quantized(flat, np.zeros(1, np.int8), np.ones(1, np.float32))
    bias = np.tile(layers.kokoro.value(product.bias).reshape(-1), stride)
    rows = layers.times(x, weight, zero, scale, bias, ranged=product.rows, taps=3)
    name = layers.new.op("Reshape", rows.name, layers.whole(-1, channels))
    return Rows(
        name, channels, x.rate * stride, layers.new.op("Mul", x.count, layers.whole(stride))
    )


def snake(layers: Layers, x: Rows, alpha: Any) -> Rows:
    """(x + sin(x)^2) / alpha of x = alpha times what is meant."""
    sine = layers.new.op("Sin", x.name)
    bent = layers.plain("Add", x, layers.new.op("Mul", sine, sine))
    return layers.plain("Mul", bent, layers.new.constant(1 / alpha))


def residual(layers: Layers, path: str, x: Rows) -> Rows:
    """A residual block of three parts, two convolutions each, with a periodic activation before
    each."""
    kokoro = layers.kokoro
    for n in range(len(STEPS)):
        first, second = (
            kokoro.value(kokoro.tensor(f"{path.replace(chr(47), chr(46))}.alpha{m}.{n}")).reshape(
                -1
            )
            for m in (1, 2)
        )
        h = snake(layers, layers.norm(x, f"{path}/adain1.{n}", first), first)
        h = layers.product(h, f"{path}/convs1.{n}/Conv", norm=f"{path}/adain2.{n}", after=second)
        h = layers.product(snake(layers, h, second), f"{path}/convs2.{n}/Conv")
        x = layers.plain("Add", h, x.name)
    return x


def smooth(layers: Layers, path: str, rows: str, column: int, cache: str) -> Rows:
    """Pitch or energy, two a unit in two columns of rows (T, 4), at one a unit; ``cache`` (1, 4) is
    the row before."""
    new = layers.new
    product = layers.kokoro.product(path)
    count = layers.cut(new.op("Shape", rows), layers.whole(0), layers.whole(1))
    past = layers.cut(new.op("Concat", cache, rows, axis=0), layers.whole(0), count)
    before = layers.cut(past, layers.whole(column + 1), layers.whole(column + 2), 1)
    own = layers.cut(rows, layers.whole(column), layers.whole(column + 2), 1)
    seen = new.op("Concat", before, own, axis=1)
    weight = new.constant(product.floats.reshape(3, 1))
    bias = new.constant(layers.kokoro.value(product.bias).reshape(-1))
    return Rows(new.op("Add", new.op("MatMul", seen, weight), bias), 1, 1, count)


def prosody(kokoro: Kokoro, style: Style, *, integers: bool = True) -> Network:
    """Rows (T, 640) of the text at 40 a second to pitch in Hz and energy, two a unit."""
    layers = Layers(kokoro, style, integers=integers)
    new = layers.new
    node = kokoro.graph.maker(kokoro.tensor("shared/LSTM"))
    inner, state = recurrent(kokoro.graph, node)
    bias = kokoro.value(node.input[3])
    width = inner.shape[2]
    hidden = state.shape[2]
    rows = layers.given("rows", width)
    whole = new.op("Unsqueeze", "rows", layers.whole(1))
    final = layers.cut(whole, layers.whole(0), "commit")
    # One row more, so that there is something after the commit.
    blank = new.constant(np.zeros((1, 1, width), np.float32))
    later = new.op("Concat", layers.cut(whole, "commit", rows.count), blank, axis=0)

    def ran(name: str, direction: int, *begin: str) -> list[str]:
        weights = [new.constant(part[direction : direction + 1]) for part in (inner, state, bias)]
        about = {"hidden_size": hidden, "direction": "reverse" if direction else "forward"}
        return list(new.op("LSTM", name, *weights, "", *begin, outputs=3, **about))

    first, state_h, state_c = ran(final, 0, "hidden", "cell")
    second, _, _ = ran(later, 0, state_h, state_c)
    back, _, _ = ran(whole, 1)
    for name, made in (("next_hidden", state_h), ("next_cell", state_c)):
        new.op("Identity", made, name=name)
    forward = layers.cut(new.op("Concat", first, second, axis=0), layers.whole(0), rows.count)
    both = new.op("Reshape", new.op("Concat", forward, back, axis=3), layers.whole(-1, 2 * hidden))
    shared = Rows(both, 2 * hidden, 1, rows.count)
    for name in ("F0", "N"):
        x = shared
        for number in range(3):
            x = block(layers, f"{name}.{number}", x, up=number == 1)
        found = kokoro.product(f"{name}_proj/Conv")
        product = new.op(
            "MatMul", x.name, new.constant(np.ascontiguousarray(found.floats[:, :, 0].T))
        )
        flat = new.op("Add", product, new.constant(kokoro.value(found.bias).reshape(-1)))
        new.op("Reshape", flat, layers.whole(-1), name={"F0": "pitch", "N": "energy"}[name])
    inputs: list[tuple[str, int, Sequence[Any]]] = [
        ("rows", FLOAT, ("units", width)),
        *((name, FLOAT, (1, 1, hidden)) for name in ("hidden", "cell")),
    ]
    names = ("pitch", "energy", "next_hidden", "next_cell")
    return Network(
        layers.model(inputs, [(name, FLOAT) for name in names]), layers, len(layers.ranges)
    )


def decoder(kokoro: Kokoro, style: Style, *, integers: bool = True) -> Network:
    """Rows (T, 512) of the text, pitch and energy (T, 4), and the source's phase, to samples.

    ``turns`` and ``voiced`` (S,): the phase of the source, and 1 where it sounds, from 5 samples
    before the first unit on (from its first sample, mirrored, where a sentence begins) to 10 after
    the last. ``lead`` (1,) is 1 where a sentence begins, else 0.
    """
    layers = Layers(kokoro, style, integers=integers)
    new = layers.new
    sound = layers.given("rows", kokoro.product("asr_res.0/Conv").weight.shape[1])
    new.op(
        "Slice",
        new.op("Concat", "past", "prosody", axis=0),
        "commit",
        layers.later("commit", 1),
        layers.whole(0),
        name="next_past",
    )
    curves = [
        smooth(layers, f"{name}_conv/Conv", "prosody", at, "past")
        for name, at in (("F0", 0), ("N", 2))
    ]
    side = layers.product(sound, "asr_res.0/Conv")
    x = block(layers, "encode", layers.joined(sound, *curves))
    for number in range(4):
        x = block(layers, f"decode.{number}", layers.joined(x, side, *curves), up=number == 3)
    x = layers.trimmed(layers.leaky(x, 0.1), HALVES)
    source = spectra(layers)
    early = len(layers.ranges)
    x = raised(layers, "generator/ups.0/ConvTranspose", x, UPS[0])
    x = stage(layers, 0, x, coarse(layers, source))
    x = layers.trimmed(layers.leaky(x, 0.1), COARSE_OUT)
    x = raised(layers, "generator/ups.1/ConvTranspose", x, UPS[1], 1 / len(KERNELS))
    # A row more stands before a sentence's first one: its second.
    first = layers.cut(x.name, layers.whole(1), layers.later("lead", 1))
    rate = x.rate
    layers._commits[rate] = new.op("Add", layers.commit(rate), "lead")
    x = Rows(new.op("Concat", first, x.name, axis=0), x.width, rate, new.op("Add", x.count, "lead"))
    x = layers.trimmed(x, FINE)
    x = stage(layers, 1, x, fine(layers, source))
    new.op("Identity", waves(layers, layers.leaky(x, 0.01)), name="samples")
    inputs: list[tuple[str, int, Sequence[Any]]] = [
        ("rows", FLOAT, ("units", sound.width)),
        ("prosody", FLOAT, ("units", 4)),
        ("turns", FLOAT, ("samples",)),
        ("voiced", FLOAT, ("samples",)),
        ("lead", INT64, (1,)),
        ("past", FLOAT, (1, 4)),
        ("source", FLOAT, ("before", 2 * SPECTRUM)),
        ("tail", FLOAT, ("spectra", 2 * SPECTRUM)),
        ("final", FLOAT, (3, kokoro.product("generator/conv_post/Conv").weight.shape[1])),
    ]
    names = ("samples", "next_past", "next_source", "next_tail", "next_final")
    return Network(layers.model(inputs, [(name, FLOAT) for name in names]), layers, early, source)


SPECTRUM = WINDOW // 2 + 1


def spectra(layers: Layers) -> str:
    """(R, 22) magnitudes and phases of the harmonic source."""
    new = layers.new
    kokoro = layers.kokoro
    turn = new.constant((2 * np.pi * np.arange(1, HARMONICS + 1)).astype(np.float32)[None])
    waves = new.op("Sin", new.op("Mul", new.op("Unsqueeze", "turns", layers.whole(1)), turn))
    sounding = new.op(
        "Mul", new.op("Unsqueeze", "voiced", layers.whole(1)), new.constant(np.float32(0.1))
    )
    product = kokoro.product("m_source/l_linear/MatMul")
    bias = new.constant(kokoro.value(kokoro.tensor("m_source.l_linear.bias")))
    mixed = new.op("MatMul", new.op("Mul", waves, sounding), new.constant(product.floats))
    signal = new.op("Reshape", new.op("Tanh", new.op("Add", mixed, bias)), layers.whole(1, -1))
    node = kokoro.graph.maker(kokoro.tensor("generator/STFT"))
    step, window, size = (new.constant(kokoro.value(name)) for name in node.input[1:4])
    harmonics = new.op(
        "Squeeze", new.op("STFT", signal, step, window, size, onesided=1), layers.whole(0)
    )
    real, imaginary = (
        new.op("Gather", harmonics, new.constant(np.array(n)), axis=2) for n in (0, 1)
    )
    power = new.op("Add", new.op("Mul", real, real), new.op("Mul", imaginary, imaginary))
    angle = new.op("Atan", new.op("Div", imaginary, real))
    zero = new.constant(np.float32(0))
    half = new.constant(np.float32(np.pi))
    turned = new.op(
        "Where",
        new.op("Greater", imaginary, zero),
        new.op("Add", angle, half),
        new.op("Sub", angle, half),
    )
    phase = new.op("Where", new.op("Less", real, zero), turned, angle)
    return str(new.op("Concat", new.op("Sqrt", power), phase, axis=1))


def coarse(layers: Layers, source: str) -> Rows:
    """The source at 800 rows a second: a convolution of twelve taps and a stride of six."""
    new = layers.new
    product = layers.kokoro.product("generator/noise_convs.0/Conv")
    stride = UPS[1]
    width = product.weight.shape[0]
    columns = 2 * SPECTRUM
    rate = 2 * UPS[0] * stride
    begin = new.op("Mul", "commit", layers.whole(rate))
    nothing = new.constant(np.zeros((2, columns), np.float32))
    seen = new.op("Concat", "source", source, nothing, axis=0)
    new.op("Slice", seen, begin, layers.later(begin, 4), layers.whole(0), name="next_source")
    seen = layers.cut(seen, layers.whole(0), layers.later(begin, stride * (COARSE + reach(7) + 1)))
    blocks = new.op("Reshape", seen, layers.whole(-1, stride * columns))
    # Zeros before a sentence are zeros in the source's range, too: it is not quantized before.
    count = layers.cut(new.op("Shape", blocks), layers.whole(0), layers.whole(1))
    rows = new.op("Sub", count, layers.whole(1))
    halves = [layers.cut(blocks, layers.whole(0), rows), layers.cut(blocks, layers.whole(1), count)]
    joined = Rows(new.op("Concat", *halves, axis=1), 2 * stride * columns, 2 * UPS[0], rows)
    matrix = product.weight.transpose(2, 1, 0).reshape(-1, width)
    matrix, zero, scale = layers.quantized(matrix, product.zero, product.scale)
    return layers.times(
        joined,
        matrix,
        zero,
        scale,
        layers.kokoro.value(product.bias).reshape(-1),
        ranged=product.rows,
    )


def fine(layers: Layers, source: str) -> Rows:
    """The source at 4,800 rows a second."""
    rows = layers.trimmed(
        Rows(source, 2 * SPECTRUM, 2 * math.prod(UPS), layers.given(source, 2 * SPECTRUM).count),
        FINE + reach(11),
    )
    return layers.product(rows, "generator/noise_convs.1/Conv")


def stage(layers: Layers, number: int, x: Rows, source: Rows) -> Rows:
    """Three times what a stage makes: residual blocks of several reaches, of the rows and the
    source."""
    noise = residual(layers, f"generator/noise_res.{number}", source)
    noise = Rows(layers.cut(noise.name, layers.whole(0), x.count), noise.width, x.rate, x.count)
    x = layers.plain("Add", x, noise.name)
    made = [
        residual(layers, f"generator/resblocks.{len(KERNELS) * number + n}", x)
        for n in range(len(KERNELS))
    ]
    return layers.plain("Add", layers.plain("Add", made[0], made[1].name), made[2].name)


def waves(layers: Layers, x: Rows) -> str:
    """Samples of the last rows: spectra, and their overlapping inverse transforms."""
    new = layers.new
    kokoro = layers.kokoro
    product = kokoro.product("generator/conv_post/Conv")
    taps = product.weight.shape[2]
    side = (taps - 1) // 2
    begin = layers.commit(x.rate)
    seen = new.op(
        "Concat", "final", x.name, new.constant(np.zeros((side, x.width), np.float32)), axis=0
    )
    new.op("Slice", seen, begin, layers.later(begin, side), layers.whole(0), name="next_final")
    parts = [layers.cut(seen, layers.whole(tap), layers.later(x.count, tap)) for tap in range(taps)]
    matrix = product.floats.transpose(2, 1, 0).reshape(-1, 2 * SPECTRUM) / len(KERNELS)
    made = new.op(
        "MatMul", new.op("Concat", *parts, axis=1), new.constant(matrix.astype(np.float32))
    )
    made = new.op("Add", made, new.constant(kokoro.value(product.bias).reshape(-1)))
    level, turn = (
        layers.cut(made, layers.whole(n * SPECTRUM), layers.whole((n + 1) * SPECTRUM), 1)
        for n in (0, 1)
    )
    level = new.op("Exp", level)
    turn = new.op("Sin", turn)
    spectrum = new.op(
        "Concat", *(new.op("Mul", level, new.op(kind, turn)) for kind in ("Cos", "Sin")), axis=1
    )
    seen = new.op(
        "Concat", "tail", spectrum, new.constant(np.zeros((1, 2 * SPECTRUM), np.float32)), axis=0
    )
    at = new.op("Mul", "commit", layers.whole(x.rate))
    new.op("Slice", seen, at, layers.later(at, 2), layers.whole(0), name="next_tail")
    count = layers.cut(new.op("Shape", seen), layers.whole(0), layers.whole(1))
    over = WINDOW // HOP
    rows = new.op("Sub", count, layers.whole(over - 1))
    parts = [layers.cut(seen, layers.whole(n), layers.later(rows, n)) for n in range(over)]
    basis = kokoro.value(kokoro.tensor("istft.stft.inverse_basis"))[:, 0] * np.float32(WINDOW / HOP)
    stacked = np.concatenate(
        [basis[:, (over - 1 - n) * HOP : (over - n) * HOP] for n in range(over)]
    )
    samples = new.op(
        "MatMul", new.op("Concat", *parts, axis=1), new.constant(stacked.astype(np.float32))
    )
    return str(new.op("Reshape", samples, layers.whole(-1)))
