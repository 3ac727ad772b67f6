"""NVIDIA's published WaveGlow in the network of this package, which makes the same samples of the
same noise."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import torch
from sayahead.errors import ConfigError
from torch import Tensor

from sayahead_lab.training.loop.published_layout import PublishedWeights
from sayahead_lab.training.waveglow.network import WaveGlow, WaveGlowConfig

SIGN = "convinv.0.conv.weight"
"""A weight by which the layout is known."""


def waveglow(weights: PublishedWeights, hop: int) -> WaveGlow:
    """The network with the published weights; ``hop`` is in no shape. ConfigError for what cannot
    be mapped."""
    config = sizes(weights, hop)
    model = WaveGlow(config)
    mels = config.n_mels
    window = config.window
    found = {"rows.upsample.weight": weights.take("upsample.weight", mels, mels, window)}
    found["rows.upsample.bias"] = weights.take("upsample.bias", mels)
    channels = config.group
    for flow in range(config.flows):
        channels -= config.early_size if model.flows.leaves(flow) else 0
        mixing = weights.take(f"convinv.{flow}.conv.weight", channels, channels, 1)
        found[f"flows.mixings.{flow}"] = mixing[..., 0]
        found |= coupling(weights, f"WN.{flow}", f"flows.couplings.{flow}", channels // 2, config)
    weights.finish()
    fresh = model.state_dict()
    missing = fresh.keys() - found.keys() - {"rows.mean", "rows.std"}
    assert not missing, missing
    # It hears logarithms as they are: of mean 0 and deviation 1, as the buffers begin.
    model.load_state_dict({**fresh, **found})
    return model.eval()


def sizes(weights: PublishedWeights, hop: int) -> WaveGlowConfig:
    """The configuration that the shapes tell."""
    n_mels, _, window = weights.shape("upsample.weight", 3)
    if window < hop:
        raise ConfigError(
            f"{weights.where} spreads a frame over {window} samples, but the corpus has a hop of"
            f" {hop}."
        )
    flows = weights.count("convinv.{}.conv.weight")
    widths = [weights.shape(f"convinv.{flow}.conv.weight", 3)[0] for flow in range(flows)]
    leaving = [flow for flow in range(1, flows) if widths[flow] < widths[flow - 1]]
    every = leaving[0] if leaving else flows
    inner = next(
        (name for name in names("WN.0.in_layers.0") if name in weights), "WN.0.in_layers.0.weight"
    )
    wide, channels, kernel = weights.shape(inner, 3)
    config = WaveGlowConfig(
        n_mels=n_mels,
        hop=hop,
        window=window,
        flows=flows,
        group=widths[0],
        early_every=every,
        early_size=widths[every - 1] - widths[every] if leaving else 2,
        layers=sum(
            any(name in weights for name in names(f"WN.0.in_layers.{at}")) for at in range(64)
        ),
        channels=channels,
        kernel=kernel,
    )
    assert wide == 2 * channels
    return config


def names(layer: str) -> tuple[str, str]:
    """Where a layer's weight is: with weight normalization, or without."""
    return f"{layer}.weight_v", f"{layer}.weight"


def normed(weights: PublishedWeights, old: str, new: str, *shape: int) -> dict[str, Tensor]:
    """A convolution with weight normalization; one that lost it gets it back."""
    found = {f"{new}.bias": weights.take(f"{old}.bias", shape[0])}
    if f"{old}.weight_v" in weights:
        length = weights.take(f"{old}.weight_g", shape[0], 1, 1)
        direction = weights.take(f"{old}.weight_v", *shape)
    else:
        direction = weights.take(f"{old}.weight", *shape)
        length = direction.flatten(1).norm(dim=1)[:, None, None]
    where = f"{new}.parametrizations.weight.original"
    return {**found, f"{where}0": length, f"{where}1": direction}


def coupling(
    weights: PublishedWeights, old: str, new: str, half: int, config: WaveGlowConfig
) -> dict[str, Tensor]:
    """A coupling; in older checkpoints each layer has conditions of its own, which lie side by side
    here."""
    wide = config.channels
    layers = config.layers
    conditions = config.n_mels * config.group
    found = normed(weights, f"{old}.start", f"{new}.start", wide, half, 1)
    if f"{old}.cond_layers.0.bias" in weights:
        each = [
            normed(weights, f"{old}.cond_layers.{at}", "", 2 * wide, conditions, 1)
            for at in range(layers)
        ]
        found |= {
            f"{new}.condition{name}": torch.cat([one[name] for one in each]) for name in each[0]
        }
    else:
        found |= normed(
            weights, f"{old}.cond_layer", f"{new}.condition", 2 * wide * layers, conditions, 1
        )
    for at in range(layers):
        out = wide if at == layers - 1 else 2 * wide
        found |= normed(
            weights, f"{old}.in_layers.{at}", f"{new}.inner.{at}", 2 * wide, wide, config.kernel
        )
        found |= normed(weights, f"{old}.res_skip_layers.{at}", f"{new}.outer.{at}", out, wide, 1)
    found[f"{new}.end.weight"] = weights.take(f"{old}.end.weight", 2 * half, wide, 1)
    found[f"{new}.end.bias"] = weights.take(f"{old}.end.bias", 2 * half)
    return found


def table(model: WaveGlow) -> dict[str, Any]:
    """What a recipe's [model] says of it."""
    return {key: value for key, value in asdict(model.config).items() if value is not None}
