"""The Tacotron of a voice, read back from its graphs: what a training begins with where there is no checkpoint.

The weights are those that the voice computes with: rounded to int8 or float16, normalizations folded into convolutions.
Of style tokens, the graphs have the keys and values that attention makes of them: tokens and layers are chosen that
give the same.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from sayahead.errors import ConfigError
from sayahead.voices import located, read_config
from sayahead.voices.install.onnx.graph import Array
from torch import nn

from sayahead_lab.training.graph.reading import Constants, check_kind, put, put_step
from sayahead_lab.training.graph.recurrent import GRU_ORDER, LSTM_ORDER
from sayahead_lab.training.layers import MaskedNorm, TokenAttention
from sayahead_lab.training.saeki.network import Tacotron, TacotronConfig


def read_tacotron(voice: str, config: TacotronConfig, *, contextual: bool = True) -> Tacotron:
    """The Tacotron of a voice, in eval mode; its contextual embedding network is fresh, unless ``contextual``.

    ConfigError for a voice of another kind, and for a configuration with other sizes than the voice's.
    """
    folder = located(voice)
    check_kind(read_config(folder), "saeki")
    model = Tacotron(config).eval()
    readers = {"encoder": read_encoder, "memory": read_memory, "decoder": read_decoder, "postnet": read_postnet}
    if contextual:
        readers["context"] = read_context
    with torch.no_grad():
        for name, read in readers.items():
            try:
                read(model, Constants(folder / f"{name}.onnx"))
            except (RuntimeError, ValueError, StopIteration) as error:
                raise ConfigError(f"[model] has other sizes than the {name} of the voice {voice}: {error}.") from error
    return model


def put_convolution(layer: nn.Module, norm: nn.Module, constants: Constants) -> None:
    """Set a convolution that has its normalization folded in."""
    assert isinstance(layer, nn.Conv1d)
    # The zeros at both ends.
    constants.next()
    constants.next()
    outputs, inputs, kernel = layer.weight.shape
    weight = constants.next().T.reshape(outputs, kernel, inputs).transpose(0, 2, 1)
    put_folded(layer, norm, weight, constants.next())


def put_folded(layer: nn.Conv1d | nn.Conv2d, norm: nn.Module, weight: Array, bias: Array) -> None:
    """Set a convolution's weights and biases, and the normalization behind it to leave everything as it is."""
    assert isinstance(norm, MaskedNorm)
    assert layer.bias is not None
    assert norm.norm.running_var is not None
    put(layer.weight, weight)
    put(layer.bias, bias)
    norm.norm.running_var.fill_(1 - norm.norm.eps)


def put_gates(layer: nn.RNNBase, inner: Array, outer: Array, biases: Array, order: tuple[int, ...]) -> None:
    """Set a recurrent layer of weights (G H, D), (G H, H) and biases (2 G H,) whose gates are in ONNX's ``order``."""
    parts = (inner, outer, *np.split(biases, 2))
    for name, values in zip(("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"), parts, strict=True):
        gates = np.split(values, len(order))
        put(layer.get_parameter(name), np.concatenate([gates[order.index(at)] for at in range(len(gates))]))


def read_encoder(model: Tacotron, constants: Constants) -> None:
    """Embedding, convolutions, and the recurrent layers of both directions."""
    encoder = model.encoder
    put(encoder.embedding.weight, constants.next())
    for layer, norm in zip(encoder.convolutions, encoder.norms, strict=True):
        put_convolution(layer, norm, constants)
    inner, outer, biases = constants.next(), constants.next(), constants.next()
    for number, layer in enumerate((encoder.ahead, encoder.back)):
        put_gates(layer, inner[number], outer[number], biases[number], LSTM_ORDER)


def read_context(model: Tacotron, constants: Constants) -> None:
    """Convolutions and recurrent layer, which past and future have in common, and the attention to tokens."""
    reference = model.contextual.reference
    if (strides := tuple(step for step, _ in constants.strides[: len(reference.strides)])) != reference.strides:
        raise ValueError(f"strides {reference.strides} instead of {strides}")
    inner, outer = constants.next()[0], constants.next()[0]
    weights = [constants.next() for _ in reference.convolutions]
    for layer, norm, weight in zip(reference.convolutions, reference.norms, weights, strict=True):
        assert isinstance(layer, nn.Conv2d)
        put_folded(layer, norm, weight, constants.next())
    put_gates(reference.recurrent, inner, outer, constants.next()[0], GRU_ORDER)
    # The future uses the biases again.
    for _ in range(len(weights) + 1):
        constants.next()
    read_tokens(model.contextual.attention, constants)


def read_tokens(attention: TokenAttention, constants: Constants) -> None:
    """Queries, and tokens T with layers K, V of which keys (heads, D, N) and values (heads, N, D) are T K and T V."""
    put(attention.query.weight, constants.next().T)
    keys, values = constants.next(), constants.next()
    each = attention.embedding // attention.heads
    keys = keys.transpose(2, 0, 1).reshape(-1, attention.embedding) * math.sqrt(each)
    values = values.transpose(1, 0, 2).reshape(-1, attention.embedding)
    left, scale, right = np.linalg.svd(np.concatenate([keys, values], 1), full_matrices=False)
    rank = min(each, len(scale))
    tokens, layers = np.zeros((len(keys), each), np.float32), np.zeros((each, right.shape[1]), np.float32)
    # Tokens go through a tanh: half of what it can reach.
    tokens[:, :rank], layers[:rank] = left[:, :rank] / 2, 2 * scale[:rank, None] * right[:rank]
    put(attention.tokens, np.arctanh(tokens))
    put(attention.key.weight, layers[:, : attention.embedding].T)
    put(attention.value.weight, layers[:, attention.embedding :].T)


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
