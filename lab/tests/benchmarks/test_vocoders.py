"""The comparison of vocoders: each with its deltas, steps against the whole."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lab_support.tiny import tiny_voice

SCRIPTS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module ``vocoders``."""
    monkeypatch.syspath_prepend(str(SCRIPTS))
    monkeypatch.delitem(sys.modules, "vocoders", raising=False)
    return importlib.import_module("vocoders")


def test_a_vocoder_is_itself_in_steps_and_a_smaller_delta_is_not(
    script: Any, tmp_path: Path
) -> None:
    tiny_voice(tmp_path / "tiny", "waveglow in bands")
    made = [*script.rows(str(tmp_path / "tiny"), [1]), *script.rows("saeki-lj", [1])]
    assert [row.name for row in made] == [
        "tiny: waveglow",
        "tiny: waveglow, delta = 1",
        "saeki-lj: mel",
    ]
    mel = np.random.default_rng(0).normal(-4, 1, (35, 80)).astype(np.float32)
    for row in made:
        row.hear(mel)
        row.hear(mel[:12])
        assert row.steps == 4 + 2
        assert row.whole_s > 0
        assert row.megabytes > 0
    exact, smaller, lent = (row.apart for row in made)
    assert exact < 1e-4
    assert smaller > 1e-2
    assert lent < 1e-2
    # The mel vocoder that saeki-lj borrows is that of ma-lj.
    assert made[2].megabytes > 5
    lines = script.lines_of(made, sentences=2, audio_s=0.6)
    assert len(lines) == 4 + len(made)
    assert lines[-1].startswith(
        f"| saeki-lj: mel | {made[2].megabytes:.1f} | {made[2].vocoder.context} | "
    )
