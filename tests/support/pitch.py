"""The pitch of a sound."""

from __future__ import annotations

import numpy as np

from sayahead.types import Floats


def pitch_of(samples: Floats, rate: int) -> float:
    """Median pitch in Hz of the voiced frames, by autocorrelation."""
    found = []
    for at in range(0, len(samples) - 2048, 600):
        frame = samples[at : at + 2048] - samples[at : at + 2048].mean()
        if np.abs(frame).max() < 0.05:
            continue
        power = np.fft.irfft(np.abs(np.fft.rfft(frame, 8192)) ** 2)[:2048]
        low = rate // 400
        high = rate // 60
        best = low + int(power[low:high].argmax())
        if power[best] > 0.5 * power[0]:
            found.append(rate / best)
    return float(np.median(found))
