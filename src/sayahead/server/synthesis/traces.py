"""What OpenTelemetry is told of a text: how long it lasted, and within that the time to its first
sound."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

from sayahead import __version__
from sayahead.server.operation.settings import Settings

if TYPE_CHECKING:
    from sayahead.server.synthesis.pacing import Pacing

PARENT = "traceparent"
"""The header in which a client says to what a text belongs."""
FINE = ("done", "cancelled", "dropped")


class Traces:
    """Sends a span for each text, where the settings want that. ConfigError without the packages
    for it."""

    def __init__(self, settings: Settings) -> None:
        self._tracer = tracer() if settings.traces else None

    def tell(self, parent: str, pacing: Pacing, outcome: str, figures: dict[str, Any]) -> None:
        """A text is over: its span, and that of its time to first audio, both from its first token
        on; ``parent`` is what its client says that it belongs to."""
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
    """Who makes spans: by the program's own provider, or else by one whose destination
    OpenTelemetry's variables name."""
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
