"""``sayahead bench``: how fast the engine is on one core, beside its peer in the same run."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

LENGTHS = (5, 10, 20, 30, 40, 60, 80)


AUDIBLE = 10 ** (-50 / 20)


# Lewis Carroll, Alice's Adventures in Wonderland (1865), punctuation removed: sentences of any length are cut from it.
PASSAGE = """
Alice was beginning to get very tired of sitting by her sister on the bank and of having nothing to do once or
twice she had peeped into the book her sister was reading but it had no pictures or conversations in it and what is
the use
of a book thought Alice without pictures or conversation so she was considering in her own mind as well as she could
for the
hot day made her feel very sleepy and stupid whether the pleasure of making a daisy chain would be worth the trouble of
getting up and picking the daisies when suddenly a white rabbit with pink eyes ran close by her there was nothing so
very
remarkable in that nor did Alice think it so very much out of the way to hear the rabbit say to itself oh dear oh dear I
shall be late but when the rabbit actually took a watch out of its waistcoat pocket and looked at it and then hurried on
Alice started to her feet for it flashed across her mind that she had never before seen a rabbit with either a waistcoat
pocket or a watch to take out of it""".split()


def pin(core: int | None) -> int | None:
    """Keep this process, and those it starts, on one core where the system can; returns the core."""
    if not hasattr(os, "sched_setaffinity"):
        return None
    chosen = max(os.sched_getaffinity(0)) if core is None else core
    os.sched_setaffinity(0, {chosen})
    return chosen


def sentences(words: int, number: int) -> list[str]:
    """``number`` sentences of so many words, all different."""
    starts = [i * 7 % (len(PASSAGE) - words) for i in range(number)]
    return [" ".join(PASSAGE[at : at + words]).capitalize() + "." for at in starts]


def streamed(make: Callable[[], Any], text: str) -> tuple[float, float, float, list[float]]:
    """Computing time, seconds of audio, first audible sample, time per SPEAK; text comes word by word without pauses.

    The first audible sample is timed from the arrival of the word that made it possible: its lookahead.
    """
    session, times, audio, sounded = make(), list[float](), 0.0, None
    for fragment in [*(word + " " for word in text.split()), None]:
        begun = time.perf_counter()
        if fragment is None:
            session.finish()
        else:
            session.push(fragment)
        before = begun
        while (chunk := session.pull()) is not None:
            now = time.perf_counter()
            times.append(now - before)
            before = now
            audio += chunk.duration_s
            if sounded is None and float(abs(chunk.samples).max()) > AUDIBLE:
                sounded = now - begun
    return sum(times), audio, sounded or 0.0, times


def oneshot(synthesize: Callable[[str], Any], text: str, rate: int) -> tuple[float, float]:
    """Computing time and seconds of audio of a whole text."""
    begun = time.perf_counter()
    samples = synthesize(text)
    return time.perf_counter() - begun, len(samples) / rate


def load_peer() -> Callable[[str], Any]:
    """hibari-tts as it is: sentence by sentence."""
    from hibari import Hibari

    peer: Callable[[str], Any] = Hibari()
    return peer


def add(total: list[float], elapsed: float, audio: float) -> None:
    total[0] += elapsed
    total[1] += audio


def cold_start(voice: str) -> float:
    """Seconds from the start of a new process to its first audible sample on a pipe."""
    import numpy as np

    command = [sys.executable, "-m", "sayahead", "say", "--raw", "-q", "--voice", voice, "Hello there, how are you?"]
    begun = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        while data := process.stdout.read1(1 << 16):  # type: ignore[attr-defined]
            whole = np.frombuffer(data[: len(data) // 2 * 2], "<i2")
            if np.abs(whole.astype(np.int32)).max(initial=0) > AUDIBLE * 32768:
                elapsed = time.perf_counter() - begun
                process.stdout.read()
                return elapsed
    raise SystemExit(f"The command {' '.join(command)} gave no sound.")


def child_memory(voice: str) -> float:
    """Peak resident memory in megabytes of a process that speaks a sentence from start to end."""
    # A process inherits the peak of the one that started it, except in the figure of its own address space.
    code = (
        "import sys, resource, sayahead\n"
        f"sayahead.load_voice({voice!r}).synthesize('Hello there, how are you?')\n"
        "try: lines = open('/proc/self/status').read().split('\\n')\n"
        "except OSError: lines = []\n"
        "peak = [int(line.split()[1]) for line in lines if line.startswith('VmHWM')]\n"
        "scale = 2**20 if sys.platform == 'darwin' else 2**10\n"
        "print(peak[0] / 2**10 if peak else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / scale)\n"
    )
    return float(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout)


def processor() -> str:
    """The processor's name as the system gives it."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as info:
            return next(line.split(":", 1)[1].strip() for line in info if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def versions() -> dict[str, str]:
    """Versions of what the figures depend on."""
    from importlib.metadata import version

    from sayahead import __version__

    return {"sayahead": __version__, **{name: version(name) for name in ("numpy", "onnxruntime", "hibari-tts")}}
