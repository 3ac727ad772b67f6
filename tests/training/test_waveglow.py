"""WaveGlow: the published size, that it is invertible, that its likelihood is one, a training step."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from support.lessons import lessons
from support.tiny import GLOWING, waveglow
from support.tones import Tones

from sayahead.errors import ConfigError
from sayahead.training.corpus.frontend import PRESETS
from sayahead.training.corpus.making import make_corpus
from sayahead.training.corpus.store import Corpus, Item
from sayahead.training.loop.recipe import load_recipe
from sayahead.training.waveglow.export import export, reach
from sayahead.training.waveglow.network import WaveGlow, WaveGlowConfig, negative_log_likelihood
from sayahead.training.waveglow.task import WaveGlowTask
from sayahead.vocoders.overlap import noise
from sayahead.vocoders.waveglow import load_waveglow

TINY = WaveGlowConfig(n_mels=3, hop=4, window=16, flows=5, group=4, early_every=2, early_size=1, layers=2, channels=6)


def tiny(*, seed: int = 0) -> WaveGlow:
    """A network whose couplings do something."""
    torch.manual_seed(seed)
    model = WaveGlow(replace(TINY, group=6, hop=6, early_size=2)).eval()
    for coupling in model.couplings:
        for weight in coupling.end.parameters():  # type: ignore[union-attr]
            torch.nn.init.normal_(weight, std=0.2)
    return model


def test_the_default_is_the_release_s_size() -> None:
    # 87,879,272: the parameters of the network with 256 channels that WaveGlow's authors released, at its own hop.
    with torch.device("meta"):
        model = WaveGlow(WaveGlowConfig(hop=256, window=1024))
    assert sum(weight.numel() for weight in model.parameters()) == 87_879_272


def test_sound_comes_back_from_its_noise() -> None:
    model, mel = tiny(), torch.randn(2, 5, 3)
    audio = torch.randn(2, 30)
    latent = model(audio, mel)
    assert latent.z.shape == (2, 6, 5)
    assert torch.allclose(model.infer(mel, latent.z), audio, atol=1e-4)
    other = model.infer(mel + 1, latent.z)
    assert (other - audio).abs().max() > 1e-2


def test_likelihood_counts_how_much_space_is_stretched() -> None:
    model, mel = tiny().double(), torch.randn(1, 2, 3).double()
    audio = torch.randn(1, 12).double()
    jacobian: torch.Tensor = torch.func.jacrev(lambda x: model(x, mel).z.flatten())(audio)[:, 0].detach()
    with torch.no_grad():
        latent = model(audio, mel)
    stretched = torch.linalg.slogdet(jacobian)[1]
    assert float((latent.log_scales + latent.log_determinants - stretched).abs()) < 1e-4
    expected = (latent.z.square().sum() / (2 * 0.25) - stretched) / 12
    assert float((negative_log_likelihood(latent, 0.5) - expected).abs()) < 1e-4


@pytest.mark.parametrize("group", [4, 8])
def test_the_graph_makes_the_samples_of_torch(group: int, tmp_path: Path) -> None:
    model = waveglow(replace(GLOWING, group=group))
    _, table = export(model, tmp_path)
    vocoder = load_waveglow(table, tmp_path, 1)
    mel = np.random.default_rng(0).normal(-4, 1, (9, 80)).astype(np.float32)
    found, _ = vocoder.step(mel, mel[:0], vocoder.initial(3), seed=5, ended=True)
    # Frames that do not make whole rows have the last one repeated.
    given = np.concatenate([mel, mel[-1:]]) if group == 8 else mel
    z = np.zeros(len(given) * 300, np.float32)
    z[: 9 * 300] = 0.6 * noise(5, 3 * 300, 9 * 300)
    rows = torch.from_numpy(z.reshape(1, -1, group)).transpose(1, 2)
    meant = model.infer(torch.from_numpy(given)[None], rows)[0].numpy()[: 9 * 300]
    assert np.abs(found - meant).max() < 1e-4 * np.abs(meant).max()


def test_steps_equal_the_whole_with_all_context_and_not_with_less(tmp_path: Path) -> None:
    _, table = export(waveglow(), tmp_path)
    mel = np.random.default_rng(0).normal(-4, 1, (30, 80)).astype(np.float32)

    def render(sizes: list[int], **changes: int) -> Any:
        vocoder, at, out = load_waveglow({**table, **changes}, tmp_path, 1), 0, []
        state = vocoder.initial(0)
        for size in sizes:
            samples, state = vocoder.step(
                mel[at : at + size], mel[at + size :], state, seed=1, ended=at + size == len(mel)
            )
            out.append(samples)
            at += size
        return np.concatenate(out)

    whole = render([30])
    assert np.abs(render([7, 1, 9, 13]) - whole).max() < 1e-4
    assert np.abs(render([7, 1, 9, 13], delta=0) - whole).max() > 1e-2


def test_reach_at_the_published_size_is_a_second() -> None:
    assert reach(WaveGlowConfig(hop=256, window=1024)) == (100, 96)


class Sounding(Tones):
    """Tones with sound: noise."""

    def open(self) -> Sounding:
        return self

    def items(self, name: str, text: str) -> tuple[list[Item], list[str]]:
        (item,), _ = super().items(name, text)
        audio = np.random.default_rng(0).integers(-9000, 9000, len(item.mel) * self.front_end.hop).astype(np.int16)
        return [replace(item, audio=audio)], []


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    path = tmp_path_factory.mktemp("sound")
    texts = [(str(i), "abc dab.") for i in range(4)]
    make_corpus(path, Sounding(PRESETS["saeki"]), {"train": texts, "val": texts[:1]}, shard_texts=8)
    return Corpus(path)


@pytest.mark.parametrize("preset", [pytest.param("paper", marks=pytest.mark.slow), "tiny"])
def test_a_training_step(preset: str, corpus: Corpus, tmp_path: Path) -> None:
    recipe = load_recipe(Path(__file__).parents[2] / "recipes" / "saeki" / "waveglow-paper.toml")
    sizes = dict(recipe.model) | ({} if preset == "paper" else {"channels": 4, "layers": 2})
    task = WaveGlowTask(sizes, {**recipe.data, "frames": 2, "samples": 1}, corpus)
    torch.manual_seed(0)
    model = task.model()
    batch = next(task.batches("train", batch_size=1, seed=0, rank=0, ranks=1))
    first, second = lessons(task, model, [batch] * 2, 1e-3)
    assert second["loss"] < first["loss"]
    if preset == "tiny":
        task.samples(model.eval(), tmp_path)
        assert len(list(tmp_path.glob("*.wav"))) == 1


def test_what_does_not_fit_is_named(corpus: Corpus) -> None:
    with pytest.raises(ConfigError, match="whole groups of 10"):
        WaveGlowTask({"hop": 256, "group": 10}, {"frames": 53}, corpus)
    with pytest.raises(ConfigError, match="hop of 256"):
        WaveGlowTask({}, {}, corpus)
