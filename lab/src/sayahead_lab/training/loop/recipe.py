"""Recipes: the TOML of a training run, strictly checked, and the same recipe as saved by the
run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from sayahead.config import describe, from_mapping, nearest, read_toml
from sayahead.errors import ConfigError

from sayahead_lab.overrides import Override, overridden
from sayahead_lab.training.loop.task import TrainSettings, task_name

KEYS = ("task", "corpus", "model", "data", "train")
FREE = ("corpus", "train.steps", "train.log_every", "train.checkpoint_s", "train.sample_every")
"""Keys that a resumed run may change: its end and its output, not its steps. The corpus is known by
its fingerprint, wherever it lies."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """A training run."""

    name: str
    """The file's name, without its suffix."""
    task: str
    """Key of ``TASKS``."""
    train: TrainSettings
    """How the loop trains."""
    corpus: str = "corpus"
    """Folder of the corpus, unless the command line names another."""
    model: Mapping[str, Any] = field(default_factory=dict)
    """The task's model, in the keys of its own configuration."""
    data: Mapping[str, Any] = field(default_factory=dict)
    """The task's data, in the keys of its own configuration."""

    def resolved(self) -> dict[str, Any]:
        """All keys as a mapping of plain values, with the loop's defaults filled in."""
        settings = asdict(self.train)
        tables = {"model": plain(self.model), "data": plain(self.data), "train": plain(settings)}
        return {"task": self.task, "corpus": self.corpus, **tables}

    def shortened(self, steps: int | None) -> Recipe:
        """The same recipe with another number of steps; None: unchanged."""
        return (
            self
            if steps is None
            else replace(self, train=checked(replace(self.train, steps=steps), self.name))
        )

    def seeded(self, seed: int | None) -> Recipe:
        """The same recipe with another seed; None: unchanged."""
        return (
            self
            if seed is None
            else replace(self, train=checked(replace(self.train, seed=seed), self.name))
        )


def load_recipe(path: Path, overrides: Sequence[Override] = ()) -> Recipe:
    """The recipe in a TOML file, with other values (``--set``); ConfigError names the file and the
    invalid key."""
    if not path.exists():
        raise ConfigError(
            f"There is no recipe {path}: name a TOML file, such as those under lab/recipes/."
        )
    data = overridden(read_toml(path), overrides, where=str(path))
    return recipe_from(data, name=path.stem, where=str(path))


def recipe_from(data: Mapping[str, Any], *, name: str, where: str) -> Recipe:
    """The recipe of a parsed file; ``where`` begins the path that an error names."""
    for key in data:
        if key not in KEYS:
            raise ConfigError(f"{where}: unknown key {key!r}{nearest(key, KEYS)}.")
    for key, kind, word in (("task", str, "a name"), ("corpus", str, "a folder")):
        if key in data and not isinstance(data[key], kind):
            raise ConfigError(f"{where}: {key}: expected {word}, found {describe(data[key])}.")
    for key in ("model", "data"):
        if not isinstance(data.get(key, {}), Mapping):
            raise ConfigError(
                f"{where}: {key}: expected a table with keys, found {describe(data[key])}."
            )
    for key in ("task", "train"):
        if key not in data:
            raise ConfigError(f"{where}: the key {key!r} is missing.")
    task = task_name(data["task"], where)
    settings = checked(from_mapping(TrainSettings, data["train"], where=f"{where}: train"), where)
    tables = {key: dict(data.get(key, {})) for key in ("model", "data")}
    return Recipe(
        name, task, settings, data.get("corpus", "corpus"), tables["model"], tables["data"]
    )


def checked(settings: TrainSettings, where: str) -> TrainSettings:
    """The settings, if their values are valid; ConfigError names the first that is not."""
    rules = {
        "batch_size": (settings.batch_size >= 1, "at least 1"),
        "steps": (settings.steps >= 1, "at least 1"),
        "anew": (
            not settings.anew or settings.start != "",
            "empty without start, as all weights are fresh then",
        ),
        "learning_rate": (settings.learning_rate > 0, "above 0"),
        "warmup_steps": (settings.warmup_steps >= 0, "at least 0"),
        "half_life_steps": (
            settings.half_life_steps is None or settings.half_life_steps > 0,
            "above 0",
        ),
        "final_share": (0 <= settings.final_share <= 1, "from 0 to 1"),
        "betas": (
            len(settings.betas) == 2 and all(0 <= b < 1 for b in settings.betas),
            "two numbers from 0 to below 1",
        ),
        "hold_steps": (settings.hold_steps >= 0, "at least 0"),
        "least_rate": (
            0 <= settings.least_rate <= settings.learning_rate,
            "from 0 to learning_rate",
        ),
        "eps": (settings.eps > 0, "above 0"),
        "l2": (settings.l2 >= 0, "at least 0"),
        "weight_decay": (
            settings.weight_decay >= 0 and not (settings.weight_decay and settings.l2),
            "at least 0, and 0 beside l2",
        ),
        "clip": (settings.clip > 0, "above 0 (inf: no limit)"),
        "ema": (0 <= settings.ema < 1, "from 0 to below 1"),
        "precision": (
            settings.precision in ("auto", "float32", "bfloat16"),
            "auto, float32 or bfloat16",
        ),
        "log_every": (settings.log_every >= 1, "at least 1"),
        "checkpoint_s": (settings.checkpoint_s >= 0, "at least 0"),
        "sample_every": (settings.sample_every >= 1, "at least 1"),
    }
    for key, (fits, rule) in rules.items():
        if not fits:
            raise ConfigError(
                f"{where}: train: {key} must be {rule}, found {describe(getattr(settings, key))}."
            )
    return settings


def first_difference(old: Mapping[str, Any], new: Mapping[str, Any]) -> str | None:
    """The path of the first key that differs but must not, with both values; None where the recipes
    agree."""
    before = dict(flat(old))
    after = dict(flat(new))
    for key in [*after, *(key for key in before if key not in after)]:
        if key not in FREE and before.get(key) != after.get(key):
            values = [
                repr(values[key]) if key in values else "nothing" for values in (before, after)
            ]
            return f"{key} was {values[0]} and is {values[1]}"
    return None


def flat(data: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Path and value of each key, nested tables included."""
    for key, value in data.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def plain(value: Any) -> Any:
    """The value as dicts and lists alone."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list | tuple) else value


def as_toml(data: Mapping[str, Any], prefix: str = "") -> str:
    """A mapping of plain values as TOML; keys that are None are left out."""
    lines = [
        f"{key} = {toml_value(v)}"
        for key, v in data.items()
        if not isinstance(v, Mapping) and v is not None
    ]
    parts = ["\n".join(lines)] if lines else []
    for key, value in data.items():
        if isinstance(value, Mapping):
            parts.append(f"[{prefix}{key}]\n{as_toml(value, f'{prefix}{key}.')}".rstrip())
    return "\n\n".join(parts) + "\n"


def toml_value(value: Any) -> str:
    """A value that is no table as TOML."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return "[" + ", ".join(toml_value(item) for item in value) + "]"
    # JSON's strings are TOML's basic strings; repr keeps every digit of a number, and writes inf
    # and nan as TOML does.
    return json.dumps(value) if isinstance(value, str) else repr(value)
