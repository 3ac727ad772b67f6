"""A frozen release: the same bytes for the same files, and what has changed since."""

from __future__ import annotations

import importlib
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

SCRIPTS = Path(__file__).parents[2] / "benchmarks"


def test_a_release_is_the_same_and_tells_what_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [str(SCRIPTS), *sys.path])
    release: Any = importlib.import_module("release")
    (tmp_path / "lab/benchmarks/results/field").mkdir(parents=True)
    (tmp_path / "CITATION.cff").write_text("cff-version: 1.2.0\n")
    table = tmp_path / "lab/benchmarks/results/field/table.md"
    table.write_text("| a |\n")
    files = release.contents(tmp_path)
    first, second = (release.write(tmp_path / name, files) for name in ("a.tar.xz", "b.tar.xz"))
    assert first == second
    with tarfile.open(tmp_path / "a.tar.xz") as archive:
        names = archive.getnames()
    assert {
        "CITATION.cff",
        "SHA256SUMS",
        "lab/benchmarks/results/field/table.md",
        "texts/lj.jsonl",
    } <= set(names)
    assert release.changed(tmp_path / "a.tar.xz", files) == []
    table.write_text("| b |\n")
    (table.parent / "new.md").write_text("| c |\n")
    expected = ["lab/benchmarks/results/field/new.md", "lab/benchmarks/results/field/table.md"]
    assert release.changed(tmp_path / "a.tar.xz", release.contents(tmp_path)) == expected
