"""How near a contextual embedding comes to that of the true future (Saeki-a, Fig. 2), and a student
to its teacher (Saeki-b, Fig. 3), by time step.

    python lab/benchmarks/saeki/cosine.py archives/runs/saeki.tar.xz -o \
        lab/benchmarks/results/saeki/runs

The first argument is an archive of ``sayahead train publish``, or a folder of runs: every Tacotron
in it is measured, and every student. What a language model expects of sentences is read from files,
by default from ``lab/benchmarks/results/saeki/futures``, each made by

    sayahead train futures FOLDER/k-5.jsonl --texts test.csv --lm MODEL --count 200 --prefixes 6 \
        --top-k 5

So neither a corpus nor a language model is needed. A prefix of n words is measured at time step
ceil(n / 2) - 1, where its last two words are spoken. A language model that ends a sentence too
early has less future to show: its row is compared with as many random words, with an end where it
has one. Writes cosine.md, pseudo-NETWORK.png and student.png.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sayahead.contexts.baselines import RandomWords
from sayahead.contexts.language_model import CLOSING
from sayahead.errors import ConfigError
from sayahead.text import Phonemizer
from sayahead.text.reading.stream import normalize
from sayahead.types import Word
from torch import Tensor
from torch.nn import functional

from sayahead_lab.eval.measures.intervals import (
    ConfidenceInterval,
    Estimate,
    difference,
    estimate,
    quotient,
)
from sayahead_lab.eval.report.drawing import Point, canvas, dots, legend, save, whole_steps
from sayahead_lab.results import Rows, options, publish, table
from sayahead_lab.training.corpus.segments import SegmentCutter
from sayahead_lab.training.corpus.store import Item
from sayahead_lab.training.corpus.teacher import spans
from sayahead_lab.training.distilled.futures import read_futures
from sayahead_lab.training.loop.checkpoint import has_checkpoint
from sayahead_lab.training.loop.publish import opened
from sayahead_lab.training.loop.saved_run import Trained, load_trained
from sayahead_lab.training.saeki.futures import Expected, Prefix, last_segment
from sayahead_lab.training.saeki.network import Tacotron
from sayahead_lab.training.saeki.student import embeddings

ROOT = Path(__file__).parents[2]
FUTURES = ROOT / "benchmarks" / "results" / "saeki" / "futures"
STEPS = 8
"""Time steps that are told apart; segments of two words."""
RANDOM = "random words"
NONE = "no future"
MEAN = "the mean embedding, whatever the text"
Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Moment:
    """The first words of a text, and what was expected after them."""

    text: int
    """Number of the text."""
    words: tuple[str, ...]
    """The first ones."""
    futures: dict[str, tuple[str, ...]]
    """Words by the source that expected them."""

    @property
    def step(self) -> int:
        """The time step at which the last two words are spoken."""
        return (len(self.words) + 1) // 2 - 1

    def random(self, source: str) -> tuple[str, ...]:
        """As many random words as a source has, which end the sentence where it does; five where it
        has no future."""
        meant = self.futures[source]
        drawn = self.futures[RANDOM]
        if source in (RANDOM, NONE):
            return drawn
        ends = bool(meant) and meant[-1].endswith(CLOSING)
        return tuple(
            word + "." if ends and at == len(meant) else word
            for at, word in enumerate(drawn[: len(meant)], 1)
        )


def moments(folder: Path) -> tuple[list[tuple[str, ...]], list[Moment]]:
    """The texts of one sentence in a folder's files of futures, and the prefixes that all files
    continue."""
    files = sorted(folder.glob("k-*.jsonl"), key=lambda path: int(path.stem.removeprefix("k-")))
    if not files:
        raise ConfigError(
            f"{folder} has no futures (k-1.jsonl, k-5.jsonl, ...): make them with sayahead train"
            " futures."
        )
    found = {
        f"k = {path.stem.removeprefix('k-')}": {one.name: one for one in read_futures(path)}
        for path in files
    }
    names = sorted(set.intersection(*(set(lines) for lines in found.values())))
    texts = list[tuple[str, ...]]()
    made = list[Moment]()
    for name in names:
        words = next(iter(found.values()))[name].words
        read = normalize(" ".join(words))
        if tuple(word.text for word in read) != words or any(word.ends for word in read[:-1]):
            continue
        for end in range(1, min(len(words), 2 * STEPS + 1)):
            futures = {source: lines[name].futures[end - 1] for source, lines in found.items()}
            known = {source: future for source, future in futures.items() if future is not None}
            if len(known) == len(found):
                drawn = RandomWords().predict(words[:end]).words
                made.append(Moment(len(texts), words[:end], {RANDOM: drawn, **known, NONE: ()}))
        texts.append(words)
    return texts, made


@dataclass(frozen=True, slots=True)
class Network:
    """A Tacotron and how it reads."""

    name: str
    """Of its run."""
    tacotron: Tacotron
    """With its contextual embedding network."""
    phonemizer: Phonemizer
    """In its symbols."""
    cutter: SegmentCutter
    """What it is shown of past and future."""

    def item(self, words: Sequence[str]) -> Item:
        """A sentence without sound, each of its phonemes a frame."""
        last = len(words) - 1
        given = [Word(text, 0, 0, number == last) for number, text in enumerate(words)]
        pronounced = self.phonemizer.phonemize(given, left=[])
        ids = np.concatenate([word.ids for word in pronounced])
        nothing = np.zeros((0, 1), np.float16)
        frames = np.ones(len(ids) + 2, np.int16)
        return Item("", "", ids.astype(np.int16), spans(pronounced), frames, nothing[:, 0], nothing)

    def embeddings(
        self,
        texts: Sequence[Sequence[str]],
        found: Sequence[Moment],
        futures: Sequence[tuple[str, ...]] | None = None,
    ) -> Tensor:
        """(I, E) of the moments' futures; None: of the true ones."""
        items = [self.item(words) for words in texts]
        expected = Expected(self.phonemizer, self.cutter.pad)
        pieces = [
            last_segment(self.cutter, items, Prefix(one.text, one.words, ())) for one in found
        ]
        if futures is not None:
            shown = [
                Prefix(one.text, one.words, words[: self.cutter.lookahead or None])
                for one, words in zip(found, futures, strict=True)
            ]
            pieces = [
                replace(piece, future=expected.ids(one))
                for piece, one in zip(pieces, shown, strict=True)
            ]
        return embeddings(self.tacotron, pieces)


