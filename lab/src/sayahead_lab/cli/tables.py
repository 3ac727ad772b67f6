"""``sayahead train tables``: what each word of a voice loses without lookahead, for training its
policy."""

from __future__ import annotations

import argparse
from pathlib import Path

from sayahead.cli import number
from sayahead.cli.console import Console
from sayahead.voice import load_voice

from sayahead_lab.scripts import read_texts
from sayahead_lab.training.learned.tables import Tables

HELP = "measure what a voice's words lose without lookahead, for training its policy"
EPILOG = """For lab/recipes/heart/policy.toml, which trains a voice's policy:

  sayahead train tables tables/heart --train train.csv --val val.csv
  sayahead train lab/recipes/heart/policy.toml --out runs/heart-policy
  sayahead train voice --policy runs/heart-policy -o VOICE-FOLDER
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("out", metavar="FOLDER", type=Path, help="where the tables go")
    add(
        "--train",
        metavar="FILE",
        type=Path,
        required=True,
        help="training texts: lines of name|text",
    )
    add("--val", metavar="FILE", type=Path, required=True, help="validation texts")
    add(
        "--count",
        metavar="N",
        type=number(int, 1),
        default=400,
        help="the first N texts of train (default: 400)",
    )
    add(
        "--val-count",
        metavar="N",
        type=number(int, 1),
        default=100,
        help="the first N texts of val (default: 100)",
    )
    add(
        "--voice", metavar="NAME", default="heart", help="a voice's name or folder (default: heart)"
    )
    add(
        "--seed", metavar="N", type=number(int, 0), default=0, help="seed of the draws (default: 0)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the tables; the exit code."""
    console = Console(quiet=False)
    voice = load_voice(arguments.voice)
    files = {
        "train": (arguments.train, arguments.count),
        "val": (arguments.val, arguments.val_count),
    }
    texts = {
        split: [script.text for script in read_texts(path)[:count]]
        for split, (path, count) in files.items()
    }
    tables = Tables.make(arguments.out, voice, arguments.voice, texts, seed=arguments.seed)
    for split, lines in texts.items():
        console.note(
            f"{arguments.out}: {split}: {len(tables.split(split))} sentences of {len(lines)} texts"
        )
    return 0
