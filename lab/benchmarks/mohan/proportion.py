"""d_T of policies over characters (Mohan et al. 2020, 4.3.2), as a voice speaks, but without its
vocoder.

    python lab/benchmarks/mohan/proportion.py lab/benchmarks/mohan/quality.toml --texts test.csv

Writes proportion.json under lab/benchmarks/results/mohan: for each condition the mean over
sentences, its 95 % interval and how many these are; READs in a row, at most; and the steps that a
character took."""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
from sayahead.engine.policy import LetterPolicy, LetterView, Read, Steps
from sayahead.engine.synthesizer import TwoStage
from sayahead.types import Floats
from sayahead.voice import Voice

from sayahead_lab.eval.experiment.conditions import load_matrix, policy, voice
from sayahead_lab.eval.measures.latency import path_area
from sayahead_lab.scripts import read_texts, strided


class Silent:
    """A vocoder that makes none of the sound."""

    hop_length = 300
    context = 0

    def initial(self, frame: int) -> None:
        return None

    def step(
        self, final: Floats, right: Floats, state: None, *, seed: int, ended: bool
    ) -> tuple[Floats, None]:
        return np.zeros(len(final) * self.hop_length, np.float32), None


@dataclass(slots=True)
class Walked:
    """A policy's decisions, taken down."""

    policy: LetterPolicy
    """Whose."""
    sentences: list[list[int]] = field(default_factory=list)
    """Characters read at each SPEAK, by sentence."""
    unit: str = "characters"

    def decide(self, view: LetterView) -> Read | Steps:
        action = self.policy.decide(view)
        if isinstance(action, Steps):
            if not view.steps:
                self.sentences.append([])
            self.sentences[-1] += [view.read] * action.count
        return action


def walked(own: LetterPolicy, speaker: Voice, text: str) -> Walked:
    """The paths of a text under a policy."""
    synthesizer: Any = speaker.synthesizer
    quiet = TwoStage(
        synthesizer.acoustic, Silent(), sample_rate=speaker.sample_rate, pauses=synthesizer.pauses
    )
    made = Walked(own)
    for _ in speaker.with_synthesizer(quiet).stream([text], policy=made):
        pass
    return made


def measured(paths: list[Walked]) -> dict[str, float]:
    """The figures of a condition."""
    sentences = [one for path in paths for one in path.sentences]
    areas = np.array([path_area(one, one[-1]) for one in sentences])
    draw = np.random.default_rng(0)
    means = np.sort(draw.choice(areas, (2000, len(areas))).mean(1))
    rates = [len(one) / one[-1] for one in sentences]
    most = max(int(np.diff(one, prepend=0).max()) for one in sentences)
    return {
        "d_T": float(areas.mean()),
        "low": float(means[50]),
        "high": float(means[1949]),
        "sentences": len(areas),
        "steps a character": float(np.mean(rates)),
        "most READs in a row": most,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("experiment", type=Path)
    parser.add_argument("--texts", type=Path, required=True)
    parser.add_argument(
        "--count", type=int, help="sentences of the experiment's, evenly spaced; without it, all"
    )
    parser.add_argument("-o", "--out", type=Path, required=True, help="a JSON file")
    arguments = parser.parse_args()
    matrix = load_matrix(arguments.experiment)
    texts = strided(read_texts(arguments.texts), matrix.count)
    made = dict[str, Any]()
    texts = strided(texts, arguments.count or len(texts))
    for condition in matrix.conditions:
        condition = replace(condition, cores=None)
        paths = [
            walked(cast(LetterPolicy, policy(condition)), voice(condition.voice, 1), text.text)
            for text in texts
        ]
        made[condition.name] = measured(paths)
        print(condition.name, {key: round(value, 3) for key, value in made[condition.name].items()})
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    command = (
        f"python lab/benchmarks/mohan/proportion.py {arguments.experiment} --texts"
        f" {arguments.texts.name}"
    )
    command += f" --count {arguments.count}" if arguments.count else ""
    arguments.out.write_text(
        json.dumps({"command": command, "rows": made}, indent=1) + "\n", encoding="utf-8"
    )


if __name__ == "__main__":
    main()
