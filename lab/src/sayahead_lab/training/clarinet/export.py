"""The trained student as graphs for the runtime (``sayahead.vocoders.clarinet``)."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from sayahead.vocoders.clarinet import ClariNetModel

from sayahead_lab.training.clarinet.network import GaussianIAF, iaf_reach
from sayahead_lab.training.clarinet.writer import ConditionWriter, write_pitch
from sayahead_lab.training.graph.builder import GraphBuilder
from sayahead_lab.training.loop.saved_run import Trained
from sayahead_lab.training.voice_parts import VoicePart, Written


class ClariNetWriter(ConditionWriter):
    """A graph in the making, and the student's weights."""

    def __init__(self, model: GaussianIAF) -> None:
        super().__init__(model, model.conditioner)
        self.config = model.config

    def flow(self, x: str, conditions: str, number: int) -> str:
        """A flow of x (1, bands, S): scaled and shifted as its WaveNet says of the steps before."""
        g = self.g
        config = self.config
        name = f"flows.{number}"
        layers = config.flows[number]
        first = self.tensors[f"{name}.input.weight"]
        bias = self.tensors[f"{name}.input.bias"]
        # A filter of two taps, the second of them zero, sees only the step before.
        late = g.constant(np.concatenate([first, np.zeros_like(first)], 2))
        h = g.op("Conv", x, late, g.constant(bias), pads=[1, 0])
        total = ""
        for layer in range(layers):
            layer_name = f"{name}.layers.{layer}"
            dilation = 2 ** (layer % config.cycle)
            mixed = self.conv(
                h, f"{layer_name}.conv", (dilation * (config.kernel - 1), 0), dilation
            )
            mixed = g.op("Add", mixed, self.conv(conditions, f"{layer_name}.condition"))
            signal, gate = g.op("Split", mixed, outputs=2, axis=1)
            skip = self.conv(
                g.op("Mul", g.op("Tanh", signal), g.op("Sigmoid", gate)), f"{layer_name}.out"
            )
            if layer < layers - 1:
                sizes = g.constant(np.array([config.residual, config.skip]))
                onward, skip = g.op("Split", skip, sizes, outputs=2, axis=1)
                h = g.op("Mul", g.op("Add", h, onward), g.constant(np.float32(0.5**0.5)))
            total = g.op("Add", total, skip) if total else skip
        total = g.op("Relu", g.op("Mul", total, g.constant(np.float32(layers**-0.5))))
        out = self.conv(g.op("Relu", self.conv(total, f"{name}.hidden")), f"{name}.output")
        mean, log_deviation = g.op("Split", out, outputs=2, axis=1)
        return str(g.op("Add", g.op("Mul", x, g.op("Exp", log_deviation)), mean))

    def student(self) -> GraphBuilder:
        """network.Vocoder: mel (T, n_mels), z (T, hop), pulses (T, 2 * hop), if any -> samples (T,
        hop)."""
        g = self.g
        c = self.conditioner
        mel = self.mel()
        conditions, voice = self.conditions(mel)
        z = self.shape(g.input("z", np.float32, ["T", c.hop]), 1, -1, c.bands)
        x = str(g.op("Transpose", z, perm=[0, 2, 1]))
        for number in range(len(self.config.flows)):
            x = self.flow(x, conditions, number)
        if voice:
            x = str(g.op("Add", x, voice))
        g.output(self.joined(x, mel), "samples", np.float32, ["T", c.hop])
        return g


def export(
    model: GaussianIAF, folder: Path, *, sample_rate: int, temperature: float = 1.0
) -> Written:
    """Write ``student.onnx``, and ``pitch.onnx`` where the student hears pulses.

    Returned: their paths, and what a voice's ``model`` table says of them under ``vocoder``,
    ClariNetModel's fields."""
    folder.mkdir(parents=True, exist_ok=True)
    c = model.config.conditioner
    paths = [folder / "student.onnx"]
    ClariNetWriter(model).student().save(str(paths[0]))
    pitch = {}
    if c.pulses:
        paths.append(folder / "pitch.onnx")
        read = write_pitch(model, model.conditioner, paths[1], sample_rate=sample_rate)
        pitch = {"pitch_left": read.left, "pitch_right": read.right}
    sizes = (c.n_mels, sample_rate, c.hop, *iaf_reach(model.config))
    about = ClariNetModel(*sizes, c.pulses, **pitch, temperature=temperature)
    return paths, {key: value for key, value in asdict(about).items() if value is not None}


def write(run: Trained[Any, GaussianIAF], folder: Path) -> Written:
    """Write a run's student as a voice's second stage."""
    rate = run.corpus.info.front_end.sample_rate
    temperature = float(run.recipe.data.get("temperature", 1.0))
    return export(run.model, folder, sample_rate=rate, temperature=temperature)


PART: VoicePart[GaussianIAF] = VoicePart("clarinet", "ClariNet's student", write)
