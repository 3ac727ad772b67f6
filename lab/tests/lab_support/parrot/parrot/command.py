"""``sayahead squawk``."""

from __future__ import annotations

import argparse

HELP = "say who is there"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name")


def run(arguments: argparse.Namespace) -> int:
    """Print it."""
    print(f"Squawk, {arguments.name}!")
    return 0
