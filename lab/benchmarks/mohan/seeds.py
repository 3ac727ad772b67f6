r"""The voices of Mohan et al.'s experiments, made of runs: one modified Tacotron, and each agent.

    sayahead train publish --unpack archives/runs/mohan.tar.xz -o runs/mohan
    python lab/benchmarks/mohan/seeds.py runs/mohan voices
    sayahead train publish --unpack archives/runs/mohan-fr.tar.xz -o runs/fr
    python lab/benchmarks/mohan/seeds.py runs/fr voices --speaker tts-french --agents \
        agent-french --name mohan-fr \
        --license Apache-2.0

Makes NAME-UNIT-SEED of the speaker's run (the modified Tacotron's) and that of each agent, whose
name begins with ``--agents``: the unit of the quality reward and the seed stand in its recipe.
``--vocoder`` is a voice that lends its vocoder, or the name of a run; ``--license`` is the voices',
where the corpus's speaker is not the default voice.
"""

from __future__ import annotations

from collections.abc import Sequence

from sayahead_lab.results import options
from sayahead_lab.training.loop.saved_run import load_trained
from sayahead_lab.training.voice import make_voice


def main(given: Sequence[str] | None = None) -> None:
    """Make what there are agents for."""
    arguments = options(
        __doc__,
        "RUNS",
        "VOICES",
        speaker="tts-longer",
        agents="agent-longer",
        vocoder="ma-lj",
        name="mohan-agent",
        license=str,
    ).parse_args(given)
    acoustic = load_trained(arguments.runs / arguments.speaker)
    trained = arguments.runs / arguments.vocoder
    vocoder = load_trained(trained) if trained.is_dir() else arguments.vocoder
    for run in sorted(arguments.runs.glob(f"{arguments.agents}*")):
        agent = load_trained(run)
        unit = agent.recipe.data["rewards"]["unit"]
        folder = arguments.voices / f"{arguments.name}-{unit:g}-{agent.recipe.train.seed}"
        make_voice(
            acoustic, vocoder, folder, name=folder.name, license=arguments.license, agent=agent
        )
        print(folder)


if __name__ == "__main__":
    main()
