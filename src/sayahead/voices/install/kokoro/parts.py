"""Cuts Kokoro's graph into the four that speak word by word, and measures each style on it."""

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
"""Id at both ends of an utterance."""
RANGE_SHARE = 0.8
GENERATOR_RANGE_SHARE = 0.6
"""Width of a quantization range as a share of a sentence's extremes; in the generator, where peaks
are rarer, less. Values beyond it are clipped, which is less audible than the coarser steps of a
wider range."""


@dataclass(frozen=True, slots=True)
class StyleMeasures:
    """Measurements of a style on whole sentences, as published."""

    mean: Floats
    """(N,) means of the instance norms' inputs, the channels of all norms in a row."""
    variance: Floats
    """(N,) their variances."""
    low: Floats
    """(R,) lower ends of the ranges of the products' inputs."""
    high: Floats
    """(R,) their upper ends."""
    middle: float
    """Median of the voiced pitch in Hz."""
    length: int
    """Number of units measured."""


class Parts:
    """Kokoro's four graphs: ``text``, ``style``, ``prosody`` and ``decoder``."""

    def __init__(self, graph: Graph, *, integers: bool = True) -> None:
        """``integers``: whether their products are of integers, as they are installed, or of
        floats, to compare them with the whole. VoiceError for a graph of another export."""
        self.kokoro = Kokoro(graph)
        self.integers = integers
        self.source = graph if integers else self.kokoro.floats
        self.style = Style()
        self.prosody = prosody(self.kokoro, self.style, integers=integers)
        self.decoder = decoder(self.kokoro, self.style, integers=integers)

    @property
    def width(self) -> int:
        """Size of a style vector."""
        return int(self.kokoro.graph.inputs["style"].type.tensor_type.shape.dim[1].dim_value)

    @property
    def networks(self) -> dict[str, Network]:
        """The two networks over frames, by name."""
        return {"prosody": self.prosody, "decoder": self.decoder}

    @property
    def ranges(self) -> list[str]:
        """Tensors of the whole whose ranges are fixed, those of prosody first."""
        return [tensor for network in self.networks.values() for tensor in network.layers.ranges]

    @property
    def range_shares(self) -> Floats:
        """(R,) the width of each range as a share of a sentence's extremes."""
        of_generator = [
            np.arange(len(network.layers.ranges)) >= network.generator_start
            for network in self.networks.values()
        ]
        return np.where(np.concatenate(of_generator), GENERATOR_RANGE_SHARE, RANGE_SHARE).astype(
            np.float32
        )

    def models(self) -> dict[str, Any]:
        """The four graphs as onnx.ModelProto, by name."""
        return {
            "text": self.text().model,
            "style": self.style_model(),
            **{name: network.model for name, network in self.networks.items()},
        }

    def save(self, folder: Path) -> None:
        """Write each graph to ``NAME.onnx``."""
        for name, model in self.models().items():
            simplify(model.SerializeToString(), folder / f"{name}.onnx")

    def text(self) -> Graph:
        """The text encoders: phonemes and a style to ``durations`` (P,) in units at speed 1, and to
        the encodings ``prosody`` and ``sound`` (P, C).

        The whole divides durations by the speed and rounds them, then repeats each phoneme's
        encodings by products with a 0/1 matrix. It is cut before the division and the products."""
        graph = self.kokoro.graph
        rounding, spread_prosody, spread_sound = (
            graph.maker(self.kokoro.tensor(path))
            for path in ("encoder/Round", "encoder/MatMul", "encoder/MatMul_1")
        )
        names = {
            graph.maker(rounding.input[0]).input[0]: "durations",
            spread_prosody.input[0]: "prosody",
            spread_sound.input[0]: "sound",
        }
        part = self.source.cut({}, {tensor: f"as_{name}" for tensor, name in names.items()})
        node = part.onnx.helper.make_node
        # Encodings are (1, C, P), or (1, P, C) where the product itself transposes them.
        is_transposed = attributes(spread_prosody).get("transA", 0)
        orders = {"prosody": [0, 1] if is_transposed else [1, 0], "sound": [1, 0]}
        nodes = [*part.nodes, node("Reshape", ["as_durations", "flat_shape"], ["durations"])]
        for name, order in orders.items():
            nodes.append(node("Squeeze", [f"as_{name}", "first_axis"], [f"{name}_rows"]))
            nodes.append(node("Transpose", [f"{name}_rows"], [name], perm=order))
        shapes = [
            part.onnx.numpy_helper.from_array(np.array([value]), name)
            for name, value in (("first_axis", 0), ("flat_shape", -1))
        ]
        results = [
            part.onnx.helper.make_tensor_value_info(name, FLOAT, None) for name in names.values()
        ]
        weights = [*part.model.graph.initializer, *shapes]
        return part.assemble(nodes, list(part.inputs.values()), results, weights)

    def style_model(self) -> Any:
        """The graph of what depends on the style alone: a style and the statistics of its norms to
        the vectors ``prosody`` and ``decoder``, which the networks take as ``style``."""
        style = self.style
        helper = self.kokoro.graph.onnx.helper
        layers = dict.fromkeys(self.kokoro.tensor(f"{path}/fc/Gemm") for path in style.norms)
        # A cut ends in nodes that name its results; the nodes of ``style`` take the tensors before.
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
    def instrumented(self) -> OnnxGraph:
        """The whole graph with further outputs: the statistics of norms, the extremes of each
        range, and the tensors ``inside``."""
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
        """Tensors of the whole at which its parts are compared with it."""
        paths = {
            "prosody": "encoder/MatMul",
            "sound": "encoder/MatMul_1",
            "pitch": "F0_proj/Conv",
            "energy": "N_proj/Conv",
            "spectra": "generator/Concat_3",
        }
        return {name: self.kokoro.tensor(path) for name, path in paths.items()}

    def run(self, ids: Ids, row: Floats) -> dict[str, Array]:
        """Run ``instrumented`` on phonemes (P,), without edges, and a style (256,); return its
        outputs by name."""
        whole = self.instrumented
        name = next(name for name in whole.shapes if name not in ("style", "speed"))
        tokens = np.concatenate([[EDGE], ids, [EDGE]]).astype(np.int64)[None]
        inputs: dict[str, Array] = {
            name: tokens,
            "style": row[None],
            "speed": np.ones(1, np.float32),
        }
        return whole(**inputs)

    def measured(self, outputs: Mapping[str, Array]) -> StyleMeasures:
        """Return the measurements of one sentence, from the outputs of ``run``."""
        norms = [self.kokoro.norm(path) for path in self.style.norms]
        mean, variance = (
            np.concatenate([outputs[norm[n]].reshape(-1) for norm in norms]) for n in (0, 1)
        )
        count = range(len(self.ranges))
        low, high = (
            np.array([float(outputs[f"{kind}{n}"]) for n in count], np.float32)
            for kind in ("Min", "Max")
        )
        pitch = outputs[self.inside["pitch"]].reshape(-1)
        voiced = pitch[pitch > 40]
        middle = float(np.median(voiced)) if len(voiced) else 100.0
        shares = self.range_shares
        return StyleMeasures(mean, variance, shares * low, shares * high, middle, len(pitch) // 2)


def averaged(runs: Iterable[StyleMeasures]) -> StyleMeasures:
    """Combine the measurements of several sentences: the statistics of all their units together,
    the means of the ranges, and the median of the pitches."""
    sentences = list(runs)
    lengths = np.array([one.length for one in sentences])
    means, variances = (
        np.stack([getattr(one, name) for one in sentences]) for name in ("mean", "variance")
    )
    mean = np.average(means, axis=0, weights=lengths)
    # The variance of all units is the mean variance within sentences plus that of their means.
    variance = np.average(variances + np.square(means - mean), axis=0, weights=lengths)
    low, high = (
        np.mean([getattr(one, name) for one in sentences], axis=0) for name in ("low", "high")
    )
    middle = float(np.median([one.middle for one in sentences]))
    return StyleMeasures(mean, variance, low, high, middle, int(lengths.sum()))


def places(layers: Layers) -> list[int]:
    """Return the index of the range of each cache, by which its zero point is found."""
    return [place for _, _, place in layers.caches]
