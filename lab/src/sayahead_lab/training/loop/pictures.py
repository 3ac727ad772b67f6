"""Pictures of a training run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from sayahead.sound.files import write_wav
from sayahead.types import Floats

from sayahead_lab.scripts import strided
from sayahead_lab.training.corpus.frontend import MelFrontEnd
from sayahead_lab.training.corpus.griffinlim import griffin_lim

T = TypeVar("T")


def examples(items: Sequence[T], count: int) -> list[tuple[int, T]]:
    """Number and item of up to ``count`` evenly spaced items."""
    return (
        [(number, items[number]) for number in strided(range(len(items)), count)] if count else []
    )


def write_sample(
    folder: Path,
    name: str,
    front: MelFrontEnd,
    meant: NDArray[np.floating],
    *,
    samples: Floats | None = None,
    mel: Floats | None = None,
    alignment: Floats | None = None,
) -> None:
    """Write NAME.wav, of samples (S,) or of log mel (T, D) by Griffin and Lim, and NAME.png, above
    the target mel."""
    if samples is None:
        assert mel is not None
        samples = griffin_lim(front, mel)
    mel = front.log_mel(samples) if mel is None else mel
    write_wav(folder / f"{name}.wav", samples, front.sample_rate)
    spectrogram(folder / f"{name}.png", mel, np.asarray(meant, np.float32), alignment=alignment)


def spectrogram(
    path: Path, output: Floats, meant: Floats, *, alignment: Floats | None = None
) -> None:
    """Draw the predicted log mel (T, D) above the target (T', D), and an alignment (T'', P), if
    any, below."""
    from matplotlib.figure import Figure

    path.parent.mkdir(parents=True, exist_ok=True)
    rows = 2 if alignment is None else 3
    figure = Figure(figsize=(8, 2.2 * rows), layout="constrained")
    axes = figure.subplots(rows, 1)
    low = float(meant.min())
    high = float(meant.max())
    for axis, mel, title in zip(axes, (output, meant), ("spoken", "meant"), strict=False):
        axis.imshow(mel.T, origin="lower", aspect="auto", vmin=low, vmax=high)
        axis.set(title=title, xlabel="frame", ylabel="mel band")
    if alignment is not None:
        axes[2].imshow(alignment.T, origin="lower", aspect="auto", vmin=0)
        axes[2].set(title="attention", xlabel="decoder step", ylabel="phoneme")
    figure.savefig(path, dpi=80)
