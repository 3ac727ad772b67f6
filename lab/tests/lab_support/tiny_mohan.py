"""Tiny modified Tacotrons and agents, with weights that int8 and float16 hold, exported as trained
ones are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from sayahead import Voice, load_voice
from torch import Tensor, nn

from lab_support.tiny import trained, vocoder
from sayahead_lab.training.graph.builder import quantized
from sayahead_lab.training.loop.saved_run import Trained
from sayahead_lab.training.mohan.agent_network import LOOK_BACK, AgentNetwork, AgentNetworkConfig
from sayahead_lab.training.mohan.network import ModifiedTacotron, ModifiedTacotronConfig
from sayahead_lab.training.voice import make_voice

CONFIG = ModifiedTacotronConfig(
    n_mels=80,
    reduction=2,
    embedding=12,
    encoder=24,
    prenet=(16, 16),
    attention_rnn=20,
    decoder_rnn=28,
    attention=10,
    location_filters=4,
    location_kernel=5,
    window=(3, 6),
)


def on_grid(weight: Tensor) -> Tensor:
    """The nearest weights (N, K) that int8 holds with a scale for each row."""
    whole, scale = quantized(weight.detach().T.numpy())
    return torch.from_numpy((whole.astype(np.float32) * scale).T.copy())


@torch.no_grad()
def tacotron(config: ModifiedTacotronConfig = CONFIG, *, seed: int = 0) -> ModifiedTacotron:
    """Random weights on a grid, large enough that attention moves."""
    torch.manual_seed(seed)
    model = ModifiedTacotron(config).eval()
    model.mean.fill_(-4.0)
    model.std.fill_(1.5)
    model.embedding.weight.copy_(model.embedding.weight.half().float())
    for layer in model.modules():
        if isinstance(layer, nn.Linear):
            layer.weight.copy_(on_grid(2 * layer.weight))
        elif isinstance(layer, nn.LSTM | nn.LSTMCell):
            inner, outer = list(layer.parameters())[:2]
            both = on_grid(torch.cat([inner, outer], 1))
            inner.copy_(both[:, : inner.shape[1]])
            outer.copy_(both[:, inner.shape[1] :])
    return model


def tiny_agent(config: ModifiedTacotronConfig = CONFIG, *, seed: int = 0) -> Trained[Any, Any]:
    """The run of an agent that is of two minds."""
    torch.manual_seed(seed)
    agent = AgentNetwork(
        AgentNetworkConfig(recurrent=16, dense=8, baseline=8),
        config.encoder + LOOK_BACK + config.n_mels,
    )
    nn.init.normal_(agent.out.weight, std=3.0)
    return trained("mohan-agent", agent.eval())


def tiny_mohan(folder: Path, config: ModifiedTacotronConfig = CONFIG, *, seed: int = 0) -> Voice:
    """A voice of a tiny modified Tacotron, a tiny agent and a tiny mel vocoder."""
    acoustic = trained("mohan", tacotron(config, seed=seed))
    second = trained("mel", vocoder("mel"))
    make_voice(acoustic, second, folder, name="tiny", agent=tiny_agent(config, seed=seed))
    return load_voice(folder)
