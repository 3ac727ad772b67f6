"""Sounds made equally loud."""

from __future__ import annotations

import numpy as np
import pytest
from sayahead.sound.loudness import loudness
from sayahead.types import Floats

from sayahead_lab.eval.listening.loudness import matched


def tone(hertz: float, amplitude: float, seconds: float, rate: int = 48000) -> Floats:
    return (amplitude * np.sin(2 * np.pi * hertz * np.arange(round(seconds * rate)) / rate)).astype(
        np.float32
    )


def test_sounds_are_matched_and_none_clips() -> None:
    quiet = (tone(300, 0.02, 1, 16000), 16000)
    loud = (tone(2000, 0.9, 1, 24000), 24000)
    sounds = matched([quiet, loud, (np.zeros(100, np.float32), 8000)])
    assert [
        loudness(sound, rate) for sound, rate in zip(sounds[:2], (16000, 24000), strict=True)
    ] == pytest.approx([-23, -23], abs=0.01)
    assert not sounds[2].any()
    click = tone(300, 0.01, 1, 16000)
    click[8000] = 1.0
    sounds = matched([(click, 16000), quiet])
    assert max(float(np.abs(sound).max()) for sound in sounds) == pytest.approx(1.0)
    assert loudness(sounds[0], 16000) == pytest.approx(loudness(sounds[1], 16000), abs=0.01)
    assert loudness(sounds[1], 16000) < -24
