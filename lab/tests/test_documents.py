"""The figures in the documents."""

import subprocess
import sys
from pathlib import Path


def test_the_figures_are_those_of_the_results() -> None:
    command = [sys.executable, str(Path(__file__).parents[1] / "benchmarks" / "figures.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
