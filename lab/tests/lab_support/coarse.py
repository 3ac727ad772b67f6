"""Figures of a quarter of their size: a tiny experiment's would take longer than the experiment."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sayahead_lab.eval.report import drawing

DPI = drawing.DPI
"""What users get; ``tests/eval/report/test_plots.py`` draws so."""


@pytest.fixture(scope="session", autouse=True)
def coarse_figures() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(drawing, "DPI", DPI / 4)
        yield
