"""What holds two versions side by side: their sources, a process for each that speaks, and turns
between them."""

from __future__ import annotations

import contextlib
import io
import json
import os
import statistics
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from served import SOURCE

Side = TypeVar("Side")
Answer = TypeVar("Answer")
Table = tuple[list[str], dict[str, Any]]
"""A measure's lines of Markdown after the command, and the same as data."""


def source_of(release: str, folder: Path) -> Path:
    """A release's source: a folder as it is, a commit of this repository unpacked into
    ``folder``."""
    if Path(release).is_dir():
        return Path(release).resolve()
    command = ["git", "-C", str(SOURCE.parent), "archive", release, "src"]
    archive = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    if archive.returncode:
        raise SystemExit(
            f"{release} is neither a folder nor a commit that has src. Name the src of a checkout."
        )
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
        files.extractall(folder, filter="data")
    return folder / "src"


def environment(source: Path) -> dict[str, str]:
    """Variables of a process that runs a version."""
    return {**os.environ, "PYTHONPATH": str(source)}


class Speaker:
    """A version's voice in a process of its own."""

    def __init__(self, source: Path, voice: str = "heart") -> None:
        # Without -P the names of the scripts here would be Python's modules there.
        command = [sys.executable, "-P", str(Path(__file__).with_name("speaker.py")), voice]
        pipe = subprocess.PIPE
        variables = environment(source) | {"OMP_NUM_THREADS": "1"}
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=variables)
        self._source = source

    def ask(self, task: str, *given: Any) -> Any:
        """The answer to one of ``speaker.TASKS``."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            print(json.dumps([task, *given]), file=self.process.stdin, flush=True)
        if not (line := self.process.stdout.readline()):
            raise SystemExit(
                f"The version in {self._source} ended at {task}; what it said is above."
            )
        return json.loads(line)


@contextlib.contextmanager
def speakers(sources: Mapping[str, Path], **voices: str) -> Iterator[dict[str, Speaker]]:
    """A process for each version, with a voice of its own where one is named; ended afterwards."""
    processes = {
        name: Speaker(source, voices.get(name, "heart")) for name, source in sources.items()
    }
    try:
        yield processes
    finally:
        for speaker in processes.values():
            speaker.process.kill()
            speaker.process.communicate()


def in_turns(
    sides: Mapping[str, Side], times: int, ask: Callable[[Side, int], Answer]
) -> dict[str, list[Answer]]:
    """What each side answers to each number below ``times``; who comes first changes with every
    number."""
    answers: dict[str, list[Answer]] = {name: [] for name in sides}
    for number in range(times):
        for name in sorted(sides, reverse=number % 2 == 0):
            answers[name].append(ask(sides[name], number))
    return answers


def ratios(
    rows: Mapping[str, tuple[Sequence[float], Sequence[float]]], places: int | None = None
) -> Table:
    """A table of each figure's medians on both versions and the median ratio of a round."""
    lines = ["| | release | now | ratio |", "|---|---:|---:|---:|"]
    data = {}
    for name, (release, now) in rows.items():
        medians = [statistics.median(values) for values in (release, now)]
        ratio = statistics.median(
            after / before for before, after in zip(release, now, strict=True)
        )
        digits = places if places is not None else 2 if max(*release, *now) < 20 else 0
        lines.append(
            f"| {name} | {medians[0]:.{digits}f} | {medians[1]:.{digits}f} | {ratio:.2f} |"
        )
        data[name] = {"release": list(release), "now": list(now), "ratio": ratio}
    return lines, data
