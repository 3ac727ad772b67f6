"""Policies walked through the environment: the paths over the attention (Mohan et al. 2020, Fig. 2), d_T and errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch

from sayahead.training.mohan.agent_network import READ, Agent
from sayahead.training.mohan.environment import Chooser, Sentence, wait_end, wait_k_steps, walk
from sayahead.training.mohan.reinforce import Sampled
from sayahead.types import Floats, Ids

if TYPE_CHECKING:
    from sayahead.training.mohan.agent import AgentTask

ENOUGH = 4
"""SPEAKs a character after which a sentence that does not end is left."""


def policies(agent: Agent | None) -> dict[str, Chooser]:
    """The paper's policies by name, the agent's last, if there is one; an agent's is good for one walk."""
    made: dict[str, Chooser] = {"wait-end": wait_end, "wait-2-steps": wait_k_steps(2), "wait-3-steps": wait_k_steps(3)}
    return made if agent is None else {**made, "agent": Sampled(agent, greedy=True)}


@torch.no_grad()
def followed(task: AgentTask, sentence: Sentence, choose: Chooser, *, taught: bool = False) -> tuple[Floats, Ids]:
    """Attention (S, P) of one sentence under a policy, and the characters read (S,) when each step was spoken.

    Spoken freely, or after the true frames where ``taught``.
    """
    episodes = task.episodes([sentence], taught=taught)
    episodes.most = ENOUGH * len(sentence.ids)
    looked, read, number = list[Floats](), list[int](), 0
    while not bool(episodes.ended):
        number += 1
        deciding = not bool(episodes.all_read)
        actions = choose(episodes.observe(), number) if deciding else 1 + torch.zeros_like(episodes.read)
        if not deciding or int(actions) != READ:
            looked.append(episodes.look.weights[0].cpu().numpy())
            read.append(int(episodes.read))
        episodes.step(actions)
    return np.stack(looked), np.array(read, np.int64)


def compared(
    task: AgentTask, sentences: Sequence[Sentence], agent: Agent | None, *, batch: int = 25,
    only: Sequence[str] | None = None,
) -> dict[str, dict[str, float]]:  # fmt: skip
    """Means over sentences by policy, or by those named: ``d_T`` and ``mse`` after true frames, ``d_T_free`` freely.

    ``unread`` and ``unended`` are shares of sentences: whose true frames were over before all was read, and that,
    spoken freely, did not end by themselves.
    """
    made: dict[str, dict[str, float]] = {}
    ordered = sorted(sentences, key=lambda one: len(one.frames))
    for name in policies(agent) if only is None else only:
        rows = list[tuple[float, float, float, float, float]]()
        for at in range(0, len(ordered), batch):
            own = ordered[at : at + batch]
            path = walk(task.episodes(own), policies(agent)[name])
            free = task.episodes(own, taught=False)
            free.most = ENOUGH * max(len(one.ids) for one in own)
            spoken = walk(free, policies(agent)[name])
            unread, unended = path.earned.unread < 0, spoken.spoken >= free.most
            columns = (path.proportion, path.error, spoken.proportion, unread.float(), unended.float())
            rows += zip(*(column.tolist() for column in columns), strict=True)
        means = np.array(rows).mean(0).tolist()
        made[name] = dict(zip(("d_T", "mse", "d_T_free", "unread", "unended"), means, strict=True))
    return made
