"""REINFORCE: its returns and gradients by hand, and that it finds the policy that is known to be
right."""

from __future__ import annotations

import math

import pytest
import torch
from lab_support.readspeak import BANDS, STEPS, Recital, sentence

from sayahead_lab.training.mohan.agent_network import READ, SPEAK, AgentNetwork, AgentNetworkConfig
from sayahead_lab.training.mohan.environment import (
    Earned,
    Path,
    PathEpisodes,
    RewardConfig,
    wait_end,
    wait_k_steps,
    walk,
)
from sayahead_lab.training.mohan.reinforce import (
    ReinforceConfig,
    Sampled,
    common,
    outcome,
    reinforce,
    returns,
)

SMALL = AgentNetworkConfig(recurrent=24, dense=24, baseline=24)
WIDE = 12


def episodes(seeds: range, characters: int = 12) -> PathEpisodes:
    made = [sentence(seed, characters) for seed in seeds]
    return PathEpisodes(Recital(), made, RewardConfig(unit=10.0), scale=torch.full((BANDS,), 3.0))


def test_returns_are_discounted_sums() -> None:
    found = returns(torch.tensor([[1.0, 2.0, 4.0], [0.0, 0.0, 8.0]]), 0.5)
    assert found.tolist() == [[1 + 1 + 1, 2 + 2, 4], [2, 4, 8]]


def test_the_loss_is_what_the_formula_says() -> None:
    torch.manual_seed(0)
    agent = AgentNetwork(SMALL, 3)
    with torch.no_grad():
        agent.out.weight.normal_()
    seen = torch.randn(1, 3, 3)
    nothing = torch.zeros(1)
    path = Path(
        seen,
        torch.tensor([[READ, SPEAK, SPEAK]]),
        torch.tensor([[0.0, -10.0, 777.0]]),
        torch.tensor([[True, True, False]]),
        Earned(*[nothing] * 4),
        nothing,
        nothing,
        nothing,
    )
    path.rewards[0, 2] = 0  # behind the decisions nothing is paid
    loss, parts = reinforce(agent, path, ReinforceConfig(discount=0.9, unit=10.0))
    logits, expected = agent(seen)
    logs = logits[0].log_softmax(-1)
    (b0, b1) = expected[0, :2].tolist()
    apart = [-0.9 - b0, -1.0 - b1]
    # Two advantages, normalized, are 1 and -1.
    signs = [1.0, -1.0] if apart[0] > apart[1] else [-1.0, 1.0]
    policy = -(logs[0, READ] * signs[0] + logs[1, SPEAK] * signs[1]) / 2
    assert parts["policy"].item() == pytest.approx(policy.item(), rel=1e-4)
    assert parts["baseline"].item() == pytest.approx((apart[0] ** 2 + apart[1] ** 2) / 2, rel=1e-5)
    assert loss.item() == pytest.approx((parts["policy"] + parts["baseline"]).item())
    with_entropy, _ = reinforce(agent, path, ReinforceConfig(discount=0.9, unit=10.0, entropy=0.5))
    assert with_entropy.item() == pytest.approx(loss.item() - 0.5 * parts["entropy"].item())
    # The policy's gradient does not reach the baseline, nor the other way round.
    weights = [*agent.baseline.parameters()]
    whole = torch.autograd.grad(loss, weights, retain_graph=True)
    alone = torch.autograd.grad(parts["baseline"], weights, retain_graph=True)
    assert all(torch.equal(one, other) for one, other in zip(whole, alone, strict=True))
    (other,) = torch.autograd.grad(parts["baseline"], [agent.out.weight], allow_unused=True)
    assert str(other) == "None"


