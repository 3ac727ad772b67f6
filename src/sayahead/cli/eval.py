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
# The steps to which an option belongs.
STEPS = {
    "texts": ("run",),
    "lm": ("run", "score"),
    "jobs": ("run", "score"),
    "peers": ("run",),
    "whisper": ("score",),
    "utmos": ("score",),
    "without": ("score",),
    "no_page": ("report",),
    "ratings": ("report",),
    "listen": ("report",),
    "design": ("report",),
    "condition": ("report",),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    parser.add_argument("step", metavar="run|score|report", type=one_of("run", "score", "report"), help="what to do")
    parser.add_argument("path", metavar="PATH", type=Path, help="run: the experiment's TOML; score, report: its folder")
    parser.add_argument("-o", "--out", metavar="FOLDER", type=Path,
        help="run: where traces and sound go; report: where tables and plots go")  # fmt: skip
    add = parser.add_argument_group("run and score").add_argument
    add("--lm", metavar="NAME", help="language model for conditions that want one: a transformers name or folder")
    add("--jobs", metavar="N", type=number(int, 1),
        help="processes (default: 1; in a run, more disturb each other's times)")  # fmt: skip
    add = parser.add_argument_group("run").add_argument
    add("--texts", metavar="FILE", type=Path, help="lines of name|text")
    add("--peers", metavar="NAMES",
        help="other engines, with commas between; one of your own: FILE.py:FUNCTION (docs/evaluation.md)")  # fmt: skip
    add = parser.add_argument_group("score").add_argument
    add("--whisper", metavar="FOLDER", type=Path, help="Whisper for faster-whisper (or set SAYAHEAD_WHISPER)")
    add("--utmos", metavar="FILE", type=Path, help="UTMOS as TorchScript (or set SAYAHEAD_UTMOS)")
    add("--without", metavar="COLUMN", action="append", type=one_of("wer", "cer", "distillmos", "dnsmos"),
        help="leave a column out; may be repeated")  # fmt: skip
    add = parser.add_argument_group("report").add_argument
    add("--no-page", action="store_true", default=None, help="tables and plots alone, without the HTML page")
    add("--ratings", metavar="FILE", type=Path, nargs="+", help="saved ratings beyond those in FOLDER/ratings")
    add("--listen", metavar="N", type=number(int, 1), help="also a page to rate N sentences in blind order")
    add("--design", metavar="mushra|ab", type=one_of("mushra", "ab"),
        help="of that page: all conditions on a scale, or each against the first (default: mushra)")  # fmt: skip
    add(
        "--condition",
        metavar="NAME",
        action="append",
        help="a condition for that page; may be repeated, up to nine (default: the first nine)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Carry out one step; the exit code."""
    for name, steps in STEPS.items():
        if arguments.step not in steps and getattr(arguments, name) is not None:
            option = name.replace("_", "-")
            raise ConfigError(f"--{option} belongs to sayahead eval {' and '.join(steps)}, not to {arguments.step}.")
    console = Console(quiet=False)
    if arguments.step == "run":
        return run_step(arguments, console)
    if not (arguments.path / "experiment.json").is_file():
        raise ConfigError(f"{arguments.path} is no folder of an experiment: make one with sayahead eval run.")
    if arguments.step == "score":
        from sayahead.eval.listening.score import score

        jobs = arguments.jobs or 1
        for line in score(
            arguments.path,
            arguments.whisper,
            utmos=arguments.utmos,
            lm=arguments.lm,
            jobs=jobs,
            without=arguments.without or (),
            progress=console.progress,
        ):
            console.note(line)
        return 0
    return report_step(arguments, console)


def report_step(arguments: argparse.Namespace, console: Console) -> int:
    """Write tables, plots and pages."""
    from sayahead.eval.report.report import report

    if arguments.listen is None and (arguments.design or arguments.condition):
        raise ConfigError("--design and --condition are of the listening page: give --listen N with them.")
    target = arguments.out or arguments.path / "report"
    report(arguments.path, target, page=not arguments.no_page, ratings=arguments.ratings or ())
    if arguments.listen is not None:
        from sayahead.eval.listening.blind_test import listening_page

        experiment = json.loads((arguments.path / "experiment.json").read_text(encoding="utf-8"))
        chosen = arguments.condition or experiment["conditions"][:9]
        design = arguments.design or "mushra"
        listening_page(arguments.path, target / "listen.html", chosen, arguments.listen, 0, design=design)
    console.note(f"{target}: " + ", ".join(sorted(path.name for path in target.iterdir())))
    return 0


def run_step(arguments: argparse.Namespace, console: Console) -> int:
    """Speak and measure all conditions, then the peers."""
    from sayahead.eval.experiment.conditions import load_matrix
    from sayahead.eval.experiment.run import read_about, run
    from sayahead.text.lists import read_texts, strided

    for name in ("out", "texts"):
        if getattr(arguments, name) is None:
            raise ConfigError(f"sayahead eval run needs --{name}: see sayahead eval --help.")
    matrix = load_matrix(arguments.path)
    texts = strided(read_texts(arguments.texts), matrix.count)
    peers = peers_by_name(arguments.peers)
    out: Path = arguments.out
    out.mkdir(parents=True, exist_ok=True)
    run(matrix, texts, out, lm=arguments.lm, jobs=arguments.jobs or 1, progress=console.progress)
    names = [condition.name for condition in matrix.conditions]
    for name, peer in peers.items():
        from sayahead.eval.experiment.peers import PeerError, run_peer

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
        "load": {name: load for name in names if (load := read_about(out / name).get("load"))},
        **machine(),
    }
    (out / "experiment.json").write_text(json.dumps(experiment, indent=1) + "\n", encoding="utf-8")
    console.note(f"{out}: {len(names)} conditions, {len(texts)} utterances, {len(matrix.clocks)} clocks")
    return 0


def peers_by_name(names: str | None) -> dict[str, Any]:
    """The named peers by their own names; ConfigError for one that is not known, or stands twice."""
    if not names:
        return {}
    from sayahead.eval.experiment.peers import make_peer

    peers = [make_peer(name.strip()) for name in names.split(",")]
    found = {peer.name: peer for peer in peers}
    if len(found) < len(peers):
        raise ConfigError(f"--peers {names}: a peer stands twice.")
    return found


def machine() -> dict[str, Any]:
    """What the figures depend on besides the experiment."""
    import os
    import platform

    from sayahead.eval.experiment.machine import processor, versions

    return {
        "machine": {"cpu": processor(), "cores": os.cpu_count(), "system": platform.system()},
        "versions": {"python": platform.python_version(), **versions()},
    }
