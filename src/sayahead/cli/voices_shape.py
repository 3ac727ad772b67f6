"""``sayahead voices shape``: an installed voice with its pitch and formants changed, under a name of its own."""

from __future__ import annotations

import argparse

from sayahead.cli.options import add_options, given

HELP = "make a voice of an installed one by changing its pitch and formants"
EPILOG = """examples:
  sayahead say --pitch -5 --formants 0.85 'Is this it?'          try it first
  sayahead voices shape bass --pitch -6 --formants 0.85
  sayahead voices shape herald --from ma-lj --pitch 2 --pitch-range 1.3

Only voices of source and filter have a shape: heart, and those with the mel vocoder.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    add = parser.add_argument
    add("name", metavar="NAME", help="what the new voice is called")
    add("--from", dest="base", default="heart", metavar="VOICE", help="the voice that is shaped (default: heart)")
    add_options(add, ("pitch", "pitch_range", "formants"))
    add("--description", metavar="TEXT", help="one line about it")
    add("--replace", action="store_true", help="take the place of a voice of this name")


def run(arguments: argparse.Namespace) -> int:
    """Add the voice; the exit code."""
    from sayahead.types import Shape
    from sayahead.voices.install.shaped import shape_voice

    shape = Shape(**given(arguments))
    options = {"description": arguments.description, "replace": arguments.replace}
    added = shape_voice(arguments.base, arguments.name, shape, **options)
    print(f"Added {added.config.name}: {added.config.description}. Hear it: sayahead voices try {added.config.name}")
    return 0
