"""The mel front end against its definition, written out slowly."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sayahead.types import Floats

from sayahead_lab.training.corpus import frontend
from sayahead_lab.training.corpus.frontend import PRESETS, MelFrontEnd, mel_filters


def noise(samples: int) -> Floats:
    return np.random.default_rng(1).uniform(-0.5, 0.5, samples).astype(np.float32)


def slaney(hertz: float) -> float:
    return hertz * 3 / 200 if hertz < 1000 else 15 + 27 * math.log(hertz / 1000) / math.log(6.4)


def hertz_of(mel: float) -> float:
    return mel * 200 / 3 if mel < 15 else 1000 * math.exp((mel - 15) / 27 * math.log(6.4))


def slow_frame(front: MelFrontEnd, samples: Floats, frame: int) -> list[float]:
    """One frame by sums over samples, bins and bands."""
    n = np.arange(front.window)
    at = frame * front.hop - front.window // 2 + n
    seen = np.where(
        (at >= 0) & (at < len(samples)), samples[np.clip(at, 0, len(samples) - 1)], 0
    ).astype(np.float64)
    seen *= 0.5 - 0.5 * np.cos(2 * np.pi * n / front.window)
    magnitudes = [
        abs(np.sum(seen * np.exp(-2j * np.pi * k * n / front.n_fft)))
        for k in range(front.n_fft // 2 + 1)
    ]
    low = slaney(front.f_min)
    high = slaney(front.f_max)
    edges = [hertz_of(low + (high - low) * i / (front.n_mels + 1)) for i in range(front.n_mels + 2)]
    bands = []
    for left, centre, right in zip(edges, edges[1:], edges[2:], strict=False):
        total = 0.0
        for k, magnitude in enumerate(magnitudes):
            hertz = k * front.sample_rate / front.n_fft
            if left < hertz <= centre:
                total += magnitude * (hertz - left) / (centre - left) * 2 / (right - left)
            elif centre < hertz < right:
                total += magnitude * (right - hertz) / (right - centre) * 2 / (right - left)
        bands.append(math.log(max(total, 1e-5)))
    return bands


@pytest.mark.parametrize("name", PRESETS)
def test_log_mel_is_its_definition(name: str) -> None:
    front = PRESETS[name]
    samples = noise(8 * front.hop)
    mel = front.log_mel(samples)
    assert mel.shape == (8, front.n_mels)
    assert mel.dtype == np.float32
    for frame in (0, 1, 4, 7):
        np.testing.assert_allclose(mel[frame], slow_frame(front, samples, frame), atol=2e-4)


def test_a_window_shorter_than_the_transform_is_the_same_window() -> None:
    front = MelFrontEnd(n_fft=2048, window=600, hop=200)
    samples = noise(1000)
    np.testing.assert_allclose(front.log_mel(samples)[2], slow_frame(front, samples, 2), atol=2e-4)


@pytest.mark.parametrize("name", PRESETS)
def test_a_frame_sees_half_a_window_to_each_side(name: str) -> None:
    front = PRESETS[name]
    frame = 12
    samples = noise(30 * front.hop)
    mel = front.log_mel(samples)[frame]
    half = front.window // 2
    outside = samples.copy()
    outside[: frame * front.hop - half] = 0
    outside[frame * front.hop + half :] = 0
    np.testing.assert_allclose(front.log_mel(outside)[frame], mel, atol=1e-5)
    inside = samples.copy()
    inside[frame * front.hop + half - 20 :] = 0
    assert not np.allclose(front.log_mel(inside)[frame], mel, atol=1e-5)


def test_blocks_are_not_seen_in_the_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    front = MelFrontEnd()
    samples = noise(7000)
    whole = front.log_mel(samples)
    monkeypatch.setattr(frontend, "BLOCK", 5)
    np.testing.assert_allclose(front.log_mel(samples), whole, atol=1e-5)


@pytest.mark.parametrize("name", PRESETS)
def test_no_band_is_empty_and_none_hears_an_offset(name: str) -> None:
    filters = mel_filters(PRESETS[name])
    assert (filters.sum(axis=0) > 0).all()
    assert (filters[0] == 0).all()


def test_a_tone_is_in_the_band_around_it() -> None:
    front = MelFrontEnd()
    tone = np.sin(2 * np.pi * 440 * np.arange(24000) / 24000).astype(np.float32)
    spacing = slaney(12000) / 81
    assert abs(int(front.log_mel(tone)[40].argmax()) + 1 - slaney(440) / spacing) <= 0.5


def test_frames_are_counted_up_and_silence_has_the_floor() -> None:
    front = MelFrontEnd()
    assert [len(front.log_mel(np.zeros(n, np.float32))) for n in (0, 1, 300, 301)] == [0, 1, 1, 2]
    assert front.log_mel(np.zeros(600, np.float32)) == pytest.approx(math.log(1e-5))
