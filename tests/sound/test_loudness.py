"""Loudness by ITU-R BS.1770."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sayahead.sound.loudness import k_filters, loudness
from sayahead.types import Floats


def tone(hertz: float, amplitude: float, seconds: float, rate: int = 48000) -> Floats:
    return (amplitude * np.sin(2 * np.pi * hertz * np.arange(round(seconds * rate)) / rate)).astype(
        np.float32
    )


def test_the_filters_at_48_khz_are_the_recommendation_s() -> None:
    shelf, high_pass = k_filters(48000)
    assert shelf[0] == pytest.approx(
        (1.53512485958697, -2.69169618940638, 1.19839281085285), abs=1e-9
    )
    assert shelf[1] == pytest.approx((-1.69065929318241, 0.73248077421585), abs=1e-9)
    assert high_pass[0] == (1.0, -2.0, 1.0)
    assert high_pass[1] == pytest.approx((-1.99004745483398, 0.99007225036621), abs=1e-9)


@pytest.mark.parametrize("rate", [16000, 24000, 48000])
def test_a_tone_of_full_scale_has_the_recommendation_s_loudness(rate: int) -> None:
    # BS.1770: a 997 Hz tone of 0 dB in one channel gives -3.01 LKFS.
    assert loudness(tone(997, 1.0, 3, rate), rate) == pytest.approx(
        -3.01, abs=0.01 if rate == 48000 else 0.06
    )
    assert loudness(tone(997, 0.1, 0.2, rate), rate) == pytest.approx(-23.01, abs=0.1)


def test_pauses_do_not_count() -> None:
    speech = tone(500, 0.1, 4)
    silence = np.zeros(5 * 48000, np.float32)
    alone = loudness(speech, 48000)
    assert loudness(np.concatenate([speech, silence, speech]), 48000) == pytest.approx(
        alone, abs=0.25
    )
    # Noise 20 dB lower counts no more than silence.
    hum = tone(500, 0.01, 5)
    assert loudness(np.concatenate([speech, hum, speech]), 48000) == pytest.approx(alone, abs=0.25)
    assert loudness(silence, 48000) == loudness(silence[:0], 48000) == -math.inf