@dataclass(frozen=True, slots=True)
class Student:
    """A student of a network."""

    name: str
    """Of its run."""
    teacher: Network
    """What it imitates."""
    truth: bool
    """Whether its teacher was shown the true future instead of a language model's."""
    read: Callable[[Sequence[Sequence[str]]], Tensor]
    """From words so far (I texts) to embeddings (I, E)."""


def of_run(run: Trained[Any, Any]) -> Network:
    """The network of a run of a Tacotron."""
    phonemizer = Expected.of(run.corpus).phonemizer
    return Network(run.recipe.name, run.model.tacotron, phonemizer, run.task.cutter)


def of_runs(folder: Path) -> tuple[list[Network], list[Student]]:
    """All Tacotrons and students in a folder of runs."""
    networks = list[Network]()
    students = list[Student]()
    for path in sorted(path for path in folder.iterdir() if path.is_dir() and has_checkpoint(path)):
        run = load_trained(path)
        if run.recipe.task == "saeki-student":

            def read(texts: Sequence[Sequence[str]], run: Trained[Any, Any] = run) -> Tensor:
                out: Tensor = run.model.student(*run.task.read(texts))
                return out

            students.append(Student(path.name, of_run(run.task.teacher), run.task.data.truth, read))
        elif run.recipe.task in ("saeki", "saeki-guided"):
            networks.append(replace(of_run(run), name=path.name))
    if not networks:
        raise ConfigError(f"{folder} has no run of a Tacotron (saeki, saeki-guided).")
    return networks, students


def row(
    own: Tensor, meant: Tensor, found: Sequence[Moment], control: Tensor | None
) -> dict[str, Any]:
    """Mean cosine of embeddings (I, E) over all and by time step, and that over a control's; over
    texts, paired."""
    count = 1 + max(one.text for one in found)

    def sums(values: Tensor, step: int | None = None) -> Values:
        parts = np.zeros((count, 2))
        for one, value in zip(found, values.tolist(), strict=True):
            if step in (None, one.step):
                parts[one.text] += (value, 1)
        return parts[parts[:, 1] > 0]

    near = functional.cosine_similarity(own, meant)
    made = {"mean": interval(estimate(sums(near), quotient))}
    if control is not None:
        other = functional.cosine_similarity(control, meant)
        made["more than the control"] = interval(difference(sums(near), sums(other), quotient))
    return {
        **made,
        "steps": [interval(estimate(sums(near, step), quotient)) for step in range(STEPS)],
    }


