"""The trained WaveRNN as arrays for the runtime (``sayahead.vocoders.wavernn``)."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sayahead.types import Floats
from sayahead.vocoders.pulses import PulseModel
from sayahead.vocoders.recurrent import WaveRNNModel
from sayahead.vocoders.wavernn import WaveRNNVocoder
from sayahead.vocoders.wavernn_bands import BandsModel
from torch import Tensor, nn

from sayahead_lab.training.clarinet.conditioner import Conditioner, ConditionerConfig
from sayahead_lab.training.clarinet.signal import MIN_POWER
from sayahead_lab.training.clarinet.writer import write_pitch
from sayahead_lab.training.graph.recurrent import array, normed
from sayahead_lab.training.loop.saved_run import Trained
from sayahead_lab.training.voice_parts import VoicePart, Written
from sayahead_lab.training.wavernn.network import PARTS, ConditionsNetwork, Guide, WaveRNN, decoded

EXACT = ("level", "split", "join")
"""What a WaveRNN in bands keeps in float32: the levels of quiet bands and the filter bank are finer
than float16."""


def about(model: WaveRNN) -> WaveRNNModel:
    """What the runtime has to know beside the weights."""
    c = model.config
    left = max(c.left, c.smoothing)
    right = max(c.right, c.smoothing)
    return WaveRNNModel(c.n_mels, c.hop, left, right)


def pitch(
    guide: Guide, conditions: ConditionsNetwork, path: Path, *, sample_rate: int
) -> PulseModel:
    """Write the graph that reads the pitch, and say what the runtime has to know of it."""
    holder = nn.Module()
    c = conditions.config
    config = ConditionerConfig(
        c.n_mels, strides=c.strides, bands=c.bands, pulses=True, pitch=c.pitch
    )
    holder.conditioner = Conditioner(config)
    conditioner = holder.conditioner
    conditioner.pitch = guide.pitch
    conditioner.mean.copy_(conditions.mean)
    conditioner.std.copy_(conditions.std)
    return write_pitch(holder, conditioner, path, sample_rate=sample_rate)


def turned(weight: Tensor) -> Floats:
    """A layer's weights (N, K) as (K, N), to multiply rows with."""
    return np.ascontiguousarray(array(weight).T)


def arrays(model: WaveRNN) -> dict[str, Floats]:
    """All weights by the names that the runtime reads; what is linear together is multiplied
    out."""
    c = model.config
    conditions = model.conditions
    reach = about(model)
    weights = {"mean": array(conditions.mean), "std": array(conditions.std)}
    sight = np.zeros(reach.left + 1 + reach.right, np.float32)
    sight[reach.left - c.left : reach.left + 1 + c.right] = 1
    weights["sight"] = sight
    weights["spread"] = spread(model)

    def folded(name: str, weight: Tensor, bias: Tensor, norm: nn.Module) -> None:
        assert isinstance(norm, nn.BatchNorm1d)
        weight_folded, shift = normed(weight, bias, norm)
        weights[name] = turned(weight_folded.permute(0, 2, 1).flatten(1))
        weights[f"{name}.bias"] = array(shift)

    folded("entry", conditions.input.weight, torch.zeros(c.channels), conditions.norm)
    for number, block in enumerate(conditions.blocks):
        for place, name in enumerate(("first", "second")):
            layer: Any = block.get_submodule(name)
            folded(
                f"block{number}.{name}",
                layer.weight,
                layer.bias,
                block.get_submodule(f"norms.{place}"),
            )
    weights["parts"] = turned(conditions.output.weight[..., 0])
    weights["parts.bias"] = array(conditions.output.bias)
    weights |= recurrent(model)
    if model.guide is None:
        weights["values"] = array(decoded(torch.arange(c.classes), c.classes))
    else:
        weights |= guided(model.guide)
    return weights


def guided(guide: Guide) -> dict[str, Floats]:
    """The weights of the voice, of the level and of the filter bank."""
    voice = guide.voice
    bank = guide.signal.bank
    filters = array(bank.filters[:, 0])
    bands = bank.bands
    # A band's 13 steps around a sample, the earliest first, sound in it by the end of the filter,
    # and so on.
    width = filters.shape[1] // bands + 1
    padded = np.pad(filters, ((0, 0), (0, width * bands - filters.shape[1])))
    return {
        "voice.first": turned(voice.first.weight.permute(0, 2, 1).flatten(1)),
        "voice.first.bias": array(voice.first.bias),
        "voice.last": turned(voice.last.weight[..., 0]),
        "voice.last.bias": array(voice.last.bias),
        "level": array(guide.signal.level),
        "least": np.array([MIN_POWER], np.float32),
        "split": np.ascontiguousarray(filters.T),
        "join": padded.reshape(bands, width, bands)[:, ::-1].reshape(-1, bands),
    }


