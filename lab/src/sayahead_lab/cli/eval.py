"""``sayahead eval``: from a policy to its table, its plots and its peers."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sayahead.cli import number, one_of
from sayahead.cli.console import Console
from sayahead.errors import ConfigError

from sayahead_lab.overrides import override

if TYPE_CHECKING:
    from sayahead_lab.eval.peers.peer import WorkerPeer

HELP = "compare policies: latency on text clocks, quality, peers; score what is read of texts"
EPILOG = """An evaluation has three steps, each of which can be repeated:

  sayahead eval run lab/benchmarks/lookahead.toml --texts texts.csv -o out    speak, and measure
  sayahead eval score out --whisper FOLDER                                latency from the traces, quality by listeners
  sayahead eval report out -o report                                      tables, plots, one HTML page

A field of engines (a TOML that names engines) is run the same way, and has two steps of its own:

  sayahead eval run lab/benchmarks/field/field.toml -o out                every engine that is installed, on every clock
  sayahead eval card out -o cards.jsonl                                   a JSON for each engine, a line each
  sayahead eval compare cards.jsonl --clock 'reader 180'                  ranks them, if they can be compared

People listen to any of these, or to a folder with a folder of WAV files for each voice and texts.csv:

  sayahead eval listen out --design mos -o listen.html                    a page that needs nothing but a browser
  sayahead eval ratings ratings-*.json                                    what raters' saved files say together

What front ends read of published suites of texts is scored from clones of these, given by their folders:

  sayahead eval text NeMo-text-processing WeTextProcessing -o out         same, another convention or wrong, by class

A text file has lines of name|text. run continues where it was stopped; score and report read what it wrote.
"""  # noqa: E501
STEPS = {
    "run": ("texts", "lm", "jobs", "on", "peers", "set"),
    "score": ("lm", "jobs", "whisper", "utmos", "without", "metric", "reference"),
    "report": ("no_page", "ratings", "format"),
    "card": ("jobs", "whisper", "utmos", "without"),
    "compare": ("by", "clock", "again"),
    "listen": ("count", "design", "condition", "anchor"),
    "ratings": (),
    "text": ("judged", "readings", "sounds"),
}
"""Options that apply to one or two of the steps."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    count = number(int, 1)
    column = one_of("wer", "cer", "distillmos", "dnsmos")
    add = parser.add_argument
    add("step", metavar="|".join(STEPS), type=one_of(*STEPS), help="what to do")
    add(
        "path",
        metavar="PATH",
        type=Path,
        nargs="+",
        help=(
            "run: a TOML; score, report, card, listen: its folder; compare, ratings: files; text:"
            " clones of suites"
        ),
    )
    add(
        "-o",
        "--out",
        metavar="FOLDER",
        type=Path,
        help=(
            "folder for traces and sound (run), tables and plots (report), results (text); card: a"
            " JSON Lines file; listen: the page"
        ),
    )
    add = parser.add_argument_group("run and score").add_argument
    add(
        "--lm",
        metavar="NAME",
        help="language model for conditions that need one: a transformers name or folder",
    )
    add(
        "--jobs",
        metavar="N",
        type=count,
        help="processes (default: 1; in a run, several distort each other's timings)",
    )
    add = parser.add_argument_group("run").add_argument
    add("--texts", metavar="FILE", type=Path, help="lines of name|text")
    add(
        "--on",
        metavar="ray",
        type=one_of("ray"),
        help="share the work over a Ray cluster (pip install 'sayahead[ray]')",
    )
    other_value = (
        "another value for a key of the TOML: count=3, conditions.*.policy=wait-all; may be"
        " repeated"
    )
    add("--set", metavar="KEY=VALUE", type=override, action="append", help=other_value)
    add(
        "--peers",
        metavar="NAMES",
        help="other engines, comma-separated; your own: FILE.py:FUNCTION",
    )
    add = parser.add_argument_group("score").add_argument
    add(
        "--whisper",
        metavar="FOLDER",
        type=Path,
        help="Whisper for faster-whisper (or set SAYAHEAD_WHISPER)",
    )
    add("--utmos", metavar="FILE", type=Path, help="UTMOS as TorchScript (or set SAYAHEAD_UTMOS)")
    add(
        "--without",
        metavar="COLUMN",
        action="append",
        type=column,
        help="leave a column out; may be repeated",
    )
    add(
        "--metric",
        metavar="NAME",
        action="append",
        help="a further metric: mcd, f0_rmse, vuv or FILE.py:FUNCTION",
    )
    add(
        "--reference",
        metavar="NAME",
        help="what metrics compare with: a condition, or a folder of WAV files",
    )
    add = parser.add_argument_group("report").add_argument
    add("--by", metavar="COLUMN", help="compare: the column that ranks (default: first)")
    add("--clock", metavar="NAME", help="compare: the clock (default: the cards' first)")
    add(
        "--again",
        metavar="CARDS",
        type=Path,
        nargs="+",
        help="compare: cards of another run, to see what moved",
    )
    judged_help = "text: readings that are right in another convention, as a person judged them"
    add("--judged", metavar="FILE", type=Path, help=judged_help)
    add(
        "--readings",
        metavar="NAME=FILE",
        action="append",
        help="text: another front end's readings; may be repeated",
    )
    add(
        "--sounds",
        metavar="NAMES",
        help="text: front ends that make phonemes, to be compared: espeak-ng, misaki",
    )
    add(
        "--no-page",
        action="store_true",
        default=None,
        help="write only tables and plots, no HTML page",
    )
    for_paper = (
        "figures as PDF or SVG, too, as wide as a paper's column and without titles; may be"
        " repeated"
    )
    add("--format", metavar="pdf|svg", type=one_of("pdf", "svg"), action="append", help=for_paper)
    add(
        "--ratings",
        metavar="FILE",
        type=Path,
        nargs="+",
        help="saved ratings, in addition to those in FOLDER/ratings",
    )
    add = parser.add_argument_group("listen").add_argument
    add("--count", metavar="N", type=count, help="sentences on the page (default: 10)")
    designs = (
        "all conditions on a scale, one at a time from bad to excellent, or each against the first"
    )
    add(
        "--design",
        metavar="mushra|mos|ab",
        type=one_of("mushra", "mos", "ab"),
        help=f"{designs} (default: mushra)",
    )
    condition_help = "a condition, by its folder's name; may be repeated (default: all, up to nine)"
    add("--condition", metavar="NAME", action="append", help=condition_help)
    anchor_help = "also the first condition without what is above 3.5 kHz, which shows who listens"
    add("--anchor", action="store_true", default=None, help=anchor_help)


