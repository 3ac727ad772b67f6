"""What the papers claim, what the committed results say of it, and the verdict that follows.

A claim is a record in ``papers/claims.toml``: the paper and the place in it, its figure, our file,
rows and column, the statistic that reads them, the rule that judges the statistic, and what would
refute it. A claim *needs* what makes its experiment able to fail; where that is not so, the verdict
is "no test", and why. ``figures.py`` puts the tables into the documents. Nothing of a verdict is
written by hand: change a results file, and it follows.

    python lab/benchmarks/claims.py
"""

from __future__ import annotations

import statistics
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from sayahead.config import from_mapping

from sayahead_lab.eval.experiment.conditions import load_matrix, recorded_condition
from sayahead_lab.eval.measures.intervals import (
    ROUNDS,
    ConfidenceInterval,
    estimate,
    nested_weights,
    quotient,
)
from sayahead_lab.eval.report.tables import read_csv
from sayahead_lab.results import load_figures, read_table_rows, table

HERE = Path(__file__).parent
RESULTS = HERE / "results"
CLAIMS_FILE = HERE / "papers" / "claims.toml"
REPAIRED = (53.9 - 24.2) / 53.9
"""Share of the word errors that the true future repairs in Saeki et al."""
TIE = 0.01
"""Rules whose d_T is this much higher than an agent's read no more ahead: it is no surer."""
FEW_SPEAKERS = 4
"""Fewer speakers say nothing of others."""
YES = "reproduced"
NO = "**not reproduced**"
UNDECIDED = "not decided"
NO_TEST = "no test"


@dataclass(frozen=True, slots=True)
class Need:
    """What an experiment needs to be able to fail."""

    why: str
    """Said behind "no test" where it is not met."""
    file: str = ""
    """A results file whose value is asked."""
    table: str = ""
    """The table in it, of a report's."""
    at: tuple[str, ...] = ()
    """Keys that lead to the value in JSON; row and column in a table."""
    at_least: float = float("-inf")
    """Least value."""
    at_most: float = float("inf")
    """Greatest value."""
    experiment: str = ""
    """An experiment whose conditions ``at`` must be those of today's file."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A record of ``claims.toml``."""

    paper: str
    """ma, saeki or mohan."""
    where: str
    """Section, table or figure of the paper."""
    says: str
    """What it says there."""
    theirs: str
    """Its figure."""
    file: str
    """Our results file."""
    statistic: str
    """Key of STATISTICS: what is read from the file."""
    rule: str
    """Key of RULES: how that is judged."""
    refuted: str
    """What would refute the claim."""
    rows: tuple[str, ...] = ()
    """Rows of the file, the first of which is judged."""
    column: str = ""
    """Column of the file."""
    table: str = ""
    """The table in it, of a report's."""
    limit: float = 0.0
    """The rule's number."""
    form: str = "{}"
    """The figure as it stands in the table."""
    speakers: int = 1
    """Speakers that it was measured on, unless the file says so."""
    seeds: int = 1
    """Trainings of each, unless the file says so."""
    needs: tuple[Need, ...] = ()
    """What its experiment needs to be able to fail."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a statistic found."""

    interval: ConfidenceInterval
    """The figure that is judged."""
    values: Sequence[Any]
    """What the claim's ``form`` is filled with."""
    beside: Mapping[str, float] = field(default_factory=dict)
    """Further figures that the rule asks for."""
    speakers: int = 0
    """Speakers in the file; 0: the claim tells."""
    seeds: str = ""
    """Trainings of each speaker."""


# Reading results


def loaded(name: str) -> Any:
    return load_figures(RESULTS / name)


def cell(of: Claim | Need, condition: str, column: str) -> ConfidenceInterval:
    """A column of a report's table with its interval; the value thrice where it has none."""
    row = read_csv(RESULTS / of.file, of.table)[condition]
    value, low, high = (
        float(row.get(column + end) or row[column]) for end in ("", " low", " high")
    )
    return ConfidenceInterval(value, low, high)


