"""Source-filter synthesis: what a step costs in memory does not change its sound."""

from __future__ import annotations

import numpy as np
import pytest

from sayahead.vocoders.sourcefilter import SourceFilter


def test_spectra_in_blocks_are_those_made_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.default_rng(0)
    spectrum = draw.standard_normal((150, 5 * SourceFilter.BINS), dtype=np.float32) - 2
    f0 = draw.uniform(80, 300, 154).astype(np.float32)

    def spoken() -> list[np.ndarray]:
        synthesis, state, sound = SourceFilter(), SourceFilter().initial(7), []
        for first, last in ((0, 70), (70, 71), (71, 148)):
            samples, state = synthesis.step(
                spectrum[first:], f0[first:], state, final=last - first, seed=3, ended=last == 148
            )
            sound.append(samples)
        return sound

    blocks = spoken()
    monkeypatch.setattr(SourceFilter, "AT_ONCE", 1000)
    for block, whole in zip(blocks, spoken(), strict=True):
        np.testing.assert_array_equal(block, whole)
