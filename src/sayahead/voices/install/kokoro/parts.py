"""Kokoro's graph as the four that speak word by word, and what is measured of each style."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from sayahead.engine.onnx import OnnxGraph, simplify
from sayahead.types import Floats, Ids
from sayahead.voices.install.kokoro.layers import Kokoro, Layers, Style
from sayahead.voices.install.kokoro.networks import Network, decoder, prosody
from sayahead.voices.install.onnx.graph import FLOAT, Array, Graph, attributes

EDGE = 0
KEPT = 0.8
KEPT_LATE = 0.6
"""Share of a sentence's extremes, on the average, that ranges hold, and those of the generator,
whose peaks are rarer: what is beyond is clipped, which is heard less than the coarser steps of
wider ranges are."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Of a style's own whole sentences."""

    mean: Floats
    """(N,) means of what its norms take."""
    variance: Floats
    """(N,) variances of it."""
    low: Floats
    """(R,) least values of the ranges of what its products take."""
    high: Floats
    """(R,) largest ones."""
    middle: float
    """The median of its voiced pitch, in Hz."""
    length: int
    """Units."""


class Parts:
    """The graphs of Kokoro's parts, in integers or in floats."""

    def __init__(self, graph: Graph, *, integers: bool = True) -> None:
        """VoiceError for a graph of another export."""
        self.kokoro = Kokoro(graph)
        self.integers = integers
        self.source = graph if integers else self.kokoro.floats
        self.style = Style()
        self.prosody = prosody(self.kokoro, self.style, integers=integers)
        self.decoder = decoder(self.kokoro, self.style, integers=integers)

    @property
    def width(self) -> int:
        """Numbers of a style."""
        return int(self.kokoro.graph.inputs["style"].type.tensor_type.shape.dim[1].dim_value)

    @property
    def networks(self) -> dict[str, Network]:
        """Those of frames."""
        return {"prosody": self.prosody, "decoder": self.decoder}

    @property
    def ranges(self) -> list[str]:
        """Tensors whose ranges are fixed."""
        return [tensor for network in self.networks.values() for tensor in network.layers.ranges]

    @property
    def kept(self) -> Floats:
        """(R,) the share of a sentence's extremes that each range holds."""
        late = [
            np.arange(len(network.layers.ranges)) >= network.early
            for network in self.networks.values()
        ]
        return np.where(np.concatenate(late), KEPT_LATE, KEPT).astype(np.float32)

    def models(self) -> dict[str, Any]:
        """The four, as onnx.ModelProto."""
        return {
            "text": self.text().model,
            "style": self.styled(),
            **{name: network.model for name, network in self.networks.items()},
        }

    def save(self, folder: Path) -> None:
        """Write them."""
        for name, model in self.models().items():
            simplify(model.SerializeToString(), folder / f"{name}.onnx")

    def text(self) -> Graph:
        """Phonemes and a style to durations in units, and encodings for prosody and for sound."""
        kokoro = self.kokoro
        rounded = kokoro.graph.maker(kokoro.tensor("encoder/Round"))
        shared = kokoro.graph.maker(rounded.input[0])
        outputs = {shared.input[0]: "durations"}
        for name, path in (("prosody", "encoder/MatMul"), ("sound", "encoder/MatMul_1")):
            outputs[kokoro.graph.maker(kokoro.tensor(path)).input[0]] = name
        part = self.source.cut({}, {tensor: f"as_{name}" for tensor, name in outputs.items()})
        helper = part.onnx.helper
        nodes = list(part.nodes)
        spread = kokoro.graph.maker(kokoro.tensor("encoder/MatMul"))
        turned = {"sound": True, "prosody": not attributes(spread).get("transA", 0)}
        for name in outputs.values():
            axes = part.onnx.numpy_helper.from_array(np.array([0]), "first_axis")
            tensor = f"as_{name}"
            if name == "durations":
                nodes.append(helper.make_node("Reshape", [tensor, "flat_shape"], [name]))
                continue
            nodes.append(helper.make_node("Squeeze", [tensor, "first_axis"], [f"{name}_rows"]))
            order = [1, 0] if turned[name] else [0, 1]
            nodes.append(helper.make_node("Transpose", [f"{name}_rows"], [name], perm=order))
        flat = part.onnx.numpy_helper.from_array(np.array([-1]), "flat_shape")
        results = [helper.make_tensor_value_info(name, FLOAT, None) for name in outputs.values()]
        return part._of(
            nodes, list(part.inputs.values()), results, [*part.model.graph.initializer, axes, flat]
        )

    def styled(self) -> Any:
        """A style and its statistics to what the networks take of them."""
        style = self.style
        helper = self.kokoro.graph.onnx.helper
        layers = dict.fromkeys(self.kokoro.tensor(f"{path}/fc/Gemm") for path in style.norms)
        base = self.source.cut({}, {tensor: f"{tensor}_result" for tensor in layers})
        nodes = [
            node for node in base.nodes if not node.output[0].endswith("_result")
        ] + style.new.nodes
        for name, network in self.networks.items():
            nodes.append(
                helper.make_node(
                    "Concat", [piece for piece, _ in network.layers.pieces], [name], axis=0
                )
            )
        info = helper.make_tensor_value_info
        size = sum(style.widths)
        inputs = [
            *base.inputs.values(),
            *(info(name, FLOAT, (size,)) for name in ("mean", "variance")),
        ]
        outputs = [info(name, FLOAT, None) for name in self.networks]
        weights = [*base.model.graph.initializer, *style.new.weights]
        graph = helper.make_graph(nodes, "style", inputs, outputs, weights)
        model = base.model
        return helper.make_model(
            graph, opset_imports=model.opset_import, ir_version=model.ir_version
        )

    @cached_property
    def listened(self) -> OnnxGraph:
        """The whole graph, which also tells the statistics and the ranges."""
        model = type(self.source.model)()
        model.CopyFrom(self.source.model)
        helper = self.kokoro.graph.onnx.helper
        for number, tensor in enumerate(self.ranges):
            for kind in ("Min", "Max"):
                model.graph.node.append(
                    helper.make_node(f"Reduce{kind}", [tensor], [f"{kind}{number}"], keepdims=0)
                )
                model.graph.output.append(helper.make_empty_tensor_value_info(f"{kind}{number}"))
        inside = [tensor for path in self.style.norms for tensor in self.kokoro.norm(path)]
        for tensor in dict.fromkeys([*inside, *self.inside.values()]):
            model.graph.output.append(helper.make_empty_tensor_value_info(tensor))
        return OnnxGraph(model.SerializeToString())

    @property
    def inside(self) -> dict[str, str]:
        """Tensors of the whole between its parts, by what they are."""
        paths = {
            "prosody": "encoder/MatMul",
            "sound": "encoder/MatMul_1",
            "pitch": "F0_proj/Conv",
            "energy": "N_proj/Conv",
            "spectra": "generator/Concat_3",
        }
        return {name: self.kokoro.tensor(path) for name, path in paths.items()}

    def run(self, ids: Ids, row: Floats) -> dict[str, Array]:
        """What the whole makes of phonemes (P,) without edges in a style (256,), with what is
        inside of it."""
        whole = self.listened
        name = next(name for name in whole.shapes if name not in ("style", "speed"))
        tokens = np.concatenate([[EDGE], ids, [EDGE]]).astype(np.int64)[None]
        inputs: dict[str, Array] = {
            name: tokens,
            "style": row[None],
            "speed": np.ones(1, np.float32),
        }
        return whole(**inputs)

    def measured(self, made: Mapping[str, Array]) -> Measured:
        """Of one of its runs."""
        norms = [self.kokoro.norm(path) for path in self.style.norms]
        mean, variance = (
            np.concatenate([made[norm[n]].reshape(-1) for norm in norms]) for n in (0, 1)
        )
        count = range(len(self.ranges))
        low, high = (
            np.array([float(made[f"{kind}{n}"]) for n in count], np.float32)
            for kind in ("Min", "Max")
        )
        pitch = made[self.inside["pitch"]].reshape(-1)
        voiced = pitch[pitch > 40]
        middle = float(np.median(voiced)) if len(voiced) else 100.0
        return Measured(mean, variance, self.kept * low, self.kept * high, middle, len(pitch) // 2)


def averaged(runs: Iterable[Measured]) -> Measured:
    """Of several sentences: statistics of all their units together, and the means of their
    ranges."""
    all_ = list(runs)
    length = np.array([run.length for run in all_])
    means, within = (
        np.stack([getattr(run, name) for run in all_]) for name in ("mean", "variance")
    )
    mean = np.average(means, axis=0, weights=length)
    variance = np.average(within + np.square(means - mean), axis=0, weights=length)
    low, high = (np.mean([getattr(run, name) for run in all_], axis=0) for name in ("low", "high"))
    return Measured(
        mean, variance, low, high, float(np.median([run.middle for run in all_])), int(length.sum())
    )


def places(layers: Layers) -> list[int]:
    """The range of each cache of a network."""
    return [place for _, _, place in layers.caches]
