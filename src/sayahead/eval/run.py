"""Running an experiment: each utterance is synthesised and measured once a condition, and timed on every clock.

    OUT/<condition>/measured.jsonl     one trace an utterance, text letter by letter at time 0
    OUT/<condition>/<clock>.jsonl      the traces on that clock
    OUT/<condition>/wav/<name>.wav     the sound, which no clock changes

What is there already is left alone, so that a run that was stopped goes on where it was.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from sayahead.audio import FORMATS
from sayahead.errors import ConfigError
from sayahead.eval.clock import AllAtOnce
from sayahead.eval.matrix import Condition, Matrix, needs, session, text_clock
from sayahead.eval.trace import Trace, measure, read_traces, retime, write_traces
from sayahead.types import Floats


@dataclass(frozen=True, slots=True)
class Text:
    """One utterance's text."""

    name: str
    """What it is called; its sound's file has this name."""
    text: str
    """What is said."""


def read_texts(path: Path, count: int) -> list[Text]:
    """Up to ``count`` texts, evenly spaced over a file of ``name|text`` lines."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read as UTF-8 text: {error}.") from error
    texts = []
    for number, line in enumerate(lines, start=1):
        name, bar, text = line.partition("|")
        if not bar or not name.strip() or "/" in name or "\\" in name:
            raise ConfigError(f"{path}, line {number}: expected name|text, found {line[:60]!r}.")
        texts.append(Text(name.strip(), text.strip()))
    if not texts:
        raise ConfigError(f"{path} has no texts.")
    return texts[:: max(1, len(texts) // count)][:count]


def run(
    matrix: Matrix,
    texts: list[Text],
    out: Path,
    *,
    lm: str | None = None,
    jobs: int = 1,
    progress: Callable[[str], None] = lambda line: None,
) -> None:
    """All conditions of the matrix; ``progress`` gets a line an utterance. Several jobs disturb each other's times."""
    open_tasks = []
    for condition in matrix.conditions:
        needs(condition, lm)
        there = done(out / condition.name, texts)
        open_tasks += [(condition, n, text) for n, text in enumerate(texts) if text.name not in there]
    begun = time.monotonic()
    for number, condition in enumerate(work(open_tasks, out, lm, jobs), start=1):
        left_s = (time.monotonic() - begun) / number * (len(open_tasks) - number)
        progress(f"{number} of {len(open_tasks)} utterances, {condition.name}; about {left_s / 60:.0f} min left")
    for condition in matrix.conditions:
        on_clocks(matrix, texts, out / condition.name)


def on_clocks(matrix: Matrix, texts: list[Text], folder: Path) -> None:
    """Time what was measured in a folder on every clock of the matrix."""
    wanted = {text.name for text in texts}
    measured = [made for made in read_traces(folder / "measured.jsonl") if made.name in wanted]
    ordered = sorted(measured, key=lambda made: made.index)
    for clock in matrix.clocks:
        path = folder / f"{clock.name}.jsonl"
        arrivals = text_clock(clock).arrivals
        fresh = path.with_suffix(".new")
        fresh.unlink(missing_ok=True)
        write_traces(fresh, (retime(made, arrivals(made.source), clock=clock.name) for made in ordered))
        fresh.replace(path)


def done(folder: Path, texts: list[Text]) -> set[str]:
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
        if (folder / "wav" / f"{made.name}.wav").exists():
            there.add(made.name)
    return there


def work(tasks: list[tuple[Condition, int, Text]], out: Path, lm: str | None, jobs: int) -> Iterator[Condition]:
    """Carry out the tasks, in this process or in several; the condition of each as it is done."""
    if jobs == 1:
        for condition, number, text in tasks:
            keep(synthesize(condition, number, text, out, lm), out / condition.name)
            yield condition
        return
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    with ProcessPoolExecutor(jobs) as pool:
        futures = [(pool.submit(synthesize, *task, out, lm), task[0]) for task in tasks]
        for future, condition in futures:
            keep(future.result(), out / condition.name)
            yield condition


def synthesize(condition: Condition, number: int, text: Text, out: Path, lm: str | None) -> Trace:
    """Say one text, write its sound, and return its measured trace."""
    warm(condition, lm)
    about = {"name": text.name, "condition": condition.name, "clock": "measured"}
    made, samples = measure(session(condition, lm), text.text, index=number, **about)
    write_sound(made, samples, out / condition.name)
    return made


def write_sound(made: Trace, samples: Floats, folder: Path) -> None:
    """Write an utterance's sound into its condition's folder."""
    (folder / "wav").mkdir(parents=True, exist_ok=True)
    writer = FORMATS[".wav"](folder / "wav" / f"{made.name}.wav", sample_rate=made.sample_rate)
    writer.write(samples)
    writer.close()


_WARM: set[tuple[Condition, str | None]] = set()


def warm(condition: Condition, lm: str | None) -> None:
    """Have a condition's models run once in this process before any time is taken."""
    if (condition, lm) not in _WARM:
        _WARM.add((condition, lm))
        for arrival in AllAtOnce().arrivals("A word or two, to begin with."):
            speaker = session(condition, lm)
            speaker.push(arrival.text)
            speaker.finish()
            list(speaker.chunks())


def keep(made: Trace, folder: Path) -> None:
    """Add a measured trace to its condition's folder: the last step, which says that the utterance is done."""
    folder.mkdir(parents=True, exist_ok=True)
    write_traces(folder / "measured.jsonl", [made])
