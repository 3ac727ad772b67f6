"""Two versions' sound of the same texts, paired: word errors and opinion, and whether it is the
same."""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from two_versions import Table, in_turns, speakers

from sayahead_lab.eval.experiment.machine import versions
from sayahead_lab.eval.listening.listeners import (
    at_16khz,
    load_distillmos,
    load_normalizer,
    load_whisper,
)
from sayahead_lab.eval.measures.intervals import Difference, difference, quotient
from sayahead_lab.eval.measures.word_errors import word_errors
from sayahead_lab.scripts import read_texts, strided

Sources = Mapping[str, Path]
Scores = dict[str, list[dict[str, float]]]
"""Of each text, by condition."""


def texts_of(given: argparse.Namespace) -> list[str]:
    """As many texts as are asked for, evenly from the file."""
    return [script.text for script in strided(read_texts(given.texts), given.count)]


def speak(
    sources: Sources, folder: Path, texts: list[str], conditions: Sequence[str], **voices: str
) -> dict[str, list[float]]:
    """Have each version save the texts under each condition in a folder of its own; each one's gain
    for each text."""

    def one(name: str, number: int) -> float:
        (folder / name).mkdir(parents=True, exist_ok=True)
        files = {
            condition: str(folder / name / f"{number} {condition}.npy") for condition in conditions
        }
        gains = [
            processes[name].ask("keep", condition, texts[number], file)
            for condition, file in files.items()
        ]
        return float(gains[0])

    with speakers(sources, **voices) as processes:
        return in_turns({name: name for name in sources}, len(texts), one)


def score(folder: Path, texts: list[str], whisper: str | None, conditions: Sequence[str]) -> Scores:
    """Word errors, words and opinion of each text, by condition; kept in the folder."""
    path = folder / ("scores.json" if whisper else "opinions.json")
    scores = Scores()
    if path.exists():
        scores.update(json.loads(path.read_text(encoding="utf-8")))
    if any(len(scores.get(name, ())) < len(texts) for name in conditions):
        rate = load_distillmos()
        hear, plain = (
            (load_whisper(whisper, threads=1), load_normalizer()) if whisper else (None, None)
        )
    for name in conditions:
        rows = scores.setdefault(name, [])
        for number in range(len(rows), len(texts)):
            sound = at_16khz(np.load(folder / f"{number} {name}.npy"), 24000)
            text = texts[number]
            rows.append({"opinion": rate(sound)})
            if hear and plain:
                errors = word_errors(plain(text), plain(hear(sound)))
                rows[-1] |= {"errors": errors.total, "words": errors.words}
            path.write_text(json.dumps(scores), encoding="utf-8")
    return scores


def sums(rows: list[dict[str, float]], part: str, whole: str) -> NDArray[np.float64]:
    """(N, 2) of each text, what a rate is made of; over the count of texts where ``whole`` is no
    key."""
    return np.array([[row[part], row.get(whole, 1)] for row in rows], np.float64)


def row(name: str, rows: list[dict[str, float]], base: list[dict[str, float]] | None) -> str:
    """A line of the table."""
    cells = [name]
    for part, whole, scale, places in (("errors", "words", 100, 2), ("opinion", "", 1, 3)):
        if part not in rows[0]:
            continue
        own = sums(rows, part, whole)
        cells.append(f"{scale * own[:, 0].sum() / own[:, 1].sum():.{places}f}")
        cells.append(
            "–"
            if base is None
            else gap(difference(own, sums(base, part, whole), quotient), scale, places)
        )
    return f"| {' | '.join(cells)} |"


def gap(apart: Difference, scale: float, places: int) -> str:
    """A difference with its interval."""
    value, low, high = (
        f"{scale * one:+.{places}f}" for one in (apart.value, apart.low, apart.high)
    )
    return f"{value} ({low} to {high})"


def quality(sources: Sources, given: argparse.Namespace) -> Table:
    """The default voice, paired: word errors and opinion, whole, with one word of lookahead and
    none.

    ``--keep`` names a folder for the sound and its scores, from which an interrupted run goes on.
    Without ``--whisper``, opinion alone is asked for. ``--voice`` is this version's."""
    texts = texts_of(given)
    conditions = given.conditions
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.keep or Path(temporary)
        speak(sources, folder, texts, conditions, now=given.voice)
        scores = {name: score(folder / name, texts, given.whisper, conditions) for name in sources}
    release = scores["release"]
    now = scores["now"]
    columns = [
        "condition",
        *(["WER, %", "difference"] if given.whisper else []),
        "DistillMOS",
        "difference",
    ]
    head = [f"| {' | '.join(columns)} |", "|---" + "|---:" * (len(columns) - 1) + "|"]
    lines = [f"{len(texts)} sentences. Differences are paired, with 95 % intervals.", ""]
    lines += ["Against the release's same condition:", "", *head]
    for name in conditions:
        lines += [
            row(f"release, {name}", release[name], None),
            row(f"now, {name}", now[name], release[name]),
        ]
    if "whole" in conditions:
        lines += ["", "Against the same version's whole sentences:", "", *head]
        for title, own in scores.items():
            lines += [
                row(f"{title}, {name}", own[name], own["whole"])
                for name in conditions
                if name != "whole"
            ]
    return lines, dict(scores)


def same(sources: Sources, given: argparse.Namespace) -> Table:
    """Whether the same voice makes the same sound, word by word (k = 1).

    ``--before`` is the voice as another version added it. Loudness, which ``voices add`` measures
    anew, is made equal."""
    texts = texts_of(given)
    voices = {"now": given.voice, "release": given.before or given.voice}
    apart = list[float | None]()
    with tempfile.TemporaryDirectory() as folder:
        gains = speak(sources, Path(folder), texts, ["k = 1"], **voices)
        for number in range(len(texts)):
            release, now = (
                np.load(Path(folder) / name / f"{number} k = 1.npy") for name in ("release", "now")
            )
            gain = gains["now"][number] / gains["release"][number]
            apart.append(
                float(np.abs(now - gain * release).max()) if len(now) == len(release) else None
            )
    lengths = [value for value in apart if value is not None]
    data = {
        "versions": versions(),
        "sentences": len(apart),
        "as_long": len(lengths),
        "most": max(lengths, default=None),
    }
    lines = ["| sentences | as long | largest difference |", "|---:|---:|---:|"]
    lines += [f"| {len(apart)} | {len(lengths)} | {data['most']} |"]
    return lines, data | {"differences": apart}
