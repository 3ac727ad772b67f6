"""Scoring an experiment: latency from its traces, quality from its sound; from the folder alone, as often as wanted."""

from __future__ import annotations

import json
import math
import wave
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from sayahead.errors import ConfigError
from sayahead.eval.latency import summarize as summarize_latency
from sayahead.eval.quality import Errors, Listeners, Row, Utterance, compare, summarize
from sayahead.eval.trace import Trace, read_traces


def score(
    out: Path,
    whisper: Path | None = None,
    *,
    listeners: Listeners | None = None,
    progress: Callable[[str], None] = lambda line: None,
) -> list[str]:
    """Write ``latency/<clock>.json`` and ``quality.json`` for every condition; returns what a person should know.

    Quality is compared with the first condition, sentence by sentence. What is scored by the same listeners already is
    left alone. A listener that is missing is named in the result, and has no column.
    """
    about = json.loads((out / "experiment.json").read_text(encoding="utf-8"))
    listeners = listeners or Listeners(whisper)
    available = listeners.available()
    columns = [column for column, lack in available.items() if lack is None]
    lacks = sorted({lack for lack in available.values() if lack is not None})
    base: list[Row] | None = None
    for condition in about["conditions"]:
        folder = out / condition
        progress(f"{condition}: latency")
        for clock in about["clocks"]:
            save(folder / "latency" / f"{clock}.json", summarize_latency(read_traces(folder / f"{clock}.jsonl")))
        if columns:
            rows = scored_rows(folder, columns, listeners, progress)
            base = base or rows
            save(folder / "quality.json", {
                "columns": columns,
                "summary": {name: asdict(value) for name, value in summarize(rows).items()},
                "against": {name: asdict(value) for name, value in compare(rows, base).items()},
                "rows": [asdict(row) for row in rows],
            })  # fmt: skip
    progress("")
    return [f"Left out: {lack}" for lack in lacks]


def scored_rows(folder: Path, columns: list[str], listeners: Listeners, progress: Callable[[str], None]) -> list[Row]:
    """The rows of a condition: those in its quality.json where they have the columns, otherwise listened to now."""
    path = folder / "quality.json"
    traces = sorted(read_traces(folder / "measured.jsonl"), key=lambda made: made.index)
    if path.is_file():
        data = json.loads(path.read_text(encoding="utf-8"))
        there = {row["name"]: (row["duration_s"]) for row in data["rows"]}
        same = all(abs(there.get(made.name, -1.0) - made.duration_s) < 1e-3 for made in traces)
        if data["columns"] == columns and same and len(there) == len(traces):
            return [as_row(row) for row in data["rows"]]
    rows = []
    for number, item in enumerate(utterances(folder, traces), start=1):
        progress(f"{folder.name}: listening to {number} of {len(traces)}")
        rows += listeners.score([item], columns)
    return rows


def utterances(folder: Path, traces: list[Trace]) -> Iterator[Utterance]:
    """The sound of a condition's traces."""
    for made in traces:
        path = folder / "wav" / f"{made.name}.wav"
        try:
            with wave.open(str(path)) as file:
                rate, data = file.getframerate(), file.readframes(file.getnframes())
        except (OSError, EOFError, wave.Error) as error:
            raise ConfigError(f"{path} cannot be read: {error}. Run the experiment again.") from error
        samples = np.frombuffer(data, "<i2").astype(np.float32) / np.float32(32768)
        yield Utterance(made.name, made.source, samples, rate)


def as_row(data: dict[str, Any]) -> Row:
    """A row from its JSON."""
    errors = data["errors"]
    return Row(**{**data, "errors": None if errors is None else Errors(**errors)})


def save(path: Path, data: Any) -> None:
    """Write JSON; what is not a number is null."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(finite(data), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def finite(data: Any) -> Any:
    """The data with nan and infinity as None."""
    if isinstance(data, dict):
        return {key: finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [finite(value) for value in data]
    if isinstance(data, float) and not math.isfinite(data):
        return None
    return data
