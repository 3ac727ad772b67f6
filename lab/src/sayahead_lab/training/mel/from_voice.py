"""The mel vocoder of a voice, read back from its graph (see ``graph.reading``): nodes in the order
of ``export``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from sayahead.errors import ConfigError
from torch import nn

from sayahead_lab.training.graph.reading import Constants, put, put_dense
from sayahead_lab.training.hibari import heart_head
from sayahead_lab.training.layers import Block
from sayahead_lab.training.mel.network import MelVocoderNetwork


def read_melvocoder(model: MelVocoderNetwork, folder: Path) -> None:
    """Set a model's weights to those of the voice in a folder, mean and deviation included.

    ConfigError where the model has other sizes than the voice's.
    """
    if not (folder / "vocoder.onnx").is_file():
        raise ConfigError(
            f"{folder} has no vocoder.onnx of its own: name the voice whose vocoder it borrows."
        )
    try:
        read(model, Constants(folder / "vocoder.onnx"))
    except (RuntimeError, ValueError, StopIteration) as error:
        raise ConfigError(
            f"[model] has other sizes than the vocoder of the voice {folder}: {error}."
        ) from error


@torch.no_grad()
def read(model: MelVocoderNetwork, constants: Constants) -> None:
    """Mean, deviation, and all layers; the last one only where it is trained, else it must be the
    default voice's."""
    put(model.mean, constants.next())
    put(model.std, constants.next())
    put_convolution(model.input, constants)
    front = model.config.front_blocks
    for number, block in enumerate((*model.front, *model.back)):
        assert isinstance(block, Block)
        if number == front:
            put(model.pitch.weight, constants.next().T)
            put(model.pitch.bias, constants.next())
            # Where voicing begins, and the pitch that others are relative to.
            constants.next()
            constants.next()
            put(model.join.weight, constants.next().T)
            put(model.join.bias, constants.next())
        put_convolution(block.dw, constants)
        put(block.norm.weight, constants.next())
        put(block.norm.bias, constants.next())
        put_dense(block.pw1, constants)
        put_dense(block.pw2, constants)
        put(block.gamma, constants.next())
    put(model.norm.weight, constants.next())
    put(model.norm.bias, constants.next())
    weight = constants.next()
    bias = constants.next()
    if model.config.own_head:
        put(model.head.weight, weight.T)
        put(model.head.bias, bias)
    elif not np.array_equal(weight, heart_head()[0]):
        raise ValueError("its last layer is its own, as with own_head = true")


def put_convolution(layer: nn.Conv1d, constants: Constants) -> None:
    """Set a convolution, as a layer of images of one line, or as earlier versions wrote it."""
    assert layer.bias is not None
    values = constants.next()
    if values.ndim == 2:
        # The zeros that stood for rows on the right.
        values = constants.next()
    put(layer.weight, values[:, :, 0] if values.ndim == 4 else values)
    put(layer.bias, constants.next())
