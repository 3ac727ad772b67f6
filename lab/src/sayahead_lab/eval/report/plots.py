"""Figures of an experiment, each a function of plain data: the papers' figures from our traces, and
a timeline.

Every function returns a matplotlib Figure of its own (see drawing.py). Arguments are in seconds;
milliseconds appear only on axes that say so. Conditions are keys, in the order of the legend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sayahead_lab.eval.experiment.trace import Trace
from sayahead_lab.eval.measures.latency import (
    POSITIONS,
    audible_words,
    first_heard_s,
    heard_s,
    policy_area,
    word_arrivals_s,
)
from sayahead_lab.eval.report.drawing import (
    COLOURS,
    INK,
    MARKERS,
    MUTED,
    SMALL,
    Band,
    Point,
    bands,
    box,
    canvas,
    clouds,
    dots,
    labelled,
    legend,
    levels,
    look,
    shifted,
    whole_steps,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def quality_over_lookahead(
    series: Mapping[str, Sequence[Point]], full: Point | None, *, metric: str
) -> Figure:
    """Quality over words of lookahead, one line per context, the full sentence as a level (Ma et
    al. 2020, Fig. 4)."""
    figure, axes = canvas(
        f"{without_unit(metric)} over lookahead", "lookahead, words or chunks", metric
    )
    if full is not None:
        axes.axhline(full.y, color=INK, linestyle=":", linewidth=1.4, label=full.name)
        if full.low is not None and full.high is not None:
            axes.axhspan(full.low, full.high, color=INK, alpha=0.07, linewidth=0)
    ticks = sorted({point.x for points in series.values() for point in points})
    for number, (name, points) in enumerate(series.items()):
        # Side by side, so that intervals at one lookahead do not overlap.
        aside = 0.05 * (number - (len(series) - 1) / 2)
        ordered = sorted(points, key=lambda point: point.x)
        dots(axes, [shifted(point, aside) for point in ordered], number, label=name, line=True)
    axes.set_xticks(ticks)
    legend(axes)
    return figure


def latency_over_length(
    groups: Mapping[str, Sequence[tuple[float, float]]], *, clock: str
) -> Figure:
    """First audible sample in s over words per sentence, points and a line per condition (Ma et al.
    2020, Fig. 5)."""
    figure, axes = canvas(
        f"First sound over sentence length ({clock})",
        "sentence length, words",
        "first audible sample, s",
    )
    clouds(axes, groups)
    return figure


def time_balance(groups: Mapping[str, Band]) -> Figure:
    """Buffered audio when chunk j is ready, in s: below 0 it stalls (Ma et al. 2020, Fig. 6).

    Median and 5 to 95 % of the utterances, and the minimum as short strokes. Each series holds the
    balances of chunks 2, 3, ... of one utterance.
    """
    figure, axes = canvas(
        "Time balance by chunk", "chunk", "time balance, s (below 0: playback stops)"
    )
    axes.axhline(0, color=INK, linewidth=1)
    bands(axes, groups, first=2)
    return figure


def chunk_delay_over_length(
    groups: Mapping[str, Sequence[tuple[float, float]]], *, clock: str
) -> Figure:
    """Average chunk delay in s over words per sentence (Ma et al. 2020, Fig. 7)."""
    figure, axes = canvas(
        f"Average chunk delay over sentence length ({clock})",
        "sentence length, words",
        "average chunk delay, s",
    )
    clouds(axes, groups)
    return figure


def generation_and_audio(groups: Mapping[str, Mapping[str, Mapping[str, float]]]) -> Figure:
    """Mean computing and playing time of the first three and the last two chunks, in ms (Ma et al.
    2020, Fig. 8).

    Each condition has the figures of ``latency.by_position``, in s; filled marks: playing, empty
    marks: computing. As long as a chunk's computing takes less than the one before it plays,
    playback goes on."""
    figure, axes = canvas(
        "Computing time against playing time by chunk",
        "chunk",
        "ms, logarithmic (filled: playing, empty: computing)",
    )
    for number, (name, positions) in enumerate(groups.items()):
        colour = COLOURS[number % len(COLOURS)]
        marker = MARKERS[number % len(MARKERS)]
        # Side by side, so that conditions do not overlap.
        places = np.arange(len(POSITIONS)) + 0.09 * (number - (len(groups) - 1) / 2)
        audio, generation = (
            np.array([1000 * positions[at][key] for at in POSITIONS])
            for key in ("audio_s", "generation_s")
        )
        axes.vlines(places, generation, audio, color=colour, linewidth=1, alpha=0.5)
        axes.plot(places, audio, marker, markersize=6, color=colour, label=name)
        axes.plot(places, generation, marker, markersize=6, color=colour, fillstyle="none")
    axes.set_yscale("log")
    axes.set_xticks(range(len(POSITIONS)), [position.replace("_", " ") for position in POSITIONS])
    axes.set_xlim(-0.5, len(POSITIONS) - 0.5)
    legend(axes)
    return figure


def ratio_over_cores(series: Mapping[str, Sequence[Point]]) -> Figure:
    """Computing time over audio time, mean of the utterances, over processor cores (Ma et al. 2020,
    Fig. 9)."""
    figure, axes = canvas(
        "Computing time by processor cores",
        "processor cores",
        "computing time / audio time (logarithmic)",
    )
    axes.axhline(1, color=INK, linewidth=1)
    place: dict[str, Any] = {
        "xycoords": ("axes fraction", "data"),
        "xytext": (-4, 4),
        "textcoords": "offset points",
    }
    axes.annotate("as fast as it plays", (1, 1), **place, ha="right", color=MUTED, fontsize=SMALL)
    for number, (name, points) in enumerate(series.items()):
        dots(axes, sorted(points, key=lambda point: point.x), number, label=name, line=True)
    axes.set_yscale("log")
    axes.set_xticks(sorted({point.x for points in series.values() for point in points}))
    legend(axes)
    return figure


def policy_path(traces: Mapping[str, Trace]) -> Figure:
    """One utterance's READ/SPEAK path: characters read over seconds spoken (Mohan et al. 2020, Fig.
    1 and 2).

    READ goes up, SPEAK goes right. The share of the picture under the path is d_T: 1 where all is
    read first."""
    figure, axes = canvas(
        "READ and SPEAK: text read over speech spoken", "speech spoken, s", "text read, characters"
    )
    for number, (name, trace) in enumerate(traces.items()):
        seconds = np.cumsum([0.0, *(chunk.samples / trace.sample_rate for chunk in trace.chunks)])
        read = np.array([chunk.read for chunk in trace.chunks], np.float64)
        style: dict[str, Any] = {**look(number), "linewidth": 1.8}
        del style["marker"]
        axes.stairs(
            read, seconds, baseline=None, label=f"{name}, $d_T$ = {policy_area(trace):.2f}", **style
        )
        axes.plot([0, 0], [0, read[0]], **style)
    axes.set_xlim(left=-0.05)
    axes.set_ylim(bottom=0)
    legend(axes)
    return figure


def quality_over_proportion(series: Mapping[str, Sequence[Point]], *, metric: str) -> Figure:
    """Quality over d_T, the share of the text that is read before speaking (Mohan et al. 2020, Fig.
    3 and 4)."""
    figure, axes = canvas(
        f"{without_unit(metric)} over the share read ahead",
        "$d_T$ (1: all is read before speaking)",
        metric,
    )
    labelled(axes, series)
    return figure


def processing_over_steps(groups: Mapping[str, tuple[Band, float]]) -> Figure:
    """Computing time from the utterance's start to each word, in s; medians (Saeki et al. 2021b,
    Fig. 4).

    Each condition has its series of cumulative times and its words per minute. Grey: the pace of
    speech."""
    figure, axes = canvas(
        "Cumulative computing time by word", "word", "computing time so far, s (logarithmic)"
    )
    longest = 1
    for number, (name, (series, words_per_min)) in enumerate(groups.items()):
        middle = levels(series)[1]
        longest = max(longest, len(middle))
        label = f"{name}: {words_per_min:,.0f} words/min"
        axes.plot(np.arange(1, len(middle) + 1), middle, **look(number), markersize=4, label=label)
    steps = np.arange(1, longest + 1)
    for pace, what in ((120, "interpreting"), (180, "reading aloud")):
        axes.plot(
            steps,
            60 / pace * steps,
            color="#9aa5b1",
            linewidth=1,
            linestyle="-" if pace == 180 else "--",
        )
        side: dict[str, Any] = {
            "xytext": (-4, -26 if pace == 180 else 4),
            "textcoords": "offset points",
            "ha": "right",
        }
        axes.annotate(
            f"{pace} words/min, {what}",
            (longest, 60 / pace * longest),
            color=MUTED,
            fontsize=SMALL,
            **side,
        )
    axes.set_yscale("log")
    whole_steps(axes)
    legend(axes, columns=2)
    return figure


def frontier(series: Mapping[str, Sequence[Point]], *, metric: str, clock: str) -> Figure:
    """Quality over mean word lag in s, one point per condition; the best have none above and to
    their left."""
    figure, axes = canvas(
        f"{without_unit(metric)} over word lag ({clock})", "mean word lag, s", metric
    )
    labelled(axes, series)
    return figure


def timeline(traces: Mapping[str, Trace], *, clock: str) -> Figure:
    """One utterance: its text as it arrives above, each condition's speech as it is heard below, by
    word."""
    height = 1.6 + 0.75 * len(traces)
    figure, axes = canvas(
        f"One utterance: text in, speech out ({clock})", "time, s", "", height=height
    )
    timelines = [words_heard(trace) for trace in traces.values()]
    end_s = max([stop_s for words in timelines for _, _, stop_s in words], default=1.0)
    axes.set_xlim(0, end_s * 1.01)
    axes.set_ylim(len(traces) + 0.45, -0.45)
    before_s = 0.0
    for text, arrived_s in words_arrived(next(iter(traces.values()))):
        box(axes, text, (before_s, arrived_s), 0, "#616e7c", end_s)
        before_s = arrived_s
    for row, words in enumerate(timelines, start=1):
        colour = COLOURS[(row - 1) % len(COLOURS)]
        for text, begin_s, stop_s in words:
            box(axes, text, (begin_s, stop_s), row, colour, end_s)
        if words:
            axes.plot([0, words[0][1]], [row, row], ":", color=colour, linewidth=1.4)
    labels = [f"{name}\nfirst sound {first_heard_s(trace):.2f} s" for name, trace in traces.items()]
    axes.set_yticks(range(len(traces) + 1), ["text arrives", *labels])
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    return figure


def words_heard(trace: Trace) -> list[tuple[str, float, float]]:
    """(word, onset, offset) on the playback clock, in s."""
    words = audible_words(trace)
    begin = heard_s(trace, [word.onset_samples for word in words])
    end = heard_s(trace, [w.offset_samples for w in words], end=True)
    return [
        (word.text, float(at), float(to)) for word, at, to in zip(words, begin, end, strict=True)
    ]


def words_arrived(trace: Trace) -> list[tuple[str, float]]:
    """(piece of source text, arrival of the character that completes it) of what is spoken, in
    s."""
    spans = {
        (w.start, w.end): float(at)
        for w, at in zip(audible_words(trace), word_arrivals_s(trace), strict=True)
    }
    return [(trace.source[start:end], at) for (start, end), at in spans.items()]


def without_unit(metric: str) -> str:
    """A metric's name for a title: the part before the comma."""
    return metric.partition(",")[0]
