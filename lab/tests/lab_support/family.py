"""Two speakers in the default voice's networks, hardly trained."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lab_support.sentences import TEXTS
from sayahead_lab.training.corpus.frontend import PRESETS
from sayahead_lab.training.corpus.joined import join
from sayahead_lab.training.corpus.making import make_corpus
from sayahead_lab.training.corpus.teacher import TeacherSpec
from sayahead_lab.training.loop.recipe import load_recipe, recipe_from
from sayahead_lab.training.loop.run import train

RECIPES = Path(__file__).parents[2] / "recipes" / "heart"
NAMES = ["ann", "bob"]


def family_corpus(folder: Path) -> Path:
    """A joined corpus of two speakers, who say the same two sentences, and one to validate."""
    for seed, name in enumerate(NAMES):
        splits = {
            "train": [(f"{name}-{n}", text) for n, text in enumerate(TEXTS)],
            "val": [(f"{name}-v", "It is.")],
        }
        make_corpus(folder / name, TeacherSpec(PRESETS["ma"], "all", seed=seed), splits)
    join(folder, NAMES)
    return folder


def family_run(
    name: str, corpus: Path, out: Path, *, steps: int = 1, start: str = "heart", **data: Any
) -> Path:
    """A run by one of the recipes of several speakers, with short crops."""
    whole = load_recipe(RECIPES / f"{name}.toml").resolved()
    whole["data"] |= {
        "ranges": str(RECIPES / "ranges.json"),
        "units": 14,
        "spoken_steps": 1,
        **data,
    }
    whole["train"] |= {
        "start": start,
        "steps": steps,
        "batch_size": 2,
        "warmup_steps": 0,
        "sample_every": 100,
    }
    train(recipe_from(whole, name=name, where=name), corpus, out, threads=1)
    return out
