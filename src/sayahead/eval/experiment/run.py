"""Running an experiment: each utterance is synthesised and measured once a condition, and timed on every clock.

    OUT/<condition>/measured.jsonl     one trace an utterance, text letter by letter at time 0
    OUT/<condition>/<clock>.jsonl      the traces on that clock
    OUT/<condition>/wav/<name>.wav     the sound, which no clock changes
    OUT/<condition>/about.json         the condition, and the machine's load while it was measured

What is there already is left alone, so that a run that was stopped goes on where it was.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from sayahead.contexts.recorded import ENDING
from sayahead.errors import ConfigError
from sayahead.eval.experiment.clock import TextClock
from sayahead.eval.experiment.conditions import Clock, Condition, Matrix, needs, session, text_clock
from sayahead.eval.experiment.machine import Watch, bound
from sayahead.eval.experiment.trace import Trace, measure, read_traces, retime, wav_path, write_traces
from sayahead.eval.experiment.word_ends import read_word_ends, spoken_word_ends, word_ends_file
from sayahead.sound.files import write_wav
from sayahead.text.lists import Script


def run(
    matrix: Matrix,
    texts: list[Script],
    out: Path,
    *,
    lm: str | None = None,
    jobs: int = 1,
    progress: Callable[[str], None] = lambda line: None,
) -> None:
    """All conditions of the matrix; ``progress`` gets a line an utterance. Several jobs disturb each other's times."""
    left = list[tuple[Condition, list[tuple[int, Script]]]]()
    for condition in matrix.conditions:
        needs(condition, lm)
        if condition.cores is not None and jobs > 1:
            raise ConfigError(
                f"Condition {condition.name!r} counts cores: measure it with one process, without --jobs."
            )
        left.append((condition, open_texts(out / condition.name, texts, asdict(condition))))
    for clock in matrix.clocks:
        # What a clock lacks is better known before all is measured.
        clock_of(clock, texts, out)
    number, total, begun = 0, sum(len(tasks) for _, tasks in left), time.monotonic()
    with processes(jobs) as pool:
        for condition, tasks in left:
            if not tasks:
                continue
            with recorded(out / condition.name, asdict(condition), jobs):
                for _ in work(condition, tasks, out, lm, pool):
                    number += 1
                    left_s = (time.monotonic() - begun) / number * (total - number)
                    progress(f"{number} of {total} utterances, {condition.name}; about {left_s / 60:.0f} min left")
    for condition in matrix.conditions:
        on_clocks(matrix, texts, out / condition.name)


def on_clocks(matrix: Matrix, texts: list[Script], folder: Path) -> None:
    """Time what was measured in a condition's folder on every clock of the matrix."""
    measured = measured_traces(folder, texts)
    for clock in matrix.clocks:
        path = folder / f"{clock.name}.jsonl"
        clocks = clock_of(clock, texts, folder.parent)
        fresh = path.with_suffix(".new")
        fresh.unlink(missing_ok=True)
        timed = (retime(made, clocks(made.name).arrivals(made.source), clock=clock.name) for made in measured)
        write_traces(fresh, timed)
        fresh.replace(path)


def measured_traces(folder: Path, texts: list[Script]) -> list[Trace]:
    """What was measured of the texts in a condition's folder, by number."""
    wanted = {text.name for text in texts}
    measured = [made for made in read_traces(folder / "measured.jsonl") if made.name in wanted]
    return sorted(measured, key=lambda made: made.index)


def clock_of(clock: Clock, texts: list[Script], out: Path) -> Callable[[str], TextClock]:
    """An utterance's text clock by its name.

    Word ends come from the clock's folder, or from whole sentences by its voice, which are made once in OUT and kept.
    """
    if clock.kind != "word-ends":
        same = text_clock(clock)
        return lambda name: same
    if clock.folder is not None:
        files = Path(clock.folder)
        ends = {text.name: read_word_ends(word_ends_file(files, text.name), text.text) for text in texts}
    else:
        speaker, folder = Condition(clock.speaker, policy="wait-all", voice=clock.voice), out / clock.speaker
        if tasks := open_texts(folder, texts, asdict(speaker)):
            with recorded(folder, asdict(speaker), 1):
                list(work(speaker, tasks, out, None, None))
        ends = {made.name: spoken_word_ends(made) for made in measured_traces(folder, texts)}
    return lambda name: text_clock(clock, ends[name])


