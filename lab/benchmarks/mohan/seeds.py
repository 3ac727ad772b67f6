"""The voices of Mohan et al.'s experiments, made of runs: one modified Tacotron, and each agent.

    sayahead train publish --unpack archives/runs/mohan.tar.xz -o runs
    python lab/benchmarks/mohan/seeds.py runs voices

Makes mohan-agent-UNIT-SEED of ``runs/tts-longer`` and each agent's run, ``runs/agent-longer*``: the unit of the quality
reward and the seed stand in its recipe.
"""

from __future__ import annotations

import sys
from pathlib import Path

from sayahead_lab.training.loop.recipe import Recipe
from sayahead_lab.training.loop.saved_run import load_trained
from sayahead_lab.training.voice import make_voice


def lesson(recipe: Recipe) -> tuple[float, int]:
    """The unit of the quality reward, in nats, and the seed of an agent's recipe."""
    return recipe.data["rewards"]["unit"], recipe.train.seed


def main(runs: Path, voices: Path) -> None:
    """Make what there are agents for."""
    acoustic = load_trained(runs / "tts-longer")
    for run in sorted(runs.glob("agent-longer*")):
        agent = load_trained(run)
        unit, seed = lesson(agent.recipe)
        folder = voices / f"mohan-agent-{unit:g}-{seed}"
        make_voice(acoustic, "ma-lj", folder, name=folder.name, agent=agent)
        print(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
