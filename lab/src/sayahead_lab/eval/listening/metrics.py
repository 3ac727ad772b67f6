"""Metrics beside the built-in listeners: an utterance in, a number out. Anybody's, by entry point
or from a file.

A metric is a function of a ``SpokenSentence``. A package declares it under
``sayahead_lab.metrics``; without a package it is ``FILE.py:FUNCTION``:

    sayahead eval score out --metric mcd --metric my_metrics.py:brightness --reference RECORDINGS

It is called once for each sentence of each condition. Its mean, interval and difference to the
first condition stand in the report like those of any other.
"""

from __future__ import annotations

import functools
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import numpy as np
from sayahead.errors import ConfigError
from sayahead.extensions import Extensible, entry_points
from sayahead.types import Floats

from sayahead_lab.named import named


@dataclass(frozen=True, slots=True)
class SpokenSentence:
    """What a metric is given."""

    samples: Floats
    """(S,) sound in [-1, 1]."""
    sample_rate: int
    """Samples per second, of the reference, too."""
    text: str
    """The sentence."""
    reference: Floats | None = None
    """(R,) another sound of the same sentence, such as a recording; None where none was named."""

    def needed_reference(self) -> Floats:
        """The reference; ConfigError where there is none."""
        if self.reference is None:
            raise ConfigError(
                "This metric compares with another sound of each sentence: name a condition or a"
                " folder of WAV files with --reference."
            )
        return self.reference


Metric = Callable[[SpokenSentence], float]
METRICS: Extensible[Metric] = Extensible(
    "sayahead_lab.metrics",
    {
        "mcd": "sayahead_lab.eval.measures.world:mel_cepstral_distortion",
        "f0_rmse": "sayahead_lab.eval.measures.world:pitch_error",
        "vuv": "sayahead_lab.eval.measures.world:voicing_error",
    },
)
"""The metrics by name."""


@functools.cache
def find_metric(name: str) -> Metric:
    """A metric by its name, or ``FILE.py:FUNCTION``; ConfigError where there is no such thing."""
    return named(METRICS, name, "Metric")


def title_of(name: str) -> str:
    """A metric's name in tables: the function's where it is of a file."""
    return name.rpartition(":")[2]


def identity_of(name: str) -> str:
    """What a metric's scores are by: they are computed again once its file or package has
    changed."""
    place, colon, _ = name.rpartition(":")
    if colon and place.endswith(".py"):
        return f"{title_of(name)}, {zlib.crc32(Path(place).read_bytes()):08x}"
    package = "sayahead-lab"
    if name not in METRICS.own and name in entry_points(METRICS.group):
        distribution = entry_points(METRICS.group)[name].dist
        package = package if distribution is None else distribution.name
    return f"{name}, {package} {version(package)}"


def measured(name: str, utterance: SpokenSentence) -> float:
    """A metric's number; ConfigError names the metric where it is none."""
    value = float(find_metric(name)(utterance))
    if not np.isfinite(value):
        raise ConfigError(f"Metric {name!r} gives {value} for {utterance.text[:60]!r}.")
    return value