def half_widths(file: str, column: str, row: str, against: str) -> dict[str, float]:
    """Half of each training's interval over sentences, from the table of trainings one by one."""
    text = (RESULTS / file).with_name("each.md").read_text(encoding="utf-8")
    heading, _, *lines = read_table_rows(text)
    at = heading.index(f"less {against}")
    widths = dict[str, float]()
    for cells in lines:
        if cells[0] == column and cells[2] == row:
            low, high = cells[at].partition("(")[2].rstrip(")").split(" to ")
            widths[cells[1]] = (float(high) - float(low)) / 2
    return widths


def nested(values: Mapping[str, float], half_width: float) -> ConfidenceInterval:
    """The mean of trainings with an interval that draws speakers, then seeds, then sentences.

    The sentences' part is normal, with the half width of their own interval: results from before
    scores were kept have no scores of sentences.
    """
    speakers = tuple(name.partition(", seed ")[0] for name in values)
    weights = nested_weights(speakers, 0).astype(np.float64)
    means = weights @ np.array(list(values.values())) / weights.sum(axis=1)
    drawn = means + np.random.default_rng(3).normal(0.0, half_width / 1.96, ROUNDS)
    low, high = np.percentile(drawn, (2.5, 97.5))
    return ConfidenceInterval(statistics.fmean(values.values()), float(low), float(high))


def per_speaker(names: Sequence[str]) -> tuple[int, str]:
    """How many speakers trainings have, and how many trainings each: the same number, or from the
    least to the most."""
    speakers = [name.partition(", seed ")[0] for name in names]
    counts = sorted({speakers.count(one) for one in speakers})
    return len(set(speakers)), "-".join(
        str(count) for count in dict.fromkeys((counts[0], counts[-1]))
    )


# Statistics: from a claim to what was found


def report_cell(claim: Claim) -> Found:
    """A column of a report's table."""
    one = cell(claim, claim.rows[0], claim.column)
    return Found(one, [f"{one:+.2f}"])


def repair(claim: Claim) -> Found:
    """A difference to the second row in a report, and what the second row has by itself."""
    failing = cell(claim, claim.rows[1], claim.column)
    one = cell(claim, claim.rows[0], f"{claim.column}: difference")
    return Found(one, [f"{failing.value:.2f}", f"{one:+.2f}"], {"reference": failing.value})


def trained(claim: Claim) -> Found:
    """A difference to the second row over trainings and speakers, and what the second row has by
    itself."""
    row, against = claim.rows
    kept = loaded(claim.file)
    own, other = (kept[name][claim.column]["trainings"] for name in (row, against))
    widths = half_widths(claim.file, claim.column, row, against)
    one = nested(
        {name: value - other[name] for name, value in own.items()},
        statistics.fmean(widths.values()),
    )
    reference = statistics.fmean(other.values())
    speakers, seeds = per_speaker(list(own))
    return Found(
        one, [f"{reference:.2f}", f"{one:+.2f}"], {"reference": reference}, speakers, seeds
    )


def failing(claim: Claim) -> Found:
    """The share of a row's segments that fail, in per cent, over sentences."""
    sums = np.array(loaded(claim.file)[claim.rows[0]][claim.column], np.float64) * (100, 1)
    share = estimate(sums, quotient)
    one = ConfidenceInterval(share.value, share.low, share.high)
    return Found(one, [f"{one:.1f}"])


def of(figures: Mapping[str, Any]) -> ConfidenceInterval:
    """The interval that a results file names."""
    return ConfidenceInterval(*(figures[part] for part in ("value", "low", "high")))


def seeds_less(claim: Claim) -> Found:
    """Agents' figure less a rule's, over seeds and sentences."""
    row, against = claim.rows
    kept = loaded(claim.file)
    less = kept[row][f"{claim.column}, less {against}'s"]
    own = kept[row][claim.column]["seeds"]
    rule = kept[against][claim.column]["value"]
    one = of(less)
    if "over" not in less:  # An interval over sentences alone: seeds are drawn beside it.
        values = {f"agents, seed {number}": value - rule for number, value in enumerate(own)}
        one = nested(values, (one.high - one.low) / 2)
    return Found(one, [f"{one:+.2f}"], seeds=str(len(own)))


