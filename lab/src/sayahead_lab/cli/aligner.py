"""``sayahead train aligner``: a run of lab/recipes/aligner.toml becomes an aligner for ``sayahead
train corpus``."""

from __future__ import annotations

import argparse
from pathlib import Path

from sayahead.cli.console import Console

HELP = "make an aligner of a run, for corpora of recordings"
EPILOG = """One comes with the package; to train another:

  sayahead train lab/recipes/aligner.toml --minutes 6
  sayahead train aligner runs/aligner aligner
  sayahead train corpus corpus/mine --recordings FOLDER --aligner aligner
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "run_folder", metavar="RUN", type=Path, help="folder of a run of lab/recipes/aligner.toml"
    )
    parser.add_argument(
        "out", metavar="FOLDER", type=Path, help="where aligner.onnx and aligner.json go"
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the aligner; the exit code."""
    from sayahead_lab.training.aligner.export import export
    from sayahead_lab.training.aligner.network import AlignerNetwork
    from sayahead_lab.training.aligner.task import AlignerTask
    from sayahead_lab.training.loop.saved_run import load_run_of

    export(load_run_of(AlignerTask, AlignerNetwork, arguments.run_folder), arguments.out)
    Console(quiet=False).note(f"{arguments.out}: aligner.onnx, aligner.json")
    return 0
