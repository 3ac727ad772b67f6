"""ClariNet's vocoder: teacher, student, their losses, tasks, recipes and graphs."""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from lab_support.tiny import trained
from sayahead.config import from_mapping
from sayahead.errors import ConfigError
from sayahead.types import Floats
from sayahead.vocoders.clarinet import load_clarinet
from sayahead.vocoders.pulses import pitch_curve, pulse_train
from torch import Tensor, nn

from sayahead_lab.training.clarinet.conditioner import Conditioner, ConditionerConfig
from sayahead_lab.training.clarinet.data import level_weights
from sayahead_lab.training.clarinet.export import PART, export
from sayahead_lab.training.clarinet.network import GaussianIAF, IAFConfig, iaf_reach
from sayahead_lab.training.clarinet.signal import FilterBank, Signal
from sayahead_lab.training.clarinet.task import (
    ClariNetTask,
    frame_loss,
    gaussian_divergence,
    log_frame_loss,
)
from sayahead_lab.training.clarinet.teacher import WaveNetTask
from sayahead_lab.training.clarinet.wavenet import (
    Sampler,
    Stack,
    WaveNet,
    WaveNetConfig,
    log_likelihood,
)
from sayahead_lab.training.corpus.frontend import MelFrontEnd
from sayahead_lab.training.corpus.making import make_corpus
from sayahead_lab.training.corpus.store import About, Corpus, Item
from sayahead_lab.training.crops import locked_pulses
from sayahead_lab.training.loop.task import Task

RECIPES = Path(__file__).parents[2] / "recipes" / "ma"
TINY = ConditionerConfig(
    n_mels=6, channels=4, strides=(3, 5), bands=2, level=True, pulses=True, pitch=8
)
PLAIN = ConditionerConfig(n_mels=6, strides=(5, 6))
CONDITIONERS = pytest.mark.parametrize(
    "conditioner", [TINY, PLAIN], ids=["bands and pulses", "plain"]
)


@pytest.fixture(autouse=True)
def seeded() -> None:
    torch.manual_seed(0)


def recipe(name: str) -> dict[str, Any]:
    return tomllib.loads((RECIPES / f"{name}.toml").read_text(encoding="utf-8"))


def teacher(conditioner: ConditionerConfig) -> WaveNet:
    return WaveNet(
        WaveNetConfig(layers=5, cycle=3, kernel=2, residual=6, skip=7, conditioner=conditioner)
    ).eval()


def student(conditioner: ConditionerConfig) -> GaussianIAF:
    config = IAFConfig(
        flows=(2, 3), cycle=2, kernel=3, residual=6, skip=5, begin=-1.0, conditioner=conditioner
    )
    model = GaussianIAF(config).eval()
    if conditioner.level:
        torch.nn.init.uniform_(model.conditioner.signal.level)
    with torch.no_grad():
        # A fresh student hardly listens; these tests want one that does.
        for flow in model.each:
            flow.output.weight.mul_(20)
    return model


def given(conditioner: ConditionerConfig, frames: int) -> tuple[Tensor, Tensor, Tensor]:
    """x, mel and pulses of so many frames."""
    x = torch.randn(1, conditioner.bands, frames * conditioner.steps)
    return (
        x,
        torch.randn(1, frames, conditioner.n_mels),
        torch.randn(1, 2, frames * conditioner.hop),
    )


def parameters(module: nn.Module) -> int:
    return sum(weight.numel() for weight in module.parameters())


# The signal in bands


