"""The mel vocoder: its graph says what the network says, step by step what it says as a whole."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from sayahead.config import from_mapping
from sayahead.engine.onnx import OnnxGraph, count
from sayahead.training.graph.builder import quantized
from sayahead.training.layers import Block
from sayahead.training.mel.export import export
from sayahead.training.mel.network import MelVocoder, MelVocoderConfig
from sayahead.training.mel.task import Head, begin_with_heart
from sayahead.types import Floats
from sayahead.vocoders.mel import MelConfig
from sayahead.vocoders.mel import MelVocoder as Runtime

SMALL = MelVocoderConfig(front_blocks=1, blocks=3, right=(2, 1, 0, 1, 2))


@pytest.fixture(scope="module")
def network() -> MelVocoder:
    """Weights that int8 holds exactly, so that nothing but the graph can differ."""
    torch.manual_seed(1)
    model = MelVocoder(SMALL).eval()
    begin_with_heart(model)
    model.mean.fill_(-5.0)
    model.std.fill_(2.0)
    with torch.no_grad():
        for block in [*model.front, *model.back]:
            assert isinstance(block, Block)
            for layer in (block.pw1, block.pw2):
                weight, scale = quantized(layer.weight.T.numpy())
                layer.weight.copy_(torch.from_numpy((weight.astype(np.float32) * scale).T.copy()))
    return model


@pytest.fixture(scope="module")
def exported(network: MelVocoder, tmp_path_factory: pytest.TempPathFactory) -> tuple[OnnxGraph, MelConfig]:
    (path,), about = export(network, tmp_path_factory.mktemp("voice"))
    return OnnxGraph(path, threads=1), from_mapping(MelConfig, about, where="vocoder")


def mel(frames: int) -> Floats:
    return np.random.default_rng(3).normal(-5, 2, (frames, 80)).astype(np.float32)


def test_graph_and_network_agree(network: MelVocoder, exported: tuple[OnnxGraph, MelConfig]) -> None:
    graph, model = exported
    frames = mel(40)
    rows, width, channels = model.caches
    out = graph(
        mel=frames,
        rows=count(40),
        commit=count(40),
        input_cache=np.zeros((rows, 80), np.float32),
        cache=np.zeros((width, channels), np.float32),
    )
    with torch.no_grad():
        features, log_pitch, voicing = network(torch.from_numpy(frames)[None])
        spectrum = Head()(features)[0].numpy()
    assert np.abs(out["spectrum"] - spectrum).max() < 2e-3
    voiced = voicing[0].numpy() > 0
    assert np.array_equal(out["f0"] > 0, voiced)
    assert np.allclose(out["f0"][voiced], 200 * np.exp(log_pitch[0].numpy()[voiced]), rtol=1e-4)


def test_steps_with_all_their_context_are_the_whole(exported: tuple[OnnxGraph, MelConfig]) -> None:
    vocoder, frames = Runtime(*exported), mel(60)
    nothing = np.zeros((0, 80), np.float32)
    whole, _ = vocoder.step(frames, nothing, vocoder.initial(0), seed=1, ended=True)
    state, made = vocoder.initial(0), []
    for first, end in ((0, 7), (7, 8), (8, 31), (31, 60)):
        samples, state = vocoder.step(frames[first:end], frames[end:], state, seed=1, ended=end == 60)
        made.append(samples)
    assert len(whole) == 60 * 300
    assert np.abs(np.concatenate(made) - whole).max() < 1e-4


def test_the_context_it_names_is_all_that_it_sees(exported: tuple[OnnxGraph, MelConfig]) -> None:
    vocoder, frames = Runtime(*exported), mel(40)
    other = frames.copy()
    other[20 + vocoder.context + 1 :] += 1
    both = [vocoder.step(x[:20], x[20:], vocoder.initial(0), seed=1, ended=False)[0] for x in (frames, other)]
    assert np.array_equal(both[0], both[1])
    near = frames.copy()
    near[20:] += 1
    assert not np.array_equal(both[0], vocoder.step(near[:20], near[20:], vocoder.initial(0), seed=1, ended=False)[0])


def test_the_default_voices_taps_stay_where_they_see(network: MelVocoder) -> None:
    from sayahead.training.hibari import heart_weights

    weight = heart_weights()["m.dec.1.dw.weight"][:, 0]
    block = network.back[1]
    assert isinstance(block, Block)
    own = block.dw.weight.detach().numpy()[:, 0]
    # This block sees one frame on the right, theirs three: offsets -3 to 1 are theirs, those before are new.
    assert np.array_equal(own[:, 2:], weight[:, :5])
    assert not own[:, :2].any()
