"""Whether all known attacks are still held off: the tests that each row of lab/docs/abuse.md names,
in one table.

    python lab/benchmarks/held.py --out lab/benchmarks/results/server/held

Writes FILE.md and FILE.json. The attacks beside which others speak are measured by abuse.py.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "lab" / "docs" / "abuse.md"
HEADER = "| section | # | what could be done | tests | held | s |\n|---|---|---|--:|---|--:|"


@dataclass(frozen=True, slots=True)
class Attack:
    """A row of the page."""

    section: str
    number: str
    what: str
    tests: tuple[str, ...]


def attacks() -> list[Attack]:
    """All rows that name tests."""
    found = list[Attack]()
    section = "What one client can take"
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            section = line[3:]
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        names = tuple(re.findall(r"`(?:test_\w+\.py: )?(test_\w+)`", cells[-1]))
        files = re.findall(r"`(test_\w+\.py)`", cells[-1])
        if line.startswith("| ") and len(cells) == 4 and (names or files):
            found.append(Attack(section, cells[0], cells[1], names or tuple(files)))
    return found


def places(names: set[str]) -> dict[str, list[str]]:
    """In which files tests stand; SystemExit for one that is nowhere."""
    found: dict[str, list[str]] = {name: [] for name in names}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        text = path.read_text(encoding="utf-8")
        for name in names:
            if name == path.name:
                found[name].append(str(path))
            elif re.search(rf"def {name}\(", text):
                found[name].append(f"{path}::{name}")
    if missing := sorted(name for name, where in found.items() if not where):
        raise SystemExit(f"{PAGE.name} names tests that are nowhere: {', '.join(missing)}")
    return found


def ran(where: list[str]) -> dict[str, tuple[str, float]]:
    """Each test's outcome and seconds, by its name and by its file's."""
    with tempfile.NamedTemporaryFile(suffix=".xml") as report:
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-n",
            "0",
            "-q",
            f"--junit-xml={report.name}",
            *where,
        ]
        subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, check=False)
        cases = list(ElementTree.parse(report.name).iter("testcase"))
    found = dict[str, tuple[str, float]]()
    for case in cases:
        kinds = {child.tag for child in case}
        outcome = (
            "no" if kinds & {"failure", "error"} else "skipped" if "skipped" in kinds else "yes"
        )
        for name in (
            case.attrib["name"].partition("[")[0],
            f"{case.attrib['classname'].rsplit('.', 1)[-1]}.py",
        ):
            before, spent_s = found.get(name, ("yes", 0.0))
            worst = next(each for each in ("no", "skipped", "yes") if each in (before, outcome))
            found[name] = worst, spent_s + float(case.attrib["time"])
    return found


def main() -> None:
    """Run them all; the exit status tells whether all hold."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, help="FILE without ending: FILE.md, FILE.json")
    parser.add_argument(
        "--list", action="store_true", help="only say whether every test that is named exists"
    )
    arguments = parser.parse_args()
    rows = attacks()
    where = places({name for row in rows for name in row.tests})
    if arguments.list:
        print(f"{len(rows)} attacks, {len(where)} tests")
        return
    found = ran(sorted({place for each in where.values() for place in each}))
    # As in .ci/run: by itself, once more, which tells a wrong test from a machine that stood still.
    failed = [name for name in where if found.get(name, ("no", 0.0))[0] == "no"]
    if failed:
        again = ran(sorted({place for name in failed for place in where[name]}))
        found |= {
            name: ("2nd time" if again[name][0] == "yes" else "no", again[name][1])
            for name in failed
        }
    table = [HEADER]
    told = list[dict[str, object]]()
    for row in rows:
        outcomes = [found.get(name, ("not run", 0.0)) for name in row.tests]
        kinds = {outcome for outcome, _ in outcomes}
        held = next(
            each for each in ("not run", "no", "skipped", "2nd time", "yes") if each in kinds
        )
        spent_s = round(sum(spent for _, spent in outcomes), 1)
        table.append(
            f"| {row.section} | {row.number} | {row.what} | {len(row.tests)} | {held} | {spent_s} |"
        )
        told.append(
            {
                "section": row.section,
                "number": row.number,
                "tests": row.tests,
                "held": held,
                "s": spent_s,
            }
        )
    print("\n".join(table))
    if arguments.out:
        arguments.out.with_suffix(".md").write_text("\n".join(table) + "\n", encoding="utf-8")
        arguments.out.with_suffix(".json").write_text(
            json.dumps(told, indent=1) + "\n", encoding="utf-8"
        )
    raise SystemExit(any(row["held"] in ("no", "not run") for row in told))


if __name__ == "__main__":
    main()