@pytest.mark.parametrize("bands", [1, 2, 4, 5])
def test_splitting_and_joining_is_nothing_done(bands: int) -> None:
    bank = FilterBank(bands)
    x = torch.randn(2, 1200)
    y = bank.split(x)
    assert y.shape == (2, bands, 1200 // bands)
    inside = slice(100, -100)
    assert (bank.join(y) - x)[:, inside].abs().max() < 0.005
    assert abs(float(y.var()) - 1) < 0.1


def test_bands_hold_their_own_frequencies() -> None:
    time = torch.arange(4800) / 24000
    tones = torch.stack(
        [torch.sin(2 * torch.pi * (1500 + 3000 * band) * time) for band in range(4)]
    )
    power = FilterBank(4).split(tones)[..., 50:-50].square().mean(-1)
    assert (power / power.sum(-1, keepdim=True)).diagonal().min() > 0.999


def test_noise_is_of_one_size_relative_to_its_level() -> None:
    """Colored noise of any loudness becomes white noise of power 1."""
    front = MelFrontEnd()
    bands = 12
    signal = Signal(80, bands, 25, relative=True)
    signal.level.copy_(torch.from_numpy(level_weights(front, bands)))
    draw = np.random.default_rng(0)
    noise = draw.standard_normal(24000)
    samples = (np.convolve(noise, [1, 0.9, 0.5], "same") * np.repeat([0.001, 0.1], 12000)).astype(
        np.float32
    )
    audio = torch.from_numpy(samples)[None]
    mel = torch.from_numpy(front.log_mel(samples))[None]
    x = signal.split(audio, mel)
    for part in (x[0, :, 100:900], x[0, :, 1100:1900]):
        power = part.square().mean(-1)
        assert float(power.min()) > 0.7
        assert float(power.max()) < 1.6
    assert (signal.join(x, mel) - audio)[:, 100:-100].abs().max() < 0.005


# The teacher


@CONDITIONERS
def test_no_later_step_changes_an_earlier_one(conditioner: ConditionerConfig) -> None:
    model = teacher(conditioner)
    (x, mel, pulses) = given(conditioner, 6)
    changed = x.clone()
    at = x.shape[-1] // 2
    changed[..., at] += 1
    with torch.no_grad():
        (mean, deviation, _) = model(x, mel, pulses)
        (other, other_deviation, _) = model(changed, mel, pulses)
    assert torch.equal(mean[..., : at + 1], other[..., : at + 1])
    assert torch.equal(deviation[..., : at + 1], other_deviation[..., : at + 1])
    assert not torch.equal(mean[..., at + 1], other[..., at + 1])


def test_the_past_that_is_seen_is_as_long_as_said() -> None:
    model = teacher(PLAIN)
    (x, mel, _) = given(PLAIN, 6)
    past = model.stack.past
    at = 100
    assert past == 1 + (1 + 2 + 4) + (1 + 2)
    for distance, same in ((past, False), (past + 1, True)):
        changed = x.clone()
        changed[..., at - distance] += 1
        with torch.no_grad():
            assert torch.equal(model(x, mel)[0][..., at], model(changed, mel)[0][..., at]) == same


@CONDITIONERS
def test_sampling_step_by_step_is_what_the_teacher_says_of_it(
    conditioner: ConditionerConfig,
) -> None:
    model = teacher(conditioner)
    (_, mel, pulses) = given(conditioner, 4)
    sampler = Sampler(model, floor=-0.5)
    floor = -0.5
    with torch.no_grad():
        conditions = np.ascontiguousarray(model.conditioner(mel, pulses)[0].T.numpy())
        z = (
            np.random.default_rng(0)
            .standard_normal((len(conditions), conditioner.bands))
            .astype(np.float32)
        )
        made, _ = sampler.step(conditions, z, sampler.initial())
        x = torch.from_numpy(made.T.copy())[None]
        mean, deviation, _ = model(x, mel, pulses)
    again = mean + deviation.clamp(min=floor).exp() * torch.from_numpy(z.T.copy())[None]
    assert (again - x).abs().max() < 1e-4
    assert x.std() > 0.3


def test_a_sampler_goes_on_where_it_was_and_its_states_stay_good() -> None:
    model = teacher(TINY)
    (_, mel, pulses) = given(TINY, 3)
    sampler = Sampler(model, floor=-9)
    with torch.no_grad():
        conditions = np.ascontiguousarray(model.conditioner(mel, pulses)[0].T.numpy())
    z = np.random.default_rng(0).standard_normal((len(conditions), TINY.bands)).astype(np.float32)
    whole, _ = sampler.step(conditions, z, sampler.initial())
    begun, state = sampler.step(conditions[:17], z[:17], sampler.initial())
    for _ in range(2):
        rest, _ = sampler.step(conditions[17:], z[17:], state)
        assert np.array_equal(np.concatenate([begun, rest]), whole)


def test_likelihood_is_the_gaussian_s_and_has_a_floor() -> None:
    x, mean, deviation = torch.randn(3, 50)
    normal: Any = torch.distributions.Normal(mean, deviation.exp())
    truth = normal.log_prob(x)
    assert torch.allclose(log_likelihood(x, mean, deviation, floor=-9.0), truth, atol=1e-5)
    zero = torch.zeros(1)
    assert float(log_likelihood(zero, zero, zero - 50, floor=-9.0)) == pytest.approx(
        9 - 0.5 * math.log(2 * math.pi)
    )


# The student


@CONDITIONERS
def test_composed_mean_and_deviation_are_the_flows_one_after_another(
    conditioner: ConditionerConfig,
) -> None:
    model = student(conditioner)
    (z, mel, pulses) = given(conditioner, 4)
    with torch.no_grad():
        x, mean, deviation = model(z, mel, pulses)
        conditions = model.conditioner(mel, pulses)
        y = z
        for flow in model.each:
            m, s = flow(y, conditions)
            y = y * s.exp() + m
        y = y + model.conditioner.expected(conditions)
    assert torch.allclose(x, y, atol=1e-5)
    assert torch.allclose(mean + deviation.exp() * z, x, atol=1e-4)


def test_mean_and_deviation_depend_on_earlier_noise_alone() -> None:
    model = student(TINY)
    (z, mel, pulses) = given(TINY, 4)
    changed = z.clone()
    changed[..., 30:] = torch.randn(1, 2, z.shape[-1] - 30)
    with torch.no_grad():
        (_, mean, deviation) = model(z, mel, pulses)
        (_, other, other_deviation) = model(changed, mel, pulses)
    assert torch.equal(mean[..., :31], other[..., :31])
    assert torch.equal(deviation[..., :31], other_deviation[..., :31])
    assert not torch.equal(mean[..., 31], other[..., 31])


def test_the_noise_can_be_read_back_from_the_sound() -> None:
    """Step by step, as a flow in the other direction: what was drawn is found again."""
    model = student(PLAIN)
    (z, mel, _) = given(PLAIN, 1)
    with torch.no_grad():
        x, _, _ = model(z, mel)
        found = torch.zeros_like(z)
        for step in range(z.shape[-1]):
            _, mean, deviation = model(found, mel)
            found[..., step] = ((x - mean) * torch.exp(-deviation))[..., step]
    assert (found - z).abs().max() < 1e-3


# What is compared


def test_divergence_in_closed_form_is_that_of_samples() -> None:
    mean, deviation, their_mean, their_deviation = (torch.tensor(v) for v in (0.3, -0.7, -0.2, 0.1))
    closed = gaussian_divergence(mean, deviation, their_mean, their_deviation)
    q: Any = torch.distributions.Normal(mean, deviation.exp())
    p: Any = torch.distributions.Normal(their_mean, their_deviation.exp())
    x = q.sample((200_000,))
    assert float(closed) == pytest.approx(float((q.log_prob(x) - p.log_prob(x)).mean()), rel=0.02)
    assert float(closed) == pytest.approx(float(torch.distributions.kl_divergence(q, p)), rel=1e-5)
    assert float(gaussian_divergence(mean, deviation, mean, deviation)) == 0


def test_spectral_losses_know_loudness_and_have_a_slope_at_silence() -> None:
    x = torch.randn(2, 4800) * 0.1
    sizes = {"window": 1200, "hop": 300}
    assert float(frame_loss(x, x, **sizes)) == float(log_frame_loss(x, x)) == 0
    # White noise of deviation 0.1 under a Hann window: power 0.01 * 1200 * 3 / 8 a bin. Half as
    # loud: a quarter.
    assert float(frame_loss(0.5 * x, x, **sizes)) == pytest.approx(0.25 * 0.01 * 450, rel=0.1)
    # Far above its floor.
    assert float(log_frame_loss(50 * x, 100 * x)) == pytest.approx(math.log(2), rel=0.01)
    silence = torch.zeros(1, 4800, requires_grad=True)
    (frame_loss(silence, x[:1], **sizes) + log_frame_loss(silence, x[:1])).backward()  # type: ignore[no-untyped-call]
    assert silence.grad is not None
    assert bool(silence.grad.isfinite().all())


# Pulses


def test_pulses_come_at_the_pitch_with_unit_power() -> None:
    f0 = np.full(80, 200, np.float32)
    f0[40:] = 0
    curve = pitch_curve(f0, None, hop=300)
    train, quadrature = pulse_train(np.cumsum(curve, dtype=np.float64) / 24000, curve)
    assert np.mean(train[:11000] ** 2) == pytest.approx(1, rel=0.05)
    assert np.mean(quadrature[:11000] ** 2) == pytest.approx(1, rel=0.05)
    # An analytic signal: no power at negative frequencies.
    both = np.abs(np.fft.fft((train + 1j * quadrature)[:10800])) ** 2
    assert both[5401:].sum() < 1e-3 * both[:5400].sum()
    peaks = np.flatnonzero(train[:11000] > 0.9 * train.max())
    assert np.all(np.diff(peaks) >= 119)
    assert len(peaks) == pytest.approx(11000 / 120, abs=2)
    assert not np.any(train[12000:])


def test_pitch_is_held_where_voice_begins_and_ends() -> None:
    curve = pitch_curve(np.array([0, 0, 100, 140, 0], np.float32), None, hop=4)
    held = [40] * 8 + [100, 100, 105, 115, 125, 135, 140, 140] + [40] * 4
    assert curve.tolist() == pytest.approx(held)


def test_pulses_in_steps_are_those_of_the_whole() -> None:
    f0 = np.linspace(90, 300, 20).astype(np.float32)
    whole = pitch_curve(f0, None, hop=300)
    parts = [pitch_curve(f0[:8], None, hop=300)[:2100], pitch_curve(f0[7:], float(f0[6]), hop=300)]
    assert np.allclose(np.concatenate(parts), whole, rtol=1e-6)


def test_pulses_for_training_have_the_sound_s_phase() -> None:
    f0 = np.array([0] * 5 + [150] * 20 + [0] * 5 + [220] * 20, np.float32)
    curve = pitch_curve(f0, None, hop=300)
    turns = np.cumsum(curve, dtype=np.float64) / 24000
    shift = np.repeat([0.1] * 28 + [0.6] * 22, 300)
    sound = (np.cos(2 * np.pi * (turns + shift)) * (curve > 41)).astype(np.float32)
    train, _ = locked_pulses(f0, sound, 24000)
    for first, end in ((2000, 7000), (9500, 14500)):
        own = train[first:end] * np.exp(-2j * np.pi * (turns + shift)[first:end])
        assert abs(np.angle(own.sum())) < 0.05


# Recipes


def dilations(stack: Stack, kernel: int) -> list[int]:
    assert all(layer.conv.kernel_size == (kernel,) for layer in stack.each)
    return [int(layer.conv.dilation[0]) for layer in stack.each]


def test_the_paper_s_student_has_the_paper_s_layers() -> None:
    """Ma et al. 5.1: flows of [10, 10, 10, 30] layers, 64 residual and skip channels, filter 3."""
    config = from_mapping(IAFConfig, recipe("clarinet-paper")["model"], where="[model]")
    model = GaussianIAF(config)
    cycle = [2**i for i in range(10)]
    assert [dilations(flow, 3) for flow in model.each] == [cycle, cycle, cycle, 3 * cycle]
    for flow in model.each:
        for number, layer in enumerate(flow.each, 1):
            last = number == len(flow.each)
            assert parameters(layer) == 64 * 128 * 3 + 128 + 80 * 128 + 128 + 65 * (
                64 if last else 128
            )
    assert parameters(model) == 2_604_764
    # 4 x 1023 x 2 + 2 x 2 x 1023 x 2 + 4 samples of the past are 40.9 frames, and one frame more of
    # mel.
    assert iaf_reach(config) == (42, 1)


def test_the_paper_s_teacher_has_twenty_layers() -> None:
    """Ma et al. 5.1 and ClariNet: two cycles of ten, 128 channels."""
    config = from_mapping(WaveNetConfig, recipe("wavenet-paper")["model"], where="[model]")
    model = WaveNet(config)
    assert dilations(model.stack, 2) == 2 * [2**i for i in range(10)]
    assert model.stack.past == 2047
    assert parameters(model) == 2_771_542


def test_a_stack_of_published_size_has_its_published_parameters() -> None:
    """The laboratory's Gaussian WaveNet of 30 layers and 128 channels has 4.57 M (Kong et al. 2021,
    Table 1)."""
    stack = Stack(30, 10, 3, 128, 128, 80, 1)
    assert parameters(stack) == 4_570_114


# Tasks


@dataclass(frozen=True)
class Spec:
    """Items of two gliding tones and silence."""

    front_end: MelFrontEnd = field(default_factory=MelFrontEnd)

    def about(self) -> About:
        return About(self.front_end, {"a": 1}, 0, {"kind": "tones"}, "all", seed=0)

    def open(self) -> Spec:
        return self

    def items(self, name: str, text: str) -> tuple[list[Item], list[str]]:
        f0 = np.concatenate(
            [np.zeros(4), np.linspace(120, 180, 20), np.zeros(4), np.linspace(220, 150, 16)]
        )
        curve = pitch_curve(f0.astype(np.float32), None, hop=300)
        train = pulse_train(np.cumsum(curve, dtype=np.float64) / 24000, curve)
        pcm = np.clip(train[0] * 2000, -30000, 30000).astype(np.int16)
        mel = self.front_end.log_mel(pcm.astype(np.float32) / np.float32(32767))
        ids = np.array([1], np.int16)
        words = np.array([[0, 1]], np.int16)
        durations = np.array([4, 36, 4], np.int16)
        item = Item(
            name, text, ids, words, durations, f0.astype(np.float16), mel.astype(np.float16), pcm
        )
        return [item], []


@pytest.fixture(scope="module")
def tones(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    path = tmp_path_factory.mktemp("tones")
    make_corpus(
        path,
        Spec(),
        {split: [(f"{split}{i}", "a") for i in range(4)] for split in ("train", "val")},
    )
    return Corpus(path)


def one_step(task: Task[Any], batch_size: int = 2) -> float:
    """A training step: the loss afterwards on the same batch less the loss before."""
    model = task.model()
    batch = next(task.batches("train", batch_size=batch_size, seed=1, rank=0, ranks=1))
    optimizer = torch.optim.Adam(
        [weight for weight in model.parameters() if weight.requires_grad], 1e-4
    )

    def loss() -> Tensor:
        torch.manual_seed(1)
        return task.loss(model, batch, 0)[0]

    before = loss()
    before.backward()  # type: ignore[no-untyped-call]
    for name, weight in model.named_parameters():
        assert not weight.requires_grad or weight.grad is not None, (
            f"{name} has no part in the loss"
        )
    optimizer.step()
    with torch.no_grad():
        return float(loss() - before)


def with_data(name: str, **data: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    read = recipe(name)
    return read["model"], read["data"] | data


@pytest.mark.parametrize(
    "name", ["wavenet-small", pytest.param("wavenet-paper", marks=pytest.mark.slow)]
)
def test_a_step_of_the_teacher(name: str, tones: Corpus) -> None:
    model, data = with_data(name, frames=8, edge=0)
    assert one_step(WaveNetTask(model, data, tones), 1) < 0


def test_the_temperature_of_the_recipe_is_the_voice_s(tmp_path: Path) -> None:
    run = trained("clarinet", student(TINY))
    assert PART.write(run, tmp_path)[1]["temperature"] == 1
    run = replace(
        run, recipe=replace(run.recipe, data={"teacher": "runs/wavenet", "temperature": 0.6})
    )
    assert PART.write(run, tmp_path)[1]["temperature"] == 0.6


@pytest.mark.parametrize("size", ["small", pytest.param("paper", marks=pytest.mark.slow)])
def test_a_step_of_the_student(size: str, tones: Corpus, tmp_path: Path) -> None:
    taught = WaveNetTask(*with_data(f"wavenet-{size}", frames=8, edge=0), tones).model()
    task = ClariNetTask(
        *with_data(f"clarinet-{size}", frames=8, edge=0, teacher=str(tmp_path)), tones
    )
    task.__dict__["teacher"] = taught.requires_grad_(False)
    assert one_step(task, 1) < 0


def test_discriminators_hear_what_the_student_makes(tones: Corpus, tmp_path: Path) -> None:
    taught = (
        WaveNetTask(*with_data("wavenet-small", frames=16, edge=0), tones)
        .model()
        .requires_grad_(False)
    )

    def prepared(**data: Any) -> ClariNetTask:
        told = {"frames": 16, "edge": 4, "teacher": str(tmp_path), **data}
        task = ClariNetTask(*with_data("clarinet-small", **told), tones)
        task.__dict__["teacher"] = taught
        return task

    plain = prepared()
    judged = prepared(discriminators=2, alone=10)
    batch = next(plain.batches("train", batch_size=1, seed=1, rank=0, ranks=1))

    def slope(task: ClariNetTask, step: int) -> Tensor:
        torch.manual_seed(0)
        model = task.model()
        torch.manual_seed(0)
        return torch.autograd.grad(
            task.loss(model, batch, step)[0], model.each[0].get_parameter("output.bias")
        )[0]

    first = slope(judged, 10)
    later = slope(judged, 20)
    assert torch.allclose(first, slope(plain, 10))
    assert not torch.allclose(later, first)
    learned = plain.model().state_dict()
    fresh = judged.model().state_dict()
    assert set(judged.carried(learned, None, fresh)) == set(fresh)
    with pytest.raises(ConfigError, match="at least 0"):
        prepared(taken=-1.0)


def test_what_does_not_fit_is_named(tones: Corpus, tmp_path: Path) -> None:
    model, data = with_data("clarinet-small", teacher=str(tmp_path / "no"))
    conditioner = model["conditioner"]
    with pytest.raises(ConfigError, match=r"a hop of 300 samples, but .* a hop of 320"):
        ClariNetTask(model | {"conditioner": conditioner | {"strides": [4, 4]}}, data, tones)
    with pytest.raises(ConfigError, match=r"80 mel bands .* takes 40 bands"):
        WaveNetTask({"conditioner": {"n_mels": 40}}, {}, tones)
    with pytest.raises(ConfigError, match=r"\[data\] frames is 9"):
        WaveNetTask({}, {"frames": 9, "edge": 2}, tones)
    with pytest.raises(ConfigError, match=r"unknown key 'flow'.*did you mean 'flows'"):
        ClariNetTask({"flow": [1]}, data, tones)
    task = ClariNetTask(model, data, tones)
    batch = next(task.batches("train", batch_size=1, seed=1, rank=0, ranks=1))
    with pytest.raises(ConfigError, match="no has no checkpoint"):
        task.loss(task.model(), batch, 0)


def test_a_pass_gives_each_rank_its_own_crops(tones: Corpus) -> None:
    task = WaveNetTask({}, {"frames": 10, "edge": 2}, tones)
    seen = [
        [
            (int(i), float(mel.sum()))
            for b in task.batches("train", batch_size=2, seed=3, rank=rank, ranks=2)
            for i, mel in zip(b["items"], b["mel"], strict=True)
        ]
        for rank in (0, 1)
    ]
    assert len(seen[0]) == len(seen[1]) > 4
    assert not set(seen[0]) & set(seen[1])


@pytest.mark.parametrize("kind", ["wavenet", "clarinet"])
def test_validation_samples_are_written(kind: str, tones: Corpus, tmp_path: Path) -> None:
    made = recipe(f"{kind}-small")
    folder = tmp_path / "made"
    model = made["model"]
    small = {"residual": 4, "skip": 4}
    if kind == "wavenet":
        task: Any = WaveNetTask(model | small | {"layers": 2}, {"sample_frames": 5}, tones)
    else:
        task = ClariNetTask(
            model | small | {"flows": [2]}, {"teacher": str(tmp_path / "no")}, tones
        )
    task.samples(task.model().eval(), folder)
    assert sorted(path.suffix for path in folder.iterdir()) == [".png", ".png", ".wav", ".wav"]


# At run time


def whole_and_steps(vocoder: Any, mel: Floats, sizes: list[int]) -> tuple[Floats, Floats]:
    """A sentence at once, and in steps of so many frames with all that follows in sight."""
    whole, _ = vocoder.step(mel, mel[:0], vocoder.initial(7), seed=1, ended=True)
    state = vocoder.initial(7)
    at = 0
    out = []
    for size in sizes:
        final = mel[at : at + size]
        right = mel[at + size :]
        at += size
        samples, state = vocoder.step(final, right, state, seed=1, ended=at == len(mel))
        out.append(samples)
    return whole, np.concatenate(out)


@CONDITIONERS
def test_graphs_say_what_torch_says_and_stream_exactly(
    conditioner: ConditionerConfig, tmp_path: Path
) -> None:
    model = student(conditioner)
    if model.conditioner.pitch is not None:
        torch.nn.init.constant_(model.conditioner.pitch.last.get_parameter("bias"), 0.5)
    paths, about = export(model, tmp_path, sample_rate=24000)
    assert [path.name for path in paths] == ["student.onnx", "pitch.onnx"][
        : 1 + bool(conditioner.pulses)
    ]
    vocoder = load_clarinet(about, tmp_path, threads=1)
    mel = np.random.default_rng(0).standard_normal((37, conditioner.n_mels)).astype(np.float32)

    z = np.random.default_rng(1).standard_normal((37, conditioner.hop)).astype(np.float32)
    train = np.random.default_rng(2).standard_normal((37, 2 * conditioner.hop)).astype(np.float32)
    said = vocoder._render(np.hstack([mel, train]) if conditioner.pulses else mel, z)
    with torch.no_grad():
        noise = torch.from_numpy(z).reshape(1, -1, conditioner.bands).transpose(1, 2)
        pulses = torch.from_numpy(train).reshape(37, 2, -1).transpose(0, 1).reshape(1, 2, -1)
        x, _, _ = model(noise, torch.from_numpy(mel)[None], pulses)
        meant = (
            model.conditioner.signal.join(x, torch.from_numpy(mel)[None]).reshape(37, -1).numpy()
        )
    assert np.abs(said - meant).max() < 1e-4 * np.abs(meant).max()

    if vocoder._pulses is not None:
        # A pitch that is off by a bit in windows of another length shifts the pulses more and more.
        hertz = vocoder._pulses.hertz(mel)
        parts = [
            vocoder._pulses.hertz(mel[max(0, at - 6) : at + 3])[min(at, 6)] for at in range(35)
        ]
        assert np.array_equal(hertz[:35], parts)
        assert len(set(parts)) > 10
    for sizes in ([37], [20, 17], [1] * 37, [15, 0, 22]):
        whole, steps = whole_and_steps(vocoder, mel, sizes)
        assert np.abs(whole - steps).max() < 1e-4 * np.abs(whole).max()


def test_a_smaller_delta_is_heard(tmp_path: Path) -> None:
    _, about = export(student(PLAIN), tmp_path, sample_rate=24000)
    mel = np.random.default_rng(0).standard_normal((30, PLAIN.n_mels)).astype(np.float32)
    vocoder = load_clarinet(about | {"delta": 0}, tmp_path, threads=1)
    whole, steps = whole_and_steps(vocoder, mel, [15, 15])
    assert np.abs(whole - steps)[: 15 * PLAIN.hop].max() < 1e-4
    assert np.abs(whole - steps)[15 * PLAIN.hop :].max() > 1e-3


def test_an_incremental_inference_of_the_paper_s_student_and_teacher() -> None:
    from sayahead.vocoders.overlap import OverlapVocoder

    from sayahead_lab.training.clarinet.network import EndToEndClariNet

    model = EndToEndClariNet(
        GaussianIAF(from_mapping(IAFConfig, recipe("clarinet-paper")["model"], where="[model]"))
    ).eval()

    @torch.no_grad()
    def render(mel: Floats, z: Floats) -> Floats:
        samples: Floats = model(torch.from_numpy(mel), torch.from_numpy(z)).numpy()
        return samples

    vocoder = OverlapVocoder(render, hop_length=300, left=42, right=1)
    mel = np.random.default_rng(0).standard_normal((6, 80)).astype(np.float32)
    whole, steps = whole_and_steps(vocoder, mel, [4, 2])
    assert whole.shape == (1800,)
    assert np.abs(whole - steps).max() < 1e-5
    trained = WaveNet(
        from_mapping(WaveNetConfig, recipe("wavenet-paper")["model"], where="[model]")
    ).eval()
    sampler = Sampler(trained, floor=-9)
    with torch.no_grad():
        conditions = np.ascontiguousarray(
            trained.conditioner(torch.from_numpy(mel[None, :1]))[0].T.numpy()
        )
        z = np.random.default_rng(0).standard_normal((300, 1)).astype(np.float32)
        begun, state = sampler.step(conditions[:150], z[:150], sampler.initial())
        rest, _ = sampler.step(conditions[150:], z[150:], state)
        x = torch.from_numpy(np.concatenate([begun, rest]).T.copy())[None]
        mean, deviation, _ = trained(x, torch.from_numpy(mel[None, :1]))
    assert torch.allclose(mean + deviation.exp() * torch.from_numpy(z.T.copy()), x, atol=1e-4)


def test_mel_is_normalized_inside() -> None:
    conditioner = Conditioner(PLAIN)
    conditioner.mean.fill_(2.0)
    conditioner.std.fill_(4.0)
    assert torch.allclose(conditioner.normalized(torch.full((1, 2, 6), 6.0)), torch.ones(1, 2, 6))
