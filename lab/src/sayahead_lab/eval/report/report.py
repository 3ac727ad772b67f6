"""The report of an experiment: tables in Markdown and CSV, figures as PNG, and all of it in one
HTML file.

It needs the results of running and scoring in the experiment's folder, and the listening page's
saved ratings: OUT/ratings/*.json and files of your choice. The report names what is missing, and
how to get it.

    TARGET/tables.md      all tables          TARGET/tables.csv      each cell, numbers in full
    TARGET/report.html    tables and figures  TARGET/<figure>.png    each figure
    TARGET/scores.jsonl.gz  the scores of each sentence, to be tested anew
"""

from __future__ import annotations

import base64
import functools
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any

from sayahead_lab.eval.experiment.folder import read_experiment, read_json
from sayahead_lab.eval.experiment.machine import BUSY_CORES
from sayahead_lab.eval.experiment.trace import Trace, read_traces
from sayahead_lab.eval.listening.quality import METRIC, Listeners
from sayahead_lab.eval.listening.ratings import listening_statistics
from sayahead_lab.eval.measures.latency import first_audible_s, text_wait_s
from sayahead_lab.eval.measures.statistics import quantile
from sayahead_lab.eval.report.drawing import save
from sayahead_lab.eval.report.figures import MEASURED, Experiment, Picture, lookahead, pictures
from sayahead_lab.eval.report.scores import SCORES, write_lines
from sayahead_lab.eval.report.tables import (
    AGAINST,
    LATENCY,
    LATENCY_NOTES,
    POSITIONS,
    POSITIONS_NOTE,
    Column,
    ConditionTable,
    Summary,
    as_csv,
    as_html,
    as_markdown,
    filled,
    further_tables,
)

QUALITY = (
    Column("WER, %", "wer", factor=100, interval=True),
    Column("CER, %", "cer", factor=100, interval=True),
    Column("DistillMOS", "distillmos", interval=True),
    Column("DNSMOS", "dnsmos", interval=True),
)
DRAWN = tuple(column for column in QUALITY if column.key != "cer")
"""Metrics with figures; the character error rate's would repeat the word error rate's."""
TEXTS = ("reference", "hypothesis")
"""What is written of a sentence beside its scores."""
ENOUGH = 100
"""Sentences that a claim needs."""
GIVEN = (
    Column("with all text there p50, ms", "given_first_audible_s", "p50", 1000, 0),
    Column("text wait mean, ms", "text_wait_s", "mean", 1000, 0),
)
WORST = Column("the least of all, s", "time_balance_least_s", "min")
NOTES = (
    (
        "First audible sample with all text there: FPL-A; on a language model's clock the first"
        " audible sample is FPL-L, and the text wait their difference, utterance by utterance."
    ),
)
DIFFERENCES = tuple(
    Column(
        f"{column.title}: difference",
        AGAINST + column.key,
        factor=column.factor,
        interval=True,
        signed=True,
    )
    for column in QUALITY
)


def report(
    out: Path,
    target: Path,
    *,
    page: bool = True,
    ratings: Sequence[Path] = (),
    formats: Collection[str] = (),
) -> None:
    """Write the report of the experiment in ``out`` into the folder ``target``; ConfigError where
    there is none.

    Without ``page``, tables and figures only. ``ratings`` are files beyond those in the
    experiment's folder. Figures are PNG, and besides in the ``formats`` of FORMATS, for a paper's
    column."""
    experiment = scored_experiment(out)
    notes = [*missing(experiment, out), *cautions(experiment)]
    ratings = [*sorted((out / "ratings").glob("*.json")), *ratings]
    tables = [*quality_tables(experiment), *listening_tables(ratings), *latency_tables(experiment)]
    target.mkdir(parents=True, exist_ok=True)
    drawings = list[tuple[Picture, bytes]]()
    for picture in pictures(experiment, DRAWN):
        path = target / f"{picture.stem}.png"
        for ending in ("png", *formats):
            save(picture.figure, path.with_suffix(f".{ending}"))
        drawings.append((picture, path.read_bytes()))
    (target / "tables.csv").write_text(as_csv(tables), encoding="utf-8")
    (target / "tables.md").write_text(markdown(experiment, notes, tables), encoding="utf-8")
    if experiment.quality:
        write_lines(target / SCORES, sentence_scores(out, experiment))
    if page:
        (target / "report.html").write_text(
            as_page(experiment, notes, tables, drawings), encoding="utf-8"
        )


def sentence_scores(out: Path, experiment: Experiment) -> Iterator[dict[str, Any]]:
    """A line for each scored sentence of each condition: its name and what listeners and
    measurements say."""
    for condition in experiment.quality:
        for row in read_json(out / condition / "quality.json")["rows"]:
            scores = {
                key: value for key, value in row.items() if value is not None and key not in TEXTS
            }
            yield {"condition": condition, **scores}