def run(arguments: argparse.Namespace) -> int:
    """Carry out one step; the exit code."""
    from sayahead_lab.eval.field.plan import is_field

    check_options(arguments)
    if arguments.step not in ("compare", "text", "ratings"):
        if len(arguments.path) > 1:
            raise ConfigError(
                f"sayahead eval {arguments.step} takes one PATH, not {len(arguments.path)}."
            )
        arguments.path = arguments.path[0]
    steps: dict[str, Callable[[argparse.Namespace, Console], None]] = {
        "card": card_step,
        "compare": compare_step,
        "listen": listen_step,
        "ratings": ratings_step,
        "report": report_step,
        "run": field_step if arguments.step == "run" and is_field(arguments.path) else run_step,
        "score": score_step,
        "text": text_step,
    }
    steps[arguments.step](arguments, Console())
    return 0


def check_options(arguments: argparse.Namespace) -> None:
    """ConfigError for an option of another step."""
    for name in {name: None for names in STEPS.values() for name in names}:
        if getattr(arguments, name) is not None and name not in STEPS[arguments.step]:
            *others, last = (step for step, names in STEPS.items() if name in names)
            steps = " and ".join([", ".join(others), last] if others else [last])
            option = name.replace("_", "-")
            raise ConfigError(
                f"--{option} belongs to sayahead eval {steps}, not to {arguments.step}."
            )


def run_step(arguments: argparse.Namespace, console: Console) -> None:
    """Speak and measure all conditions, then the peers."""
    from sayahead_lab.cluster import workers
    from sayahead_lab.eval.experiment.conditions import load_matrix
    from sayahead_lab.eval.experiment.folder import write_experiment
    from sayahead_lab.eval.experiment.run import run
    from sayahead_lab.eval.peers.peer import PeerError
    from sayahead_lab.eval.peers.run import run_peer
    from sayahead_lab.scripts import read_texts, strided
    from sayahead_lab.training.aligner.words import word_times

    for name in ("out", "texts"):
        if getattr(arguments, name) is None:
            raise ConfigError(f"sayahead eval run needs --{name}: see sayahead eval --help.")
    matrix = load_matrix(arguments.path, arguments.set or ())
    texts = strided(read_texts(arguments.texts), matrix.count)
    peers = peers_by_name(arguments.peers)
    out = arguments.out
    by = workers(arguments.on, arguments.jobs)
    out.mkdir(parents=True, exist_ok=True)
    run(matrix, texts, out, lm=arguments.lm, workers=by, progress=console.progress)
    names = [condition.name for condition in matrix.conditions]
    for name, peer in peers.items():
        why = peer.missing()
        try:
            if why is None:
                run_peer(peer, matrix, texts, out, locate=word_times, progress=console.progress)
                names.append(name)
        except PeerError as error:
            why = str(error)
        if why is not None:
            console.progress("")
            console.warn(f"Peer {name} is left out: {why}")
    console.progress("")
    write_experiment(out, matrix, names, len(texts), by)
    console.note(
        f"{out}: {len(names)} conditions, {len(texts)} utterances, {len(matrix.clocks)} clocks"
    )


