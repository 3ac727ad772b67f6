"""Cards: a JSON for each engine in a field, a line each, with everything that its figures depend
on.

Times are those of all texts and repeats: p50, p95, quartiles, and the p50 of each repeat. Zero is
the first character's arrival; ``given`` has all text there then. What is heard counts: the first
sample above -50 dBFS when the sound is played as it comes, and the least safe start, the earliest
start of playback that never stalls."""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from sayahead.sound.files import read_wav
from sayahead.sound.pitch import pitch_hz

from sayahead_lab.eval.experiment.conditions import Clock, text_clock
from sayahead_lab.eval.experiment.folder import read_about, read_json, save_json
from sayahead_lab.eval.experiment.machine import processor, versions
from sayahead_lab.eval.experiment.run import Progress, silent
from sayahead_lab.eval.experiment.trace import Trace, read_traces, retime
from sayahead_lab.eval.field.plan import GIVEN, main_clock
from sayahead_lab.eval.field.run import WALL, field_of
from sayahead_lab.eval.listening.quality import Listeners, Row, Stimulus
from sayahead_lab.eval.listening.score import finite
from sayahead_lab.eval.listening.worker import listening, scorer
from sayahead_lab.eval.measures.intervals import difference, estimate, quotient
from sayahead_lab.eval.measures.latency import (
    audible_words,
    computing_s,
    first_heard_s,
    safe_start_s,
    stalls_s,
    word_lags_s,
)
from sayahead_lab.eval.measures.prosody import Differences, ListenedUtterance, from_sound, prosody
from sayahead_lab.eval.measures.statistics import quantile
from sayahead_lab.eval.peers.worker import digest

Rate: TypeAlias = "Callable[[Sequence[FieldSound]], Iterator[dict[str, Any]]]"
"""Has listeners rate files, in their order."""
BY_ARITHMETIC = {
    "wall": "computing measured once by the wall clock, text by arithmetic",
    "processor": "computing measured once as processor time, text by arithmetic",
}
KINDS = ("whole", "wav")
"""Folders of an engine's sound: whole texts, and streamed."""
SCHEMA = 1
"""Version of a card's fields."""
REFERENCE = "hibari"
"""The engine whose whole texts tell what the recognizer gets wrong by itself."""


def cards(
    out: Path,
    target: Path,
    listeners: Listeners,
    *,
    without: Sequence[str] = (),
    jobs: int = 1,
    progress: Progress = silent,
) -> int:
    """Write a card for each engine of the field in OUT, a line each, into ``target``; how many.

    Quality is left out where there is no recognizer. Several jobs listen at once. ConfigError where
    OUT is no field's folder.
    """
    field = field_of(out)
    lacks = listeners.available()
    names = listeners.identities()
    columns = {
        name: names[name]
        for name in ("wer", "distillmos", "utmos")
        if lacks[name] is None and name not in without
    }
    heard = {}
    with scorer(listeners, jobs, rated) as rate:
        for engine in field["engines"]:
            progress(f"{engine}: listening")
            heard[engine] = {
                kind: rows_of(out / engine, kind, field, columns, rate) for kind in KINDS
            }
    own = rates(heard.get(REFERENCE, {}).get("whole", ()))
    recognizer = {
        "names": columns,
        "own_wer": own,
        "own_wer_of": f"{REFERENCE}, whole texts" if own else None,
    }
    lines = []
    for engine in sorted(field["engines"]):
        progress(f"{engine}: card")
        quality = {
            **quality_of(heard[engine]),
            **prosody_gap(out / engine, main_clock(field["clocks"])),
        }
        one = finite(card(out, field, engine, quality, recognizer))
        lines.append(json.dumps(one) + "\n")
    progress("")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text("".join(lines), encoding="utf-8")
    return len(lines)


