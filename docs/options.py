"""Write the options of a session into docs/reference/options.md from their record, or check that
they are there.

    python docs/options.py [--check]

The table stands between ``<!-- options -->`` and ``<!-- /options -->``. With ``--check`` nothing is
written, and a document that differs ends the run with an error.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from sayahead.cli.options import flag_of
from sayahead.engine.options import RESEARCH, option_rows

DOCUMENT = Path(__file__).parent / "reference" / "options.md"
PLACE = re.compile(r"(?<=<!-- options -->\n).*?(?=<!-- /options -->)", re.DOTALL)
FLAGS = {"markup": "--ssml"}


def main(arguments: list[str] | None = None) -> int:
    """Write or check the table; the exit code."""
    check = "--check" in (sys.argv[1:] if arguments is None else arguments)
    before = DOCUMENT.read_text(encoding="utf-8")
    after = PLACE.sub(lambda _: table(), before)
    if check and before != after:
        print(
            f"The options in {DOCUMENT.name} are not those of the record: python docs/options.py",
            file=sys.stderr,
        )
        return 1
    DOCUMENT.write_text(after, encoding="utf-8")
    return 0


def table() -> str:
    """A row for each option."""
    rows = ["| option | `sayahead say` | values | default | |", "|---|---|---|---|---|"]
    for row in option_rows():
        name = f'research["{row.name}"]' if row.name in RESEARCH else row.name
        flag = FLAGS.get(row.name) or flag_of(row.name)
        usual = f"`{row.default}`" if row.default else ""
        text = row.text.replace("``", "`")
        rows.append(f"| `{name}` | `{flag}` | {row.values} | {usual} | {text} |")
    return "\n".join(rows) + "\n"


if __name__ == "__main__":
    sys.exit(main())