def scored_experiment(out: Path) -> Experiment:
    """The results of running and scoring in a folder."""
    about = read_experiment(out)
    conditions = tuple(about["conditions"])
    clocks = tuple(about["clocks"])
    latency: dict[str, dict[str, Any]] = {clock: {} for clock in clocks}
    quality: dict[str, dict[str, Summary]] = {}
    for condition in conditions:
        for clock in clocks:
            scored = out / condition / "latency" / f"{clock}.json"
            if scored.is_file():
                latency[clock][condition] = read_json(scored)
        scored = out / condition / "quality.json"
        if scored.is_file():
            # The first condition's difference to itself means nothing.
            prefix = AGAINST if condition == conditions[0] else None
            summaries = as_summaries(read_json(scored))
            quality[condition] = {
                key: value
                for key, value in summaries.items()
                if prefix is None or not key.startswith(prefix)
            }

    @functools.cache
    def traces(condition: str, clock: str) -> list[Trace]:
        file = out / condition / f"{clock}.jsonl"
        return list(read_traces(file)) if file.is_file() else []

    return Experiment(about, conditions, clocks, latency, quality, traces)


def as_summaries(quality: Mapping[str, Any]) -> dict[str, Summary]:
    """A condition's quality metrics by name, and beside them its differences to the first
    condition."""
    both = [("", quality.get("summary") or {}), (AGAINST, quality.get("against") or {})]
    summaries: dict[str, Summary] = {}
    for prefix, metrics in both:
        for name, value in metrics.items():
            if isinstance(value, dict) and "value" in value:
                summaries[prefix + name] = {**value, "mean": value["value"]}
            elif isinstance(value, dict):
                summaries[prefix + name] = value
            elif isinstance(value, int | float):
                summaries[prefix + name] = {"mean": value}
    return summaries


def missing(experiment: Experiment, out: Path) -> Iterator[str]:
    """What the report lacks, and how to get it."""
    again = f"run sayahead eval score {out.name}"
    yield from missing_latency(experiment, again)
    unscored = [name for name in experiment.conditions if name not in experiment.quality]
    if unscored:
        yield f"Quality of {', '.join(unscored)} is missing: {again}."
    reasons = Listeners().available()
    for column in QUALITY:
        scored = [name for name in experiment.conditions if name not in unscored]
        without = [name for name in scored if not column.value(experiment.quality[name])]
        if without or not scored:
            some = 0 < len(without) < len(experiment.quality)
            of = f" of {', '.join(without)}" if some else ""
            how = reasons.get(column.key) or f"what it needs is here now, so {again}"
            yield f"{column.title.removesuffix(', %')}{of} is left out. {how.rstrip('.')}."
    if not experiment.settings:
        yield (
            "Quality over lookahead is left out: experiment.json does not say what the conditions'"
            " settings are."
        )


def own_clock(experiment: Experiment, name: str) -> str | None:
    """The only clock on which a condition was spoken; None: it is timed on all of them."""
    condition = experiment.settings.get(name)
    return condition.clock if condition else None


def missing_latency(experiment: Experiment, again: str) -> Iterator[str]:
    """The text clocks for which conditions have no times or no traces."""
    for clock in experiment.clocks:
        for condition in experiment.conditions:
            if own_clock(experiment, condition) not in (None, clock):
                continue
            if condition not in experiment.latency[clock]:
                yield f"Latency of {condition} on the text clock {clock} is missing: {again}."
            if not experiment.traces(condition, clock):
                yield (
                    f"Traces of {condition} on the text clock {clock} are missing: run sayahead"
                    " eval run again."
                )


def controls(experiment: Experiment) -> dict[str, bool]:
    """The controls that an experiment of known settings should have, and whether it has them."""
    settings = experiment.settings
    if not settings:
        return {}
    contexts = {one.context_name for one in settings.values()}
    # What a future is worth is only asked where some condition has one.
    guessing = contexts != {"none"}
    return {
        "the voice's own full sentence": any(
            one.policy_name == "wait-all" for one in settings.values()
        ),
        "no lookahead and no context": any(
            lookahead(experiment, name) == 0 and one.context_name == "none"
            for name, one in settings.items()
        ),
        "random words as the future": "random" in contexts or not guessing,
        "the true future": "truth" in contexts or not guessing,
    }