def best_rule(claim: Claim) -> Found:
    """Agents' figure less that of the best rule which reads no more ahead: the one with the lowest
    figure, on the same sentences, among those whose d_T is that of the agents' mean or lower."""
    kept = loaded(claim.file)
    reads = {
        name: statistics.fmean(one["d_T"].values()) for name, one in kept.items() if one["d_T"]
    }
    (row,) = claim.rows
    limit = reads[row] + TIE
    rules = [name for name in reads if not name.startswith("agents,") and reads[name] <= limit]
    best = min(rules, key=lambda name: float(kept[name][claim.column]["value"]))
    found = seeds_less(replace(claim, rows=(row, best)))
    beside = [best, f"{reads[best]:.2f}", f"{reads[row]:.2f}"]
    return replace(found, values=[*found.values, *beside])


def rows_apart(claim: Claim) -> Found:
    """The first row's figure, and the second's interval beside it."""
    kept = loaded(claim.file)
    one, other = (of(kept[row][claim.column]) for row in claim.rows)
    return Found(
        one, [f"{one.value:.2f}", f"{other.value:.2f}"], {"high": other.high, "low": other.low}
    )


def slope(claim: Claim) -> Found:
    """How a latency grows with the sentence; the latency itself, and the growth of whole
    sentences."""
    row, whole = claim.rows
    column, size = claim.column.split("; ")
    one, other = (cell(claim, name, f"O(1): {column}, ms a word") for name in (row, whole))
    return Found(one, [cell(claim, row, size).value, f"{one:+.2f}", f"{other:+.2f}"])


def least(claim: Claim) -> Found:
    """The least of a column over rows."""
    value = min(cell(claim, row, claim.column).value for row in claim.rows)
    return Found(ConfidenceInterval(value, value, value), [f"{value:.2f}"])


def most(claim: Claim) -> Found:
    """The greatest of columns over rows; the least beside it."""
    found = [
        cell(claim, row, f"{place} chunk: {claim.column}").value
        for row in claim.rows
        for place in ("first", "second", "third", "last but one", "last")
    ]
    return Found(
        ConfidenceInterval(max(found), max(found), max(found)),
        [f"{min(found):.1f}", f"{max(found):.1f}"],
    )


def alike_in(claim: Claim) -> Found:
    """A row's figure beside that of a second one, and of a third, the control."""
    one, other, control = (cell(claim, row, claim.column) for row in claim.rows)
    return Found(
        one,
        [f"{each.value:.2f}" for each in (one, other, control)],
        {"other": other.value, "low": other.low, "high": other.high, "control": control.value},
    )


def cosine_gain(claim: Claim) -> Found:
    """The least rise of the cosine at the later steps by the fine-tuning; the least at the first
    two beside it."""
    networks = loaded(claim.file)["networks"]
    before, after = (networks[name][claim.column]["steps"] for name in claim.rows)
    rises = [
        ConfidenceInterval(new[0] - old[0], new[1] - old[2], new[2] - old[1])
        for old, new in zip(before, after, strict=True)
    ]
    later = min(rises[2:], key=lambda rise: rise.low)
    early = min(rise.low for rise in rises[:2])
    values = [f"{min(rise.value for rise in part):+.2f}" for part in (rises[:2], rises[2:])]
    return Found(later, values, {"early": early})


def cosine_control(claim: Claim) -> Found:
    """How much nearer a language model's words come than as many random ones."""
    one = ConfidenceInterval(
        *loaded(claim.file)["networks"][claim.rows[0]][claim.column]["more than the control"]
    )
    return Found(one, [f"{one:+.3f}"])


def cosine_first(claim: Claim) -> Found:
    """The cosine of the first step less the greatest of all others."""
    first, *others = loaded(claim.file)["networks"][claim.rows[0]][claim.column]["steps"]
    highest = max(others, key=lambda one: one[0])
    one = ConfidenceInterval(first[0] - highest[0], first[1] - highest[2], first[2] - highest[1])
    return Found(
        one, [f"{first[0]:.2f}", f"{min(one[0] for one in others):.2f} to {highest[0]:.2f}"]
    )


