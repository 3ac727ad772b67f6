"""How texts that nobody had seen are read: whole texts that are right, and wrong words.

    python lab/benchmarks/first_sight.py [tests/text/sight] [-o RESULT.md] [--wrong]

Each file LANGUAGE.tsv has a header and lines of category, text and accepted readings. Of wrong
words, each text counts its smallest edit distance to an accepted reading; a word of capitals, which
is left to the voice, may be its letters. ``--wrong`` prints the texts that are read otherwise.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from sayahead.text import front_end

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
from support.other_readings import canonical
from support.readings import Case, cases

ROOT = Path(__file__).parents[2]

_CAPITALS = re.compile(r"\b[A-Z]{2,5}\b")
_SPELLED = re.compile(r"\b[^\W\d_](?: [^\W\d_])+\b")


def distance(said: Sequence[str], wanted: Sequence[str]) -> int:
    """The words that are inserted, deleted or replaced."""
    row = list(range(len(wanted) + 1))
    for count, word in enumerate(said, 1):
        above = row
        row = [count]
        for place, other in enumerate(wanted):
            row.append(min(above[place] + (word != other), above[place + 1] + 1, row[place] + 1))
    return row[-1]


def plain(text: str) -> list[str]:
    """The words of a reading; letters that are spelled are one."""
    return _SPELLED.sub(
        lambda letters: letters[0].replace(" ", ""), canonical(re.sub("[.-]", " ", text))
    ).split()


def wrong_words(language: str, case: Case) -> tuple[int, int, str]:
    """Wrong words, words said, and what was said."""
    normalizer = front_end(language).normalizer()
    said = " ".join(word.text for word in (*normalizer.push(case.text), *normalizer.flush()))
    spelled = _CAPITALS.sub(lambda word: " ".join(word[0]), said)
    pairs = [(plain(way), plain(reading)) for way in {said, spelled} for reading in case.accepted]
    return min(distance(*pair) for pair in pairs), len(plain(said)), said


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, nargs="?", default=ROOT / "tests/text/sight")
    parser.add_argument("-o", "--out", type=Path)
    parser.add_argument("--wrong", action="store_true")
    arguments = parser.parse_args()
    lines = ["| language | texts | right | wrong words |", "|---|--:|--:|--:|"]
    for path in sorted(arguments.folder.glob("*.tsv")):
        rows = cases(path)
        found = [(case, *wrong_words(path.stem, case)) for case in rows]
        right = sum(not wrong for _, wrong, _, _ in found)
        share = sum(wrong for _, wrong, _, _ in found) / sum(size for _, _, size, _ in found)
        lines.append(f"| {path.stem} | {len(rows)} | {right / len(rows):.0%} | {share:.1%} |")
        for case, wrong, _, said in found if arguments.wrong else ():
            if wrong:
                print(f"{path.stem}: {case.text!r}\n    {said}\n    {case.accepted[0]}")
    table = "\n".join(lines) + "\n"
    print(table, end="")
    if arguments.out:
        command = "Command: `python lab/benchmarks/first_sight.py`"
        arguments.out.write_text(f"# First sight\n\n{command}\n\n{table}", encoding="utf-8")


if __name__ == "__main__":
    main()
