"""A run's log, one JSON object per line, and the curve of its losses."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from sayahead.errors import ConfigError


class Log:
    """``log.jsonl`` of a run."""

    scalars: Any = None
    """TensorBoard's SummaryWriter, which gets the numbers too, or none."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def begin(self, step: int) -> None:
        """Keep the lines up to ``step``, where the run resumes; the weights of later ones are
        lost."""
        if not self.path.exists():
            return
        lines = [line for line in read_log(self.path) if line["step"] <= step]
        partial = self.path.with_suffix(".partial")
        partial.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        os.replace(partial, self.path)

    def write(self, line: Mapping[str, Any]) -> None:
        """Add a line; numbers that are not finite become null, as JSON lacks them."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(finite(line)) + "\n")
        if self.scalars is not None:
            for name, value in flat_numbers(line):
                self.scalars.add_scalar(name, value, int(line["step"]))
            self.scalars.flush()


def flat_numbers(line: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, float]]:
    """Path and value of each number of a line except the step; paths are joined by slashes."""
    for key, value in line.items():
        if isinstance(value, Mapping):
            yield from flat_numbers(value, f"{prefix}{key}/")
        elif isinstance(value, int | float) and not isinstance(value, bool) and key != "step":
            yield prefix + key, float(value)


def scalar_writer(folder: Path) -> Any:
    """TensorBoard's writer for a run's folder; ConfigError where the package is missing."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise ConfigError("--tensorboard needs the package: pip install tensorboard.") from error
    return SummaryWriter(str(folder / "tensorboard"))


def finite(value: Any) -> Any:
    """The value with None in place of numbers that are not finite."""
    if isinstance(value, Mapping):
        return {key: finite(item) for key, item in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value


def read_log(path: Path) -> list[dict[str, Any]]:
    """The whole lines of a log; the last one may be truncated."""
    lines = []
    for text in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            line = json.loads(text)
        except ValueError:
            continue
        if isinstance(line, dict) and isinstance(line.get("step"), int):
            lines.append(line)
    return lines


def draw_losses(log: Path, path: Path) -> None:
    """Write a PNG of the losses over the steps."""
    from sayahead_lab.eval.report.drawing import COLOURS, canvas, legend, save

    figure, axes = canvas(f"Loss of {path.parent.name}", "step", "loss")
    lines = read_log(log)
    held_out = [
        line["validation"] | {"step": line["step"]} for line in lines if "validation" in line
    ]
    curves = {"train": finite_losses(lines), "validation": finite_losses(held_out)}
    for colour, (name, points) in zip(COLOURS, curves.items(), strict=False):
        if points:
            style = {"linewidth": 1.0} if name == "train" else {"marker": "o", "markersize": 4}
            axes.plot(*zip(*points, strict=True), color=colour, label=name, **style)
    values = [y for points in curves.values() for _, y in points]
    if values and min(values) > 0:
        axes.set_yscale("log")
    legend(axes)
    partial = path.with_name(path.stem + ".partial.png")
    save(figure, partial)
    os.replace(partial, path)


def finite_losses(lines: Iterable[Mapping[str, Any]]) -> list[tuple[int, float]]:
    """Step and loss of each line that has a loss."""
    losses = [(line["step"], line.get("loss")) for line in lines]
    return [(step, loss) for step, loss in losses if loss is not None and math.isfinite(loss)]
