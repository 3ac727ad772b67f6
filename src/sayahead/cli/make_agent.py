"""``sayahead train agent``: export an agent's run as a graph."""

from __future__ import annotations

import argparse
from pathlib import Path

from sayahead.cli.console import Console
from sayahead.errors import ConfigError

HELP = "export an agent's run as a graph"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", type=Path, help="the agent's run, or one of its checkpoints")
    parser.add_argument("-o", "--out", metavar="FILE.onnx", type=Path, required=True, help="where the graph goes")


def run(arguments: argparse.Namespace) -> int:
    """Export; the exit code."""
    console = Console(quiet=False)
    try:
        from sayahead.training.loop.trained import load_run_of
        from sayahead.training.mohan.agent import AgentTask
        from sayahead.training.mohan.agent_export import agent_graph
        from sayahead.training.mohan.agent_network import Agent
    except ImportError as error:
        raise ConfigError("Exporting needs torch and onnx: pip install 'sayahead[train]'.") from error
    trained = load_run_of(AgentTask, Agent, arguments.run)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    agent_graph(trained.model).save(str(arguments.out))
    size = arguments.out.stat().st_size
    console.note(f"{arguments.out}: an agent of {trained.step} steps, {size / 1e6:.2f} MB")
    return 0
