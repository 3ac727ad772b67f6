"""``sayahead train publish``: runs become release files, small enough to be passed on."""

from __future__ import annotations

import argparse
from pathlib import Path

from sayahead.cli.console import Console
from sayahead.errors import ConfigError

HELP = "write runs as release files: weights in float16, digests"
EPILOG = """For others to export, fine-tune or measure:

  sayahead train publish runs/dv3-small runs/melvocoder -o release
  sayahead train publish --check release
  sayahead train voice --acoustic release/dv3-small --vocoder release/melvocoder --name ma-lj -o voices/ma-lj

A recipe begins with a published run by [train] start = "release/dv3-small". It cannot be resumed.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    add = parser.add_argument
    add("runs", metavar="RUN", type=Path, nargs="*", help="folders of runs")
    add("-o", "--out", metavar="FOLDER", type=Path, help="where a folder for each run, and SHA256SUMS, go")
    add("--check", metavar="FOLDER", type=Path, help="check the files of a release against its SHA256SUMS")


def run(arguments: argparse.Namespace) -> int:
    """Write or check a release; the exit code."""
    try:
        import torch  # noqa: F401
    except ImportError as error:
        raise ConfigError("Runs are read with torch: pip install 'sayahead[train]'.") from error
    from sayahead.training.loop.publish import SUMS, check_sums, publish

    console = Console(quiet=False)
    if arguments.check is not None:
        if not (arguments.check / SUMS).is_file():
            raise ConfigError(f"{arguments.check} has no {SUMS}: name a folder that sayahead train publish wrote.")
        console.note(f"{arguments.check}: {check_sums(arguments.check)} files, all as they were")
        return 0
    if not arguments.runs or arguments.out is None:
        raise ConfigError("Name the folders of runs, and with -o where the release goes.")
    for folder in publish(arguments.runs, arguments.out):
        size = sum(file.stat().st_size for file in folder.iterdir())
        console.note(f"{folder}: {size / 1e6:.1f} MB")
    return 0
