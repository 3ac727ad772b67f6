"""The ranges of the inputs of the default voice's linear layers, observed while it speaks: scales
for integers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
from sayahead.engine.onnx import Array, OnnxGraph
from sayahead.errors import ConfigError
from sayahead.policies.fixed import LookaheadK, WaitAll
from sayahead.voice import load_voice

from sayahead_lab.training.graph.builder import Range

SHARE = 1e-4
"""Share of a layer's inputs that may lie below its range, and as many above."""
MARK = "in:"
COLUMNS = "columns:"
WIDE = 4
"""Times as large as half of the others: such a column would take the levels of all."""
KEPT = 20_000
"""Samples per call and layer, besides the smallest and the largest value."""


class Observer:
    """The inputs of linear layers while a voice speaks."""

    def __init__(self) -> None:
        self.seen: dict[str, list[Array]] = {}
        self.columns: dict[str, list[Array]] = {}
        self._draw = np.random.default_rng(0)

    def watch(self, graph: OnnxGraph) -> ObservedGraph:
        """A graph whose calls are observed."""
        return ObservedGraph(graph, self)

    def add(self, name: str, values: Array) -> None:
        """Record a layer's input."""
        flat = values.reshape(-1)
        if len(flat) > KEPT:
            flat = flat[self._draw.integers(0, len(flat), KEPT)]
        self.seen.setdefault(name, []).append(flat.astype(np.float32))

    def add_columns(self, name: str, values: Array) -> None:
        """Record the input (T, D) of a layer some of whose columns may be far larger than the
        others."""
        self.columns.setdefault(name, []).append(values.astype(np.float32))

    def ranges(self) -> dict[str, Range]:
        """The range of each layer, by name; of columns that are ``WIDE`` by themselves,
        ``NAME#COLUMN``."""
        samples = {name: np.concatenate(parts) for name, parts in self.seen.items()}
        for name, parts in self.columns.items():
            rows = np.concatenate(parts)
            most = np.quantile(np.abs(rows), 1 - SHARE, axis=0)
            wide = most > WIDE * np.median(most)
            samples |= {f"{name}#{column}": rows[:, column] for column in np.flatnonzero(wide)}
            samples[name] = rows[:, ~wide]
        limits = {}
        for name, values in samples.items():
            low, high = np.quantile(values, [SHARE, 1 - SHARE])
            limits[name] = Range(round(min(float(low), 0.0), 5), round(max(float(high), 0.0), 5))
        return dict(sorted(limits.items()))


class ObservedGraph:
    """A graph that reports the inputs of its linear layers to an observer."""

    def __init__(self, graph: OnnxGraph, observer: Observer) -> None:
        self._graph = graph
        self._observer = observer
        self.inputs = graph.inputs

    def __call__(self, **inputs: Array) -> dict[str, Array]:
        out = self._graph(**inputs)
        for name, values in out.items():
            if name.startswith(MARK):
                self._observer.add(name.removeprefix(MARK), values)
            elif name.startswith(COLUMNS):
                self._observer.add_columns(name.removeprefix(COLUMNS), values)
        return {
            name: values for name, values in out.items() if not name.startswith((MARK, COLUMNS))
        }


def observe(folder: Path, texts: Iterable[tuple[str, str]]) -> dict[str, Range]:
    """Ranges of the voice in a folder whose graphs are observed (``builder.Graph``), over texts
    whole and streamed.

    ``texts``: of each a speaker, empty where the voice has one.
    """
    voice = load_voice(folder)
    observer = Observer()
    acoustic = voice.synthesizer.acoustic  # type: ignore[attr-defined]
    vocoder = voice.synthesizer.vocoder  # type: ignore[attr-defined]
    acoustic._text = observer.watch(acoustic._text)
    acoustic._prosody = observer.watch(acoustic._prosody)
    vocoder.graph = observer.watch(vocoder.graph)
    for speaker, text in texts:
        for policy in (WaitAll(), LookaheadK(0), LookaheadK(1)):
            for _ in voice.stream([text], policy=policy, speaker=speaker or None):
                pass
    return observer.ranges()


def save_ranges(ranges: Mapping[str, Range], path: Path) -> None:
    """Write them as JSON, one layer per line."""
    lines = [f" {json.dumps(name)}: {json.dumps(list(limits))}" for name, limits in ranges.items()]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def load_ranges(path: Path) -> dict[str, Range]:
    """Ranges by layer; ConfigError where the file has none."""
    try:
        table = json.loads(path.read_text(encoding="utf-8"))
        return {str(name): Range(float(low), float(high)) for name, (low, high) in table.items()}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise ConfigError(f"{path} cannot be read as ranges of linear layers: {error}.") from error
