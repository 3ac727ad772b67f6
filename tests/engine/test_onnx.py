"""Tasks beside each other."""

from __future__ import annotations

import threading

import pytest

from sayahead.engine import onnx


@pytest.mark.parametrize("cores", [1, 2])
def test_tasks_return_in_their_order(cores: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx, "cores", lambda: cores)
    assert onnx.beside() == []
    assert onnx.beside(lambda: 7) == [7]
    assert onnx.beside(*(lambda n=n: n for n in range(5))) == [0, 1, 2, 3, 4]


def test_tasks_run_at_the_same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx, "cores", lambda: 2)
    meeting = threading.Barrier(2, timeout=10)
    assert sorted(onnx.beside(meeting.wait, meeting.wait)) == [0, 1]


@pytest.mark.parametrize("wrong", [0, 1])
def test_an_error_of_any_task_is_raised(wrong: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx, "cores", lambda: 2)
    tasks = [lambda: 1, lambda: 2]
    tasks[wrong] = lambda: 1 // 0
    with pytest.raises(ZeroDivisionError):
        onnx.beside(*tasks)
