"""Training of Mohan et al.'s agent (2020, section 4): it decides about sentences of the corpus, and
learns from that.

A step is a batch of episodes: the agent's paths through them, drawn by its probabilities, then one
step of REINFORCE."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sayahead.config import from_mapping
from sayahead.errors import ConfigError
from torch import Tensor, nn

from sayahead_lab.training.corpus.batches import Share, by_length
from sayahead_lab.training.corpus.store import Corpus
from sayahead_lab.training.loop.pictures import examples
from sayahead_lab.training.loop.saved_run import load_run_of
from sayahead_lab.training.loop.task import Batch, Task, logged
from sayahead_lab.training.mohan.agent_network import LOOK_BACK, AgentNetwork, AgentNetworkConfig
from sayahead_lab.training.mohan.environment import (
    EpisodeSentence,
    PathEpisodes,
    RewardConfig,
    walk,
)
from sayahead_lab.training.mohan.network import ModifiedTacotron
from sayahead_lab.training.mohan.paths import followed, policies
from sayahead_lab.training.mohan.reinforce import ReinforceConfig, Sampled, outcome, reinforce
from sayahead_lab.training.mohan.task import MohanTask, Row


@dataclass(frozen=True, slots=True)
class AgentData:
    """An agent's training data."""

    speaker: str = "runs/tts-small"
    """Run of the modified Tacotron 2 whose sentences it decides about."""
    longest: int = 400
    """Frames over which an item is left out; 0: none is."""
    rewards: RewardConfig = field(default_factory=RewardConfig)
    """Settings of the reward."""
    learning: ReinforceConfig = field(default_factory=ReinforceConfig)
    """How it is learned from."""
    samples: int = 2
    """Validation sentences whose paths are drawn, spoken freely."""


class AgentTask(Task[AgentNetwork]):
    """Training of the agent by REINFORCE over the attention of a trained Tacotron."""

    def __init__(self, model: Mapping[str, Any], data: Mapping[str, Any], corpus: Corpus) -> None:
        self.config = from_mapping(AgentNetworkConfig, model, where="[model]")
        self.data = from_mapping(AgentData, data, where="[data]")
        self.corpus = corpus
        run = load_run_of(MohanTask, ModifiedTacotron, Path(self.data.speaker), corpus.path)
        self.speaking = run.task
        self.speaker = run.model.requires_grad_(False)
        self._rounded: ModifiedTacotron | None = None

    def model(self) -> AgentNetwork:
        speaking = self.speaking.config
        return AgentNetwork(
            self.config, speaking.encoder + LOOK_BACK + speaking.n_mels, speaking.n_mels
        )

    def batches(
        self, split: str, *, batch_size: int, seed: int, rank: int, ranks: int
    ) -> Iterator[Batch]:
        """Sentences of like length together; ids (B, P), frames (B, S, F), and how many of both
        count."""
        items = self.corpus.split(split)
        draw = np.random.default_rng([seed, 37])
        share = Share(batch_size, rank, ranks)
        for _, numbers in by_length(
            items.lengths, draw, share, longest=self.data.longest, filled=True
        ):
            # A text of one character leaves nothing to decide.
            rows = [row for row in self.speaking.rows(split, numbers) if len(row[2].ids) > 1]
            if rows:
                yield self.batch(rows)

    def batch(self, rows: list[Row]) -> Batch:
        """Tensors of items with their numbers and spellings, as ``batches`` yields them."""
        sentences = self.speaking.batch(rows, None)
        counts = {
            "characters": sentences["scope"][:, 0],
            "steps": sentences["learned"].sum(1).long(),
        }
        return {**{name: sentences[name] for name in ("items", "ids", "frames")}, **counts}

    def episodes(self, sentences: Sequence[EpisodeSentence], taught: bool = True) -> PathEpisodes:
        """Fresh episodes about the sentences, with this speaker and these rewards."""
        return PathEpisodes(
            self.speaker, sentences, self.data.rewards, scale=self.speaker.std, taught=taught
        )

    def sentences(self, batch: Batch) -> list[EpisodeSentence]:
        """The sentences of a batch."""
        frames = batch["frames"].view(*batch["frames"].shape[:2], -1, self.speaking.config.n_mels)
        counts = zip(batch["characters"].tolist(), batch["steps"].tolist(), strict=True)
        return [
            EpisodeSentence(batch["ids"][row, :p], frames[row, :s])
            for row, (p, s) in enumerate(counts)
        ]

    def loss(self, model: nn.Module, batch: Batch, step: int) -> tuple[Tensor, dict[str, float]]:
        """The loss of REINFORCE; of a validation, whose actions are the likelier ones, minus the
        reward."""
        device = batch["ids"].device
        agent: Any = getattr(model, "module", model)
        speaker = self.speaker.to(device)
        # Copies in the precision of the run: else every step of a path would turn all weights into
        # it anew.
        if torch.is_autocast_enabled(device.type):
            kind = torch.get_autocast_dtype(device.type)
            agent = copy.deepcopy(agent).to(kind)
            speaker = self.rounded(kind)
        sentences = [one for one in self.sentences(batch) for _ in range(self.data.learning.paths)]
        episodes = PathEpisodes(speaker, sentences, self.data.rewards, scale=self.speaker.std)
        path = walk(episodes, Sampled(agent, greedy=not model.training))
        loss, parts = reinforce(model, path, self.data.learning)
        results = outcome(path)
        return loss if model.training else -results["reward"], logged({**parts, **results})

    def rounded(self, kind: torch.dtype) -> ModifiedTacotron:
        """The speaker with weights of that kind, loaded once."""
        if self._rounded is None:
            self._rounded = copy.deepcopy(self.speaker).to(kind)
        return self._rounded

    def said(self, split: str, numbers: Sequence[int]) -> list[EpisodeSentence]:
        """Sentences of a split by their items' numbers."""
        rows = self.speaking.rows(split, numbers)
        missing = set(numbers) - {number for number, _, _ in rows}
        if missing:
            text = self.corpus.split(split)[min(missing)].text
            raise ConfigError(
                f"Item {min(missing)} of {split} is not spelled as its words: {text!r}."
            )
        return self.sentences(self.batch(rows))

    @torch.no_grad()
    def samples(self, model: AgentNetwork, folder: Path) -> None:
        """Paths over the attention of validation sentences, spoken freely, beside the paper's
        benchmarks."""
        from sayahead_lab.eval.report.attention import policy_over_alignment
        from sayahead_lab.eval.report.drawing import save

        items = self.corpus.split("val")
        front = self.corpus.info.front_end
        hop_s = self.speaking.config.reduction * front.hop / front.sample_rate
        short = [
            int(i)
            for i in np.flatnonzero(items.lengths <= (self.data.longest or items.lengths.max()))
        ]
        for _, number in examples(short, self.data.samples):
            (sentence,) = self.said("val", [number])
            choosers = policies(model).items()
            paths = {
                name: followed(self.episodes([sentence], False), choose)
                for name, choose in choosers
            }
            save(policy_over_alignment(paths, hop_s=hop_s), folder / f"{items[number].name}.png")
