"""What an exporter left in a text encoder goes, and the encoder says the same."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from lab_support.tiny_vits import tiny_vits
from onnx import TensorProto, helper, numpy_helper
from sayahead.engine.onnx import OnnxGraph
from sayahead.voices.install.onnx.conv2d import with_planes
from sayahead.voices.install.onnx.graph import Graph, read_graph
from sayahead.voices.install.onnx.simplify import TRIED, polynomial, with_norms, with_plain_shapes
from sayahead.voices.install.vits.voice import add_piper

SIZE = 6


class Encoder(torch.nn.Module):
    """Normalizations, shapes and convolutions, as in a text encoder."""

    def __init__(self) -> None:
        super().__init__()
        self.table = torch.nn.Embedding(9, SIZE)
        self.norm = torch.nn.LayerNorm(SIZE)
        self.wide = torch.nn.Conv1d(SIZE, SIZE, 3, padding=2, dilation=2)
        self.deep = torch.nn.Conv1d(SIZE, SIZE, 1)
        torch.nn.init.normal_(self.norm.weight)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.table(ids)
        x = self.norm(x + 3)
        x = self.deep(torch.relu(self.wide(x.transpose(1, 2))))
        scores = torch.nn.functional.pad(x.transpose(1, 2) @ x, [0, ids.shape[1]])
        scores = scores.reshape(1, 2 * ids.shape[1] * ids.shape[1])[
            :, : ids.shape[1] * ids.shape[1]
        ]
        made: torch.Tensor = scores.reshape(1, ids.shape[1], ids.shape[1])
        return made


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Graph:
    path = tmp_path_factory.mktemp("encoder") / "encoder.onnx"
    torch.manual_seed(0)
    options: Any = {
        "input_names": ["ids"],
        "output_names": ["made"],
        "dynamo": False,
        "opset_version": 15,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ids = torch.ones(1, 8, dtype=torch.int64)
        torch.onnx.export(
            Encoder().eval(), (ids,), str(path), dynamic_axes={"ids": {1: "tokens"}}, **options
        )
    return read_graph(path)


def said(graph: Graph, tokens: int) -> Any:
    onnx.checker.check_model(graph.model)
    return OnnxGraph(graph.model.SerializeToString())(ids=np.arange(tokens)[None] % 9)["made"]


def given(graph: OnnxGraph, tokens: int) -> dict[str, Any]:
    return {"ids": np.arange(tokens)[None] % 9}


def types(graph: Graph) -> list[str]:
    return [node.op_type for node in graph.nodes]


def test_a_normalization_becomes_one_node(encoder: Graph) -> None:
    made = with_norms(encoder)
    assert types(made).count("LayerNormalization") == 1
    assert "Sqrt" in types(encoder)
    assert not {"Sqrt", "ReduceMean"} & set(types(made))
    assert np.abs(said(made, 11) - said(encoder, 11)).max() < 1e-4


def test_what_is_no_normalization_stays(encoder: Graph) -> None:
    other = onnx.ModelProto()
    other.CopyFrom(encoder.model)
    for node in other.graph.node:
        if node.op_type == "ReduceMean":
            for attribute in node.attribute:
                if attribute.name == "axes":
                    attribute.ints[0] = 1
    assert "LayerNormalization" not in types(with_norms(Graph(other, where="x")))


@pytest.mark.parametrize("tokens", [5, 12, 40])
def test_shapes_are_polynomials_of_the_number_of_tokens(encoder: Graph, tokens: int) -> None:
    made = with_plain_shapes(encoder, "ids", given)
    assert types(made).count("Shape") == 1
    assert len(types(made)) < len(types(encoder))
    assert np.array_equal(said(made, tokens), said(encoder, tokens))


def test_polynomials_are_found_and_others_are_not() -> None:
    n = np.array(TRIED)
    found = polynomial([np.array([3, 2 * p - 1, p * p + p, 2**63 - 1]) for p in n])
    assert found is not None
    assert [list(part) for part in found] == [[3, -1, 0, 2**63 - 1], [0, 2, 1, 0], [0, 0, 1, 0]]
    assert polynomial([np.array([max(p, 7)]) for p in n]) is None
    assert polynomial([np.array([p // 2]) for p in n]) is None
    assert polynomial([np.array([0.5]) for _ in n]) is None
    assert polynomial([np.arange(p) for p in n]) is None


def test_convolutions_over_planes_say_the_same(encoder: Graph) -> None:
    made = with_planes(encoder)
    sizes = {weight.name: len(weight.dims) for weight in made.model.graph.initializer}
    assert sorted(sizes[node.input[1]] for node in made.nodes if node.op_type == "Conv") == [3, 4]
    assert np.abs(said(made, 11) - said(encoder, 11)).max() < 1e-4


def test_a_weight_may_serve_two_convolutions() -> None:
    kernel = numpy_helper.from_array(np.ones((2, 2, 3), np.float32), "kernel")
    nodes = [
        helper.make_node("Cast", ["ids"], ["flat"], to=TensorProto.FLOAT),
        helper.make_node("Reshape", ["flat", "shape"], ["x"]),
        helper.make_node("Conv", ["x", "kernel"], ["y"], pads=[1, 1]),
        helper.make_node("Conv", ["y", "kernel"], ["made"], pads=[2, 0]),
    ]
    shape = numpy_helper.from_array(np.array([1, 2, -1]), "shape")
    graph = helper.make_graph(
        nodes,
        "twice",
        [helper.make_tensor_value_info("ids", TensorProto.INT64, (1, "tokens"))],
        [helper.make_tensor_value_info("made", TensorProto.FLOAT, (1, 2, "rows"))],
        [kernel, shape],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
    twice = Graph(model, where="x")
    assert np.array_equal(said(with_planes(twice), 12), said(twice, 12))


@pytest.mark.slow
def test_an_added_voice_has_the_lean_encoder(tmp_path: Path) -> None:
    add_piper(tiny_vits(tmp_path), None, tmp_path / "voice")
    text = read_graph(tmp_path / "voice" / "text.onnx")
    assert "LayerNormalization" in types(text)
    assert types(text).count("Shape") <= 1
    decoder = read_graph(tmp_path / "voice" / "decoder.onnx")
    sizes = {weight.name: len(weight.dims) for weight in decoder.model.graph.initializer}
    assert 4 in [sizes[node.input[1]] for node in decoder.nodes if node.op_type == "Conv"]
