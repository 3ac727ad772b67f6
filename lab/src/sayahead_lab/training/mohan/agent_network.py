"""The agent that decides when to READ and when to SPEAK (Mohan et al. 2020, 4.4), and what it
observes (4.3.1).

Axes: B episodes, J decisions, P characters, D channels. Before every decision the speaking network
takes one tentative step with the characters read so far; the observation is what that step attended
to, the weights of the latest characters, and the frame spoken last. SPEAK makes the step count,
READ has it taken anew with one character more."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

READ = 0
SPEAK = 1
"""The two actions, as indices of the agent's logits."""
LOOK_BACK = 5
"""Latest characters whose attention weights are observed (Mohan 5.1)."""


@dataclass(frozen=True, slots=True)
class AgentNetworkConfig:
    """Sizes of the agent; the paper gives the first."""

    recurrent: int = 512
    """D of the GRU."""
    dense: int = 512
    """D of the two dense layers after it, before the softmax."""
    baseline: int = 512
    """D of the baseline's two hidden layers; its third has the one output."""
    window_scale: float = 1.0
    """Factor on the observed attention weights, which are few and small beside the other parts of
    an observation."""
    frame_scale: float = 1.0
    """Factor on the observed frame, which is large; the paper mentions none."""


class AgentNetwork(nn.Module):
    """Observations to logits of READ and SPEAK, and the baseline that expects the return."""

    factors: Tensor

    def __init__(self, config: AgentNetworkConfig, observed: int, n_mels: int = 0) -> None:
        """``observed``: D of an observation, of which the last ``n_mels`` are a frame, after the
        window of weights."""
        super().__init__()
        self.config = config
        self.observed = observed
        factors = torch.ones(observed)
        window = observed - n_mels - LOOK_BACK
        factors[window:] = config.window_scale
        factors[observed - n_mels :] = config.frame_scale
        self.register_buffer("factors", factors)
        self.gru = nn.GRU(observed, config.recurrent, batch_first=True)
        self.first = nn.Linear(config.recurrent, config.dense)
        self.second = nn.Linear(config.dense, config.dense)
        self.out = nn.Linear(config.dense, 2)
        wide = config.baseline
        hidden = (nn.Linear(observed, wide), nn.ReLU(), nn.Linear(wide, wide), nn.ReLU())
        self.baseline = nn.Sequential(*hidden, nn.Linear(wide, 1))
        # Both actions are as likely at first, whatever is observed.
        nn.init.zeros_(self.out.weight)
        nn.init.zeros_(self.out.bias)

    def forward(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """Logits (B, J, 2) and expected returns (B, J), in the loss's unit, of all observations (B,
        J, D) in order."""
        observations = observations * self.factors
        expected: Tensor = self.baseline(observations)[..., 0]
        states, _ = self.gru(observations)
        return self.heads(states), expected

    def heads(self, states: Tensor) -> Tensor:
        """Logits (..., 2) of the GRU's states (..., H)."""
        logits: Tensor = self.out(functional.relu(self.second(functional.relu(self.first(states)))))
        return logits

    def initial(self, episodes: int) -> Tensor:
        """The GRU's state (B, H) before a sentence."""
        return self.out.weight.new_zeros(episodes, self.config.recurrent)

    def step(self, observation: Tensor, hidden: Tensor) -> tuple[Tensor, Tensor]:
        """Logits (B, 2) and the next state (B, H) of one observation (B, D)."""
        # As one row through the layer, which would first lay out its weights anew.
        after = torch.gru_cell(observation * self.factors, hidden, *self.gru.all_weights[0])
        return self.heads(after), after


def latest(weights: Tensor, read: Tensor) -> Tensor:
    """(B, LOOK_BACK) attention weights (B, P) of the last characters read (B,), oldest first, 0
    before the first."""
    padded = functional.pad(weights, (LOOK_BACK, 0))
    at = read[:, None] + torch.arange(LOOK_BACK, device=read.device)
    return padded.gather(1, at)
