"""Write what is in which folder of the two packages into docs/architecture.md, or check that it is
there.

    python docs/rooms.py [--check]

Each table stands between a line such as ``<!-- rooms src/sayahead -->`` and ``<!-- /rooms -->``:
the first paragraph of each module's and folder's docstring. With ``--check`` nothing is written,
and a document that differs ends the run with an error.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCUMENT = ROOT / "docs" / "architecture.md"
PLACE = re.compile(r"(<!-- rooms (\S+) -->\n).*?(?=<!-- /rooms -->)", re.DOTALL)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or check the table; the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="write nothing")
    check = parser.parse_args(arguments).check
    before = DOCUMENT.read_text(encoding="utf-8")
    after = PLACE.sub(lambda match: match[1] + table(ROOT / match[2]), before)
    if check and before != after:
        print(
            f"The rooms in {DOCUMENT.name} are not those of the packages: python docs/rooms.py",
            file=sys.stderr,
        )
        return 1
    DOCUMENT.write_text(after, encoding="utf-8")
    return 0


def table(package: Path) -> str:
    """A row for each module of a package, and for its folders with Python, two levels deep."""
    folders = [
        path.parent for depth in ("*", "*/*") for path in package.glob(f"{depth}/__init__.py")
    ]
    modules = [path for path in package.glob("*.py") if not path.name.startswith("__")]
    rows = [f"| in `{package.relative_to(ROOT).as_posix()}/` | what it is |", "|---|---|"]
    rows += [f"| `{path.name}` | {summary(path)} |" for path in sorted(modules)]
    rows += [
        f"| `{path.relative_to(package).as_posix()}/` | {summary(path / '__init__.py')} |"
        for path in sorted(folders)
    ]
    return "\n".join(rows) + "\n"


def summary(path: Path) -> str:
    """The first paragraph of a module's docstring; SystemExit where there is none."""
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    if not docstring:
        raise SystemExit(f"{path} has no docstring: say in its first line what it is.")
    return " ".join(docstring.partition("\n\n")[0].split()).replace("``", "`").replace("|", "\\|")


if __name__ == "__main__":
    sys.exit(main())
