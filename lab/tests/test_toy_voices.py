"""The runtime's toy voices are what the laboratory makes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import pytest
import sayahead
from lab_support.toy_voices import TOYS, make
from onnx import numpy_helper

import sayahead_lab


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("toys")
    make(folder)
    return folder


def test_they_can_be_made_again(made: Path) -> None:
    """Graphs of the same nodes and the same weights, up to what rounds differently elsewhere."""

    def paths(folder: Path) -> list[Path]:
        return sorted(path.relative_to(folder) for path in folder.glob("[!_]*/*"))

    assert paths(made) == paths(TOYS)
    for path in paths(made):
        if path.suffix == ".onnx":
            one, other = (onnx.load(folder / path).graph for folder in (made, TOYS))
            assert [node.op_type for node in one.node] == [node.op_type for node in other.node], (
                path
            )
            for a, b in zip(one.initializer, other.initializer, strict=True):
                old, new = (numpy_helper.to_array(weight).astype(np.float64) for weight in (a, b))
                # A whole number that was rounded may be the next one.
                assert np.abs(old - new).max(initial=0) <= (
                    1 if a.data_type == onnx.TensorProto.INT8 else 1e-4
                ), path
        elif path.name == "voice.json":
            one, other = (
                json.loads((folder / path).read_text("utf-8")) | {"files": {}}
                for folder in (made, TOYS)
            )
            assert one == other


def test_the_laboratory_and_the_runtime_are_of_one_version() -> None:
    assert sayahead_lab.__version__ == sayahead.__version__
