"""The environment of Mohan et al. (2020) for Gymnasium, to try other reinforcement learning
algorithms.

python lab/examples/gymnasium_environment.py runs/tts-longer corpus/ma

Needs Gymnasium: pip install ./lab gymnasium.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import torch
from sayahead import ConfigError
from sayahead.types import Floats
from torch import Tensor

from sayahead_lab.training.corpus.store import Corpus
from sayahead_lab.training.mohan.agent import AgentTask
from sayahead_lab.training.mohan.environment import (
    EpisodeSentence,
    PathEpisodes,
    RewardConfig,
    StepwiseSpeaker,
)


class ReadSpeak(gymnasium.Env[Floats, np.int64]):
    """One sentence an episode, drawn anew by every reset: action 0 is READ, 1 is SPEAK.

    An observation is (D,) float32, see ``PathEpisodes.observe``. An episode ends when everything is
    spoken, or when everything is read: then the rest is spoken at once and its rewards are summed
    up in the last one (4.3.3). ``info`` has the parts of the reward, characters read, SPEAKs and,
    when it has ended, ``d_T``."""

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
        """See PathEpisodes."""
        self.speaker = speaker
        self.sentences = sentences
        self.rewards = rewards
        self.scale = scale
        self.taught = taught
        self.most = most
        self._begin(0)
        self.observation_space = gymnasium.spaces.Box(
            -np.inf, np.inf, self._observe().shape, np.float32
        )
        self.action_space = gymnasium.spaces.Discrete(2)

    @torch.no_grad()
    def _begin(self, sentence: int) -> None:
        options: dict[str, Any] = {"scale": self.scale, "taught": self.taught, "most": self.most}
        self.episodes = PathEpisodes(
            self.speaker, [self.sentences[sentence]], self.rewards, **options
        )

    def _observe(self) -> Floats:
        observation: Floats = self.episodes.observe()[0].float().cpu().numpy().astype(np.float32)
        return observation

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Floats, dict[str, Any]]:
        """The first observation of a sentence; ``options={"sentence": 3}`` names which."""
        super().reset(seed=seed)
        wanted = (options or {}).get("sentence")
        sentence = (
            int(self.np_random.integers(len(self.sentences))) if wanted is None else int(wanted)
        )
        self._begin(sentence)
        return self._observe(), {"sentence": sentence}

    @torch.no_grad()
    def step(self, action: np.int64) -> tuple[Floats, float, bool, bool, dict[str, Any]]:
        """Observation, reward, whether the episode is over, False (there is no other end), and what
        happened."""
        if action not in (0, 1):
            raise ConfigError(f"An action is 0 (READ) or 1 (SPEAK), not {action!r}.")
        parts = np.zeros(4)
        actions = torch.tensor([int(action)], device=self.scale.device)
        while True:
            parts += np.array([float(part) for part in self.episodes.step(actions)])
            ended = bool(self.episodes.ended)
            if ended or not bool(self.episodes.all_read):
                break
        info: dict[str, Any] = dict(
            zip(("consecutive", "delay", "quality", "unread"), parts.tolist(), strict=True)
        )
        info |= {"read": int(self.episodes.read), "spoken": int(self.episodes.spoken)}
        if ended:
            info["d_T"] = float(self.episodes.proportion)
        return self._observe(), float(parts.sum()), ended, False, info


def main(world: ReadSpeak, seed: int = 0) -> dict[str, Any]:
    """What happened in an episode of random actions."""
    world.reset(seed=seed)
    world.action_space.seed(seed)
    ended = False
    info = dict[str, Any]()
    total = 0.0
    while not ended:
        _, reward, ended, _, info = world.step(world.action_space.sample())
        total += reward
    print(
        f"reward {total:.2f}, d_T {info['d_T']:.2f}, {info['read']} characters read,"
        f" {info['spoken']} SPEAKs"
    )
    return info


if __name__ == "__main__":
    task = AgentTask({}, {"speaker": sys.argv[1]}, Corpus(Path(sys.argv[2])))
    main(
        ReadSpeak(
            task.speaker, task.said("train", range(9)), task.data.rewards, scale=task.speaker.std
        )
    )
