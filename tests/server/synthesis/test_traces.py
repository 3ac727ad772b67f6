"""Spans of texts, with OpenTelemetry's own exporter into memory."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest
from support.servers import serving

from sayahead.client import AsyncClient

pytest.importorskip("opentelemetry.sdk", reason="needs the extra otel")

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

TEXT = "Hello there, you. "


@pytest.fixture
def exporter() -> InMemorySpanExporter:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    return exporter


def test_a_text_has_a_span_and_its_first_sound_one_within(exporter: InMemorySpanExporter) -> None:
    async def talk(address: str) -> None:
        async with AsyncClient(address) as client:
            assert [chunk async for chunk in client.stream([TEXT])]

    client_trace = "0af7651916cd43dd8448eb211c80319c"
    client_span = "b7ad6b7169203331"
    headers = {"traceparent": f"00-{client_trace}-{client_span}-01", "x-request-id": "mine-3"}
    body = {"model": "x", "voice": "toy", "input": TEXT, "response_format": "pcm"}
    with serving(traces=True, step_s=0.02) as server:
        asyncio.run(talk(server.ws))
        assert httpx.post(f"{server.http}/v1/audio/speech", json=body, headers=headers).is_success
        server.settle()
    spans: Any = exporter.get_finished_spans()
    first, speech, first_of_post, post = spans
    assert [span.name for span in (speech, first)] == ["speech", "time to first audio"]
    told = dict(speech.attributes)
    wanted = {
        "protocol": "native",
        "voice": "toy",
        "outcome": "done",
        "characters": len(TEXT),
        "underruns": 0,
    }
    assert {name: told[f"sayahead.{name}"] for name in wanted} == wanted
    assert speech.start_time == first.start_time
    assert first.start_time + 20e6 < first.end_time <= speech.end_time
    assert first.parent.span_id == speech.context.span_id
    # The client's own trace goes on.
    assert (f"{post.context.trace_id:032x}", f"{post.parent.span_id:016x}") == (
        client_trace,
        client_span,
    )
    assert post.attributes["sayahead.session"] == "mine-3"
    assert first_of_post.context.trace_id == post.context.trace_id


def test_without_its_setting_nothing_is_sent() -> None:
    with serving() as server:
        assert server.hub.traces._tracer is None
