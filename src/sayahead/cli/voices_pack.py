"""``sayahead voices pack``: a voice as an archive that ``voices add`` takes."""

from __future__ import annotations

import argparse
from pathlib import Path

HELP = "write a voice as an archive, to be passed on"
EPILOG = """examples:
  sayahead voices pack voices/ma-clarinet -o ma-clarinet.tar.gz
  sayahead voices add ma-clarinet.tar.gz

Files that a voice of the package has too are left out: sayahead voices add takes them from there. The same voice gives
the same archive, to the byte.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    parser.add_argument("voice", metavar="VOICE", help="a voice's folder, or the name of an added one")
    parser.add_argument("-o", "--out", metavar="FILE", type=Path, required=True, help="the archive: .tar.gz, .zip, ...")


def run(arguments: argparse.Namespace) -> int:
    """Write the archive and say what it holds; the exit code."""
    import hashlib

    from sayahead.voices import located
    from sayahead.voices.install.add import pack

    folder = located(arguments.voice)
    left = pack(folder, arguments.out)
    written = arguments.out.read_bytes()
    print(f"{arguments.out}: {len(written) / 1e6:.1f} MB, SHA-256 {hashlib.sha256(written).hexdigest()}")
    if left:
        print(f"Left out, as the package has them: {', '.join(left)}.")
    return 0
