"""d_T of policies over characters (Mohan et al. 2020, 4.3.2), as a voice speaks, but without its
vocoder.

    python lab/benchmarks/mohan/proportion.py lab/benchmarks/mohan/quality.toml --texts test.csv

Writes proportion.json under lab/benchmarks/results/mohan: for each condition the mean over
sentences, its 95 % interval and how many these are; READs in a row, at most; and the steps that a
character took."""

from __future__ import annotations

import copy
from dataclasses import asdict, dataclass, field, replace
from typing import Any, cast

import numpy as np
from sayahead.engine.policy import LetterPolicy, LetterView, Read, Steps
from sayahead.voice import Voice

from sayahead_lab.eval.experiment.conditions import load_matrix, policy, voice
from sayahead_lab.eval.measures.intervals import estimate, quotient
from sayahead_lab.eval.measures.latency import path_area
from sayahead_lab.eval.measures.prosody import Silent
from sayahead_lab.results import keep_figures, options
from sayahead_lab.scripts import strided, texts_at


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
    quiet = copy.copy(synthesizer)
    quiet.vocoder = Silent(synthesizer.vocoder)
    made = Walked(own)
    for _ in speaker.with_synthesizer(quiet).stream([text], policy=made):
        pass
    return made


def measured(paths: list[Walked]) -> dict[str, float]:
    """The figures of a condition."""
    sentences = [one for path in paths for one in path.sentences]
    area = estimate(np.array([(path_area(one, one[-1]), 1) for one in sentences]), quotient)
    figures = asdict(area)
    return {
        "d_T": figures.pop("value"),
        **figures,
        "steps a character": float(np.mean([len(one) / one[-1] for one in sentences])),
        "most READs in a row": max(int(np.diff(one, prepend=0).max()) for one in sentences),
    }


def main() -> None:
    arguments = options(__doc__, "experiment", "texts", "out", count=0).parse_args()
    matrix = load_matrix(arguments.experiment)
    texts = strided(texts_at(arguments.texts, matrix.count), arguments.count or matrix.count)
    made = dict[str, Any]()
    for condition in matrix.conditions:
        condition = replace(condition, cores=None)
        paths = [
            walked(cast(LetterPolicy, policy(condition)), voice(condition.voice, 1), text)
            for text in texts
        ]
        made[condition.name] = measured(paths)
        print(condition.name, {key: round(value, 3) for key, value in made[condition.name].items()})
    command = (
        f"python lab/benchmarks/mohan/proportion.py {arguments.experiment} --texts"
        f" {arguments.texts.name}"
    )
    command += f" --count {arguments.count}" if arguments.count else ""
    keep_figures({"command": command, "rows": made}, arguments.out)


if __name__ == "__main__":
    main()
