"""Source-filter synthesis with state: spectral parts and pitch per frame to samples, a few frames
at a time.

A pulse train at the pitch and complex noise drawn per absolute frame are shaped in the STFT domain
(n_fft 1200, hop 300, periodic Hann, 24 kHz) and overlap-added:

    S = exp(lh) exp(i pi tanh(theta)) STFT(pulses) + exp(ln) Z + exp(lr) exp(i phi)

the signal model of the hibari-tts voices (Apache-2.0). A frame's samples overlap with the spectra
of two frames after it, and these depend on the pitch of two more. A step gets those frames as they
are expected, and again with the next step. The two spectra are kept, so that a join is an
overlap-add of old and new; or, with ``recompute``, they are made again, and the join is a fade
within one frame from the expected to the actual sound. If the expectation was right, steps give the
same as the whole sentence.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sayahead.types import Floats

Spectra = NDArray[np.complex64]
CEILING = np.float32(7)
"""Largest logarithm of a magnitude."""


@dataclass(frozen=True, slots=True)
class FilterState:
    """State of the synthesis between steps."""

    frame: int
    """Number in the session of the first frame that is not final; selects the noise."""
    phase: float
    """Phase of the pulses, in turns, at the start of that frame."""
    f0: Floats
    """(1,) pitch of the previous frame; empty before a sentence's first frame."""
    tail: Floats
    """(4, 300) overlap-add sums from that frame on, to which later spectra will be added."""
    source: Floats
    """(600,) pulses of the previous two frames."""
    expected: Floats
    """(2, 1200) parts of ``tail`` from frames that were only expected; empty if these are kept."""


