"""The tutorial about the papers does what it shows, command by command."""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "lab" / "docs" / "papers" / "tutorial.md"
BLOCKS: dict[str, Any] = runpy.run_path(str(ROOT / "docs" / "tools" / "blocks.py"))
PIP = "-m pip install -q --no-deps --no-build-isolation --no-index --target site ./my_policy"


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_figures_come_from_the_commands_of_the_page(tmp_path: Path) -> None:
    (tmp_path / "lab").symlink_to(ROOT / "lab")
    paths = [str(tmp_path / "site"), *filter(None, [os.environ.get("PYTHONPATH")])]
    programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": programs, "PYTHONPATH": os.pathsep.join(paths)}
    for block in BLOCKS["blocks"](PAGE):
        code = block.code
        if "pip install ./my_policy" in code:
            code = f"{sys.executable} {PIP}"
        elif block.mark == "not run":
            continue
        done = subprocess.run(
            ["bash", "-ec", code],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=900,
            check=False,
        )
        assert done.returncode == 0, (block.where, done.stderr)
    for picture in ("fig5/report/first-audio-1.pdf", "fig5/report/time-balance.png"):
        assert (tmp_path / picture).stat().st_size > 5000
    assert (tmp_path / "fig3" / "report" / "policy-path.png").stat().st_size > 5000
    traces = (tmp_path / "fig3" / "patient" / "measured.jsonl").read_text(encoding="utf-8")
    assert len([json.loads(line) for line in traces.splitlines()]) == 3
