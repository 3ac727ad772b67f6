"""``sayahead train voice``: what runs learned becomes a voice's folder, which needs no torch."""

from __future__ import annotations

import argparse
from pathlib import Path

from sayahead.cli.console import Console
from sayahead.errors import ConfigError
from sayahead.training.voice import make_voice
from sayahead.voice import load_voice
from sayahead.voices import installed_voices

HELP = "make a voice of an acoustic model's run and a vocoder's"


EPILOG = r"""Two runs become a folder that every command takes for --voice:

  sayahead train voice --acoustic runs/dv3-small --vocoder runs/melvocoder --name ma-lj -o voices/ma-lj
  sayahead say --voice voices/ma-lj "It learned to speak."

The vocoder can be another voice's, which stays where it is; a student of context joins with its word vectors:

  sayahead train voice --acoustic runs/guided-small --vocoder ma-lj --student runs/student-medium --name saeki-lj \
    -o voices/saeki-lj
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    add = parser.add_argument
    add(
        "--acoustic",
        metavar="RUN",
        type=Path,
        required=True,
        help="the acoustic model's run, or one of its checkpoints",
    )
    add("--vocoder", metavar="RUN", type=Path, required=True, help="the vocoder's, or a voice's name: its vocoder")
    add("--student", metavar="RUN", type=Path, help="a student of context, the voice's own predictor")
    add("--agent", metavar="FILE.onnx", type=Path, help="an agent's graph (sayahead train agent), the voice's policy")
    add("--name", metavar="NAME", required=True, help="what the voice is called")
    add("-o", "--out", metavar="FOLDER", type=Path, required=True, help="where it goes")
    add("--description", metavar="TEXT", help="one line about it")
    add("--license", metavar="ID", help="SPDX identifier (default: Apache-2.0 where the default voice was the teacher)")


def run(arguments: argparse.Namespace) -> int:
    """Export, load the voice and have it speak; the exit code."""
    console = Console(quiet=False)
    try:
        from sayahead.training.loop.trained import load_trained
    except ImportError as error:
        raise ConfigError("Exporting needs torch and onnx: pip install 'sayahead[train]'.") from error
    acoustic = load_trained(arguments.acoustic)
    lender = str(arguments.vocoder) in installed_voices()
    vocoder = str(arguments.vocoder) if lender else load_trained(arguments.vocoder)
    student = None if arguments.student is None else load_trained(arguments.student)
    make_voice(
        acoustic, vocoder, arguments.out, name=arguments.name, description=arguments.description,
        license=arguments.license, student=student, agent=arguments.agent,
    )  # fmt: skip
    load_voice(arguments.out)
    size = sum(path.stat().st_size for path in arguments.out.glob("*.onnx"))
    console.note(f"{arguments.out}: {arguments.name}, {size / 1e6:.1f} MB of graphs, loaded and heard")
    return 0
