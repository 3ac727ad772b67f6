"""Finds the tensors at which a VITS graph is cut, by which tensor depends on which, and cuts it.

VITS (Kim et al., ICML 2021), as Piper exports it: a text encoder gives each phoneme a duration, and
the mean and deviation of a prior; these are repeated over the phoneme's frames; with noise they
become a latent; a normalizing flow and a decoder make samples of it. The graph is cut at the
durations, at the latent and at the flow's output. No network lies between the first two."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from sayahead.voices.install.onnx.graph import FLOAT, Array, Graph, attributes

RANDOM = ("RandomNormalLike", "RandomNormal")
"""Operators that draw noise."""


@dataclass(frozen=True, slots=True)
class Cuts:
    """Names of the tensors where a graph is cut."""

    frames: str
    """(1, 1, P) durations in frames, before they are rounded up."""
    mean: str
    """(1, P, C) means of the prior."""
    log_deviation: str
    """(1, P, C) logarithms of its standard deviations."""
    latent: str
    """(1, C, T) input of the flow."""
    z: str
    """(1, C, T) input of the decoder."""
    samples: str
    """(1, 1, S) or with more axes of size one."""
    token_noise: str | None
    """(1, 2, P) noise of stochastic durations; None if durations are deterministic."""
    frame_noise: str
    """(1, C, T) noise of the prior."""
    frame_mask: str
    """(1, 1, T) mask of frames, which is 1 everywhere for one sentence."""
    token_masks: tuple[str, ...]
    """Masks of tokens, which depend on the lengths alone, and are 1 as well."""
    channels: int
    """C."""
    hop: int
    """Samples per frame."""


def find_cuts(graph: Graph) -> Cuts:
    """Find the cuts of a VITS. VoiceError, which says what is missing, for any other graph."""
    ceil = only(graph, graph.of_type("Ceil"), "a node that rounds durations up")
    frames = ceil.input[0]
    token_noise, frame_noise = noises_of(graph, frames)
    mean, log_deviation, latent = prior_of(graph, frame_noise, ceil.output[0])
    z, channels = decoder_input(graph, latent)
    output = graph.outputs[0]
    masks = sorted(boundary(graph, output, latent) & graph.downstream(ceil.output[0]))
    return Cuts(
        frames=frames,
        mean=mean,
        log_deviation=log_deviation,
        latent=latent,
        z=z,
        samples=output,
        token_noise=token_noise,
        frame_noise=frame_noise,
        frame_mask=only(graph, masks, "a mask of frames"),
        token_masks=token_masks(graph),
        channels=channels,
        hop=hop(graph),
    )


def noises_of(graph: Graph, frames: str) -> tuple[str | None, str]:
    """Return the noise of the durations ``frames``, or None if there is none, and the noise of the
    prior."""
    before = graph.upstream(frames)
    noises = [node.output[0] for node in graph.of_type(*RANDOM)]
    token = [name for name in noises if name in before]
    prior = only(graph, [name for name in noises if name not in before], "the prior's noise")
    if len(token) > 1:
        raise graph.strange(f"has {len(token)} kinds of noise in its durations")
    return (token[0] if token else None), prior


def prior_of(graph: Graph, noise: str, durations: str) -> tuple[str, str, str]:
    """Return the prior's means and log deviations, a row for each token, and the latent.

    The latent is mean + noise * exp(log deviation), both repeated by ``durations``."""
    nearest = graph.nearest(noise, lambda node: node.op_type == "Add", down=True)
    add = required(graph, nearest, "the sum of the prior's mean and noise")
    of_noise = graph.downstream(noise)
    means = [tensor for tensor in add.input if tensor not in of_noise]
    scaled = [
        node
        for node in graph.of_type("Mul")
        if noise in graph.upstream(node.output[0], stop=[noise])
    ]
    makers = [graph.made_by(tensor) for node in scaled for tensor in node.input]
    exps = [node for node in makers if node is not None and node.op_type == "Exp"]
    exp = only(graph, exps[:1], "the prior's deviation")
    mean = rows(graph, only(graph, means, "the prior's mean"), durations)
    return mean, rows(graph, exp.input[0], durations), add.output[0]


def decoder_input(graph: Graph, latent: str) -> tuple[str, int]:
    """Return the input of the decoder and its channels: the last tensor from the latent that a
    convolution takes before the first transposed one."""
    after = graph.downstream(latent)
    ups = graph.of_type("ConvTranspose")
    up = required(graph, next(iter(ups), None), "a decoder that makes samples")
    first = graph.nearest(
        up.input[0], lambda node: node.op_type == "Conv" and node.input[0] in after
    )
    conv = required(graph, first, "a convolution in front of the decoder")
    z = conv.input[0]
    if z not in after or latent not in graph.upstream(z):
        raise graph.strange("has no flow between the prior and the decoder")
    weights = graph.value(conv.input[1])
    if weights is None or len(graph.outputs) != 1:
        raise graph.strange("has no decoder with fixed weights and one output")
    return z, weights.shape[1]


def hop(graph: Graph) -> int:
    """Return the samples per frame: the product of the transposed convolutions' strides."""
    return math.prod(attributes(node)["strides"][0] for node in graph.of_type("ConvTranspose"))


