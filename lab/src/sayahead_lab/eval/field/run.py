"""Running a field: each engine in its process, one after the other; an engine that is done is not
run again.

OUT/field.json                 what was run; engines that are absent, and why
OUT/<engine>/whole.jsonl       each text given whole, as the engine speaks at its best; wav in
whole/ OUT/<engine>/measured.jsonl    each text in the engine's pieces, every repeat; the first
repeat's wav in wav/ OUT/<engine>/<clock>.jsonl     on the wall clock, where times do not follow
from a measurement OUT/<engine>/wall.jsonl        some texts on the wall clock, every repeat, where
they do OUT/<engine>/about.json        the engine, the machine's load, the check on the wall clock;
written last"""

from __future__ import annotations

import hashlib
import json
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from sayahead.sound.files import write_wav
from sayahead.types import Floats, WordTiming

from sayahead_lab.eval.experiment.clock import Arrival
from sayahead_lab.eval.experiment.folder import read_about, recorded, save_json, wav_path
from sayahead_lab.eval.experiment.run import Countdown, Progress, clock_of, silent
from sayahead_lab.eval.experiment.trace import Trace, retime, write_traces
from sayahead_lab.eval.field.plan import GIVEN, Field, main_clock
from sayahead_lab.eval.measures.latency import first_heard_s
from sayahead_lab.eval.peers.catalogue import make_peer
from sayahead_lab.eval.peers.peer import PeerError, WorkerPeer
from sayahead_lab.eval.peers.timing import Locate, cancelled_s, live, measured, nowhere
from sayahead_lab.scripts import ScriptLine

Arrivals = Callable[[ScriptLine], list[Arrival]]
WALL = "wall"
"""File of the traces on the wall clock of an engine whose times follow from a measurement."""


@dataclass(frozen=True, slots=True)
class Course:
    """What every engine of a field goes through."""

    field: Field
    """The plan."""
    lines: Sequence[ScriptLine]
    """The texts."""
    clocks: dict[str, Arrivals]
    """How a text arrives on each clock; the first has all of it at once."""
    locate: Locate
    """Finds words in sound."""


def run_field(
    field: Field, out: Path, *, locate: Locate = nowhere, progress: Progress = silent
) -> dict[str, str]:
    """Run the field's engines into OUT; returns why those that are absent are absent, by name."""
    lines = field.lines()
    every = (GIVEN, *field.clocks)
    clocks = {clock.name: arrivals_of(clock_of(clock, lines, out)) for clock in every}
    course = Course(field, lines, clocks, remembered(locate))
    absent = dict[str, str]()
    names = list[str]()
    for name in field.engines:
        peer = make_peer(name)
        why = peer.missing()
        try:
            if why is None and "engine" not in read_about(out / peer.name):
                run_engine(peer, course, out / peer.name, progress)
        except PeerError as error:
            why = str(error)
        finally:
            peer.close()
        if why is None:
            names.append(peer.name)
        else:
            absent[peer.name] = why
    about = {"texts": field.digests(), "names": [line.name for line in lines], "count": len(lines)}
    plan = {
        "clocks": {clock.name: clock.kind for clock in every},
        "repeats": field.repeats,
        "computing": field.computing,
    }
    save_json(out / "field.json", {"engines": names, "absent": absent, **plan, **about})
    return absent


def remembered(locate: Locate) -> Locate:
    """The same, which looks for words once where the same sound comes again."""
    known = dict[tuple[bytes, int, str], list[WordTiming] | None]()

    def located(samples: Floats, rate: int, text: str) -> list[WordTiming] | None:
        key = (hashlib.sha256(samples.tobytes()).digest(), rate, text)
        if key not in known:
            known[key] = locate(samples, rate, text)
        return known[key]

    return located


def arrivals_of(clocks: Callable[[str], Any]) -> Arrivals:
    """How a line arrives."""
    return lambda line: list(clocks(line.name).arrivals(line.text))


