"""``sayahead voices add``: a voice of another maker, a folder, an archive, a download."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

HELP = "add a voice: a Piper voice's .onnx, a folder, an archive, an address, or a name of the catalogue"
EPILOG = """examples:
  sayahead voices add en_US-joe-medium.onnx            with en_US-joe-medium.onnx.json beside it
  sayahead voices add de_DE-thorsten-medium            by its name in: sayahead voices catalogue
  sayahead voices add my-voice.zip --name mine
  sayahead voices add https://example.org/voice.tar.gz --sha256 ...

Only a name of the catalogue and an address are downloaded, and every download is checked by a digest.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    add = parser.add_argument
    add("source", metavar="VOICE", help="FILE.onnx, FOLDER, ARCHIVE, URL, or a name of the catalogue")
    add("--name", metavar="NAME", help="what it is called (default: its own name)")
    add("--config", metavar="FILE", type=Path, help="the description of a .onnx (default: the same name and .json)")
    add("--sha256", metavar="DIGEST", help="what the SHA-256 of a download must be")
    add("--replace", action="store_true", help="take the place of a voice of this name")
    add("-q", "--quiet", action="store_true", help="show nothing but errors")


def run(arguments: argparse.Namespace) -> int:
    """Add the voice and say what it is; the exit code."""
    from sayahead.voices.install.add import add, for_trade

    progress = None if arguments.quiet or not sys.stderr.isatty() else show
    options = {key: getattr(arguments, key) for key in ("name", "config", "sha256", "replace")}
    added = add(arguments.source, progress=progress, **options)
    if arguments.quiet:
        return 0
    config, measured = added.config, added.measured
    print(f"Added {config.name}: {config.description}")
    print(f"It lies in {added.folder}. Licence: {config.license}.")
    if not for_trade(config.license):
        print("By its licence it is not for commercial use.")
    print(f"Word by word, a second of speech takes {measured.rtf:.2f} s of one core here.")
    if not measured.keeps_up:
        print("That is too slow for real time: speak more words a step (--policy lookahead:words=4), or whole")
        print("sentences (--policy wait-all).")
    print(f"Hear it: sayahead voices try {config.name}")
    return 0


def show(name: str, done: int, total: int | None) -> None:
    """How far a download is, on one line."""
    of = f" of {total / 1e6:.1f}" if total else ""
    end = "\n" if done == total else ""
    print(f"\r{name}: {done / 1e6:.1f}{of} MB", end=end, file=sys.stderr, flush=True)
