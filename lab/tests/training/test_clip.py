"""The network that makes a speaker of a clip: what is learned in PyTorch is what the package
computes without it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile
import torch
from sayahead.systems.speakers import SPEAKERS
from sayahead.types import Floats
from sayahead.voices.install.clip.embedding import Embedder, unit
from sayahead.voices.install.clip.speaker import GRAPHS, SpeakerMaker
from sayahead.voices.locations import packaged_voices

from sayahead_lab.training.clip import learning
from sayahead_lab.training.clip.embedding import SpeakerEmbedder, arrays_of
from sayahead_lab.training.clip.family import (
    Family,
    IntonedSentence,
    at_pitch,
    columns,
    pitches,
    sound_of,
)
from sayahead_lab.training.clip.learning import ClipRecipe, ClipTraining
from sayahead_lab.training.clip.network import Bank, SpeakerNetwork, SpeakerNetworkConfig, exported
from sayahead_lab.training.clip.people import Person, listed, person_estimate
from sayahead_lab.training.mel.sound import excitation, synthesized

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def family() -> Family:
    return Family(ROOT / "archives" / "runs" / "family.tar.xz")


@pytest.fixture(scope="module")
def embedder() -> SpeakerEmbedder:
    """One that has learned nothing."""
    torch.manual_seed(1)
    return SpeakerEmbedder().eval().requires_grad_(False)


def test_nobody_is_for_two_things() -> None:
    people = ROOT / "lab" / "recipes" / "clip" / "people.tsv"
    parts = [set(listed(people, part)) for part in ("train", "validation", "test")]
    assert [len(part) for part in parts] == [195, 16, 40]
    assert len(set.union(*parts)) == 251


def test_both_embedders_are_one(embedder: SpeakerEmbedder) -> None:
    draw = np.random.default_rng(1)
    samples = np.cumsum(draw.normal(0, 0.01, 24000 * 4)).astype(np.float32)
    samples -= samples.mean()
    own = Embedder(arrays_of(embedder))(samples, 24000)
    assert float(own @ embedder(torch.from_numpy(samples)).numpy()) > 0.9999


def test_a_vector_is_a_row_of_the_voice(family: Family) -> None:
    order = columns(family)
    with np.load(packaged_voices()["family"] / SPEAKERS) as voice:
        for graph in GRAPHS:
            assert (
                np.abs(
                    voice[graph].astype(np.float32) - family.codes.numpy()[:, order[graph]]
                ).max()
                < 0.01
            )


def test_the_package_makes_what_was_learned(family: Family, embedder: SpeakerEmbedder) -> None:
    torch.manual_seed(2)
    network = SpeakerNetwork(
        SpeakerNetworkConfig(hidden=16, rank=4), family.codes, family.sound_numbers
    )
    draw = np.random.default_rng(2)
    heard = np.stack([unit(draw.normal(0, 1, 256).astype(np.float32)) for _ in range(2)])
    bank = Bank(
        np.eye(len(family.names), dtype=np.float32)[:2], heard, np.array([100, 200], np.float32)
    )
    order = columns(family)
    rows = {graph: family.codes.numpy()[:, order[graph]] for graph in GRAPHS}
    gain = np.eye(256, dtype=np.float32)
    gain[3] = 0
    person = np.zeros(256, np.float32), gain
    maker = SpeakerMaker(exported(network, bank, order, arrays_of(embedder), person), rows)
    wanted = unit(draw.normal(0, 1, 256).astype(np.float32))
    made = maker.made(wanted, 150.0, [1])
    inputs = (
        torch.from_numpy(wanted[None]),
        torch.from_numpy(heard[1:]),
        torch.tensor([float(np.log(1.5 / 2))]),
    )
    learned = network.added(family.codes[1:2], network(*inputs)).detach().numpy()[0]
    moved = np.abs(learned - family.codes.numpy()[1]).max()
    for graph in GRAPHS:
        assert np.abs(made[graph] - learned[order[graph]]).max() < 0.02 * moved


def test_a_person_is_what_clips_have_in_common() -> None:
    """What differs within people is left out, and what differs between them stays."""
    draw = np.random.default_rng(3)
    people = list[Person]()
    for number in range(60):
        own = np.zeros((12, 4))
        own[:, 0] = draw.normal()
        own[:, 1] = draw.normal(0, 1, 12)
        people.append(
            Person(str(number), np.asarray(own + np.array([0, 0, 5, 5]), np.float32), 200.0)
        )
    mean, gain = person_estimate(people)
    assert np.allclose(mean[2:], 5)
    assert gain[0, 0] > 0.9
    assert gain[1, 1] < 0.35


def test_the_sound_is_that_of_other_trainings() -> None:
    torch.manual_seed(3)
    parts = torch.randn(2, 12, 3005)
    f0 = np.full((2, 12), 140.0, np.float32)
    pulses = torch.from_numpy(np.stack([excitation(row, 0.0) for row in f0]))
    noise = (
        torch.randn(pulses.shape, dtype=torch.complex64, generator=torch.Generator().manual_seed(0))
        * 2**0.5
    )
    assert (sound_of(parts, f0) - synthesized(parts, pulses, noise)).abs().max() < 1e-4


def test_a_crop_is_a_part_of_the_whole(family: Family) -> None:
    """Beyond the reach of its convolutions, a crop has the whole's spectra; batches mix nothing."""
    spoken = family.prosody(np.arange(50, 80, dtype=np.int64), family.codes[3])
    frames = len(spoken.f0)
    whole = family.parts(family.codes[3:4], [spoken], [0], frames)
    crop = family.parts(family.codes[[3, 5]], [spoken, spoken], [10, 0], frames - 10)
    assert (crop[0, 30:] - whole[0, 40:]).abs().max() < 1e-3
    assert (crop[1] - whole[0, : frames - 10]).abs().mean() > 0.05


