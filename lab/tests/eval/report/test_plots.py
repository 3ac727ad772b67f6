"""Figures: each is titled, labelled, small, and shows its data."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lab_support.coarse import DPI
from lab_support.traces import utterance
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure
from sayahead import ConfigError
from sayahead.types import Floats

from sayahead_lab.eval.experiment.conditions import Condition
from sayahead_lab.eval.measures.latency import by_position, time_balance_s
from sayahead_lab.eval.report import attention as panels
from sayahead_lab.eval.report import drawing, plots
from sayahead_lab.eval.report.drawing import (
    COLOURS,
    COLUMN_IN,
    DASHES,
    MARKERS,
    Point,
    levels,
    save,
)
from sayahead_lab.eval.report.figures import (
    Experiment,
    drawn_conditions,
    family,
    group,
    over_lookahead,
)
from sayahead_lab.eval.report.tables import Column

SHORT = utterance(3)
LONG = utterance(6)


@pytest.fixture(autouse=True)
def as_users_get_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "DPI", DPI)


WHOLE = utterance(6, whole=True)
SERIES = {
    "no context": [Point("k=0", 0, 3.0, 2.9, 3.1), Point("k=1", 1, 3.5)],
    "random words": [Point("k=0, random", 0.1, 2.9), Point("k=1, random", 1.1, 3.4, 3.2, 3.6)],
    "whole": [Point("whole", 3.0, 4.0, 3.9, 4.1)],
}
CURVES = {name: points for name, points in SERIES.items() if name != "whole"}
FIGURES: dict[str, tuple[Callable[[], Figure], str, int]] = {
    # What is made, a part of its title, and its lines without bars and spans.
    "lookahead": (
        lambda: plots.quality_over_lookahead(CURVES, SERIES["whole"][0], metric="WER, %"),
        "lookahead",
        3,
    ),
    "no full sentence": (
        lambda: plots.quality_over_lookahead(CURVES, None, metric="WER, %"),
        "WER over",
        2,
    ),
    "length": (
        lambda: plots.latency_over_length({"a": [(3, 0.2), (6, 0.4)], "b": [(3, 0.1)]}, clock="c"),
        "sentence length (c)",
        1,
    ),
    "chunk delay": (
        lambda: plots.chunk_delay_over_length(
            {"a": [(3, 0.2), (6, 0.4)], "b": [(3, 1), (9, 2)]}, clock="c"
        ),
        "chunk delay",
        2,
    ),
    "balance": (
        lambda: plots.time_balance(
            {"a": [list(time_balance_s(LONG)), list(time_balance_s(SHORT))], "none": []}
        ),
        "balance",
        3,
    ),
    "generation": (
        lambda: plots.generation_and_audio(
            {"a": by_position([LONG]), "b": by_position([LONG, LONG])}
        ),
        "Computing time against",
        4,
    ),
    "cores": (
        lambda: plots.ratio_over_cores({"k=1": [Point("2", 2, 0.3), Point("1", 1, 0.5, 0.4, 0.6)]}),
        "by processor cores",
        2,
    ),
    "path": (lambda: plots.policy_path({"k=0": LONG, "whole": WHOLE}), "READ", 2),
    "share": (lambda: plots.quality_over_proportion(SERIES, metric="MOS"), "MOS over the share", 3),
    "processing": (
        lambda: plots.processing_over_steps(
            {"a": ([[0.1, 0.2, 0.3]], 600.0), "b": ([[0.1]], 60.0)}
        ),
        "Cumulative",
        4,
    ),
    "frontier": (lambda: plots.frontier(SERIES, metric="MOS", clock="c"), "word lag (c)", 3),
    "timeline": (
        lambda: plots.timeline({"k=0": LONG, "whole": WHOLE}, clock="c"),
        "text in, speech out (c)",
        2,
    ),
}


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_is_titled_labelled_and_written(name: str, tmp_path: Path) -> None:
    make, title, lines = FIGURES[name]
    figure = make()
    (axes,) = figure.axes
    assert title in axes.get_title(loc="left")
    assert axes.get_xlabel()
    assert axes.get_ylabel() or name == "timeline"
    # Error bars' caps are lines too, without a name of their own.
    caps = [
        line for container in axes.containers for line in getattr(container, "lines", ((), ()))[1]
    ]
    drawn = [line for line in axes.get_lines() if line not in caps]
    assert len(drawn) == lines
    save(figure, tmp_path / "figure.png")
    png = (tmp_path / "figure.png").read_bytes()
    assert png.startswith(b"\x89PNG")
    assert int.from_bytes(png[16:20], "big") == 1280


def diagonal(frames: int, columns: int) -> Floats:
    """Attention that goes over the columns evenly."""
    return np.eye(columns, dtype=np.float32)[np.arange(frames) * columns // frames]


PANELS: dict[str, tuple[Callable[[], Figure], list[str]]] = {
    "alignments": (
        lambda: panels.alignments(
            {"full": diagonal(40, 5), "k = 1": diagonal(50, 5)}, hop_s=0.0125, phonemes="hElo."
        ),
        ["full", "k = 1"],
    ),
    "mels": (
        lambda: panels.mels(
            {name: diagonal(60, 80) - 4 for name in ("ground truth", "full", "k = 1")}, hop_s=0.01
        ),
        ["ground truth", "full", "k = 1"],
    ),
    "path": (
        lambda: panels.policy_over_alignment(
            {
                "wait": (diagonal(40, 10), np.full(40, 10)),
                "agent": (diagonal(40, 10), np.arange(40) // 4 + 1),
            },
            hop_s=0.01,
        ),
        ["wait, $d_T$ = 1.00", "agent, $d_T$ = 0.55"],
    ),
}


@pytest.mark.parametrize("name", PANELS)
def test_panels_have_a_row_a_method(name: str, tmp_path: Path) -> None:
    make, methods = PANELS[name]
    figure = make()
    rows = figure.axes
    assert [text.get_text() for axes in rows for text in axes.texts if text.get_text()] == methods
    assert rows[0].get_title(loc="left")
    assert rows[-1].get_xlabel() == "time, s"
    assert all(len(axes.images) == 1 and axes.get_ylabel() for axes in rows)
    save(figure, tmp_path / "figure.png")
    assert int.from_bytes((tmp_path / "figure.png").read_bytes()[16:20], "big") == 1280


def test_panels_show_the_data() -> None:
    rows = panels.alignments(
        {"full": diagonal(40, 5), "k = 1": diagonal(50, 5)}, hop_s=0.1, phonemes="hElo."
    ).axes
    shown = rows[1].images[0]
    assert np.array_equal(np.asarray(shown.get_array()), diagonal(50, 5).T)
    assert list(shown.get_extent()) == [0, 5, 0, 5]
    # Both panels have room for the longer one.
    assert rows[0].get_xlim() == rows[1].get_xlim() == (0, 5)
    assert [label.get_text() for label in rows[0].get_yticklabels()] == list("hElo.")
    mels = panels.mels({"a": diagonal(60, 80), "b": 2 * diagonal(60, 80)}, hop_s=0.01).axes
    assert mels[0].images[0].get_clim() == mels[1].images[0].get_clim()


def test_panels_that_do_not_fit_are_errors() -> None:
    with pytest.raises(
        ConfigError, match="full, k = 1 with 5, 6 phonemes and 0 labels do not go together"
    ):
        panels.alignments({"full": diagonal(9, 5), "k = 1": diagonal(9, 6)}, hop_s=0.1)
    with pytest.raises(ConfigError, match="with 5 phonemes and 2 labels"):
        panels.alignments({"full": diagonal(9, 5)}, hop_s=0.1, phonemes="ab")
    with pytest.raises(
        ConfigError, match=r"full: an array of frames by rows is drawn, not one of shape \(9,\)"
    ):
        panels.mels({"full": np.zeros(9, np.float32)}, hop_s=0.1)
    with pytest.raises(ConfigError, match=r"different bands: \[5, 6\]"):
        panels.mels({"full": diagonal(9, 5), "k = 1": diagonal(9, 6)}, hop_s=0.1)
    with pytest.raises(
        ConfigError, match=r"Policy a: 9 frames of attention, but a path of shape \(8,\)"
    ):
        panels.policy_over_alignment({"a": (diagonal(9, 5), np.ones(8, np.int64))}, hop_s=0.1)


def test_pictures_are_small(tmp_path: Path) -> None:
    pairs = [(float(at % 30), float(at)) for at in range(800)]
    save(
        plots.latency_over_length({str(n): pairs for n in range(8)}, clock="c"),
        tmp_path / "figure.png",
    )
    assert (tmp_path / "figure.png").stat().st_size < 80_000


@pytest.mark.parametrize("ending", ["svg", "pdf"])
def test_a_paper_s_figure_is_a_column_wide_without_title_and_the_same_each_time(
    ending: str, tmp_path: Path
) -> None:
    figure = FIGURES["lookahead"][0]()
    wide = figure.get_size_inches()[0]
    title = figure.axes[0].get_title(loc="left")
    for name in ("one", "two"):
        save(figure, tmp_path / f"{name}.{ending}")
    data = (tmp_path / f"one.{ending}").read_bytes()
    assert data == (tmp_path / f"two.{ending}").read_bytes()
    if ending == "svg":
        assert f'width="{72 * COLUMN_IN:.0f}pt"'.encode() in data
        assert title.encode() not in data
        assert b"WER" in data
    # The figure that the page shows is as it was.
    assert (figure.get_size_inches()[0], figure.axes[0].get_title(loc="left")) == (wide, title)


def test_figures_show_the_data() -> None:
    axes = plots.latency_over_length({"a": [(3, 0.2), (6, 0.5)]}, clock="c").axes[0]
    cloud = next(item for item in axes.collections if isinstance(item, PathCollection))
    assert np.asarray(cloud.get_offsets()).tolist() == [[3, 0.2], [6, 0.5]]
    assert np.allclose(axes.get_lines()[0].get_xydata(), [[3, 0.2], [6, 0.5]])
    least = plots.time_balance({"a": [[0.5, 0.2], [0.1, 0.4, 0.9]]}).axes[0].get_lines()[-1]
    assert np.allclose(least.get_xydata(), [[2, 0.1], [3, 0.2], [4, 0.9]])
    playing, computing, _, _ = FIGURES["generation"][0]().axes[0].get_lines()
    assert np.allclose(playing.get_ydata(), 250)
    assert np.allclose(computing.get_ydata(), 10)
    path = plots.policy_path({"k=0": LONG, "whole": WHOLE})
    names = [text.get_text() for text in path.legends[0].get_texts()]
    # Six equal chunks after 5, 10, ..., 29 of 29 characters.
    share = (5 + 10 + 15 + 20 + 25 + 29) / 6 / 29
    assert names == [f"k=0, $d_T$ = {share:.2f}", "whole, $d_T$ = 1.00"]
    rows = plots.timeline({"k=0": LONG, "whole": WHOLE}, clock="c").axes[0]
    assert [label.get_text() for label in rows.get_yticklabels()] == [
        "text arrives",
        "k=0\nfirst sound 0.31 s",
        "whole\nfirst sound 1.81 s",
    ]
    assert len(rows.patches) == 3 * 6
    assert plots.words_heard(WHOLE)[1] == pytest.approx(("word", 2.06, 2.30))
    assert plots.words_arrived(LONG)[:2] == [("word", 0.3), ("word", 0.6)]


def test_levels_stop_where_few_utterances_are_left() -> None:
    series = [[1.0, 2.0, 3.0], [3.0, 4.0], [5.0], [5.0], [5.0]]
    _, middle, _ = levels(series)
    assert middle.tolist() == [5.0, 3.0]
    assert [len(level) for level in levels([])] == [0, 0, 0]


def test_styles_differ() -> None:
    assert len(COLOURS) == len(MARKERS) == len(set(COLOURS)) == len(set(MARKERS))
    assert len(set(DASHES)) == len(DASHES)


def test_too_many_conditions_are_thinned_out_and_peers_kept() -> None:
    settings = {f"k = {k}": {"policy": f"lookahead:k={k}", "context": "none"} for k in range(9)}
    settings |= {f"k = {k}, LM": {"policy": f"lookahead:k={k}", "context": "lm"} for k in range(9)}

    def shown(names: list[str]) -> list[str]:
        about = {"settings": {name: settings[name] for name in names if name in settings}}
        return drawn_conditions(
            Experiment(about, tuple(names), (), {}, {}, lambda name, clock: [])
        )[0]

    peers = [f"peer {n}" for n in range(5)]
    own = list(settings)
    assert shown([*own, *peers]) == [
        "k = 0",
        "k = 1",
        "k = 3",
        "k = 6",
        "k = 8",
        "peer 0",
        "peer 2",
        "peer 4",
    ]
    assert shown([*own[:5], *peers[:4]]) == [*own[:5], "peer 0", "peer 2", "peer 3"]
    assert shown([*own[:3], *peers]) == [*own[:3], *peers]
    assert len(shown(own)) == 8
    experiment = Experiment({"settings": settings}, tuple(own), (), {}, {}, lambda name, clock: [])
    assert drawn_conditions(experiment)[1] == "8 of 18 conditions are drawn."


def test_conditions_of_one_manner_are_one_series() -> None:
    settings: dict[str, dict[str, Any]] = {
        "full": {"policy": "wait-all"},
        "alone": {"policy": "independent:words=2"},
        "lookahead-1": {"policy": "lookahead:k=1"},
        "lookahead-2": {"policy": "lookahead:k=1", "k2": 1},
        "chunks": {"policy": "lookahead:k=1,first_chunk=18,chunk=6", "delta": 0},
    }
    conditions = [Condition(name, **fields) for name, fields in settings.items()]
    assert [family(condition) for condition in conditions] == [
        "heart, whole sentences",
        "heart, every 2 words by themselves",
        "heart, k = 1, no context",
        "heart, k = 1, k2 = 1, no context",
        "heart, k = 1, no context, chunks 18-6, delta 0",
    ]
    other = Condition("wait-3", policy="wait-k-steps:k=3", voice="mohan-lj")
    assert family(other) == "mohan-lj, wait-k-steps:k=3,head=0, no context"
    quality = {name: {"wer": {"mean": 0.1}} for name in settings}
    experiment = Experiment(
        {"settings": settings}, tuple(settings), (), {}, quality, lambda name, clock: []
    )
    found, full = over_lookahead(experiment, Column("WER, %", "wer"))
    assert {name: [(p.name, p.x) for p in points] for name, points in found.items()} == {
        "no context": [("lookahead-1", 1), ("lookahead-2", 2)],
        "no context, chunks 18-6, delta 0": [("chunks", 1)],
    }
    assert full is not None
    assert full.name == group(experiment, "full") == "full"
    assert group(experiment, "alone") == "alone"
