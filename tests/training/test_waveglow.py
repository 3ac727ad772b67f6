"""WaveGlow: the published size, that it is invertible, that its likelihood is one, a training step."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from support.tones import Tones

from sayahead.errors import ConfigError
from sayahead.training.corpus.making import make_corpus
from sayahead.training.corpus.store import Corpus, Item
from sayahead.training.loop.recipe import load_recipe
from sayahead.training.waveglow.network import WaveGlow, WaveGlowConfig, negative_log_likelihood
from sayahead.training.waveglow.task import WaveGlowTask

TINY = WaveGlowConfig(
    n_mels=3, hop=4, window=16, flows=5, group=4, early_every=2, early_size=1, layers=2, channels=6
)  # fmt: skip


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


class Sounding(Tones):
    """Tones with sound: noise."""

    def open(self) -> Sounding:
        return self

    def items(self, name: str, text: str) -> tuple[list[Item], list[str]]:
        (item,), _ = super().items(name, text)
        audio = np.random.default_rng(0).integers(-9000, 9000, len(item.mel) * 300).astype(np.int16)
        return [replace(item, audio=audio)], []


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    path = tmp_path_factory.mktemp("sound")
    texts = [(str(i), "abc dab.") for i in range(4)]
    make_corpus(path, Sounding(), {"train": texts, "val": texts[:1]}, shard_texts=8)
    return Corpus(path)


@pytest.mark.parametrize("preset", [pytest.param("paper", marks=pytest.mark.slow), "tiny"])
def test_a_training_step(preset: str, corpus: Corpus, tmp_path: Path) -> None:
    recipe = load_recipe(Path(__file__).parents[2] / "recipes" / "saeki" / "waveglow-paper.toml")
    sizes = dict(recipe.model) if preset == "paper" else {"channels": 4, "layers": 2}
    task = WaveGlowTask(sizes, {**recipe.data, "frames": 2, "samples": 1}, corpus)
    torch.manual_seed(0)
    model = task.model()
    batch = next(task.batches("train", batch_size=1, seed=0, rank=0, ranks=1))
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    losses = []
    for _ in range(2):
        loss, _ = task.loss(model, batch, 0)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        losses.append(float(loss.detach()))
    assert losses[1] < losses[0]
    if preset == "tiny":
        task.samples(model.eval(), tmp_path)
        assert len(list(tmp_path.glob("*.wav"))) == 1


def test_what_does_not_fit_is_named(corpus: Corpus) -> None:
    with pytest.raises(ConfigError, match="whole groups of 8"):
        WaveGlowTask({}, {"frames": 53}, corpus)
    with pytest.raises(ConfigError, match="hop of 300"):
        WaveGlowTask({"hop": 256}, {}, corpus)
