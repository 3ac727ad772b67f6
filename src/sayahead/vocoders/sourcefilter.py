"""Source-filter synthesis with state: spectral parts and pitch per frame to samples, a few frames
at a time.

A pulse train at the pitch and complex noise drawn per absolute frame are shaped in the STFT domain
(n_fft 1200, hop 300, periodic Hann, 24 kHz) and overlap-added:

    S = exp(lh) exp(i pi tanh(theta)) STFT(pulses) + exp(ln) Z + exp(lr) exp(i phi)

the signal model of the hibari-tts voices (Apache-2.0). A frame's samples overlap with the spectra
of two frames after it, and these with the pitch of two more. A step is given those frames as they
are expected, and they come again with the next step. The two spectra stay as they were made, so
that a join is an overlap-add of old and new; or, ``anew``, they are made again, and the join is a
fade within one frame from what was expected to what is known. Where the expectation was right, a
sentence in steps is the sentence as a whole."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sayahead.types import Floats

Spectra = NDArray[np.complex64]
CEILING = np.float32(7)
"""Of the logarithm of a magnitude."""


@dataclass(frozen=True, slots=True)
class FilterState:
    """What the synthesis keeps between steps."""

    frame: int
    """Number, in the session, of the first frame that is not final; keys the noise."""
    phase: float
    """Pulse phase in turns where that frame begins."""
    f0: Floats
    """(1,) pitch of the frame before it; empty before a sentence's first frame."""
    tail: Floats
    """(4, 300) overlap-add sums from that frame's first sample on, which later spectra still add
    to."""
    source: Floats
    """(600,) pulses of the two frames before it."""
    expected: Floats
    """(2, 1200) pieces in ``tail`` of frames that were only expected; empty where they stay, or
    nothing was."""