def recurrent(model: WaveRNN) -> dict[str, Floats]:
    """The weights of everything that runs sample by sample."""
    c = model.config
    weights = dict[str, Floats]()
    part = model.config.aux // PARTS
    sound, mel, aux = torch.split(model.input.weight, [model.heard, c.n_mels, part], 1)
    weights["input.mel"] = turned(mel)
    weights["input.part"] = turned(aux)
    weights["input.bias"] = array(model.input.bias)
    for name, layer in (("first", model.first), ("second", model.second)):
        inner, outer, inner_bias, outer_bias = layer.all_weights[0]
        weights[f"{name}.inner"] = turned(inner[:, : c.rnn])
        weights[f"{name}.inner.bias"] = array(inner_bias)
        weights[f"{name}.outer"] = turned(outer)
        weights[f"{name}.outer.bias"] = array(outer_bias)
        if name == "second":
            weights["second.part"] = turned(inner[:, c.rnn :])
    step = turned(sound[:, : c.past * c.bands])
    gates = step @ weights["first.inner"]
    if model.guide is None:
        weights["input.sample"] = step[0]
        weights["input.sample.gates"] = gates[0]
    else:
        weights["input.step"] = np.hstack([step, gates])
        weights["input.voice"] = turned(sound[:, -c.bands :])
    for number, wide in ((0, c.rnn), (1, c.dense)):
        weight, bias = (model.dense[number].get_parameter(name) for name in ("weight", "bias"))
        weights[f"dense{number}"] = turned(weight[:, :wide])
        weights[f"dense{number}.part"] = turned(weight[:, wide:])
        weights[f"dense{number}.bias"] = array(bias)
    weights["out"] = turned(model.output.weight)
    weights["out.bias"] = array(model.output.bias)
    return weights


@torch.no_grad()
def spread(model: WaveRNN) -> Floats:
    """(steps, left + 1 + right) by which the frames around a frame make its steps: the upsampling
    network is linear."""
    reach = about(model)
    steps = model.config.steps
    wide = reach.left + 1 + reach.right
    # Two frames of zeros at each end keep the network's own edges away.
    impulses = torch.zeros(1, wide, wide + 4)
    impulses[0, :, 2:-2] = torch.eye(wide)
    up = model.conditions.upsampled(impulses.to(model.conditions.mean.device))[0]
    middle = 2 + reach.left
    return turned(up[:, middle * steps : (middle + 1) * steps])


def runtime(model: WaveRNN) -> WaveRNNVocoder:
    """The vocoder at run time; without bands."""
    return WaveRNNVocoder(about(model), arrays(model))


def export(model: WaveRNN, folder: Path, *, sample_rate: int, **drawn: float) -> Written:
    """Write ``wavernn.npz``, and ``pitch.onnx`` for one in bands, which is ``drawn`` as BandsModel
    says.

    Returned: their paths, and what a voice's ``model`` table says of them under ``vocoder``.
    """
    paths = [folder / "wavernn.npz"]
    table = asdict(about(model))
    contents: dict[str, Any] = {
        name: value.astype(np.float16) if value.ndim > 1 and name not in EXACT else value
        for name, value in arrays(model).items()
    }
    np.savez(paths[0], **contents)
    if model.guide is not None:
        paths.append(folder / "pitch.onnx")
        read = pitch(model.guide, model.conditions, paths[1], sample_rate=sample_rate)
        table["bands"] = asdict(BandsModel(model.config.bands, read, **drawn))
    return paths, table


def write(run: Trained[Any, WaveRNN], folder: Path) -> Written:
    """Write a run's model as a voice's second stage."""
    drawn = {
        name: float(run.recipe.data[name])
        for name in ("temperature", "voiced")
        if name in run.recipe.data
    }
    return export(run.model, folder, sample_rate=run.corpus.info.front_end.sample_rate, **drawn)


PART: VoicePart[WaveRNN] = VoicePart("wavernn", "WaveRNN", write)
