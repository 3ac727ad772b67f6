"""The figures of an experiment and their data; missing data is named, not drawn."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sayahead_lab.eval.experiment.conditions import Condition, recorded_condition
from sayahead_lab.eval.experiment.trace import Trace
from sayahead_lab.eval.measures.latency import (
    audible_words,
    by_position,
    chunk_delays_s,
    chunk_of,
    cumulative_processing_s,
    first_audible_s,
    policy_area,
    time_balance_s,
    words_per_min,
)
from sayahead_lab.eval.report import plots
from sayahead_lab.eval.report.drawing import Point
from sayahead_lab.eval.report.tables import Column, Summary, Value

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LAG = Column("", "elapsed_word_lag_mean_s")
RATIO = Column("", "rtf", interval=True)
CLOUD = (
    "One point per utterance, the line by least squares: flat where latency does not grow with"
    " length (Ma et al. count phonemes and draw means of one length)."
)
MOST = 8
"""Most conditions in a figure of single utterances or of steps."""
CONTEXTS = {
    "none": "no context",
    "random": "random words",
    "lm": "language model",
    "truth": "true future",
}
MEASURED = "measured"
"""The traces as measured: all letters there at time 0, each read by itself."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure of the report."""

    stem: str
    """Its file's name without ending."""
    caption: str
    """What it shows, and its data."""
    figure: Figure
    """The figure."""

    @property
    def title(self) -> str:
        """Its title."""
        return str(self.figure.axes[0].get_title(loc="left"))


@dataclass(frozen=True)
class Experiment:
    """An experiment's scored data."""

    about: Mapping[str, Any]
    """experiment.json as it is."""
    conditions: tuple[str, ...]
    """Names; all others are compared with the first."""
    clocks: tuple[str, ...]
    """Names of the text clocks."""
    latency: Mapping[str, Mapping[str, Mapping[str, Summary]]]
    """Results of ``summarize``, by clock and condition."""
    quality: Mapping[str, Mapping[str, Summary]]
    """Quality metrics by condition."""
    traces: Callable[[str, str], list[Trace]]
    """A condition's traces on a clock, or as measured."""

    @functools.cached_property
    def settings(self) -> Mapping[str, Condition]:
        """The conditions by name, where the experiment describes them; peers have none."""
        settings = self.about.get("settings") or {}
        return {
            name: recorded_condition({"name": name, **one}, "experiment.json")
            for name, one in settings.items()
        }


def pictures(experiment: Experiment, metrics: Sequence[Column]) -> Iterator[Picture]:
    """All figures that the data allow; ``metrics`` are the quality columns to draw if any condition
    has them."""
    for number, clock in enumerate(experiment.clocks, start=1):
        yield from of_clock(experiment, clock, number)
    yield from of_steps(experiment)
    filled = [
        metric
        for metric in metrics
        if any(metric.value(row) for row in experiment.quality.values())
    ]
    for metric in filled:
        yield from of_quality(experiment, metric)


def of_clock(experiment: Experiment, clock: str, number: int) -> Iterator[Picture]:
    """Ma's Fig. 5 and 7 on a text clock, and the timeline of an utterance."""
    names, which = drawn_conditions(experiment)
    traces = {name: utterances for name in names if (utterances := experiment.traces(name, clock))}
    first = {name: over_length(utterances, first_audible_s) for name, utterances in traces.items()}
    yield Picture(
        f"first-audio-{number}",
        "One point per utterance, the line by least squares: flat where latency does not grow with"
        f" length. {which}",
        plots.latency_over_length(first, clock=clock),
    )
    delays = {name: over_length(utterances, mean_delay_s) for name, utterances in traces.items()}
    yield Picture(
        f"chunk-delay-{number}",
        "From the end of each piece of text to the end of its sound, mean of an utterance."
        f" {which}",
        plots.chunk_delay_over_length(delays, clock=clock),
    )
    one = same_utterance({name: traces[name] for name in spread(list(traces), 4)})
    if one:
        title = next(iter(one.values())).name
        yield Picture(
            f"timeline-{number}",
            f"Utterance {title}: above, each word from the one before it to its last character;"
            " below, as it is heard.",
            plots.timeline(one, clock=clock),
        )


