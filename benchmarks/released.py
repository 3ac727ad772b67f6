"""The default voice beside a release's, paired: word errors and opinion, whole, with one word of lookahead and none.

    python benchmarks/released.py RELEASE/src --texts test.csv --whisper DIR [--count 40] [--keep FOLDER]

RELEASE is a checkout. Each version speaks the same texts in a process of its own; ``--keep`` names a folder for the
sound and its scores, from which an interrupted run goes on.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tell import tell

from sayahead.eval.listening.listeners import at_16khz, load_distillmos, load_normalizer, load_whisper
from sayahead.eval.measures.intervals import Difference, difference, quotient
from sayahead.eval.measures.word_errors import word_errors

CONDITIONS = ("whole", "k = 1", "k = 0")
SPEAK = """
import sys
import numpy as np
from pathlib import Path
from sayahead import LookaheadK, WaitAll, load_voice
folder, voice = Path(sys.argv[1]), load_voice(sys.argv[2])
policies = {"whole": WaitAll(), "k = 1": LookaheadK(1), "k = 0": LookaheadK(0)}
for number, text in enumerate(sys.stdin.read().splitlines()):
    for name, policy in policies.items():
        path = folder / f"{number} {name}.npy"
        if not path.exists():
            np.save(path, voice.synthesize(text, policy=policy))
"""


def speak(source: Path, voice: str, texts: list[str], folder: Path) -> None:
    """Have a version say the texts under each condition."""
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-c", SPEAK, str(folder), voice]
    environment = {**os.environ, "PYTHONPATH": str(source)}
    subprocess.run(command, input="\n".join(texts), text=True, check=True, env=environment)


def score(folder: Path, texts: list[str], whisper: str) -> dict[str, list[dict[str, float]]]:
    """Word errors, words and opinion of each text, by condition; kept in the folder."""
    path = folder / "scores.json"
    if path.exists():
        found: dict[str, list[dict[str, float]]] = json.loads(path.read_text(encoding="utf-8"))
        if len(found[CONDITIONS[0]]) == len(texts):
            return found
    hear, rate, plain = load_whisper(whisper, threads=1), load_distillmos(), load_normalizer()
    found = {name: [] for name in CONDITIONS}
    for number, text in enumerate(texts):
        for name, rows in found.items():
            heard = at_16khz(np.load(folder / f"{number} {name}.npy"), 24000)
            errors = word_errors(plain(text), plain(hear(heard)))
            rows.append({"errors": errors.total, "words": errors.words, "opinion": rate(heard)})
    path.write_text(json.dumps(found), encoding="utf-8")
    return found


def compared(one: list[dict[str, float]], other: list[dict[str, float]]) -> tuple[Difference, Difference]:
    """The difference in word error rate and in opinion."""
    errors, opinions = (
        difference(sums(one, *keys), sums(other, *keys), quotient) for keys in (("errors", "words"), ("opinion", ""))
    )
    return errors, opinions


def sums(rows: list[dict[str, float]], part: str, whole: str) -> NDArray[np.float64]:
    """(N, 2) of each text, what a rate is made of; over the count of texts where ``whole`` is no key."""
    return np.array([[row[part], row.get(whole, 1)] for row in rows], np.float64)


def row(name: str, rows: list[dict[str, float]], base: list[dict[str, float]] | None) -> str:
    """A line of the table."""
    wer = 100 * sum(one["errors"] for one in rows) / sum(one["words"] for one in rows)
    opinion = float(np.mean([one["opinion"] for one in rows]))
    if base is None:
        return f"| {name} | {wer:.2f} | – | {opinion:.3f} | – |"
    errors, opinions = compared(rows, base)
    return (
        f"| {name} | {wer:.2f} | {100 * errors.value:+.2f} ({100 * errors.low:+.2f} to {100 * errors.high:+.2f}) "
        f"| {opinion:.3f} | {opinions.value:+.3f} ({opinions.low:+.3f} to {opinions.high:+.3f}) |"
    )


def table(new: dict[str, Any], old: dict[str, Any], count: int) -> list[str]:
    """The tables: against the release's same condition, and against the own whole sentences."""
    head = ["| condition | WER, % | difference | DistillMOS | difference |", "|---|---:|---:|---:|---:|"]
    lines = [
        f"{count} sentences of the LJ Speech test split; `python benchmarks/released.py RELEASE/src --texts test.csv "
        f"--count {count} --whisper DIR`. Differences are paired, with 95 % intervals.",
        "",
        "Against the release's same condition:",
        "",
        *head,
    ]
    for name in CONDITIONS:
        lines += [row(f"release, {name}", old[name], None), row(f"now, {name}", new[name], old[name])]
    lines += ["", "Against the same version's whole sentences:", "", *head]
    for title, found in (("release", old), ("now", new)):
        lines += [row(f"{title}, {name}", found[name], found["whole"]) for name in CONDITIONS[1:]]
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("release", type=Path, help="src of a checkout of the release")
    parser.add_argument("--voice", default="heart", help="this version's voice (name or folder)")
    parser.add_argument("--texts", type=Path, required=True, help="id|text lines")
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--whisper", required=True, help="a faster-whisper model's folder")
    parser.add_argument("--keep", type=Path, help="folder for sound and scores (default: none is kept)")
    parser.add_argument("--results", type=Path, help="write the tables here (Markdown)")
    arguments = parser.parse_args()
    lines = [line.split("|", 1)[1] for line in arguments.texts.read_text(encoding="utf-8").splitlines()]
    texts = lines[:: max(1, len(lines) // arguments.count)][: arguments.count]
    with tempfile.TemporaryDirectory() as passing:
        folder = arguments.keep or Path(passing)
        own = Path(__file__).parents[1] / "src"
        found = []
        for name, source, voice in (("release", arguments.release, "heart"), ("now", own, arguments.voice)):
            speak(source, voice, texts, folder / name)
            found.append(score(folder / name, texts, arguments.whisper))
    made = table(found[1], found[0], len(texts))
    tell(made, arguments.results)


if __name__ == "__main__":
    main()
