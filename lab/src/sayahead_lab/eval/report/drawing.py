"""Drawing for the figures: canvas, series, names beside points. Matplotlib without its global
state."""

from __future__ import annotations

import io
import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours and one of Tol's, distinct with any colour vision; marker and dash differ
# too.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#4D4D4D", "#882255")
MARKERS = ("o", "s", "D", "^", "v", "P", "X", "*")
DASHES = ("-", "--", "-.", ":")
INK = "#1f2933"
MUTED = "#52606d"
GRID = "#e3e7eb"
SMALL = 10
NORMAL = 11
LEGEND = 100
"""Characters of the names of a legend that fit beside each other."""
Band = Sequence[Sequence[float]]
"""One series of steps per utterance; their lengths differ."""


@dataclass(frozen=True, slots=True)
class Point:
    """A condition in a figure."""

    name: str
    """Label beside the point."""
    x: float
    """The cost: words of lookahead, seconds, a share."""
    y: float
    """The gain: a quality."""
    low: float | None = None
    """Lower end of y's 95 % interval."""
    high: float | None = None
    """Upper end."""


FORMATS = ("png", "pdf", "svg")
"""What figures can be written as."""
DPI = 160
"""Of a PNG."""
COLUMN_IN = 3.5
"""Width of a column of a paper, in inches."""
PAPER_PT = 7.0
"""Size of the text in a figure of that width."""


def save(figure: Figure, path: Path) -> None:
    """Write a figure in the format of the path's ending.

    A PNG has 1280 pixels' width and 256 colours, a third of the size in full colour. PDF and SVG
    are for papers: as wide as a column, without the title, which is the caption's, and with text
    that can be searched."""
    if path.suffix != ".png":
        save_for_paper(figure, path)
        return
    from PIL import Image

    png = io.BytesIO()
    figure.savefig(png, dpi=DPI, metadata={"Software": None})
    with Image.open(png) as picture:
        picture.convert("RGB").quantize(
            256, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE
        ).save(path, format="PNG", optimize=True)


def save_for_paper(figure: Figure, path: Path) -> None:
    """Write a figure at a column's width; the figure itself stays as it is."""
    import copy

    import matplotlib
    from matplotlib.text import Text

    narrow = copy.deepcopy(figure)
    wide, high = narrow.get_size_inches()
    narrow.set_size_inches(COLUMN_IN, high * COLUMN_IN / wide * 1.15)
    for axes in narrow.axes:
        axes.set_title("", loc="left")
    for text in narrow.findobj(Text):
        text.set_fontsize(PAPER_PT if float(text.get_fontsize()) >= NORMAL else PAPER_PT - 1)
    # Nothing in a file tells when it was drawn, and letters stay letters.
    settings: Any = {"pdf.fonttype": 42, "svg.fonttype": "none", "svg.hashsalt": "sayahead"}
    with matplotlib.rc_context(settings):
        narrow.savefig(
            path, metadata={"Date": None} if path.suffix == ".svg" else {"CreationDate": None}
        )


