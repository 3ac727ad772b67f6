"""The voices of Mohan et al.'s experiments, made of runs: one modified Tacotron, an agent of each seed.

    sayahead train publish --unpack archives/runs/mohan.tar.gz -o runs
    python benchmarks/mohan/seeds.py runs voices

Makes mohan-agent-SEED of ``runs/tts-longer`` and each agent's run, ``runs/agent-longer-SEED``.
"""

from __future__ import annotations

import sys
from pathlib import Path

from sayahead.training.loop.trained import load_trained
from sayahead.training.voice import make_voice


def main(runs: Path, voices: Path) -> None:
    """Make what there are agents for."""
    acoustic = load_trained(runs / "tts-longer")
    for run in sorted(runs.glob("agent-longer-*")):
        seed = run.name.removeprefix("agent-longer-")
        folder = voices / f"mohan-agent-{seed}"
        make_voice(acoustic, "ma-lj", folder, name=folder.name, agent=load_trained(run))
        print(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