def of_steps(experiment: Experiment) -> Iterator[Picture]:
    """Ma's Fig. 5, 6, 8 and 9, Mohan's Fig. 2 and Saeki's Fig. 4: the figures that depend on no
    text clock."""
    names, which = drawn_conditions(experiment)
    traces = {name: utterances for name in names if (utterances := as_measured(experiment, name))}
    given = [
        all_at_once(experiment.traces(name, clock))
        for clock in experiment.clocks
        for name in names[:1]
    ]
    if not any(given):
        first = {
            name: over_length(utterances, first_audible_s) for name, utterances in traces.items()
        }
        yield Picture(
            "first-audio-given",
            f"{CLOUD} {which}",
            plots.latency_over_length(first, clock="all text there"),
        )
    yield time_balance(traces, which)
    yield from of_positions(traces, which)
    yield from of_cores(experiment)
    yield from of_contexts(experiment)
    one = same_utterance({name: traces[name] for name in spread(list(traces), 5)})
    if one:
        title, source = next((utterances.name, utterances.source) for utterances in one.values())
        yield Picture(
            "policy-path",
            f"Utterance {title}: “{source}” READ takes a character and goes up, SPEAK goes right.",
            plots.policy_path(one),
        )


def time_balance(traces: Mapping[str, list[Trace]], which: str) -> Picture:
    """Ma's Fig. 6: how much of each condition's audio waits to be played."""
    balances = {
        name: [list(time_balance_s(one)) for one in utterances]
        for name, utterances in traces.items()
    }
    return Picture(
        "time-balance",
        "Audio buffered after generating each chunk: median and 5 to 95 % of the utterances as far"
        f" as a quarter of them goes, and as strokes the minimum. {which}",
        plots.time_balance({name: series for name, series in balances.items() if any(series)}),
    )


def of_positions(traces: Mapping[str, list[Trace]], which: str) -> Iterator[Picture]:
    """How long first, middle and last chunks take, and how long they sound."""
    positions = {name: by_position(utterances) for name, utterances in traces.items()}
    positions = {name: means for name, means in positions.items() if means["first"]["n"]}
    if positions:
        yield Picture(
            "generation-and-audio",
            "Means over utterances of more than four chunks; conditions without any are left out."
            f" {which}",
            plots.generation_and_audio(positions),
        )


def of_contexts(experiment: Experiment) -> Iterator[Picture]:
    """Saeki's Fig. 4: computing time by word of every context at one lookahead, and of conditions
    without lookahead."""
    lookaheads = {
        name: k for name in experiment.conditions if (k := lookahead(experiment, name)) is not None
    }
    counts = list(lookaheads.values())
    k = max(sorted(set(counts)), key=counts.count, default=None)
    names = [name for name in experiment.conditions if lookaheads.get(name, k) == k][:MOST]
    steps = {}
    for name in names:
        if traces := as_measured(experiment, name):
            paces = [words_per_min(trace) for trace in traces]
            steps[name] = [by_word_s(trace) for trace in traces], finite_mean(paces)
    if steps:
        yield Picture(
            "computing-by-word",
            "Median of the utterances; below the grey lines the engine keeps up with that pace of"
            f" speech. {len(steps)} of {len(experiment.conditions)} conditions are drawn.",
            plots.processing_over_steps(steps),
        )


def lookahead(experiment: Experiment, name: str) -> int | None:
    """A condition's words of lookahead; none for other policies."""
    condition = experiment.settings.get(name)
    return (
        condition.policy_options["k"]
        if condition and condition.policy_name == "lookahead"
        else None
    )