def run_engine(peer: WorkerPeer, course: Course, folder: Path, progress: Progress) -> None:
    """One engine's traces and sound."""
    for path in folder.glob("*.jsonl"):
        path.unlink()
    folder.mkdir(parents=True, exist_ok=True)
    peer.start()
    processor = course.field.computing == "processor"
    simulates = bool(peer.about.get("simulates", True))
    clocks = {} if simulates else course.clocks
    takes = course.field.repeats * max(1, len(clocks)) + 1
    countdown = Countdown(takes * len(course.lines), progress)
    latest_s = 0.0
    with recorded(folder, {"name": peer.name}, 1):
        for index, line in enumerate(course.lines):
            told: dict[str, Any] = {"locate": course.locate, "index": index, "name": line.name}
            if simulates:
                whole, sound = measured(peer, line.text, whole=True, processor=processor, **told)
            else:
                whole, sound, _ = live(
                    peer, course.clocks[GIVEN.name](line), clock=GIVEN.name, **told
                )
            keep(folder, "whole", whole, sound, folder / "whole" / f"{line.name}.wav")
            countdown.done(peer.name)
            for repeat in range(course.field.repeats):
                wav = None if repeat else wav_path(folder, line.name)
                if simulates:
                    trace, sound = measured(peer, line.text, processor=processor, **told)
                    keep(folder, "measured", replace(trace, repeat=repeat), sound, wav)
                    countdown.done(peer.name)
                for clock, arrivals in clocks.items():
                    trace, sound, late_s = live(peer, arrivals(line), clock=clock, **told)
                    latest_s = max(latest_s, late_s)
                    listened = clock == main_clock(course.clocks)
                    keep(
                        folder,
                        clock,
                        replace(trace, repeat=repeat),
                        sound,
                        wav if listened else None,
                    )
                    countdown.done(peer.name)
        check = checked(peer, course, folder) if simulates else None
    cancels = [cancelled_s(peer, line.text) for line in course.lines[:5]]
    engine = {"text": peer.engine.text, "simulates": simulates, **peer.about}
    extra = {
        "cancel_s": statistics.median(cancels),
        "rss_mb": peer.rss_mb,
        "pushed_late_s": latest_s,
        "check": check,
    }
    save_json(folder / "about.json", {**read_about(folder), "engine": engine, **extra})


def keep(folder: Path, kind: str, trace: Trace, sound: Floats, path: Path | None) -> None:
    """Add a trace to its file, and write its sound where a path says so."""
    write_traces(folder / f"{kind}.jsonl", [trace])
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_wav(path, sound, trace.sample_rate)


def checked(peer: WorkerPeer, course: Course, folder: Path) -> dict[str, Any]:
    """What the wall clock says of texts whose times follow from a measurement."""
    clock = main_clock(course.clocks)
    apart = list[float]()
    same = 0
    late = list[float]()
    lines = course.lines[:: max(1, len(course.lines) // max(1, course.field.checked))][
        : course.field.checked
    ]
    for line in lines:
        arrivals = course.clocks[clock](line)
        once, sound = measured(peer, line.text)
        for repeat in range(course.field.repeats):
            heard, streamed, late_s = live(peer, arrivals, clock=clock, name=line.name)
            keep(folder, WALL, replace(heard, repeat=repeat), streamed, None)
            apart.append(first_heard_s(heard) - first_heard_s(retime(once, arrivals)))
            late.append(late_s)
        same += len(sound) == len(streamed) and bool(np.array_equal(sound, streamed))
    middle = statistics.median(apart) if apart else None
    return {
        "clock": clock,
        "texts": len(lines),
        "same_sound": same,
        "later_s": middle,
        "pushed_late_s": max(late),
    }


def field_of(out: Path) -> dict[str, Any]:
    """``field.json``."""
    data: dict[str, Any] = json.loads((out / "field.json").read_text(encoding="utf-8"))
    return data
