"""Where a VITS graph is cut, found by what depends on what.

VITS (Kim et al., ICML 2021), as Piper exports it: phonemes to a mean and a deviation for each, and to durations; both
repeated over frames; prior noise makes a latent of them; a normalizing flow, then a decoder that makes samples. Three
cuts: at the durations, at the latent, at the flow's output. Between the first two is no network.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sayahead.errors import VoiceError
from sayahead.voices.install.onnx.graph import FLOAT, Array, Graph, attributes, strides

RANDOM = ("RandomNormalLike", "RandomNormal")


@dataclass(frozen=True, slots=True)
class Seams:
    """Names of the tensors where a graph is cut."""

    frames: str
    """(1, 1, P) durations in frames, before they are rounded up."""
    mean: str
    """(1, P, C) means of the prior."""
    log_deviation: str
    """(1, P, C) logarithms of its standard deviations."""
    latent: str
    """(1, C, T) what the flow takes."""
    z: str
    """(1, C, T) what the decoder takes."""
    samples: str
    """(1, 1, S), with more axes of one."""
    token_noise: str | None
    """(1, 2, P) the noise of stochastic durations; None where durations are not."""
    frame_noise: str
    """(1, C, T) the prior's noise."""
    frame_mask: str
    """(1, 1, T) the mask of frames, which is 1 everywhere for one sentence."""
    token_masks: tuple[str, ...]
    """The same for tokens: tensors of ones that come from the lengths alone."""
    channels: int
    """C."""
    hop: int
    """Samples a frame."""


def find_seams(graph: Graph) -> Seams:
    """The cuts of a VITS; VoiceError for a graph that is none, with what it lacks."""
    ceil = only(graph, graph.of_type("Ceil"), "a node that rounds durations up")
    frames = ceil.input[0]
    before = graph.behind(frames)
    noises = [node.output[0] for node in graph.of_type(*RANDOM)]
    token = [name for name in noises if name in before]
    prior = only(graph, [name for name in noises if name not in before], "the prior's noise")
    if len(token) > 1:
        raise strange(graph, f"has {len(token)} kinds of noise in its durations")
    add = found(graph, graph.next(prior, "Add"), "the sum of the prior's mean and noise")
    latent, behind_noise = add.output[0], graph.after(prior)
    means = [tensor for tensor in add.input if tensor not in behind_noise]
    scaled = [node for node in graph.of_type("Mul") if prior in graph.behind(node.output[0], stop=[prior])]
    exps = [graph.made_by(tensor) for node in scaled for tensor in node.input]
    exp = only(
        graph, [node for node in exps if node is not None and node.op_type == "Exp"][:1], "the prior's deviation"
    )
    mean = rows(graph, only(graph, means, "the prior's mean"), ceil.output[0])
    log_deviation = rows(graph, exp.input[0], ceil.output[0])

    after = graph.after(latent)
    up = found(graph, next(iter(graph.of_type("ConvTranspose")), None), "a decoder that makes samples")
    pre = graph.nearest(up.input[0], lambda node: node.op_type == "Conv" and node.input[0] in after)
    z = found(graph, pre, "a convolution in front of the decoder").input[0]
    if z not in after or latent not in graph.behind(z):
        raise strange(graph, "has no flow between the prior and the decoder")
    channels = graph.value(found(graph, pre, "a decoder").input[1])
    if channels is None or len(graph.outputs) != 1:
        raise strange(graph, "has no decoder with fixed weights and one output")
    masks = sorted(boundary(graph, graph.outputs[0], latent) & graph.after(ceil.output[0]))
    return Seams(
        frames,
        mean,
        log_deviation,
        latent,
        z,
        graph.outputs[0],
        token[0] if token else None,
        prior,
        only(graph, masks, "a mask of frames"),
        token_masks(graph),
        channels.shape[1],
        strides(graph),
    )


def boundary(graph: Graph, output: str, latent: str) -> set[str]:
    """What the part behind the latent takes from in front of it."""
    after = graph.after(latent)
    part = [node for node in graph.nodes if any(made in after for made in node.output) and node.output[0] != latent]
    needed = graph.behind(output)
    return {t for node in part if node.output[0] in needed for t in node.input if t and t not in after}


def rows(graph: Graph, tensor: str, durations: str) -> str:
    """Of the product of the 0/1 path with rows per token, the rows."""
    product = found(graph, graph.nearest(tensor, lambda node: node.op_type == "MatMul"), "rows spread by durations")
    spread = graph.after(durations)
    return str(only(graph, [t for t in product.input if t not in spread], "rows that do not depend on durations"))


