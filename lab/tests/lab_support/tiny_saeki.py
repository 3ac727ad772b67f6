"""Tiny Tacotrons and students of context, with weights that int8 and float16 hold, exported as
trained ones are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from sayahead import Voice, load_voice
from torch import nn

from lab_support.tiny import trained, vocoder
from sayahead_lab.training.layers import ContextEmbeddingConfig
from sayahead_lab.training.saeki.network import Tacotron, TacotronConfig
from sayahead_lab.training.saeki.task import SaekiTask
from sayahead_lab.training.voice import make_voice

CONTEXT = ContextEmbeddingConfig(
    filters=(4, 4, 6), strides=(2, 1, 2), recurrent=12, tokens=4, heads=2, embedding=16
)
CONFIG = TacotronConfig(
    phonemes=178,
    reduction=3,
    embedding=24,
    kernel=3,
    prenet=(16, 16),
    prenet_dropout=0.0,
    attention_rnn=32,
    decoder_rnn=24,
    attention=12,
    location_filters=4,
    location_kernel=5,
    postnet=16,
    postnet_layers=3,
    taught=True,
    context=CONTEXT,
)


def tacotron(config: TacotronConfig = CONFIG, *, seed: int = 0) -> Tacotron:
    """Random weights, all on a grid, with statistics of normalization that are not the initial
    ones."""
    torch.manual_seed(seed)
    model = Tacotron(config).eval()
    model.mean.fill_(-4.0)
    model.std.fill_(1.5)
    shake(model)
    return model


def shake(model: nn.Module) -> None:
    """Give normalization something to do."""
    with torch.no_grad():
        for layer in model.modules():
            if isinstance(layer, nn.BatchNorm1d):
                for value, low, high in (
                    (layer.weight, 0.5, 1.5),
                    (layer.bias, -0.5, 0.5),
                    (layer.running_mean, -0.5, 0.5),
                    (layer.running_var, 0.5, 2.0),
                ):
                    assert value is not None
                    value.uniform_(low, high)


def tiny_saeki(folder: Path, config: TacotronConfig = CONFIG, *, past: int = 32) -> Voice:
    """A voice of a tiny Tacotron and a tiny mel vocoder."""
    task: Any = SaekiTask.__new__(SaekiTask)
    task.config = config
    task.data = SimpleNamespace(past=past)
    model: Any = SimpleNamespace(tacotron=tacotron(config))
    make_voice(
        replace(trained("saeki", model), task=task),
        trained("mel", vocoder("mel")),
        folder,
        name="tiny",
    )
    return load_voice(folder)


def ids(count: int, *, seed: int = 0) -> Any:
    """Ids of phonemes."""
    return np.random.default_rng(seed).integers(24, 150, count)
