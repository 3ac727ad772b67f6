"""NVIDIA's published Tacotron 2 in the network of Saeki et al., who joined a contextual embedding
to its memory.

What that embedding adds to the inputs of layers begins as zeros: until it is trained, the network
is the published one, whatever it is told of past and future. Its letters are no phonemes, so
phonemes' embeddings are drawn anew."""

from __future__ import annotations

import itertools
from dataclasses import asdict
from typing import Any

from sayahead.errors import ConfigError
from torch import Tensor
from torch.nn import functional

from sayahead_lab.training.loop.published_layout import PublishedWeights
from sayahead_lab.training.saeki.network import Tacotron, TacotronConfig

SIGN = "encoder.convolutions.0.0.conv.weight"
"""A weight by which the layout is known."""
NORM = ("weight", "bias", "running_mean", "running_var")
LSTM = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


def tacotron(weights: PublishedWeights, phonemes: int) -> Tacotron:
    """The network with the published weights, for so many ids. ConfigError for what cannot be
    mapped."""
    config = sizes(weights, phonemes)
    model = Tacotron(config)
    found = {**encoder(weights, config), **decoder(weights, config), **postnet(weights, config)}
    weights.finish()
    fresh = model.state_dict()
    own = {name for name in fresh if name.startswith("contextual.") or name.endswith(COUNTED)}
    missing = fresh.keys() - found.keys() - own - {"encoder.embedding.weight", "mean", "std"}
    assert not missing, missing
    # Its frames are logarithms as they are: of mean 0 and deviation 1, as the buffers begin.
    model.load_state_dict({**fresh, **found})
    return model.eval()


COUNTED = "num_batches_tracked"


def sizes(weights: PublishedWeights, phonemes: int) -> TacotronConfig:
    """The configuration that the shapes tell; ConfigError for several frames a step, which have one
    stop there."""
    letters, embedding = weights.shape("embedding.weight", 2)
    weights.take("embedding.weight", letters, embedding)
    postnet_width, n_mels, kernel = weights.shape("postnet.convolutions.0.0.conv.weight", 3)
    prenet = "decoder.prenet.layers.{}.linear_layer.weight"
    widths = [weights.shape(prenet.format(at), 2)[0] for at in range(weights.count(prenet))]
    _, _, location_kernel = weights.shape(
        "decoder.attention_layer.location_layer.location_conv.conv.weight", 3
    )
    attention, filters = weights.shape(
        "decoder.attention_layer.location_layer.location_dense.linear_layer.weight", 2
    )
    frames, _ = weights.shape("decoder.linear_projection.linear_layer.weight", 2)
    if frames != n_mels:
        raise ConfigError(
            f"{weights.where} makes {frames / n_mels:g} frames a step with one stop for all of"
            " them, where this network has one for each: only checkpoints of one frame a step can"
            " be imported."
        )
    return TacotronConfig(
        phonemes=phonemes,
        n_mels=n_mels,
        embedding=embedding,
        encoder_layers=weights.count("encoder.convolutions.{}.0.conv.weight"),
        kernel=kernel,
        prenet=tuple(widths),
        attention_rnn=weights.shape("decoder.attention_rnn.weight_hh", 2)[1],
        decoder_rnn=weights.shape("decoder.decoder_rnn.weight_hh", 2)[1],
        attention=attention,
        location_filters=filters,
        location_kernel=location_kernel,
        postnet=postnet_width,
        postnet_layers=weights.count("postnet.convolutions.{}.0.conv.weight"),
    )


def convolutions(
    weights: PublishedWeights, part: str, widths: list[int], kernel: int
) -> dict[str, Tensor]:
    """Convolutions of these widths and the norms behind them."""
    found = dict[str, Tensor]()
    for at, (before, after) in enumerate(itertools.pairwise(widths)):
        old = f"{part}.convolutions.{at}"
        new = f"{part}.convolutions.{at}"
        found[f"{new}.weight"] = weights.take(f"{old}.0.conv.weight", after, before, kernel)
        found[f"{new}.bias"] = weights.take(f"{old}.0.conv.bias", after)
        found |= {
            f"{part}.norms.{at}.norm.{name}": weights.take(f"{old}.1.{name}", after)
            for name in NORM
        }
    return found


