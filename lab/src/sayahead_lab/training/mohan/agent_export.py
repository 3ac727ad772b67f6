"""An agent as a graph for the runtime (``sayahead.policies.agent``)."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from sayahead.errors import ConfigError
from sayahead.policies.agent import AgentConfig
from torch import nn

from sayahead_lab.training.graph.builder import GraphBuilder
from sayahead_lab.training.graph.recurrent import dense
from sayahead_lab.training.loop.saved_run import Trained
from sayahead_lab.training.mohan.agent_network import AgentNetwork
from sayahead_lab.training.voice_parts import Written


def agent_graph(agent: AgentNetwork) -> GraphBuilder:
    """The graph of an agent without its baseline.

    Inputs ``observation`` (D,) and ``hidden`` (H,), zeros before a sentence; outputs ``logits``
    (2,) of READ and SPEAK, and ``next_hidden`` (H,). SPEAK where its logit is not the smaller one.
    """
    g = GraphBuilder()
    wide = agent.config.recurrent
    row = g.constant(np.array([0]))
    flat = g.constant(np.array([-1]))
    x = g.op("Unsqueeze", g.input("observation", np.float32, [agent.observed]), row)
    was = g.op("Unsqueeze", g.input("hidden", np.float32, [wide]), row)
    inner, outer, inner_bias, outer_bias = (weight.detach() for weight in agent.gru.all_weights[0])
    inner = inner * agent.factors
    terms = ((x, inner, inner_bias), (was, outer, outer_bias))
    parts = [g.op("Split", dense(g, *term), outputs=3, axis=1) for term in terms]
    reset, update = (
        g.op("Sigmoid", g.op("Add", parts[0][gate], parts[1][gate])) for gate in (0, 1)
    )
    new = g.op("Tanh", g.op("Add", parts[0][2], g.op("Mul", reset, parts[1][2])))
    # (1 - z) n + z h, as in torch.
    after = g.op("Add", new, g.op("Mul", update, g.op("Sub", was, new)))

    def layer(value: str, linear: nn.Linear) -> str:
        return dense(g, value, linear.weight, linear.bias)

    hidden = g.op("Relu", layer(str(g.op("Relu", layer(str(after), agent.first))), agent.second))
    g.output(str(g.op("Reshape", layer(str(hidden), agent.out), flat)), "logits", np.float32, [2])
    g.output(str(g.op("Reshape", after, flat)), "next_hidden", np.float32, [wide])
    return g


def write_agent(run: Trained[Any, Any], folder: Path) -> Written:
    """Write an agent's graph; returns its path, and its entry of voice.json."""
    if not isinstance(run.model, AgentNetwork):
        raise ConfigError(f"{run.recipe.name} is a run of {run.recipe.task}, which is no agent.")
    path = folder / "agent.onnx"
    agent_graph(run.model).save(str(path))
    return [path], asdict(AgentConfig(path.name, run.model.config.recurrent))
