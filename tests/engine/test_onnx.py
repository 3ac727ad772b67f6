"""What is around ONNX Runtime."""

from __future__ import annotations

import os

import pytest

from sayahead.engine.onnx import cores


def test_cores_are_those_this_process_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda process: {3, 5, 7}, raising=False)
    assert cores() == 3
    monkeypatch.delattr("os.sched_getaffinity")
    assert cores() == os.cpu_count()
