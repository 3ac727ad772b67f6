"""The environment of READ and SPEAK: what it lets be seen, what it pays, when it ends."""

from __future__ import annotations

import pytest
import torch
from lab_support.readspeak import BANDS, STEPS, WIDE, Recital, sentence

from sayahead_lab.training.mohan.agent_network import LOOK_BACK, READ, SPEAK, latest
from sayahead_lab.training.mohan.environment import (
    EpisodeSentence,
    PathEpisodes,
    RewardConfig,
    wait_end,
    wait_k_steps,
    walk,
)

PAPER = RewardConfig()
SCALE = torch.full((BANDS,), PAPER.unit)


def episodes(
    *sentences: EpisodeSentence,
    taught: bool = True,
    rewards: RewardConfig = PAPER,
    most: int = 1000,
) -> PathEpisodes:
    return PathEpisodes(Recital(), sentences, rewards, scale=SCALE, taught=taught, most=most)


def actions(row: str) -> torch.Tensor:
    """An action of one sentence by its letter."""
    return torch.tensor([SPEAK if row == "S" else READ])


def test_paths_of_the_paper_have_their_proportions() -> None:
    one = sentence(0, characters=10)
    end = walk(episodes(one), wait_end)
    assert end.proportion.tolist() == [1.0]
    assert end.error.tolist() == [0.0]
    # A character is read with every third action: each is there for the two SPEAKs that say it, and
    # not before.
    exact = walk(episodes(one), wait_k_steps(3))
    assert exact.proportion.tolist() == pytest.approx(
        [sum((1 + p) * STEPS for p in range(10)) / (10 * 20)]
    )
    assert exact.error.tolist() == [0.0]
    assert exact.actions[0, :5].tolist() == [SPEAK, SPEAK, READ, SPEAK, SPEAK]
    more = walk(episodes(one), wait_k_steps(2))
    assert exact.proportion < more.proportion < 1
    assert more.error.tolist() == [0.0]
    late = walk(episodes(one), wait_k_steps(4))
    assert late.error > 0
    assert late.proportion < exact.proportion
    assert late.earned.unread.tolist() == [
        -3.0
    ]  # six were read in the gaps between twenty SPEAKs, and the first


def test_each_part_of_the_reward_is_as_in_the_equations() -> None:
    world = episodes(sentence(1, characters=12))
    seen = [world.step(actions(letter)).consecutive.item() for letter in "RRRRRSRRR"]
    # The opening READ counts: the third more is the fourth in a row (Eq. 4: sgn is 0 at c*, 1
    # beyond).
    assert seen == [0, 0, -1, -2, -2, 0, 0, 0, 0]
    world = episodes(sentence(1, characters=12))
    assert world.step(actions("S")).quality.item() == 0
    assert world.step(actions("S")).quality.item() == 0
    wrong = world.step(
        actions("S")
    )  # the second character was not read: silence instead of a one among three bands
    assert wrong.quality.item() == pytest.approx(-100 / BANDS)
    assert world.step(actions("R")).quality.item() == 0
    end = walk(episodes(sentence(1)), wait_end)
    assert end.earned.delay.item() == pytest.approx(-10 * (1 - 0.5))
    assert end.earned.total().item() == pytest.approx(end.rewards.sum().item())


def test_the_two_ends_of_an_episode() -> None:
    world = episodes(sentence(2, characters=3))
    world.step(actions("R"))
    assert not bool(world.all_read)
    world.step(actions("R"))
    assert bool(world.all_read)
    world.step(actions("R"))  # nothing left to read: it speaks
    assert world.spoken.tolist() == [1]
    path = walk(episodes(sentence(2, characters=3)), wait_end)
    assert path.decided.tolist() == [[True, True]]  # what is forced is nobody's decision
    assert path.rewards[0, 0].item() == 0
    assert path.rewards[0, 1].item() == pytest.approx(
        -5.0
    )  # the delay, paid when the forced SPEAKs are over
    only = walk(
        episodes(sentence(2, characters=3)), lambda seen, number: torch.full((len(seen),), SPEAK)
    )
    assert only.spoken.tolist() == [3 * STEPS]
    assert only.earned.unread.tolist() == [-2.0]
    assert only.proportion.item() == pytest.approx(1 / 3)


def test_an_observation_is_context_latest_weights_and_last_frame() -> None:
    world = episodes(sentence(3))
    seen = world.observe()
    assert seen.shape == (1, WIDE + LOOK_BACK + BANDS)
    assert seen[0, WIDE : WIDE + LOOK_BACK].tolist() == [0, 0, 0, 0, 1]
    assert seen[0, -BANDS:].tolist() == [0] * BANDS
    for letter in "SRRSRRRR":
        world.step(actions(letter))
    # Seven are read, and the third SPEAK, of the second character, is next: it lies before the
    # window of five.
    assert world.observe()[0, WIDE : WIDE + LOOK_BACK].tolist() == [0] * 5
    assert world.observe()[0, -BANDS:].tolist() == world.truth[0, 1, 0].tolist()
    weights = torch.arange(1.0, 9.0).expand(2, -1)
    assert latest(weights, torch.tensor([2, 8])).tolist() == [[0, 0, 0, 1, 2], [4, 5, 6, 7, 8]]


def test_a_read_changes_what_is_observed_and_a_speak_goes_on() -> None:
    world = episodes(sentence(4))
    for letter in "SS":
        world.step(actions(letter))
    waiting = world.observe()
    world.step(actions("R"))
    assert not torch.equal(waiting, world.observe())
    assert waiting[0, WIDE + LOOK_BACK - 1] == 0.5
    assert world.observe()[0, WIDE + LOOK_BACK - 1] == 1.0
    before = world.state
    world.step(actions("R"))
    assert torch.equal(world.state.at, before.at)
    world.step(actions("S"))
    assert world.state.at == before.at + 1


def test_several_sentences_at_once_are_as_each_by_itself() -> None:
    several = [sentence(5, 4), sentence(6, 9), sentence(7, 6)]
    for choose in (wait_end, wait_k_steps(2), wait_k_steps(3), wait_k_steps(5)):
        whole = walk(episodes(*several), choose)
        for row, one in enumerate(several):
            alone = walk(episodes(one), choose)
            steps = int(alone.decided.sum())
            assert int(whole.decided[row].sum()) == steps
            assert torch.allclose(whole.observations[row, :steps], alone.observations[0])
            assert torch.allclose(whole.rewards[row, :steps], alone.rewards[0], atol=1e-5)
            assert not whole.rewards[row, steps:].any()
            assert whole.proportion[row] == alone.proportion[0]


def test_free_speech_ends_with_the_networks_stop_when_all_is_read() -> None:
    path = walk(episodes(sentence(8, 5), taught=False), wait_k_steps(3))
    assert path.spoken.tolist() == [5 * STEPS + 1]
    assert path.earned.quality.tolist() == [0.0]
    mute = walk(
        episodes(sentence(8, 5), taught=False, most=7),
        lambda seen, number: torch.ones(1, dtype=torch.int64),
    )
    assert mute.spoken.tolist() == [7]
