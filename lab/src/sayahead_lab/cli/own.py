"""``sayahead train own``: a folder of recordings becomes a voice that speaks word by word."""

from __future__ import annotations

import argparse
import logging
from pathlib import Path

from sayahead.cli import number, one_of
from sayahead.cli.console import Console

HELP = "make a voice of one's own recordings"
EPILOG = """FOLDER has WAV or FLAC files, and metadata.csv with a line of name|text for each:

  sayahead train own FOLDER --name mine --license CC0-1.0
  sayahead say --voice voices/mine "It learned to speak."

FOLDER may be a corpus instead, such as one that another voice has spoken (sayahead train corpus --teacher). If it is
stopped, the same command continues. It ends with a report and a page to listen to. Make a voice only of people who have
agreed to it. docs/how-to/own-voice.md says more.
"""  # noqa: E501
START = "archives/runs/family.tar.xz"
"""The run of several speakers that a voice begins with."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "folder",
        metavar="FOLDER",
        type=Path,
        help="recordings, or a corpus: five minutes of one speaker are good",
    )
    add("--name", metavar="NAME", required=True, help="the voice's name")
    add(
        "--license",
        metavar="ID",
        required=True,
        help="its licence, an SPDX identifier: the speaker decides",
    )
    add(
        "-o",
        "--out",
        metavar="VOICE",
        type=Path,
        help="where the voice goes (default: voices/NAME)",
    )
    add(
        "--work",
        metavar="DIR",
        type=Path,
        help="where corpus, trainings and report go (default: runs/NAME)",
    )
    add("--start", metavar="RUN", default=START, help=f"the run to begin with (default: {START})")
    add(
        "--like",
        metavar="NAME",
        default="",
        help="its speaker to begin with (default: the nearest)",
    )
    bound = "bound of all trainings together, in minutes (default: 45)"
    add("--minutes", metavar="N", type=number(float, 0), default=45.0, help=bound)
    add(
        "--steps",
        metavar="N",
        type=number(int, 1),
        help="most steps of each training (default: its recipe's)",
    )
    heard = (
        "a Whisper model, for recordings without a text and the report (default:"
        " SAYAHEAD_WHISPER's)"
    )
    add("--whisper", metavar="DIR", help=heard)
    device = one_of("cpu", "cuda", "auto")
    explained = "where to compute (default: auto, a GPU if there is one)"
    add("--device", metavar="cpu|cuda|auto", type=device, default="auto", help=explained)
    add("--threads", metavar="N", type=number(int, 1), help="CPU threads (default: torch's)")


def run(arguments: argparse.Namespace) -> int:
    """Make the voice; the exit code: 0 done, 130 or 143 after a signal, with everything saved."""
    from sayahead_lab.cli.train import ProgressLine
    from sayahead_lab.training.own.making import OwnVoice, make_own_voice

    console = Console(quiet=False)
    log = logging.getLogger("sayahead")
    log.addHandler(console)
    own = OwnVoice(
        folder=arguments.folder,
        out=arguments.out or Path("voices") / arguments.name,
        work=arguments.work or Path("runs") / arguments.name,
        **{
            key: getattr(arguments, key)
            for key in ("name", "license", "start", "like", "minutes", "steps", "whisper")
        },
    )
    options = {
        "device": arguments.device,
        "threads": arguments.threads,
        "progress": ProgressLine(console),
    }
    try:
        stopped = make_own_voice(own, options, console.note)
    finally:
        console.progress("")
        log.removeHandler(console)
    if stopped:
        console.note("Stopped; everything is saved: the same command continues.")
    return 128 + stopped if stopped else 0