def of_cores(experiment: Experiment) -> Iterator[Picture]:
    """Ma's Fig. 9, where there are conditions that differ in their number of processor cores."""
    families: dict[str, list[Point]] = {}
    for name, condition in experiment.settings.items():
        ratio = RATIO.value(experiment.latency.get(experiment.clocks[0], {}).get(name, {}))
        if condition.cores is not None and ratio is not None:
            families.setdefault(family(condition), []).append(
                point_of(name, float(condition.cores), ratio)
            )
    compared = {
        name: points for name, points in families.items() if len({point.x for point in points}) > 1
    }
    if compared:
        yield Picture(
            "ratio-cores",
            "Mean of the utterances with 95 % intervals; below 1, synthesis is faster than"
            " playback.",
            plots.ratio_over_cores(compared),
        )


def family(condition: Condition) -> str:
    """A condition in words, without its number of cores."""
    options = condition.policy_options
    match condition.policy_name:
        case "wait-all":
            what = "whole sentences"
        case "independent":
            what = f"every {options['words']} words by themselves"
        case "lookahead":
            k2 = f", k2 = {condition.k2}" if condition.k2 else ""
            what = f"k = {options['k']}{k2}, {manner(condition)}"
        case _:
            what = f"{condition.policy}, {manner(condition)}"
    return f"{condition.voice}, {what}"


def manner(condition: Condition) -> str:
    """A condition's context, and how it differs from word by word with all right context that the
    voice can use."""
    options = condition.policy_options
    sizes = (options.get("first_chunk", 1), options.get("chunk", 1))
    chunks = (
        ""
        if sizes == (1, 1)
        else f", chunks {sizes[0]}-{sizes[1]}" + ", k of them" * options.get("in_chunks", False)
    )
    delta = "" if condition.delta is None else f", delta {condition.delta}"
    return CONTEXTS.get(condition.context_name, condition.context_name) + chunks + delta


def as_measured(experiment: Experiment, name: str) -> list[Trace]:
    """A condition's measured traces, or without those, the ones on the first clock."""
    return experiment.traces(name, MEASURED) or experiment.traces(name, experiment.clocks[0])


def all_at_once(traces: Sequence[Trace]) -> bool:
    """Whether all text was there at time 0."""
    return any(traces) and all(
        fragment.at_s == 0 for trace in traces for fragment in trace.fragments
    )


def of_quality(experiment: Experiment, metric: Column) -> Iterator[Picture]:
    """Ma's Fig. 4, Mohan's Fig. 3 and 4, and the frontier of a quality metric."""
    error_bars = "Bars are 95 % intervals over utterances."
    of_k, full = over_lookahead(experiment, metric)
    if of_k:
        yield Picture(
            f"{metric.key}-lookahead",
            f"{error_bars} The dotted line is {full.name if full else 'missing'}.",
            plots.quality_over_lookahead(of_k, full, metric=metric.title),
        )
    share = series(
        experiment,
        metric,
        lambda name: finite_mean(list(map(policy_area, as_measured(experiment, name)))),
    )
    if share:
        yield Picture(
            f"{metric.key}-share",
            error_bars,
            plots.quality_over_proportion(share, metric=metric.title),
        )
    for number, clock in enumerate(experiment.clocks, start=1):
        lags = series(experiment, metric, functools.partial(mean_lag_s, experiment.latency[clock]))
        if lags:
            yield Picture(
                f"{metric.key}-lag-{number}",
                f"{error_bars} How long a listener waits for each word, and the quality it buys.",
                plots.frontier(lags, metric=metric.title, clock=clock),
            )


