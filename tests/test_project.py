"""What a contributor meets: the check of a change, the extras, the changelog's fragments."""

from __future__ import annotations

import re
import runpy
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS: dict[str, list[str]] = PROJECT["project"]["optional-dependencies"]
CHECK: dict[str, Any] = runpy.run_path(str(ROOT / "scripts" / "check"))
KNOWN = [
    "tests/test_config.py",
    "tests/engine/test_pieces.py",
    "tests/engine/test_keep_up.py",
    "tests/systems/test_ma.py",
    "lab/tests/training/test_ma.py",
    "lab/tests/training/test_ma_export.py",
    "tests/text/languages/test_readings.py",
]


@pytest.mark.parametrize(
    ("changed", "tests"),
    [
        ("src/sayahead/config.py", ["tests/test_config.py"]),
        ("src/sayahead/systems/ma.py", ["tests/systems/test_ma.py"]),
        # Its own file's, or those of its folder where it has none.
        ("src/sayahead/engine/session.py", KNOWN[1:3]),
        ("lab/src/sayahead_lab/training/ma/__init__.py", KNOWN[4:6]),
        # Words, rules and readings of a language.
        ("src/sayahead/text/languages/data/de.txt", KNOWN[6:]),
        ("src/sayahead/text/classes/money.rules", KNOWN[6:]),
        ("tests/text/readings/de.tsv", KNOWN[6:]),
        ("tests/engine/test_pieces.py", ["tests/engine/test_pieces.py"]),
        ("docs/index.md", []),
    ],
)
def test_a_change_is_checked_by_the_tests_beside_it(changed: str, tests: list[str]) -> None:
    assert CHECK["tests_of"](changed, KNOWN) == tests


def test_a_change_of_documents_needs_no_linter() -> None:
    commands = {name: check(["docs/index.md"]) for name, check in CHECK["CHECKS"].items()}
    assert [name for name, lines in commands.items() if lines] == ["documents"]


def resolved(extra: str) -> set[str]:
    """The packages that an extra installs besides the package's own, those of its extras too."""
    packages = set[str]()
    for requirement in map(Requirement, EXTRAS[extra]):
        if requirement.name == "sayahead":
            packages = packages.union(*map(resolved, requirement.extras))
        else:
            packages.add(requirement.name)
    return packages


def test_extras_build_on_each_other() -> None:
    assert resolved("test") < resolved("test-all") < resolved("dev")
    assert len(EXTRAS["test"]) <= 10
    assert not resolved("test") & {"torch", "playwright", "openai", "mcp", "grpcio"}


def test_fragments_of_the_changelog_have_a_kind() -> None:
    kinds = [kind["directory"] for kind in PROJECT["tool"]["towncrier"]["type"]]
    pattern = re.compile(rf"(\+[\w-]+|\d+)\.({'|'.join(kinds)})(\.\d+)?\.md")
    names = [path.name for path in (ROOT / "changelog.d").iterdir()]
    assert [name for name in names if not (name == "README.md" or pattern.fullmatch(name))] == []
    start = PROJECT["tool"]["towncrier"]["start_string"]
    assert (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").count(start) == 1