def token_masks(graph: Graph) -> tuple[str, ...]:
    """Casts to float of what depends on the lengths and on the number of tokens, not on the tokens themselves."""
    ids, lengths = ids_and_lengths(graph)
    shapes = {made.output[0] for made in graph.of_type("Shape")}
    random = {ids, *(node.output[0] for node in graph.of_type(*RANDOM))}
    found = []
    for node in graph.of_type("Cast"):
        behind = graph.behind(node.output[0], stop=shapes)
        if attributes(graph, node)["to"] == FLOAT and lengths in behind and not random & behind:
            found.append(node.output[0])
    return tuple(found)


def ids_and_lengths(graph: Graph) -> tuple[str, str]:
    """Names of the inputs (1, P) of ids and (1,) of their number."""
    whole = {name: len(given.type.tensor_type.shape.dim) for name, given in graph.inputs.items()}
    gathered = {node.input[1] for node in graph.of_type("Gather") if graph.value(node.input[0]) is not None}
    ids = only(graph, [name for name, axes in whole.items() if axes == 2 and name in gathered], "an input of ids")
    wanted = [name for name, axes in whole.items() if axes == 1 and "length" in name] or ["input_lengths"]
    return str(ids), wanted[0]


def only(graph: Graph, candidates: list[Any], what: str) -> Any:
    """The one candidate; VoiceError if there is none, or more."""
    if len(candidates) != 1:
        raise strange(graph, f"has {len(candidates)} times {what}" if candidates else f"lacks {what}")
    return candidates[0]


def found(graph: Graph, candidate: Any | None, what: str) -> Any:
    """The candidate; VoiceError if there is none."""
    if candidate is None:
        raise strange(graph, f"lacks {what}")
    return candidate


def strange(graph: Graph, what: str) -> VoiceError:
    return VoiceError(f"{graph.where} is no VITS that this version knows: it {what}.")


@dataclass(frozen=True, slots=True)
class Parts:
    """The whole with its noises as inputs, and what it is cut into: onnx.ModelProtos."""

    whole: Any
    text: Any
    flow: Any
    decoder: Any


def cut(graph: Graph, seams: Seams, *, masks: bool = False) -> Parts:
    """The parts of a graph; ``masks`` keeps the masks of tokens, which are 1 everywhere for one sentence."""
    one = np.ones((1, 1, 1), np.float32)
    ones: dict[str, Array] = {} if masks else dict.fromkeys(seams.token_masks, one)
    noise = {} if seams.token_noise is None else {seams.token_noise: ("noise", FLOAT, (1, 2, "tokens"))}
    c = seams.channels
    latent = {seams.latent: ("rows", FLOAT, (1, c, "frames"))}
    z = {seams.z: ("rows", FLOAT, (1, c, "frames"))}
    prior = {seams.frame_noise: ("prior", FLOAT, (1, c, "frames"))}
    made = {seams.mean: "mean", seams.log_deviation: "log_deviation", seams.frames: "frames"}
    fixed: dict[str, Array] = {seams.frame_mask: one} | zeros(graph, seams)
    return Parts(
        whole=graph.cut({**noise, **prior}, {seams.samples: "samples"}),
        text=graph.cut(noise, made, constants=ones),
        flow=graph.cut(latent, {seams.z: "z"}, constants=fixed),
        decoder=graph.cut(z, {seams.samples: "samples"}, constants=fixed),
    )


def zeros(graph: Graph, seams: Seams) -> dict[str, Array]:
    """Tensors of zeros in the flow, as large as another tensor: one zero is enough."""
    flow, found = graph.behind(seams.z, stop=[seams.latent]), dict[str, Array]()
    for node in graph.of_type("ConstantOfShape"):
        value = next((graph.onnx.numpy_helper.to_array(a.t) for a in node.attribute if a.name == "value"), np.zeros(1))
        used = [graph.nodes[number].op_type for number in graph.consumers[node.output[0]]]
        shape = graph.made_by(node.input[0])
        known = shape is not None and shape.op_type == "Shape" and seams.latent in graph.behind(shape.input[0])
        if node.output[0] in flow and known and not value.any() and set(used) <= {"Add", "Neg", "Sub", "Exp", "Mul"}:
            found[node.output[0]] = np.zeros((1, 1, 1), np.float32)
    return found
