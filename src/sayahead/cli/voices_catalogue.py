"""``sayahead voices catalogue``: public voices that can be added by name."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

from sayahead.cli.voices import print_table, speaks

HELP = "list public Piper voices that can be added by name"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("language", nargs="?", metavar="LANGUAGE", help="only this language: fr, pt-BR, or French")
    parser.add_argument("--json", action="store_true", help="print JSON, with addresses and digests")


def run(arguments: argparse.Namespace) -> int:
    """Print the catalogue; the exit code."""
    from sayahead.config import nearest
    from sayahead.errors import ConfigError
    from sayahead.voices.install.catalogue import catalogue

    wanted, entries = arguments.language, list(catalogue().values())
    if wanted:
        entries = [e for e in entries if speaks(e.language, wanted) or e.english.lower() == wanted.lower()]
    if not entries:
        known = sorted({entry.english for entry in catalogue().values()})
        raise ConfigError(f"The catalogue has no voice for the language {wanted!r}{nearest(wanted, known)}.")
    if arguments.json:
        files = ({"files": {name: address for name, address, _ in e.downloads()}} for e in entries)
        print(json.dumps([asdict(e) | more for e, more in zip(entries, files, strict=True)], indent=1))
        return 0
    rows = [(e.key, e.language, e.english, str(e.speakers), f"{e.size / 1e6:.0f} MB") for e in entries]
    print_table([("name", "language", "", "speakers", "size"), *rows])
    print("The licence of each is in its model card, which is downloaded and shown when the voice is added.")
    return 0
