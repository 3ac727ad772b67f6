"""Scoring an experiment: latency from its traces, quality from its sound; needs its folder alone,
and can be repeated.

OUT/<condition>/scores.jsonl    each listener's or measurement's scores of an utterance, reused by
the next run OUT/<condition>/quality.json    figures, differences to the first condition, and a row
per utterance"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from sayahead.errors import ConfigError

from sayahead_lab.eval.experiment.conditions import Condition, recorded_condition
from sayahead_lab.eval.experiment.folder import read_experiment, read_json, save_json, wav_path
from sayahead_lab.eval.experiment.run import Progress, silent
from sayahead_lab.eval.experiment.trace import Trace, read_traces
from sayahead_lab.eval.listening.metrics import find_metric, identity_of, title_of
from sayahead_lab.eval.listening.quality import METRIC, Listeners, Row, compare, summarize
from sayahead_lab.eval.listening.worker import GROUPS, Result, ScoringTask, listen, scorer, sound_of
from sayahead_lab.eval.measures.latency import summarize as summarize_latency
from sayahead_lab.eval.measures.streaming_effects import same_words
from sayahead_lab.eval.measures.word_errors import Errors
from sayahead_lab.scripts import strided

ONE_SHOT = 10
"""Utterances per condition that are synthesised again, with the text at once."""
MEASURED = ("seams", "prosody", "one-shot")
VERSION = "1"
"""Version of the measurements: raise it when their results change."""


@dataclass(frozen=True, slots=True)
class SpokenCondition:
    """A condition's utterances."""

    folder: Path
    """Folder that holds them."""
    traces: Mapping[str, Trace]
    """Their traces by name, in order, without the fragments of their text."""
    condition: Condition | None
    """Their condition; none for a peer."""
    about: str
    """The same as text: scores of a condition that has changed since are not reused."""


def score(
    out: Path,
    listeners: Listeners,
    *,
    lm: str | None = None,
    jobs: int = 1,
    without: Collection[str] = (),
    metrics: Collection[str] = (),
    reference: str | None = None,
    progress: Progress = silent,
) -> list[str]:
    """Write ``latency/<clock>.json`` and ``quality.json`` for every condition; returns notes for
    the user.

    Quality is compared with the first condition, sentence by sentence; seams and prosody with the
    voice's own full sentence: the first condition of the same voice and pace that waits for all
    text. Scores by the same listeners are reused. A missing listener is named in the notes, and has
    no column. ``lm`` is the language model that the conditions were run with, which one-shot
    equality needs. Several jobs listen at once. Columns named in ``without`` (such as dnsmos) are
    left out. ``metrics`` are further ones, see ``METRICS``, and ``reference`` what they compare
    with: a condition's name, or a folder of WAV files named like the sentences."""
    for name in metrics:
        find_metric(name)
    about = read_experiment(out)
    available = listeners.available() | {column: f"{column}, as asked." for column in without}
    notes = {f"Left out: {lack}": None for lack in available.values() if lack is not None}
    made_by = {
        column: name for column, name in listeners.identities().items() if available[column] is None
    }
    all_spoken = {}
    for name in about["conditions"]:
        progress(f"{name}: latency")
        for clock in about["clocks"]:
            traces = read_traces(out / name / f"{clock}.jsonl")
            save_json(out / name / "latency" / f"{clock}.json", finite(summarize_latency(traces)))
        all_spoken[name] = read_spoken(out / name, about)
    base: list[Row] | None = None
    with scorer(listeners, jobs, listen) as scored:
        for name, utterances in all_spoken.items():
            further = {METRIC + metric: identity_of(metric) for metric in metrics}
            beside = references(out, reference, utterances) if metrics else {}
            full = own_full_sentences(all_spoken, name)
            tasks, fields = plan(
                utterances, full, made_by, lm, notes, further=further, references=beside
            )
            for number, result in enumerate(scored(tasks), start=1):
                progress(f"{name}: listened to {number} of {len(tasks)}")
                keep(utterances.folder / "scores.jsonl", result)
                fields[result.name] |= result.fields
            rows = [row_of(trace, fields[trace.name]) for trace in utterances.traces.values()]
            base = base or rows
            write_quality(utterances.folder, rows, base, made_by)
    progress("")
    return list(notes)


