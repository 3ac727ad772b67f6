"""Deep Voice 3's graphs against torch, and that any network comes to an end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from lab_support import tiny
from sayahead.engine.onnx import OnnxGraph
from sayahead.systems.ma import AttentionAcoustic
from support.attention import (
    IDS,
    PLAIN,
    WORDS,
    Spy,
    exported,
    segment,
    word_by_word,
    words_are_the_sentence,
)

from sayahead_lab.training.ma.export import export
from sayahead_lab.training.ma.network import DeepVoice3, DeepVoice3Config, generate


def acoustic(model: DeepVoice3, folder: Path, **changes: Any) -> tuple[AttentionAcoustic, Spy, Spy]:
    """The run-time model with its two graphs, and entries of its table changed."""
    paths, about = export(model, folder, frame_s=0.0125)
    return exported(paths, {**about, **changes})


@pytest.mark.parametrize(
    "config", tiny.CONFIGS, ids=lambda c: f"{c.clock}-{c.own_windows}-{c.weight_norm}"
)
def test_a_step_of_the_graphs_is_a_step_of_torch(config: DeepVoice3Config, tmp_path: Path) -> None:
    model = tiny.deepvoice3(config)
    (encoder, decoder), _ = export(model, tmp_path, frame_s=0.0125)
    first = 7
    with torch.no_grad():
        keys, values = model.encode(torch.from_numpy(IDS))
        memory = OnnxGraph(encoder)(ids=IDS, places=np.arange(first, first + len(IDS)))
        past = model.initial()._replace(attended=torch.tensor([first, first]))
        graph = OnnxGraph(decoder)
        cache = np.zeros(
            (config.decoder_layers, (config.decoder_kernel - 1) * config.embedding), np.float32
        )
        previous = np.zeros((1, 4 * 80), np.float32)
        for _ in range(40):
            leads = [past.attended[i if config.own_windows else 0] for i in (0, 1)]
            stayed = [past.stayed[i if config.own_windows else 0] for i in (0, 1)]
            clocks = [past.number] * 2
            if config.clock == "attended":
                clocks = [a * config.key_rate + s for a, s in zip(leads, stayed, strict=True)]
            rows = [slice(int(a) - first, int(a) - first + config.window) for a in leads]
            out = graph(
                frames=previous,
                cache=cache,
                memory1=memory["memory1"][rows[0]],
                memory2=memory["memory2"][rows[1]],
                positions=np.array([[float(clock)] for clock in clocks], np.float32),
            )
            frames, stop, weights, past = model.step(past, keys, values, torch.tensor(first))
            assert np.abs(out["next_frames"][0] - frames.numpy()).max() < 1e-4
            assert (
                np.abs(out["mel"] - (frames.view(4, 80) * model.std + model.mean).numpy()).max()
                < 2e-4
            )
            assert abs(float(out["stop"][0, 0]) - float(stop)) < 1e-4
            for i in (0, 1):
                seen = out[f"weights{i + 1}"][0]
                assert np.abs(seen - weights[i][: len(seen)].numpy()).max() < 1e-4
            taken = past.caches.flatten(1).numpy()
            assert np.abs(out["next_cache"] - taken).max() < 1e-4
            previous = frames.numpy()[None]
            cache = taken
    assert int(past.attended[0]) > first


@pytest.mark.parametrize(
    "config", tiny.CONFIGS, ids=lambda c: f"{c.clock}-{c.own_windows}-{c.weight_norm}"
)
def test_a_whole_sentence_is_what_torch_speaks(config: DeepVoice3Config, tmp_path: Path) -> None:
    model = tiny.deepvoice3(config)
    runtime, _, _ = acoustic(model, tmp_path, longest=200)
    frames, _ = runtime.step(segment(0, len(WORDS)), runtime.initial(), PLAIN, hold_back=0)
    ids = torch.tensor([0, *IDS.tolist(), 0])
    mel, _ = generate(model, ids, stop=2.0, most=12)
    # Torch's own loop rests on a phoneme for as long as it likes, and stops elsewhere.
    same = min(len(mel), len(frames.final))
    assert same >= 40
    assert np.abs(frames.final[:same] - mel[:same].numpy()).max() < 1e-3


@pytest.mark.parametrize(
    "config", tiny.CONFIGS, ids=lambda c: f"{c.clock}-{c.own_windows}-{c.weight_norm}"
)
def test_words_that_see_enough_are_the_whole_sentence(
    config: DeepVoice3Config, tmp_path: Path
) -> None:
    model, encoder, _ = acoustic(tiny.deepvoice3(config), tmp_path)
    words_are_the_sentence(model, encoder)


@pytest.mark.parametrize("lookahead", [0, 1, None])
@pytest.mark.parametrize("seed", range(4))
def test_any_network_comes_to_an_end(seed: int, lookahead: int | None, tmp_path: Path) -> None:
    config = tiny.CONFIGS[seed]
    model = tiny.deepvoice3(config, seed=seed, scale=(0.0, 1.0, 5.0, 30.0)[seed])
    with torch.no_grad():
        model.decoder.stop.bias.fill_(-1e3 if seed % 2 else 1e3)
    runtime, _, decoder = acoustic(model, tmp_path, longest=6)
    made, states = word_by_word(runtime, lookahead)
    assert [frames.ended for frames in made] == [False] * 3 + [True]
    assert len(decoder.calls) <= 6 * (len(IDS) + 2) + 3 * len(WORDS)
    assert sum(len(frames.final) for frames in made) > 0
    assert states[-1].past.number == 0
