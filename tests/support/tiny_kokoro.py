"""A Kokoro voice with random weights: the signature of the published graph, tokens, style and speed to audio."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

LETTERS = "abcdefghijklmnopqrstuvwxyzæðŋɑɔəɛɜɡɪɹʃʊʌʒʤʧˈˌθᵊAIOQWYTᵻɾ"
VOCAB = {symbol: number for number, symbol in enumerate(" ;:,.!?—…" + LETTERS, 1)}
WIDTH, ROWS, SAMPLES = 4, 60, 1200
"""Numbers of a style, rows of its table, samples of a phoneme at speed 1."""


def tiny_kokoro(
    folder: Path, *, tokens: str = "tokens", styles: tuple[str, ...] = ("af_one", "am_two"), **description: Any
) -> Path:
    """A graph in a folder, with its ``config.json`` and styles; each token beeps at a pitch of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    draw = np.random.default_rng(0)
    (folder / "kokoro.onnx").write_bytes(graph(tokens).SerializeToString())
    (folder / "config.json").write_text(json.dumps({"vocab": VOCAB} | description), encoding="utf-8")
    tables: dict[str, Any] = {name: draw.uniform(0.1, 0.5, (ROWS, 1, WIDTH)).astype(np.float32) for name in styles}
    np.savez(folder / "voices.npz", **tables)
    return folder / "kokoro.onnx"


def graph(tokens: str) -> onnx.ModelProto:
    """The number of samples goes with the tokens and the speed; the style's first number is the loudness."""
    nodes = [
        helper.make_node("Cast", [tokens], ["numbers"], to=TensorProto.FLOAT),
        helper.make_node("Div", ["samples", "speed"], ["long"]),
        helper.make_node("Cast", ["long"], ["repeats"], to=TensorProto.INT64),
        helper.make_node("Concat", ["one", "repeats"], ["grid"], axis=0),
        helper.make_node("Transpose", ["numbers"], ["column"], perm=[1, 0]),
        helper.make_node("Expand", ["column", "grid"], ["spread"]),
        helper.make_node("Shape", ["spread"], ["size"]),
        helper.make_node("Gather", ["size", "second"], ["width"]),
        helper.make_node("Range", ["zero", "width", "step"], ["time"]),
        helper.make_node("Cast", ["time"], ["clock"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["spread", "clock"], ["phase"]),
        helper.make_node("Mul", ["phase", "pitch"], ["angle"]),
        helper.make_node("Sin", ["angle"], ["beeps"]),
        helper.make_node("Reshape", ["beeps", "flat"], ["beep"]),
        helper.make_node("Gather", ["style", "zero"], ["loudness"], axis=1),
        helper.make_node("Mul", ["beep", "loudness"], ["audio"]),
    ]
    constants = {
        "samples": np.array([SAMPLES], np.float32),
        "one": np.array([1]),
        "second": np.array(1),
        "zero": np.array(0),
        "step": np.array(1),
        "pitch": np.array(0.01, np.float32),
        "flat": np.array([-1]),
    }
    weights = [numpy_helper.from_array(value, name) for name, value in constants.items()]
    inputs = [
        helper.make_tensor_value_info(tokens, TensorProto.INT64, (1, "sequence_length")),
        helper.make_tensor_value_info("style", TensorProto.FLOAT, (1, WIDTH)),
        helper.make_tensor_value_info("speed", TensorProto.FLOAT, (1,)),
    ]
    outputs = [helper.make_tensor_value_info("audio", TensorProto.FLOAT, ("audio_length",))]
    made = helper.make_graph(nodes, "kokoro", inputs, outputs, weights)
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
