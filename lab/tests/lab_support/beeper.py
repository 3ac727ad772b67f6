"""A peer's engine for tests: a beep of 0.1 s a letter between two silences, and bad behaviour on
request."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

RATE = 1000


def load(broken: bool = False, simulates: bool = True) -> Any:
    if broken:
        raise FileNotFoundError("no voice here")
    os.system("echo printed by a library")
    return {"rate": RATE, "version": "1", "flushes": True, "simulates": simulates}, speak


def speak(text: Iterator[str], whole: bool, seed: int) -> Iterator[Any]:
    print("printed by an engine")
    for piece in text:
        if "die" in piece:
            print("out of luck", file=sys.stderr, flush=True)
            os._exit(3)
        if "refuse" in piece:
            raise ValueError(f"cannot say {piece!r}.")
        if "hang" in piece:
            time.sleep(60)
        time.sleep(0.01)
        silence = np.zeros(50, np.float32)
        beep = np.full(
            0 if "hush" in piece else 100 * sum(map(str.isalnum, piece)), 0.5, np.float32
        )
        yield {"gpu_s": 0.5}
        yield np.zeros(0) if "nothing" in piece else np.concatenate([silence, beep, silence])


def exact(wav: str = "", delay_s: float = 0.0, stall_s: float = 0.0, shift_s: float = 0.0) -> Any:
    """An engine whose times are known: ``delay_s`` after the whole text, half of a sound, the rest
    in time to be ``stall_s`` late; all of it ``shift_s`` later in the sound."""
    import wave

    with wave.open(wav) as file:
        rate = file.getframerate()
        data = file.readframes(2**30)
    sound = np.frombuffer(data, "<i2").astype(np.float32) / np.float32(32768)

    def play(text: Iterator[str], whole: bool, seed: int) -> Iterator[Any]:
        for _ in text:
            continue
        begun = time.monotonic()
        shifted = np.concatenate([np.zeros(round(shift_s * rate), np.float32), sound])
        half = len(shifted) // 2
        time.sleep(max(0.0, begun + delay_s - time.monotonic()))
        yield shifted[:half]
        time.sleep(max(0.0, begun + delay_s + half / rate + stall_s - time.monotonic()))
        yield shifted[half:]

    return {"rate": rate}, play
