"""Running an experiment: each utterance is synthesised and measured once per condition, and timed
on every clock.

Utterances already in the experiment's folder (see ``folder``) are kept: an interrupted run
continues where it stopped."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeAlias

from sayahead.errors import ConfigError
from sayahead.sound.files import write_wav
from sayahead.types import Floats

from sayahead_lab.eval.experiment.clock import Arrival, TextClock
from sayahead_lab.eval.experiment.conditions import (
    Clock,
    Condition,
    Matrix,
    needs,
    session,
    text_clock,
)
from sayahead_lab.eval.experiment.folder import (
    Tasks,
    keep,
    measured_traces,
    recorded,
    unmeasured,
    wav_path,
)
from sayahead_lab.eval.experiment.machine import bound
from sayahead_lab.eval.experiment.recorded_futures import ENDING
from sayahead_lab.eval.experiment.trace import Trace, measure, retime, timed_trace, write_traces
from sayahead_lab.eval.experiment.word_ends import read_word_ends, spoken_word_ends, word_ends_file
from sayahead_lab.scripts import ScriptLine
from sayahead_lab.workers import Local, Spread, Work, Workers

Progress: TypeAlias = Callable[[str], None]
"""Receives one line per utterance."""
Arrivals: TypeAlias = Sequence[Arrival] | None
"""How an utterance's text arrives; None: letter by letter, all of it at once."""


def silent(line: str) -> None:
    """Ignores progress."""


def run(
    matrix: Matrix,
    texts: Sequence[ScriptLine],
    out: Path,
    *,
    lm: str | None = None,
    workers: Workers | None = None,
    progress: Progress = silent,
) -> None:
    """Measure all conditions of the matrix in ``out``, and time them on its clocks.

    ``lm`` is the language model of conditions that need one; several ``workers`` disturb each
    other's times (None: this process). ConfigError for what cannot be measured, before any
    measurement."""
    workers = workers or Local()
    todo = list[tuple[Condition, Tasks]]()
    for condition in matrix.conditions:
        needs(condition, lm)
        if condition.cores is not None and workers.count > 1:
            raise ConfigError(
                f"Condition {condition.name!r} counts cores: measure it with one process, without"
                " --jobs and --on."
            )
        todo.append((condition, unmeasured(out / condition.name, texts, asdict(condition))))
    for clock in matrix.clocks:
        # Check the clocks before hours of measuring.
        clock_of(clock, texts, out)
    countdown = Countdown(sum(len(tasks) for _, tasks in todo), progress)
    if workers.count > 1:
        os.environ.setdefault("OMP_NUM_THREADS", "1")
    own_processes = workers.count if workers.place == "here" else None
    with workers.open(partial(synthesizer, lm)) as spread:
        for condition, tasks in todo:
            if tasks:
                with recorded(out / condition.name, asdict(condition), own_processes):
                    arrivals = own_clock(condition, matrix, texts, out)
                    for _ in work(condition, tasks, out, spread, arrivals):
                        countdown.done(condition.name)
    for condition in matrix.conditions:
        on_clocks(matrix, texts, out / condition.name, condition.clock)


class Countdown:
    """Reports after each utterance how many are done and the time left."""

    def __init__(self, total: int, progress: Progress) -> None:
        self._total = total
        self._progress = progress
        self._number = 0
        self._begun = time.monotonic()

    def done(self, who: str) -> None:
        """Count one more, spoken by ``who``."""
        self._number += 1
        left_s = (time.monotonic() - self._begun) / self._number * (self._total - self._number)
        self._progress(
            f"{self._number} of {self._total} utterances, {who}; about {left_s / 60:.0f} min left"
        )


def on_clocks(
    matrix: Matrix, texts: Sequence[ScriptLine], folder: Path, own: str | None = None
) -> None:
    """Time a condition's measured traces on every clock of the matrix.

    Speech on a clock of its ``own`` is timed there already, and on no other.
    """
    measured = measured_traces(folder, texts)
    for clock in matrix.clocks:
        path = folder / f"{clock.name}.jsonl"
        clocks = clock_of(clock, texts, folder.parent)
        fresh = path.with_suffix(".new")
        fresh.write_text("", encoding="utf-8")
        if own is None:
            timed = (
                retime(trace, clocks(trace.name).arrivals(trace.source), clock=clock.name)
                for trace in measured
            )
            write_traces(fresh, timed)
        elif own == clock.name:
            write_traces(fresh, measured)
        fresh.replace(path)


