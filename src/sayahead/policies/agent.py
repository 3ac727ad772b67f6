"""An agent that was taught when to READ and when to SPEAK (Mohan et al. 2020, 4.4), as a policy at run time."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from sayahead.engine.onnx import OnnxGraph
from sayahead.engine.policy import Read, Speak, View
from sayahead.errors import ConfigError
from sayahead.policies.characters import reading


@dataclass(frozen=True, slots=True)
class AgentModel:
    """What voice.json says of its agent under ``agent``; the file stands under ``files``, with its digest."""

    graph: str
    """File of the graph: observation (D,), hidden (H,) -> logits (2,) of READ and SPEAK, next_hidden (H,)."""
    hidden: int
    """H, of its recurrent unit."""


class Agent:
    """See Policy: the likelier of READ and SPEAK after all that was observed of the sentence (5.1: greedy).

    It holds nothing: what its recurrent unit remembers travels as the ``memory`` of actions and views.
    """

    characters: ClassVar[bool] = True

    def __init__(self, graph: OnnxGraph, *, hidden: int) -> None:
        self._graph, self._hidden = graph, hidden

    @classmethod
    def load(cls, folder: Path, model: AgentModel, *, threads: int = 1) -> Agent:
        """The agent of a voice's folder; VoiceError where its graph cannot be read."""
        return cls(OnnxGraph(folder / model.graph, threads=threads), hidden=model.hidden)

    def decide(self, view: View) -> Read | Speak:
        """See Policy; behind a sentence's end there is only SPEAK, about which it is not asked (4.3.3)."""
        at = reading(self, view)
        if at.over:
            return Speak(0, 0, steps=1)
        if view.observation is None:
            raise ConfigError("An agent decides on what the last step has seen: this voice does not tell.")
        memory = np.zeros(self._hidden, np.float32) if at.memory is None else at.memory
        out = self._graph(observation=view.observation, hidden=memory)
        after = out["next_hidden"]
        return Speak(0, 0, steps=1, memory=after) if out["logits"][1] >= out["logits"][0] else Read(after)

    def __repr__(self) -> str:
        return "Agent()"
