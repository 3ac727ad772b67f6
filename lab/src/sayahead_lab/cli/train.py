"""``sayahead train``: a recipe and a corpus become a model; an interrupted run can be resumed."""

from __future__ import annotations

import argparse
import logging
import os
import time
from pathlib import Path
from typing import Any

from sayahead.cli import FAILED, complain, number, one_of
from sayahead.cli.console import Console, visible
from sayahead.extensions import Extensible

from sayahead_lab.overrides import override

HELP = "make a corpus, train a model"
PARTS: Extensible[Any] = Extensible(
    "sayahead.train",
    {
        "aligner": "sayahead_lab.cli.aligner",
        "clip": "sayahead_lab.cli.clip",
        "corpus": "sayahead_lab.cli.corpus",
        "voice": "sayahead_lab.cli.make_voice",
        "futures": "sayahead_lab.cli.futures",
        "import": "sayahead_lab.cli.imported",
        "own": "sayahead_lab.cli.own",
        "predicted": "sayahead_lab.cli.predicted",
        "publish": "sayahead_lab.cli.publish",
        "tables": "sayahead_lab.cli.tables",
        "vectors": "sayahead_lab.cli.vectors",
    },
)
"""Subcommands, each a module of its own."""
EPILOG = """First a corpus, then a model:

  sayahead train corpus --help                          a corpus from transcripts and a voice, or from recordings
  sayahead train lab/recipes/ma/dv3-small.toml              train until the recipe's steps are done
  sayahead train lab/recipes/ma/dv3-small.toml --minutes 5  or for five minutes
  sayahead train lab/recipes/ma/dv3-small.toml --resume     continue where it was stopped: Ctrl-C loses nothing

A folder of recordings becomes a voice in one command:

  sayahead train own FOLDER --name mine --license CC0-1.0

The run's folder gets checkpoint.pt, log.jsonl, loss.png, recipe.toml and samples. Several GPUs:
  torchrun --nproc-per-node 4 -m sayahead train RECIPE.toml
"""  # noqa: E501
OTHER_VALUE = (
    "another value for a key of the recipe, such as data.past=8 or train.start=runs/one; may be"
    " repeated"
)
LINE_S = 30.0
"""Seconds between progress lines if there is no terminal."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = "sayahead train RECIPE.toml [options]\n       sayahead train corpus ..."
    parser.add_argument("recipe", metavar="RECIPE.toml", type=Path, help="what to train, and how")
    add = parser.add_argument
    add("--corpus", metavar="FOLDER", type=Path, help="the corpus (default: the recipe's)")
    add(
        "--out",
        metavar="FOLDER",
        type=Path,
        help="where the run goes (default: runs/NAME, after the recipe's name)",
    )
    add(
        "--minutes",
        metavar="N",
        type=number(float, 0),
        help="stop after N minutes, whatever earlier invocations took",
    )
    add(
        "--steps",
        metavar="N",
        type=number(int, 1),
        help="stop after N steps in all (default: the recipe's)",
    )
    add(
        "--seed",
        metavar="N",
        type=number(int, 0),
        help="seed of weights and draws (default: the recipe's)",
    )
    add("--set", metavar="KEY=VALUE", type=override, action="append", help=OTHER_VALUE)
    add("--resume", action="store_true", help="continue exactly from the run's last checkpoint")
    device = one_of("cpu", "cuda", "auto")
    explained = "where to compute (default: auto, a GPU if there is one)"
    add("--device", metavar="cpu|cuda|auto", type=device, default="auto", help=explained)
    add("--threads", metavar="N", type=number(int, 1), help="CPU threads (default: torch's)")
    add(
        "--tensorboard",
        action="store_true",
        help="also write the log for TensorBoard, into the run's folder",
    )


class ProgressLine:
    """A progress line on a terminal; elsewhere a new line every so often."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._next_s = time.monotonic() + LINE_S

    def __call__(self, line: str) -> None:
        if self._console.terminal:
            self._console.progress(visible(line)[0])
        elif line and time.monotonic() >= self._next_s:
            self._next_s = time.monotonic() + LINE_S
            self._console.note(line)


def run(arguments: argparse.Namespace) -> int:
    """Train; the exit code: 0 done, 1 cannot continue, 130 or 143 after a signal, with everything
    saved."""
    console = Console(quiet=os.environ.get("RANK", "0") != "0")
    from sayahead_lab.training.loop.recipe import load_recipe
    from sayahead_lab.training.loop.run import TrainingError, train

    recipe = (
        load_recipe(arguments.recipe, arguments.set or ())
        .shortened(arguments.steps)
        .seeded(arguments.seed)
    )
    out = arguments.out or Path("runs") / recipe.name
    log = logging.getLogger("sayahead")
    log.addHandler(console)
    try:
        options = {
            name: getattr(arguments, name)
            for name in ("minutes", "resume", "device", "threads", "tensorboard")
        }
        corpus = arguments.corpus or Path(recipe.corpus)
        show = ProgressLine(console)
        outcome = train(recipe, corpus, out, **options, progress=show, note=console.note)
    except TrainingError as error:
        return complain(str(error), FAILED)
    finally:
        console.progress("")
        log.removeHandler(console)
    if outcome.signal:
        console.note(
            f"Stopped after step {outcome.step}; everything is saved: continue with --resume."
        )
        return 128 + outcome.signal
    console.note(
        f"{out}: {outcome.step} steps ({'all' if outcome.reason == 'steps' else 'the time is up'})"
    )
    return 0