def boundary(graph: Graph, output: str, latent: str) -> set[str]:
    """Return the tensors that the part after the latent takes from before it."""
    after = graph.downstream(latent)
    part = [
        node
        for node in graph.nodes
        if any(tensor in after for tensor in node.output) and node.output[0] != latent
    ]
    needed = graph.upstream(output)
    return {
        t for node in part if node.output[0] in needed for t in node.input if t and t not in after
    }


def rows(graph: Graph, tensor: str, durations: str) -> str:
    """Return the rows, one for each token, of which the product before ``tensor`` with a 0/1 matrix
    of ``durations`` makes rows for each frame."""
    product = required(
        graph,
        graph.nearest(tensor, lambda node: node.op_type == "MatMul"),
        "rows spread by durations",
    )
    spread = graph.downstream(durations)
    return str(
        only(
            graph,
            [t for t in product.input if t not in spread],
            "rows that do not depend on durations",
        )
    )


def token_masks(graph: Graph) -> tuple[str, ...]:
    """Return the casts to float of what depends on the lengths and on the number of tokens, but not
    on the tokens themselves or on noise."""
    ids, lengths = ids_and_lengths(graph)
    shapes = {node.output[0] for node in graph.of_type("Shape")}
    random = {ids, *(node.output[0] for node in graph.of_type(*RANDOM))}
    masks = []
    for node in graph.of_type("Cast"):
        causes = graph.upstream(node.output[0], stop=shapes)
        if attributes(node)["to"] == FLOAT and lengths in causes and not random & causes:
            masks.append(node.output[0])
    return tuple(masks)


def ids_and_lengths(graph: Graph) -> tuple[str, str]:
    """Return the names of the inputs for the ids (1, P) and for their number (1,)."""
    axes_of = {name: len(value.type.tensor_type.shape.dim) for name, value in graph.inputs.items()}
    gathered = {
        node.input[1] for node in graph.of_type("Gather") if graph.value(node.input[0]) is not None
    }
    ids = only(
        graph,
        [name for name, axes in axes_of.items() if axes == 2 and name in gathered],
        "an input of ids",
    )
    lengths = [name for name, axes in axes_of.items() if axes == 1 and "length" in name]
    return str(ids), lengths[0] if lengths else "input_lengths"


def only(graph: Graph, candidates: list[Any], what: str) -> Any:
    """Return the only candidate. VoiceError if there is none, or more; ``what`` describes it."""
    if len(candidates) != 1:
        raise graph.strange(
            f"has {len(candidates)} times {what}" if candidates else f"lacks {what}"
        )
    return candidates[0]


def required(graph: Graph, candidate: Any | None, what: str) -> Any:
    """Return the candidate. VoiceError if it is None; ``what`` describes it."""
    if candidate is None:
        raise graph.strange(f"lacks {what}")
    return candidate


@dataclass(frozen=True, slots=True)
class Parts:
    """The whole, with its noise as inputs, and its parts."""

    whole: Graph
    text: Graph
    flow: Graph
    decoder: Graph


def cut(graph: Graph, cuts: Cuts, *, masks: bool = False) -> Parts:
    """Cut a graph into its parts. ``masks``: whether to keep the masks of tokens, which are 1
    everywhere for one sentence."""
    one = np.ones((1, 1, 1), np.float32)
    ones: dict[str, Array] = {} if masks else dict.fromkeys(cuts.token_masks, one)
    noise = (
        {} if cuts.token_noise is None else {cuts.token_noise: ("noise", FLOAT, (1, 2, "tokens"))}
    )
    frames = (1, cuts.channels, "frames")
    latent = {cuts.latent: ("rows", FLOAT, frames)}
    z = {cuts.z: ("rows", FLOAT, frames)}
    prior = {cuts.frame_noise: ("prior", FLOAT, frames)}
    names = {cuts.mean: "mean", cuts.log_deviation: "log_deviation", cuts.frames: "frames"}
    fixed: dict[str, Array] = {cuts.frame_mask: one} | zeros(graph, cuts)
    return Parts(
        whole=graph.cut({**noise, **prior}, {cuts.samples: "samples"}),
        text=graph.cut(noise, names, constants=ones),
        flow=graph.cut(latent, {cuts.z: "z"}, constants=fixed),
        decoder=graph.cut(z, {cuts.samples: "samples"}, constants=fixed),
    )


def zeros(graph: Graph, cuts: Cuts) -> dict[str, Array]:
    """Return the tensors of the flow that are zeros of the latent's shape, each as a single zero.

    That is enough where only element-wise operators use them, as they broadcast it."""
    flow = graph.upstream(cuts.z, stop=[cuts.latent])
    fixed = dict[str, Array]()
    for node in graph.of_type("ConstantOfShape"):
        tensor = node.output[0]
        value = next(
            (graph.onnx.numpy_helper.to_array(a.t) for a in node.attribute if a.name == "value"),
            np.zeros(1),
        )
        users = {graph.nodes[number].op_type for number in graph.consumers[tensor]}
        shape = graph.made_by(node.input[0])
        has_latent_shape = (
            shape is not None
            and shape.op_type == "Shape"
            and cuts.latent in graph.upstream(shape.input[0])
        )
        is_elementwise = users <= {"Add", "Neg", "Sub", "Exp", "Mul"}
        if tensor in flow and has_latent_shape and is_elementwise and not value.any():
            fixed[tensor] = np.zeros((1, 1, 1), np.float32)
    return fixed
