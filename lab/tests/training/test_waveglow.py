"""WaveGlow: the published size, that it is invertible, that its likelihood is one, a training step;
and in bands."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from lab_support.tiny import GLOWING, GLOWING_BANDS, trained, waveglow
from lab_support.tiny_training import lessons
from lab_support.tones import Hummed, Tones
from sayahead.errors import ConfigError
from sayahead.vocoders.overlap import noise
from sayahead.vocoders.waveglow import load_waveglow

from sayahead_lab.training.corpus.frontend import PRESETS
from sayahead_lab.training.corpus.making import make_corpus
from sayahead_lab.training.corpus.store import Corpus, Item
from sayahead_lab.training.loop.checkpoint import KEYS, save_checkpoint
from sayahead_lab.training.loop.recipe import load_recipe
from sayahead_lab.training.waveglow.export import PART, export
from sayahead_lab.training.waveglow.network import (
    Bands,
    WaveGlow,
    WaveGlowConfig,
    negative_log_likelihood,
)
from sayahead_lab.training.waveglow.task import WaveGlowTask

TINY = WaveGlowConfig(
    n_mels=3, hop=6, window=16, flows=5, group=6, early_every=2, early_size=2, layers=2, channels=6
)
RECIPES = Path(__file__).parents[2] / "recipes" / "saeki"


def tiny(*, seed: int = 0) -> WaveGlow:
    """A network whose couplings do something."""
    torch.manual_seed(seed)
    model = WaveGlow(TINY).eval()
    for coupling in model.flows.couplings:
        for weight in coupling.end.parameters():  # type: ignore[union-attr]
            torch.nn.init.normal_(weight, std=0.2)
    return model


def test_the_default_is_the_release_s_size() -> None:
    # 87,879,272: the parameters of the network with 256 channels that WaveGlow's authors released,
    # at its own hop.
    with torch.device("meta"):
        model = WaveGlow(WaveGlowConfig(hop=256, window=1024))
    assert sum(weight.numel() for weight in model.parameters()) == 87_879_272


def test_sound_comes_back_from_its_noise() -> None:
    model = tiny()
    mel = torch.randn(2, 5, 3)
    audio = torch.randn(2, 30)
    latent = model(audio, mel)
    assert latent.z.shape == (2, 6, 5)
    assert torch.allclose(model.infer(mel, latent.z), audio, atol=1e-4)
    other = model.infer(mel + 1, latent.z)
    assert (other - audio).abs().max() > 1e-2


def test_likelihood_counts_how_much_space_is_stretched() -> None:
    model = tiny().double()
    mel = torch.randn(1, 2, 3).double()
    audio = torch.randn(1, 12).double()
    jacobian: torch.Tensor = torch.func.jacrev(lambda x: model(x, mel).z.flatten())(audio)[
        :, 0
    ].detach()
    with torch.no_grad():
        latent = model(audio, mel)
    stretched = torch.linalg.slogdet(jacobian)[1]
    assert float((latent.log_scales + latent.log_determinants - stretched).abs()) < 1e-4
    expected = (latent.z.square().sum() / (2 * 0.25) - stretched) / 12
    assert float((negative_log_likelihood(latent, 0.5) - expected).abs()) < 1e-4


@pytest.mark.parametrize("group", [4, 8])
def test_the_graph_makes_the_samples_of_torch(group: int, tmp_path: Path) -> None:
    model = waveglow(replace(GLOWING, group=group))
    _, table = export(model, tmp_path, sample_rate=24000)
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


def test_the_graph_in_bands_makes_the_samples_of_torch(tmp_path: Path) -> None:
    model = waveglow(GLOWING_BANDS)
    paths, table = export(model, tmp_path, sample_rate=24000)
    assert [path.name for path in paths] == ["waveglow.onnx", "pitch.onnx"]
    vocoder = load_waveglow(table, tmp_path, 1)
    draw = np.random.default_rng(0)
    mel = draw.normal(-4, 1, (9, 80)).astype(np.float32)
    z, pulses = (draw.normal(size=(9, size)).astype(np.float32) for size in (300, 600))
    found = vocoder._render(np.hstack([mel, pulses]), z)
    rows = torch.from_numpy(0.6 * z).reshape(1, -1, 4).transpose(1, 2)
    train = torch.from_numpy(pulses).reshape(9, 2, 300).transpose(0, 1).reshape(1, 2, -1)
    meant = model.infer(torch.from_numpy(mel)[None], rows, train).reshape(9, 300).numpy()
    assert np.abs(found - meant).max() < 1e-4 * np.abs(meant).max()


@pytest.mark.parametrize("config", [GLOWING, GLOWING_BANDS], ids=["groups", "bands"])
def test_steps_equal_the_whole_with_all_context_and_not_with_less(
    config: WaveGlowConfig, tmp_path: Path
) -> None:
    model = waveglow(config)
    if isinstance(model.rows, Bands) and model.rows.conditioner.pitch is not None:
        # Voiced everywhere: a pulse that is off is heard.
        torch.nn.init.constant_(model.rows.conditioner.pitch.last.get_parameter("bias"), 0.5)
    _, table = export(model, tmp_path, sample_rate=24000)
    mel = np.random.default_rng(0).normal(-4, 1, (60, 80)).astype(np.float32)

    def render(sizes: list[int], **changes: int) -> Any:
        vocoder = load_waveglow({**table, **changes}, tmp_path, 1)
        at = 0
        out = []
        state = vocoder.initial(0)
        for size in sizes:
            samples, state = vocoder.step(
                mel[at : at + size], mel[at + size :], state, seed=1, ended=at + size == len(mel)
            )
            out.append(samples)
            at += size
        return np.concatenate(out)

    whole = render([60])
    largest = np.abs(whole).max()
    assert np.abs(render([17, 1, 19, 23]) - whole).max() < 1e-4 * largest
    assert np.abs(render([17, 1, 19, 23], delta=0) - whole).max() > 1e-2 * largest


def test_reach_at_the_published_size_is_a_second() -> None:
    assert WaveGlowConfig(hop=256, window=1024).reach == (100, 96)


class Sounding(Tones):
    """Tones with sound: noise."""

    def open(self) -> Sounding:
        return self

    def items(self, name: str, text: str) -> tuple[list[Item], list[str]]:
        (item,), _ = super().items(name, text)
        audio = (
            np.random.default_rng(0)
            .integers(-9000, 9000, len(item.mel) * self.front_end.hop)
            .astype(np.int16)
        )
        return [replace(item, audio=audio)], []


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    path = tmp_path_factory.mktemp("sound")
    texts = [(str(i), "abc dab.") for i in range(4)]
    make_corpus(path, Sounding(PRESETS["saeki"]), {"train": texts, "val": texts[:1]}, shard_texts=8)
    return Corpus(path)


@pytest.mark.parametrize("preset", [pytest.param("paper", marks=pytest.mark.slow), "tiny"])
def test_a_training_step(preset: str, corpus: Corpus, tmp_path: Path) -> None:
    recipe = load_recipe(RECIPES / "waveglow-paper.toml")
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


# In bands


def heard(model: WaveGlow, frames: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Sound, mel and pulses of so many frames, for a network in bands."""
    samples = frames * model.config.hop
    return torch.randn(1, samples), torch.randn(1, frames, 80) - 4, torch.randn(1, 2, samples)


