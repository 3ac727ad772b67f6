"""The machine under a measurement: its cores, and what else ran on it."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from sayahead import ConfigError

from sayahead_lab.eval.experiment import machine
from sayahead_lab.eval.experiment.machine import Load, LoadWatch, bound, check_cores


def test_cores_that_are_not_there() -> None:
    check_cores("X", None)
    check_cores("X", 1)
    with pytest.raises(ConfigError, match="X has 0 cores"):
        check_cores("X", 0)
    with pytest.raises(ConfigError, match="X wants 1000 processor cores, but this process may use"):
        check_cores("X", 1000)


def test_threads_are_torch_s_too_while_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    class Torch:
        threads = 4

        def get_num_threads(self) -> int:
            return self.threads

        def set_num_threads(self, number: int) -> None:
            self.threads = number

    torch = Torch()
    monkeypatch.setitem(sys.modules, "torch", torch)
    with bound(1):
        assert torch.threads == 1
    with bound(None):
        assert torch.threads == 4


def test_the_load_is_that_of_others(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "stat").write_text(
        "cpu  100 20 30 5000 400 3 2 50 60 70\ncpu0 1 2\n", encoding="ascii"
    )
    monkeypatch.setattr(machine, "PROC", tmp_path)
    tick = os.sysconf("SC_CLK_TCK")
    # Ourselves, a child with a name that is hard to read, its child; a stranger.
    processes = {
        os.getpid(): ("python", 1, 7),
        2: ("a) b (c", os.getpid(), 11),
        3: ("x", 2, 13),
        4: ("y", 1, 29),
    }
    for process, (name, parent, spent) in processes.items():
        (tmp_path / str(process)).mkdir()
        line = f"{process} ({name}) S {parent} 0 0 0 0 0 0 0 0 0 {spent} 1 2 3 0 0"
        (tmp_path / str(process) / "stat").write_text(line, encoding="ascii")
    assert machine.other_busy_s() == pytest.approx((155 - 31 - 3 * 6) / tick)
    busy = iter([1.0, 4.0, None, None])
    monkeypatch.setattr(machine, "other_busy_s", lambda: next(busy))
    now = SimpleNamespace(monotonic=iter([10.0, 12.0, 20.0, 21.0]).__next__)
    monkeypatch.setattr(machine, "time", now)
    monkeypatch.setattr(machine, "load_average", iter([0.5, 1.5, 2.0, 3.0]).__next__)
    assert LoadWatch(1).load() == Load(0.5, 1.5, 1, 1.5, 2.0)
    assert LoadWatch(1).load() == Load(2.0, 3.0, 1, 1.5, 1.0)


@pytest.mark.skipif(
    not Path("/proc/stat").exists(), reason="only Linux tells the computing time of all processes"
)
def test_own_computing_is_no_load() -> None:
    begun = time.process_time()
    spent = machine.own_jiffies()
    while time.process_time() - begun < 0.3:
        pass
    assert (machine.own_jiffies() - spent) / os.sysconf("SC_CLK_TCK") == pytest.approx(0.3, abs=0.1)
