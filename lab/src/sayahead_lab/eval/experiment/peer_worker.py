"""A peer's process: it loads one engine and then speaks each request until its input ends.

    python -m sayahead_lab.eval.experiment.peer_worker NAME [MODEL]

A request is a line ``{"text": ...}``; the answer a line ``{"sample_rate", "samples", "generation_s"}`` and that many
little-endian float32 samples, or a line ``{"error": ...}``. The first line, ``{"ready": true}``, says that the
engine is loaded. This file imports nothing of sayahead: any Python that has the engine can run it.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Speak = Callable[[str], tuple[NDArray[np.float32], int]]
"""An engine: from text to samples in [-1, 1] and their rate."""


def serve(load: Callable[[], Speak]) -> None:
    """Answer requests on this process's input and output with the engine from ``load``."""
    # Engines and their libraries may print anything: only answers may reach the reader.
    with os.fdopen(os.dup(1), "wb") as output:
        os.dup2(2, 1)

        def answer(header: dict[str, Any], sound: bytes = b"") -> None:
            output.write(json.dumps(header).encode() + b"\n" + sound)
            output.flush()

        try:
            speak = load()
            answer({"ready": True})
            for line in sys.stdin.buffer:
                answer(*answer_to(speak, line))
        except BrokenPipeError:
            return
        except Exception as error:
            answer({"error": one_line(error)})


def answer_to(speak: Speak, request: bytes) -> tuple[dict[str, Any], bytes]:
    """The answer to one request; an engine's error is an answer too."""
    try:
        text = json.loads(request)["text"]
        begun = time.perf_counter()
        samples, sample_rate = speak(text)
        generation_s = time.perf_counter() - begun
        sound = np.asarray(samples, "<f4").reshape(-1)
    except Exception as error:
        return {"error": one_line(error)}, b""
    return {"sample_rate": int(sample_rate), "samples": len(sound), "generation_s": generation_s}, sound.tobytes()


def one_line(error: Exception) -> str:
    """An error as the reader reports it."""
    return " ".join(f"{type(error).__name__}: {error}".split()).rstrip(".")


def hibari() -> Speak:
    """hibari-tts, its default voice on one thread, the noise from a fixed seed."""
    from hibari import SAMPLE_RATE, Hibari

    engine = Hibari()
    return lambda text: (engine(text, seed=0), SAMPLE_RATE)


def espeak_ng() -> Speak:
    """espeak-ng's command line, one process per text: it has next to nothing to load."""

    def speak(text: str) -> tuple[NDArray[np.float32], int]:
        wav = output_of(["espeak-ng", "-v", "en-us", "--stdin", "--stdout"], text)
        if len(wav) < 44:
            raise ValueError("espeak-ng gave no sound")
        # Its header's sizes are wrong where it cannot go back, but it always has the same 44 bytes of fields.
        return from_pcm16(wav[44:]), int.from_bytes(wav[24:28], "little")

    return speak


def piper() -> Speak:
    """Piper with its voice loaded once, one thread per core it may use; without its package, its command line."""
    model = sys.argv[2]
    try:
        package = importlib.import_module("piper")
    except ImportError:
        rate = int(json.loads(Path(f"{model}.json").read_text(encoding="utf-8"))["audio"]["sample_rate"])
        return lambda text: (from_pcm16(output_of(["piper", "-m", model, "--output_raw"], text + "\n")), rate)
    voice = package.PiperVoice.load(model)
    if hasattr(os, "sched_getaffinity") and len(os.sched_getaffinity(0)) < (os.cpu_count() or 1):
        # By default, ONNX Runtime binds a thread to every core of the machine, busy ones included.
        runtime = importlib.import_module("onnxruntime")
        options = runtime.SessionOptions()
        options.intra_op_num_threads = len(os.sched_getaffinity(0))
        voice.session = runtime.InferenceSession(model, options, providers=["CPUExecutionProvider"])

    def speak(text: str) -> tuple[NDArray[np.float32], int]:
        parts = [np.asarray(chunk.audio_float_array, np.float32) for chunk in voice.synthesize(text)]
        return np.concatenate([*parts, np.zeros(0, np.float32)]), int(voice.config.sample_rate)

    return speak


def output_of(command: list[str], text: str) -> bytes:
    """A command's output for a text on its input."""
    done = subprocess.run(command, input=text.encode(), capture_output=True, check=False)
    if done.returncode:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise RuntimeError(f"{command[0]} ended with exit code {done.returncode} {' '.join(last)}")
    return done.stdout


def from_pcm16(data: bytes) -> NDArray[np.float32]:
    """Little-endian 16-bit samples as floats."""
    return np.frombuffer(data[: len(data) // 2 * 2], "<i2").astype(np.float32) / np.float32(32768)


ENGINES: dict[str, Callable[[], Speak]] = {"hibari": hibari, "piper": piper, "espeak-ng": espeak_ng}
"""The engines by name, each with its loader."""

if __name__ == "__main__":
    serve(ENGINES[sys.argv[1]])
