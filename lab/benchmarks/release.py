"""What scripts begin with that hold this version against a release."""

from __future__ import annotations

import argparse
from pathlib import Path


def beside_release(about: str | None, *, rounds: int | None = None) -> argparse.ArgumentParser:
    """A parser of ``release``, ``--rounds`` where a script has any (so many by itself), and ``--results``."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("release", type=Path, help="src of a checkout of the release")
    if rounds is not None:
        parser.add_argument("--rounds", type=int, default=rounds, help=f"default: {rounds}")
    parser.add_argument("--results", type=Path, help="write the table here (Markdown)")
    return parser
