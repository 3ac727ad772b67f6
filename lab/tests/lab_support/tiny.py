"""Voices of tiny networks with random weights, exported as trained ones are."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from sayahead import load_voice
from sayahead.voice import Voice
from torch import nn
from torch.nn.utils.parametrize import is_parametrized, remove_parametrizations

from sayahead_lab.training.clarinet.conditioner import ConditionerConfig
from sayahead_lab.training.clarinet.network import GaussianIAF, IAFConfig
from sayahead_lab.training.corpus.frontend import MelFrontEnd
from sayahead_lab.training.corpus.teacher import voice_config
from sayahead_lab.training.graph.builder import quantized
from sayahead_lab.training.loop.recipe import Recipe
from sayahead_lab.training.loop.saved_run import Trained
from sayahead_lab.training.loop.task import TrainSettings
from sayahead_lab.training.ma.network import DeepVoice3, DeepVoice3Config
from sayahead_lab.training.mel.network import MelVocoderConfig, MelVocoderNetwork
from sayahead_lab.training.voice import make_voice
from sayahead_lab.training.waveglow.network import Bands, Groups, WaveGlow, WaveGlowConfig
from sayahead_lab.training.wavernn.network import WaveRNN, WaveRNNConfig

ACOUSTIC = DeepVoice3Config(
    phonemes=178,
    embedding=32,
    encoder_channels=16,
    encoder_layers=3,
    encoder_kernel=3,
    prenet=(16, 32),
    decoder_layers=3,
    decoder_kernel=3,
    attention=16,
    weight_norm=False,
    key_rate=1.3,
    clock="attended",
    own_windows=False,
)
SIZES: dict[str, Any] = {
    "embedding": 32,
    "encoder_channels": 16,
    "encoder_layers": 2,
    "encoder_kernel": 3,
    "prenet": [16, 32],
    "decoder_layers": 2,
    "decoder_kernel": 3,
    "attention": 16,
}
"""A recipe's [model] of the task ma."""
VOCODER = MelVocoderConfig(front_blocks=1, blocks=2, right=(2, 0, 0, 1))
STUDENT = IAFConfig(
    flows=(2, 3),
    cycle=2,
    residual=6,
    skip=5,
    conditioner=ConditionerConfig(channels=4, strides=(10, 15), bands=2, pulses=True, pitch=8),
)
SAMPLED = WaveRNNConfig(
    n_mels=80, strides=(15, 20), blocks=1, channels=8, aux=8, rnn=8, dense=8, bits=4
)
BANDED = replace(SAMPLED, strides=(10, 15), bands=2, past=3, pitch=8)

# A row of 8 samples: two frames of 300 make whole rows, one does not.
GLOWING = WaveGlowConfig(flows=3, group=8, early_every=2, early_size=2, layers=2, channels=6)
GLOWING_BANDS = replace(
    GLOWING,
    group=4,
    conditioner=ConditionerConfig(
        channels=4, strides=(5, 15), bands=4, level=True, pulses=True, pitch=8
    ),
)


def deepvoice3(
    config: DeepVoice3Config = ACOUSTIC, *, seed: int = 0, scale: float = 1.0
) -> DeepVoice3:
    """Random weights that int8 and float16 hold, so that nothing but the graphs can differ; all of
    them ``scale``d."""
    torch.manual_seed(seed)
    model = DeepVoice3(config).eval()
    model.mean.fill_(-4.0)
    model.std.fill_(1.5)
    with torch.no_grad():
        embedding = model.encoder.embedding.weight
        embedding.copy_(embedding.half().float())
        for layer in model.modules():
            if isinstance(layer, nn.Linear):
                rounded, sizes = quantized(scale * layer.weight.T.numpy())
                weight = torch.from_numpy((rounded.astype(np.float32) * sizes).T.copy())
                layer.weight = weight if is_parametrized(layer) else nn.Parameter(weight)
                layer.bias.normal_(std=0.1)
    return model


def vocoder(task: str) -> nn.Module:
    """Random weights."""
    torch.manual_seed(1)
    if task == "clarinet":
        return GaussianIAF(STUDENT).eval()
    if task.startswith("wavernn"):
        return WaveRNN(BANDED if task.endswith("bands") else SAMPLED).eval()
    if task.startswith("waveglow"):
        return waveglow(GLOWING_BANDS if task.endswith("bands") else GLOWING)
    model = MelVocoderNetwork(VOCODER).eval()
    model.get_buffer("mean").fill_(-4.0)
    model.get_buffer("std").fill_(1.5)
    return model


@torch.no_grad()
def waveglow(config: WaveGlowConfig = GLOWING) -> WaveGlow:
    """Random weights that float16 holds, of couplings that do something."""
    model = WaveGlow(config).eval()
    for layer in model.modules():
        if isinstance(layer, nn.Conv1d | nn.ConvTranspose1d):
            weight = (
                layer.weight
                if layer.weight.abs().max() > 0
                else 0.2 * torch.randn_like(layer.weight)
            )
            rounded = weight.half().float()
            if is_parametrized(layer):
                remove_parametrizations(layer, "weight")
            layer.weight = nn.Parameter(rounded)
    if isinstance(model.rows, Bands):
        nn.init.uniform_(model.rows.conditioner.signal.level)
    scale = model.rows if isinstance(model.rows, Groups) else model.rows.conditioner
    scale.mean.fill_(-4.0)
    scale.std.fill_(1.5)
    return model


def trained(task: str, model: nn.Module, **info: Any) -> Trained[Any, Any]:
    """A run's outcome, as exporting reads it."""
    described = {
        "front_end": MelFrontEnd(),
        "phonemes": dict(voice_config().phonemes),
        "pad": 0,
        "punctuation": "final",
        "source": {"kind": "teacher", "voice": "hibari-tts"},
    }
    corpus: Any = SimpleNamespace(info=SimpleNamespace(**{**described, **info}))
    return Trained(None, model, Recipe("tiny", task, TrainSettings(1, 1)), corpus, 1)


def tiny_voice(
    folder: Path, task: str = "mel", config: DeepVoice3Config = ACOUSTIC, *, seed: int = 0
) -> Voice:
    """A voice of Deep Voice 3 and the vocoder of a task, which may name a variant of it after a
    blank."""
    acoustic = trained("ma", deepvoice3(config, seed=seed))
    make_voice(acoustic, trained(task.split()[0], vocoder(task)), folder, name="tiny")
    return load_voice(folder)


CONFIGS = [
    replace(
        ACOUSTIC,
        clock=clock,
        own_windows=own,
        encoder_kernel=kernel,
        decoder_kernel=kernel,
        weight_norm=normed,
    )
    for (clock, own), (kernel, normed) in zip(
        itertools.product(("steps", "attended"), (True, False)),
        [(3, False), (5, True), (3, True), (3, False)],
        strict=True,
    )
]
"""One of each clock and kind of window."""
