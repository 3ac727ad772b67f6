"""``sayahead bench``: latency and speed on this machine."""

from __future__ import annotations

import argparse
import json
import platform
import random
import statistics
from typing import Any

from sayahead.eval.measures.statistics import quantile, regress
from sayahead.eval.speed.bench import (
    LENGTHS,
    add,
    child_memory,
    cold_start,
    load_peer,
    oneshot,
    pin,
    processor,
    sentences,
    streamed,
    versions,
)

HELP = "measure latency and speed on this machine"


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