def test_what_paths_through_a_sentence_have_in_common_is_taken_off() -> None:
    nothing = torch.zeros(4)
    path = Path(
        torch.zeros(4, 3, 1),
        torch.tensor([[READ, SPEAK, SPEAK], [SPEAK, SPEAK, READ], [SPEAK] * 3, [SPEAK] * 3]),
        torch.zeros(4, 3),
        torch.tensor([[True] * 3, [True] * 3, [True] * 3, [True, False, False]]),
        Earned(*[nothing] * 4),
        nothing,
        nothing,
        nothing,
    )
    values = torch.tensor(
        [[1.0, 3.0, 5.0], [10.0, 20.0, 30.0], [7.0, 8.0, 9.0], [70.0, 80.0, 90.0]]
    )
    found = common(values, path, 2)
    # The first path decides twice before it speaks: 1 and 3; the other has two SPEAKs behind it
    # only at its end.
    assert found[:2].tolist() == [[10, 10, 20], [2, 5, 30]]
    # Alone, a decision is compared with itself; what is not decided stays.
    assert found[2:].tolist() == [[70, 8, 9], [7, 80, 90]]


def test_step_by_step_is_as_all_at_once() -> None:
    torch.manual_seed(1)
    agent = AgentNetwork(SMALL, 7)
    with torch.no_grad():
        agent.out.weight.normal_()
        seen = torch.randn(3, 9, 7)
        hidden = agent.initial(3)
        made = []
        for j in range(9):
            logits, hidden = agent.step(seen[:, j], hidden)
            made.append(logits)
        assert torch.allclose(torch.stack(made, 1), agent(seen)[0], atol=1e-6)


def test_a_fresh_agent_prefers_nothing() -> None:
    agent = AgentNetwork(SMALL, WIDE)
    path = walk(episodes(range(4)), Sampled(agent, greedy=False))
    _, parts = reinforce(agent, path, ReinforceConfig())
    assert parts["entropy"].item() == pytest.approx(math.log(2), abs=1e-6)
    assert 0.2 < outcome(path)["speaking"].item() < 0.8


def taught(steps: int) -> AgentNetwork:
    """An agent after some steps of 10 of the toy's episodes."""
    torch.manual_seed(2)
    agent = AgentNetwork(SMALL, WIDE)
    optimizer = torch.optim.Adam(agent.parameters(), lr=4e-3)
    learning = ReinforceConfig(unit=10.0)
    for step in range(steps):
        path = walk(episodes(range(10 * step, 10 * step + 10)), Sampled(agent, greedy=False))
        loss, _ = reinforce(agent, path, learning)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    return agent


HELD_OUT = range(100_000, 100_032)


def test_it_learns_to_read_before_the_end() -> None:
    learned = walk(episodes(HELD_OUT), Sampled(taught(30), greedy=True))
    late = walk(episodes(HELD_OUT), wait_end)
    assert learned.error.mean() < 0.1 * walk(episodes(HELD_OUT), wait_k_steps(5)).error.mean()
    assert learned.proportion.mean() < 0.8 * late.proportion.mean()
    assert learned.earned.total().mean() > 0.2 * late.earned.total().mean()


@pytest.mark.slow
def test_it_learns_to_read_just_in_time() -> None:
    """The toy's right policy is known: wait-3-steps, whose error is 0 with the least d_T."""
    agent = taught(200)
    held_out = HELD_OUT
    right = walk(episodes(held_out), wait_k_steps(1 + STEPS))
    early = walk(episodes(held_out), wait_k_steps(STEPS))
    learned = walk(episodes(held_out), Sampled(agent, greedy=True))
    assert right.error.max() == 0
    assert learned.error.mean() < 0.1 * walk(episodes(held_out), wait_k_steps(5)).error.mean()
    assert (
        learned.proportion.mean()
        < early.proportion.mean()
        < walk(episodes(held_out), wait_end).proportion.mean()
    )
    assert learned.earned.total().mean() > early.earned.total().mean()
    # It is no rhythm learned by heart: it has the right rhythm for a text of another length, too.
    longer = walk(episodes(held_out, 20), Sampled(agent, greedy=True))
    assert (
        longer.proportion.mean()
        < walk(episodes(held_out, 20), wait_k_steps(STEPS)).proportion.mean()
    )
