"""Metrics of the server, for Prometheus."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    Metric,
    PlatformCollector,
    ProcessCollector,
    Summary,
    generate_latest,
)

from sayahead import __version__

SECONDS = (
    0.01,
    0.02,
    0.03,
    0.05,
    0.075,
    0.1,
    0.15,
    0.2,
    0.3,
    0.5,
    0.75,
    1.0,
    1.5,
    2.0,
    3.0,
    5.0,
    10.0,
)
RTF = (0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5, 0.75, 1.0, 2.0)
FIRST_AUDIO = (
    "Time to first audio, until the first audible sample is sent: since the context's first text,"
    " and since the text that settled the first word and its lookahead."
)
FIRST_COMPUTING = "Processor time of a text's synthesis steps up to its first audible sample."
BUILD_INFO = "1; the label says which version runs."
WANTED = (
    "Places taken, and refusals for want of one within 30 seconds, at most as many as there are"
    " places."
)
REASONS = "unauthorized origin overloaded shutdown forbidden quota too_many_contexts too_much_text".split()  # noqa: E501
"""Reasons for refusals."""
UNDERRUNS = "Chunks sent after a player without a buffer had run dry, though their text was there."


NOT_SUMMED = frozenset(
    "tts_sessions_active tts_sessions_limit tts_sessions_wanted sayahead_build_info python_info"
    " process_max_fds process_start_time_seconds".split()
)
"""Metrics that every process knows for the whole server, or that cannot be added up."""
Samples: TypeAlias = dict[str, Any]
"""Metric families by name: type, help text, and samples as [name, labels, value]."""


class Metrics:
    """The metrics of one server process."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        shared: dict[str, Any] = {"registry": self.registry}
        timed = {**shared, "buckets": SECONDS}
        paced = {**shared, "buckets": RTF}
        self.active = Gauge("tts_sessions_active", "Places taken: texts being spoken.", **shared)
        self.limit = Gauge("tts_sessions_limit", "Places there are.", **shared)
        self.wanted = Gauge("tts_sessions_wanted", WANTED, **shared)
        self.connections = Gauge(
            "tts_connections_active", "Open connections.", ("protocol",), **shared
        )
        self.sessions = Counter(
            "tts_sessions", "Texts by how they ended.", ("protocol", "outcome"), **shared
        )
        self.first_audio = Histogram("tts_first_audio_seconds", FIRST_AUDIO, ("since",), **timed)
        self.word_delay = Histogram(
            "tts_word_delay_seconds", "From a word's last character to its audio.", **timed
        )
        self.rtf = Histogram(
            "tts_rtf", "Time of a synthesis step over the playing time that it made.", **paced
        )
        self.computing = Counter(
            "tts_processor_seconds", "Processor time of synthesis steps.", **shared
        )
        self.first_computing = Summary(
            "tts_first_audio_processor_seconds", FIRST_COMPUTING, **shared
        )
        self.audio = Counter("tts_audio_seconds", "Audio sent.", ("protocol",), **shared)
        self.characters = Counter("tts_characters", "Text taken in.", ("protocol",), **shared)
        self.underruns = Counter("tts_underruns", UNDERRUNS, **shared)
        self.queue = Histogram("tts_queue_seconds", "Wait for a synthesis thread.", **timed)
        self.rejected = Counter("tts_rejected", "Refusals by reason.", ("reason",), **shared)
        for reason in REASONS:
            self.rejected.labels(reason)
        self.reloads = Counter("tts_reloads", "Reloads of changed files.", ("outcome",), **shared)
        self._by_key = Counter(
            "tts_key_characters", "Text spoken for each key.", ("key",), **shared
        )
        self._by_voice = Counter(
            "tts_voice_audio_seconds", "Audio sent with each voice.", ("voice",), **shared
        )
        Gauge("sayahead_build_info", BUILD_INFO, ("version",), **shared).labels(__version__).set(1)
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)

    def used(self, key: str, voice: str, characters: int, audio_s: float) -> None:
        """Count what was spoken for a key."""
        self._by_key.labels(key).inc(characters)
        self._by_voice.labels(voice).inc(audio_s)

    def samples(self) -> Samples:
        """Return all metrics in a form that can be sent to another process."""
        families: Samples = {}
        for family in self.registry.collect():
            rows = [[one.name, sorted(one.labels.items()), one.value] for one in family.samples]
            families[family.name] = [family.type, family.documentation, rows]
        return families

    def text(self, others: Iterable[Samples] = ()) -> bytes:
        """Return all metrics in Prometheus's text format, added up with those of other
        processes."""
        return generate_latest(Families(merged([self.samples(), *others])))


def merged(rows: Sequence[Samples]) -> Samples:
    """Add up the samples of all processes; for ``NOT_SUMMED``, those of the first one count."""
    heads = dict[str, tuple[str, str]]()
    sums = dict[str, dict[tuple[str, Any], float]]()
    for row in rows:
        for name, (kind, about, samples) in row.items():
            heads.setdefault(name, (kind, about))
            family = sums.setdefault(name, {})
            for sample, labels, value in samples:
                is_summed = name not in NOT_SUMMED and not sample.endswith("_created")
                key = sample, tuple(map(tuple, labels))
                if is_summed or key not in family:
                    family[key] = family.get(key, 0.0) + value
    return {
        name: [*head, [[sample, labels, value] for (sample, labels), value in sums[name].items()]]
        for name, head in heads.items()
    }


def lasting(row: Samples) -> Samples:
    """Return the samples that still count once their process has ended."""
    return {
        name: family
        for name, family in row.items()
        if family[0] != "gauge" and name not in NOT_SUMMED
    }


class Families:
    """A collector of ready-made samples."""

    def __init__(self, samples: Samples) -> None:
        self._samples = samples

    def collect(self) -> Iterator[Metric]:
        """The families."""
        for name, (kind, about, samples) in self._samples.items():
            family = Metric(name, about, kind)
            for sample, labels, value in samples:
                family.add_sample(sample, dict(labels), value)
            yield family
