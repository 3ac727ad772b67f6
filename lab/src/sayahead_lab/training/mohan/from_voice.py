"""The modified Tacotron 2 and the agent of a voice, read back from its graphs (see ``graph.reading``)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from sayahead.errors import ConfigError
from torch import nn

from sayahead_lab.training.graph.reading import Constants, put, put_dense, put_step
from sayahead_lab.training.mohan.agent_network import Agent
from sayahead_lab.training.mohan.network import ModifiedTacotron


@torch.no_grad()
def read_modified_tacotron(model: ModifiedTacotron, folder: Path, *, scaled: bool = False) -> None:
    """Set a model's weights to those of the voice in a folder, and if ``scaled``, its mean and deviation of the mel.

    ConfigError where the model has other sizes than the voice's.
    """
    readers = {"encoder": read_encoder, "ask": read_ask, "attend": read_attend, "make": read_make}
    for name, read in readers.items():
        try:
            read(model, constants := Constants(folder / f"{name}.onnx"))
        except (RuntimeError, ValueError, StopIteration) as error:
            raise ConfigError(f"[model] has other sizes than the graph {name} of {folder}: {error}.") from error
    if scaled:
        # The last graph has them behind its weights.
        put(model.std, constants.next())
        put(model.mean, constants.next())


@torch.no_grad()
def read_agent(agent: Agent, folder: Path) -> None:
    """Set an agent's weights to those of the voice in a folder, but for its baseline's, which a voice does not have.

    ConfigError where the voice has no agent, or one of other sizes.
    """
    if not (folder / "agent.onnx").is_file():
        raise ConfigError(f"The voice in {folder} has no agent.")
    constants = Constants(folder / "agent.onnx")
    inner, outer, inner_bias, outer_bias = agent.gru.all_weights[0]
    try:
        put(inner, constants.next().T / agent.factors.numpy())
        put(inner_bias, constants.next())
        put(outer, constants.next().T)
        put(outer_bias, constants.next())
        for layer in (agent.first, agent.second, agent.out):
            put_dense(layer, constants)
    except (RuntimeError, ValueError, StopIteration) as error:
        raise ConfigError(f"[model] has other sizes than the agent of {folder}: {error}.") from error


def read_encoder(model: ModifiedTacotron, constants: Constants) -> None:
    """Embedding, recurrent layer and the keys of attention."""
    put(model.embedding.weight, constants.next())
    put_step(model.encoder, constants)
    put(model.attention.key.weight, constants.next().T)


def read_ask(model: ModifiedTacotron, constants: Constants) -> None:
    """Prenet, first recurrent layer and the queries of attention."""
    for layer in model.prenet:
        assert isinstance(layer, nn.Linear)
        put(layer.weight, constants.next().T)
    put_step(model.attention.rnn, constants)
    put(model.attention.query.weight, constants.next().T)


def read_attend(model: ModifiedTacotron, constants: Constants) -> None:
    """The attention's location features, and its energies."""
    attention = model.attention
    # The export multiplies two matrices, of which the product has no more than the inner one's rank.
    left, scale, right = np.linalg.svd(constants.next().T, full_matrices=False)
    rank = attention.place.out_features
    put(attention.place.weight, right[:rank])
    put(attention.placed.weight, left[:, :rank] * scale[:rank])
    put(attention.energy.weight, constants.next().T)


def read_make(model: ModifiedTacotron, constants: Constants) -> None:
    """Second recurrent layer, and the outputs of frames and stops."""
    put_step(model.decoder, constants)
    weight, bias, frames = constants.next().T, constants.next(), model.frames.out_features
    for layer, part in ((model.frames, slice(frames)), (model.stop, slice(frames, None))):
        put(layer.weight, weight[part])
        put(layer.bias, bias[part])