def read_spoken(folder: Path, about: Mapping[str, Any]) -> SpokenCondition:
    """A condition's utterances that the experiment timed on its clocks."""
    settings = about.get("settings", {}).get(folder.name)
    clock = (settings or {}).get("clock") or about["clocks"][0]
    traces = sorted(read_traces(folder / f"{clock}.jsonl"), key=lambda trace: trace.index)
    return SpokenCondition(
        folder,
        {trace.name: replace(trace, fragments=()) for trace in traces},
        (
            None
            if settings is None
            else recorded_condition(settings, str(folder.parent / "experiment.json"))
        ),
        json.dumps(settings, sort_keys=True),
    )


def own_full_sentences(
    all_spoken: Mapping[str, SpokenCondition], name: str
) -> SpokenCondition | None:
    """The first condition that gives the same voice whole sentences; none for a peer and for that
    condition itself."""
    condition = all_spoken[name].condition
    for utterances in all_spoken.values():
        other = utterances.condition
        if condition is None or other is None or other.policy_name != "wait-all":
            continue
        if (other.voice, other.speed) == (condition.voice, condition.speed):
            return None if utterances is all_spoken[name] else utterances
    return None


def spoken_in_full(
    utterances: SpokenCondition, full: SpokenCondition | None, notes: dict[str, None]
) -> dict[str, Trace]:
    """The full sentence of each utterance, where it has the same words."""
    traces = dict[str, Trace]()
    for name, trace in utterances.traces.items():
        whole = full.traces.get(name) if full else None
        if whole is not None and same_words(trace, whole):
            traces[name] = whole
        elif whole is not None:
            notes[
                f"Left out: prosody of {name}, {utterances.folder.name}: its full sentence has"
                " other words."
            ] = None
    return traces


