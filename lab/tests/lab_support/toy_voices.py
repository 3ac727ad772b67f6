"""The voices of random weights in ``tests/support/toy_voices``, which the runtime's tests speak
with.

``python lab/tests/lab_support/toy_voices.py`` with ``tests`` and ``lab/tests`` on the path makes
them again."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import replace
from pathlib import Path
from unittest import mock

import numpy as np
import torch
from sayahead.voices.install.kokoro.voice import add_kokoro
from support.states import WIDTH

from lab_support import tiny
from lab_support.tiny_kokoro import tiny_kokoro
from lab_support.tiny_mohan import tiny_mohan
from lab_support.tiny_saeki import tiny_saeki
from lab_support.tiny_vits import SHAPES, Shape, added_vits
from sayahead_lab.training.distilled.export import student_graph
from sayahead_lab.training.distilled.network import Student, StudentConfig
from sayahead_lab.training.graph.builder import GraphBuilder
from sayahead_lab.training.mel.network import MelVocoderNetwork

TOYS = Path(__file__).parents[3] / "tests" / "support" / "toy_voices"
SMALL = replace(tiny.VOCODER, channels=8, own_head=True)
"""A mel vocoder without the default voice's last layer, which is large."""
VOICES = {
    "ma": ("mel", tiny.ACOUSTIC),
    "ma-clarinet": ("clarinet", tiny.ACOUSTIC),
    "ma-wavernn": ("wavernn", tiny.CONFIGS[0]),
    "ma-wavernn-in-bands": ("wavernn in bands", tiny.ACOUSTIC),
    "ma-waveglow-in-bands": ("waveglow in bands", tiny.ACOUSTIC),
}
"""Vocoder and sizes of Deep Voice 3."""
VITS = {
    "vits": Shape(hidden=6, channels=4, first=8),
    "vits-speakers": Shape(hidden=6, channels=4, first=8, speakers=3, stochastic=False),
}


def voiced(model: MelVocoderNetwork) -> MelVocoderNetwork:
    """The vocoder for speaking, all of whose sound has one pitch: random weights would have voices
    come and go."""
    with torch.no_grad():
        model.pitch.weight.zero_()
        model.pitch.bias.copy_(torch.tensor([-0.3, 5.0]))
    return model.train(False)


def make_tiny(folder: Path) -> None:
    """Make those of the papers' systems in a folder."""
    with (
        mock.patch.object(tiny, "VOCODER", SMALL),
        mock.patch.object(MelVocoderNetwork, "eval", voiced),
    ):
        for name, (vocoder, config) in VOICES.items():
            tiny.tiny_voice(folder / name, vocoder, config)
        tiny_saeki(folder / "saeki")
        tiny_mohan(folder / "mohan")
    leave_licenses_out(folder)


def leave_licenses_out(folder: Path) -> None:
    """What is drawn at random needs none."""
    for license_file in (*folder.glob("*/[LN]*"), *folder.glob("*/MODEL_CARD")):
        license_file.unlink()


def make(folder: Path) -> None:
    """Make all of them in a folder."""
    make_tiny(folder)
    for name, shape in VITS.items():
        with tempfile.TemporaryDirectory() as given, mock.patch.dict(SHAPES, {name: shape}):
            added_vits(Path(given), name)
            shutil.copytree(Path(given) / "voice", folder / name)
    leave_licenses_out(folder)
    with tempfile.TemporaryDirectory() as given:
        add_kokoro(tiny_kokoro(Path(given)), None, folder / "kokoro")
    (folder / "contexts").mkdir()
    torch.manual_seed(0)
    student = Student(StudentConfig(vectors=WIDTH, recurrent=6, wide=8, embedding=5)).eval()
    student_graph(student).save(str(folder / "contexts" / "hidden.onnx"))
    graph = GraphBuilder()
    rows = graph.input("vectors", np.float32, ["N", 4])
    graph.output(
        graph.op("ReduceSum", rows, graph.constant(np.array([0])), keepdims=0),
        "embedding",
        np.float32,
        [4],
    )
    graph.save(str(folder / "contexts" / "distilled.onnx"))


if __name__ == "__main__":
    for old in TOYS.glob("[!_]*"):
        if old.is_dir():
            shutil.rmtree(old)
    make(TOYS)
