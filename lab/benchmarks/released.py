"""The default voice beside a release's, paired: word errors and opinion, whole, with one word of lookahead and none.

    python lab/benchmarks/released.py RELEASE/src --texts test.csv [--whisper DIR] [--count 40] [--keep FOLDER]
        [--conditions "k = 0" whole]

RELEASE is a checkout. Each version speaks the same texts in a process of its own; ``--keep`` names a folder for the
sound and its scores, from which an interrupted run goes on. Without ``--whisper``, opinion alone is asked for.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from output import tell
from release import beside_release
from served import SOURCE

from sayahead_lab.eval.listening.listeners import at_16khz, load_distillmos, load_normalizer, load_whisper
from sayahead_lab.eval.measures.intervals import Difference, difference, quotient
from sayahead_lab.eval.measures.word_errors import word_errors
from sayahead_lab.scripts import read_texts, strided

Scores = dict[str, list[dict[str, float]]]
"""Of each text, by condition."""
CONDITIONS = ("whole", "k = 1", "k = 0")
SPEAK = """
import sys
import numpy as np
from pathlib import Path
from sayahead import LookaheadK, WaitAll, load_voice
folder, voice = Path(sys.argv[1]), load_voice(sys.argv[2])
policies = {"whole": WaitAll(), "k = 1": LookaheadK(1), "k = 0": LookaheadK(0)}
for number, text in enumerate(sys.stdin.read().splitlines()):
    for name in sys.argv[3:]:
        policy = policies[name]
        path = folder / f"{number} {name}.npy"
        if not path.exists():
            np.save(path, voice.synthesize(text, policy=policy))
"""


def speak(source: Path, voice: str, texts: list[str], folder: Path, conditions: Sequence[str]) -> None:
    """Have a version say the texts under each condition."""
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-c", SPEAK, str(folder), voice, *conditions]
    environment = {**os.environ, "PYTHONPATH": str(source)}
    subprocess.run(command, input="\n".join(texts), text=True, check=True, env=environment)


def score(folder: Path, texts: list[str], whisper: str | None, conditions: Sequence[str]) -> Scores:
    """Word errors, words and opinion of each text, by condition; kept in the folder."""
    path, found = folder / ("scores.json" if whisper else "opinions.json"), Scores()
    if path.exists():
        found.update(json.loads(path.read_text(encoding="utf-8")))
    if any(len(found.get(name, ())) < len(texts) for name in conditions):
        rate = load_distillmos()
        hear, plain = (load_whisper(whisper, threads=1), load_normalizer()) if whisper else (None, None)
    for name in conditions:
        rows = found.setdefault(name, [])
        for number in range(len(rows), len(texts)):
            heard, text = at_16khz(np.load(folder / f"{number} {name}.npy"), 24000), texts[number]
            rows.append({"opinion": rate(heard)})
            if hear and plain:
                errors = word_errors(plain(text), plain(hear(heard)))
                rows[-1] |= {"errors": errors.total, "words": errors.words}
            path.write_text(json.dumps(found), encoding="utf-8")
    return found


def sums(rows: list[dict[str, float]], part: str, whole: str) -> NDArray[np.float64]:
    """(N, 2) of each text, what a rate is made of; over the count of texts where ``whole`` is no key."""
    return np.array([[row[part], row.get(whole, 1)] for row in rows], np.float64)


def row(name: str, rows: list[dict[str, float]], base: list[dict[str, float]] | None) -> str:
    """A line of the table."""
    cells = [name]
    for part, whole, scale, places in (("errors", "words", 100, 2), ("opinion", "", 1, 3)):
        if part not in rows[0]:
            continue
        own = sums(rows, part, whole)
        cells.append(f"{scale * own[:, 0].sum() / own[:, 1].sum():.{places}f}")
        cells.append("–" if base is None else gap(difference(own, sums(base, part, whole), quotient), scale, places))
    return f"| {' | '.join(cells)} |"


def gap(found: Difference, scale: float, places: int) -> str:
    """A difference with its interval."""
    value, low, high = (f"{scale * one:+.{places}f}" for one in (found.value, found.low, found.high))
    return f"{value} ({low} to {high})"


def table(new: Scores, old: Scores, count: int, conditions: Sequence[str]) -> list[str]:
    """The tables: against the release's same condition, and against the own whole sentences."""
    heard = "errors" in new[conditions[0]][0]
    columns = ["condition", *(["WER, %", "difference"] if heard else []), "DistillMOS", "difference"]
    head = [f"| {' | '.join(columns)} |", "|---" + "|---:" * (len(columns) - 1) + "|"]
    chosen = (
        "" if set(conditions) == set(CONDITIONS) else "".join([" --conditions", *(f' "{one}"' for one in conditions)])
    )
    lines = [
        f"{count} sentences of the LJ Speech test split; `python lab/benchmarks/released.py RELEASE/src --texts "
        f"test.csv --count {count}{' --whisper DIR' if heard else ''}{chosen}`. "
        "Differences are paired, with 95 % intervals.",
        "",
        "Against the release's same condition:",
        "",
        *head,
    ]
    for name in conditions:
        lines += [row(f"release, {name}", old[name], None), row(f"now, {name}", new[name], old[name])]
    if "whole" in conditions:
        lines += ["", "Against the same version's whole sentences:", "", *head]
        for title, found in (("release", old), ("now", new)):
            lines += [row(f"{title}, {name}", found[name], found["whole"]) for name in conditions if name != "whole"]
    return lines


def main() -> None:
    parser = beside_release(__doc__)
    parser.add_argument("--voice", default="heart", help="this version's voice (name or folder)")
    parser.add_argument("--texts", type=Path, required=True, help="id|text lines")
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--whisper", help="a faster-whisper model's folder")
    parser.add_argument("--conditions", nargs="+", choices=CONDITIONS, default=CONDITIONS)
    parser.add_argument("--keep", type=Path, help="folder for sound and scores (default: none is kept)")
    arguments = parser.parse_args()
    texts = [script.text for script in strided(read_texts(arguments.texts), arguments.count)]
    with tempfile.TemporaryDirectory() as passing:
        folder = arguments.keep or Path(passing)
        found = []
        for name, source, voice in (("release", arguments.release, "heart"), ("now", SOURCE, arguments.voice)):
            speak(source, voice, texts, folder / name, arguments.conditions)
            found.append(score(folder / name, texts, arguments.whisper, arguments.conditions))
    made = table(found[1], found[0], len(texts), arguments.conditions)
    tell(made, arguments.results)


if __name__ == "__main__":
    main()
