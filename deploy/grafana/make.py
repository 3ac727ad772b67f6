"""Writes sayahead.json, the dashboard: python deploy/grafana/make.py. Grafana: Dashboards, New,
Import."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

P95 = "histogram_quantile(0.95, sum by (le) (rate({}_bucket[$__rate_interval])))"
PANELS = (
    (
        "Places taken, of all",
        "percentunit",
        [("sum(tts_sessions_active) / sum(tts_sessions_limit)", "taken")],
    ),
    (
        "Texts being spoken",
        "short",
        [("sum(tts_sessions_active)", "active"), ("sum(tts_sessions_limit)", "places")],
    ),
    (
        "Time to first audio, p95",
        "s",
        [
            (
                P95.format("tts_first_audio_seconds").replace(
                    "bucket[", f'bucket{{since="{since}"}}['
                ),
                f"since {since}",
            )
            for since in ("first_text", "settling_text")
        ],
    ),
    ("Word to sound, p95", "s", [(P95.format("tts_word_delay_seconds"), "p95")]),
    ("Real-time factor, p95", "short", [(P95.format("tts_rtf"), "p95")]),
    ("Wait for a thread, p95", "s", [(P95.format("tts_queue_seconds"), "p95")]),
    (
        "Chunks that came too late",
        "short",
        [("sum(rate(tts_underruns_total[$__rate_interval]))", "a second")],
    ),
    (
        "Refused",
        "short",
        [("sum by (reason) (rate(tts_rejected_total[$__rate_interval]))", "{{reason}}")],
    ),
    (
        "Texts by how they ended",
        "short",
        [("sum by (outcome) (rate(tts_sessions_total[$__rate_interval]))", "{{outcome}}")],
    ),
    (
        "Audio by voice",
        "short",
        [("sum by (voice) (rate(tts_voice_audio_seconds_total[$__rate_interval]))", "{{voice}}")],
    ),
    (
        "Characters by key",
        "short",
        [("topk(10, sum by (key) (rate(tts_key_characters_total[$__rate_interval])))", "{{key}}")],
    ),
    (
        "Memory, by server",
        "bytes",
        [('process_resident_memory_bytes{job=~".*sayahead.*"}', "{{instance}}")],
    ),
    ("Version", "short", [("count by (version) (sayahead_build_info)", "{{version}}")]),
    ("Connections", "short", [("sum by (protocol) (tts_connections_active)", "{{protocol}}")]),
)


def panel(number: int, title: str, unit: str, queries: list[tuple[str, str]]) -> dict[str, Any]:
    """A graph, two in a row."""
    return {
        "id": number + 1,
        "title": title,
        "type": "timeseries",
        "datasource": {"type": "prometheus", "uid": "${source}"},
        "gridPos": {"h": 8, "w": 12, "x": 12 * (number % 2), "y": 8 * (number // 2)},
        "fieldConfig": {"defaults": {"unit": unit, "min": 0}, "overrides": []},
        "targets": [
            {"refId": chr(65 + at), "expr": query, "legendFormat": legend}
            for at, (query, legend) in enumerate(queries)
        ],
    }


def main() -> None:
    """Write it."""
    source = {"name": "source", "type": "datasource", "query": "prometheus", "label": "Data source"}
    dashboard = {
        "title": "sayahead",
        "uid": "sayahead",
        "tags": ["tts"],
        "schemaVersion": 39,
        "refresh": "10s",
        "time": {"from": "now-1h", "to": "now"},
        "templating": {"list": [source]},
        "panels": [panel(number, *each) for number, each in enumerate(PANELS)],
    }
    path = Path(__file__).with_name("sayahead.json")
    path.write_text(json.dumps(dashboard, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
