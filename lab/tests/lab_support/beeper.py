"""A peer's process for tests: a beep of 0.1 s a letter between two silences, and bad behaviour on request."""

from __future__ import annotations

import os
import sys
import time

import numpy as np
from numpy.typing import NDArray

from sayahead_lab.eval.experiment.peer_worker import Speak, serve

RATE = 1000


def load() -> Speak:
    if "broken" in sys.argv:
        raise FileNotFoundError("no voice here")
    os.system("echo printed by a library")
    return speak


def speak(text: str) -> tuple[NDArray[np.float32], int]:
    print("printed by an engine")
    if "die" in text:
        print("out of luck", file=sys.stderr, flush=True)
        os._exit(3)
    if "refuse" in text:
        raise ValueError(f"cannot say {text!r}.")
    if "hang" in text:
        time.sleep(60)
    if "nothing" in text:
        return np.zeros(0, np.float32), RATE
    time.sleep(0.01)
    silence = np.zeros(50, np.float32)
    beep = np.full(0 if "hush" in text else 100 * sum(map(str.isalnum, text)), 0.5, np.float32)
    return np.concatenate([silence, beep, silence]), 2 * RATE if "fast" in text else RATE


if __name__ == "__main__":
    serve(load)