def followed(claim: Claim) -> Found:
    """A student's mean cosine with its teacher less another's; with a column, that of a network's
    guessed contexts with the true ones less another's.

    The interval is as wide as both can be: the two are of the same texts."""
    kept = loaded(claim.file)
    one, other = (
        ConfidenceInterval(
            *(kept["networks"][name][claim.column] if claim.column else kept["students"][name])[
                "mean"
            ]
        )
        for name in claim.rows
    )
    apart = ConfidenceInterval(one.value - other.value, one.low - other.high, one.high - other.low)
    return Found(apart, [f"{one.value:.3f}", f"{other.value:.3f}"])


def spread(claim: Claim) -> Found:
    """How far rows' means lie apart, and how far seeds of a row do at most."""
    found = loaded(claim.file)
    each = [found[row][claim.column] for row in claim.rows]
    means = list(map(statistics.fmean, each))
    apart = max(means) - min(means)
    seeds = max(max(values) - min(values) for values in each)
    told = ", ".join(f"{mean:.3f}" for mean in means)
    return Found(
        ConfidenceInterval(apart, apart, apart),
        [told, f"{seeds:.3f}"],
        {"seeds": seeds},
        seeds=str(len(each[0])),
    )


def falling(claim: Claim) -> Found:
    """The best seed of the other rows less the worst of the first."""
    found = loaded(claim.file)
    each = [found[row][claim.column] for row in claim.rows]
    apart = max(map(max, each[1:])) - min(each[0])
    told = ", ".join(f"{statistics.fmean(values):.2f}" for values in each)
    return Found(ConfidenceInterval(apart, apart, apart), [told], seeds=str(len(each[0])))


def times(claim: Claim) -> Found:
    """How many times longer a step and a prediction take in the first row than in the second."""
    kept = loaded(claim.file)["rows"]
    slow, fast = (kept[row] for row in claim.rows)
    step, prediction = (slow[key] / fast[key] for key in ("ms_a_step", "ms_a_prediction"))
    values = [step, prediction, fast["ms_a_step"], slow["ms_a_step"]]
    return Found(ConfidenceInterval(step, step, step), values)


STATISTICS: dict[str, Callable[[Claim], Found]] = {
    "report": report_cell,
    "repair": repair,
    "trained": trained,
    "failing": failing,
    "seeds": seeds_less,
    "best rule": best_rule,
    "rows": rows_apart,
    "slope": slope,
    "least": least,
    "most": most,
    "alike": alike_in,
    "cosine gain": cosine_gain,
    "cosine control": cosine_control,
    "cosine first": cosine_first,
    "followed": followed,
    "spread": spread,
    "falling": falling,
    "times": times,
}


# Rules: from what was found to a verdict


def decided(holds: bool, fails: bool) -> str:
    """A verdict on what an interval may leave open."""
    return YES if holds else NO if fails else UNDECIDED


def lower(found: Found, limit: float) -> str:
    """Claimed to be below the limit."""
    return decided(found.interval.high < limit, found.interval.low > limit)


def higher(found: Found, limit: float) -> str:
    """Claimed to be above the limit."""
    return decided(found.interval.low > limit, found.interval.high < limit)


def level(found: Found, limit: float) -> str:
    """Claimed not to grow: the interval has the limit, or lies below it."""
    return NO if found.interval.low > limit else YES


def no_loss(found: Found, limit: float) -> str:
    """Claimed to lose no more than the limit."""
    return higher(found, -limit)


def repaired(found: Found, limit: float) -> str:
    """Claimed to be lower by half of what fails in the reference; a share of that, the limit, is
    asked."""
    return lower(found, -found.beside["reference"] * REPAIRED * limit)


def above_other(found: Found, limit: float) -> str:
    """Claimed to lie above the other row: the intervals do not overlap."""
    one = found.interval
    return decided(one.low > found.beside["high"], one.high < found.beside["low"])