def own_clock(
    condition: Condition, matrix: Matrix, texts: Sequence[ScriptLine], out: Path
) -> Callable[[str], Arrivals]:
    """How each utterance's text arrives during synthesis: letter by letter at time 0, or on the
    condition's clock."""
    if condition.clock is None:
        return lambda name: None
    clock = next(clock for clock in matrix.clocks if clock.name == condition.clock)
    sources = {text.name: text.text for text in texts}
    clocks = clock_of(clock, texts, out)
    return lambda name: clocks(name).arrivals(sources[name])


def clock_of(clock: Clock, texts: Sequence[ScriptLine], out: Path) -> Callable[[str], TextClock]:
    """An utterance's text clock by its name.

    Word ends come from the clock's folder, or from whole sentences by its voice, synthesised once
    into OUT."""
    if clock.kind != "word-ends":
        same = text_clock(clock)
        return lambda name: same
    if clock.folder is not None:
        files = Path(clock.folder)
        ends = {
            text.name: read_word_ends(word_ends_file(files, text.name), text.text) for text in texts
        }
    else:
        speaker = Condition(clock.speaker, policy="wait-all", voice=clock.voice)
        folder = out / clock.speaker
        if tasks := unmeasured(folder, texts, asdict(speaker)):
            with (
                recorded(folder, asdict(speaker), 1),
                Local().open(partial(synthesizer, None)) as spread,
            ):
                list(work(speaker, tasks, out, spread))
        ends = {trace.name: spoken_word_ends(trace) for trace in measured_traces(folder, texts)}
    return lambda name: text_clock(clock, ends[name])


@dataclass(frozen=True, slots=True)
class SpeakingTask:
    """A text for a condition to speak."""

    condition: Condition
    """Who speaks."""
    number: int
    """The text's number in the experiment."""
    text: ScriptLine
    """What is spoken."""
    arrivals: Arrivals
    """How it arrives; None: letter by letter at once."""

    @property
    def name(self) -> str:
        """Its name in errors."""
        return f"Condition {self.condition.name!r}, text {self.text.name!r}"


def work(
    condition: Condition,
    tasks: Tasks,
    out: Path,
    spread: Spread,
    clock: Callable[[str], Arrivals] = lambda name: None,
) -> Iterator[Trace]:
    """Run a condition's tasks; yields each trace once it is saved."""
    todo = [SpeakingTask(condition, number, text, clock(text.name)) for number, text in tasks]
    for task, (trace, samples) in spread(todo, lambda task: task.name):
        write_wav(wav_path(out / condition.name, task.text.name), samples, trace.sample_rate)
        keep(trace, out / condition.name)
        yield trace


def synthesizer(lm: str | None) -> Work:
    """Speaks texts for conditions with that language model."""
    return partial(synthesize, lm)


def synthesize(lm: str | None, task: SpeakingTask) -> tuple[Trace, Floats]:
    """Speak one text; its measured trace, and its sound (S,)."""
    condition = task.condition
    text = task.text
    with bound(condition.cores):
        warm(condition, lm)
    about = {"name": text.name, "condition": condition.name, "clock": condition.clock or "measured"}
    about["computing"] = condition.computing
    # Once more: the first pass may have loaded torch, which gets its threads only now.
    with bound(condition.cores):
        speaker = session(condition, text.text, lm)
        if task.arrivals is None:
            return measure(speaker, text.text, index=task.number, **about)
        return timed_trace(speaker, task.arrivals, index=task.number, **about)


_WARM: set[tuple[Condition, str | None]] = set()


def warm(condition: Condition, lm: str | None) -> None:
    """Run a condition's models once in this process before any timing."""
    if (condition, lm) not in _WARM:
        _WARM.add((condition, lm))
        text = "A word or two, to begin with."
        # A file of futures has the experiment's texts only.
        recorded_futures = condition.context_name == "lm" and str(lm).endswith(ENDING)
        speaker = session(
            replace(condition, context="none") if recorded_futures else condition, text, lm
        )
        speaker.push(text)
        speaker.finish()
        list(speaker.chunks())
