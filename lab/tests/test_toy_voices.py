"""The runtime's toy voices are what the laboratory makes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import sayahead
from lab_support.toy_voices import TOYS, make, make_tiny
from onnx import numpy_helper

import sayahead_lab


def test_those_of_the_papers_can_be_made_again(tmp_path: Path) -> None:
    make_tiny(tmp_path)
    expect_the_same(tmp_path)


@pytest.mark.slow
def test_all_can_be_made_again(tmp_path: Path) -> None:
    make(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {
        path.name for path in TOYS.glob("[!_]*") if path.is_dir()
    }
    expect_the_same(tmp_path)


def expect_the_same(made: Path) -> None:
    """Graphs of the same nodes and the same weights, up to what rounds differently elsewhere."""

    def paths(folder: Path) -> list[Path]:
        return sorted(
            path.relative_to(folder)
            for voice in made.iterdir()
            for path in (folder / voice.name).glob("*")
        )

    assert paths(made) == paths(TOYS)
    for path in paths(made):
        if path.suffix == ".onnx":
            graph = onnx.load(made / path).graph
            kept = onnx.load(TOYS / path).graph
            assert [node.op_type for node in graph.node] == [node.op_type for node in kept.node]
            for weight, other in zip(graph.initializer, kept.initializer, strict=True):
                # A whole number that was rounded may be the next one.
                margin = 1 if weight.data_type == onnx.TensorProto.INT8 else 1e-4
                assert np.abs(numbers(weight) - numbers(other)).max(initial=0) <= margin, path
        elif path.name == "voice.json":
            assert config(made / path) == config(TOYS / path)


def numbers(weight: onnx.TensorProto) -> np.ndarray:
    return numpy_helper.to_array(weight).astype(np.float64)


def config(path: Path) -> dict[str, Any]:
    """A voice's description without the digests of its files."""
    read: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return read | {"files": {}}


def test_the_laboratory_and_the_runtime_are_of_one_version() -> None:
    assert sayahead_lab.__version__ == sayahead.__version__