class SourceFilter:
    """Turns frames into samples; has only constants."""

    SAMPLE_RATE = 24000
    N_FFT = 1200
    HOP = 300
    BINS = 601
    # Frames after one whose spectra overlap into its samples, and the further frames that their
    # pitch depends on.
    OVERHANG = 2
    REACH = 4
    UNVOICED_HZ = 40.0
    TOP_HZ = 11000.0
    NOISE_BLOCK = 32
    # Frames whose spectra are computed at a time.
    AT_ONCE = 32

    def __init__(self, *, recompute: bool = False) -> None:
        """``recompute``: whether spectra of expected frames are made again, with a fade to the new
        ones in one frame.

        The spectra of a step's first two frames must then be up to date.
        """
        self._recompute = recompute
        n = np.arange(self.N_FFT)
        self._window = (0.5 - 0.5 * np.cos(2 * np.pi * n / self.N_FFT)).astype(np.float32)
        # Multiplied by 4, because the forward transform divides by its length.
        self._analysis = 4 * self._window
        # Four overlapping squared Hann windows sum to 1.5 everywhere.
        self._synthesis = (self._window / 1.5).astype(np.float32)
        position = (np.arange(self.HOP) + 0.5) / self.HOP - 0.5
        self._toward = (position % 1.0).astype(np.float32)
        self._share = np.minimum((n + 0.5) / self.HOP, 1).astype(np.float32).reshape(-1, self.HOP)

    def initial(self, frame: int) -> FilterState:
        """Return the state before a sentence whose first frame has number ``frame`` in the
        session."""
        tail = np.zeros((self.N_FFT // self.HOP, self.HOP), np.float32)
        source = np.zeros(2 * self.HOP, np.float32)
        return FilterState(
            frame, 0.0, np.zeros(0, np.float32), tail, source, np.zeros((0, self.N_FFT), np.float32)
        )

    def step(
        self,
        spectrum: Floats,
        f0: Floats,
        state: FilterState,
        *,
        final: int,
        seed: int,
        ended: bool,
    ) -> tuple[Floats, FilterState]:
        """Return the samples of the first ``final`` frames (at least one), and the next state.

        ``spectrum`` (T, 3005): lh, theta, ln, lr, phi side by side; ``f0`` (T',): pitch in Hz,
        unvoiced below 40. Both continue with expected frames; the last one is repeated if there are
        too few. If ``ended``, nothing follows.
        """
        begins = not len(state.f0)
        reach = final + self.REACH
        pitch = held(np.concatenate([f0[:1] if begins else state.f0, f0[:reach]]), reach + 1)
        # The source up to the end of the last spectrum's window, and its phase in turns.
        source, turns = self._pulses(pitch[: final + self.OVERHANG + 3], state.phase)
        last = final if ended else final + self.OVERHANG
        rows = held(spectrum[:last], last)
        if ended:
            source[final * self.HOP :] = 0
        source = np.concatenate([state.source, source])
        # The tail has the pieces of the first frames already, which were expected before.
        skip = 0 if begins else self.OVERHANG
        first = 0 if self._recompute else skip
        pieces = self._pieces(rows[first:], source[first * self.HOP :], state.frame + first, seed)
        sums = self._overlap_add(pieces[skip - first :], state.tail, skip)
        self._fade(sums, pieces, state.expected)
        phase = float(turns[final * self.HOP - 1] % 1.0)
        tail = sums[final : final + self.N_FFT // self.HOP]
        past = source[final * self.HOP :][: len(state.source)].copy()
        expected = pieces[final:].copy() if self._recompute else state.expected
        kept = FilterState(
            state.frame + final, phase, pitch[final : final + 1], tail, past, expected
        )
        return sums[:final].reshape(-1), kept

    def _fade(self, sums: Floats, pieces: Floats, expected: Floats) -> None:
        """Replace, with a fade, the ``expected`` pieces (2, 1200) in ``sums`` (T, 300) by the first
        of ``pieces``."""
        for n, (piece, before) in enumerate(zip(pieces, expected, strict=False)):
            change = (piece - before).reshape(-1, self.HOP)[self.OVERHANG - n :]
            sums[: len(change)] += self._share[: len(change)] * change

    def _pulses(self, f0: Floats, phase: float) -> tuple[Floats, NDArray[np.float64]]:
        """Return source samples for all frames of ``f0`` (T + 2,) but the first and last, and their
        phase in turns.

        All harmonics below 11 kHz have unit amplitude: sum cos(h t) = sin((H + 1/2) t) / (2 sin(t /
        2)) - 1/2.
        """
        frames = len(f0) - 2
        half = self.HOP // 2
        early = self._toward[:half]
        late = self._toward[half:]
        curve = np.empty((frames, self.HOP), np.float32)
        curve[:, :half] = f0[:-2, None] * (1 - early) + f0[1:-1, None] * early
        curve[:, half:] = f0[1:-1, None] * (1 - late) + f0[2:, None] * late
        hertz = curve.reshape(-1)
        voiced = hertz > self.UNVOICED_HZ
        np.maximum(hertz, self.UNVOICED_HZ, out=hertz)
        turns = phase + np.cumsum(hertz, dtype=np.float64) / self.SAMPLE_RATE
        # The same as the remainder, but faster.
        angle = (2 * np.pi * (turns - np.floor(turns))).astype(np.float32)
        order = np.floor(self.TOP_HZ / hertz) + np.float32(0.5)
        below = 2 * np.sin(angle * np.float32(0.5))
        flat = np.abs(below) <= 2e-3
        below[flat] = 1
        pulses = np.where(flat, order, np.sin(order * angle) / below) - np.float32(0.5)
        pulses[~voiced] = 0
        return pulses.astype(np.float32, copy=False), turns

    def _pieces(self, rows: Floats, source: Floats, frame: int, seed: int) -> Floats:
        """Return the windowed samples (T, 1200) of frames with the parts ``rows`` (T, 3005).

        Computed a few frames at a time, to bound the memory for a long step's spectra.
        """
        pieces = np.empty((len(rows), self.N_FFT), np.float32)
        for at in range(0, len(rows), self.AT_ONCE):
            spectra = self._spectra(
                rows[at : at + self.AT_ONCE], source[at * self.HOP :], frame + at, seed
            )
            samples = np.fft.irfft(spectra, self.N_FFT, axis=1).astype(np.float32, copy=False)
            np.multiply(samples, self._synthesis, out=pieces[at : at + self.AT_ONCE])
        return pieces

    def _spectra(self, rows: Floats, source: Floats, frame: int, seed: int) -> Spectra:
        """Return the spectra (T, 601) of frames with the parts ``rows`` (T, 3005); frame t gets the
        source from hop t to t + 4."""
        spectra = self._source_spectra(source, len(rows))
        lh, theta, ln, lr, phi = (
            rows[:, at : at + self.BINS] for at in range(0, rows.shape[1], self.BINS)
        )
        spectra *= polar(lh, np.float32(np.pi) * np.tanh(theta))
        spectra += loudness(ln) * self._noise(frame, len(rows), seed)
        spectra += polar(lr, phi)
        return spectra

    def _source_spectra(self, source: Floats, frames: int) -> Spectra:
        """Return the spectra (T, 601) of the source in each frame's window, from hop t to t + 4."""
        # Equal to sliding_window_view, but cheaper.
        size = source.itemsize
        views = np.ndarray(
            (frames, self.N_FFT), np.float32, source, strides=(self.HOP * size, size)
        )
        # With norm="forward", numpy computes float32 input in float32; otherwise in float64.
        return np.fft.rfft(views * self._analysis, axis=1, norm="forward").astype(
            np.complex64, copy=False
        )

    def excitation(self, f0: Floats, phase: float) -> Spectra:
        """Return the spectra (T, 601) of the pulses at a pitch (T + 6,) in Hz, for all frames but
        three at each end."""
        return self._source_spectra(self._pulses(f0, phase)[0], len(f0) - 2 * (self.OVERHANG + 1))

    def _noise(self, frame: int, frames: int, seed: int) -> Spectra:
        """Return standard complex noise (T, 601) for absolute frames, whatever the steps."""
        first = frame // self.NOISE_BLOCK
        last = (frame + frames - 1) // self.NOISE_BLOCK
        start = frame - first * self.NOISE_BLOCK
        if first == last:
            return noise_block(seed, first)[start : start + frames]
        blocks = np.concatenate([noise_block(seed, block) for block in range(first, last + 1)])
        return blocks[start : start + frames]

    def _overlap_add(self, pieces: Floats, tail: Floats, skip: int) -> Floats:
        """Add windowed pieces (T, 1200) of frames to samples, in hops: (skip + T + 4, 300).

        ``tail``: the first four hops, as previous frames left them; ``skip``: number of the hop at
        which the first piece's frame lies."""
        frames = len(pieces)
        overlap = self.N_FFT // self.HOP
        sums = np.zeros((skip + frames + overlap, self.HOP), np.float32)
        sums[:overlap] = tail
        if frames:
            hops = pieces.reshape(frames, overlap, self.HOP)
            # A spectrum's window begins two hops before its frame; the part before the first frame
            # is dropped.
            for part in range(overlap):
                first = skip - self.OVERHANG + part
                drop = max(0, -first)
                sums[first + drop : first + frames] += hops[drop:, part]
        return sums


def held(rows: Floats, count: int) -> Floats:
    """Return the rows, with the last one repeated up to ``count`` rows."""
    missing = count - len(rows)
    return rows if missing <= 0 else np.concatenate([rows, np.repeat(rows[-1:], missing, axis=0)])


def polar(log_magnitude: Floats, angle: Floats) -> Spectra:
    """Return exp(log_magnitude) exp(i angle)."""
    out = np.empty(log_magnitude.shape, np.complex64)
    magnitude = loudness(log_magnitude)
    np.multiply(magnitude, np.cos(angle), out=out.real)
    np.multiply(magnitude, np.sin(angle), out=out.imag)
    return out


def loudness(log_magnitude: Floats) -> Floats:
    """Return exp with a ceiling, so that no frame can overflow."""
    # The ceiling is rarely reached, and checking is faster than clipping.
    if log_magnitude.size and not log_magnitude.max() <= CEILING:
        log_magnitude = np.minimum(log_magnitude, CEILING)
    return np.exp(log_magnitude)


@functools.lru_cache(maxsize=64)
def noise_block(seed: int, block: int) -> Spectra:
    """Return the complex noise (32, 601) of one block of frames, with unit variance in each
    part."""
    draw = np.random.default_rng([seed, block])
    shape = (SourceFilter.NOISE_BLOCK, 2 * SourceFilter.BINS)
    noise = draw.standard_normal(shape, dtype=np.float32).view(np.complex64)
    noise.flags.writeable = False
    return noise
