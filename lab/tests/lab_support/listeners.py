"""Listeners that hear little, known to other processes too."""

from __future__ import annotations

import numpy as np
from sayahead.types import Floats


class Counting:
    """Hears the same words in all sound, and counts how often it listens."""

    def __init__(self) -> None:
        self.heard = 0

    def __call__(self, heard: Floats) -> str:
        self.heard += 1
        return "hello there my friend"


def rate(heard: Floats) -> float:
    return float(np.clip(1 + len(heard) / 16000, 1, 5))


def plain(text: str) -> str:
    return text.lower().strip("?.").replace(",", "")
