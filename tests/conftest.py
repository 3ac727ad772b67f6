"""All tests share the fixtures of ``support.fixtures``, and say what they leave out."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest_plugins = ["support.fixtures", "support.left_out"]


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """``pytest -m smoke`` reads only the files with such tests: most of its time would be
    imports."""
    if (
        config.option.markexpr != "smoke"
        or collection_path.suffix != ".py"
        or collection_path.name == "conftest.py"
    ):
        return None
    return "pytest.mark.smoke" not in collection_path.read_text(encoding="utf-8") or None
