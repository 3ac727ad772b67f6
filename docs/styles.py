"""Write the styles of tags into docs/reference/styles.md from their table, or check that they are
there.

    python docs/styles.py [--check]

The table stands between ``<!-- styles -->`` and ``<!-- /styles -->``. With ``--check`` nothing is
written, and a document that differs ends the run with an error.
"""

from __future__ import annotations

import re
import sys
from dataclasses import fields
from pathlib import Path

from sayahead.text.styles.table import NAMES, STYLES
from sayahead.types import PLAIN, Delivery

DOCUMENT = Path(__file__).parent / "reference" / "styles.md"
PLACE = re.compile(r"(?<=<!-- styles -->\n).*?(?=<!-- /styles -->)", re.DOTALL)


def main(arguments: list[str] | None = None) -> int:
    """Write or check the table; the exit code."""
    check = "--check" in (sys.argv[1:] if arguments is None else arguments)
    before = DOCUMENT.read_text(encoding="utf-8")
    after = PLACE.sub(lambda _: table(), before)
    if check and before != after:
        print(
            f"The styles in {DOCUMENT.name} are not those of the table: python docs/styles.py",
            file=sys.stderr,
        )
        return 1
    DOCUMENT.write_text(after, encoding="utf-8")
    return 0


def table() -> str:
    """A row for each style."""
    rows = ["| style | what changes | names |", "|---|---|---|"]
    for name, delivery in STYLES.items():
        names = ", ".join(other for other, style in NAMES.items() if style == name)
        rows.append(f"| {name} | {changes(delivery)} | {names} |")
    return "\n".join(rows) + "\n"


def changes(delivery: Delivery) -> str:
    """What differs from the plain delivery."""
    values = {field.name: getattr(delivery, field.name) for field in fields(Delivery)}
    changed = {name: value for name, value in values.items() if value != getattr(PLAIN, name)}
    return ", ".join(told(name, value) for name, value in changed.items()) or "nothing"


def told(name: str, value: float | bool) -> str:
    """One of the changes."""
    if value is True:
        return name
    return f"{name} {value:+g}" if name == "pitch" else f"{name.replace('_', ' ')} x {value:g}"


if __name__ == "__main__":
    sys.exit(main())