def drawn_conditions(experiment: Experiment) -> tuple[list[str], str]:
    """The conditions for a figure with limited space, and a sentence that says so if some are left
    out.

    The first one, then those without a context, then peers; evenly spaced where they are too many.
    """
    first = experiment.conditions[0]
    settings = experiment.settings
    others = [name for name in experiment.conditions if name != first]
    plain = [name for name in others if name in settings and settings[name].context_name == "none"]
    peers = [name for name in others if name not in settings]
    plain = spread(plain, max(MOST // 2, MOST - 1 - len(peers)))
    names = [first, *plain, *spread(peers, MOST - 1 - len(plain))]
    left_out = len(experiment.conditions) - len(names)
    return (
        names,
        f"{len(names)} of {len(experiment.conditions)} conditions are drawn." if left_out else "",
    )


def spread(names: list[str], most: int) -> list[str]:
    """At most ``most`` of the names, evenly spaced, with the first and the last."""
    if len(names) <= most:
        return names
    return [names[round(at * (len(names) - 1) / (most - 1))] for at in range(most)]


def group(experiment: Experiment, name: str) -> str:
    """The series that a condition's point belongs to: all but its lookahead, and the voice where
    there are several."""
    if lookahead(experiment, name) is None:
        return name
    condition = experiment.settings[name]
    several = len({one.voice for one in experiment.settings.values()}) > 1
    return f"{condition.voice}, {manner(condition)}" if several else manner(condition)


def series(
    experiment: Experiment, metric: Column, cost: Callable[[str], float]
) -> dict[str, list[Point]]:
    """A point for every condition with the quality and a cost, by series."""
    points: dict[str, list[Point]] = {}
    for name in experiment.conditions:
        value = metric.value(experiment.quality.get(name, {}))
        paid = cost(name)
        if value and math.isfinite(paid):
            points.setdefault(group(experiment, name), []).append(point_of(name, paid, value))
    # Lines before single points, so that a context has the same colour in all figures.
    return dict(sorted(points.items(), key=lambda item: len(item[1]) == 1))


def mean_lag_s(scored: Mapping[str, Mapping[str, Summary]], name: str) -> float:
    """A condition's mean word lag on a clock, from its scores; nan where there is none."""
    lag = LAG.value(scored.get(name, {}))
    return math.nan if lag is None else lag.number


def over_lookahead(
    experiment: Experiment, metric: Column
) -> tuple[dict[str, list[Point]], Point | None]:
    """Points over Ma's lookahead, k1 + k2, by series, and the full sentence; of conditions whose
    settings are known."""
    points: dict[str, list[Point]] = {}
    full = None
    for name, condition in experiment.settings.items():
        k = lookahead(experiment, name)
        value = metric.value(experiment.quality.get(name, {}))
        if value is not None and k is not None:
            points.setdefault(group(experiment, name), []).append(
                point_of(name, k + condition.k2, value)
            )
        elif value is not None and condition.policy_name == "wait-all":
            full = full or point_of(name, 0, value)
    return points, full


def point_of(name: str, x: float, value: Value) -> Point:
    """A condition's point in a figure."""
    low, high = (end if math.isfinite(end) else None for end in (value.low, value.high))
    return Point(name, float(x), value.number, low, high)


def over_length(
    traces: Sequence[Trace], metric: Callable[[Trace], float]
) -> list[tuple[float, float]]:
    """(words, metric) of each utterance where it is defined."""
    pairs = [(float(len(audible_words(trace))), metric(trace)) for trace in traces]
    return [pair for pair in pairs if math.isfinite(pair[1])]


def mean_delay_s(trace: Trace) -> float:
    """Average chunk delay; nan where no word ends."""
    return finite_mean([float(delay) for delay in chunk_delays_s(trace)])


def finite_mean(values: Sequence[float]) -> float:
    """Mean of the finite values; nan without any."""
    finite = [value for value in values if math.isfinite(value)]
    return math.fsum(finite) / len(finite) if finite else math.nan


def by_word_s(trace: Trace) -> list[float]:
    """Computing time up to the chunk that ends each word."""
    if not trace.chunks:
        return []
    total = cumulative_processing_s(trace)
    return [
        float(total[chunk])
        for chunk in chunk_of(
            trace, [word.offset_samples for word in audible_words(trace)], end=True
        )
    ]


def same_utterance(traces: Mapping[str, Sequence[Trace]]) -> dict[str, Trace]:
    """The utterance of median length that all conditions have, by condition; empty where there is
    none."""
    by_name = {
        name: {one.name: one for one in utterances if one.chunks}
        for name, utterances in traces.items()
    }
    first = next(iter(by_name.values()), {})
    shared = [name for name in first if all(name in others for others in by_name.values())]
    if not shared:
        return {}
    middle = sorted(shared, key=lambda name: len(first[name].source))[len(shared) // 2]
    return {condition: utterances[middle] for condition, utterances in by_name.items()}
