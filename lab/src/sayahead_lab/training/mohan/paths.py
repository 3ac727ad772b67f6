"""Policies walked through the environment: the paths over the attention (Mohan et al. 2020, Fig.
2), d_T and errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from sayahead.types import Floats, Ids

from sayahead_lab.training.mohan.agent_network import READ, AgentNetwork
from sayahead_lab.training.mohan.environment import (
    Chooser,
    EpisodeSentence,
    PathEpisodes,
    wait_end,
    wait_k_steps,
    walk,
)
from sayahead_lab.training.mohan.reinforce import Sampled

Begin = Callable[[Sequence[EpisodeSentence], bool], PathEpisodes]
"""Fresh episodes about sentences, each frame after the true ones or spoken freely:
``AgentTask.episodes``."""
ENOUGH = 4
"""SPEAKs a character after which a sentence that does not end is left."""


def policies(agent: AgentNetwork | None) -> dict[str, Chooser]:
    """The paper's policies by name, the agent's last, if there is one; an agent's is good for one
    walk."""
    choosers: dict[str, Chooser] = {"wait-end": wait_end}
    choosers |= {f"wait-{k}-steps": wait_k_steps(k) for k in (2, 3)}
    return choosers if agent is None else {**choosers, "agent": Sampled(agent, greedy=True)}


@torch.no_grad()
def followed(episode: PathEpisodes, choose: Chooser) -> tuple[Floats, Ids]:
    """Attention (S, P) in an episode of one sentence under a policy, and the characters read (S,)
    at each SPEAK."""
    episode.most = ENOUGH * int(episode.characters)
    attention = list[Floats]()
    read = list[int]()
    number = 0
    while not bool(episode.ended):
        number += 1
        deciding = not bool(episode.all_read)
        actions = (
            choose(episode.observe(), number) if deciding else 1 + torch.zeros_like(episode.read)
        )
        if not deciding or int(actions) != READ:
            attention.append(episode.look.weights[0].cpu().numpy())
            read.append(int(episode.read))
        episode.step(actions)
    return np.stack(attention), np.array(read, np.int64)


def compared(
    begin: Begin,
    sentences: Sequence[EpisodeSentence],
    agent: AgentNetwork | None,
    *,
    batch: int = 25,
    only: Sequence[str] = (),
) -> dict[str, dict[str, float]]:
    """Means over sentences by policy, or by those named: ``d_T`` and ``mse`` after true frames,
    ``d_T_free`` freely.

    ``unread`` and ``unended`` are shares of sentences: whose true frames were over before all was
    read, and that, spoken freely, did not end by themselves.
    """
    means: dict[str, dict[str, float]] = {}
    ordered = sorted(sentences, key=lambda one: len(one.frames))
    for name in only or policies(agent):
        rows = list[tuple[float, float, float, float, float]]()
        for at in range(0, len(ordered), batch):
            group = ordered[at : at + batch]
            path = walk(begin(group, True), policies(agent)[name])
            free = begin(group, False)
            free.most = ENOUGH * max(len(one.ids) for one in group)
            alone = walk(free, policies(agent)[name])
            unread = path.earned.unread < 0
            unended = alone.spoken >= free.most
            columns = (
                path.proportion,
                path.error,
                alone.proportion,
                unread.float(),
                unended.float(),
            )
            rows += zip(*(column.tolist() for column in columns), strict=True)
        row = np.array(rows).mean(0).tolist()
        means[name] = dict(zip(("d_T", "mse", "d_T_free", "unread", "unended"), row, strict=True))
    return means
