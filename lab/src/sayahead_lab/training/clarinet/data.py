"""A corpus as ClariNet's networks see it: its scale, its crops, the level of its bands."""

from __future__ import annotations

import itertools

import numpy as np
import torch
from sayahead.types import Floats

from sayahead_lab.training.clarinet.conditioner import Conditioner, ConditionerConfig
from sayahead_lab.training.clarinet.signal import Signal
from sayahead_lab.training.corpus.frontend import MelFrontEnd, hann, mel_filters
from sayahead_lab.training.corpus.store import Corpus
from sayahead_lab.training.crops import Crops


def read_corpus(conditioner: Conditioner, corpus: Corpus) -> None:
    """Give the conditioner the mean and deviation of the corpus's mel, and the weights of the
    signal's level."""
    conditioner.scaled(corpus.info).signal.level.copy_(
        make_signal(conditioner.config, corpus).level
    )


def make_signal(config: ConditionerConfig, corpus: Corpus) -> Signal:
    """What turns samples of the corpus into steps and back, for the losses."""
    signal = Signal(config.n_mels, config.bands, config.steps, relative=config.level)
    if config.level:
        signal.level.copy_(torch.from_numpy(level_weights(corpus.info.front_end, config.bands)))
    return signal


def level_weights(front: MelFrontEnd, bands: int) -> Floats:
    """(n_mels, bands) with which the mel bands' squared magnitudes give the power of the steps in
    each band.

    The power of a bin is estimated from the mel bands that contain it, that of a band is the mean
    over its bins. White noise of power 1 has bins of the power of the window, by which all is
    divided."""
    filters = mel_filters(front).astype(np.float64)
    over = filters.sum(1, keepdims=True)
    shares = filters / np.maximum(over, 1e-12) / filters.sum(0) ** 2
    edges = np.linspace(0, front.sample_rate / 2, bands + 1)
    bins = np.arange(len(filters)) * front.sample_rate / front.n_fft
    power = (hann(front.window).astype(np.float64) ** 2).sum()
    inside = [
        (bins >= low) & (bins <= high) & (over[:, 0] > 0) for low, high in itertools.pairwise(edges)
    ]
    return np.stack([shares[rows].mean(0) for rows in inside], 1).astype(np.float32) / np.float32(
        power
    )


def cropped(
    corpus: Corpus, frames: int, edge: int, config: ConditionerConfig
) -> tuple[Crops, Signal]:
    """The crops of a corpus for a teacher or a student, and their signal; ConfigError where the
    corpus does not fit."""
    crops = Crops(corpus, frames, edge, config.pulses)
    crops.check(config.n_mels, config.hop, "[model.conditioner]")
    return crops, make_signal(config, corpus)
