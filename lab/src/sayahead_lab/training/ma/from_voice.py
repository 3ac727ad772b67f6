"""The Deep Voice 3 of a voice, read back from its graphs (see ``graph.reading``): nodes in the
order of ``export``."""

from __future__ import annotations

from pathlib import Path

import torch
from sayahead.errors import ConfigError
from torch import nn

from sayahead_lab.training.graph.reading import Constants, put, put_dense
from sayahead_lab.training.layers import GatedBlock, PositionedAttention
from sayahead_lab.training.ma.network import DeepVoice3


@torch.no_grad()
def read_deepvoice3(model: DeepVoice3, folder: Path) -> None:
    """Set a model's weights to those of the voice in a folder; its mean and deviation stay those of
    its corpus.

    ConfigError where the model has other sizes than the voice's.
    """
    for name, read in (("encoder", read_encoder), ("decoder", read_decoder)):
        try:
            read(model, Constants(folder / f"{name}.onnx"))
        except (RuntimeError, ValueError, StopIteration) as error:
            raise ConfigError(
                f"[model] has other sizes than the {name} of the voice {folder}: {error}."
            ) from error


def read_encoder(model: DeepVoice3, constants: Constants) -> None:
    """Embedding and blocks, and what both attentions project of them."""
    encoder = model.encoder
    put(encoder.embedding.weight, constants.next())
    put_dense(encoder.inward, constants)
    for block in encoder.blocks:
        # The zeros at both ends.
        constants.next()
        constants.next()
        put_block(block, constants)
    put_dense(encoder.outward, constants)
    # Half of the variance, the rate of positions, and the sines' wave lengths.
    for _ in range(3):
        constants.next()
    for attention in model.decoder.attentions:
        assert isinstance(attention, PositionedAttention)
        put_dense(attention.key, constants)
        put_dense(attention.value, constants)


def read_decoder(model: DeepVoice3, constants: Constants) -> None:
    """Prenet, blocks, attentions, and the outputs of frames and stops."""
    decoder = model.decoder
    # The sines' wave lengths.
    constants.next()
    for layer in decoder.prenet:
        put_dense(layer, constants)
    for number, block in enumerate(decoder.blocks):
        put_block(block, constants)
        if number in (0, len(decoder.blocks) - 1):
            attention = decoder.attentions[min(number, 1)]
            assert isinstance(attention, PositionedAttention)
            put_dense(attention.query, constants)
            put_dense(attention.out, constants)
            constants.next()
    weight = constants.next().T
    bias = constants.next()
    frames = decoder.frames.out_features
    for layer, part in ((decoder.frames, slice(frames)), (decoder.stop, slice(frames, None))):
        put(layer.weight, weight[part])
        put(layer.bias, bias[part])


def put_block(block: nn.Module, constants: Constants) -> None:
    """Set a convolution block; half of the variance follows it."""
    assert isinstance(block, GatedBlock)
    put_dense(block.conv.dense, constants)
    constants.next()