def card(
    out: Path,
    field: dict[str, Any],
    engine: str,
    quality: dict[str, Any],
    recognizer: dict[str, Any],
) -> dict[str, Any]:
    """One card."""
    folder = out / engine
    about = read_about(folder)
    given = traces_on(folder, GIVEN)
    figures = {
        "given_first_s": spread(given, first_heard_s),
        "given_safe_start_s": spread(given, safe_start_s),
        "rtf": math.fsum(map(computing_s, given)) / math.fsum(trace.duration_s for trace in given),
        "cancel_s": about["cancel_s"],
        "rss_mb": about["rss_mb"],
        **quality,
    }
    paced = {
        name: Clock(name, kind) for name, kind in field["clocks"].items() if name != GIVEN.name
    }
    clocks = {
        name: {"kind": clock.kind, **on_clock(given, traces_on(folder, clock))}
        for name, clock in paced.items()
    }
    return {
        "schema": SCHEMA,
        "engine": engine,
        "about": about["engine"],
        "texts": {"sets": field["texts"], "count": field["count"], "repeats": field["repeats"]},
        "traces": {path.name: digest(path) for path in sorted(folder.glob("*.jsonl"))},
        "timed": BY_ARITHMETIC[field["computing"]]
        if about["engine"]["simulates"]
        else "on the wall clock",
        "check": about["check"] or {"pushed_late_s": about["pushed_late_s"]},
        "wall": on_the_wall(folder, field, about["check"]),
        "machine": {"cpu": processor(), "system": platform.system(), "load": about["load"]},
        "versions": versions(),
        "recognizer": recognizer,
        "figures": figures,
        "clocks": clocks,
    }


def on_clock(given: Sequence[Trace], paced: Sequence[Trace]) -> dict[str, Any]:
    """The figures of one clock; the text wait is paired by text and repeat."""
    at_once = {(trace.name, trace.repeat): first_heard_s(trace) for trace in given}
    lags = [float(lag) for trace in paced for lag in word_lags_s(trace)]
    stalls = [float(stalls_s(trace).sum()) for trace in paced]
    return {
        "first_s": spread(paced, first_heard_s),
        "text_wait_s": spread(
            paced, lambda trace: first_heard_s(trace) - at_once[trace.name, trace.repeat]
        ),
        "safe_start_s": spread(paced, safe_start_s),
        "word_lag_s": {
            "mean": float(np.mean(lags)) if lags else None,
            "p95": quantile(lags, 0.95) if lags else None,
        },
        "stalled": sum(one > 0 for one in stalls) / len(stalls),
        "stall_s": float(np.mean(stalls)),
    }


def on_the_wall(
    folder: Path, field: dict[str, Any], check: dict[str, Any] | None
) -> dict[str, Any] | None:
    """What a listener really waited for some texts, and for the same ones by arithmetic; None where
    all times are the wall clock's."""
    if check is None:
        return None
    heard = list(read_traces(folder / f"{WALL}.jsonl"))
    names = {trace.name for trace in heard}
    arithmetic = traces_on(folder, Clock(check["clock"], field["clocks"][check["clock"]]))
    return {
        "clock": check["clock"],
        "first_s": spread(heard, first_heard_s),
        "safe_start_s": spread(heard, safe_start_s),
        "stalled": sum(float(stalls_s(trace).sum()) > 0 for trace in heard) / len(heard),
        "by_arithmetic_first_s": spread(
            [one for one in arithmetic if one.name in names], first_heard_s
        ),
    }


def traces_on(folder: Path, clock: Clock) -> list[Trace]:
    """An engine's traces on a clock."""
    if (folder / f"{clock.name}.jsonl").is_file():
        return list(read_traces(folder / f"{clock.name}.jsonl"))
    arrivals = text_clock(clock).arrivals
    measured = read_traces(folder / "measured.jsonl")
    return [retime(trace, arrivals(trace.source), clock=clock.name) for trace in measured]


def spread(traces: Sequence[Trace], measure: Callable[[Trace], float]) -> dict[str, Any]:
    """A measure over all texts and repeats."""
    values = {repeat: list[float]() for repeat in sorted({trace.repeat for trace in traces})}
    for trace in traces:
        values[trace.repeat].append(measure(trace))
    every = [value for own in values.values() for value in own if math.isfinite(value)]
    middles = [quantile(own, 0.5) for own in values.values()]
    shares = (
        {f"p{share}": quantile(every, share / 100) for share in (25, 50, 75, 95)} if every else {}
    )
    return {**shares, "n": len(every), "p50_of_repeats": middles}


@dataclass(frozen=True, slots=True)
class FieldSound:
    """A file to listen to."""

    file: Path
    """The WAV file."""
    name: str
    """The text's name."""
    text: str
    """What it says."""
    columns: tuple[str, ...]
    """What to tell of it."""