def canvas(title: str, x: str, y: str, *, height: float = 4.8) -> tuple[Figure, Axes]:
    """An empty figure, 8 inches wide."""
    figure, (axes,) = stack(title, x, y, height=height)
    axes.grid(color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    return figure, axes


def stack(title: str, x: str, y: str, *, height: float, rows: int = 1) -> tuple[Figure, list[Axes]]:
    """An empty figure with stacked axes that share x: the title over the first, x under the
    last."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, height), dpi=100, layout="constrained", facecolor="white")
    column = list(figure.subplots(rows, 1, squeeze=False, sharex=True)[:, 0])
    column[0].set_title(
        title, loc="left", fontsize=NORMAL + 2, fontweight="bold", color=INK, pad=10
    )
    column[-1].set_xlabel(x, fontsize=NORMAL, color=INK)
    for axes in column:
        axes.set_ylabel(y, fontsize=NORMAL, color=INK)
        axes.tick_params(labelsize=SMALL, colors=MUTED)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        for side in ("left", "bottom"):
            axes.spines[side].set_color("#9aa5b1")
    return figure, column


def legend(axes: Axes, columns: int | None = None) -> None:
    """The legend under the axes, where it covers nothing."""
    handles, names = axes.get_legend_handles_labels()
    if names:
        columns = columns or max(1, min(3, len(names), LEGEND // max(map(len, names))))
        figure: Any = axes.get_figure()
        figure.legend(
            handles, names, loc="outside lower center", ncols=columns, fontsize=SMALL, frameon=False
        )


def whole_steps(axes: Axes) -> None:
    """Only whole numbers on the x axis."""
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(integer=True))


def shifted(point: Point, aside: float) -> Point:
    """The point, moved a little to the side."""
    return Point(point.name, point.x + aside, point.y, point.low, point.high)


def look(number: int, *, line: bool = True) -> dict[str, Any]:
    """Colour, marker and dash of a series by its number; no dash where no ``line`` joins its
    points."""
    dash = DASHES[number % len(DASHES)] if line else "none"
    return {
        "color": COLOURS[number % len(COLOURS)],
        "marker": MARKERS[number % len(MARKERS)],
        "linestyle": dash,
    }


def dots(axes: Axes, points: Sequence[Point], number: int, *, label: str, line: bool) -> None:
    """Points of one series with their intervals."""
    x = [point.x for point in points]
    y = [point.y for point in points]
    low = [point.y - (point.y if point.low is None else point.low) for point in points]
    high = [(point.y if point.high is None else point.high) - point.y for point in points]
    reach = np.maximum(0, [low, high])
    axes.errorbar(
        x, y, reach, **look(number, line=line), markersize=6, capsize=3, elinewidth=1, label=label
    )


def labelled(
    axes: Axes, series: Mapping[str, Sequence[Point]], *, apart: Collection[str] = ()
) -> None:
    """Points with their names beside them; a line through those of one series, but for those
    ``apart``.

    The legend names series of several points. Draw everything else first: names keep clear of
    points."""
    for number, (name, points) in enumerate(series.items()):
        ordered = sorted(points, key=lambda point: point.x)
        several = len(points) > 1
        dots(
            axes,
            ordered,
            number,
            label=name if several else "_",
            line=several and name not in apart,
        )
    axes.margins(0.12)
    legend(axes)
    lines = [number for number, name in enumerate(series) if name not in apart]
    place(
        axes,
        [(point, number) for number, points in enumerate(series.values()) for point in points],
        lines,
    )


def place(axes: Axes, points: Sequence[tuple[Point, int]], lines: Collection[int]) -> None:
    """Write each point's name where it covers no point, line, interval or other name, if possible.

    ``points`` come with the number of their series; those of the series in ``lines`` are joined.
    """
    from matplotlib.patheffects import withStroke

    figure: Any = axes.get_figure()
    figure.draw_without_rendering()
    occupied = list(series_boxes(axes, points, lines))
    halo = [withStroke(linewidth=3, foreground="white")]
    for point, number in points:
        at = np.asarray(axes.transData.transform((point.x, point.y)))
        width = 0.31 * SMALL * 100 / 72 * len(point.name)
        choices = []
        for far, (right, up) in itertools.product((1, 1.7, 2.5, 3.5, 4.5), SIDES):
            middle = at + np.array([right * (9 * far + width), up * 15 * far])
            rectangle = box_around(middle, width, 7)
            outside = (
                rectangle[0] < axes.bbox.x0
                or rectangle[2] > figure.bbox.x1
                or rectangle[1] < axes.bbox.y0
            )
            covered = sum(overlap(rectangle, other) for other in occupied) + 100 * outside
            choices.append((covered, far, middle, rectangle))
        _, far, middle, rectangle = min(choices, key=lambda choice: choice[:2])
        occupied += [rectangle] * 20
        offset = tuple(map(float, (middle - at) * 72 / 100))
        place: dict[str, Any] = {
            "xytext": offset,
            "textcoords": "offset points",
            "ha": "center",
            "va": "center",
        }
        place["arrowprops"] = (
            {"arrowstyle": "-", "color": MUTED, "linewidth": 0.7} if far > 2 else None
        )
        ink = darker(COLOURS[number % len(COLOURS)])
        axes.annotate(
            point.name, (point.x, point.y), **place, fontsize=SMALL, color=ink, path_effects=halo
        )


def darker(colour: str) -> str:
    """The colour, dark enough for letters on white."""
    return "#" + "".join(f"{int(0.7 * int(colour[at : at + 2], 16)):02x}" for at in (1, 3, 5))


def series_boxes(
    axes: Axes, points: Sequence[tuple[Point, int]], lines: Collection[int]
) -> Iterator[Box]:
    """Small rectangles, in pixels, along everything that the series of points draw."""
    for point, number in points:
        x = point.x
        y = point.y
        low = point.low
        high = point.high
        yield from [box_around(axes.transData.transform((x, y)), 5, 5)] * 3
        later = [
            other
            for other, series in points
            if series == number and number in lines and other.x > x
        ]
        to = min(later, key=lambda other: other.x, default=point)
        ends = [
            ((x, y), (to.x, to.y)),
            ((x, y if low is None else low), (x, y if high is None else high)),
        ]
        for begin, end in ends:
            for share in np.linspace(0, 1, 24):
                yield box_around(
                    axes.transData.transform(np.array(begin) * (1 - share) + np.array(end) * share),
                    1,
                    1,
                )


SIDES = ((1, 0), (-1, 0), (1, 0.7), (1, -0.7), (-1, 0.7), (-1, -0.7), (0, 1.1), (0, -1.1))
Box = tuple[float, float, float, float]


def box_around(middle: Any, across: float, up: float) -> Box:
    """A rectangle (left, bottom, right, top) in pixels."""
    return (
        float(middle[0] - across),
        float(middle[1] - up),
        float(middle[0] + across),
        float(middle[1] + up),
    )


def overlap(one: Box, other: Box) -> bool:
    """Whether two rectangles share area."""
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def clouds(axes: Axes, groups: Mapping[str, Sequence[tuple[float, float]]]) -> None:
    """(x, y) of every utterance and the least-squares line through them, one colour per group."""
    for number, (name, pairs) in enumerate(groups.items()):
        colour = COLOURS[number % len(COLOURS)]
        x, y = np.array(pairs, np.float64).reshape(-1, 2).T
        marker = MARKERS[number % len(MARKERS)]
        axes.scatter(x, y, s=22, color=colour, marker=marker, alpha=0.65, linewidth=0, label=name)
        if len(set(x)) > 1:
            slope, start = np.polynomial.polynomial.polyfit(x, y, 1)[::-1]
            ends = np.array([x.min(), x.max()])
            axes.plot(
                ends,
                start + slope * ends,
                DASHES[number % len(DASHES)],
                color=colour,
                linewidth=1.6,
            )
    if all(y >= 0 for pairs in groups.values() for _, y in pairs):
        axes.set_ylim(bottom=0)
    legend(axes)


def levels(series: Band, *, share: float = 0.25) -> tuple[Any, Any, Any]:
    """5 %, median and 95 % by step (N,), up to the last step that a quarter of the utterances
    reach."""
    steps = list(
        itertools.takewhile(lambda step: len(step) >= share * len(series), by_step(series))
    )
    if not steps:
        return (np.zeros(0),) * 3
    low, middle, high = np.array([np.percentile(step, (5, 50, 95)) for step in steps]).T
    return low, middle, high


def by_step(series: Band) -> Iterator[list[float]]:
    """The first values of all utterances, then the second ones of those that have them, and so
    on."""
    for step in range(max(map(len, series), default=0)):
        yield [values[step] for values in series if len(values) > step]


def bands(axes: Axes, groups: Mapping[str, Band], *, first: int) -> None:
    """Median and 5 to 95 % over steps, one colour per group, and the minimum over utterances up to
    the longest's end.

    Groups without steps are left out.
    """
    for number, (name, series) in enumerate(groups.items()):
        low, middle, high = levels([values for values in series if len(values)])
        if not len(middle):
            continue
        steps = np.arange(first, first + len(middle))
        colour = COLOURS[number % len(COLOURS)]
        axes.plot(steps, middle, **look(number), markersize=4, label=name)
        axes.fill_between(steps, low, high, color=colour, alpha=0.13, linewidth=0)
        least = [min(step) for step in by_step(series)]
        axes.plot(np.arange(first, first + len(least)), least, "_", markersize=5, color=colour)
    whole_steps(axes)
    legend(axes)


def box(
    axes: Axes, text: str, span: tuple[float, float], row: int, colour: str, end_s: float
) -> None:
    """A word on the timeline; its letters only where they fit."""
    begin_s, stop_s = span
    gap = min(0.004 * end_s, 0.2 * (stop_s - begin_s))
    axes.barh(row, stop_s - begin_s - gap, left=begin_s, height=0.72, color=colour, linewidth=0)
    # About 450 of the figure's 576 points are the time axis, a box is 38 points high; a letter at 8
    # points is about 5.
    width = (stop_s - begin_s) / end_s * 450
    along = 5.4 * len(text) < width
    across = 4.6 * len(text) < 39 and width > 9
    if along or across:
        middle = (begin_s + stop_s) / 2
        turn = 0 if along else 90
        axes.text(
            middle, row, text, ha="center", va="center", fontsize=8, color="white", rotation=turn
        )
