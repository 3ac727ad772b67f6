"""``sayahead bench``: how fast the engine is on one core, beside its peer in the same run."""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from sayahead.eval.statistics import quantile, regress

HELP = "measure latency and speed on this machine"
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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", metavar="FILE", help="write the figures as JSON to FILE (- for standard output)")
    parser.add_argument("--voice", default="heart", help="voice to measure (name or folder; default: heart)")
    parser.add_argument(
        "-k", "--lookahead", type=int, metavar="N", help="words of lookahead (default: the voice's own)"
    )
    parser.add_argument("--rounds", type=int, default=6, metavar="N", help="sentences of each length (default: 6)")
    parser.add_argument(
        "--core", type=int, metavar="N", help="processor core to run on (default: the last one allowed)"
    )
    parser.add_argument("--no-cold", action="store_true", help="leave out cold start and memory (new processes)")


def run(arguments: argparse.Namespace) -> int:
    core = pin(arguments.core)
    from sayahead import LookaheadK, WaitAll, load_voice

    voice = load_voice(arguments.voice)
    k = voice.config.defaults.lookahead if arguments.lookahead is None else arguments.lookahead
    peer = load_peer()

    def whole(text: str) -> Any:
        return voice.synthesize(text, policy=WaitAll())

    for text in sentences(5, 3):
        streamed(lambda: voice.session(policy=LookaheadK(k)), text)
        oneshot(whole, text, voice.sample_rate)
        oneshot(peer, text, voice.sample_rate)
    lengths, first, steps = [], [], []
    totals = {"streamed": [0.0, 0.0], "oneshot": [0.0, 0.0], "peer_oneshot": [0.0, 0.0]}
    # Lengths take turns in changing order, so that neither a slow minute of the machine nor the caches that the one
    # before has left fall on one of them.
    rounds = [(length, sentences(length, arguments.rounds)) for length in LENGTHS]
    order = random.Random(0)
    for number in range(arguments.rounds):
        for length, texts in order.sample(rounds, len(rounds)):
            text = texts[number]
            elapsed, audio, sounded, times = streamed(lambda: voice.session(policy=LookaheadK(k)), text)
            lengths.append(length)
            first.append(1000 * sounded)
            steps += [1000 * t for t in times]
            add(totals["streamed"], elapsed, audio)
            add(totals["oneshot"], *oneshot(whole, text, voice.sample_rate))
            add(totals["peer_oneshot"], *oneshot(peer, text, voice.sample_rate))
    slope, low, high = regress(lengths, first)
    result: dict[str, Any] = {
        "voice": arguments.voice,
        "lookahead": k,
        "hold_back_s": voice.config.defaults.hold_back_s if k else voice.config.defaults.blind_hold_back_s,
        "machine": {"cpu": processor(), "core": core, "python": platform.python_version(), "system": platform.system()},
        "versions": versions(),
        "sentences": {"lengths": list(LENGTHS), "of_each": arguments.rounds},
        "first_audio_ms": {
            "p50": quantile(first, 0.5), "p95": quantile(first, 0.95),
            "slope_ms_per_word": slope, "slope_ci95": [low, high],
        },
        "word_ms": {"p50": quantile(steps, 0.5), "p95": quantile(steps, 0.95), "p99": quantile(steps, 0.99)},
        "rtf": {name: elapsed / audio for name, (elapsed, audio) in totals.items()},
    }  # fmt: skip
    if not arguments.no_cold:
        result["cold_start_s"] = statistics.median(cold_start(arguments.voice) for _ in range(5))
        result["rss_mb"] = child_memory(arguments.voice)
    show(result, arguments.json)
    return 0


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


def show(result: dict[str, Any], target: str | None) -> None:
    """The figures as JSON where asked, as a table for a person where not on the same stream."""
    text = json.dumps(result, indent=1)
    if target == "-":
        print(text)
        return
    if target is not None:
        with open(target, "w", encoding="utf-8") as file:
            file.write(text + "\n")
    first, word, rtf = result["first_audio_ms"], result["word_ms"], result["rtf"]
    low, high = first["slope_ci95"]
    print(f"{result['machine']['cpu']}, one core; voice {result['voice']}, lookahead {result['lookahead']}")
    print(f"first audible sample   p50 {first['p50']:.1f} ms, p95 {first['p95']:.1f} ms after its lookahead word")
    print(
        f"  over sentence length {first['slope_ms_per_word']:+.4f} ms a word, 95 % interval {low:+.4f} to {high:+.4f}"
    )
    print(f"time per word          p50 {word['p50']:.1f} ms, p95 {word['p95']:.1f} ms, p99 {word['p99']:.1f} ms")
    print(f"computing / audio time streamed {rtf['streamed']:.4f}, whole sentences {rtf['oneshot']:.4f}, ", end="")
    print(f"hibari-tts {rtf['peer_oneshot']:.4f}")
    if "cold_start_s" in result:
        print(f"cold start             {result['cold_start_s']:.2f} s from process start to first audible sample")
        print(f"memory                 {result['rss_mb']:.0f} MB at the peak of a process that speaks")
