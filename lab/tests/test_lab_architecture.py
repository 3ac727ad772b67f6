"""The laboratory's floor plan: which way its imports go, what a file may hold, and that it goes
with one runtime."""

from __future__ import annotations

import ast
import collections
import functools
import re
from pathlib import Path

import sayahead

import sayahead_lab

LAB = Path(__file__).parents[1]
LEVELS = {
    "workers": 0,
    "scripts": 0,
    "overrides": 0,
    "named": 0,
    "piper_catalogue": 0,
    "results": 1,
    "cluster": 1,
    "eval": 2,
    "training": 3,
    "cli": 4,
}
"""Rooms from the ground up: training draws and measures with ``eval``, never the reverse."""


@functools.cache
def trees() -> dict[Path, ast.Module]:
    """All modules of the laboratory and the runtime, read when a test first asks: every process
    imports this file."""
    return {
        path.relative_to(source): ast.parse(path.read_text(encoding="utf-8"))
        for source in (LAB / "src", LAB.parent / "src")
        for path in source.rglob("*.py")
    }


def imports(tree: ast.Module) -> set[str]:
    """The modules that a file imports anywhere."""
    nodes = list(ast.walk(tree))
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return names | {str(node.module) for node in nodes if isinstance(node, ast.ImportFrom)}


def test_imports_lead_down() -> None:
    rooms = {
        path.with_suffix("").parts[1] for path in trees() if path.parts[0] == "sayahead_lab"
    } - {"__init__"}
    assert rooms == set(LEVELS)
    upward = [
        f"{path} imports {name}"
        for path, tree in trees().items()
        for name in imports(tree)
        if name.startswith("sayahead_lab.")
        and (
            path.parts[0] == "sayahead"
            or LEVELS[path.with_suffix("").parts[1]] < LEVELS[name.split(".")[1]]
        )
    ]
    assert not upward, "\n".join(upward)


def test_every_class_has_a_name_of_its_own() -> None:
    places = collections.defaultdict(list)
    for path, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(path)
    twins = {
        name: paths
        for name, paths in places.items()
        if len(paths) > 1 and any(path.parts[0] == "sayahead_lab" for path in paths)
    }
    assert not twins


def test_functions_are_annotated() -> None:
    for path, tree in trees().items():
        if path.parts[0] != "sayahead_lab":
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                assert node.returns is not None, f"{path}: {node.name}"


def test_the_laboratory_goes_with_one_version_of_the_runtime() -> None:
    project = (LAB / "pyproject.toml").read_text(encoding="utf-8")
    assert sayahead_lab.__version__ == sayahead.__version__
    assert re.findall(r'"sayahead(?:\[\w+\])?==([^"]+)"', project) == [sayahead.__version__]
