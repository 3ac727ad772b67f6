"""The Tacotron of a voice, read back from its graphs: what a training begins with where there is no checkpoint.

The weights are those that the voice computes with: rounded to int8 or float16, normalizations folded into convolutions.
The contextual embedding network is not read: its style tokens are stored multiplied out.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import nn

from sayahead.errors import ConfigError
from sayahead.training.graph.reading import Constants, check_kind, put, put_step
from sayahead.training.graph.recurrent import LSTM_ORDER
from sayahead.training.layers import MaskedNorm
from sayahead.training.saeki.network import Tacotron, TacotronConfig
from sayahead.voices import installed_voices, read_config


def read_tacotron(voice: str, config: TacotronConfig) -> Tacotron:
    """The Tacotron of a voice, in eval mode, with a fresh contextual embedding network.

    ConfigError for a voice of another kind, and for a configuration with other sizes than the voice's.
    """
    folder = installed_voices().get(voice, Path(voice))
    check_kind(read_config(folder), "saeki")
    model = Tacotron(config).eval()
    readers = {"encoder": read_encoder, "memory": read_memory, "decoder": read_decoder, "postnet": read_postnet}
    with torch.no_grad():
        for name, read in readers.items():
            try:
                read(model, Constants(folder / f"{name}.onnx"))
            except (RuntimeError, ValueError, StopIteration) as error:
                raise ConfigError(f"[model] has other sizes than the {name} of the voice {voice}: {error}.") from error
    return model


def put_convolution(layer: nn.Module, norm: nn.Module, constants: Constants) -> None:
    """Set a convolution that has its normalization folded in, and the normalization to leave everything as it is."""
    assert isinstance(layer, nn.Conv1d)
    assert isinstance(norm, MaskedNorm)
    assert layer.bias is not None
    assert norm.norm.running_var is not None
    # The zeros at both ends.
    constants.next()
    constants.next()
    outputs, inputs, kernel = layer.weight.shape
    put(layer.weight, constants.next().T.reshape(outputs, kernel, inputs).transpose(0, 2, 1))
    put(layer.bias, constants.next())
    norm.norm.running_var.fill_(1 - norm.norm.eps)


def read_encoder(model: Tacotron, constants: Constants) -> None:
    """Embedding, convolutions, and the recurrent layers of both directions."""
    encoder = model.encoder
    put(encoder.embedding.weight, constants.next())
    for layer, norm in zip(encoder.convolutions, encoder.norms, strict=True):
        put_convolution(layer, norm, constants)
    inner, outer, biases = constants.next(), constants.next(), constants.next()
    for number, layer in enumerate((encoder.ahead, encoder.back)):
        bias_inner, bias_outer = np.split(biases[number], 2)
        parts = (inner[number], outer[number], bias_inner, bias_outer)
        for name, values in zip(("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"), parts, strict=True):
            gates = np.split(values, len(LSTM_ORDER))
            put(layer.get_parameter(name), np.concatenate([gates[LSTM_ORDER.index(at)] for at in range(len(gates))]))


def read_memory(model: Tacotron, constants: Constants) -> None:
    """The keys of attention."""
    put(model.decoder.key.weight, constants.next().T)


def read_decoder(model: Tacotron, constants: Constants) -> None:
    """Prenet, both recurrent layers, attention, and the outputs of frames and stops."""
    decoder = model.decoder
    for layer in decoder.prenet:
        assert isinstance(layer, nn.Linear)
        put(layer.weight, constants.next().T)
    put_step(decoder.attention_rnn, constants)
    # The export multiplies two matrices, of which the product has no more than the inner one's rank.
    left, scale, right = np.linalg.svd(constants.next().T, full_matrices=False)
    rank = decoder.place.out_features
    put(decoder.place.weight, right[:rank])
    put(decoder.placed.weight, left[:, :rank] * scale[:rank])
    put(decoder.query.weight, constants.next().T)
    put(decoder.energy.weight, constants.next().T)
    put_step(decoder.decoder_rnn, constants)
    weight, bias, frames = constants.next().T, constants.next(), decoder.frames.out_features
    for layer, part in ((decoder.frames, slice(frames)), (decoder.stop, slice(frames, None))):
        put(layer.weight, weight[part])
        put(layer.bias, bias[part])


def read_postnet(model: Tacotron, constants: Constants) -> None:
    """Convolutions, and the deviation and the mean of the mel bands."""
    for layer, norm in zip(model.postnet.convolutions, model.postnet.norms, strict=True):
        put_convolution(layer, norm, constants)
    put(model.std, constants.next())
    put(model.mean, constants.next())
