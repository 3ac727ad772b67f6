"""Where a VITS graph is cut, found by what depends on what.

VITS (Kim et al., ICML 2021), as Piper exports it: phonemes to a mean and a deviation for each, and
to durations; both repeated over frames; prior noise makes a latent of them; a normalizing flow,
then a decoder that makes samples. Three cuts: at the durations, at the latent, at the flow's
output. Between the first two is no network."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from sayahead.voices.install.onnx.graph import FLOAT, Array, Graph, attributes

RANDOM = ("RandomNormalLike", "RandomNormal")


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


def find_cuts(graph: Graph) -> Cuts:
    """The cuts of a VITS; raises VoiceError, which says what is missing, for any other graph."""
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
    """The noise of the durations, or None where these are fixed, and the noise of the prior."""
    before = graph.upstream(frames)
    noises = [node.output[0] for node in graph.of_type(*RANDOM)]
    token = [name for name in noises if name in before]
    prior = only(graph, [name for name in noises if name not in before], "the prior's noise")
    if len(token) > 1:
        raise graph.strange(f"has {len(token)} kinds of noise in its durations")
    return (token[0] if token else None), prior


def prior_of(graph: Graph, noise: str, durations: str) -> tuple[str, str, str]:
    """The prior's means and logarithms of deviations, a row for each token, and the latent that is
    made of them and of noise."""
    adds = graph.nearest(noise, lambda node: node.op_type == "Add", down=True)
    add = required(graph, adds, "the sum of the prior's mean and noise")
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
    """What the decoder takes, and its channels."""
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
    """Samples of a frame: the product of what the transposed convolutions stretch by."""
    return math.prod(attributes(node)["strides"][0] for node in graph.of_type("ConvTranspose"))


def boundary(graph: Graph, output: str, latent: str) -> set[str]:
    """What the part after the latent takes from before it."""
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
    """Of the product of the 0/1 path with rows per token, the rows."""
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
    """Casts to float of what depends on the lengths and on the number of tokens, not on the tokens
    themselves."""
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
    """Names of the inputs (1, P) of ids and (1,) of their number."""
    whole = {name: len(value.type.tensor_type.shape.dim) for name, value in graph.inputs.items()}
    gathered = {
        node.input[1] for node in graph.of_type("Gather") if graph.value(node.input[0]) is not None
    }
    ids = only(
        graph,
        [name for name, axes in whole.items() if axes == 2 and name in gathered],
        "an input of ids",
    )
    wanted = [name for name, axes in whole.items() if axes == 1 and "length" in name] or [
        "input_lengths"
    ]
    return str(ids), wanted[0]


def only(graph: Graph, candidates: list[Any], what: str) -> Any:
    """The one candidate; VoiceError if there is none, or more."""
    if len(candidates) != 1:
        raise graph.strange(
            f"has {len(candidates)} times {what}" if candidates else f"lacks {what}"
        )
    return candidates[0]


def required(graph: Graph, candidate: Any | None, what: str) -> Any:
    """The candidate; VoiceError if there is none."""
    if candidate is None:
        raise graph.strange(f"lacks {what}")
    return candidate


@dataclass(frozen=True, slots=True)
class Parts:
    """The whole with its noises as inputs, and what it is cut into."""

    whole: Graph
    text: Graph
    flow: Graph
    decoder: Graph


def cut(graph: Graph, cuts: Cuts, *, masks: bool = False) -> Parts:
    """The parts of a graph; ``masks`` keeps the masks of tokens, which are 1 everywhere for one
    sentence."""
    one = np.ones((1, 1, 1), np.float32)
    ones: dict[str, Array] = {} if masks else dict.fromkeys(cuts.token_masks, one)
    noise = (
        {} if cuts.token_noise is None else {cuts.token_noise: ("noise", FLOAT, (1, 2, "tokens"))}
    )
    c = cuts.channels
    latent = {cuts.latent: ("rows", FLOAT, (1, c, "frames"))}
    z = {cuts.z: ("rows", FLOAT, (1, c, "frames"))}
    prior = {cuts.frame_noise: ("prior", FLOAT, (1, c, "frames"))}
    names = {cuts.mean: "mean", cuts.log_deviation: "log_deviation", cuts.frames: "frames"}
    fixed: dict[str, Array] = {cuts.frame_mask: one} | zeros(graph, cuts)
    return Parts(
        whole=graph.cut({**noise, **prior}, {cuts.samples: "samples"}),
        text=graph.cut(noise, names, constants=ones),
        flow=graph.cut(latent, {cuts.z: "z"}, constants=fixed),
        decoder=graph.cut(z, {cuts.samples: "samples"}, constants=fixed),
    )


def zeros(graph: Graph, cuts: Cuts) -> dict[str, Array]:
    """Tensors of zeros in the flow, as large as another tensor: one zero is enough."""
    flow = graph.upstream(cuts.z, stop=[cuts.latent])
    fixed = dict[str, Array]()
    for node in graph.of_type("ConstantOfShape"):
        value = next(
            (graph.onnx.numpy_helper.to_array(a.t) for a in node.attribute if a.name == "value"),
            np.zeros(1),
        )
        used = [graph.nodes[number].op_type for number in graph.consumers[node.output[0]]]
        shape = graph.made_by(node.input[0])
        timed = (
            shape is not None
            and shape.op_type == "Shape"
            and cuts.latent in graph.upstream(shape.input[0])
        )
        if (
            node.output[0] in flow
            and timed
            and not value.any()
            and set(used) <= {"Add", "Neg", "Sub", "Exp", "Mul"}
        ):
            fixed[node.output[0]] = np.zeros((1, 1, 1), np.float32)
    return fixed
