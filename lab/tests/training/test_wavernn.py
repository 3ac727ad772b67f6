"""WaveRNN: its size, that it sees no future, that the runtime draws as torch expects, streamed as
whole."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from lab_support.tiny_training import lessons
from lab_support.tones import Hummed, Tones
from sayahead.errors import ConfigError, VoiceError
from sayahead.types import Floats
from sayahead.vocoders.pulses import pitch_curve, pulse_train
from sayahead.vocoders.wavernn import WaveRNNVocoder, load_wavernn
from sayahead.vocoders.wavernn_bands import BandsVocoder
from torch import Tensor, nn

from sayahead_lab.training.corpus.making import make_corpus
from sayahead_lab.training.corpus.store import Corpus, Item
from sayahead_lab.training.loop.recipe import load_recipe
from sayahead_lab.training.wavernn.export import about, export, runtime
from sayahead_lab.training.wavernn.network import WaveRNN, WaveRNNConfig, decoded, encoded
from sayahead_lab.training.wavernn.task import WaveRNNTask

RECIPES = Path(__file__).parents[2] / "recipes" / "mohan"
TINY = WaveRNNConfig(
    n_mels=5, strides=(2, 3), left=2, right=1, blocks=2, channels=6, aux=8, rnn=10, dense=9, bits=5
)
BANDED = replace(TINY, strides=(3, 5), bands=4, past=3, pitch=6)
RATE = 24_000
BOTH = pytest.mark.parametrize("config", [TINY, BANDED], ids=["samples", "bands"])


def tiny(config: WaveRNNConfig = TINY) -> WaveRNN:
    """Random weights, sharp enough that mel matters, with statistics that are not those at the
    start."""
    torch.manual_seed(0)
    model = WaveRNN(config).eval()
    model.conditions.mean.fill_(-2.0)
    model.conditions.std.fill_(1.5)
    with torch.no_grad():
        for layer in model.modules():
            if isinstance(layer, nn.BatchNorm1d):
                assert layer.running_mean is not None
                assert layer.running_var is not None
                layer.running_mean.uniform_(-0.5, 0.5)
                layer.running_var.uniform_(0.5, 2.0)
        for kernel in model.conditions.kernels:
            kernel += 0.1 * torch.rand_like(kernel)
        model.output.weight.mul_(8 if model.guide is None else 1)
        if model.guide is not None:
            model.guide.signal.level.uniform_(0, 0.1)
            # Voiced half of the time, at any pitch.
            model.guide.pitch.last.weight.mul_(3)
            model.guide.pitch.last.get_parameter("bias").zero_()
            for weight in model.parameters():
                weight.copy_(weight.half().float())
    return model


def banded(folder: Path, **changed: float) -> tuple[WaveRNN, BandsVocoder]:
    """A network in bands, with weights that float16 holds, and its runtime; ``changed`` are entries
    of BandsModel."""
    model = tiny(BANDED)
    _, table = export(model, folder, sample_rate=RATE)
    table["bands"] |= changed
    vocoder = load_wavernn(table, folder, 1)
    assert isinstance(vocoder, BandsVocoder)
    return model, vocoder


def mel(frames: int, *, seed: int = 1) -> torch.Tensor:
    return (
        torch.randn(1, frames, TINY.n_mels, generator=torch.Generator().manual_seed(seed)) * 2 - 2
    )


def test_the_paper_preset_has_the_size_counted_by_hand() -> None:
    recipe = load_recipe(RECIPES / "wavernn-paper.toml")
    config = WaveRNNConfig(**{**recipe.model, "strides": tuple(recipe.model["strides"])})
    with torch.device("meta"):
        model = WaveRNN(config)
    residual = 128 * 128 * 5 + 2 * 128 + 10 * 2 * (128 * 128 + 128 + 2 * 128) + 128 * 128 + 128
    smoothing = 9 + 17 + 17
    gates = 3 * 512 * (512 + 512 + 2)
    layers = (
        (1 + 128 + 32 + 1) * 512 + 2 * gates + 3 * 512 * 32 + 2 * (512 + 32 + 1) * 512 + 513 * 512
    )
    assert config == WaveRNNConfig()
    assert (
        sum(weight.numel() for weight in model.parameters())
        == residual + smoothing + layers
        == 4_538_795
    )


def test_mu_law_goes_there_and_back() -> None:
    values = torch.arange(512)
    assert torch.equal(encoded(decoded(values, 512), 512), values)
    x = torch.linspace(-1, 1, 1001)
    assert (decoded(encoded(x, 512), 512) - x).abs().max() < 0.013
    assert encoded(torch.tensor([-1.0, 0.0, 1.0]), 256).tolist() == [0, 128, 255]


def test_a_sample_sees_no_later_one_and_few_frames() -> None:
    model = tiny()
    given = mel(9)
    before = torch.rand(1, 54) * 2 - 1
    with torch.no_grad():
        whole = model(before, given)
        changed = before.clone()
        changed[0, 20:] = 0.5
        assert torch.equal(model(changed, given)[0, :20], whole[0, :20])
        assert not torch.equal(model(changed, given)[0, 20], whole[0, 20])
        seen = about(model)
        for ahead, same in ((seen.right, False), (seen.right + 1, True)):
            other = given.clone()
            other[0, 4 + ahead :] += 1
            until = slice(4 * TINY.hop, 5 * TINY.hop)
            assert torch.equal(model(before, other)[0, until], whole[0, until]) is same


def test_the_runtime_draws_from_what_torch_expects() -> None:
    model = tiny()
    given = mel(7)
    vocoder = runtime(model)
    made, _ = vocoder.step(
        given[0].numpy(), given[0, :0].numpy(), vocoder.initial(3), seed=11, ended=True
    )
    before = torch.from_numpy(np.concatenate([[0.0], made[:-1]]).astype(np.float32))[None]
    with torch.no_grad():
        below = model(before, given)[0].softmax(-1).cumsum(-1).numpy()
    classes = encoded(torch.from_numpy(made), TINY.classes).numpy()
    drawn = np.concatenate(
        [np.random.default_rng([11, 3 + at]).random(TINY.hop) for at in range(7)]
    )
    rows = np.arange(len(made))
    low = np.where(classes > 0, below[rows, np.maximum(classes - 1, 0)], 0)
    assert (drawn >= low - 1e-4).all()
    assert (drawn <= below[rows, classes] + 1e-4).all()
    assert len(set(classes.tolist())) > 5


def test_a_step_of_bands_sees_no_later_one_and_its_conditions_change_it() -> None:
    model = tiny(BANDED)
    given = mel(6)
    before = torch.randn(1, 90, 4)
    pulses = torch.randn(1, 2, 6 * BANDED.hop)
    changed = before.clone()
    changed[0, 40:] += 1
    with torch.no_grad():
        mean, deviation, _ = model(before, given, pulses)
        other, other_deviation, _ = model(changed, given, pulses)
        unpulsed, _, _ = model(before, given, torch.zeros_like(pulses))
    assert mean.shape == deviation.shape == before.shape
    assert torch.equal(mean[0, :40], other[0, :40])
    assert torch.equal(deviation[0, :40], other_deviation[0, :40])
    assert not torch.equal(mean[0, 40], other[0, 40])
    assert (unpulsed - mean).abs().min(-1).values.max() > 1e-3


@torch.no_grad()
def spoken(
    model: WaveRNN, given: Tensor, noise: Floats, *, voiced: float, temperature: float
) -> Floats:
    """Samples (T * hop,) of log mel (1, T, n_mels) as torch has them, whose steps are drawn with
    noise (S, bands)."""
    assert model.guide is not None
    hertz = model.guide.pitch.hertz(model.conditions.normalized(given))[0].numpy()
    assert set((hertz > 0).tolist()) == {True, False}
    curve = pitch_curve(hertz, None, hop=BANDED.hop)
    pulses = torch.from_numpy(pulse_train(np.cumsum(curve, dtype=np.float64) / RATE, curve))[None]
    normal = torch.from_numpy(noise)[None]
    nothing = torch.zeros(1, 0, BANDED.bands)
    x = model.drawn(
        nothing, given, pulses, normal, voiced=voiced, temperature=temperature, memory=0
    )
    samples: Floats = model.guide.signal.join(x.transpose(1, 2), given)[0].numpy()
    return samples


@pytest.mark.parametrize(("voiced", "temperature"), [(1.0, 1.0), (0.5, 1.0), (0.7, 0.0)])
def test_the_runtime_draws_bands_as_torch_does(
    voiced: float, temperature: float, tmp_path: Path
) -> None:
    model, vocoder = banded(tmp_path, voiced=voiced, temperature=temperature)
    given = mel(9, seed=4)
    made, _ = vocoder.step(
        given[0].numpy(), given[0, :0].numpy(), vocoder.initial(3), seed=11, ended=True
    )
    shape = (BANDED.steps, BANDED.bands)
    draws = [
        np.random.default_rng([11, 3 + at]).standard_normal(shape, dtype=np.float32)
        for at in range(9)
    ]
    meant = spoken(model, given, np.concatenate(draws), voiced=voiced, temperature=temperature)
    assert len(made) == 9 * BANDED.hop
    assert np.abs(made - meant).max() < 1e-4 * np.abs(meant).max()


def test_what_is_drawn_is_what_is_expected_and_teaches_through_as_much_of_the_past_as_is_asked() -> (  # noqa: E501
    None
):
    model = tiny(BANDED)
    given = mel(4)
    pulses = torch.randn(1, 2, 4 * BANDED.hop)
    noise = torch.randn(1, 60, BANDED.bands)
    known = torch.randn(1, 10, BANDED.bands, requires_grad=True)

    def drawn(memory: int) -> Tensor:
        return model.drawn(known, given, pulses, noise, voiced=0.5, temperature=1.0, memory=memory)

    own = drawn(0)
    mean, log_deviation, _ = model(nn.functional.pad(own, (0, 0, 1, 0))[:, :-1], given, pulses)
    meant = mean + 0.5 * log_deviation.exp() * noise
    assert torch.equal(own[:, :10], known)
    assert torch.allclose(own[:, 10:], meant[:, 10:], atol=1e-5)
    for memory, at, reaches in ((0, 59, True), (12, 11, True), (12, 12, False)):
        made = drawn(memory)
        assert torch.equal(made, own)
        (slope,) = torch.autograd.grad(made[0, at].sum(), known, allow_unused=True)
        assert (slope is not None and bool(slope.abs().max() > 0)) is reaches, (memory, at)


def test_a_temperature_below_zero_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="bands: voiced"):
        banded(tmp_path, voiced=-1.0)


def test_bands_want_frames_of_many_steps() -> None:
    with pytest.raises(ValueError, match="at least 14"):
        WaveRNN(replace(BANDED, strides=(13,)))


@BOTH
@pytest.mark.parametrize("cuts", [[1, 2, 4], [5], [1] * 14, [3, 4]])
def test_streamed_is_as_whole_to_the_bit(
    config: WaveRNNConfig, cuts: list[int], tmp_path: Path
) -> None:
    vocoder: Any = runtime(tiny()) if config is TINY else banded(tmp_path)[1]
    given = mel(sum(cuts))[0].numpy()
    nothing = given[:0]
    whole, ended = vocoder.step(given, nothing, vocoder.initial(0), seed=2, ended=True)
    state = vocoder.initial(0)
    parts = []
    at = 0
    for cut in cuts:
        right = given[at + cut : at + cut + vocoder.context]
        made, after = vocoder.step(
            given[at : at + cut], right, state, seed=2, ended=at + cut == len(given)
        )
        again, _ = vocoder.step(
            given[at : at + cut], right, state, seed=2, ended=at + cut == len(given)
        )
        assert np.array_equal(made, again)
        parts.append(made)
        state = after
        at = at + cut
    assert np.array_equal(np.concatenate(parts), whole)
    assert np.array_equal(state.second_gru, ended.second_gru)
    assert len(whole) == len(given) * vocoder.hop_length
    other, _ = vocoder.step(given, nothing, vocoder.initial(0), seed=3, ended=True)
    assert not np.array_equal(other, whole)


def test_a_folder_has_what_is_needed(tmp_path: Path) -> None:
    model = tiny()
    (path,), table = export(model, tmp_path, sample_rate=RATE)
    assert path == tmp_path / "wavernn.npz"
    vocoder = load_wavernn(table, tmp_path, 1)
    given = mel(3)[0].numpy()
    assert isinstance(vocoder, WaveRNNVocoder)
    made, _ = vocoder.step(given, given[:0], vocoder.initial(0), seed=0, ended=True)
    assert made.shape == (18,)
    path.write_bytes(b"no archive")
    with pytest.raises(VoiceError, match="cannot be read"):
        load_wavernn(table, tmp_path, 1)


class Hum(Tones):
    """The tones' corpus, with a sound that the mel tells the loudness of."""

    def items(self, name: str, text: str) -> tuple[list[Item], list[str]]:
        (item,), left = super().items(name, text)
        loud = np.repeat(np.clip(item.mel[:, 0].astype(np.float64), -2, 2) + 2.5, 300)
        audio = (3000 * loud * np.sin(np.arange(len(loud)) / 7)).astype(np.int16)
        return [
            Item(
                item.name, item.text, item.ids, item.words, item.durations, item.f0, item.mel, audio
            )
        ], left


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    folder = tmp_path_factory.mktemp("hum") / "corpus"
    texts = [(str(number), "ab cd.") for number in range(6)]
    make_corpus(folder, Hum(), {"train": texts[:4], "val": texts[4:]})
    return Corpus(folder)


