"""What documents name is there: every link, and every path in prose."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
SCRIPT: dict[str, Any] = runpy.run_path(str(ROOT / "docs" / "tools" / "check_links.py"))


def test_links_and_paths_lead_somewhere(capsys: pytest.CaptureFixture[str]) -> None:
    code = SCRIPT["main"]()
    assert code == 0, capsys.readouterr().out


@pytest.mark.parametrize(
    ("prose", "paths"),
    [
        ("`engine/policy.py`", ["engine/policy.py"]),
        ("`tests/a_{b,c}.py`", ["tests/a_b.py", "tests/a_c.py"]),
        ("`python lab/benchmarks/capacity.py --price 0.04`", ["lab/benchmarks/capacity.py"]),
        ("`policies/` and `sound/`", ["policies", "sound"]),
        ("`lab/recipes/ma`", ["lab/recipes/ma"]),
        ("`systems/NAME.py`, `docs/*.md`, `and/or`, `text/wav`, `GET /v1/audio`, `.json`", []),
        ("engine/policy.py without quotes", []),
        ("```\n`engine/gone.py`\n```", []),
        ("`runs/mine/report.html`", []),
    ],
)
def test_paths_are_found_in_prose(prose: str, paths: list[str]) -> None:
    assert SCRIPT["paths"](prose) == paths


def test_a_path_that_leads_nowhere_is_told() -> None:
    text = "`engine/gone.py`, `engine/policy.py`, `reference/options.md`"
    assert SCRIPT["dead"](text, ROOT / "docs") == ["engine/gone.py"]