@torch.no_grad()
def test_rows_in_bands_come_back_from_their_noise_and_hear_the_pulses() -> None:
    model = waveglow(GLOWING_BANDS)
    audio, mel, pulses = heard(model, 8)
    latent = model(audio, mel, pulses)
    assert latent.z.shape == (1, 4, 8 * 75)
    again = model(audio, mel, pulses, latent.z).rendered
    # The filter bank gives back what it has split, but for its edges.
    assert (again - audio)[:, 50:-50].abs().max() < 0.01
    assert torch.equal(again, model.infer(mel, latent.z, pulses))
    assert (model.infer(mel, latent.z, -pulses) - again).abs().max() > 1e-2


def test_the_first_guess_is_the_filtered_train_and_the_flows_add_to_it() -> None:
    model = WaveGlow(GLOWING_BANDS).eval()
    audio, mel, pulses = heard(model, 4)
    assert isinstance(model.rows, Bands)
    conditions = model.rows.conditions(mel, pulses)
    with torch.no_grad():
        # Untrained couplings change nothing: without noise there is the voice alone.
        silent = model.infer(mel, torch.zeros(1, 4, 300), pulses)
        voice = model.rows.conditioner.signal.join(model.rows.conditioner.expected(conditions), mel)
        latent = model(audio, mel, pulses)
        rows = model.rows.split(audio, mel, conditions)
    assert torch.allclose(silent, voice, atol=1e-6)
    assert torch.allclose(latent.z.square().sum(1), rows.square().sum(1), rtol=1e-3)


