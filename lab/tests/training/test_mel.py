"""The mel vocoder: its graph says what the network says, step by step what it says as a whole."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from lab_support.tones import Hummed, tones_corpus
from sayahead.config import from_mapping
from sayahead.engine.onnx import OnnxGraph, count
from sayahead.errors import ConfigError
from sayahead.types import Floats
from sayahead.vocoders.mel import MelConfig
from sayahead.vocoders.mel import MelVocoder as Runtime
from sayahead.vocoders.sourcefilter import SourceFilter, noise_block

from sayahead_lab.training.graph.builder import quantized
from sayahead_lab.training.layers import Block
from sayahead_lab.training.mel.export import export
from sayahead_lab.training.mel.from_voice import read_melvocoder
from sayahead_lab.training.mel.network import PARTS, MelVocoderConfig, MelVocoderNetwork
from sayahead_lab.training.mel.sound import band_errors, excitation, sound_errors, synthesized
from sayahead_lab.training.mel.task import Head, MelVocoderTask, begin_with_heart

SMALL = MelVocoderConfig(front_blocks=1, blocks=3, right=(2, 1, 0, 1, 2))


@pytest.fixture(scope="module")
def network() -> MelVocoderNetwork:
    """Weights that int8 holds exactly, so that nothing but the graph can differ."""
    torch.manual_seed(1)
    model = MelVocoderNetwork(SMALL).eval()
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
def exported(
    network: MelVocoderNetwork, tmp_path_factory: pytest.TempPathFactory
) -> tuple[OnnxGraph, MelConfig]:
    (path,), about = export(network, tmp_path_factory.mktemp("voice"))
    return OnnxGraph(path, threads=1), from_mapping(MelConfig, about, where="vocoder")


def mel(frames: int) -> Floats:
    return np.random.default_rng(3).normal(-5, 2, (frames, 80)).astype(np.float32)


def test_graph_and_network_agree(
    network: MelVocoderNetwork, exported: tuple[OnnxGraph, MelConfig]
) -> None:
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
    vocoder = Runtime(*exported)
    frames = mel(60)
    nothing = np.zeros((0, 80), np.float32)
    whole, _ = vocoder.step(frames, nothing, vocoder.initial(0), seed=1, ended=True)
    state = vocoder.initial(0)
    made = []
    for first, end in ((0, 7), (7, 8), (8, 31), (31, 60)):
        samples, state = vocoder.step(
            frames[first:end], frames[end:], state, seed=1, ended=end == 60
        )
        made.append(samples)
    assert len(whole) == 60 * 300
    assert np.abs(np.concatenate(made) - whole).max() < 1e-4


def test_the_context_it_names_is_all_that_it_sees(exported: tuple[OnnxGraph, MelConfig]) -> None:
    vocoder = Runtime(*exported)
    frames = mel(40)
    other = frames.copy()
    other[20 + vocoder.context + 1 :] += 1
    both = [
        vocoder.step(x[:20], x[20:], vocoder.initial(0), seed=1, ended=False)[0]
        for x in (frames, other)
    ]
    assert np.array_equal(both[0], both[1])
    near = frames.copy()
    near[20:] += 1
    assert not np.array_equal(
        both[0], vocoder.step(near[:20], near[20:], vocoder.initial(0), seed=1, ended=False)[0]
    )


def test_the_default_voices_taps_stay_where_they_see(network: MelVocoderNetwork) -> None:
    from sayahead_lab.training.hibari import heart_weights

    weight = heart_weights()["m.dec.1.dw.weight"][:, 0]
    block = network.back[1]
    assert isinstance(block, Block)
    own = block.dw.weight.detach().numpy()[:, 0]
    # This block sees one frame on the right, theirs three: offsets -3 to 1 are theirs, those before
    # are new.
    assert np.array_equal(own[:, 2:], weight[:, :5])
    assert not own[:, :2].any()


def test_the_sound_that_is_learned_from_is_the_runtimes() -> None:
    draw = np.random.default_rng(5)
    frames = 20
    parts = draw.normal(-3, 1, (frames, PARTS)).astype(np.float32)
    f0 = np.where(np.arange(frames) % 7 < 5, 110 + 3 * np.arange(frames), 0).astype(np.float32)
    runtime = SourceFilter()
    whole, _ = runtime.step(parts, f0, runtime.initial(0), final=frames, seed=2, ended=True)
    # Pulses as of a pitch that was there before: the runtime's begin and end with the sentence.
    pulses = torch.from_numpy(excitation(f0, 0.0))
    noise = torch.from_numpy(noise_block(2, 0)[:frames].copy())
    made = synthesized(torch.from_numpy(parts)[None], pulses[None], noise[None])[0].numpy()
    unvoiced = synthesized(torch.from_numpy(parts)[None], 0 * pulses[None], noise[None])[0].numpy()
    silent, _ = runtime.step(parts, 0 * f0, runtime.initial(0), final=frames, seed=2, ended=True)
    assert np.abs(unvoiced - silent).max() < 1e-5
    # The phase at the first sample differs by the two hops before it, so the pulses are compared by
    # their power.
    power = ((made - unvoiced) ** 2).mean(), ((whole - silent) ** 2).mean()
    assert 0.8 < power[0] / power[1] < 1.25


def test_what_sounds_nearer_has_the_smaller_error() -> None:
    draw = torch.Generator().manual_seed(1)
    meant = torch.randn(2, 9000, generator=draw) * torch.hann_window(9000)
    errors = [sum(sound_errors(share * meant, meant).values()) for share in (1.0, 0.9, 0.5)]
    assert errors[0] == 0 < errors[1] < errors[2]


def test_a_vocoder_learns_from_sound_alone(tmp_path: Path) -> None:
    """Steps on a made-up speaker come nearer to the sound, and the written graph has the layer that
    was learned."""
    corpus = tones_corpus(tmp_path / "corpus", Hummed())
    sizes = {"front_blocks": 1, "blocks": 3, "right": [2, 1, 0, 1, 2], "own_head": True}
    task = MelVocoderTask(sizes, {"target": "sound", "frames": 24, "edge": 2}, corpus)
    torch.manual_seed(0)
    model = task.model()
    adam = torch.optim.Adam(model.parameters(), 1e-3)
    losses = []
    for _ in range(24):
        batch = next(task.batches("train", batch_size=4, seed=0, rank=0, ranks=1))
        loss, parts = task.loss(model, batch, 0)
        adam.zero_grad()
        torch.autograd.backward(loss)
        adam.step()
        losses.append(parts["convergence"] + parts["magnitudes"])
    assert losses[-1] < 0.75 * losses[0]
    (path,), about = export(model, tmp_path)
    frames = mel(30)
    with torch.no_grad():
        spectrum = model(torch.from_numpy(frames)[None])[0][0].numpy()
    heard = Runtime(OnnxGraph(path, threads=1), from_mapping(MelConfig, about, where="vocoder"))
    out = heard.graph(mel=frames, rows=count(30), commit=count(30), **initial(heard))
    assert np.abs(out["spectrum"] - spectrum).max() < 0.1
    again = MelVocoderNetwork(model.config)
    read_melvocoder(again, tmp_path)
    assert torch.allclose(again.head.weight, model.head.weight, atol=2e-2)
    with pytest.raises(ConfigError, match="own_head"):
        read_melvocoder(MelVocoderNetwork(replace(model.config, own_head=False)), tmp_path)


def initial(vocoder: Runtime) -> dict[str, Floats]:
    """The caches of a sentence's begin."""
    state = vocoder.initial(0)
    return {"input_cache": state.input_cache, "cache": state.cache}