def cautions(experiment: Experiment) -> Iterator[str]:
    """Reasons not to make claims from the numbers: few sentences, missing controls, disturbed
    times."""
    about = experiment.about
    settings = experiment.settings
    count = about.get("count")
    jobs = about.get("jobs")
    if isinstance(count, int) and count < ENOUGH:
        yield f"{count} sentences are too few for a claim: take at least {ENOUGH}."
    if isinstance(jobs, int) and jobs > 1:
        yield (
            f"{jobs} processes ran beside each other and disturbed each other's times: measure"
            " latency with one."
        )
    for control, present in controls(experiment).items():
        if not present:
            yield f"A control is missing from the experiment: {control}."
    busy = others_busy(about.get("load", {}))
    own = {name for name, one in settings.items() if one.computing == "processor"}
    kept = "Other processes kept processor cores busy while these were measured"
    if names := named(busy, busy.keys() - own):
        yield f"{kept}, which makes times long: {names}."
    if names := named(busy, own):
        yield (
            f"{kept}; their times are processor time, which shared caches alone make longer:"
            f" {names}."
        )


def named(busy: Mapping[str, float], which: AbstractSet[str]) -> str:
    """Conditions beside which others took processor cores, with how many."""
    return ", ".join(f"{name} ({cores:.1f})" for name, cores in busy.items() if name in which)


def others_busy(loads: Mapping[str, Any]) -> dict[str, float]:
    """Cores that other processes took while a condition was measured, if enough to disturb it."""
    cores = {
        name: max((one.get("other_cores") or 0.0 for one in load), default=0.0)
        for name, load in loads.items()
    }
    return {name: most for name, most in cores.items() if most > BUSY_CORES}


def quality_tables(experiment: Experiment) -> list[ConditionTable]:
    """Quality by condition with the difference to the first one; further measures, if there are
    any, in a second."""
    rows = {name: experiment.quality.get(name, {}) for name in experiment.conditions}
    columns = [column for pair in zip(QUALITY, DIFFERENCES, strict=True) for column in pair]
    for name in dict.fromkeys(
        key for row in rows.values() for key in row if key.startswith(METRIC)
    ):
        title = name.removeprefix(METRIC)
        columns.append(Column(title, name, interval=True))
        columns.append(Column(f"{title}: difference", AGAINST + name, interval=True, signed=True))
    notes = (
        (
            "In brackets 95 % intervals over utterances. WER and CER: Whisper's transcription"
            " against the text, over the whole set; DistillMOS and DNSMOS predict opinion scores"
            " from 1 to 5."
        ),
        (
            f"Differences are to {experiment.conditions[0]}, paired by utterance, with their p; the"
            " tests are not corrected for their number."
        ),
    )
    main = filled("quality", "Quality", columns, rows, notes=notes)
    keys = {column.key for column in columns}
    return [table for table in (main, *further_tables(rows, keys)) if table.columns]


def listening_tables(files: Sequence[Path]) -> list[ConditionTable]:
    """People's ratings and preferences by condition, and the paired differences; nothing where
    there are none."""
    if not files:
        return []
    results = listening_statistics(files)
    numbers = (
        f"{results['raters']} raters, {results['sentences']} sentences, {results['ratings']}"
        " judgements"
    )
    brackets = (
        "In brackets 95 % intervals over raters and sentences; the tests are not corrected for"
        " their number."
    )
    left_out = (
        f" Left out for the anchor's sake: {', '.join(results['left_out'])}."
        if results["left_out"]
        else ""
    )
    notes = (f"{numbers}, in blind order. {brackets}{left_out}",)
    means = {name: {"score": summary} for name, summary in results["conditions"].items()}
    pairs, preferred = (
        {f"{one['condition']} over {one['against']}": {"score": one} for one in results[kind]}
        for kind in ("differences", "preferences")
    )
    score = (
        Column("opinion, 1 to 5", "score", digits=2, interval=True)
        if results["scale"] == "mos"
        else Column("rating, 0 to 100", "score", digits=1, interval=True)
    )
    count = Column("ratings", "score", "n", digits=0)
    needed = Column(
        f"raters for {'0.1' if results['scale'] == 'mos' else '2.5'}", "score", "raters", digits=0
    )
    share = Column(
        "preferred, % (no difference: half)", "score", factor=100, digits=1, interval=True
    )
    tables = [
        filled("listening", "Rated by listeners", [score, count], means, notes=notes),
        filled(
            "listening-pairs",
            "Rated by listeners: differences",
            [replace(score, signed=True), needed],
            pairs,
            notes=notes,
        ),
        filled(
            "listening-ab",
            "Preferred by listeners",
            [share, replace(count, title="answers")],
            preferred,
            notes=notes,
        ),
    ]
    return [table for table in tables if table.rows]


