"""The environment of Mohan et al. (2020, 4.1 to 4.3): READ a character or SPEAK a frame, several
sentences at once.

Axes: B sentences, P characters, S SPEAKs of r frames each, D channels. Everything that does not
depend on the actions (the characters' encoding, the true frames) is made once a sentence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from sayahead_lab.training.mohan.agent_network import READ, SPEAK, latest

State = Any
"""The state of the speaking network: a tuple of tensors, or of such tuples, with B first."""
Chooser = Callable[[Tensor, int], Tensor]
"""Actions (B,) for observations (B, D) and the number of the action, the READ that opens every
episode being 0."""


class StepwiseSpeaker(Protocol):
    """A network that speaks what it has read: ``ModifiedTacotron``, or a toy; see
    training/mohan/network.py."""

    def encode(self, ids: Tensor) -> Tensor:
        """States (B, P, M) of characters (B, P), each the same whatever follows it."""
        ...

    def memory(self, rows: Tensor) -> Any:
        """The attention's memory of the states (B, P, M)."""
        ...

    def initial(self, memory: Any) -> State:
        """The state before the first step."""
        ...

    def look(self, memory: Any, read: Tensor, state: State, previous: Tensor) -> Any:
        """``context`` (B, M) and ``weights`` (B, P) of a SPEAK that were to come now."""
        ...

    def step(self, memory: Any, read: Tensor, state: State, previous: Tensor, *, look: Any) -> Any:
        """``frames`` (B, r, n_mels), ``stop`` (B,) logit and ``state`` of a SPEAK that looks so."""
        ...


@dataclass(frozen=True, slots=True)
class RewardConfig:
    """Weights and targets of the reward; the paper's (5.1), but for the unit of the mel, which it
    does not tell."""

    omega: float = -1.0
    """Weight of consecutive READs (Eq. 4)."""
    consecutive: int = 4
    """c*: number of READs in a row that is acceptable."""
    beta: float = -10.0
    """Weight of the delay (Eq. 5)."""
    proportion: float = 0.5
    """d*: so large a d_T is acceptable."""
    lam: float = -100.0
    """Lambda, weight of the mean squared error (Eq. 6)."""
    unit: float = 30.0
    """Nats of log mel that are a difference of 1 in that error."""


@dataclass(frozen=True, slots=True)
class EpisodeSentence:
    """An episode's sentence."""

    ids: Tensor
    """(P,) int64 characters."""
    frames: Tensor
    """(S, r, n_mels) the true frames, normalized."""


class Earned(NamedTuple):
    """The parts of the reward of one action per sentence."""

    consecutive: Tensor
    """(B,) r_CR (Eq. 4)."""
    delay: Tensor
    """(B,) r_AP (Eq. 5), at an episode's end."""
    quality: Tensor
    """(B,) r_Q (Eq. 6)."""
    unread: Tensor
    """(B,) minus the characters that were never read, at an episode's end."""

    def total(self) -> Tensor:
        """(B,) the reward (Eq. 2 and 3)."""
        return self.consecutive + self.delay + self.quality + self.unread


class PathEpisodes:
    """B episodes, each at its own place of its READ/SPEAK path.

    With ``taught`` (training), the true frames precede each step, the errors are measured, and an
    episode ends when the true frames are used up. Otherwise (evaluation) the network's own frames
    do, and the episode ends with its stop once all is read, or after ``most`` SPEAKs. One character
    is read when an episode begins; when all are, the rest is spoken whatever the action.
    """

    def __init__(
        self,
        speaker: StepwiseSpeaker,
        sentences: Sequence[EpisodeSentence],
        rewards: RewardConfig,
        *,
        scale: Tensor,
        taught: bool = True,
        most: int = 1000,
    ) -> None:
        """``scale`` (n_mels,): nats of log mel that the normalized frames' 1 is."""
        self.speaker = speaker
        self.rewards = rewards
        self.taught = taught
        self.most = most
        self.scale = scale / rewards.unit
        device = scale.device
        self.truth = pad_sequence([one.frames for one in sentences], batch_first=True).to(device)
        self.lengths = torch.tensor([len(one.frames) for one in sentences], device=device)
        self.characters = torch.tensor([len(one.ids) for one in sentences], device=device)
        ids = pad_sequence([one.ids for one in sentences], batch_first=True)
        self.memory = speaker.memory(speaker.encode(ids.to(device)))
        self.rows = torch.arange(len(sentences), device=device)
        self.read = torch.ones_like(self.characters)
        self.spoken = torch.zeros_like(self.read)
        self.consecutive = torch.ones_like(self.read)
        self.ended = torch.zeros_like(self.read, dtype=torch.bool)
        self.area = torch.zeros(len(sentences), device=device)
        self.previous = torch.zeros_like(self.truth[:, 0])
        self.state = speaker.initial(self.memory)
        self.look = speaker.look(self.memory, self.read, self.state, self.previous)

    @property
    def all_read(self) -> Tensor:
        """(B,) whether nothing is left to decide: the episode is over for the agent (4.3.3)."""
        return self.read == self.characters

    @property
    def proportion(self) -> Tensor:
        """(B,) d_T of the path so far: mean over SPEAKs of the share of the characters that were
        read."""
        return self.area / self.spoken.clamp(min=1)

    def observe(self) -> Tensor:
        """(B, D) what the agent decides on (4.3.1): context, latest weights, last frame."""
        return torch.cat(
            [self.look.context, latest(self.look.weights, self.read), self.previous[:, -1]], 1
        )

    def step(self, actions: Tensor) -> Earned:
        """Rewards of the actions (B,); a finished episode gets no more."""
        going = ~self.ended
        speaking = going & ((actions == SPEAK) | self.all_read)
        reading = going & ~speaking
        self.area += speaking * (self.read / self.characters)
        quality = self._speak(speaking)
        self.read += reading
        self.consecutive = torch.where(reading, self.consecutive + 1, self.consecutive * 0)
        many = torch.sgn(self.consecutive - self.rewards.consecutive) + 1
        late = self.rewards.beta * (self.proportion - self.rewards.proportion).clamp(min=0)
        over = going & self.ended
        zeros = torch.zeros_like(self.area)
        self.look = self.speaker.look(self.memory, self.read, self.state, self.previous)
        unread = torch.where(over, (self.read - self.characters).float(), zeros)
        return Earned(
            self.rewards.omega * many * reading, torch.where(over, late, zeros), quality, unread
        )

    def _speak(self, speaking: Tensor) -> Tensor:
        """Speak where (B,) is true; r_Q (B,)."""
        quality = torch.zeros_like(self.area)
        if not bool(speaking.any()):
            return quality
        step = self.speaker.step(self.memory, self.read, self.state, self.previous, look=self.look)
        frames = step.frames
        if self.taught:
            frames = self.truth[self.rows, self.spoken.clamp(max=self.truth.shape[1] - 1)]
            error = ((step.frames - frames) * self.scale).square().mean((1, 2))
            quality = torch.where(speaking, self.rewards.lam * error, quality)
        self.state = chosen(speaking, step.state, self.state)
        self.previous = chosen(speaking, frames, self.previous)
        self.spoken += speaking
        done = self.spoken >= (self.lengths if self.taught else self.most)
        self.ended = self.ended | (
            done if self.taught else done | (speaking & self.all_read & (step.stop > 0))
        )
        return quality


