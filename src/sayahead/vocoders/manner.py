"""How a speaker of a family speaks, beside the numbers in its networks: three more, mixed in
blends as these are.

The pitch is moved before the decoder, which then makes the spectra of that pitch: a voice whose
pitch is moved afterwards (``formants``) has those of another one.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sayahead.types import Floats, Shape
from sayahead.vocoders.formants import shaped_pitch

MANNER = "manner"
"""Its name beside the graphs of a speakers.npz, which may have none."""
PLAIN = np.array([0.0, 1.0, 0.0], np.float32)
"""Octaves that the pitch is moved, factor on its range, logarithm of the pace: of a speaker who has
no manner of its own."""

Numbers = Mapping[str, Floats]
"""(V,) by graph, and the manner."""


def pace_of(own: Numbers) -> float:
    """How many times as fast as the networks say a speaker speaks."""
    return float(np.exp(own.get(MANNER, PLAIN)[2]))


def in_manner(f0: Floats, own: Numbers) -> Floats:
    """(T,) pitch in Hz of frames, as a speaker has it."""
    octaves, pitch_range, _ = own.get(MANNER, PLAIN)
    if (octaves, pitch_range) == (0.0, 1.0):
        return f0
    return shaped_pitch(f0, Shape(pitch=12 * float(octaves), pitch_range=float(pitch_range)))