@pytest.mark.parametrize(
    ("model", "data", "why"),
    [
        ({"own_head": True}, {}, "own_head is for"),
        ({}, {"target": "ear"}, "must be parameters or sound"),
    ],
)
def test_what_cannot_be_learned_is_refused(
    tmp_path: Path, model: dict[str, Any], data: dict[str, Any], why: str
) -> None:
    with pytest.raises(ConfigError, match=why):
        MelVocoderTask(model, data, tones_corpus(tmp_path / "corpus"))


def test_a_corpus_without_sound_is_refused(tmp_path: Path) -> None:
    task = MelVocoderTask({}, {"target": "sound"}, tones_corpus(tmp_path / "corpus"))
    with pytest.raises(ConfigError, match="without --no-audio"):
        next(task.batches("train", batch_size=2, seed=0, rank=0, ranks=1))


def test_bands_tell_levels_and_not_noise_from_other_noise() -> None:
    random = torch.Generator().manual_seed(0)
    one, other = (0.1 * torch.randn(2, 24000, generator=random) for _ in range(2))
    found = {name: float(errors(one, other)[name]) for name, errors in ERRORS.items()}
    # Bin by bin, another draw of the same noise is as far away as noise of half or twice the level.
    assert found["magnitudes"] > np.log(2)
    assert found["bands"] < 0.5 * np.log(2)
    assert float(band_errors(one, 2 * one)["bands"]) == pytest.approx(np.log(2), rel=1e-3)
    assert float(band_errors(one, one)["bands"]) == 0
    quiet = torch.zeros(2, 24000)
    assert float(band_errors(quiet, 1e-6 * one)["bands"]) == 0


ERRORS = {"bands": band_errors, "magnitudes": sound_errors}
