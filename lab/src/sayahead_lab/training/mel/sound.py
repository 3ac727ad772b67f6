"""Source-filter synthesis in tensors, and how far its sound is from a recording's.

So the mel vocoder learns a speaker whose frame parameters nobody knows: from the sound alone. The
synthesis is that of ``vocoders/sourcefilter.py``; gradients flow to the spectral parts, and the
pitch of the pulses is the corpus's."""

from __future__ import annotations

import functools
import math

import numpy as np
import torch
from sayahead.types import Floats
from sayahead.vocoders.sourcefilter import SourceFilter, Spectra
from torch import Tensor
from torch.nn import functional

from sayahead_lab.training.layers import BINS

WINDOWS = (512, 1024, 2048)
"""Samples of the windows in which sounds are compared, a quarter apart."""
FLOOR = 1e-2
"""Magnitudes below it are silence; a sine of full scale has a quarter of its window."""
BANDS = {512: 40, 1024: 80, 2048: 120}
"""Mel bands by the samples of the windows, for ``band_errors``."""
QUIET = 1e-5
"""Mean power of a band's bins below which it is silent."""
LOWEST = 20.0
"""Hz where the lowest band begins."""
RATE = 24000
HOPS = SourceFilter.N_FFT // SourceFilter.HOP


def excitation(f0: Floats, phase: float) -> Spectra:
    """(T, 601) spectra of the pulses that frames (T,) of a pitch in Hz see, ``phase`` turns into a
    pulse at first."""
    return SourceFilter().excitation(np.pad(f0, SourceFilter.OVERHANG + 1, mode="edge"), phase)


def synthesized(parts: Tensor, pulses: Tensor, noise: Tensor) -> Tensor:
    """Samples (B, 300 T) of spectral parts (B, T, 5 x 601), pulses and noise (B, T, 601).

    Without the frames around them, the first two hops and the last two lack what overlaps into
    them."""
    lh, theta, ln, lr, phi = torch.split(parts, BINS, -1)
    spectra = (
        polar(lh, torch.pi * theta.tanh()) * pulses
        + polar(ln, torch.zeros_like(ln)) * noise
        + polar(lr, phi)
    )
    window = torch.hann_window(SourceFilter.N_FFT, device=parts.device) / 1.5
    pieces = (torch.fft.irfft(spectra, SourceFilter.N_FFT) * window).unflatten(
        -1, (HOPS, SourceFilter.HOP)
    )
    frames = parts.shape[1]
    sums = sum(functional.pad(pieces[:, :, k], (0, 0, k, HOPS - 1 - k)) for k in range(HOPS))
    assert isinstance(sums, Tensor)
    return sums[:, SourceFilter.OVERHANG : SourceFilter.OVERHANG + frames].flatten(1)


def polar(log_magnitude: Tensor, angle: Tensor) -> Tensor:
    """exp(log_magnitude) exp(i angle), with the ceiling of ``sourcefilter.loudness``."""
    return torch.polar(log_magnitude.clamp(max=7).exp(), angle)


def sound_errors(ours: Tensor, theirs: Tensor) -> dict[str, Tensor]:
    """Spectral convergence and the log magnitudes' absolute error of samples (B, S).

    Both are means over three sizes of windows (Yamamoto et al., Parallel WaveGAN, ICASSP 2020, Eq.
    3 to 6)."""
    convergence = torch.zeros((), device=ours.device)
    apart = convergence
    for size in WINDOWS:
        own = magnitudes_of(ours, size)
        other = magnitudes_of(theirs, size)
        convergence = convergence + (other - own).norm() / other.norm()
        apart = apart + (other.log() - own.log()).abs().mean()
    return {"convergence": convergence / len(WINDOWS), "magnitudes": apart / len(WINDOWS)}


def band_errors(ours: Tensor, theirs: Tensor) -> dict[str, Tensor]:
    """The absolute error of the logarithms of bands' powers, of samples (B, S): means over three
    sizes of windows.

    Bands are on the mel scale (as in Kong et al., HiFi-GAN, NeurIPS 2020, Eq. 3, of magnitudes).
    What is noise or a phase within a band, which no text tells, is not counted, and so not smoothed
    away."""
    apart = torch.zeros((), device=ours.device)
    for size, count in BANDS.items():
        own, other = (band_levels(samples, size, count) for samples in (ours, theirs))
        apart = apart + (other - own).abs().mean()
    return {"bands": apart / len(BANDS)}


def band_levels(samples: Tensor, size: int, count: int) -> Tensor:
    """(B, N, F) half the logarithms of the powers of N mel bands of samples (B, S), where they can
    be heard."""
    window = torch.hann_window(size, device=samples.device)
    spectra = torch.stft(samples, size, size // 4, window=window, center=False, return_complex=True)
    return (
        0.5
        * (mel_bands(size, count).to(samples.device) @ spectra.abs().square())
        .clamp(min=QUIET)
        .log()
    )


@functools.cache
def mel_bands(size: int, count: int) -> Tensor:
    """(N, size / 2 + 1) weights of mel bands, each a mean over its bins; bands that have no bin are
    left out."""
    ends = [2595 * math.log10(1 + hz / 700) for hz in (LOWEST, RATE / 2)]
    edges = 700 * (10 ** (np.linspace(ends[0], ends[1], count + 2) / 2595) - 1)
    bins = np.linspace(0, RATE / 2, size // 2 + 1)
    low, middle, high = (edges[at : at + count, None] for at in range(3))
    weights = np.maximum(
        0, np.minimum((bins - low) / (middle - low), (high - bins) / (high - middle))
    )
    sums = weights.sum(1, keepdims=True)
    return torch.from_numpy((weights / np.maximum(sums, 1e-6))[sums[:, 0] > 0.5].astype(np.float32))


def magnitudes_of(samples: Tensor, size: int) -> Tensor:
    """(B, size / 2 + 1, F) magnitudes of samples (B, S), where they can be heard."""
    window = torch.hann_window(size, device=samples.device)
    spectra = torch.stft(samples, size, size // 4, window=window, center=False, return_complex=True)
    return spectra.abs().clamp(min=FLOOR)