def rated(sound: FieldSound) -> dict[str, Any]:
    """What this process's listeners say of a file, as a row's fields."""
    samples, rate = read_wav(sound.file)
    return asdict(
        listening().score([Stimulus(sound.name, sound.text, samples, rate)], sound.columns)[0]
    )


def rows_of(
    folder: Path, kind: str, field: dict[str, Any], columns: dict[str, str], rate: Rate
) -> list[Row]:
    """What listeners, by the columns that they fill, say of the sound; kept in ``heard.json`` by
    its digest."""
    if not columns:
        return []
    texts = {trace.name: trace.source for trace in read_traces(folder / "whole.jsonl")}
    path = folder / "heard.json"
    by = "+".join(columns.values())
    known: dict[str, Any] = read_json(path) if path.is_file() else {}
    files = {name: folder / kind / f"{name}.wav" for name in field["names"]}
    keys = {name: f"{digest(file)} {by}" for name, file in files.items()}
    fresh = [name for name, key in keys.items() if key not in known]
    for name, row in zip(
        fresh,
        rate([FieldSound(files[name], name, texts[name], tuple(columns)) for name in fresh]),
        strict=True,
    ):
        known[keys[name]] = finite(row)
        save_json(path, known)
    return [Row(**known[keys[name]]) for name in field["names"]]


def parts(rows: Iterable[Row]) -> Any:
    """(N, 2) errors and words."""
    counts = [as_errors(row) for row in rows]
    return np.array(counts, np.float64).reshape(-1, 2)


def as_errors(row: Row) -> tuple[int, int]:
    """Word errors of a row, and its words."""
    errors: Any = row.errors
    told = errors if isinstance(errors, dict) else asdict(errors)
    return told["substitutions"] + told["deletions"] + told["insertions"], told["words"]


def rates(rows: Sequence[Row]) -> dict[str, float] | None:
    """Word error rate with its interval; None without transcripts."""
    if not rows or rows[0].errors is None:
        return None
    found = estimate(parts(rows), quotient)
    return {"value": found.value, "low": found.low, "high": found.high}


def quality_of(heard: dict[str, list[Row]]) -> dict[str, Any]:
    """Word errors streamed and whole, and their difference, paired by text; opinion scores
    likewise."""
    streamed = heard["wav"]
    whole = heard["whole"]
    figures: dict[str, Any] = {"wer": rates(streamed), "whole_wer": rates(whole)}
    if figures["wer"]:
        apart = difference(parts(streamed), parts(whole), quotient)
        figures["gap_wer"] = {"value": apart.value, "low": apart.low, "high": apart.high}
    for rater in ("distillmos", "utmos"):
        values = [
            [(getattr(row, rater) or math.nan, 1.0) for row in rows] for rows in (streamed, whole)
        ]
        if values[0] and not math.isnan(values[0][0][0]):
            one, other = (np.array(rows, np.float64) for rows in values)
            found = estimate(one, quotient)
            apart = difference(one, other, quotient)
            figures[rater] = {"value": found.value, "low": found.low, "high": found.high}
            figures[f"gap_{rater}"] = {"value": apart.value, "low": apart.low, "high": apart.high}
    return figures


def prosody_gap(folder: Path, clock: str) -> dict[str, Any]:
    """How far words' lengths and pitch are from those of the engine's own whole text; and in how
    many texts words were found. The clock is that of the sound, where there is no measurement for
    all of them."""
    whole = {trace.name: trace for trace in read_traces(folder / "whole.jsonl")}
    found = list[Differences]()
    measured = folder / "measured.jsonl"
    for trace in read_traces(measured if measured.is_file() else folder / f"{clock}.jsonl"):
        if trace.repeat or [w.text for w in audible_words(trace)] != [
            w.text for w in audible_words(whole[trace.name])
        ]:
            continue
        sounds = [read_wav(folder / kind / f"{trace.name}.wav") for kind in ("wav", "whole")]
        words = [
            tuple((w.onset_samples, w.offset_samples) for w in audible_words(one))
            for one in (trace, whole[trace.name])
        ]
        streamed, full = (
            ListenedUtterance(pitch_hz(samples, rate), own, rate)
            for (samples, rate), own in zip(sounds, words, strict=True)
        )
        found.append(from_sound(streamed, full))
    all_of = prosody(found)
    return {
        "gap_word_ms": all_of.duration_ms.mean_absolute,
        "gap_pitch_cents": all_of.pitch_cents.mean_absolute,
        "gap_texts": len(found),
    }
