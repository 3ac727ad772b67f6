"""The incremental vocoder of Ma et al. 4.2: streamed equals one-shot where its margins cover what
the vocoder sees."""

from __future__ import annotations

import numpy as np
import pytest

from sayahead.types import Floats
from sayahead.vocoders.overlap import NOISE_BLOCK, OverlapVocoder, blend, noise

HOP = 4
SEED = 3
LEFT = 3
RIGHT = 2


def filtered(frames: Floats, z: Floats) -> Floats:
    """Noise and frames through a filter that sees three frames to the left and two to the right."""
    x = (np.repeat(frames[:, 0], HOP) + z.reshape(-1)).astype(np.float64)
    taps = np.cos(np.arange((LEFT + RIGHT) * HOP + 1))
    padded = np.pad(x, (LEFT * HOP, RIGHT * HOP))
    return np.convolve(padded, taps[::-1], "valid").astype(np.float32).reshape(-1, HOP)


def render(vocoder: OverlapVocoder, frames: Floats, sizes: list[int], *, first: int = 0) -> Floats:
    state = vocoder.initial(first)
    at = 0
    out = []
    for number, size in enumerate(sizes, 1):
        final = frames[at : at + size]
        right = frames[at + size :]
        samples, state = vocoder.step(final, right, state, seed=SEED, ended=number == len(sizes))
        assert len(samples) == size * HOP
        at += size
        out.append(samples)
    return np.concatenate(out)


FRAMES = np.random.default_rng(0).standard_normal((40, 1)).astype(np.float32)
SIZES = pytest.mark.parametrize("sizes", [[1] * 40, [3, 0, 17, 20], [39, 1], [10, 30]])


@SIZES
def test_streamed_is_one_shot_where_margins_cover_the_field(sizes: list[int]) -> None:
    vocoder = OverlapVocoder(filtered, hop_length=HOP, left=LEFT, right=RIGHT)
    assert np.abs(render(vocoder, FRAMES, [40]) - render(vocoder, FRAMES, sizes)).max() < 1e-5


@SIZES
def test_a_fade_changes_nothing_where_margins_cover_the_field(sizes: list[int]) -> None:
    plain = OverlapVocoder(filtered, hop_length=HOP, left=LEFT, right=RIGHT)
    # What is faded from lies in a margin that must itself see far enough.
    faded = OverlapVocoder(filtered, hop_length=HOP, left=LEFT, right=RIGHT + 1, fade=HOP)
    assert np.abs(render(plain, FRAMES, [40]) - render(faded, FRAMES, sizes)).max() < 1e-5


@pytest.mark.parametrize(("left", "right"), [(LEFT - 1, RIGHT), (LEFT, RIGHT - 1)])
def test_a_margin_that_is_too_small_is_heard(left: int, right: int) -> None:
    """The test above can fail."""
    vocoder = OverlapVocoder(filtered, hop_length=HOP, left=left, right=right)
    assert np.abs(render(vocoder, FRAMES, [40]) - render(vocoder, FRAMES, [10, 30])).max() > 0.01


def test_a_fade_makes_a_join_smaller_where_margins_are_too_small() -> None:
    whole = render(OverlapVocoder(filtered, hop_length=HOP, left=LEFT, right=RIGHT), FRAMES, [40])

    def jump(fade: int) -> float:
        vocoder = OverlapVocoder(filtered, hop_length=HOP, left=0, right=1, fade=fade)
        error = render(vocoder, FRAMES, [20, 20]) - whole
        return abs(float(error[20 * HOP] - error[20 * HOP - 1]))

    assert jump(HOP) < 0.5 * jump(0)


def test_blend_goes_from_the_old_to_the_new() -> None:
    blended = blend(np.zeros(4, np.float32), np.ones(6, np.float32))
    assert np.allclose(blended, [0.125, 0.375, 0.625, 0.875, 1, 1])
    assert np.array_equal(blend(np.zeros(0, np.float32), np.ones(2, np.float32)), np.ones(2))


def test_noise_belongs_to_the_sample() -> None:
    whole = noise(SEED, 0, 3 * NOISE_BLOCK)
    assert np.array_equal(noise(SEED, NOISE_BLOCK - 5, 10), whole[NOISE_BLOCK - 5 :][:10])
    assert np.array_equal(noise(SEED, 7, NOISE_BLOCK), whole[7:][:NOISE_BLOCK])
    assert not np.array_equal(noise(SEED + 1, 0, 10), whole[:10])
    assert abs(float(whole.std()) - 1) < 0.03


def test_a_sentence_further_on_in_the_session_has_its_own_noise() -> None:
    vocoder = OverlapVocoder(filtered, hop_length=HOP, left=LEFT, right=RIGHT)
    first = render(vocoder, FRAMES, [40])
    later = render(vocoder, FRAMES, [40], first=40)
    assert np.abs(first - later).max() > 0.1


def test_the_state_given_stays_good() -> None:
    vocoder = OverlapVocoder(filtered, hop_length=HOP, left=LEFT, right=RIGHT, fade=2)
    _, state = vocoder.step(FRAMES[:10], FRAMES[10:], vocoder.initial(0), seed=SEED, ended=False)
    one, _ = vocoder.step(FRAMES[10:], FRAMES[:0], state, seed=SEED, ended=True)
    two, _ = vocoder.step(FRAMES[10:], FRAMES[:0], state, seed=SEED, ended=True)
    assert np.array_equal(one, two)


def test_a_fade_longer_than_what_is_known_is_refused() -> None:
    with pytest.raises(ValueError, match="a fade of 9 samples needs more than 2 frames"):
        OverlapVocoder(filtered, hop_length=HOP, left=1, right=2, fade=9)
