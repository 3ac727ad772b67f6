"""How texts that nobody had seen are read: whole texts that are right, and wrong words.

    python lab/benchmarks/first_sight.py [tests/text/sight/ROUND.tsv] [-o RESULT.md] [--wrong]

A round is a file with a header and lines of language, category, text and accepted readings, with
choices in braces (``sayahead_lab.eval.text.accepted``), or a folder of files LANGUAGE.tsv without
the first column. Of wrong words, each text counts its smallest edit distance to an accepted
reading. ``--wrong`` prints the texts that are read otherwise. Without one all rounds are scored,
each in rows of its own.
"""

from __future__ import annotations

import itertools
from pathlib import Path

from sayahead.text import front_end

from sayahead_lab.eval.text.accepted import distance, parse, words_of
from sayahead_lab.results import Rows, options, table, tell

ROOT = Path(__file__).parents[2]
ROUNDS = ROOT / "tests/text/sight"


def texts(path: Path) -> list[list[str]]:
    """Language, category, text and accepted reading of each line of a round: of its file, or of its
    folder's files LANGUAGE.tsv, whose lines do not name the language."""
    if path.is_dir():
        return [[file.stem, *line] for file in sorted(path.glob("*.tsv")) for line in texts(file)]
    return [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()[1:]]


def read(language: str, text: str) -> str:
    """A text as it is read."""
    normalizer = front_end(language).normalizer()
    words = (*normalizer.push(text.replace("\\n", "\n")), *normalizer.flush())
    return " ".join(word.text for word in words)


def rows(path: Path, *, shows_wrong: bool) -> Rows:
    """The rows of a table for each language of a round."""
    lines = Rows()
    for language, group in itertools.groupby(texts(path), key=lambda line: line[0]):
        wrong = list[int]()
        words = 0
        for _, _, text, accepted in group:
            said = read(language, text)
            wrong.append(distance(said, parse(accepted)))
            words += len(words_of(said))
            if shows_wrong and wrong[-1]:
                print(f"{language}: {text!r}\n    {said}\n    {accepted}")
        figures = [f"{wrong.count(0) / len(wrong):.0%}", f"{sum(wrong) / words:.1%}"]
        lines.append([path.stem, language, str(len(wrong)), *figures])
    return lines


def main() -> None:
    arguments = options(__doc__, "[ROUND]", "results", wrong=False).parse_args()
    every = sorted(path for path in ROUNDS.iterdir() if path.suffix in ("", ".tsv"))
    rounds = [arguments.round] if arguments.round else every
    cells = [row for path in rounds for row in rows(path, shows_wrong=arguments.wrong)]
    lines = table("round|language|texts|right|wrong words", cells, words=2)
    command = "Command: `python lab/benchmarks/first_sight.py`"
    tell(["# First sight", "", command, "", *lines], arguments.results)


if __name__ == "__main__":
    main()
