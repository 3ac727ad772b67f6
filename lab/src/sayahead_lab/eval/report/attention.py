"""Figures of models with attention, one panel per method: alignment, spectrogram, policy path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sayahead.errors import ConfigError
from sayahead.types import Floats, Ids

from sayahead_lab.eval.measures.latency import path_area
from sayahead_lab.eval.report.drawing import COLOURS, INK, SMALL, stack

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def alignments(
    methods: Mapping[str, Floats], *, hop_s: float, phonemes: Sequence[str] = ()
) -> Figure:
    """Attention of each method over the same P phonemes, one above the other (Ma et al. 2020, Fig.
    10).

    Each alignment is (T, P): the attention of frame t, a frame lasting ``hop_s``; T may differ.
    ``phonemes`` (P,) are written on the axis. ConfigError for shapes that do not match."""
    widths = {checked(name, alignment).shape[1] for name, alignment in methods.items()}
    if len(widths) != 1 or (phonemes and len(phonemes) not in widths):
        raise ConfigError(
            f"Alignments of {', '.join(methods)} with {', '.join(map(str, sorted(widths)))}"
            f" phonemes and {len(phonemes)} labels do not go together."
        )
    tall = max(1.9, 0.13 * len(phonemes))
    figure, column = stack(
        "Attention", "time, s", "phoneme", height=0.9 + tall * len(methods), rows=len(methods)
    )
    for axes, (name, alignment) in zip(column, methods.items(), strict=True):
        image(axes, alignment, hop_s, "Blues", (0.0, 1.0), name)
        if phonemes:
            axes.set_yticks(np.arange(len(phonemes)) + 0.5, phonemes, fontsize=7)
            axes.tick_params(axis="y", length=0)
    column[0].set_xlim(0, hop_s * max(map(len, methods.values())))
    return figure


def padded(methods: Mapping[str, Floats]) -> dict[str, Floats]:
    """Alignments over different numbers of phonemes, each as wide as the widest."""
    width = max(alignment.shape[1] for alignment in methods.values())
    return {
        name: np.pad(alignment, ((0, 0), (0, width - alignment.shape[1])))
        for name, alignment in methods.items()
    }


def mels(methods: Mapping[str, Floats], *, hop_s: float) -> Figure:
    """Log mel spectrogram of each method, one above the other on one scale of colours (Ma et al.
    2020, Fig. 11).

    Each is (T, D) with D bands, a frame lasting ``hop_s``; T may differ. ConfigError for shapes
    that do not match."""
    bands = {checked(name, mel).shape[1] for name, mel in methods.items()}
    if len(bands) != 1:
        raise ConfigError(
            f"Spectrograms of {', '.join(methods)} have different bands: {sorted(bands)}."
        )
    # A few frames of complete silence must not use up the colours.
    low, high = np.percentile(np.concatenate([mel.ravel() for mel in methods.values()]), (2, 99.8))
    height = 0.9 + 1.7 * len(methods)
    figure, column = stack(
        "Log mel spectrogram", "time, s", "mel band", height=height, rows=len(methods)
    )
    for axes, (name, mel) in zip(column, methods.items(), strict=True):
        image(axes, mel, hop_s, "magma", (float(low), float(high)), name, ink="white")
    column[0].set_xlim(0, hop_s * max(map(len, methods.values())))
    return figure


def policy_over_alignment(methods: Mapping[str, tuple[Floats, Ids]], *, hop_s: float) -> Figure:
    """READ/SPEAK path of each policy over its attention; grey: characters not read yet (Mohan et
    al. 2020, Fig. 2).

    Each has an alignment (T, P) over the P characters, and (T,) how many of them had been read when
    frame t was spoken. ConfigError for shapes that do not match.
    """
    height = 0.9 + 2.3 * len(methods)
    figure, column = stack(
        "Policy path over attention", "time, s", "character", height=height, rows=len(methods)
    )
    for axes, (name, (alignment, read)) in zip(column, methods.items(), strict=True):
        frames, characters = checked(name, alignment).shape
        if np.shape(read) != (frames,):
            raise ConfigError(
                f"Policy {name}: {frames} frames of attention, but a path of shape"
                f" {np.shape(read)}."
            )
        image(axes, alignment, hop_s, "Blues", (0.0, 1.0), "")
        edges = np.arange(frames + 1) * hop_s
        axes.stairs(
            np.full(frames, characters), edges, baseline=read, fill=True, color="#9aa5b1", alpha=0.6
        )
        share = path_area(read.tolist(), characters)
        path: dict[str, Any] = {"color": COLOURS[1], "linewidth": 1.8}
        axes.stairs(read, edges, baseline=None, **path)
        axes.plot([0, 0], [0, read[0]], **path)
        axes.text(
            0.99,
            0.05,
            f"{name}, $d_T$ = {share:.2f}",
            transform=axes.transAxes,
            ha="right",
            fontsize=SMALL,
        )
    column[0].set_xlim(-hop_s, hop_s * max(len(alignment) for alignment, _ in methods.values()))
    return figure


def checked(name: str, values: Floats) -> Floats:
    """The array, if it has two axes and is not empty; otherwise ConfigError, with its method's
    name."""
    if np.ndim(values) != 2 or not np.size(values):
        raise ConfigError(
            f"{name}: an array of frames by rows is drawn, not one of shape {np.shape(values)}."
        )
    return values


def image(
    axes: Axes,
    values: Floats,
    hop_s: float,
    colours: str,
    limits: tuple[float, float],
    name: str,
    *,
    ink: str = INK,
) -> None:
    """Draw an array (T, D) with time to the right and its method's name inside."""
    frames, rows = values.shape
    low, high = limits
    scale: dict[str, Any] = {
        "cmap": colours,
        "vmin": low,
        "vmax": high,
        "extent": (0, frames * hop_s, 0, rows),
    }
    axes.imshow(
        np.asarray(values).T, origin="lower", aspect="auto", interpolation="nearest", **scale
    )
    axes.text(
        0.01,
        0.95,
        name,
        transform=axes.transAxes,
        va="top",
        fontsize=SMALL,
        color=ink,
        fontweight="bold",
    )
