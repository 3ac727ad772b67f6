"""Pictures of a training run."""

from __future__ import annotations

from pathlib import Path

from sayahead.types import Floats


def spectrogram(path: Path, made: Floats, meant: Floats, *, alignment: Floats | None = None) -> None:
    """Draw the log mel made (T, D) over the one meant (T', D), and an alignment (T'', P) below where there is one."""
    from matplotlib.figure import Figure

    path.parent.mkdir(parents=True, exist_ok=True)
    rows = 2 if alignment is None else 3
    figure = Figure(figsize=(8, 2.2 * rows), layout="constrained")
    axes = figure.subplots(rows, 1)
    low, high = float(meant.min()), float(meant.max())
    for axis, mel, title in zip(axes, (made, meant), ("made", "meant"), strict=False):
        axis.imshow(mel.T, origin="lower", aspect="auto", vmin=low, vmax=high)
        axis.set(title=title, xlabel="frame", ylabel="mel band")
    if alignment is not None:
        axes[2].imshow(alignment.T, origin="lower", aspect="auto", vmin=0)
        axes[2].set(title="attention", xlabel="decoder step", ylabel="phoneme")
    figure.savefig(path, dpi=80)
