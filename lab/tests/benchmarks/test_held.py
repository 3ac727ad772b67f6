"""Every attack that the page of abuse has names tests that there are."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "lab" / "docs" / "abuse.md"


def named(line: str) -> set[str]:
    """The tests, or files of tests, in the last cell of a row of an attack."""
    cells = line.strip("|").split("|")
    return set(re.findall(r"test_\w+(?:\.py)?", cells[-1])) if len(cells) == 3 else set()


def test_every_attack_is_tested() -> None:
    rows = [named(line) for line in PAGE.read_text(encoding="utf-8").splitlines()]
    assert len(set().union(*rows)) > 90
    files = list((ROOT / "tests").rglob("test_*.py"))
    known = {path.name for path in files} | {
        name for path in files for name in re.findall(r"def (test_\w+)\(", path.read_text("utf-8"))
    }
    assert set().union(*rows) <= known