def open_texts(folder: Path, texts: list[Script], settings: dict[str, Any]) -> list[tuple[int, Script]]:
    """The texts, by number, that a condition's folder does not have; ConfigError where it was made otherwise."""
    made_with = read_about(folder).get("settings", settings)
    for key in sorted(settings.keys() & made_with.keys()):
        if settings[key] != made_with[key]:
            raise ConfigError(
                f"{folder} was measured with {key} = {made_with[key]!r}, now {settings[key]!r}: give the condition "
                "another name, or choose another folder."
            )
    there = done(folder, texts)
    return [(number, text) for number, text in enumerate(texts) if text.name not in there]


@contextlib.contextmanager
def recorded(folder: Path, settings: dict[str, Any], own_processes: int) -> Iterator[None]:
    """Write into a condition's ``about.json`` how it is made, and the machine's load meanwhile."""
    watch = Watch(own_processes)
    save_about(folder, {**read_about(folder), "settings": settings})
    try:
        yield
    finally:
        about = read_about(folder)
        save_about(folder, {**about, "load": [*about.get("load", []), asdict(watch.load())]})


def read_about(folder: Path) -> dict[str, Any]:
    """A condition's ``about.json``; empty where there is none, as in older results."""
    path = folder / "about.json"
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    except ValueError as error:
        raise ConfigError(f"{path} is not JSON ({error}): delete it, or choose another folder.") from error
    return found


def save_about(folder: Path, about: dict[str, Any]) -> None:
    """Write a condition's ``about.json``, whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    fresh = folder / "about.new"
    fresh.write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    fresh.replace(folder / "about.json")


def done(folder: Path, texts: list[Script]) -> set[str]:
    """Names of the utterances that a condition's folder has; a line that was cut short is dropped.

    ConfigError where an utterance of the same name was made from another text.
    """
    path = folder / "measured.jsonl"
    if not path.exists():
        return set()
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        path.write_text("".join(lines[:-1]), encoding="utf-8")
    wanted = {text.name: text.text for text in texts}
    there = set()
    for made in read_traces(path):
        if wanted.get(made.name, made.source) != made.source:
            raise ConfigError(
                f"{folder} holds {made.name} with another text: choose another folder, or empty this one."
            )
        if wav_path(folder, made.name).exists():
            there.add(made.name)
    return there


@contextlib.contextmanager
def processes(jobs: int) -> Iterator[ProcessPoolExecutor | None]:
    """So many processes to work in, or none where this one is enough."""
    if jobs == 1:
        yield None
        return
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    with ProcessPoolExecutor(jobs) as pool:
        yield pool


def work(
    condition: Condition, tasks: list[tuple[int, Script]], out: Path, lm: str | None, pool: ProcessPoolExecutor | None
) -> Iterator[Trace]:
    """Carry out a condition's tasks, in this process or in a pool's; the trace of each when it is kept."""
    if pool is None:
        traces = (synthesize(condition, number, text, out, lm) for number, text in tasks)
    else:
        futures = [pool.submit(synthesize, condition, number, text, out, lm) for number, text in tasks]
        traces = (future.result() for future in futures)
    for made in traces:
        keep(made, out / condition.name)
        yield made


def synthesize(condition: Condition, number: int, text: Script, out: Path, lm: str | None) -> Trace:
    """Say one text, write its sound, and return its measured trace."""
    with bound(condition.cores):
        warm(condition, lm)
    about = {"name": text.name, "condition": condition.name, "clock": "measured"}
    # Once more: torch gets its threads where the first time has loaded it.
    with bound(condition.cores):
        made, samples = measure(session(condition, text.text, lm), text.text, index=number, **about)
    write_wav(wav_path(out / condition.name, made.name), samples, made.sample_rate)
    return made


_WARM: set[tuple[Condition, str | None]] = set()


def warm(condition: Condition, lm: str | None) -> None:
    """Have a condition's models run once in this process before any time is taken."""
    if (condition, lm) not in _WARM:
        _WARM.add((condition, lm))
        text = "A word or two, to begin with."
        # A file of futures knows the experiment's texts alone.
        laid = condition.context == "lm" and str(lm).endswith(ENDING)
        speaker = session(replace(condition, context="none") if laid else condition, text, lm)
        speaker.push(text)
        speaker.finish()
        list(speaker.chunks())


def keep(made: Trace, folder: Path) -> None:
    """Add a measured trace to its condition's folder: the last step, which says that the utterance is done."""
    folder.mkdir(parents=True, exist_ok=True)
    write_traces(folder / "measured.jsonl", [made])
