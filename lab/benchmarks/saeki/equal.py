"""Students of all sizes, and of all weights of what teaches them, after equal steps (Saeki-b, Table
1), over seeds.

    python lab/benchmarks/saeki/equal.py runs --corpus CORPUS -o lab/benchmarks/results/saeki/equal

RUNS is a folder with the teacher (guided-small), vectors, futures and runs student-NAME-sSEED, as
the head of ``lab/recipes/saeki/student-medium-lambda-50.toml`` makes them. Reads cosine.md in the
folder of results, which ``cosine.py`` writes of the same runs: how near embeddings of test prefixes
come to the teacher's. Measures besides, on the corpus's validation prefixes, the error of the
frames that the teacher's network speaks under each embedding (``target``, Eq. 9), and under the
teacher's own. Writes equal.md."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from sayahead_lab.eval.measures.intervals import ConfidenceInterval
from sayahead_lab.results import Rows, load_figures, options, publish, table
from sayahead_lab.training.loop.checkpoint import has_checkpoint
from sayahead_lab.training.loop.saved_run import load_trained

MEAN = "the mean embedding, whatever the text"
TEACHER = "the teacher's own embedding"
NAMES = {
    "student-small": "small, lambda = 1",
    "student-medium": "medium, lambda = 1",
    "student-large": "large, lambda = 1",
    "student-medium-lambda-95": "medium, lambda = 0.95",
    "student-medium-lambda-50": "medium, lambda = 0.5",
    "student-medium-lambda-0": "medium, lambda = 0",
}


class Given(nn.Module):
    """A student that says the embeddings (B, E) that it was given."""

    embedding: Tensor

    def forward(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        return self.embedding.expand(len(vectors), -1)


@torch.no_grad()
def errors_of_frames(run: Path, corpus: Path, controls: bool) -> dict[str, float]:
    """L_target on validation prefixes under a student's embeddings, its teacher's and their
    mean."""
    trained = load_trained(run, corpus=corpus)
    task = trained.task
    task.data = replace(task.data, distil_weight=0.0)
    model = task.model()
    given = Given()
    model.student.load_state_dict(trained.model.student.state_dict())
    # The corpus's 203 prefixes are seven of these; a rest would be left out.
    batches = list(task.batches("val", batch_size=29, seed=0, rank=0, ranks=1))

    def error(student: nn.Module, meant: Sequence[Tensor]) -> float:
        model.student = student
        found = list[float]()
        for batch, embedding in zip(batches, meant, strict=True):
            given.embedding = embedding
            found.append(task.loss(model.eval(), batch, 0)[1]["target"])
        return float(np.mean(found))

    meant = [batch["meant"] for batch in batches]
    made = {"": error(model.student, meant)}
    if controls:
        mean = torch.cat(meant).mean(0, keepdim=True)
        made |= {TEACHER: error(given, meant), MEAN: error(given, [mean] * len(meant))}
    return made


def figures(runs: Path, corpus: Path, cosine: dict[str, Any]) -> dict[str, Any]:
    """Cosines and errors of frames by student, a value for each seed."""
    made = dict[str, Any]()
    for name, title in NAMES.items():
        seeds = [run for run in sorted(runs.glob(f"{name}-s?")) if has_checkpoint(run)]
        if not seeds:
            raise SystemExit(f"{runs} has no run {name}-s0, -s1, ...")
        found = [errors_of_frames(run, corpus, not made) for run in seeds]
        if not made:
            made[TEACHER], made[MEAN] = (
                {"cosine": cosines, "target": [found[0][control]]}
                for control, cosines in ((TEACHER, [1.0]), (MEAN, [cosine[MEAN]["mean"][0]]))
            )
        near = [cosine[run.name]["mean"][0] for run in seeds]
        made[title] = {"cosine": near, "target": [one[""] for one in found]}
        print(title, made[title], flush=True)
    return made


def seeds_table(made: dict[str, Any]) -> list[str]:
    """All figures: means over seeds, the least and the greatest."""
    rows = Rows()
    for title, found in made.items():
        cells = [f"{ConfidenceInterval.spread(found[one]):.4f}" for one in ("cosine", "target")]
        seeds = "" if title in (TEACHER, MEAN) else str(len(found["cosine"]))
        rows.append([title, seeds, *cells])
    return table("after 1,000 steps|seeds|cosine with the teacher|error of frames", rows)


def main(given: Sequence[str] | None = None) -> None:
    arguments = options(__doc__, "RUNS", "corpus", "out").parse_args(given)
    cosine = load_figures(arguments.out / "cosine.md")["students"]
    made = figures(arguments.runs, arguments.corpus, cosine)
    publish(arguments.out / "equal.md", seeds_table(made), made)


if __name__ == "__main__":
    main()