def alike(found: Found, limit: float) -> str:
    """Claimed to be alike: each lies in the other's interval. That says nothing where the control
    does as well."""
    one = found.interval
    beside = found.beside
    if not (
        one.low <= beside["other"] <= one.high and beside["low"] <= one.value <= beside["high"]
    ):
        return NO
    return f"{NO_TEST}: any words do as well" if one.low <= beside["control"] <= one.high else YES


def early_only(found: Found, limit: float) -> str:
    """Claimed to rise at the first two steps, and not later."""
    if found.beside["early"] <= limit:
        return NO
    return NO if found.interval.low > limit else YES


def within_seeds(found: Found, limit: float) -> str:
    """Claimed to be alike: rows lie no further apart than seeds of one."""
    return YES if found.interval.value <= found.beside["seeds"] else NO


RULES: dict[str, Callable[[Found, float], str]] = {
    "lower": lower,
    "higher": higher,
    "level": level,
    "no loss": no_loss,
    "repaired": repaired,
    "above the other": above_other,
    "alike": alike,
    "early only": early_only,
    "within seeds": within_seeds,
}


# The table


def read_claims(path: Path = CLAIMS_FILE) -> list[Claim]:
    """The records of a file; ConfigError for an unknown key, KeyError for an unknown statistic or
    rule."""
    records = tomllib.loads(path.read_text(encoding="utf-8"))["claim"]
    claims = [
        from_mapping(Claim, record, where=f"{path.name}: {record.get('says')}")
        for record in records
    ]
    for claim in claims:
        STATISTICS[claim.statistic], RULES[claim.rule]
    return claims


def met(need: Need) -> bool:
    """Whether an experiment could fail, as far as a need says."""
    if need.experiment:
        return as_measured(need)
    value = cell(need, *need.at).value if need.table else within(loaded(need.file), need.at)
    return need.at_least <= value <= need.at_most


def as_measured(need: Need) -> bool:
    """Whether the conditions in ``at`` are today those whose results are kept."""
    settings = loaded(need.file)["settings"]
    measured = {name: recorded_condition(settings[name], need.file).policy for name in need.at}
    today = {one.name: one.policy for one in load_matrix(HERE / need.experiment).conditions}
    return all(today.get(name) == policy for name, policy in measured.items())


def within(table: Any, path: Sequence[str]) -> float:
    """The number at the end of a path of keys."""
    for key in path:
        table = table[key]
    return float(table)


def judged(claim: Claim) -> tuple[Found, str]:
    """What was found of a claim, and the verdict."""
    found = STATISTICS[claim.statistic](claim)
    missing = [need.why for need in claim.needs if not met(need)]
    if missing:
        return found, f"{NO_TEST}: {'; '.join(missing)}"
    return found, RULES[claim.rule](found, claim.limit)


NAMES = {"ma": "Ma", "saeki": "Saeki", "mohan": "Mohan"}


def counted(claim: Claim, found: Found) -> str:
    """Speakers and seeds behind a claim; what fewer than four speakers cannot say is said."""
    speakers = found.speakers or claim.speakers
    seeds = found.seeds or str(claim.seeds)
    few = " (this one)" if speakers == 1 else " (these)" if speakers < FEW_SPEAKERS else ""
    return f"{speakers}{few} x {seeds}"


def rows(paper: str, claims: Sequence[Claim] | None = None) -> Iterator[list[str]]:
    """The cells of a paper's claims, or of all."""
    for claim in read_claims() if claims is None else claims:
        if paper in ("", claim.paper):
            found, verdict = judged(claim)
            name = [] if paper else [NAMES[claim.paper]]
            theirs = f"{claim.where}: {claim.theirs}"
            yield [
                *name,
                claim.says,
                theirs,
                claim.form.format(*found.values),
                counted(claim, found),
                verdict,
            ]


def claims_table(paper: str = "") -> str:
    """The claims of a paper, or of all papers, as a table."""
    heading = "claim|the paper|here (95 %)|speakers x seeds|verdict"
    heading = heading if paper else f"paper|{heading}"
    return "\n".join(table(heading, rows(paper), words=6 - bool(paper)))


if __name__ == "__main__":
    print(claims_table())
