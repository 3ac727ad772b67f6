"""How many tests a run leaves to the full one: those that are marked slow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

LEFT = pytest.StashKey[int]()


def pytest_deselected(items: Sequence[pytest.Item]) -> None:
    """Count those that a run without slow tests would have had."""
    for item in items:
        if item.config.option.markexpr == "not slow" and item.get_closest_marker("slow"):
            item.config.stash[LEFT] = item.config.stash.get(LEFT, 0) + 1


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker of xdist tells who has started it."""
    output: dict[str, Any] | None = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["left"] = session.config.stash.get(LEFT, 0)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Each worker has counted the same tests."""
    output = getattr(node, "workeroutput", {})
    node.config.stash[LEFT] = output.get("left", 0) or node.config.stash.get(LEFT, 0)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say it."""
    if left := config.stash.get(LEFT, 0):
        terminalreporter.write_line(
            f"Left to the full run: {left} tests that are marked slow (.ci/nightly marked)"
        )
