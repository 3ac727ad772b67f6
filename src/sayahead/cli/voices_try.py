"""``sayahead voices try``: hear a voice say a sentence of its language."""

from __future__ import annotations

import argparse

from sayahead.cli import say

HELP = "hear a voice say a sentence of its language"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="the voice's name or folder")
    parser.add_argument("text", nargs="*", metavar="TEXT", help="another text than the sentence")
    parser.add_argument("-o", "--output", metavar="FILE", help="write FILE.wav instead of playing it")


def run(arguments: argparse.Namespace) -> int:
    """Speak the sentence; the exit code."""
    from sayahead.voices import located, read_config
    from sayahead.voices.install.trial import sample

    config = read_config(located(arguments.name))
    parser = argparse.ArgumentParser()
    say.add_arguments(parser)
    text = " ".join(arguments.text) or sample(config.language)
    output = ["-o", arguments.output] if arguments.output else []
    return say.run(parser.parse_args(["--voice", arguments.name, *output, "--", text]))
