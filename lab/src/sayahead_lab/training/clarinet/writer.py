"""The conditioner in graphs: mel and pulses to conditions, levels and a first guess, and the pitch
that pulses want."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from sayahead.vocoders.pulses import PulseModel
from sayahead.voices.install.onnx.graph import Array
from torch import nn

from sayahead_lab.training.clarinet.conditioner import PITCH_RIGHT, VOICE_TAPS, Conditioner
from sayahead_lab.training.clarinet.signal import MIN_POWER, bank_reach
from sayahead_lab.training.graph.builder import GraphBuilder
from sayahead_lab.training.losses import REFERENCE_HZ


class ConditionWriter:
    """A graph in the making, and the weights of a network with a ``conditioner``.

    Signals in it are (1, channels, steps).
    """

    def __init__(self, model: nn.Module, conditioner: Conditioner) -> None:
        self.g = GraphBuilder()
        self.conditioner = conditioner.config
        self.tensors: dict[str, Array] = {
            name: value.cpu().numpy() for name, value in model.state_dict().items()
        }
        self.filters = (
            conditioner.signal.bank.filters.cpu().numpy() if self.conditioner.bands > 1 else None
        )

    def conv(self, x: str, name: str, pads: tuple[int, int] = (0, 0), dilation: int = 1) -> str:
        """The named convolution of a signal."""
        weight, bias = (
            self.g.constant(self.tensors[f"{name}.{part}"]) for part in ("weight", "bias")
        )
        return str(self.g.op("Conv", x, weight, bias, dilations=[dilation], pads=list(pads)))

    def shape(self, x: str, *shape: int) -> str:
        """x in another shape."""
        return str(self.g.op("Reshape", x, self.g.constant(np.array(shape, np.int64))))

    def normalized(self, mel: str) -> str:
        """Log mel (T, n_mels), normalized, as a signal (1, n_mels, T)."""
        g = self.g
        n_mels = self.conditioner.n_mels
        mean, std = (g.constant(self.tensors[f"conditioner.{name}"]) for name in ("mean", "std"))
        return self.shape(
            g.op("Transpose", g.op("Div", g.op("Sub", mel, mean), std), perm=[1, 0]), 1, n_mels, -1
        )

    def mel(self) -> str:
        """The input ``mel`` (T, n_mels)."""
        return self.g.input("mel", np.float32, ["T", self.conditioner.n_mels])

    def level(self, mel: str) -> str:
        """exp(Signal.log_level) of log mel (T, n_mels): (1, bands, S)."""
        g = self.g
        c = self.conditioner
        power = g.op(
            "MatMul",
            g.op("Exp", g.op("Add", mel, mel)),
            g.constant(self.tensors["conditioner.signal.level"]),
        )
        rows = g.op("Log", g.op("Add", power, g.constant(np.float32(MIN_POWER))))
        return str(
            g.op("Exp", self.between(g.op("Mul", rows, g.constant(np.float32(0.5))), c.bands))
        )

    def between(self, rows: str, width: int) -> str:
        """Signal.between of frames (T, width): (1, width, S)."""
        g = self.g
        steps = self.conditioner.steps
        first, last, end = (
            g.constant(np.array([n], np.int64)) for n in (1, -1, np.iinfo(np.int64).max)
        )
        axis = g.constant(np.array([0], np.int64))
        later = g.op(
            "Concat", *(g.op("Slice", rows, begin, end, axis) for begin in (first, last)), axis=0
        )
        share = g.constant(((np.arange(steps) + 0.5) / steps).astype(np.float32)[:, None])
        rows, later = (self.shape(value, -1, 1, width) for value in (rows, later))
        line = self.shape(
            g.op("Add", rows, g.op("Mul", share, g.op("Sub", later, rows))), 1, -1, width
        )
        return str(g.op("Transpose", line, perm=[0, 2, 1]))

    def voice(self, normalized: str) -> str:
        """Voice of a normalized mel (1, n_mels, T) and the input ``pulses`` (T, 2 * hop): (1,
        bands, S)."""
        g = self.g
        c = self.conditioner
        name = "conditioner.voice"
        weights = self.conv(g.gelu(self.conv(normalized, f"{name}.first", (1, 1))), f"{name}.last")
        rows = g.op("Transpose", self.shape(weights, 2 * c.bands * VOICE_TAPS, -1), perm=[1, 0])
        weights = self.shape(
            self.between(rows, 2 * c.bands * VOICE_TAPS), 2, c.bands, VOICE_TAPS, -1
        )
        pulses = self.shape(g.input("pulses", np.float32, ["T", 2 * c.hop]), -1, 2, c.hop)
        parts = self.shape(g.op("Transpose", pulses, perm=[1, 0, 2]), 2, 1, -1)
        if self.filters is not None:
            side = bank_reach(c.bands)
            pads = [side, side - c.bands + 1]
            parts = g.op("Conv", parts, g.constant(self.filters), strides=[c.bands], pads=pads)
        # Filters of a single tap lay a step's neighbours side by side.
        taps = np.tile(np.eye(VOICE_TAPS, dtype=np.float32), (2 * c.bands, 1))[:, None]
        side = VOICE_TAPS // 2
        parts = self.shape(parts, 1, 2 * c.bands, -1)
        near = g.op("Conv", parts, g.constant(taps), group=2 * c.bands, pads=[side, side])
        weighed = g.op("Mul", weights, self.shape(near, 2, c.bands, VOICE_TAPS, -1))
        return self.shape(
            g.op("ReduceSum", weighed, g.constant(np.array([0, 2], np.int64))), 1, c.bands, -1
        )

    def conditions(self, mel: str) -> tuple[str, str]:
        """Conditioner of log mel (T, n_mels): (1, K, S), and the voice in it, or "" without
        pulses."""
        g = self.g
        c = self.conditioner
        x = self.normalized(mel)
        normalized = x
        if c.channels:
            x = g.op("LeakyRelu", self.conv(x, "conditioner.reduce", (1, 1)), alpha=0.4)
        width = c.channels or c.n_mels
        x = self.shape(x, 1, 1, width, -1)
        for number, stride in enumerate(c.strides):
            weight, bias = (
                g.constant(self.tensors[f"conditioner.upsample.{number}.{p}"])
                for p in ("weight", "bias")
            )
            early = stride // 2
            pads = [1, early, 1, stride - early]
            x = g.op("ConvTranspose", x, weight, bias, strides=[1, stride], pads=pads)
            x = g.op("LeakyRelu", x, alpha=0.4)
        x = self.shape(x, 1, width, -1)
        if not c.pulses:
            return x, ""
        voice = self.voice(normalized)
        return str(g.op("Concat", x, voice, axis=1)), voice

    def joined(self, x: str, mel: str) -> str:
        """Signal.join of x (1, bands, S) with log mel (T, n_mels): samples (T, hop)."""
        g = self.g
        c = self.conditioner
        if c.level:
            x = str(g.op("Mul", x, self.level(mel)))
        if self.filters is not None:
            side = bank_reach(c.bands)
            pads = [side, side + 1 - c.bands]
            x = g.op("ConvTranspose", x, g.constant(self.filters), strides=[c.bands], pads=pads)
        return self.shape(x, -1, c.hop)

    def rows(self, x: str, name: str) -> str:
        """The named convolution over rows x (T, D), each row computed by itself.

        So a frame's pitch is the same to the last bit, however many frames are computed with it.
        That matters, because the pulses' phase is its sum.
        """
        g = self.g
        weight = self.tensors[f"{name}.weight"]
        taps = weight.shape[2]
        before, after = (taps - 1 - PITCH_RIGHT, PITCH_RIGHT) if taps > 1 else (0, 0)
        padded = g.op("Pad", x, g.constant(np.array([before, 0, after, 0], np.int64)))
        ends = [*range(1 - taps, 0), np.iinfo(np.int64).max]
        places = [
            [g.constant(np.array([place], np.int64)) for place in part] for part in enumerate(ends)
        ]
        shifted = [g.cut(padded, first, end) for first, end in places]
        near = g.op("Concat", *shifted, axis=1) if taps > 1 else x
        # Weights (out, in, taps) as (taps * in, out).
        matrix = g.constant(weight.transpose(2, 1, 0).reshape(-1, len(weight)))
        return str(
            g.op("Add", g.op("MatMul", near, matrix), g.constant(self.tensors[f"{name}.bias"]))
        )

    def pitch(self) -> GraphBuilder:
        """PitchReader.hertz: mel (T, n_mels) -> f0 (T,) in Hz, 0 where unvoiced."""
        g = self.g
        mel = self.mel()
        mean, std = (g.constant(self.tensors[f"conditioner.{name}"]) for name in ("mean", "std"))
        x = g.op("Div", g.op("Sub", mel, mean), std)
        for name in ("first", "second"):
            x = g.gelu(self.rows(x, f"conditioner.pitch.{name}"))
        pitch, voicing = g.op("Split", self.rows(x, "conditioner.pitch.last"), outputs=2, axis=1)
        voiced = g.op("Cast", g.op("Greater", voicing, g.constant(np.float32(0))), to=1)
        hertz = g.op(
            "Mul", g.op("Mul", g.op("Exp", pitch), g.constant(np.float32(REFERENCE_HZ))), voiced
        )
        g.output(self.shape(hertz, -1), "f0", np.float32, ["T"])
        return g


def write_pitch(
    model: nn.Module, conditioner: Conditioner, path: Path, *, sample_rate: int
) -> PulseModel:
    """Write the graph of the conditioner's pitch reader, and say what the runtime's ``Pulses`` has
    to know of it."""
    assert conditioner.pitch is not None
    ConditionWriter(model, conditioner).pitch().save(str(path))
    return PulseModel(sample_rate, *conditioner.pitch.reach)