@pytest.fixture(scope="module")
def hummed(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    folder = tmp_path_factory.mktemp("hummed") / "corpus"
    texts = [(str(number), "ab cd.") for number in range(6)]
    make_corpus(folder, Hummed(), {"train": texts[:4], "val": texts[4:]})
    return Corpus(folder)


@pytest.mark.parametrize(
    ("steps", "left"), [(3, 0.97), pytest.param(12, 0.85, marks=pytest.mark.slow)]
)
def test_the_task_learns_and_says_what_does_not_fit(
    corpus: Corpus, tmp_path: Path, steps: int, left: float
) -> None:
    sizes: dict[str, Any] = {
        "n_mels": 80,
        "strides": [5, 6, 10],
        "blocks": 3,
        "channels": 8,
        "aux": 8,
        "rnn": 16,
    }
    task = WaveRNNTask({**sizes, "dense": 16, "bits": 6}, {"sample_frames": 2}, corpus)
    torch.manual_seed(0)
    model = task.model()
    batch = next(task.batches("train", batch_size=2, seed=0, rank=0, ranks=1))
    losses = [parts["nll"] for parts in lessons(task, model.train(), [batch] * steps, 1e-2)]
    assert losses[0] == pytest.approx(np.log(64), rel=0.15)
    assert losses[-1] < left * losses[0]
    task.samples(model.eval(), tmp_path)
    assert len(list(tmp_path.glob("*.wav"))) == 1
    with pytest.raises(ConfigError, match="a hop of 256"):
        WaveRNNTask({"n_mels": 80}, {}, corpus)
    with pytest.raises(ConfigError, match="at least 8 more"):
        WaveRNNTask(sizes, {"frames": 9}, corpus)


def test_the_small_recipe_learns_likelihood_and_pitch(hummed: Corpus, tmp_path: Path) -> None:
    small = load_recipe(RECIPES / "wavernn-small.toml")
    sizes = {**small.model, "rnn": 24, "dense": 16, "channels": 8, "aux": 8, "pitch": 8}
    task = WaveRNNTask(sizes, {**small.data, "frames": 12, "sample_frames": 2}, hummed)
    torch.manual_seed(0)
    model = task.model()
    assert model.guide is not None
    assert model.guide.signal.level.max() > 0
    batch = next(task.batches("train", batch_size=4, seed=0, rank=0, ranks=1))
    losses = lessons(task, model.train(), [batch] * 12, 1e-2)
    for name in ("nll", "pitch", "voicing"):
        assert losses[-1][name] < losses[0][name] - 0.05, name
    task.samples(model.eval(), tmp_path)
    assert len(list(tmp_path.glob("*.wav"))) == 1


@pytest.mark.slow
def test_the_judged_recipe_learns_from_what_it_draws(hummed: Corpus, tmp_path: Path) -> None:
    judged = load_recipe(RECIPES / "wavernn-judged.toml")
    sizes = {**judged.model, "rnn": 24, "dense": 16, "channels": 8, "aux": 8, "pitch": 8}
    data = {
        **judged.data,
        "frames": 18,
        "discriminators": 2,
        "alone": 0,
        "sample_frames": 2,
        "judged_by": "",
    }
    task = WaveRNNTask(sizes, data, hummed)
    torch.manual_seed(0)
    model = task.model()
    batch = next(task.batches("train", batch_size=2, seed=0, rank=0, ranks=1))
    losses = lessons(task, model.train(), [batch] * 8, 1e-2)
    assert losses[-1]["log_frame"] < 0.9 * losses[0]["log_frame"]
    assert {"told", "taken", "features"} <= losses[0].keys()
    task.samples(model.eval(), tmp_path)
    with pytest.raises(ConfigError, match="taken"):
        WaveRNNTask(sizes, {**data, "taken": -1.0}, hummed)


@pytest.mark.slow
def test_the_paper_preset_takes_a_training_step() -> None:
    torch.manual_seed(0)
    model = WaveRNN(WaveRNNConfig())
    audio = torch.rand(1, 2 * 256) * 2 - 1
    logits = model(audio, torch.randn(1, 2, 128))
    loss = torch.nn.functional.cross_entropy(logits.transpose(1, 2), encoded(audio, 512))
    loss.backward()  # type: ignore[no-untyped-call]
    assert all(
        weight.grad is not None and bool(weight.grad.isfinite().all())
        for weight in model.parameters()
    )
    assert loss.item() == pytest.approx(np.log(512), rel=0.05)