def test_pitch_is_set_where_there_is_some() -> None:
    f0 = np.array([0.0, 90.0, 100.0, 120.0], np.float32)
    moved = at_pitch(IntonedSentence(np.zeros(1, np.int64), np.ones(1, np.int64), f0, f0, 0), 200.0)
    expected: Floats = np.array([0.0, 180.0, 200.0, 240.0], np.float32)
    assert np.abs(moved.f0 - expected).max() < 1e-3
    assert pitches([moved], [2], 4).tolist() == [[200.0, 240.0, 0.0, 0.0]]


@pytest.fixture
def recipe(
    tmp_path: Path, embedder: SpeakerEmbedder, family: Family, monkeypatch: pytest.MonkeyPatch
) -> ClipRecipe:
    """A training on two people who hum, by an embedder that has learned nothing."""
    monkeypatch.setattr(learning, "Family", lambda archive: family)
    monkeypatch.setattr(learning, "load_speaker_embedder", lambda weights: embedder)
    monkeypatch.setattr(learning, "embedder_weights", lambda: tmp_path)
    lines = ["speaker\tsex\tpart", "1\tF\ttrain", "2\tM\ttrain", "3\tF\tvalidation"]
    (tmp_path / "people.tsv").write_text("\n".join(lines) + "\n")
    at = np.arange(9 * 16000) / 16000
    for number, hertz in (("1", 210.0), ("2", 120.0), ("3", 190.0)):
        hum = sum(np.sin(2 * np.pi * hertz * k * at) / k for k in range(1, 8)) * (
            1 + np.sin(2 * np.pi * 3 * at)
        )
        soundfile.write(tmp_path / f"{number}-1-0000.flac", 0.1 * np.asarray(hum), 16000)
    sizes = {
        "sentences": 1,
        "blends": 1,
        "batch": 1,
        "crops": 1,
        "network": SpeakerNetworkConfig(hidden=8, rank=4),
    }
    archive = str(ROOT / "archives" / "runs" / "family.tar.xz")
    return ClipRecipe("toy", archive, str(tmp_path / "people.tsv"), **sizes)  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_training_that_was_stopped_goes_on_as_if_it_had_not_been(
    recipe: ClipRecipe, tmp_path: Path
) -> None:
    def training(name: str) -> ClipTraining:
        return ClipTraining(recipe, tmp_path / name, tmp_path, ["The garden is quiet."])

    whole = training("whole")
    first = training("parts")
    for _ in range(3):
        whole.learn()
    first.learn()
    first.save()
    second = training("parts")
    assert second.step == 1
    for _ in range(2):
        second.learn()
    for name, value in whole.network.state_dict().items():
        assert torch.equal(value, second.network.state_dict()[name]), name
        assert torch.equal(whole.average[name], second.average[name]), name


def test_a_step_makes_somebody_more_like_who_is_wanted(recipe: ClipRecipe, tmp_path: Path) -> None:
    """Along the loss's gradient likeness rises, and the family itself learns nothing."""
    training = ClipTraining(recipe, tmp_path / "run", tmp_path, ["The garden is quiet."])
    before = training.family.codes.clone()
    wanted = [training.someone(np.random.default_rng(1))]
    errors = []
    for _ in range(8):
        loss, _ = training.errors(wanted, np.random.default_rng(2))
        training.optimizer.zero_grad()
        torch.autograd.backward(loss)
        training.optimizer.step()
        errors.append(loss.item())
    assert errors[-1] < errors[0]
    assert torch.equal(training.family.codes, before)
    assert 0 <= training.validate() <= 1
