"""REINFORCE with a learned baseline and normalized advantages (Mohan et al. 2020, 4.4): what an
agent learns by."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from sayahead_lab.training.mohan.agent_network import READ, SPEAK, AgentNetwork
from sayahead_lab.training.mohan.environment import Path


@dataclass(frozen=True, slots=True)
class ReinforceConfig:
    """How an agent learns from paths; the paper's values but for the return's unit, which it does
    not tell."""

    discount: float = 0.99
    """Gamma: a reward counts so much less with every action before it."""
    unit: float = 5.0
    """Return that is 1 for the baseline."""
    entropy: float = 0.0
    """Weight of the policy's entropy, which keeps it trying; the paper has none."""
    paths: int = 1
    """Paths through each sentence of a batch; of more than one, what they have in common says
    nothing about actions and is taken off. The paper has 1."""


class Sampled:
    """A chooser that draws actions by an agent's probabilities, or takes the likelier one
    (``greedy``)."""

    def __init__(self, agent: AgentNetwork, *, greedy: bool) -> None:
        self.agent = agent
        self.greedy = greedy
        self.hidden: Tensor | None = None

    def __call__(self, observation: Tensor, number: int) -> Tensor:
        hidden = self.agent.initial(len(observation)) if self.hidden is None else self.hidden
        logits, self.hidden = self.agent.step(observation, hidden)
        if self.greedy:
            return torch.where(logits[:, SPEAK] >= logits[:, READ], SPEAK, READ)
        return torch.multinomial(logits.softmax(-1), 1)[:, 0]


def returns(rewards: Tensor, discount: float) -> Tensor:
    """(B, J) G_j: the sum of the rewards (B, J) from j on, each discounted by its distance."""
    sums = torch.empty_like(rewards)
    after = torch.zeros_like(rewards[:, 0])
    for j in range(rewards.shape[1] - 1, -1, -1):
        after = rewards[:, j] + discount * after
        sums[:, j] = after
    return sums


def reinforce(
    agent: nn.Module, path: Path, learning: ReinforceConfig
) -> tuple[Tensor, dict[str, Tensor]]:
    """The scalar to minimize and its parts: policy gradient over all decisions of the paths, error
    of the baseline.

    The advantage G_j - b(o_j) is normalized over all decisions and moves the policy alone; the
    baseline follows G_j."""
    logits, expected = agent(path.observations)
    gone = returns(path.rewards, learning.discount) / learning.unit
    advantage = gone - expected.detach().float()
    if learning.paths > 1:
        advantage = advantage - common(advantage, path, learning.paths)
    advantage = advantage[path.decided]
    gone = gone[path.decided]
    logs = functional.log_softmax(logits.float(), -1)[path.decided]
    expected = expected.float()[path.decided]
    advantage = (advantage - advantage.mean()) / (advantage.std(correction=0) + 1e-8)
    took = logs.gather(1, path.actions[path.decided][:, None])[:, 0]
    policy = -(took * advantage).mean()
    baseline = functional.mse_loss(expected, gone)
    entropy = -(logs.exp() * logs).sum(-1).mean()
    explained = 1 - (gone - expected).var(correction=0) / gone.var(correction=0).clamp(min=1e-8)
    parts = {"policy": policy, "baseline": baseline, "entropy": entropy, "explained": explained}
    return policy + baseline - learning.entropy * entropy, parts


def common(values: Tensor, path: Path, paths: int) -> Tensor:
    """(B, J) the mean of the values (B, J) that the *other* paths through a sentence have where as
    much is spoken.

    Rows of one sentence stand together, ``paths`` of them. Where no other path decided there, the
    value itself."""
    speaking = ((path.actions == SPEAK) & path.decided).long()
    at = speaking.cumsum(1) - speaking
    sums = values.new_zeros(len(values), int(at.max()) + 1)
    counts = sums.scatter_add(1, at, path.decided.to(values.dtype))
    mine = sums.scatter_add(1, at, values * path.decided) / counts.clamp(min=1)
    there = (counts > 0).to(values.dtype)

    def others(x: Tensor) -> Tensor:
        grouped = x.view(-1, paths, x.shape[1])
        return (grouped.sum(1, keepdim=True) - grouped).view_as(x)

    number = others(there)
    mean = torch.where(number > 0, others(mine * there) / number.clamp(min=1), mine)
    return torch.where(path.decided, mean.gather(1, at), values)


def outcome(path: Path) -> dict[str, Tensor]:
    """What to log of paths: means of the reward and its parts, of d_T and of the error."""
    earned = {name: part.mean() for name, part in path.earned._asdict().items()}
    speaking = ((path.actions == SPEAK) & path.decided).sum() / path.decided.sum()
    means = {"d_T": path.proportion.mean(), "mse": path.error.mean(), "speaking": speaking}
    return {"reward": path.earned.total().mean(), **earned, **means}
