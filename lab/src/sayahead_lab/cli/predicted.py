"""``sayahead train predicted``: a corpus with an acoustic model's mel, for its vocoder to be
trained on."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from sayahead.cli.console import Console

HELP = "make a corpus with the mel that an acoustic model predicts, for vocoders"
EPILOG = """A vocoder learns from true mel, then hears what a voice will give it:

  sayahead train lab/recipes/ma/clarinet-small.toml
  sayahead train predicted runs/dv3-small corpus/ma -o corpus/heard
  sayahead train lab/recipes/ma/clarinet-heard.toml

Sound, pitch and durations are the corpus's; each step of mel is predicted after the true frames before it. An
interrupted corpus goes on where it was.
"""  # noqa: E501


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "run_folder",
        metavar="RUN",
        type=Path,
        help="folder of the acoustic model's run (Deep Voice 3)",
    )
    add("corpus", metavar="CORPUS", type=Path, help="the corpus with true mel and sound")
    add("-o", "--out", metavar="FOLDER", type=Path, required=True, help="where the new one goes")


def run(arguments: argparse.Namespace) -> int:
    """Make the corpus; the exit code."""
    import torch

    from sayahead_lab.training.corpus.making import make_corpus
    from sayahead_lab.training.corpus.predicted import PredictedSpec

    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", torch.get_num_threads())))
    console = Console(quiet=False)
    spec = PredictedSpec(arguments.run_folder, arguments.corpus)
    make_corpus(arguments.out, spec, spec.splits(), note=console.note)
    return 0
