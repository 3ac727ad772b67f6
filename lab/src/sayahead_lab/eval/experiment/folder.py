"""An experiment's folder: its files, and how much of a condition is there already.

OUT/experiment.json                what was run, by which command, on which machine
OUT/<condition>/measured.jsonl     one trace per utterance, text letter by letter at time 0;
                                   where the condition has a clock of its own, on that
OUT/<condition>/<clock>.jsonl      the traces on that clock
OUT/<condition>/wav/<name>.wav     the sound, the same on every clock
OUT/<condition>/about.json         the condition, and the machine's load while it was measured
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sayahead.errors import ConfigError

from sayahead_lab.eval.experiment.conditions import Matrix
from sayahead_lab.eval.experiment.machine import LoadWatch, processor, versions
from sayahead_lab.eval.experiment.trace import Trace, read_traces, write_traces
from sayahead_lab.scripts import ScriptLine
from sayahead_lab.workers import Workers

Tasks = list[tuple[int, ScriptLine]]
"""Texts to speak, each with its number in the experiment."""


def wav_path(folder: Path, name: str) -> Path:
    """Path of an utterance's sound in a condition's folder."""
    return folder / "wav" / f"{name}.wav"


def keep(trace: Trace, folder: Path) -> None:
    """Add a measured trace to its condition's folder: the last step, which marks the utterance as
    done."""
    folder.mkdir(parents=True, exist_ok=True)
    write_traces(folder / "measured.jsonl", [trace])


def measured_traces(folder: Path, texts: Sequence[ScriptLine]) -> list[Trace]:
    """The measured traces of the texts in a condition's folder, by number."""
    names = {text.name for text in texts}
    traces = [trace for trace in read_traces(folder / "measured.jsonl") if trace.name in names]
    return sorted(traces, key=lambda trace: trace.index)


def unmeasured(folder: Path, texts: Sequence[ScriptLine], settings: dict[str, Any]) -> Tasks:
    """The texts, by number, that a condition's folder lacks; ConfigError where it was measured with
    other settings."""
    former = read_about(folder).get("settings", settings)
    for key in sorted(settings.keys() & former.keys()):
        if settings[key] != former[key]:
            raise ConfigError(
                f"{folder} was measured with {key} = {former[key]!r}, now {settings[key]!r}: give"
                " the condition another name, or choose another folder."
            )
    done = measured_names(folder, texts)
    return [(number, text) for number, text in enumerate(texts) if text.name not in done]


def measured_names(folder: Path, texts: Sequence[ScriptLine]) -> set[str]:
    """Names of the utterances in a condition's folder; a truncated line is dropped.

    ConfigError where an utterance of the same name was made from another text.
    """
    path = folder / "measured.jsonl"
    if not path.exists():
        return set()
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        path.write_text("".join(lines[:-1]), encoding="utf-8")
    sources = {text.name: text.text for text in texts}
    names = set()
    for trace in read_traces(path):
        if sources.get(trace.name, trace.source) != trace.source:
            raise ConfigError(
                f"{folder} holds {trace.name} with another text: choose another folder, or empty"
                " this one."
            )
        if wav_path(folder, trace.name).exists():
            names.add(trace.name)
    return names


@contextlib.contextmanager
def recorded(folder: Path, settings: dict[str, Any], own_processes: int | None) -> Iterator[None]:
    """Write into a condition's ``about.json`` how it is synthesised, and the machine's load
    meanwhile, unless ``own_processes`` is None: then it runs on other machines."""
    save_json(folder / "about.json", {**read_about(folder), "settings": settings})
    if own_processes is None:
        yield
        return
    watch = LoadWatch(own_processes)
    try:
        yield
    finally:
        about = read_about(folder)
        save_json(
            folder / "about.json", {**about, "load": [*about.get("load", []), asdict(watch.load())]}
        )


def read_about(folder: Path) -> dict[str, Any]:
    """A condition's ``about.json``; empty where there is none, as in older results."""
    path = folder / "about.json"
    return read_json(path) if path.is_file() else {}


def read_experiment(out: Path) -> dict[str, Any]:
    """``experiment.json`` with at least the names of ``conditions`` and ``clocks``; ConfigError for
    any other file."""
    path = out / "experiment.json"
    if not path.is_file():
        raise ConfigError(
            f"{out} is no folder of an experiment, {path.name} is missing: run sayahead eval run."
        )
    about = read_json(path)
    for key in ("conditions", "clocks"):
        names = about.get(key)
        if (
            not isinstance(names, list)
            or not names
            or not all(isinstance(name, str) for name in names)
        ):
            raise ConfigError(f"{path} does not name {key}: run sayahead eval run again.")
    return about


def write_experiment(
    out: Path, matrix: Matrix, conditions: Sequence[str], count: int, workers: Workers
) -> None:
    """Write ``experiment.json``: conditions and peers by name, their settings, and what the figures
    depend on."""
    experiment = {
        "conditions": conditions,
        "settings": {condition.name: asdict(condition) for condition in matrix.conditions},
        "clocks": [clock.name for clock in matrix.clocks],
        "count": count,
        "language": matrix.language,
        "command": shlex.join(["sayahead", *sys.argv[1:]]),
        "jobs": workers.count,
        "on": workers.place,
        "seeds": sorted({condition.seed for condition in matrix.conditions}),
        "load": {name: load for name in conditions if (load := read_about(out / name).get("load"))},
        "machine": {"cpu": processor(), "cores": os.cpu_count(), "system": platform.system()},
        "versions": {"python": platform.python_version(), **versions()},
    }
    save_json(out / "experiment.json", experiment)


def read_json(path: Path) -> dict[str, Any]:
    """A file's JSON object; ConfigError where it holds none."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"{path} is not JSON ({error}): delete it, and run sayahead eval again."
        ) from error
    if not isinstance(data, dict):
        raise ConfigError(f"{path} is not a JSON object: delete it, and run sayahead eval again.")
    return data


def save_json(path: Path, data: object) -> None:
    """Write a JSON file, whole or not at all; missing folders are created."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_suffix(".new")
    fresh.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    fresh.replace(path)