def recurrent(
    weights: PublishedWeights,
    old: str,
    new: str,
    inputs: int,
    wide: int,
    *,
    end: str = "",
    more: int = 0,
) -> dict[str, Tensor]:
    """A recurrent layer; ``more`` inputs, of which it knows nothing, begin as zeros."""
    shapes = ((4 * wide, inputs), (4 * wide, wide), (4 * wide,), (4 * wide,))
    found = {
        f"{new}.{name}_l0": weights.take(f"{old}.{name}{end}", *shape)
        for name, shape in zip(LSTM, shapes, strict=True)
    }
    found[f"{new}.weight_ih_l0"] = functional.pad(found[f"{new}.weight_ih_l0"], (0, more))
    return found


def encoder(weights: PublishedWeights, config: TacotronConfig) -> dict[str, Tensor]:
    """Convolutions, and the LSTM of both directions as one layer each."""
    wide = config.embedding
    found = convolutions(weights, "encoder", [wide] * (config.encoder_layers + 1), config.kernel)
    for name, end in (("ahead", "_l0"), ("back", "_l0_reverse")):
        found |= recurrent(weights, "encoder.lstm", f"encoder.{name}", wide, wide // 2, end=end)
    return found


def decoder(weights: PublishedWeights, config: TacotronConfig) -> dict[str, Tensor]:
    """Prenet, recurrent layers, attention, frames and stop; what joins the memory begins as
    zeros."""
    memory = config.embedding
    more = config.context.embedding
    d = "decoder"
    attention = config.attention
    wide = config.attention_rnn
    found = dict[str, Tensor]()
    for at, (before, after) in enumerate(itertools.pairwise((config.n_mels, *config.prenet))):
        found[f"{d}.prenet.{at}.weight"] = weights.take(
            f"{d}.prenet.layers.{at}.linear_layer.weight", after, before
        )
    inputs = config.prenet[-1] + memory
    found |= recurrent(weights, f"{d}.attention_rnn", f"{d}.attention_rnn", inputs, wide, more=more)
    found |= recurrent(
        weights,
        f"{d}.decoder_rnn",
        f"{d}.decoder_rnn",
        wide + memory,
        config.decoder_rnn,
        more=more,
    )
    look = f"{d}.attention_layer"
    found[f"{d}.query.weight"] = weights.take(
        f"{look}.query_layer.linear_layer.weight", attention, wide
    )
    key = weights.take(f"{look}.memory_layer.linear_layer.weight", attention, memory)
    found[f"{d}.key.weight"] = functional.pad(key, (0, more))
    found[f"{d}.energy.weight"] = weights.take(f"{look}.v.linear_layer.weight", 1, attention)
    filters = config.location_filters
    kernel = config.location_kernel
    place = weights.take(f"{look}.location_layer.location_conv.conv.weight", filters, 2, kernel)
    found[f"{d}.place.weight"] = place.flatten(1)
    placed = weights.take(
        f"{look}.location_layer.location_dense.linear_layer.weight", attention, filters
    )
    found[f"{d}.placed.weight"] = placed
    inward = config.decoder_rnn + memory
    for old, new, size in (
        ("linear_projection", "frames", config.n_mels),
        ("gate_layer", "stop", 1),
    ):
        weight = weights.take(f"{d}.{old}.linear_layer.weight", size, inward)
        found[f"{d}.{new}.weight"] = functional.pad(weight, (0, more))
        found[f"{d}.{new}.bias"] = weights.take(f"{d}.{old}.linear_layer.bias", size)
    return found


def postnet(weights: PublishedWeights, config: TacotronConfig) -> dict[str, Tensor]:
    """Its convolutions."""
    widths = [config.n_mels, *[config.postnet] * (config.postnet_layers - 1), config.n_mels]
    return convolutions(weights, "postnet", widths, config.kernel)


def table(model: Tacotron) -> dict[str, Any]:
    """What a recipe's [model] says of it."""
    return asdict(model.config)