def interval(found: Estimate) -> list[float]:
    """A figure with the ends of its interval."""
    return [round(value, 5) for value in (found.value, found.low, found.high)]


@torch.no_grad()
def measured(
    networks: Sequence[Network], students: Sequence[Student], folder: Path
) -> dict[str, Any]:
    """Both figures."""
    texts, found = moments(folder)
    made: dict[str, Any] = {
        "texts": len(texts),
        "prefixes": len(found),
        "networks": {},
        "students": {},
    }
    for network in networks:
        meant = network.embeddings(texts, found)
        rows = dict[str, Any]()
        for source in found[0].futures:
            own, control = (
                network.embeddings(texts, found, words)
                for words in (
                    [one.futures[source] for one in found],
                    [one.random(source) for one in found],
                )
            )
            words = float(np.mean([len(one.futures[source]) for one in found]))
            rows[source] = {
                "words": words,
                **row(own, meant, found, None if source == RANDOM else control),
            }
        made["networks"][network.name] = rows
    for student in students:
        meant = student.teacher.embeddings(
            texts, found, None if student.truth else [one.futures["k = 1"] for one in found]
        )
        constant = meant.mean(0, keepdim=True).expand_as(meant)
        rows = {MEAN: row(constant, meant, found, None)} if MEAN not in made["students"] else {}
        own = student.read([one.words for one in found])
        made["students"] |= {**rows, student.name: row(own, meant, found, constant)}
    return made


def tables(made: dict[str, Any]) -> list[str]:
    """Both figures as tables."""
    lines = [f"{made['texts']} texts, {made['prefixes']} prefixes; 95 % intervals over texts."]
    for name, rows in made["networks"].items():
        title = f"{name}: cosine with the true future's, by time step|words"
        lines += by_step(rows, title, "more than as many random words")
    if made["students"]:
        title = "cosine with the teacher's, by time step"
        lines += by_step(made["students"], title, "more than the mean embedding")
    return lines


def by_step(rows: dict[str, Any], title: str, control: str) -> list[str]:
    """A figure as a table, with the mean number of words where the rows have some."""
    lines = Rows()
    for name, found in rows.items():
        more = found.get("more than the control")
        lines.append(
            [
                name,
                *([f"{found['words']:.1f}"] if "words" in found else []),
                f"{ConfidenceInterval(*found['mean']):.3f}",
                f"{ConfidenceInterval(*more):+.3f}" if more else "–",
                *(f"{step[0]:.2f}" for step in found["steps"]),
            ]
        )
    return ["", *table(f"{title}|all|{control}|{'|'.join(map(str, range(STEPS)))}", lines)]


def draw(rows: dict[str, Any], title: str, path: Path) -> None:
    """Cosine similarity over time steps with its intervals, a line a row of the table."""
    figure, axes = canvas(
        title, "time step (segments spoken before)", "cosine similarity", height=5.2
    )
    for number, (name, found) in enumerate(rows.items()):
        aside = 0.06 * (number - (len(rows) - 1) / 2)
        points = [Point(name, step + aside, *values) for step, values in enumerate(found["steps"])]
        dots(axes, points, number, label=name, line=True)
    whole_steps(axes)
    legend(axes)
    save(figure, path)


def main(given: Sequence[str] | None = None) -> None:
    arguments = options(__doc__, "SOURCE", "out", futures=FUTURES).parse_args(given)
    torch.set_num_threads(1)
    with opened(arguments.source) as folder:
        made = measured(*of_runs(folder), arguments.futures)
    publish(arguments.out / "cosine.md", tables(made), made)
    for name, rows in made["networks"].items():
        draw(
            rows,
            f"{name}: how near a future comes to the true one",
            arguments.out / f"pseudo-{name}.png",
        )
    if made["students"]:
        draw(
            made["students"],
            "How near a student comes to its teacher",
            arguments.out / "student.png",
        )


if __name__ == "__main__":
    main()