class SourceFilter:
    """Frames to samples; holds only constants."""

    SAMPLE_RATE = 24000
    N_FFT = 1200
    HOP = 300
    BINS = 601
    # Frames whose spectra overlap into the sound of the frame before them, and how many more their
    # pitch reaches.
    OVERHANG = 2
    REACH = 4
    UNVOICED_HZ = 40.0
    TOP_HZ = 11000.0
    NOISE_BLOCK = 32
    # Frames whose spectra are made in one go.
    AT_ONCE = 32

    def __init__(self, *, anew: bool = False) -> None:
        """``anew``: make the spectra of frames that were only expected again, and fade to them
        within a frame.

        It takes a step whose spectra of its first two frames know what is known now.
        """
        self._anew = anew
        n = np.arange(self.N_FFT)
        self._window = (0.5 - 0.5 * np.cos(2 * np.pi * n / self.N_FFT)).astype(np.float32)
        # Over a quarter of the transform's length, by which the transform itself divides.
        self._analysis = 4 * self._window
        # Four overlapping squared Hann windows sum to 1.5 everywhere.
        self._synthesis = (self._window / 1.5).astype(np.float32)
        position = (np.arange(self.HOP) + 0.5) / self.HOP - 0.5
        self._toward = (position % 1.0).astype(np.float32)
        self._share = np.minimum((n + 0.5) / self.HOP, 1).astype(np.float32).reshape(-1, self.HOP)

    def initial(self, frame: int) -> FilterState:
        """The state before a sentence's first frame, which is number ``frame`` of the session."""
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
        """Samples of the first ``final`` frames (at least one), and the next state.

        ``spectrum`` (T, 3005): lh, theta, ln, lr, phi side by side; ``f0`` (T',) in Hz, unvoiced
        below 40. Both go on past the final frames by what is expected, and are held where that is
        not enough. Where ``ended``, nothing follows.
        """
        begins = not len(state.f0)
        reach = final + self.REACH
        pitch = held(np.concatenate([f0[:1] if begins else state.f0, f0[:reach]]), reach + 1)
        # Source from the first new frame up to the end of the last spectrum's window; turns of the
        # phase as it goes.
        source, turns = self._pulses(pitch[: final + self.OVERHANG + 3], state.phase)
        last = final if ended else final + self.OVERHANG
        rows = held(spectrum[:last], last)
        if ended:
            source[final * self.HOP :] = 0
        source = np.concatenate([state.source, source])
        skip = 0 if begins else self.OVERHANG
        first = 0 if self._anew else skip
        pieces = self._pieces(rows[first:], source[first * self.HOP :], state.frame + first, seed)
        sums = self._overlap_add(pieces[skip - first :], state.tail, skip)
        self._fade(sums, pieces, state.expected)
        phase = float(turns[final * self.HOP - 1] % 1.0)
        tail = sums[final : final + self.N_FFT // self.HOP]
        past = source[final * self.HOP :][: len(state.source)].copy()
        expected = pieces[final:].copy() if self._anew else state.expected
        kept = FilterState(
            state.frame + final, phase, pitch[final : final + 1], tail, past, expected
        )
        return sums[:final].reshape(-1), kept

    def _fade(self, sums: Floats, pieces: Floats, expected: Floats) -> None:
        """Replace in ``sums`` (T, 300) the pieces that were ``expected`` (2, 1200) by the first of
        ``pieces``."""
        for n, (piece, before) in enumerate(zip(pieces, expected, strict=False)):
            change = (piece - before).reshape(-1, self.HOP)[self.OVERHANG - n :]
            sums[: len(change)] += self._share[: len(change)] * change

    def _pulses(self, f0: Floats, phase: float) -> tuple[Floats, NDArray[np.float64]]:
        """Source samples for all frames of ``f0`` (T + 2,) but the first and the last, and the
        turns of their phase.

        All harmonics below 11 kHz at unit amplitude: sum cos(h t) = sin((H + 1/2) t) / (2 sin(t /
        2)) - 1/2."""
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
        # Faster than the remainder, and the same.
        angle = (2 * np.pi * (turns - np.floor(turns))).astype(np.float32)
        order = np.floor(self.TOP_HZ / hertz) + np.float32(0.5)
        below = 2 * np.sin(angle * np.float32(0.5))
        flat = np.abs(below) <= 2e-3
        below[flat] = 1
        pulses = np.where(flat, order, np.sin(order * angle) / below) - np.float32(0.5)
        pulses[~voiced] = 0
        return pulses.astype(np.float32, copy=False), turns

    def _pieces(self, rows: Floats, source: Floats, frame: int, seed: int) -> Floats:
        """(T, 1200) windowed samples of frames with the parts ``rows`` (T, 3005).

        Some frames at a time, since a long step's spectra would take more memory than all else in
        it."""
        pieces = np.empty((len(rows), self.N_FFT), np.float32)
        for at in range(0, len(rows), self.AT_ONCE):
            spectra = self._spectra(
                rows[at : at + self.AT_ONCE], source[at * self.HOP :], frame + at, seed
            )
            samples = np.fft.irfft(spectra, self.N_FFT, axis=1).astype(np.float32, copy=False)
            np.multiply(samples, self._synthesis, out=pieces[at : at + self.AT_ONCE])
        return pieces

    def _spectra(self, rows: Floats, source: Floats, frame: int, seed: int) -> Spectra:
        """(T, 601) spectra of frames with the parts ``rows`` (T, 3005); frame t sees the source
        from hop t to t + 4."""
        spectra = self._seen(source, len(rows))
        lh, theta, ln, lr, phi = (
            rows[:, at : at + self.BINS] for at in range(0, rows.shape[1], self.BINS)
        )
        spectra *= polar(lh, np.float32(np.pi) * np.tanh(theta))
        spectra += loudness(ln) * self._noise(frame, len(rows), seed)
        spectra += polar(lr, phi)
        return spectra

    def _seen(self, source: Floats, frames: int) -> Spectra:
        """(T, 601) spectra of the source as each frame's window sees it, from hop t to t + 4."""
        # What sliding_window_view gives, without what it costs.
        size = source.itemsize
        views = np.ndarray(
            (frames, self.N_FFT), np.float32, source, strides=(self.HOP * size, size)
        )
        # Where it divides by its length, numpy's transform of float32 is one in float32; otherwise
        # in float64.
        return np.fft.rfft(views * self._analysis, axis=1, norm="forward").astype(
            np.complex64, copy=False
        )

    def excitation(self, f0: Floats, phase: float) -> Spectra:
        """(T, 601) spectra of the pulses of a pitch (T + 6,) in Hz: of all its frames but three at
        each end."""
        return self._seen(self._pulses(f0, phase)[0], len(f0) - 2 * (self.OVERHANG + 1))

    def _noise(self, frame: int, frames: int, seed: int) -> Spectra:
        """(T, 601) standard complex noise for absolute frames, whatever the steps they come in."""
        first = frame // self.NOISE_BLOCK
        last = (frame + frames - 1) // self.NOISE_BLOCK
        start = frame - first * self.NOISE_BLOCK
        if first == last:
            return noise_block(seed, first)[start : start + frames]
        blocks = np.concatenate([noise_block(seed, block) for block in range(first, last + 1)])
        return blocks[start : start + frames]

    def _overlap_add(self, pieces: Floats, tail: Floats, skip: int) -> Floats:
        """(T + 4, 300) sums from the first new frame on: ``tail``, and the pieces of frames
        ``skip`` and after."""
        frames = len(pieces)
        overlap = self.N_FFT // self.HOP
        sums = np.zeros((skip + frames + overlap, self.HOP), np.float32)
        sums[:overlap] = tail
        if frames:
            hops = pieces.reshape(frames, overlap, self.HOP)
            # A spectrum's window begins two hops before its frame does; what lies before the first
            # frame is dropped.
            for k in range(overlap):
                at = skip - self.OVERHANG + k
                drop = max(0, -at)
                sums[at + drop : at + frames] += hops[drop:, k]
        return sums


def held(rows: Floats, count: int) -> Floats:
    """The rows, the last one repeated where there are fewer than ``count``."""
    missing = count - len(rows)
    return rows if missing <= 0 else np.concatenate([rows, np.repeat(rows[-1:], missing, axis=0)])


def polar(log_magnitude: Floats, angle: Floats) -> Spectra:
    """exp(log_magnitude) exp(i angle)."""
    out = np.empty(log_magnitude.shape, np.complex64)
    magnitude = loudness(log_magnitude)
    np.multiply(magnitude, np.cos(angle), out=out.real)
    np.multiply(magnitude, np.sin(angle), out=out.imag)
    return out


def loudness(log_magnitude: Floats) -> Floats:
    """exp with a ceiling, so that no frame can overflow."""
    # Hardly ever; to look is faster than to cap.
    if log_magnitude.size and not log_magnitude.max() <= CEILING:
        log_magnitude = np.minimum(log_magnitude, CEILING)
    return np.exp(log_magnitude)


@functools.lru_cache(maxsize=64)
def noise_block(seed: int, block: int) -> Spectra:
    """(32, 601) complex noise of one block of frames, unit variance in each part."""
    draw = np.random.default_rng([seed, block])
    shape = (SourceFilter.NOISE_BLOCK, 2 * SourceFilter.BINS)
    noise = draw.standard_normal(shape, dtype=np.float32).view(np.complex64)
    noise.flags.writeable = False
    return noise
