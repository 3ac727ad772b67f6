"""The two trainings of an own voice, one after the other, within a bound of minutes, each resumable
at any moment."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import torch

from sayahead_lab.training.loop import checkpoint as checkpoints
from sayahead_lab.training.loop.parallel import emulates_bfloat16
from sayahead_lab.training.loop.recipe import Recipe, recipe_from
from sayahead_lab.training.loop.run import train

STAGES = {"sound": 0.8, "prosody": 0.2}
"""Recipes beside this module in the order of their trainings, with their shares of the minutes."""
MIN_MINUTES = 0.01
"""What is left to a training whose time is up before it has begun."""


BEGINNING = "begin"
"""The run beside the trainings' that the first of them begins with."""


def recipe_of(stage: str, start: Path) -> Recipe:
    """The recipe of a training, which begins with the run in a folder."""
    data = tomllib.loads(files(__package__).joinpath(f"{stage}.toml").read_text(encoding="utf-8"))
    data["train"]["start"] = str(start)
    if data["train"]["precision"] == "auto" and not torch.cuda.is_available():
        data["train"]["precision"] = (
            "float32" if emulates_bfloat16(torch.device("cpu")) else "bfloat16"
        )
    return recipe_from(data, name=f"own-{stage}", where=f"{stage}.toml")


def train_stages(
    corpus: Path,
    work: Path,
    *,
    minutes: float,
    steps: int | None,
    options: Mapping[str, Any],
    note: Callable[[str], None],
) -> int:
    """Train what is not trained yet, each training in its folder of ``work``; a signal's number, or
    0 at the end.

    ``minutes`` bound both together, over all invocations; ``steps`` bounds each. ``options`` are
    those of ``train``.
    """
    before = work / BEGINNING
    for stage, share in STAGES.items():
        out = work / stage
        done = work / f"{stage}.done"
        if not done.is_file():
            recipe = recipe_of(stage, before).shortened(steps)
            there = checkpoints.has_checkpoint(out)
            spent_s = checkpoints.load_checkpoint(out)["counters"]["seconds"] if there else 0.0
            left = max(MIN_MINUTES, minutes * share - spent_s / 60)
            note(
                f"{stage}: {left:.0f} minutes or {recipe.train.steps} steps, whichever are over"
                " first."
            )
            outcome = train(recipe, corpus, out, minutes=left, resume=there, note=note, **options)
            if outcome.signal:
                return outcome.signal
            done.write_text(f"{outcome.step} steps\n", encoding="utf-8")
        before = out
    return 0