def field_step(arguments: argparse.Namespace, console: Console) -> None:
    """Speak and measure all engines of a field."""
    from sayahead_lab.eval.field.plan import load_field
    from sayahead_lab.eval.field.run import run_field
    from sayahead_lab.training.aligner.words import word_times

    if arguments.out is None:
        raise ConfigError("sayahead eval run needs --out: see sayahead eval --help.")
    given = [name for name in STEPS["run"] if getattr(arguments, name) is not None]
    if given:
        raise ConfigError(f"A field's file says all of it: leave --{given[0]} out.")
    absent = run_field(
        load_field(arguments.path), arguments.out, locate=word_times, progress=console.progress
    )
    console.progress("")
    for name, why in absent.items():
        console.warn(f"{name} is absent: {why}")


def card_step(arguments: argparse.Namespace, console: Console) -> None:
    """Write a card for each engine."""
    from sayahead_lab.eval.field.card import cards
    from sayahead_lab.eval.listening.quality import Listeners

    jobs = arguments.jobs or 1
    target = arguments.out or arguments.path / "cards.jsonl"
    listeners = Listeners(arguments.whisper, utmos=arguments.utmos, threads=2 if jobs == 1 else 1)
    without = arguments.without or ()
    count = cards(
        arguments.path, target, listeners, without=without, jobs=jobs, progress=console.progress
    )
    console.note(f"{target}: {count} cards")


def listen_step(arguments: argparse.Namespace, console: Console) -> None:
    """Write a listening page."""
    from sayahead_lab.eval.listening.blind_test import listening_page

    target = arguments.out or arguments.path / "listen.html"
    design = arguments.design or "mushra"
    count = arguments.count or 10
    anchor = bool(arguments.anchor)
    page = listening_page(
        arguments.path, target, arguments.condition, count, design=design, anchor=anchor
    )
    console.note(f"{target}: page {page}, {target.stat().st_size / 1e6:.1f} MB")


def ratings_step(arguments: argparse.Namespace, _: Console) -> None:
    """Print what saved ratings say."""
    from sayahead_lab.eval.report.report import listening_tables
    from sayahead_lab.eval.report.tables import as_markdown

    print("\n".join(as_markdown(table) for table in listening_tables(arguments.path)))


def compare_step(arguments: argparse.Namespace, _: Console) -> None:
    """Print cards in order, or beside those of another run."""
    from sayahead_lab.eval.field.compare import again, compare, read_cards

    cards = read_cards(arguments.path)
    if arguments.again is None:
        print(compare(cards, by=arguments.by or "first", clock=arguments.clock))
    else:
        print(again(cards, read_cards(arguments.again), clock=arguments.clock))


def text_step(arguments: argparse.Namespace, console: Console) -> None:
    """Score front ends on suites of texts."""
    from sayahead_lab.eval.text.report import score_suites

    if arguments.out is None:
        raise ConfigError("sayahead eval text needs --out: see sayahead eval --help.")
    readings = {
        name: Path(path)
        for name, _, path in (pair.partition("=") for pair in arguments.readings or ())
    }
    sounds = [name.strip() for name in (arguments.sounds or "").split(",") if name.strip()]
    print(
        score_suites(
            arguments.path, arguments.out, judged=arguments.judged, readings=readings, sounds=sounds
        )
    )


def peers_by_name(names: str | None) -> dict[str, WorkerPeer]:
    """The named peers by their own names; ConfigError for one that is unknown or appears twice."""
    if names is None:
        return {}
    from sayahead_lab.eval.peers.catalogue import make_peer

    peers = [make_peer(name.strip()) for name in names.split(",")]
    by_name = {peer.name: peer for peer in peers}
    if len(by_name) < len(peers):
        raise ConfigError(f"--peers {names}: a peer appears twice.")
    return by_name


def score_step(arguments: argparse.Namespace, console: Console) -> None:
    """Latency from the traces, quality by listeners; what is left out is noted."""
    from sayahead_lab.eval.experiment.folder import read_experiment
    from sayahead_lab.eval.listening.quality import Listeners
    from sayahead_lab.eval.listening.score import score

    jobs = arguments.jobs or 1
    heard = {
        "threads": 2 if jobs == 1 else 1,
        "language": read_experiment(arguments.path).get("language", "en"),
    }
    listeners = Listeners(arguments.whisper, utmos=arguments.utmos, **heard)
    without = arguments.without or ()
    further = {"metrics": arguments.metric or (), "reference": arguments.reference}
    options = {
        "lm": arguments.lm,
        "jobs": jobs,
        "without": without,
        "progress": console.progress,
        **further,
    }
    notes = score(arguments.path, listeners, **options)
    for note in notes:
        console.note(note)


def report_step(arguments: argparse.Namespace, console: Console) -> None:
    """Write tables, plots and a page."""
    from sayahead_lab.eval.report.report import report

    target = arguments.out or arguments.path / "report"
    options: dict[str, Any] = {
        "page": not arguments.no_page,
        "ratings": arguments.ratings or (),
        "formats": arguments.format or (),
    }
    report(arguments.path, target, **options)
    console.note(f"{target}: " + ", ".join(sorted(path.name for path in target.iterdir())))
