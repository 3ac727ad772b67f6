"""PCM and files: samples in [-1, 1] to the forms that others read."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sayahead.types import Floats


def to_pcm16(samples: Floats) -> NDArray[np.int16]:
    """(S,) little-endian 16-bit samples; what lies outside [-1, 1] is clipped, what is not a number is silence."""
    clean = np.nan_to_num(np.clip(samples, -1.0, 1.0), nan=0.0)
    return np.rint(clean * 32767.0).astype("<i2")
