"""A Kokoro with random weights, small: its modules, named as in the published graph, in floats or
in integers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

LETTERS = "abcdefghijklmnopqrstuvwxyzæðŋɑɔəɛɜɡɪɹʃʊʌʒʤʧˈˌθᵊAIOQWYTᵻɾ"
VOCAB = {symbol: number for number, symbol in enumerate(" ;:,.!?—…" + LETTERS, 1)}
STYLE = 3
SOUND = 6
HIDDEN = 4
WIDE = 8
FINE = 4
ROWS = 120
"""Half of a style, channels of the text's encoding, of a direction of recurrent networks, of the
decoder and of its two stages, and rows of a style's table."""
WINDOW = 20
HOP = 5


class Net:
    """A graph under construction; every tensor is named after the module that makes it."""

    def __init__(self, seed: int) -> None:
        self.draw = np.random.default_rng(seed)
        self.nodes: list[Any] = []
        self.weights: list[Any] = []
        self._count = 0

    def constant(self, value: Any, name: str = "") -> str:
        self._count += 1
        name = name or f"c{self._count}"
        array = np.asarray(value)
        array = array.astype(np.float32) if array.dtype == np.float64 else array
        copy = np.ascontiguousarray(array).reshape(array.shape)
        self.weights.append(numpy_helper.from_array(copy, name))
        return name

    def random(self, *shape: int, scale: float, name: str = "") -> str:
        return self.constant(self.draw.normal(0, scale, shape), name)

    def op(self, kind: str, *inputs: str, path: str = "", outputs: int = 1, **about: Any) -> Any:
        self._count += 1
        name = f"/{path}_output_0" if path else f"t{self._count}"
        names = [name, *(f"{name}_{n}" for n in range(1, outputs))]
        self.nodes.append(helper.make_node(kind, list(inputs), names, **about))
        return names if outputs > 1 else name

    def conv(
        self,
        x: str,
        path: str,
        wide: tuple[int, int],
        taps: int,
        *,
        bias: bool = True,
        **about: Any,
    ) -> str:
        dilation = about.get("dilations", [1])[0]
        weight = self.random(wide[1], wide[0], taps, scale=1 / np.sqrt(taps * wide[0]))
        offset = [self.random(wide[1], scale=0.1)] if bias else []
        about = {"pads": [dilation * (taps - 1) // 2] * 2, "kernel_shape": [taps], **about}
        return str(self.op("Conv", x, weight, *offset, path=f"{path}/Conv", **about))

    def transposed(
        self, x: str, path: str, weight: tuple[int, ...], wide: int, **about: Any
    ) -> str:
        kernel = self.random(*weight, scale=0.4)
        offset = self.random(wide, scale=0.1)
        return str(
            self.op(
                "ConvTranspose", x, kernel, offset, path=path, kernel_shape=[weight[2]], **about
            )
        )

    def norm(self, x: str, path: str, style: str, wide: int) -> str:
        """An instance norm whose scale and offset are the style's."""
        weight = self.random(STYLE, 2 * wide, scale=0.2)
        bias = self.random(2 * wide, scale=0.1)
        product = self.op("MatMul", style, weight)
        made = self.op(
            "Unsqueeze", self.op("Add", product, bias, path=f"{path}/fc/Gemm"), self.constant([2])
        )
        gain, offset = self.op("Split", made, self.constant([wide, wide]), outputs=2, axis=1)
        mean = self.op("ReduceMean", x, self.constant([2]))
        less = self.op("Sub", x, mean)
        variance = self.op("ReduceMean", self.op("Mul", less, less), self.constant([2]))
        root = self.op("Sqrt", self.op("Add", variance, self.constant(np.float32(1e-5))))
        scaled = self.op(
            "Mul", self.op("Add", gain, self.constant(np.float32(1))), self.op("Div", less, root)
        )
        return str(self.op("Add", scaled, offset))

    def leaky(self, x: str, alpha: float = 0.2) -> str:
        return str(self.op("LeakyRelu", x, alpha=alpha))

    def block(
        self, x: str, path: str, style: str, wide: tuple[int, int], *, up: bool = False
    ) -> str:
        h = self.leaky(self.norm(x, f"{path}/norm1", style, wide[0]))
        short = x
        if up:
            about: dict[str, Any] = {
                "strides": [2],
                "pads": [1, 1],
                "output_padding": [1],
                "group": wide[0],
            }
            h = self.transposed(h, f"{path}/pool/ConvTranspose", (wide[0], 1, 3), wide[0], **about)
            sizes = self.constant(np.array([1, 1, 2], np.float32))
            about = {
                "mode": "nearest",
                "nearest_mode": "floor",
                "coordinate_transformation_mode": "asymmetric",
            }
            short = self.op("Resize", x, "", sizes, **about)
        h = self.conv(h, f"{path}/conv1", wide, 3)
        h = self.conv(
            self.leaky(self.norm(h, f"{path}/norm2", style, wide[1])),
            f"{path}/conv2",
            (wide[1], wide[1]),
            3,
        )
        if wide[0] != wide[1]:
            short = self.conv(short, f"{path}/conv1x1", wide, 1, bias=False)
        return str(self.op("Div", self.op("Add", h, short), self.constant(np.float32(np.sqrt(2)))))

    def residual(self, x: str, path: str, style: str, wide: int, taps: int) -> str:
        for n, dilation in enumerate((1, 3, 5)):
            h = x
            for part, step in ((1, dilation), (2, 1)):
                h = self.norm(h, f"{path}/adain{part}.{n}", style, wide)
                name = f"{path}.alpha{part}.{n}".replace("/", ".")
                alpha = self.constant(self.draw.uniform(0.5, 1.5, (1, wide, 1)), name)
                value = numpy_helper.to_array(self.weights[-1])
                sine = self.op(
                    "Pow", self.op("Sin", self.op("Mul", alpha, h)), self.constant(np.float32(2))
                )
                h = self.op("Add", h, self.op("Mul", self.constant(1 / value), sine))
                h = self.conv(h, f"{path}/convs{part}.{n}", (wide, wide), taps, dilations=[step])
            x = self.op("Add", h, x)
        return x


def kokoro(tokens: str = "tokens", seed: int = 0) -> onnx.ModelProto:
    """The graph, in floats."""
    net = Net(seed)
    sound, prosody, units = texts(net, tokens)
    voice, manner = net.op("Split", "style", net.constant([STYLE, STYLE]), outputs=2, axis=1)
    del manner
    curves = [curve(net, prosody, name) for name in ("F0", "N")]
    del units
    low = [
        net.conv(
            net.op("Unsqueeze", rows, net.constant([1])),
            f"decoder/decoder/{name}_conv",
            (1, 1),
            3,
            strides=[2],
        )
        for rows, name in zip(curves, ("F0", "N"), strict=True)
    ]
    side = net.conv(sound, "decoder/decoder/asr_res/asr_res.0", (SOUND, 2), 1)
    x = net.block(
        net.op("Concat", sound, *low, axis=1), "decoder/decoder/encode", voice, (SOUND + 2, WIDE)
    )
    for n in range(4):
        x = net.op("Concat", x, side, *low, axis=1)
        path = f"decoder/decoder/decode.{n}"
        x = net.block(x, path, voice, (WIDE + 4, WIDE - 2 if n == 3 else WIDE), up=n == 3)
    spectra = source(net, curves[0])
    top = "decoder/decoder/generator"
    x = net.leaky(x, 0.1)
    x = net.transposed(
        x,
        f"{top}/ups.0/ConvTranspose",
        (WIDE - 2, FINE + 1, 20),
        FINE + 1,
        strides=[10],
        pads=[5, 5],
    )
    noise = net.conv(
        spectra, f"{top}/noise_convs.0", (WINDOW + 2, FINE + 1), 12, strides=[6], pads=[3, 3]
    )
    x = stage(net, x, noise, voice, 0, FINE + 1, 7)
    x = net.leaky(x, 0.1)
    x = net.transposed(
        x, f"{top}/ups.1/ConvTranspose", (FINE + 1, FINE, 12), FINE, strides=[6], pads=[3, 3]
    )
    x = net.op("Pad", x, net.constant([0, 0, 1, 0, 0, 0]), mode="reflect")
    x = stage(
        net, x, net.conv(spectra, f"{top}/noise_convs.1", (WINDOW + 2, FINE), 1), voice, 1, FINE, 11
    )
    x = net.conv(net.leaky(x, 0.01), f"{top}/conv_post", (FINE, WINDOW + 2), 7)
    waves(net, x)
    inputs = [
        helper.make_tensor_value_info(tokens, TensorProto.INT64, (1, "sequence_length")),
        helper.make_tensor_value_info("style", TensorProto.FLOAT, (1, 2 * STYLE)),
        helper.make_tensor_value_info("speed", TensorProto.FLOAT, (1,)),
    ]
    outputs = [helper.make_tensor_value_info("audio", TensorProto.FLOAT, ("audio_length",))]
    made = helper.make_graph(net.nodes, "kokoro", inputs, outputs, net.weights)
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


def texts(net: Net, tokens: str) -> tuple[str, str, str]:
    """The text's encodings for sound (1, C, T) and for prosody (1, D, T), and durations."""
    embedded = net.op("Gather", net.random(len(VOCAB) + 1, WIDE, scale=1.0), tokens)
    around = net.conv(
        net.op("Transpose", embedded, perm=[0, 2, 1]), "encoder/text_encoder/cnn", (WIDE, SOUND), 5
    )
    manner = net.op(
        "Slice", "style", net.constant([STYLE]), net.constant([2 * STYLE]), net.constant([1])
    )
    length = net.op("Slice", net.op("Shape", tokens), net.constant([1]), net.constant([2]))
    shape = net.op("Concat", net.constant([1]), length, net.constant([STYLE]), axis=0)
    spread = net.op("Expand", net.op("Unsqueeze", manner, net.constant([1])), shape)
    rows = net.op("Concat", net.op("Transpose", around, perm=[0, 2, 1]), spread, axis=2)
    weight = net.random(SOUND + STYLE, 4, scale=0.5)
    sums = net.op(
        "ReduceSum",
        net.op("Sigmoid", net.op("MatMul", rows, weight)),
        net.constant([-1]),
        keepdims=0,
    )
    rounded = net.op("Round", net.op("Div", sums, "speed"), path="encoder/Round")
    units = net.op(
        "Cast", net.op("Clip", rounded, net.constant(np.float32(1))), to=TensorProto.INT64
    )
    ends = net.op("CumSum", net.op("Squeeze", units, net.constant([0])), net.constant(np.array(0)))
    begins = net.op("Sub", ends, net.op("Squeeze", units, net.constant([0])))
    total = net.op("Squeeze", net.op("Slice", ends, net.constant([-1]), net.constant([1 << 30])))
    places = net.op("Range", net.constant(np.array(0)), total, net.constant(np.array(1)))
    grid = [net.op("Unsqueeze", name, net.constant([1])) for name in (begins, ends)]
    within = net.op(
        "And", net.op("GreaterOrEqual", places, grid[0]), net.op("Less", places, grid[1])
    )
    path = net.op("Cast", within, to=TensorProto.FLOAT)
    prosody = net.op(
        "MatMul", net.op("Transpose", rows, perm=[0, 2, 1]), path, path="encoder/MatMul"
    )
    return net.op("MatMul", around, path, path="encoder/MatMul_1"), prosody, units


def curve(net: Net, prosody: str, name: str) -> str:
    """(1, F) pitch or energy, two a unit."""
    wide = 2 * HIDDEN
    manner = net.op("Slice", "style", net.constant([STYLE]), net.constant([9]), net.constant([1]))
    shared = "/encoder/shared/rows"
    if name == "F0":
        rows = net.op("Transpose", prosody, perm=[2, 0, 1])
        weights = [net.random(2, 4 * HIDDEN, n, scale=0.4) for n in (SOUND + STYLE, HIDDEN)]
        bias = net.random(2, 8 * HIDDEN, scale=0.1)
        about: dict[str, Any] = {"hidden_size": HIDDEN, "direction": "bidirectional"}
        made = net.op("LSTM", rows, *weights, bias, path="encoder/shared/LSTM", **about)
        flat = net.op(
            "Reshape", net.op("Transpose", made, perm=[0, 2, 1, 3]), net.constant([0, 0, -1])
        )
        net.nodes.append(helper.make_node("Transpose", [flat], [shared], perm=[1, 2, 0]))
    x = net.block(shared, f"encoder/{name}.0", manner, (wide, wide))
    x = net.block(x, f"encoder/{name}.1", manner, (wide, HIDDEN), up=True)
    x = net.block(x, f"encoder/{name}.2", manner, (HIDDEN, HIDDEN))
    made = net.conv(x, f"encoder/{name}_proj", (HIDDEN, 1), 1)
    if name == "F0":
        # A voice between 80 and 220 Hz, but for where it is none.
        last = net.nodes[-1]
        last.input[1] = net.constant(40 * numpy_helper.to_array(net.weights[-2]))
        last.input[2] = net.constant(np.array([120.0]))
    return str(net.op("Squeeze", made, net.constant([1])))


def source(net: Net, pitch: str) -> str:
    """(1, 22, R) magnitudes and phases of harmonics of a pitch (1, F)."""
    top = "decoder/decoder/generator"
    hz = net.op("Unsqueeze", pitch, net.constant([1]))
    about: dict[str, Any] = {
        "mode": "nearest",
        "nearest_mode": "floor",
        "coordinate_transformation_mode": "asymmetric",
    }
    fine = net.op("Resize", hz, "", net.constant(np.array([1, 1, 300], np.float32)), **about)
    orders = net.constant(np.arange(1, 10, dtype=np.float32).reshape(1, 9, 1))
    turns = net.op("CumSum", net.op("Mul", hz, orders), net.constant(np.array(2)))
    angle = net.op("Mul", turns, net.constant(np.float32(2 * np.pi * 300 / 24000)))
    about = {"mode": "linear", "coordinate_transformation_mode": "half_pixel"}
    angle = net.op("Resize", angle, "", net.constant(np.array([1, 1, 300], np.float32)), **about)
    voiced = net.op(
        "Cast", net.op("Greater", fine, net.constant(np.float32(10))), to=TensorProto.FLOAT
    )
    sines = net.op(
        "Mul", net.op("Mul", net.op("Sin", angle), net.constant(np.float32(0.1))), voiced
    )
    rows = net.op("Transpose", sines, perm=[0, 2, 1])
    mixed = net.op(
        "MatMul", rows, net.random(9, 1, scale=0.5), path=f"{top}/m_source/l_linear/MatMul"
    )
    bias = net.random(1, scale=0.1, name="decoder.decoder.generator.m_source.l_linear.bias")
    signal = net.op("Reshape", net.op("Tanh", net.op("Add", mixed, bias)), net.constant([1, 1, -1]))
    signal = net.op("Pad", signal, net.constant([0, 0, 10, 0, 0, 10]), mode="reflect")
    window = net.constant(
        (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(WINDOW) / WINDOW)).astype(np.float32)
    )
    signal = net.op("Reshape", signal, net.constant([1, -1]))
    step = net.constant(np.array(HOP))
    size = net.constant(np.array(WINDOW))
    made = net.op("STFT", signal, step, window, size, path=f"{top}/STFT", onesided=1)
    made = net.op("Transpose", made, perm=[0, 2, 1, 3])
    real, imaginary = (net.op("Gather", made, net.constant(np.array(n)), axis=3) for n in (0, 1))
    power = net.op("Add", *(net.op("Mul", part, part) for part in (real, imaginary)))
    angle = net.op("Atan", net.op("Div", imaginary, real))
    zero = net.constant(np.float32(0))
    half = net.constant(np.float32(np.pi))
    turned = net.op(
        "Where",
        net.op("Greater", imaginary, zero),
        net.op("Add", angle, half),
        net.op("Sub", angle, half),
    )
    phase = net.op("Where", net.op("Less", real, zero), turned, angle)
    return str(net.op("Concat", net.op("Sqrt", power), phase, path=f"{top}/Concat_3", axis=1))


def stage(net: Net, x: str, noise: str, style: str, number: int, wide: int, taps: int) -> str:
    top = "decoder/decoder/generator"
    x = net.op("Add", x, net.residual(noise, f"{top}/noise_res.{number}", style, wide, taps))
    made = [
        net.residual(x, f"{top}/resblocks.{3 * number + n}", style, wide, size)
        for n, size in enumerate((3, 7, 11))
    ]
    total = net.op("Add", net.op("Add", made[0], made[1]), made[2])
    return str(net.op("Div", total, net.constant(np.float32(3))))


def waves(net: Net, x: str) -> None:
    """Samples of log magnitudes and phases."""
    level, turn = net.op("Split", x, net.constant([11, 11]), outputs=2, axis=1)
    level = net.op("Exp", level)
    turn = net.op("Sin", turn)
    parts = [net.op("Mul", level, net.op(kind, turn)) for kind in ("Cos", "Sin")]
    n = np.arange(WINDOW)
    k = np.arange(11)[:, None]
    weight = np.where((k == 0) | (k == 10), 1, 2) / WINDOW
    angle = 2 * np.pi * k * n / WINDOW
    hann = 0.5 - 0.5 * np.cos(2 * np.pi * n / WINDOW)
    basis = np.concatenate([weight * np.cos(angle), -weight * np.sin(angle)]) * hann / 4
    kernel = net.constant(
        basis[:, None].astype(np.float32), "decoder.decoder.generator.stft.istft.stft.inverse_basis"
    )
    spectra = net.op("Concat", *parts, axis=1)
    made = net.op("ConvTranspose", spectra, kernel, strides=[HOP], kernel_shape=[WINDOW])
    made = net.op("Mul", made, net.constant(np.float32(WINDOW / HOP)))
    cut = net.op("Slice", made, net.constant([10]), net.constant([-10]), net.constant([2]))
    net.nodes.append(helper.make_node("Reshape", [cut, net.constant([-1])], ["audio"]))


def tiny_kokoro(
    folder: Path,
    *,
    tokens: str = "tokens",
    styles: tuple[str, ...] = ("af_one", "am_two"),
    **description: Any,
) -> Path:
    """A graph in a folder, with its ``config.json`` and styles."""
    folder.mkdir(parents=True, exist_ok=True)
    draw = np.random.default_rng(0)
    (folder / "kokoro.onnx").write_bytes(kokoro(tokens).SerializeToString())
    (folder / "config.json").write_text(
        json.dumps({"vocab": VOCAB} | description), encoding="utf-8"
    )
    tables: dict[str, Any] = {
        name: draw.uniform(0.1, 0.5, (ROWS, 1, 2 * STYLE)).astype(np.float32) for name in styles
    }
    np.savez(folder / "voices.npz", **tables)
    return folder / "kokoro.onnx"