def latency_tables(experiment: Experiment) -> list[ConditionTable]:
    """One table per clock that has scores, the first with the notes, and one of computing by
    chunk."""
    tables = []
    positions = list[ConditionTable]()
    for number, clock in enumerate(experiment.clocks, start=1):
        scored = experiment.latency[clock]
        if scored:
            rows = {
                name: {**scored.get(name, {}), **waits(experiment, name, clock)}
                for name in experiment.conditions
            }
            title = f"Latency, text clock: {clock}"
            notes = (*LATENCY_NOTES, *NOTES) if number == 1 else ()
            tables.append(
                filled(f"latency-{number}", title, columns_of_latency(), rows, notes=notes)
            )
            if not positions:
                title = "Computing and playing time by chunk"
                positions.append(
                    filled("positions", title, POSITIONS, rows, notes=(POSITIONS_NOTE,))
                )
    return [*tables, *(table for table in positions if len(table.columns) > 1)]


def columns_of_latency() -> list[Column]:
    """The columns of all latency tables, those that need several traces of an utterance
    included."""
    columns = list[Column]()
    for column in LATENCY:
        columns.append(column)
        if column.key == WORST.key:
            columns.append(WORST)
    return [*columns[:2], *GIVEN, *columns[2:]]


def waits(experiment: Experiment, name: str, clock: str) -> dict[str, Summary]:
    """First audible sample with all text there (FPL-A), and what waiting for text adds (FPL-L -
    FPL-A)."""
    measured = [] if own_clock(experiment, name) else experiment.traces(name, MEASURED)
    at_once = {trace.name: trace for trace in measured}
    paced = [trace for trace in experiment.traces(name, clock) if trace.name in at_once]
    first = [value for trace in at_once.values() if math.isfinite(value := first_audible_s(trace))]
    wait = [
        value for trace in paced if math.isfinite(value := text_wait_s(trace, at_once[trace.name]))
    ]
    values_of = {"given_first_audible_s": first, "text_wait_s": wait}
    return {
        key: {"mean": math.fsum(values) / len(values), "p50": quantile(values, 0.5)}
        for key, values in values_of.items()
        if values
    }


def facts(experiment: Experiment) -> list[tuple[str, str]]:
    """What the numbers depend on, as (name, value)."""
    about = experiment.about
    seed = about.get("seed", about.get("seeds", "not stated"))
    rows = [
        ("Command", about.get("command", "not stated")),
        ("Sentences", about.get("count", "not stated")),
        ("Seed", ", ".join(map(str, seed)) if isinstance(seed, list) else seed),
        (
            "Processes",
            (
                f"{about.get('jobs')} on a Ray cluster"
                if about.get("on") == "ray"
                else about.get("jobs")
            ),
        ),
        ("Machine", pairs(about.get("machine", "not stated"))),
        ("Versions", pairs(about.get("versions", "not stated"))),
    ]
    return [(name, str(value)) for name, value in rows if value is not None]


def pairs(value: object) -> str:
    """A mapping in readable form, anything else unchanged."""
    return (
        ", ".join(f"{key} {item}" for key, item in value.items())
        if isinstance(value, dict)
        else str(value)
    )


def markdown(experiment: Experiment, notes: Sequence[str], tables: Sequence[ConditionTable]) -> str:
    """All tables in one Markdown document."""
    lines = ["# Evaluation", ""]
    lines += [
        f"- {name}: {f'`{value}`' if name == 'Command' else value}"
        for name, value in facts(experiment)
    ]
    if notes:
        lines += ["", "**Caveats:**", "", *(f"- {note}" for note in notes)]
    return "\n".join([*lines, "", "\n".join(as_markdown(table) for table in tables)])


def as_page(
    experiment: Experiment,
    notes: Sequence[str],
    tables: Sequence[ConditionTable],
    drawings: Sequence[tuple[Picture, bytes]],
) -> str:
    """The whole report as one self-contained HTML page."""
    fact_list = "".join(
        f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in facts(experiment)
    )
    left_out = "".join(f"<li>{escape(note)}</li>" for note in notes)
    parts = [f"<section><h2>Caveats</h2><ul class=warn>{left_out}</ul></section>"] if notes else []
    parts += map(as_html, tables)
    parts += [as_figure(picture, png) for picture, png in drawings]
    links = [(table.stem, table.title) for table in tables] + [
        (picture.stem, picture.title) for picture, _ in drawings
    ]
    contents = "".join(f'<li><a href="#{stem}">{escape(title)}</a></li>' for stem, title in links)
    template = (
        resources.files("sayahead_lab.eval.report")
        .joinpath("report.html")
        .read_text(encoding="utf-8")
    )
    for place, html in (("FACTS", fact_list), ("CONTENTS", contents), ("BODY", "\n".join(parts))):
        template = template.replace(f"<!--{place}-->", html)
    return template


def as_figure(picture: Picture, png: bytes) -> str:
    """A figure with its picture inside."""
    data = base64.b64encode(png).decode()
    return (
        f'<figure id="{escape(picture.stem)}"><img loading=lazy src="data:image/png;base64,{data}" '
        f'alt="{escape(picture.title)}"><figcaption>{escape(picture.caption)}</figcaption></figure>'
    )
