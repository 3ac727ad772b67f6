"""``sayahead voices remove``: delete an added voice."""

from __future__ import annotations

import argparse

HELP = "delete an added voice"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="the voice's name")


def run(arguments: argparse.Namespace) -> int:
    """Delete the voice's folder; the exit code."""
    from sayahead.voices.install.add import remove

    print(f"Removed {remove(arguments.name)}.")
    return 0
