"""The manner of a speaker in a family: three numbers besides its network parameters, blended like
these.

The pitch is moved before the decoder, which then makes spectra for that pitch. A pitch that is
moved afterwards (``formants``) keeps the spectra of another one.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sayahead.types import Floats, Shape
from sayahead.vocoders.formants import shaped_pitch

MANNER = "manner"
"""Name of the manner in a speakers.npz, which need not have one."""
PLAIN = np.array([0.0, 1.0, 0.0], np.float32)
"""Shift of the pitch in octaves, factor on its range, logarithm of the speed: those of a speaker
without a manner."""

Numbers = Mapping[str, Floats]
"""Parameters (V,) for each graph, and the manner."""


def pace_of(parameters: Numbers) -> float:
    """Return a speaker's speed relative to the networks' durations."""
    return float(np.exp(parameters.get(MANNER, PLAIN)[2]))


def in_manner(f0: Floats, parameters: Numbers) -> Floats:
    """Return the pitch (T,) in Hz as a speaker has it."""
    octaves, pitch_range, _ = parameters.get(MANNER, PLAIN)
    if (octaves, pitch_range) == (0.0, 1.0):
        return f0
    return shaped_pitch(f0, Shape(pitch=12 * float(octaves), pitch_range=float(pitch_range)))
