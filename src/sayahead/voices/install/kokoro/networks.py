"""Writes Kokoro's two networks over frames again: prosody, and the decoder with its source.

They are those of StyleTTS 2 (Li et al., NeurIPS 2023) with an inverse STFT at the end: blocks of
convolutions at 40 and 80 rows per second, two stages at 800 and 4,800 rows per second, to each of
which the harmonic source is added, and spectra of windows of 20 samples."""

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
"""Taps of the three residual blocks of a stage, and the dilations of the three parts of a block."""
UPS = (10, 6)
"""Factors by which the stages upsample."""
HOP = 5
WINDOW = 20
"""Samples of the hop and the window of the STFT."""
SPECTRUM = WINDOW // 2 + 1
"""Bins of a spectrum."""
HARMONICS = 9
AHEAD = 240
"""Samples after the commit that must be right in a step, for the cross-fade into the next one."""


def reach(taps: int) -> int:
    """Return how many rows to each side a residual block with these taps sees."""
    return sum((step + 1) * (taps - 1) // 2 for step in STEPS)


SPECTRA = AHEAD // HOP + 2
FINE = SPECTRA + 3 + reach(max(KERNELS))
COARSE_OUT = -(-FINE // UPS[1]) + 2
COARSE = COARSE_OUT + reach(max(KERNELS))
HALVES = -(-COARSE // UPS[0]) + 1
"""Rows after the commit that each layer must compute for ``AHEAD`` samples, from the last layer to
the first: spectra, the stage at 4,800 rows per second, output and input of the stage at 800, and
half units."""
RIGHT = -(-(HALVES + 2) // 2) + 1 + 2 * 4
"""Units to the right that influence the decoder's final samples: two convolutions in each of five
blocks, and one of them upsamples by two."""
PROSODY_RIGHT = RIGHT + 5
"""Units to the right that influence prosody's final units through its convolutions; its recurrent
network sees all that are given."""


@dataclass(frozen=True, slots=True)
class Network:
    """A finished network over frames."""

    model: Any
    """The graph, an onnx.ModelProto."""
    layers: Layers
    """Its construction: caches, ranges and pieces of the style."""
    generator_start: int
    """Index of the first range of the generator, whose ranges are cut more than the others."""
    spectra: str = ""
    """Name of the spectra of the decoder's source."""


def block(layers: Layers, path: str, x: Rows, *, up: bool = False) -> Rows:
    """A residual block of two convolutions, each after an instance norm; ``up`` doubles the rate.

    The sum of both branches is halved in power: each is multiplied by the root of 1/2."""
    half = 1 / math.sqrt(2)
    h = layers.leaky(layers.norm(x, f"{path}/norm1"), 0.2)
    if up:
        h = doubled(layers, path, h)
    h = layers.leaky(layers.product(h, f"{path}/conv1/Conv", norm=f"{path}/norm2"), 0.2)
    h = layers.product(h, f"{path}/conv2/Conv", factor=half)
    if layers.kokoro.has(f"{path}/conv1x1/Conv"):
        short = layers.product(x, f"{path}/conv1x1/Conv", factor=half)
    else:
        short = layers.elementwise("Mul", x, layers.new.constant(np.float32(half)))
    return layers.elementwise("Add", h, (interleaved(layers, short, short) if up else short).name)


def interleaved(layers: Layers, even: Rows, odd: Rows) -> Rows:
    """Interleave two tensors of the same rate: even, odd, even, odd, ..."""
    new = layers.new
    name = new.op(
        "Reshape", new.op("Concat", even.name, odd.name, axis=1), layers.ints(-1, even.width)
    )
    return Rows(name, even.width, even.rate * 2, new.op("Mul", even.count, layers.ints(2)))


def doubled(layers: Layers, path: str, x: Rows) -> Rows:
    """Double the rate by a transposed convolution of each channel alone, with three taps and a
    stride of two.

    An even row is a multiple of one row of the input, an odd row a sum of that row and the next."""
    new = layers.new
    product = layers.kokoro.product(f"{path}/pool/ConvTranspose")
    weight = product.floats[:, 0, :]
    bias = new.constant(layers.kokoro.value(product.bias).reshape(-1))
    following = layers.slice(x.name, layers.ints(1), layers.plus(x.count, 1))
    padding = new.constant(np.zeros((1, x.width), np.float32))
    following = new.op("Concat", following, padding, axis=0)
    taps = (new.constant(np.ascontiguousarray(weight[:, n])) for n in range(3))
    next_tap, even_tap, odd_tap = taps
    even = layers.elementwise("Add", layers.elementwise("Mul", x, even_tap), bias)
    odd = layers.elementwise("Mul", x, odd_tap)
    odd = layers.elementwise("Add", odd, new.op("Mul", following, next_tap))
    return interleaved(layers, even, layers.elementwise("Add", odd, bias))


def upsampled(layers: Layers, path: str, x: Rows, stride: int, factor: float = 1.0) -> Rows:
    """Upsample by ``stride``: the transposed convolution at ``path``, times a factor.

    It is written as a matrix product: a row and its two neighbours (3 C) make ``stride`` rows."""
    product = layers.kokoro.product(path)
    weight = product.floats * factor
    taps = product.weight.shape[2]
    channels = weight.shape[1]
    pad = (taps - stride) // 2
    matrix = np.zeros((3, x.width, stride, channels), np.float32)
    for row in range(stride):
        for neighbour, tap in enumerate((row + pad + stride, row + pad, row + pad - stride)):
            if 0 <= tap < taps:
                matrix[neighbour, :, row] = weight[:, :, tap]
    flat = matrix.reshape(3 * x.width, stride * channels)
    weight, zero, scale = layers.quantized(flat, np.zeros(1, np.int8), np.ones(1, np.float32))
    bias = np.tile(layers.kokoro.value(product.bias).reshape(-1), stride)
    rows = layers.matmul(x, weight, zero, scale, bias, ranged=product.rows, taps=3)
    name = layers.new.op("Reshape", rows.name, layers.ints(-1, channels))
    return Rows(name, channels, x.rate * stride, layers.new.op("Mul", x.count, layers.ints(stride)))


def snake(layers: Layers, x: Rows, alpha: Any) -> Rows:
    """The Snake activation u + sin(alpha u)^2 / alpha (Liu et al. 2020) of x = alpha u: the layer
    before has multiplied by alpha already."""
    sine = layers.new.op("Sin", x.name)
    bent = layers.elementwise("Add", x, layers.new.op("Mul", sine, sine))
    return layers.elementwise("Mul", bent, layers.new.constant(1 / alpha))


def residual(layers: Layers, path: str, x: Rows) -> Rows:
    """A residual block of three parts; each has two convolutions, both after an instance norm and a
    periodic activation."""
    kokoro = layers.kokoro
    for n in range(len(STEPS)):
        weights = path.replace("/", ".")
        first, second = (
            kokoro.value(kokoro.tensor(f"{weights}.alpha{m}.{n}")).reshape(-1) for m in (1, 2)
        )
        h = snake(layers, layers.norm(x, f"{path}/adain1.{n}", first), first)
        h = layers.product(h, f"{path}/convs1.{n}/Conv", norm=f"{path}/adain2.{n}", after=second)
        h = layers.product(snake(layers, h, second), f"{path}/convs2.{n}/Conv")
        x = layers.elementwise("Add", h, x.name)
    return x


def smooth(layers: Layers, path: str, rows: str, column: int, cache: str) -> Rows:
    """Reduce pitch or energy from two values per unit to one by a convolution of three taps.

    ``rows`` (T, 4) holds the two values in ``column`` and the next one; ``cache`` (1, 4) is the row
    before the first."""
    new = layers.new
    product = layers.kokoro.product(path)
    count = layers.slice(new.op("Shape", rows), layers.ints(0), layers.ints(1))
    previous = layers.slice(new.op("Concat", cache, rows, axis=0), layers.ints(0), count)
    last = layers.slice(previous, layers.ints(column + 1), layers.ints(column + 2), 1)
    both = layers.slice(rows, layers.ints(column), layers.ints(column + 2), 1)
    seen = new.op("Concat", last, both, axis=1)
    weight = new.constant(product.floats.reshape(3, 1))
    bias = new.constant(layers.kokoro.value(product.bias).reshape(-1))
    return Rows(new.op("Add", new.op("MatMul", seen, weight), bias), 1, 1, count)


def prosody(kokoro: Kokoro, style: Style, *, integers: bool = True) -> Network:
    """Build the prosody network: encodings ``rows`` (T, 640) of units to ``pitch`` in Hz and
    ``energy``, two values of each per unit.

    A bidirectional LSTM is followed by three blocks of convolutions for each of the two. Forward,
    the LSTM goes on from the state ``hidden`` and ``cell`` at the last commit; backward, it begins
    at the last row that is given."""
    layers = Layers(kokoro, style, integers=integers)
    new = layers.new
    node = kokoro.graph.maker(kokoro.tensor("shared/LSTM"))
    inner, state = recurrent(kokoro.graph, node)
    bias = kokoro.value(node.input[3])
    width = inner.shape[2]
    hidden = state.shape[2]
    rows = layers.input("rows", width)
    whole = new.op("Unsqueeze", "rows", layers.ints(1))
    final = layers.slice(whole, layers.ints(0), "commit")
    # An LSTM cannot run over no rows, so one of zeros is put after the provisional ones.
    padding = new.constant(np.zeros((1, 1, width), np.float32))
    provisional = new.op("Concat", layers.slice(whole, "commit", rows.count), padding, axis=0)

    def lstm(name: str, direction: int, *initial: str) -> list[str]:
        weights = [new.constant(part[direction : direction + 1]) for part in (inner, state, bias)]
        about = {"hidden_size": hidden, "direction": "reverse" if direction else "forward"}
        return list(new.op("LSTM", name, *weights, "", *initial, outputs=3, **about))

    first, state_h, state_c = lstm(final, 0, "hidden", "cell")
    second, _, _ = lstm(provisional, 0, state_h, state_c)
    backward, _, _ = lstm(whole, 1)
    for name, tensor in (("next_hidden", state_h), ("next_cell", state_c)):
        new.op("Identity", tensor, name=name)
    forward = layers.slice(new.op("Concat", first, second, axis=0), layers.ints(0), rows.count)
    both = new.op(
        "Reshape", new.op("Concat", forward, backward, axis=3), layers.ints(-1, 2 * hidden)
    )
    shared = Rows(both, 2 * hidden, 1, rows.count)
    for name in ("F0", "N"):
        x = shared
        for number in range(3):
            x = block(layers, f"{name}.{number}", x, up=number == 1)
        projection = kokoro.product(f"{name}_proj/Conv")
        matrix = np.ascontiguousarray(projection.floats[:, :, 0].T)
        values = new.op("MatMul", x.name, new.constant(matrix))
        values = new.op("Add", values, new.constant(kokoro.value(projection.bias).reshape(-1)))
        new.op("Reshape", values, layers.ints(-1), name={"F0": "pitch", "N": "energy"}[name])
    inputs: list[tuple[str, int, Sequence[Any]]] = [
        ("rows", FLOAT, ("units", width)),
        *((name, FLOAT, (1, 1, hidden)) for name in ("hidden", "cell")),
    ]
    names = ("pitch", "energy", "next_hidden", "next_cell")
    return Network(
        layers.model(inputs, [(name, FLOAT) for name in names]), layers, len(layers.ranges)
    )


def decoder(kokoro: Kokoro, style: Style, *, integers: bool = True) -> Network:
    """Build the decoder: encodings ``rows`` (T, 512) of units, their pitch and energy ``prosody``
    (T, 4), and the phase of the source to ``samples``.

    ``turns`` and ``voiced`` (S,): the phase of the source, and 1 where it sounds, from 5 samples
    before the first unit on (at the beginning of a sentence: from 10 mirrored samples before it) to
    10 after the last. ``lead`` (1,) is 1 at the beginning of a sentence, else 0.
    """
    layers = Layers(kokoro, style, integers=integers)
    new = layers.new
    sound = layers.input("rows", kokoro.product("asr_res.0/Conv").weight.shape[1])
    new.op(
        "Slice",
        new.op("Concat", "past", "prosody", axis=0),
        "commit",
        layers.plus("commit", 1),
        layers.ints(0),
        name="next_past",
    )
    curves = [
        smooth(layers, f"{name}_conv/Conv", "prosody", column, "past")
        for name, column in (("F0", 0), ("N", 2))
    ]
    side = layers.product(sound, "asr_res.0/Conv")
    x = block(layers, "encode", layers.concat(sound, *curves))
    for number in range(4):
        x = block(layers, f"decode.{number}", layers.concat(x, side, *curves), up=number == 3)
    x = layers.trimmed(layers.leaky(x, 0.1), HALVES)
    source = source_spectra(layers)
    generator_start = len(layers.ranges)
    x = upsampled(layers, "generator/ups.0/ConvTranspose", x, UPS[0])
    x = stage(layers, 0, x, coarse_source(layers, source))
    x = layers.trimmed(layers.leaky(x, 0.1), COARSE_OUT)
    x = upsampled(layers, "generator/ups.1/ConvTranspose", x, UPS[1], 1 / len(KERNELS))
    # The published network pads the beginning of a sentence with one mirrored row.
    first = layers.slice(x.name, layers.ints(1), layers.plus("lead", 1))
    x = layers.delay(x, first, "lead")
    x = layers.trimmed(x, FINE)
    x = stage(layers, 1, x, fine_source(layers, source))
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
    return Network(
        layers.model(inputs, [(name, FLOAT) for name in names]), layers, generator_start, source
    )


def source_spectra(layers: Layers) -> str:
    """The harmonic source: (R, 22) magnitudes and phases of its short-time spectra, a row every 5
    samples.

    Sines at nine multiples of ``turns``, weighted by a learned layer, are cut by an STFT."""
    new = layers.new
    kokoro = layers.kokoro
    angles = new.constant((2 * np.pi * np.arange(1, HARMONICS + 1)).astype(np.float32)[None])
    waves = new.op("Sin", new.op("Mul", new.op("Unsqueeze", "turns", layers.ints(1)), angles))
    amplitude = new.op(
        "Mul", new.op("Unsqueeze", "voiced", layers.ints(1)), new.constant(np.float32(0.1))
    )
    product = kokoro.product("m_source/l_linear/MatMul")
    bias = new.constant(kokoro.value(kokoro.tensor("m_source.l_linear.bias")))
    mixed = new.op("MatMul", new.op("Mul", waves, amplitude), new.constant(product.floats))
    signal = new.op("Reshape", new.op("Tanh", new.op("Add", mixed, bias)), layers.ints(1, -1))
    node = kokoro.graph.maker(kokoro.tensor("generator/STFT"))
    step, window, size = (new.constant(kokoro.value(name)) for name in node.input[1:4])
    harmonics = new.op(
        "Squeeze", new.op("STFT", signal, step, window, size, onesided=1), layers.ints(0)
    )
    real, imaginary = (
        new.op("Gather", harmonics, new.constant(np.array(n)), axis=2) for n in (0, 1)
    )
    power = new.op("Add", new.op("Mul", real, real), new.op("Mul", imaginary, imaginary))
    # ONNX has no two-argument arctangent: half a turn is added left of the imaginary axis.
    angle = new.op("Atan", new.op("Div", imaginary, real))
    zero = new.constant(np.float32(0))
    half_turn = new.constant(np.float32(np.pi))
    opposite = new.op(
        "Where",
        new.op("Greater", imaginary, zero),
        new.op("Add", angle, half_turn),
        new.op("Sub", angle, half_turn),
    )
    phase = new.op("Where", new.op("Less", real, zero), opposite, angle)
    return str(new.op("Concat", new.op("Sqrt", power), phase, axis=1))


def coarse_source(layers: Layers, source: str) -> Rows:
    """The source at 800 rows per second: a convolution of twelve taps with a stride of six.

    Rows are taken in blocks of six; each result is the product of a block and the next one."""
    new = layers.new
    product = layers.kokoro.product("generator/noise_convs.0/Conv")
    stride = UPS[1]
    width = product.weight.shape[0]
    columns = 2 * SPECTRUM
    rate = 2 * UPS[0] * stride
    begin = new.op("Mul", "commit", layers.ints(rate))
    padding = new.constant(np.zeros((2, columns), np.float32))
    seen = new.op("Concat", "source", source, padding, axis=0)
    new.op("Slice", seen, begin, layers.plus(begin, 4), layers.ints(0), name="next_source")
    seen = layers.slice(seen, layers.ints(0), layers.plus(begin, stride * (COARSE + reach(7) + 1)))
    blocks = new.op("Reshape", seen, layers.ints(-1, stride * columns))
    # The cache holds floats, so its zeros before a sentence need no zero point.
    count = layers.slice(new.op("Shape", blocks), layers.ints(0), layers.ints(1))
    rows = new.op("Sub", count, layers.ints(1))
    halves = [
        layers.slice(blocks, layers.ints(0), rows),
        layers.slice(blocks, layers.ints(1), count),
    ]
    joined = Rows(new.op("Concat", *halves, axis=1), 2 * stride * columns, 2 * UPS[0], rows)
    matrix = product.weight.transpose(2, 1, 0).reshape(-1, width)
    matrix, zero, scale = layers.quantized(matrix, product.zero, product.scale)
    return layers.matmul(
        joined,
        matrix,
        zero,
        scale,
        layers.kokoro.value(product.bias).reshape(-1),
        ranged=product.rows,
    )


def fine_source(layers: Layers, source: str) -> Rows:
    """The source at 4,800 rows per second, its own rate."""
    rows = layers.trimmed(
        Rows(source, 2 * SPECTRUM, 2 * math.prod(UPS), layers.input(source, 2 * SPECTRUM).count),
        FINE + reach(11),
    )
    return layers.product(rows, "generator/noise_convs.1/Conv")


def stage(layers: Layers, number: int, x: Rows, source: Rows) -> Rows:
    """One stage of the generator: add the source to rows, then sum three residual blocks of
    different reach. (The published network takes their mean: the next layer divides by three.)"""
    noise = residual(layers, f"generator/noise_res.{number}", source)
    noise = Rows(layers.slice(noise.name, layers.ints(0), x.count), noise.width, x.rate, x.count)
    x = layers.elementwise("Add", x, noise.name)
    blocks = [
        residual(layers, f"generator/resblocks.{len(KERNELS) * number + n}", x)
        for n in range(len(KERNELS))
    ]
    summed = layers.elementwise("Add", blocks[0], blocks[1].name)
    return layers.elementwise("Add", summed, blocks[2].name)


def waves(layers: Layers, x: Rows) -> str:
    """The samples (S,) of the generator's last rows: their spectra by a convolution, then an
    inverse STFT."""
    return overlap_add(layers, final_spectra(layers, x), x.rate)


def final_spectra(layers: Layers, x: Rows) -> str:
    """Spectra (T, 22), real parts before imaginary ones, by the last convolution, which yields
    logarithms of magnitudes and arcsines of phases."""
    new = layers.new
    kokoro = layers.kokoro
    product = kokoro.product("generator/conv_post/Conv")
    taps = product.weight.shape[2]
    side = (taps - 1) // 2
    begin = layers.commit(x.rate)
    seen = new.op(
        "Concat", "final", x.name, new.constant(np.zeros((side, x.width), np.float32)), axis=0
    )
    new.op("Slice", seen, begin, layers.plus(begin, side), layers.ints(0), name="next_final")
    parts = [layers.slice(seen, layers.ints(tap), layers.plus(x.count, tap)) for tap in range(taps)]
    matrix = product.floats.transpose(2, 1, 0).reshape(-1, 2 * SPECTRUM) / len(KERNELS)
    values = new.op(
        "MatMul", new.op("Concat", *parts, axis=1), new.constant(matrix.astype(np.float32))
    )
    values = new.op("Add", values, new.constant(kokoro.value(product.bias).reshape(-1)))
    magnitude, phase = (
        layers.slice(values, layers.ints(n * SPECTRUM), layers.ints((n + 1) * SPECTRUM), 1)
        for n in (0, 1)
    )
    magnitude = new.op("Exp", magnitude)
    phase = new.op("Sin", phase)
    parts = [new.op("Mul", magnitude, new.op(kind, phase)) for kind in ("Cos", "Sin")]
    return str(new.op("Concat", *parts, axis=1))


def overlap_add(layers: Layers, spectrum: str, rate: int) -> str:
    """Samples (S,) of overlapping spectra (T, 22).

    Four windows overlap in each hop of 5 samples, so a hop is the product of four successive
    spectra with the parts of the inverse transform that fall into it."""
    new = layers.new
    seen = new.op(
        "Concat", "tail", spectrum, new.constant(np.zeros((1, 2 * SPECTRUM), np.float32)), axis=0
    )
    begin = new.op("Mul", "commit", layers.ints(rate))
    new.op("Slice", seen, begin, layers.plus(begin, 2), layers.ints(0), name="next_tail")
    count = layers.slice(new.op("Shape", seen), layers.ints(0), layers.ints(1))
    overlap = WINDOW // HOP
    rows = new.op("Sub", count, layers.ints(overlap - 1))
    parts = [layers.slice(seen, layers.ints(n), layers.plus(rows, n)) for n in range(overlap)]
    basis = layers.kokoro.value(layers.kokoro.tensor("istft.stft.inverse_basis"))[:, 0]
    basis = basis * np.float32(overlap)
    stacked = np.concatenate(
        [basis[:, (overlap - 1 - n) * HOP : (overlap - n) * HOP] for n in range(overlap)]
    )
    samples = new.op(
        "MatMul", new.op("Concat", *parts, axis=1), new.constant(stacked.astype(np.float32))
    )
    return str(new.op("Reshape", samples, layers.ints(-1)))
