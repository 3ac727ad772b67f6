"""Pitch from sound alone, for engines that report none: Boersma's autocorrelation method.

P. Boersma, "Accurate short-term analysis of the fundamental frequency and the harmonics-to-noise
ratio of a sampled sound", IFA Proceedings 17 (1993). A model's own pitch (``prosody.Recorder``) is
better where there is one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sayahead.types import Floats

HOP_S = 0.010
"""Time between frames; frame i is centred at i hops."""
FLOOR_HZ = 65.0
CEILING_HZ = 500.0
"""Lowest and highest pitch searched."""
PERIODS = 3
"""Periods of the lowest pitch in a window."""
CANDIDATES = 6
"""Candidate pitches of a frame, besides voiceless."""
# The costs that the paper recommends; those of transitions are for frames 10 ms apart.
SILENCE = 0.03
VOICING = 0.45
OCTAVE = 0.01
OCTAVE_JUMP = 0.35
VOICED_UNVOICED = 0.14

Values = NDArray[np.float64]


def pitch_hz(samples: Floats, rate: int) -> Floats:
    """Return the pitch (T,) of samples (S,) in Hz, 0 if unvoiced. Frame i is at ``i * HOP_S``; T =
    1 + S / (rate HOP_S).

    Each frame has the normalised autocorrelation ``r(tau) = r_xw(tau) / r_w(tau)`` of the windowed
    signal over that of the window. Its highest maxima are candidates with the strength ``r(tau) -
    OCTAVE log2(FLOOR tau)``; an unvoiced candidate has ``VOICING + max(0, 2 - peak (1 + VOICING) /
    SILENCE)``, where peak is the frame's relative to the whole sound's. The result is the path with
    the largest sum of strengths minus costs.
    """
    if not len(samples):
        return np.zeros(0, np.float32)
    r, loudness = autocorrelations(samples, rate)
    lags, strengths = candidates(r, rate)
    unvoiced = VOICING + np.maximum(0, 2 - loudness / (SILENCE / (1 + VOICING)))
    hertz = np.concatenate([np.zeros((len(lags), 1)), rate / lags], axis=1)
    path = best_path(hertz, np.concatenate([unvoiced[:, None], strengths], axis=1))
    return np.take_along_axis(hertz, path[:, None], axis=1)[:, 0].astype(np.float32)


def autocorrelations(samples: Floats, rate: int) -> tuple[Values, Values]:
    """Return the normalised autocorrelation (T, L) of each frame at lags 0 to L - 1, and each
    frame's peak relative to the whole sound's (T,)."""
    half = round(PERIODS * rate / FLOOR_HZ / 2)
    longest = int(rate / FLOOR_HZ) + 2
    size = 1 << (2 * half + longest - 1).bit_length()
    window = np.hanning(2 * half + 2)[1:-1].astype(np.float32)
    padded = np.pad(samples.astype(np.float32), half)
    hop = HOP_S * rate
    starts = np.round(np.arange(1 + int(len(samples) / hop)) * hop).astype(np.int64)
    frames = np.lib.stride_tricks.sliding_window_view(padded, 2 * half)[
        np.minimum(starts, len(samples))
    ]
    frames = frames - frames.mean(axis=1, keepdims=True)
    peaks = np.abs(frames).max(axis=1)
    power = np.abs(np.fft.rfft(frames * window, size, axis=1)) ** 2
    r = np.fft.irfft(power, size, axis=1)[:, :longest].astype(np.float64)
    of_window = np.fft.irfft(np.abs(np.fft.rfft(window, size)) ** 2, size)[:longest]
    energy = r[:, :1]
    normal = (
        np.divide(r, energy, out=np.zeros_like(r), where=energy > 1e-12) * of_window[0] / of_window
    )
    return normal, peaks / max(float(np.abs(samples - samples.mean()).max()), 1e-9)


def candidates(r: Values, rate: int) -> tuple[Values, Values]:
    """Return the lags (T, C) of the strongest maxima, refined by a parabola, and their strengths;
    -inf for a missing one."""
    shortest = int(rate / CEILING_HZ)
    before = r[:, shortest - 1 : -2]
    here = r[:, shortest:-1]
    after = r[:, shortest + 1 :]
    maximum = (here > before) & (here >= after) & (here > VOICING / 2)
    lags = shortest + np.arange(here.shape[1])
    strength = np.where(maximum, here - OCTAVE * np.log2(FLOOR_HZ * lags / rate), -np.inf)
    best = np.argpartition(-strength, CANDIDATES - 1, axis=1)[:, :CANDIDATES]
    left, peak, right, chosen = (
        np.take_along_axis(x, best, axis=1) for x in (before, here, after, strength)
    )
    bend = left - 2 * peak + right
    shift = np.where(bend < 0, 0.5 * (left - right) / np.where(bend < 0, bend, 1), 0)
    # A sharp maximum lies above its samples. Without this correction, a pitch between two lags
    # would seem weaker than its octave.
    strengths: Values = np.where(
        np.isfinite(chosen), chosen - 0.25 * (left - right) * shift, -np.inf
    )
    return np.asarray(lags[best] + shift, np.float64), strengths


def best_path(hertz: Values, strength: Values) -> NDArray[np.int64]:
    """Return the candidate (T,) of each frame on the path with the largest sum of strengths minus
    transition costs (Viterbi)."""
    octaves = np.log2(np.where(hertz > 0, hertz, 1.0))
    voiced = hertz > 0
    score = strength[0]
    back = np.zeros(hertz.shape, np.int64)
    for frame in range(1, len(hertz)):
        both = voiced[frame - 1][:, None] & voiced[frame][None, :]
        jump = OCTAVE_JUMP * np.abs(octaves[frame - 1][:, None] - octaves[frame][None, :])
        changed = voiced[frame - 1][:, None] != voiced[frame][None, :]
        reached = score[:, None] - np.where(both, jump, VOICED_UNVOICED * changed)
        back[frame] = reached.argmax(axis=0)
        score = reached.max(axis=0) + strength[frame]
    path = np.zeros(len(hertz), np.int64)
    path[-1] = int(score.argmax())
    for frame in range(len(hertz) - 1, 0, -1):
        path[frame - 1] = back[frame, path[frame]]
    return path
