"""Source-filter synthesis: what a step costs in memory does not change its sound, and what a wrong
expectation does."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from sayahead import Voice
from sayahead.vocoders.sourcefilter import SourceFilter


def test_spectra_in_blocks_are_those_made_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.default_rng(0)
    spectrum = draw.standard_normal((150, 5 * SourceFilter.BINS), dtype=np.float32) - 2
    f0 = draw.uniform(80, 300, 154).astype(np.float32)

    def spoken() -> list[np.ndarray]:
        synthesis = SourceFilter()
        state = SourceFilter().initial(7)
        sound = []
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


@pytest.mark.parametrize(("anew", "frames"), [(True, 1), (False, 3)])
def test_what_was_wrongly_expected_is_heard_for_a_frame_behind_the_join(
    anew: bool, frames: int
) -> None:
    draw = np.random.default_rng(0)
    hop = SourceFilter.HOP
    known, expected = (
        draw.standard_normal((40, 5 * SourceFilter.BINS), dtype=np.float32) - 2 for _ in range(2)
    )
    f0 = np.full(44, 180, np.float32)
    join = 20

    def spoken(right: np.ndarray) -> np.ndarray:
        synthesis = SourceFilter(recompute=anew)
        given = np.concatenate([known[:join], right[join:]])
        first, state = synthesis.step(
            given, f0, synthesis.initial(0), final=join, seed=3, ended=False
        )
        then, _ = synthesis.step(known[join:], f0[join:], state, final=15, seed=3, ended=False)
        return np.concatenate([first, then])

    apart = np.abs(spoken(expected) - spoken(known)).reshape(-1, hop).max(axis=1)
    assert np.flatnonzero(apart > 1e-5).tolist() == list(range(join - 2, join + frames))


def test_the_default_voice_fades_to_what_is_known_within_a_frame(heart: Voice) -> None:
    vocoder: Any = heart.synthesizer.vocoder  # type: ignore[attr-defined]
    draw = np.random.default_rng(1)
    join = 20
    right = vocoder.context
    known, expected = (draw.normal(size=(60, 130)).astype(np.float32) for _ in range(2))
    known[:, 128] = 180
    expected[:, 128] = 180

    overlapping = copy.copy(vocoder)
    overlapping._filter = SourceFilter()

    def spoken(there: np.ndarray, one: Any) -> np.ndarray:
        _, state = one.step(known[:join], there[join:][:right], one.initial(0), seed=3, ended=False)
        samples: np.ndarray = one.step(
            known[join:40], known[40:][:right], state, seed=3, ended=False
        )[0]
        return samples.reshape(-1, SourceFilter.HOP)

    faded, overlapped = (
        np.square(spoken(expected, one) - spoken(known, one)).mean(axis=1)
        for one in (vocoder, overlapping)
    )
    assert (faded[1:3] < 0.5 * overlapped[1:3]).all()
