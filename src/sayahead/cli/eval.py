"""``sayahead eval``: from a policy to its table, its plots and its peers."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sayahead.cli import number, one_of
from sayahead.cli.console import Console
from sayahead.errors import ConfigError

HELP = "compare policies: latency on text clocks, quality, peers"
EPILOG = """An evaluation has three steps, each of which can be repeated:

  sayahead eval run benchmarks/lookahead.toml --texts texts.csv -o out    speak, and measure
  sayahead eval score out --whisper FOLDER                                latency from the traces, quality by listeners
  sayahead eval report out -o report                                      tables, plots, one HTML page

A text file has lines of name|text. run goes on where it was stopped; score and report work from what it left.
"""
# Options that belong to one step alone, by step.
OPTIONS = {
    "run": ("texts", "lm", "jobs", "peers"),
    "score": ("whisper",),
    "report": ("listen", "condition"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    parser.add_argument("step", metavar="run|score|report", type=one_of("run", "score", "report"), help="what to do")
    parser.add_argument("path", metavar="PATH", type=Path, help="run: the experiment's TOML; score, report: its folder")
    parser.add_argument("-o", "--out", metavar="FOLDER", type=Path,
        help="run: where traces and sound go; report: where tables and plots go")  # fmt: skip
    add = parser.add_argument_group("run").add_argument
    add("--texts", metavar="FILE", type=Path, help="lines of name|text")
    add("--lm", metavar="NAME", help="language model for conditions that want one: a transformers name or folder")
    add("--jobs", metavar="N", type=number(int, 1), help="processes (default: 1; more disturb each other's times)")
    add("--peers", metavar="NAMES", help="other engines, separated by commas; see docs/evaluation.md")
    add = parser.add_argument_group("score").add_argument
    add("--whisper", metavar="FOLDER", type=Path, help="Whisper for faster-whisper (or set SAYAHEAD_WHISPER)")
    add = parser.add_argument_group("report").add_argument
    add("--listen", metavar="N", type=number(int, 1), help="also a page to rate N sentences in blind order")
    add(
        "--condition",
        metavar="NAME",
        action="append",
        help="a condition for that page; may be repeated, up to nine (default: the first nine)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Carry out one step; the exit code."""
    for step, names in OPTIONS.items():
        for name in names:
            if step != arguments.step and getattr(arguments, name, None) is not None:
                raise ConfigError(f"--{name} belongs to sayahead eval {step}, not to {arguments.step}.")
    console = Console(quiet=False)
    if arguments.step == "run":
        return run_step(arguments, console)
    if not (arguments.path / "experiment.json").is_file():
        raise ConfigError(f"{arguments.path} is no folder of an experiment: make one with sayahead eval run.")
    if arguments.step == "score":
        from sayahead.eval.score import score

        for line in score(arguments.path, arguments.whisper, progress=console.progress):
            console.note(line)
        return 0
    from sayahead.eval.report import report

    target = arguments.out or arguments.path / "report"
    report(arguments.path, target)
    if arguments.listen is not None:
        from sayahead.eval.listen import listening_page

        experiment = json.loads((arguments.path / "experiment.json").read_text(encoding="utf-8"))
        chosen = arguments.condition or experiment["conditions"][:9]
        listening_page(arguments.path, target / "listen.html", chosen, arguments.listen, 0)
    console.note(f"{target}: " + ", ".join(sorted(path.name for path in target.iterdir())))
    return 0


def run_step(arguments: argparse.Namespace, console: Console) -> int:
    """Speak and measure all conditions, then the peers."""
    from sayahead.eval.matrix import load_matrix
    from sayahead.eval.run import read_texts, run

    for name in ("out", "texts"):
        if getattr(arguments, name) is None:
            raise ConfigError(f"sayahead eval run needs --{name}: see sayahead eval --help.")
    matrix = load_matrix(arguments.path)
    texts = read_texts(arguments.texts, matrix.count)
    peers = peers_by_name(arguments.peers)
    out: Path = arguments.out
    out.mkdir(parents=True, exist_ok=True)
    run(matrix, texts, out, lm=arguments.lm, jobs=arguments.jobs or 1, progress=console.progress)
    names = [condition.name for condition in matrix.conditions]
    for name, peer in peers.items():
        from sayahead.eval.peers import PeerError, run_peer

        why = peer.missing()
        try:
            if why is None:
                run_peer(peer, matrix, texts, out, progress=console.progress)
                names.append(name)
        except PeerError as error:
            why = str(error)
        if why is not None:
            console.progress("")
            console.warn(f"Peer {name} is left out: {why}")
    console.progress("")
    experiment = {
        "conditions": names,
        "settings": {condition.name: asdict(condition) for condition in matrix.conditions},
        "clocks": [clock.name for clock in matrix.clocks],
        "count": len(texts),
        "command": shlex.join(["sayahead", *sys.argv[1:]]),
        "jobs": arguments.jobs or 1,
        "seeds": sorted({condition.seed for condition in matrix.conditions}),
        **machine(),
    }
    (out / "experiment.json").write_text(json.dumps(experiment, indent=1) + "\n", encoding="utf-8")
    console.note(f"{out}: {len(names)} conditions, {len(texts)} utterances, {len(matrix.clocks)} clocks")
    return 0


def peers_by_name(names: str | None) -> dict[str, Any]:
    """The named peers by their own names; ConfigError for one that is not known, or stands twice."""
    if not names:
        return {}
    from sayahead.eval.peers import make_peer

    peers = [make_peer(name.strip()) for name in names.split(",")]
    found = {peer.name: peer for peer in peers}
    if len(found) < len(peers):
        raise ConfigError(f"--peers {names}: a peer stands twice.")
    return found


def machine() -> dict[str, Any]:
    """What the figures depend on besides the experiment."""
    import os
    import platform

    from sayahead.eval.bench import processor, versions

    return {
        "machine": {"cpu": processor(), "cores": os.cpu_count(), "system": platform.system()},
        "versions": {"python": platform.python_version(), **versions()},
    }
