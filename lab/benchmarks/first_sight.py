"""How texts that nobody had seen are read: whole texts that are right, and wrong words.

    python lab/benchmarks/first_sight.py [tests/text/sight/ROUND] [-o RESULT.md] [--wrong]

Each file LANGUAGE.tsv has a header and lines of category, text and accepted readings, with choices
in braces (``sayahead_lab.eval.text.accepted``). Of wrong words, each text counts its smallest edit
distance to an accepted reading. ``--wrong`` prints the texts that are read otherwise. Without a
folder all rounds are scored, each in rows of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sayahead.text import front_end

from sayahead_lab.eval.text.accepted import distance, parse, words_of
from sayahead_lab.results import Rows, options, table, tell

ROOT = Path(__file__).parents[2]
ROUNDS = ROOT / "tests/text/sight"


@dataclass(frozen=True, slots=True)
class Score:
    """A text as it was read."""

    text: str
    said: str
    accepted: str
    wrong: int


def scores(path: Path) -> list[Score]:
    """The texts of a file, each as it is read and with its wrong words."""
    front = front_end(path.stem)
    found: list[Score] = []
    for line in path.read_text(encoding="utf-8").splitlines()[1:]:
        _, text, accepted = line.split("\t")
        text = text.replace("\\n", "\n")
        normalizer = front.normalizer()
        said = " ".join(word.text for word in (*normalizer.push(text), *normalizer.flush()))
        found.append(Score(text, said, accepted, distance(said, parse(accepted))))
    return found


def rows(folder: Path, *, shows_wrong: bool) -> Rows:
    """The rows of a table for each language of a round."""
    lines = Rows()
    for path in sorted(folder.glob("*.tsv")):
        found = scores(path)
        right = sum(not score.wrong for score in found) / len(found)
        words = sum(len(words_of(score.said)) for score in found)
        share = sum(score.wrong for score in found) / words
        figures = [str(len(found)), f"{right:.0%}", f"{share:.1%}"]
        lines.append([folder.name, path.stem, *figures])
        for score in found if shows_wrong else ():
            if score.wrong:
                print(f"{path.stem}: {score.text!r}\n    {score.said}\n    {score.accepted}")
    return lines


def main() -> None:
    arguments = options(__doc__, "[FOLDER]", "results", wrong=False).parse_args()
    folders = [arguments.folder] if arguments.folder else sorted(ROUNDS.glob("*/"))
    scored = [row for folder in folders for row in rows(folder, shows_wrong=arguments.wrong)]
    lines = table("round|language|texts|right|wrong words", scored, words=2)
    command = "Command: `python lab/benchmarks/first_sight.py`"
    tell(["# First sight", "", command, "", *lines], arguments.results)


if __name__ == "__main__":
    main()
