"""The figures in the documents, and the tests that they name."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_figures_are_those_of_the_results() -> None:
    command = [sys.executable, str(ROOT / "lab" / "benchmarks" / "figures.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_tests_that_are_named_are_there() -> None:
    page = ROOT / "lab" / "docs" / "abuse.md"
    named = set(re.findall(r"`(test_\w+(?:\.py)?)`", page.read_text(encoding="utf-8")))
    files = [
        path
        for folder in ("tests", "lab/tests", "integrations")
        for path in (ROOT / folder).rglob("test_*.py")
    ]
    there = {path.name for path in files} | {
        name
        for path in files
        for name in re.findall(r"def (test_\w+)", path.read_text(encoding="utf-8"))
    }
    assert len(named) > 70
    assert named - there == set()
