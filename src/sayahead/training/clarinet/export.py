"""The trained student as graphs for the runtime (``sayahead.vocoders.clarinet``)."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from sayahead.training.clarinet.conditioner import PITCH_RIGHT, VOICE_TAPS
from sayahead.training.clarinet.network import GaussianIAF, iaf_reach
from sayahead.training.clarinet.signal import LEAST_POWER, bank_reach
from sayahead.training.graph.builder import Array, Graph
from sayahead.training.loop.trained import Trained
from sayahead.training.losses import REFERENCE_HZ
from sayahead.training.part import Part, Written
from sayahead.vocoders.clarinet import ClariNetModel


class Writer:
    """A graph in the making, and the network's weights; signals in it are (1, channels, steps)."""

    def __init__(self, model: GaussianIAF) -> None:
        self.g, self.config, self.conditioner = Graph(), model.config, model.config.conditioner
        self.tensors: dict[str, Array] = {name: value.cpu().numpy() for name, value in model.state_dict().items()}
        self.filters = model.conditioner.signal.bank.filters.cpu().numpy() if self.conditioner.bands > 1 else None

    def conv(self, x: str, name: str, pads: tuple[int, int] = (0, 0), dilation: int = 1) -> str:
        """The named convolution of a signal."""
        weight, bias = (self.g.constant(self.tensors[f"{name}.{part}"]) for part in ("weight", "bias"))
        return str(self.g.op("Conv", x, weight, bias, dilations=[dilation], pads=list(pads)))

    def shape(self, x: str, *shape: int) -> str:
        """x in another shape."""
        return str(self.g.op("Reshape", x, self.g.constant(np.array(shape, np.int64))))

    def normalized(self, mel: str) -> str:
        """Log mel (T, n_mels), normalized, as a signal (1, n_mels, T)."""
        g, n_mels = self.g, self.conditioner.n_mels
        mean, std = (g.constant(self.tensors[f"conditioner.{name}"]) for name in ("mean", "std"))
        return self.shape(g.op("Transpose", g.op("Div", g.op("Sub", mel, mean), std), perm=[1, 0]), 1, n_mels, -1)

    def mel(self) -> str:
        """The input ``mel`` (T, n_mels)."""
        return self.g.input("mel", np.float32, ["T", self.conditioner.n_mels])

    def level(self, mel: str) -> str:
        """exp(Signal.log_level) of log mel (T, n_mels): (1, bands, S)."""
        g, c = self.g, self.conditioner
        power = g.op("MatMul", g.op("Exp", g.op("Add", mel, mel)), g.constant(self.tensors["conditioner.signal.level"]))
        rows = g.op("Log", g.op("Add", power, g.constant(np.float32(LEAST_POWER))))
        return str(g.op("Exp", self.between(g.op("Mul", rows, g.constant(np.float32(0.5))), c.bands)))

    def between(self, rows: str, width: int) -> str:
        """Signal.between of frames (T, width): (1, width, S)."""
        g, steps = self.g, self.conditioner.steps
        first, last, end = (g.constant(np.array([n], np.int64)) for n in (1, -1, np.iinfo(np.int64).max))
        axis = g.constant(np.array([0], np.int64))
        later = g.op("Concat", *(g.op("Slice", rows, begin, end, axis) for begin in (first, last)), axis=0)
        share = g.constant(((np.arange(steps) + 0.5) / steps).astype(np.float32)[:, None])
        rows, later = (self.shape(value, -1, 1, width) for value in (rows, later))
        line = self.shape(g.op("Add", rows, g.op("Mul", share, g.op("Sub", later, rows))), 1, -1, width)
        return str(g.op("Transpose", line, perm=[0, 2, 1]))

    def voice(self, normalized: str) -> str:
        """Voice of a normalized mel (1, n_mels, T) and the input ``pulses`` (T, 2 * hop): (1, bands, S)."""
        g, c, name = self.g, self.conditioner, "conditioner.voice"
        weights = self.conv(g.gelu(self.conv(normalized, f"{name}.first", (1, 1))), f"{name}.last")
        rows = g.op("Transpose", self.shape(weights, 2 * c.bands * VOICE_TAPS, -1), perm=[1, 0])
        weights = self.shape(self.between(rows, 2 * c.bands * VOICE_TAPS), 2, c.bands, VOICE_TAPS, -1)
        pulses = self.shape(g.input("pulses", np.float32, ["T", 2 * c.hop]), -1, 2, c.hop)
        parts = self.shape(g.op("Transpose", pulses, perm=[1, 0, 2]), 2, 1, -1)
        if self.filters is not None:
            side = bank_reach(c.bands)
            pads = [side, side - c.bands + 1]
            parts = g.op("Conv", parts, g.constant(self.filters), strides=[c.bands], pads=pads)
        # Filters of a single tap lay a step's neighbours side by side.
        taps = np.tile(np.eye(VOICE_TAPS, dtype=np.float32), (2 * c.bands, 1))[:, None]
        side, parts = VOICE_TAPS // 2, self.shape(parts, 1, 2 * c.bands, -1)
        near = g.op("Conv", parts, g.constant(taps), group=2 * c.bands, pads=[side, side])
        weighed = g.op("Mul", weights, self.shape(near, 2, c.bands, VOICE_TAPS, -1))
        return self.shape(g.op("ReduceSum", weighed, g.constant(np.array([0, 2], np.int64))), 1, c.bands, -1)

    def conditions(self, mel: str) -> tuple[str, str]:
        """Conditioner of log mel (T, n_mels): (1, K, S), and the voice in it, or "" without pulses."""
        g, c = self.g, self.conditioner
        x = normalized = self.normalized(mel)
        if c.channels:
            x = g.op("LeakyRelu", self.conv(x, "conditioner.reduce", (1, 1)), alpha=0.4)
        width = c.channels or c.n_mels
        x = self.shape(x, 1, 1, width, -1)
        for number, stride in enumerate(c.strides):
            weight, bias = (g.constant(self.tensors[f"conditioner.upsample.{number}.{p}"]) for p in ("weight", "bias"))
            early = stride // 2
            pads = [1, early, 1, stride - early]
            x = g.op("ConvTranspose", x, weight, bias, strides=[1, stride], pads=pads)
            x = g.op("LeakyRelu", x, alpha=0.4)
        x = self.shape(x, 1, width, -1)
        if not c.pulses:
            return x, ""
        voice = self.voice(normalized)
        return str(g.op("Concat", x, voice, axis=1)), voice

    def flow(self, x: str, conditions: str, number: int) -> str:
        """A flow of x (1, bands, S): scaled and shifted as its WaveNet says of the steps before."""
        g, config, name = self.g, self.config, f"flows.{number}"
        layers = config.flows[number]
        first, bias = self.tensors[f"{name}.input.weight"], self.tensors[f"{name}.input.bias"]
        # A filter of two taps, the second of them zero, sees only the step before.
        late = g.constant(np.concatenate([first, np.zeros_like(first)], 2))
        h = g.op("Conv", x, late, g.constant(bias), pads=[1, 0])
        total = ""
        for layer in range(layers):
            layer_name, dilation = f"{name}.layers.{layer}", 2 ** (layer % config.cycle)
            mixed = self.conv(h, f"{layer_name}.conv", (dilation * (config.kernel - 1), 0), dilation)
            mixed = g.op("Add", mixed, self.conv(conditions, f"{layer_name}.condition"))
            signal, gate = g.op("Split", mixed, outputs=2, axis=1)
            skip = self.conv(g.op("Mul", g.op("Tanh", signal), g.op("Sigmoid", gate)), f"{layer_name}.out")
            if layer < layers - 1:
                sizes = g.constant(np.array([config.residual, config.skip]))
                onward, skip = g.op("Split", skip, sizes, outputs=2, axis=1)
                h = g.op("Mul", g.op("Add", h, onward), g.constant(np.float32(0.5**0.5)))
            total = g.op("Add", total, skip) if total else skip
        total = g.op("Relu", g.op("Mul", total, g.constant(np.float32(layers**-0.5))))
        out = self.conv(g.op("Relu", self.conv(total, f"{name}.hidden")), f"{name}.output")
        mean, log_deviation = g.op("Split", out, outputs=2, axis=1)
        return str(g.op("Add", g.op("Mul", x, g.op("Exp", log_deviation)), mean))

    def student(self) -> Graph:
        """network.Vocoder: mel (T, n_mels), z (T, hop), pulses (T, 2 * hop), if any -> samples (T, hop)."""
        g, c = self.g, self.conditioner
        mel = self.mel()
        conditions, voice = self.conditions(mel)
        z = self.shape(g.input("z", np.float32, ["T", c.hop]), 1, -1, c.bands)
        x = str(g.op("Transpose", z, perm=[0, 2, 1]))
        for number in range(len(self.config.flows)):
            x = self.flow(x, conditions, number)
        if voice:
            x = str(g.op("Add", x, voice))
        if c.level:
            x = str(g.op("Mul", x, self.level(mel)))
        if self.filters is not None:
            side = bank_reach(c.bands)
            pads = [side, side + 1 - c.bands]
            x = g.op("ConvTranspose", x, g.constant(self.filters), strides=[c.bands], pads=pads)
        g.output(self.shape(x, -1, c.hop), "samples", np.float32, ["T", c.hop])
        return g

    def rows(self, x: str, name: str) -> str:
        """The named convolution over rows x (T, D), each row computed by itself.

        So a frame's pitch is the same to the last bit, however many frames are computed with it. That matters, because
        the pulses' phase is its sum.
        """
        g, weight = self.g, self.tensors[f"{name}.weight"]
        taps = weight.shape[2]
        before, behind = (taps - 1 - PITCH_RIGHT, PITCH_RIGHT) if taps > 1 else (0, 0)
        padded = g.op("Pad", x, g.constant(np.array([before, 0, behind, 0], np.int64)))
        ends = [*range(1 - taps, 0), np.iinfo(np.int64).max]
        places = [[g.constant(np.array([place], np.int64)) for place in part] for part in enumerate(ends)]
        shifted = [g.cut(padded, first, end) for first, end in places]
        near = g.op("Concat", *shifted, axis=1) if taps > 1 else x
        # Weights (out, in, taps) as (taps * in, out).
        matrix = g.constant(weight.transpose(2, 1, 0).reshape(-1, len(weight)))
        return str(g.op("Add", g.op("MatMul", near, matrix), g.constant(self.tensors[f"{name}.bias"])))

    def pitch(self) -> Graph:
        """PitchReader.hertz: mel (T, n_mels) -> f0 (T,) in Hz, 0 where unvoiced."""
        g, mel = self.g, self.mel()
        mean, std = (g.constant(self.tensors[f"conditioner.{name}"]) for name in ("mean", "std"))
        x = g.op("Div", g.op("Sub", mel, mean), std)
        for name in ("first", "second"):
            x = g.gelu(self.rows(x, f"conditioner.pitch.{name}"))
        pitch, voicing = g.op("Split", self.rows(x, "conditioner.pitch.last"), outputs=2, axis=1)
        voiced = g.op("Cast", g.op("Greater", voicing, g.constant(np.float32(0))), to=1)
        hertz = g.op("Mul", g.op("Mul", g.op("Exp", pitch), g.constant(np.float32(REFERENCE_HZ))), voiced)
        g.output(self.shape(hertz, -1), "f0", np.float32, ["T"])
        return g


def export(model: GaussianIAF, folder: Path, *, sample_rate: int) -> Written:
    """Write ``student.onnx``, and ``pitch.onnx`` where the student hears pulses.

    Returned: their paths, and what a voice's ``model`` table says of them under ``vocoder``, ClariNetModel's fields.
    """
    folder.mkdir(parents=True, exist_ok=True)
    c, reader = model.config.conditioner, model.conditioner.pitch
    paths = [folder / "student.onnx"]
    Writer(model).student().save(str(paths[0]))
    if reader is not None:
        paths.append(folder / "pitch.onnx")
        Writer(model).pitch().save(str(paths[1]))
    left, right = iaf_reach(model.config)
    pitch = {} if reader is None else {"pitch_left": reader.reach[0], "pitch_right": reader.reach[1]}
    about = ClariNetModel(c.n_mels, sample_rate, c.hop, left, right, reader is not None, **pitch)
    return paths, {key: value for key, value in asdict(about).items() if value is not None}


def write(run: Trained[Any, GaussianIAF], folder: Path) -> Written:
    """See Part."""
    return export(run.model, folder, sample_rate=run.corpus.info.front_end.sample_rate)


PART: Part[GaussianIAF] = Part("clarinet", "ClariNet's student", write)
