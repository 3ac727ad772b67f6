"""Traces for OpenTelemetry: a span for each text, and within it one for the time to first audio."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

from sayahead import __version__
from sayahead.server.operation.settings import Settings

if TYPE_CHECKING:
    from sayahead.server.synthesis.pacing import Pacing

PARENT = "traceparent"
"""The header with the span that a client's text belongs to."""
FINE = ("done", "cancelled", "dropped")
"""Outcomes that are no errors."""


class Traces:
    """Sends a span for each text, if the settings say so."""

    def __init__(self, settings: Settings) -> None:
        self._tracer = tracer() if settings.traces else None

    def tell(self, parent: str, pacing: Pacing, outcome: str, figures: dict[str, Any]) -> None:
        """Send the spans of a text that is over; both begin with its first token.

        ``parent``: the value of the client's header PARENT, or empty; ``figures``: attributes of
        the span."""
        if self._tracer is None or pacing.first_text is None:
            return
        from opentelemetry.trace import Status, StatusCode, set_span_in_context
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        now = time.monotonic()
        wall = time.time_ns()

        def nanoseconds(at: float) -> int:
            return wall - round((now - at) * 1e9)

        context = TraceContextTextMapPropagator().extract({PARENT: parent})
        attributes = {
            f"sayahead.{name}": value for name, value in {"outcome": outcome, **figures}.items()
        }
        begin = nanoseconds(pacing.first_text)
        speech = self._tracer.start_span("speech", context, attributes=attributes, start_time=begin)
        if pacing.first_audio_s is not None:
            costs = {"sayahead.waited_s": pacing.waited_s, "sayahead.computed_s": pacing.computed_s}
            first = self._tracer.start_span(
                "time to first audio",
                set_span_in_context(speech),
                attributes=costs,
                start_time=begin,
            )
            first.end(nanoseconds(pacing.first_text + pacing.first_audio_s))
        if outcome not in FINE:
            speech.set_status(Status(StatusCode.ERROR, outcome))
        speech.end(wall)


def tracer() -> Any:
    """Return OpenTelemetry's tracer: the program's own if it has set up one, or else a new one that
    exports to where OpenTelemetry's environment variables say."""
    from opentelemetry import trace

    if isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        os.environ.setdefault("OTEL_SERVICE_NAME", "sayahead")
        provider = TracerProvider()
        provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        trace.set_tracer_provider(provider)
    return trace.get_tracer("sayahead", __version__)