@pytest.fixture(scope="module")
def hummed(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    path = tmp_path_factory.mktemp("hummed")
    texts = [(str(i), "abc dab.") for i in range(4)]
    make_corpus(path, Hummed(PRESETS["ma"]), {"train": texts, "val": texts[:1]}, shard_texts=8)
    return Corpus(path)


def small(corpus: Corpus, **data: Any) -> WaveGlowTask:
    recipe = load_recipe(RECIPES / "waveglow-small.toml")
    sizes = {**recipe.model, "channels": 6, "layers": 2, "flows": 2}
    return WaveGlowTask(sizes, {**recipe.data, "frames": 12, **data}, corpus)


def test_a_training_step_in_bands_learns_all_that_is_weighed(
    hummed: Corpus, tmp_path: Path
) -> None:
    task = small(hummed, samples=1)
    torch.manual_seed(0)
    model = task.model()
    batch = next(task.batches("train", batch_size=2, seed=0, rank=0, ranks=1))
    first, *_, last = lessons(task, model, [batch] * 12, 3e-3)
    assert set(first) == {"nll", "pitch", "voicing", "log_frame", "loss"}
    assert all(last[name] < first[name] for name in first)
    weighed = (
        first["nll"] + first["pitch"] + first["voicing"] + task.data.log_frame * first["log_frame"]
    )
    assert first["loss"] == pytest.approx(weighed, rel=1e-5)
    task.samples(model.eval(), tmp_path)
    assert len(list(tmp_path.glob("*.wav"))) == 1


def test_spectra_are_rendered_where_they_are_weighed_alone(hummed: Corpus) -> None:
    task = small(hummed, log_frame=0.0)
    batch = next(task.batches("train", batch_size=1, seed=0, rank=0, ranks=1))
    _, parts = task.loss(task.model(), batch, 0)
    assert set(parts) == {"nll", "pitch", "voicing"}


def test_discriminators_hear_what_the_inverse_renders(hummed: Corpus) -> None:
    plain = small(hummed, log_frame=0.0)
    judged = small(hummed, log_frame=0.0, discriminators=2, alone=10)
    batch = next(plain.batches("train", batch_size=1, seed=0, rank=0, ranks=1))

    def taught(task: WaveGlowTask, step: int) -> torch.Tensor:
        torch.manual_seed(0)
        model = task.model()
        end = model.flows.couplings[0].get_parameter("end.bias")
        torch.manual_seed(0)
        return torch.autograd.grad(task.loss(model, batch, step)[0], end)[0]

    first = taught(judged, 10)
    later = taught(judged, 20)
    # They learn alone at first. What is rendered is drawn after the dither: the likelihood is the
    # same.
    assert torch.allclose(first, taught(plain, 10))
    assert not torch.allclose(later, first)
    with torch.no_grad():
        assert "told" not in judged.loss(judged.model(), batch, 20)[1]
    learned = plain.model().state_dict()
    fresh = judged.model().state_dict()
    assert set(judged.carried(learned, None, fresh)) == set(fresh)
    assert set(plain.carried(fresh, None, learned)) == set(learned)


def test_discriminators_begin_as_those_of_another_run(hummed: Corpus, tmp_path: Path) -> None:
    plain = small(hummed).model().state_dict()
    other = small(hummed, discriminators=2).model().state_dict()
    save_checkpoint(tmp_path, {**dict.fromkeys(KEYS), "format": 1, "model": other})
    task = small(hummed, discriminators=2, judged_by=str(tmp_path))
    begun = task.carried(plain, None, task.model().state_dict())
    assert all(
        torch.equal(begun[name], (other if "discriminators" in name else plain)[name])
        for name in begun
    )
    assert set(begun) == set(other)
    wider = small(hummed, discriminators=3, judged_by=str(tmp_path))
    with pytest.raises(ConfigError, match="has no such discriminators"):
        wider.carried(plain, None, wider.model().state_dict())


def test_dither_bounds_the_likelihood_of_silence(hummed: Corpus) -> None:
    batch = dict(next(small(hummed).batches("train", batch_size=1, seed=0, rank=0, ranks=1)))
    batch["audio"] = torch.zeros_like(batch["audio"])
    found = []
    for dither in (0.0, 0.1):
        task = small(hummed, dither=dither, log_frame=0.0)
        torch.manual_seed(0)
        model = task.model()
        assert isinstance(model.rows, Bands)
        assert model.rows.conditioner.voice is not None
        for weight in model.rows.conditioner.voice.parameters():
            torch.nn.init.zeros_(weight)
        with torch.no_grad():
            # Couplings do nothing yet: the noise is as large as the rows.
            found.append(task.loss(model, batch, 0)[1]["nll"] * 2 * task.data.deviation**2)
    assert found == pytest.approx([0.0, 0.01], abs=2e-3)


def test_the_temperature_of_the_recipe_is_the_voice_s(tmp_path: Path) -> None:
    run = trained("waveglow", waveglow(GLOWING_BANDS))
    assert PART.write(run, tmp_path)[1]["temperature"] == 0.6
    run = replace(run, recipe=replace(run.recipe, data={"temperature": 0.4}))
    assert PART.write(run, tmp_path)[1]["temperature"] == 0.4


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"group": 6}, "a group of 6: they must be the same"),
        ({"hop": 256}, "a hop of 300 and 4 bands, but"),
        ({"group": 5}, "A group of 5 is odd"),
        ({"early_size": 4}, "not more than the 4 channels"),
    ],
)
def test_sizes_that_do_not_go_together_are_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        replace(GLOWING_BANDS, **changes)


def test_what_does_not_fit_is_named(corpus: Corpus) -> None:
    with pytest.raises(ConfigError, match=r"wants a \[model.conditioner\]"):
        WaveGlowTask({"hop": 256}, {"dither": 0.1}, corpus)
    with pytest.raises(ConfigError, match="whole groups of 10"):
        WaveGlowTask({"hop": 256, "group": 10}, {"frames": 53}, corpus)
    with pytest.raises(ConfigError, match="hop of 256"):
        WaveGlowTask({}, {}, corpus)
