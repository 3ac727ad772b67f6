"""What the server counts, for Prometheus."""

from __future__ import annotations

from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

SECONDS = (0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0)
RTF = (0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5, 0.75, 1.0, 2.0)


class Metrics:
    """The counters of one server."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        known: dict[str, Any] = {"registry": self.registry}
        self.active = Gauge("tts_sessions_active", "Places taken: texts that are being spoken.", **known)
        self.connections = Gauge("tts_connections_active", "Open connections.", ("protocol",), **known)
        self.sessions = Counter("tts_sessions", "Texts by their end.", ("protocol", "outcome"), **known)
        self.first_audio = Histogram(
            "tts_first_audio_seconds",
            "From text to its first audible sample being sent: since the context's first text, and since the text "
            "that settled the first word and its lookahead.",
            ("since",), buckets=SECONDS, **known,
        )  # fmt: skip
        self.word_delay = Histogram(
            "tts_word_delay_seconds", "From a word's last character to its sound being sent.", buckets=SECONDS, **known
        )
        self.rtf = Histogram("tts_rtf", "Time of a synthesis step by the playing time it made.", buckets=RTF, **known)
        self.audio = Counter("tts_audio_seconds", "Sound sent.", ("protocol",), **known)
        self.characters = Counter("tts_characters", "Text taken in.", ("protocol",), **known)
        self.underruns = Counter(
            "tts_underruns", "Pieces sent after a player without a buffer had run dry, though their text was there.",
            **known,
        )  # fmt: skip
        self.queue = Histogram("tts_queue_seconds", "Wait for a synthesis thread.", buckets=SECONDS, **known)
        self.rejected = Counter("tts_rejected", "What was refused, by reason.", ("reason",), **known)

    def text(self) -> bytes:
        """All of it, as Prometheus reads it."""
        return generate_latest(self.registry)