def chosen(where: Tensor, new: Any, old: Any) -> Any:
    """A state with the new rows where (B,) is true and the old ones elsewhere."""
    if isinstance(new, Tensor):
        return torch.where(where.view(-1, *[1] * (new.dim() - 1)), new, old)
    parts = [chosen(where, one, other) for one, other in zip(new, old, strict=True)]
    return type(new)(*parts) if hasattr(new, "_fields") else tuple(parts)


def wait_end(observation: Tensor, number: int) -> Tensor:
    """READ, until there is nothing left to read: the paper's wait-until-end (5.2)."""
    return torch.full((len(observation),), READ, device=observation.device)


def wait_k_steps(k: int) -> Chooser:
    """A READ with every k-th action, SPEAK in between: the paper's wait-k-steps (5.2)."""

    def choose(observation: Tensor, number: int) -> Tensor:
        return torch.full(
            (len(observation),), SPEAK if number % k else READ, device=observation.device
        )

    return choose


class Path(NamedTuple):
    """What happened in B episodes; J actions of the longest, those that were forced at the end not
    counted."""

    observations: Tensor
    """(B, J, D)."""
    actions: Tensor
    """(B, J)."""
    rewards: Tensor
    """(B, J); the last one of each episode has those of the SPEAKs that were forced after it
    (4.3.3)."""
    decided: Tensor
    """(B, J) whether the action was the chooser's."""
    earned: Earned
    """(B,) sums over the episode, the forced SPEAKs among them."""
    proportion: Tensor
    """(B,) d_T."""
    error: Tensor
    """(B,) mean squared error over the SPEAKs, in the reward's unit."""
    spoken: Tensor
    """(B,) SPEAKs."""


@torch.no_grad()
def walk(episodes: PathEpisodes, choose: Chooser) -> Path:
    """The paths of fresh episodes under a chooser, to their ends."""
    observations = list[Tensor]()
    actions = list[Tensor]()
    rewards = list[Tensor]()
    decided = list[Tensor]()
    sums = [torch.zeros_like(episodes.area) for _ in Earned._fields]
    # Rewards without a decision count for the last decision.
    forced = torch.zeros_like(episodes.area)
    number = 0
    while not bool(episodes.ended.all()):
        deciding = ~(episodes.ended | episodes.all_read)
        number += 1
        if bool(deciding.any()):
            observations.append(episodes.observe())
            actions.append(choose(observations[-1], number))
            decided.append(deciding)
            earned = episodes.step(actions[-1])
            rewards.append(earned.total() * deciding)
        else:
            earned = episodes.step(torch.full_like(episodes.read, SPEAK))
        forced += earned.total() * ~deciding
        sums = [total + part for total, part in zip(sums, earned, strict=True)]
    chosen = torch.stack(decided, 1)
    paid = torch.stack(rewards, 1)
    paid[episodes.rows, chosen.sum(1) - 1] += forced
    return Path(
        torch.stack(observations, 1),
        torch.stack(actions, 1),
        rewards=paid,
        decided=chosen,
        earned=Earned(*sums),
        proportion=episodes.proportion,
        error=Earned(*sums).quality / (episodes.rewards.lam * episodes.spoken),
        spoken=episodes.spoken,
    )
