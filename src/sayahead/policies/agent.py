"""An agent that has learned when to READ and when to SPEAK (Mohan et al. 2020, 4.4), as a policy at
run time."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sayahead.engine.onnx import OnnxGraph
from sayahead.engine.policy import LetterView, Read, Steps
from sayahead.errors import ConfigError


@dataclass(frozen=True, slots=True)
class AgentConfig:
    """What voice.json says about its agent under ``agent``; the file is listed under ``files``,
    with its digest."""

    graph: str
    """File of the graph: observation (D,), hidden (H,) -> logits (2,) of READ and SPEAK,
    next_hidden (H,)."""
    hidden: int
    """H, of its recurrent unit."""


@dataclass(frozen=True, slots=True, repr=False)
class Agent:
    """The likelier of READ and SPEAK given all observations of the sentence (5.1: greedy); see
    LetterPolicy.

    It has no state: what its recurrent unit remembers travels as the ``memory`` of actions and
    views."""

    graph: OnnxGraph
    """The network."""
    hidden: int
    """H, of its recurrent unit."""
    unit = "characters"
    taught = True

    @classmethod
    def load(cls, folder: Path, model: AgentConfig, *, threads: int = 1) -> Agent:
        """Load the agent from a voice's folder. VoiceError if its graph cannot be read."""
        return cls(OnnxGraph(folder / model.graph, threads=threads), model.hidden)

    def decide(self, view: LetterView) -> Read | Steps:
        """Take the likelier action; once a sentence was read, only SPEAK is possible (4.3.3)."""
        if view.over:
            return Steps()
        if view.observation is None:
            raise ConfigError(
                "An agent needs observations, but this voice makes none: choose another policy."
            )
        memory = np.zeros(self.hidden, np.float32) if view.memory is None else view.memory
        out = self.graph(observation=view.observation, hidden=memory)
        after = out["next_hidden"]
        read, speak = out["logits"]
        return Steps(1, after) if speak >= read else Read(after)

    def __repr__(self) -> str:
        return "Agent()"
