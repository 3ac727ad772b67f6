"""What a killed ``voices add`` left goes away by itself."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sayahead.voices.install.add import workplace
from sayahead.voices.leftovers import is_left, sweep

LEAVE = """
import os, pathlib, sys
from sayahead.voices.install.add import workplace
with workplace() as work:
    (work / "decoder.onnx").write_bytes(b"x")
    print(work, flush=True)
    sys.stdin.read()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="asks for a process by its number")
def test_what_a_killed_process_left_goes_at_the_next_occasion(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It stayed for ever, or for an hour: 10 MB each time."""
    monkeypatch.setenv("SAYAHEAD_VOICES", str(tmp_path))
    command = [sys.executable, "-c", LEAVE]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        left = Path(process.stdout.readline().strip())
        # Whoever is at work keeps it.
        sweep(tmp_path)
        assert left.exists()
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    assert left.exists()
    assert is_left(left)
    with workplace() as work:
        assert not left.exists()
        assert not is_left(work)
    other = tmp_path / ".adding-another_machine-1-abc"
    other.mkdir()
    sweep(tmp_path)
    assert other.exists()
    os.utime(other, (0, 0))
    sweep(tmp_path)
    assert not other.exists()
