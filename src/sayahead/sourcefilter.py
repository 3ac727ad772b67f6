"""Source-filter synthesis with state: spectral parts and pitch per frame to samples, a few frames at a time.

A pulse train at the pitch and complex noise drawn per absolute frame are shaped in the STFT domain (n_fft 1200, hop 300,
periodic Hann, 24 kHz) and overlap-added:

    S = exp(lh) exp(i pi tanh(theta)) STFT(pulses) + exp(ln) Z + exp(lr) exp(i phi)

the signal model of the hibari-tts voices (Apache-2.0). Whatever the split of the frames into steps, the samples are the same
to rounding: pulse phase, source samples, pending spectra and the overlap-add tail are carried in the state, and a frame's
samples leave only when all that they depend on is there: four frames later.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sayahead.types import Floats

Spectra = NDArray[np.complex64]


@dataclass(frozen=True, slots=True)
class FilterState:
    """What the synthesis keeps between steps. Row counts are those of frames not fully used yet."""

    frame: int
    """Number, in the session, of the first frame whose spectrum is not made yet; keys the noise."""
    phase: float
    """Pulse phase in turns at the end of the source made so far."""
    f0: Floats
    """Pitch of the last frame with a source and of the frames without one."""
    source: Floats
    """Pulse train that spectra still to be made look back on: at most four hops."""
    spectrum: Floats
    """(Q, 5 * 601) spectral parts whose source is not complete yet."""
    tail: Floats
    """(1200,) overlap-add sums that later frames still add to."""
    warm: int
    """Overlap-add blocks still to be dropped: the half window in front of the first frame."""


class SourceFilter:
    """Frames to samples; holds only constants."""

    SAMPLE_RATE, N_FFT, HOP, BINS = 24000, 1200, 300, 601
    # A frame's samples need the spectra of two more frames, these the source of one more, this the pitch of one more.
    DELAY = 4
    UNVOICED_HZ, TOP_HZ = 40.0, 11000.0
    NOISE_BLOCK = 32

    def __init__(self) -> None:
        n = np.arange(self.N_FFT)
        self._window = (0.5 - 0.5 * np.cos(2 * np.pi * n / self.N_FFT)).astype(np.float32)
        self._analysis = (self._window / (self.N_FFT / 4)).astype(np.float32)
        # Four overlapping squared Hann windows sum to 1.5 everywhere.
        self._synthesis = (self._window / 1.5).astype(np.float32)
        position = (np.arange(self.HOP) + 0.5) / self.HOP - 0.5
        self._toward = (position % 1.0).astype(np.float32)

    def initial(self, frame: int) -> FilterState:
        """The state before a sentence's first frame, which is number ``frame`` of the session."""
        nothing = np.zeros((0, 5 * self.BINS), np.float32)
        silence = np.zeros(2 * self.HOP, np.float32)
        tail = np.zeros(self.N_FFT, np.float32)
        return FilterState(frame, 0.0, np.zeros(0, np.float32), silence, nothing, tail, 2)

    def step(
        self, spectrum: Floats, f0: Floats, state: FilterState, *, seed: int, ended: bool
    ) -> tuple[Floats, FilterState]:
        """Samples that are complete with the frames given, and the next state.

        ``spectrum`` (T, 3005): lh, theta, ln, lr, phi side by side; ``f0`` (T,) in Hz, unvoiced below 40.
        Where ``ended``, pitch is held and the source is silent behind the last frame, and all samples come.
        """
        pitch, rows = np.concatenate([state.f0, f0]), np.concatenate([state.spectrum, spectrum])
        first = state.f0[:0] if len(state.f0) else pitch[:1]
        padded = np.concatenate([first, pitch, pitch[-1:] if ended else pitch[:0]])
        source, phase = self._pulses(padded, state.phase)
        source = np.concatenate([state.source, source])
        if ended:
            source = np.concatenate([source, np.zeros(self.HOP, np.float32)])
        ready = max(0, min(len(rows), len(source) // self.HOP - 3))
        blocks, tail = self._overlap_add(self._spectra(rows[:ready], source, state.frame, seed), state.tail)
        samples = blocks[state.warm * self.HOP :]
        warm = max(0, state.warm - ready)
        if ended:
            samples = np.concatenate([samples, tail[max(0, state.warm - ready) * self.HOP : 2 * self.HOP]])
        kept = FilterState(
            state.frame + ready, phase, padded[-2:], source[ready * self.HOP :], rows[ready:], tail, warm
        )
        return samples, kept

    def _pulses(self, f0: Floats, phase: float) -> tuple[Floats, float]:
        """Source samples for all frames of ``f0`` (T + 2,) but the first and the last, and the phase after them.

        All harmonics below 11 kHz at unit amplitude: sum cos(h t) = sin((H + 1/2) t) / (2 sin(t / 2)) - 1/2.
        """
        frames = len(f0) - 2
        if frames <= 0:
            return np.zeros(0, np.float32), phase
        half = self.HOP // 2
        early, late = self._toward[:half], self._toward[half:]
        hertz = np.empty((frames, self.HOP), np.float32)
        hertz[:, :half] = f0[:-2, None] * (1 - early) + f0[1:-1, None] * early
        hertz[:, half:] = f0[1:-1, None] * (1 - late) + f0[2:, None] * late
        hertz = hertz.reshape(-1)
        voiced = hertz > self.UNVOICED_HZ
        np.maximum(hertz, self.UNVOICED_HZ, out=hertz)
        turns = phase + np.cumsum(hertz, dtype=np.float64) / self.SAMPLE_RATE
        angle = (2 * np.pi * (turns % 1.0)).astype(np.float32)
        order = np.floor(self.TOP_HZ / hertz) + np.float32(0.5)
        below = 2 * np.sin(angle * np.float32(0.5))
        flat = np.abs(below) <= 2e-3
        below[flat] = 1
        pulses = np.where(flat, order, np.sin(order * angle) / below) - np.float32(0.5)
        pulses[~voiced] = 0
        return pulses.astype(np.float32, copy=False), float(turns[-1] % 1.0)

    def _spectra(self, rows: Floats, source: Floats, frame: int, seed: int) -> Spectra:
        """(T, 601) spectra of the frames whose parts are ``rows`` (T, 3005); frame t sees source from hop t to t + 4."""
        if not len(rows):
            return np.zeros((0, self.BINS), np.complex64)
        views = np.lib.stride_tricks.sliding_window_view(source, self.N_FFT)[:: self.HOP][: len(rows)]
        spectra = np.fft.rfft(views * self._analysis, axis=1)
        lh, theta, ln, lr, phi = np.split(rows, 5, axis=1)
        spectra *= polar(lh, np.float32(np.pi) * np.tanh(theta))
        spectra += loudness(ln) * self._noise(frame, len(rows), seed)
        spectra += polar(lr, phi)
        return spectra

    def _noise(self, frame: int, frames: int, seed: int) -> Spectra:
        """(T, 601) standard complex noise for absolute frames, whatever the steps they come in."""
        first, last = frame // self.NOISE_BLOCK, (frame + frames - 1) // self.NOISE_BLOCK
        blocks = np.concatenate([noise_block(seed, block) for block in range(first, last + 1)])
        start = frame - first * self.NOISE_BLOCK
        return blocks[start : start + frames]

    def _overlap_add(self, spectra: Spectra, tail: Floats) -> tuple[Floats, Floats]:
        """One finished hop of samples for each spectrum, and the sums that are not finished."""
        frames, overlap = len(spectra), self.N_FFT // self.HOP
        pieces = np.fft.irfft(spectra, self.N_FFT, axis=1) * self._synthesis if frames else np.zeros((0, self.N_FFT))
        pieces = pieces.astype(np.float32, copy=False).reshape(frames, overlap, self.HOP)
        sums = np.zeros((frames + overlap, self.HOP), np.float32)
        sums[:overlap] = tail.reshape(overlap, self.HOP)
        # The tail's rows are those after the last finished hop; frame t adds to rows t .. t + 3.
        for k in range(overlap):
            sums[k : k + frames] += pieces[:, k]
        return sums[:frames].reshape(-1), sums[frames:].reshape(-1)


def polar(log_magnitude: Floats, angle: Floats) -> Spectra:
    """exp(log_magnitude) exp(i angle)."""
    out = np.empty(log_magnitude.shape, np.complex64)
    magnitude = loudness(log_magnitude)
    np.multiply(magnitude, np.cos(angle), out=out.real)
    np.multiply(magnitude, np.sin(angle), out=out.imag)
    return out


def loudness(log_magnitude: Floats) -> Floats:
    """exp with a ceiling, so that no frame can overflow."""
    return np.exp(np.minimum(log_magnitude, np.float32(7)))


@functools.lru_cache(maxsize=64)
def noise_block(seed: int, block: int) -> Spectra:
    """(32, 601) complex noise of one block of frames, unit variance in each part."""
    draw = np.random.default_rng([seed, block])
    shape = (SourceFilter.NOISE_BLOCK, 2 * SourceFilter.BINS)
    noise = draw.standard_normal(shape, dtype=np.float32).view(np.complex64)
    noise.flags.writeable = False
    return noise
