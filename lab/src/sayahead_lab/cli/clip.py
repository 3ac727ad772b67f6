"""``sayahead train clip``: the network that makes a speaker of a family of a clip's embedding."""

from __future__ import annotations

import argparse
import tomllib
from pathlib import Path

from sayahead.cli import number
from sayahead.cli.console import Console

HELP = "train the network that makes a speaker of a clip"
EPILOG = """  sayahead train clip lab/recipes/clip/speaker.toml --people librispeech --texts train.csv --minutes 60

The same command goes on where it was stopped. Then what the package needs of it, beside the family's graphs:

  sayahead train clip lab/recipes/clip/speaker.toml --export clip.npz
"""  # noqa: E501


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("recipe", metavar="RECIPE.toml", type=Path, help="what to train, and how")
    add("--people", metavar="FOLDER", type=Path, help="one recording each of the recipe's people")
    add("--texts", metavar="FILE", type=Path, help="sentences: a line name|text each")
    add(
        "--export",
        metavar="FILE",
        type=Path,
        help="train nothing: write what makes speakers without PyTorch",
    )
    add("--out", metavar="FOLDER", type=Path, help="where the run goes (default: runs/NAME)")
    add(
        "--minutes",
        metavar="N",
        type=number(float, 0),
        default=1e9,
        help="stop after so many minutes",
    )
    add("--threads", metavar="N", type=number(int, 1), default=1, help="CPU threads (default: 1)")


def run(arguments: argparse.Namespace) -> int:
    """Train; the exit code."""
    import torch
    from sayahead.config import from_mapping
    from sayahead.errors import ConfigError

    from sayahead_lab.training.clip.learning import ClipRecipe, ClipTraining, export

    torch.set_num_threads(arguments.threads)
    recipe = from_mapping(
        ClipRecipe, tomllib.loads(arguments.recipe.read_text()), where=str(arguments.recipe)
    )
    out = arguments.out or Path("runs") / recipe.name
    console = Console(quiet=False)
    if arguments.export:
        export(recipe, out, arguments.export)
        console.note(f"{arguments.export}: {arguments.export.stat().st_size / 1e6:.1f} MB")
        return 0
    if not (arguments.people and arguments.texts):
        raise ConfigError("A training needs --people and --texts.")
    lines = [
        line.partition("|")[2] for line in arguments.texts.read_text(encoding="utf-8").splitlines()
    ]
    texts = [line for line in lines if 45 <= len(line) <= 90]
    ClipTraining(recipe, out, arguments.people, texts).run(arguments.minutes, console.note)
    return 0
