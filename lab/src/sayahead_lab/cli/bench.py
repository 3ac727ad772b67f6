"""``sayahead bench``: latency and speed on this machine."""

from __future__ import annotations

import argparse
import json
import platform
import statistics
from pathlib import Path
from typing import Any

from sayahead.cli import number
from sayahead.errors import ConfigError

HELP = "measure latency and speed on this machine"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    whole = number(int, 0)
    some = number(int, 1)
    add = parser.add_argument
    add("--json", metavar="FILE", help="write the figures as JSON to FILE (- for standard output)")
    add("--voice", default="heart", help="voice to measure (name or folder; default: heart)")
    add(
        "-k",
        "--lookahead",
        type=whole,
        metavar="N",
        help="words of lookahead (default: the voice's own)",
    )
    add("--rounds", type=some, default=6, metavar="N", help="sentences of each length (default: 6)")
    add(
        "--core", type=whole, metavar="N", help="CPU core to run on (default: the last one allowed)"
    )
    add(
        "--no-cold",
        action="store_true",
        help="skip cold start and memory, which need new processes",
    )


def run(arguments: argparse.Namespace) -> int:
    """Measure and show; the exit code."""
    target = arguments.json
    if target not in (None, "-") and not Path(target).parent.is_dir():
        raise ConfigError(f"{target} cannot be written: there is no folder {Path(target).parent}.")
    from sayahead.voice import load_voice

    from sayahead_lab.eval.experiment.machine import pin, processor, versions
    from sayahead_lab.eval.speed.bench import child_memory, cold_start, measure

    core = pin(arguments.core)
    voice = load_voice(arguments.voice)
    if voice.characters:
        raise ConfigError(
            f"The voice {arguments.voice} reads characters: bench measures voices that read words."
        )
    defaults = voice.config.defaults
    lookahead = defaults.lookahead if arguments.lookahead is None else arguments.lookahead
    figures: dict[str, Any] = {
        "voice": arguments.voice,
        "lookahead": lookahead,
        "hold_back_s": defaults.hold_back_s if lookahead else defaults.blind_hold_back_s,
        "machine": {
            "cpu": processor(),
            "core": core,
            "python": platform.python_version(),
            "system": platform.system(),
        },
        "versions": versions(),
        **measure(voice, lookahead, arguments.rounds),
    }
    if not arguments.no_cold:
        figures["cold_start_s"] = statistics.median(cold_start(arguments.voice) for _ in range(5))
        figures["rss_mb"] = child_memory(arguments.voice)
    text = json.dumps(figures, indent=1)
    if target == "-":
        print(text)
        return 0
    show(figures)
    if target is not None:
        Path(target).write_text(text + "\n", encoding="utf-8")
    return 0


def show(figures: dict[str, Any]) -> None:
    """Print the figures for a person."""
    first = figures["first_audio_ms"]
    word = figures["word_ms"]
    rtf = figures["rtf"]
    low, high = first["slope_ci95"]
    ratio = figures["ratio"]
    print(
        f"{ratio['listened']:.2f} times hibari-tts's cost for a listener, {ratio['streamed']:.2f}"
        f" times word by word, {ratio['oneshot']:.2f} times as whole sentences (processor time a"
        " second of sound)"
    )
    pace = figures["listener"]
    print(
        f"a listener: text at {pace['tokens_per_s']:g} tokens a second, up to {pace['step_words']}"
        " words a step"
    )
    print(
        f"{figures['machine']['cpu']}, one core; voice {figures['voice']}, lookahead"
        f" {figures['lookahead']}"
    )
    print(
        f"first audible sample   p50 {first['p50']:.1f} ms, p95 {first['p95']:.1f} ms after its"
        " lookahead word"
    )
    slope = f"{first['slope_ms_per_word']:+.4f} ms a word, 95 % interval {low:+.4f} to {high:+.4f}"
    print(f"  over sentence length {slope}")
    print(
        f"time per word          p50 {word['p50']:.1f} ms, p95 {word['p95']:.1f} ms, p99"
        f" {word['p99']:.1f} ms"
    )
    parts = sorted(figures["parts_ms"].items(), key=lambda part: -part[1])
    costs = ", ".join(f"{name} {cost:.2f}" for name, cost in parts if name != "all")
    print(f"processor time a word  {figures['parts_ms']['all']:.2f} ms: {costs}")
    others = f"whole sentences {rtf['oneshot']:.4f}, hibari-tts {rtf['peer_oneshot']:.4f}"
    print(
        f"computing / audio time for a listener {rtf['listened']:.4f}, word by word"
        f" {rtf['streamed']:.4f}, {others}"
    )
    if "cold_start_s" in figures:
        print(
            f"cold start             {figures['cold_start_s']:.2f} s from process start to first"
            " audible sample"
        )
    if figures.get("rss_mb") is not None:
        print(
            f"memory                 {figures['rss_mb']:.0f} MB at the peak of a process that"
            " speaks"
        )
