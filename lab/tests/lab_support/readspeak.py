"""A network that speaks what it has read, whose right policy is known: for tests of environment and
agent."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from sayahead_lab.training.mohan.environment import EpisodeSentence

STEPS = 2
"""SPEAKs a character."""
WIDE = 4
BANDS = 3


class Place(NamedTuple):
    """The toy's state."""

    at: Tensor
    """(B,) SPEAKs so far."""


class Look(NamedTuple):
    """What the toy sees."""

    context: Tensor
    """(B, WIDE)."""
    weights: Tensor
    """(B, P)."""


class Made(NamedTuple):
    """What the toy says."""

    frames: Tensor
    """(B, 1, BANDS)."""
    stop: Tensor
    """(B,)."""
    state: Place
    """For the next."""


class Recital:
    """Says character p in the SPEAKs 2 p and 2 p + 1, as well as it can: one that is not read comes
    out as silence.

    Its attention is on the character to say, or on the latest where that one is not read yet. To
    read it just before it is said is the right policy: nothing is lost, and no policy that loses
    nothing has a smaller d_T."""

    def encode(self, ids: Tensor) -> Tensor:
        return torch.nn.functional.one_hot(ids % WIDE, WIDE).float()

    def memory(self, rows: Tensor) -> Tensor:
        return rows

    def initial(self, memory: Tensor) -> Place:
        return Place(torch.zeros(len(memory), dtype=torch.int64))

    def look(self, memory: Tensor, read: Tensor, state: Place, previous: Tensor) -> Look:
        wanted = state.at // STEPS
        last = memory.shape[1] - 1
        at = torch.minimum(wanted, read - 1).clamp(max=last)
        # What waits for its character looks at the latest one only half.
        weights = torch.nn.functional.one_hot(at, last + 1) * (0.5 + 0.5 * (wanted < read))[:, None]
        return Look((weights[..., None] * memory).sum(1), weights)

    def step(
        self, memory: Tensor, read: Tensor, state: Place, previous: Tensor, *, look: Look
    ) -> Made:
        wanted = state.at // STEPS
        made = look.context[:, None, :BANDS] * (wanted < read)[:, None, None]
        return Made(made, torch.where(wanted >= memory.shape[1], 1.0, -1.0), Place(state.at + 1))


def sentence(seed: int, characters: int = 12) -> EpisodeSentence:
    """A text and what the toy says of it when it has read everything."""
    ids = torch.randint(0, BANDS, (characters,), generator=torch.Generator().manual_seed(seed))
    frames = torch.nn.functional.one_hot(ids, WIDE).float()[:, :BANDS].repeat_interleave(STEPS, 0)
    return EpisodeSentence(ids, frames[:, None])
