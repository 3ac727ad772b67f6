"""``sayahead train publish``: runs become release files, small enough to be passed on."""

from __future__ import annotations

import argparse
from pathlib import Path

from sayahead.cli.console import Console
from sayahead.errors import ConfigError

HELP = "write runs as a release: weights in int8, recipes, logs, digests"
EPILOG = """For others to export, fine-tune or measure:

  sayahead train publish runs/dv3-small runs/melvocoder -o release.tar.xz
  sayahead train publish --check release.tar.xz
  sayahead train publish --unpack release.tar.xz -o release
  sayahead train publish --unpack mohan -o runs
  sayahead train voice --acoustic release/dv3-small --vocoder release/melvocoder --name ma-lj -o voices/ma-lj

A recipe begins with a published run by [train] start = "release/dv3-small", or the archive's name where it holds one
run of the recipe's task. It cannot be resumed. A student and its teacher are published together. Without the name of
an archive, -o is a folder.
"""  # noqa: E501


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("runs", metavar="RUN", type=Path, nargs="*", help="folders of runs")
    where = (
        "where a folder for each run, and SHA256SUMS, go; or an archive of these (.tar.xz, .tar.gz,"
        " .zip)"
    )
    add("-o", "--out", metavar="FOLDER|FILE", type=Path, help=where)
    levels = (
        "steps between 0 and the greatest weight of a row (default: 127); fewer make a smaller"
        " archive"
    )
    add("--levels", type=int, choices=range(1, 128), default=127, metavar="1..127", help=levels)
    mean = (
        "write one run, named as the last: the mean of the weights of all, which went on from one"
        " another"
    )
    add("--mean", action="store_true", help=mean)
    add(
        "--check",
        metavar="RELEASE",
        type=Path,
        help="check the files of a release against its SHA256SUMS",
    )
    unpacked = (
        "check an archive of a release, or download one (ma, mohan, mohan-fr, ...); unpack it into"
        " the folder -o"
    )
    add("--unpack", metavar="FILE|NAME", type=Path, help=unpacked)


def run(arguments: argparse.Namespace) -> int:
    """Write or check a release; the exit code."""
    from sayahead_lab.training.loop.publish import check_sums, opened, publish, unpack_release

    console = Console(quiet=False)
    if arguments.check is not None:
        with opened(arguments.check) as folder:
            console.note(f"{arguments.check}: {check_sums(folder)} files, all as they were")
        return 0
    if arguments.out is None or bool(arguments.runs) == (arguments.unpack is not None):
        raise ConfigError(
            "Name the folders of runs, or an archive with --unpack, and with -o where they go."
        )
    if arguments.unpack is not None:
        paths = unpack_release(arguments.unpack, arguments.out)
    else:
        paths = publish(arguments.runs, arguments.out, arguments.levels, mean=arguments.mean)
    for path in paths:
        files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
        console.note(f"{path}: {sum(file.stat().st_size for file in files) / 1e6:.1f} MB")
    return 0
