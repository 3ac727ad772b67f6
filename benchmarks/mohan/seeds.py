"""The voices of Mohan et al.'s experiments, made of runs: one modified Tacotron, an agent of each seed.

    python benchmarks/mohan/seeds.py runs voices

Makes mohan-agent-SEED of ``runs/mohan-small`` and each agent's run, ``runs/mohan-agent-SEED``.
"""

from __future__ import annotations

import sys
from pathlib import Path

from sayahead.training.loop.trained import load_trained
from sayahead.training.voice import make_voice


def main(runs: Path, voices: Path) -> None:
    """Make what there are agents for."""
    acoustic = load_trained(runs / "mohan-small")
    for run in sorted(runs.glob("mohan-agent-*")):
        folder = voices / run.name
        make_voice(acoustic, "ma-lj", folder, name=folder.name, agent=load_trained(run))
        print(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
