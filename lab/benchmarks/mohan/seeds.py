r"""The voices of Mohan et al.'s experiments, made of runs: one modified Tacotron, and each agent.

    sayahead train publish --unpack archives/runs/mohan.tar.xz -o runs/mohan
    python lab/benchmarks/mohan/seeds.py runs/mohan voices
    sayahead train publish --unpack archives/runs/mohan-fr.tar.xz -o runs/fr
    python lab/benchmarks/mohan/seeds.py runs/fr voices --speaker tts-french --agents \
        agent-french --name mohan-fr \
        --license Apache-2.0

Makes NAME-UNIT-SEED of the speaker's run and each agent's beside it: the unit of the quality reward
and the seed stand in its recipe.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from sayahead_lab.training.loop.recipe import Recipe
from sayahead_lab.training.loop.saved_run import load_trained
from sayahead_lab.training.voice import make_voice


def lesson(recipe: Recipe) -> tuple[float, int]:
    """The unit of the quality reward, in nats, and the seed of an agent's recipe."""
    return recipe.data["rewards"]["unit"], recipe.train.seed


def main(given: Sequence[str] | None = None) -> None:
    """Make what there are agents for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("runs", type=Path)
    parser.add_argument("voices", type=Path)
    parser.add_argument("--speaker", default="tts-longer", help="the run of the modified Tacotron")
    parser.add_argument(
        "--agents", default="agent-longer", help="what the names of the agents' runs begin with"
    )
    parser.add_argument(
        "--vocoder", default="ma-lj", help="a voice that lends its vocoder, or the name of a run"
    )
    parser.add_argument("--name", default="mohan-agent", help="what the voices' names begin with")
    parser.add_argument(
        "--license", help="of the voices, where the corpus's speaker is not the default voice"
    )
    arguments = parser.parse_args(given)
    acoustic = load_trained(arguments.runs / arguments.speaker)
    trained = arguments.runs / arguments.vocoder
    vocoder = load_trained(trained) if trained.is_dir() else arguments.vocoder
    for run in sorted(arguments.runs.glob(f"{arguments.agents}*")):
        agent = load_trained(run)
        unit, seed = lesson(agent.recipe)
        folder = arguments.voices / f"{arguments.name}-{unit:g}-{seed}"
        make_voice(
            acoustic, vocoder, folder, name=folder.name, license=arguments.license, agent=agent
        )
        print(folder)


if __name__ == "__main__":
    main()