def joined(tables: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """One table of all."""
    return {key: value for table in tables for key, value in table.items()}


def listened_groups(listeners: Mapping[str, str]) -> dict[str, str]:
    """The groups of scores that these listeners give, and who gives them."""
    return {
        group: f"{group}: {listeners[columns[0]]}"
        for group, columns in GROUPS.items()
        if columns[0] in listeners
    }


def plan(
    utterances: SpokenCondition,
    full: SpokenCondition | None,
    listeners: Mapping[str, str],
    lm: str | None,
    notes: dict[str, None],
    *,
    further: Mapping[str, str],
    references: Mapping[str, Path],
) -> tuple[list[ScoringTask], dict[str, dict[str, Any]]]:
    """What is still to score in a condition, and by utterance the fields of its row that are known
    already."""
    scores = read_scores(utterances.folder / "scores.jsonl")
    again = resynthesized(utterances, lm, notes)
    heard = listened_groups(listeners)
    full_traces = spoken_in_full(utterances, full, notes)
    tasks = []
    fields = dict[str, dict[str, Any]]()
    for name, trace in utterances.traces.items():
        full_trace = full_traces.get(name)
        full_folder = full.folder if full and full_trace else None
        sound = sound_of(utterances.folder, name)
        other = sound_of(full_folder, name) if full_folder else ""
        keys = {**heard, "seams": f"seams {VERSION}, {other}"}
        if full_trace is not None:
            keys["prosody"] = f"prosody {VERSION}, {other}"
        if name in again:
            keys["one-shot"] = f"one-shot {VERSION}, {utterances.about}"
        beside = f", {zlib.crc32(references[name].read_bytes()):08x}" if name in references else ""
        keys |= {group: f"{made_by}{beside}" for group, made_by in further.items()}
        known = {group: scores.get((name, sound, key)) for group, key in keys.items()}
        unscored = {group: key for group, key in keys.items() if known[group] is None}
        fields[name] = joined(score for score in known.values() if score)
        if unscored:
            tasks.append(
                ScoringTask(
                    utterances.folder,
                    trace,
                    sound,
                    unscored,
                    full_folder,
                    full_trace,
                    utterances.condition,
                    lm,
                    references.get(name),
                )
            )
    return tasks, fields


def references(out: Path, reference: str | None, utterances: SpokenCondition) -> dict[str, Path]:
    """The WAV file of each sentence that metrics compare with; ConfigError where one is missing."""
    if reference is None:
        return {}
    own = reference in read_experiment(out)["conditions"]
    files = {
        name: wav_path(out / reference, name) if own else Path(reference, f"{name}.wav")
        for name in utterances.traces
    }
    if missing := [path for path in files.values() if not path.is_file()]:
        raise ConfigError(
            f"--reference {reference} has no {missing[0]} ({len(missing)} are missing in all)."
        )
    return files


def resynthesized(utterances: SpokenCondition, lm: str | None, notes: dict[str, None]) -> set[str]:
    """The utterances that are synthesised again: evenly spaced; none where that is not possible,
    which is noted."""
    condition = utterances.condition
    names = list(utterances.traces)
    if condition is None or condition.clock is not None:
        return set()
    if condition.context_name == "lm" and lm is None:
        notes[
            "Left out: one-shot equality of conditions with a language model: give it (as for the"
            " run)."
        ] = None
        return set()
    return set(strided(names, ONE_SHOT))


def read_scores(path: Path) -> dict[tuple[str, str, str], dict[str, Any]]:
    """Earlier scores by utterance, its sound and their source; truncated lines are left out."""
    scores = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else []:
        try:
            data = json.loads(line)
            scores[data["name"], data["sound"], data["by"]] = data["found"]
        except (ValueError, KeyError, TypeError):
            continue
    return scores


def keep(path: Path, result: Result) -> None:
    """Append an utterance's scores: one line per listener or measurement."""
    with path.open("a", encoding="utf-8") as file:
        for by, fields in result.by.items():
            line = {"name": result.name, "sound": result.sound, "by": by, "found": finite(fields)}
            file.write(json.dumps(line, ensure_ascii=False) + "\n")


def row_of(trace: Trace, fields: Mapping[str, Any]) -> Row:
    """An utterance's row from its scores."""
    errors = fields.get("errors")
    metrics = {
        title_of(key.removeprefix(METRIC)): value
        for key, value in fields.items()
        if key.startswith(METRIC)
    }
    rest = {
        key: value
        for key, value in fields.items()
        if key != "errors" and not key.startswith(METRIC)
    }
    if metrics:
        rest["metrics"] = metrics
    about = {"name": trace.name, "duration_s": trace.duration_s, "reference": trace.source}
    return Row(**{**about, **rest}, errors=None if errors is None else Errors(**errors))


def read_rows(folder: Path) -> tuple[list[Row], dict[str, str]]:
    """The rows of a scored condition, and the listener of each column; ConfigError where it is not
    scored."""
    path = folder / "quality.json"
    if not path.is_file():
        raise ConfigError(f"{path} is missing: run sayahead eval score.")
    data = read_json(path)
    rows = []
    for row in data["rows"]:
        errors = row.pop("errors")
        rows.append(Row(**row, errors=None if errors is None else Errors(**errors)))
    return rows, dict(data["listeners"])


def write_quality(
    folder: Path, rows: Sequence[Row], base: Sequence[Row], made_by: Mapping[str, str]
) -> None:
    """Write a condition's quality.json."""
    quality = {
        "columns": list(made_by),
        "listeners": dict(made_by),
        "summary": {name: asdict(value) for name, value in summarize(rows).items()},
        "against": {name: asdict(value) for name, value in compare(rows, base).items()},
        "rows": [asdict(row) for row in rows],
    }
    save_json(folder / "quality.json", finite(quality))


def finite(data: Any) -> Any:
    """The data with nan and infinity as None."""
    if isinstance(data, dict):
        return {key: finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [finite(value) for value in data]
    if isinstance(data, float) and not math.isfinite(data):
        return None
    return data
