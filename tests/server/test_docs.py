"""The server's reference pages say what is there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.servers import serving

from sayahead.server.operation.metrics import Metrics
from sayahead.server.operation.settings import names
from sayahead.server.synthesis.messages import CLOSING, CODES

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
PAGE = "".join(
    (REFERENCE / name).read_text(encoding="utf-8") for name in ("settings.md", "socket.md")
)


@pytest.mark.parametrize("name", [*names(), *CODES])
def test_every_setting_and_code_is_told(name: str) -> None:
    assert f"`{name}`" in PAGE


def test_every_metric_is_told_and_there() -> None:
    told = set(re.findall(r"`(tts_\w+)", PAGE))
    kept = {
        metric.name + ("_total" if metric.type == "counter" else "")
        for metric in Metrics().registry.collect()
    }
    assert told == {name for name in kept if name.startswith("tts_")}
    assert all(str(code) in PAGE for code in CLOSING.values())


def test_the_example_runs() -> None:
    found = re.search(r"<!-- example: native -->\n```python\n(.*?)```", PAGE, re.S)
    assert found is not None
    with serving() as server:
        code = found[1].replace("127.0.0.1:8000", f"127.0.0.1:{server.port}")
        ran = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=60
        )
    assert ran.returncode == 0, ran.stderr
    assert "'heard.'" in ran.stdout
