"""A script with named speakers as a podcast, with captions that say who speaks.

python examples/podcast.py script.txt podcast.mp3 Ann=heart Ben=am_michael    # lines such as "Ann:
Good morning."

`sayahead say -f script.txt --cast Ann=heart --cast Ben=am_michael -o podcast.wav` does the same
from the command line."""

import argparse
from collections.abc import Mapping
from pathlib import Path

from sayahead import Speech, Voice, dialogue

SCRIPT = """Ann: Welcome back! Today we read two minutes of news, word by word.
Ben: And we begin before the last word is written.
Ann: Which nobody notices, if we do it well.
Ben: Let us see. Shall I begin?
"""


def podcast(script: str, cast: Mapping[str, str | Voice], output: Path) -> Speech:
    """Speak a script into a file, with captions beside it."""
    speech = dialogue(script, cast=dict(cast))
    speech.save(output, timings=output.with_suffix(".vtt"))
    return speech


def main() -> None:
    """Make a podcast of a script."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("script", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("cast", nargs="+", metavar="NAME=VOICE")
    arguments = parser.parse_args()
    cast = dict(entry.split("=", 1) for entry in arguments.cast)
    speech = podcast(arguments.script.read_text(encoding="utf-8"), cast, arguments.output)
    print(f"{arguments.output}: {len(speech.words)} words by {', '.join(cast)}")


if __name__ == "__main__":
    main()
