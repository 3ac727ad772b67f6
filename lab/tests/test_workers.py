"""Work in this process and in others of this machine."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest
from lab_support.fake_workers import begin, refuse
from sayahead.cli import main
from sayahead.errors import ConfigError

from sayahead_lab.workers import Local, WorkerError


def doubled(folder: Path, jobs: int, numbers: Sequence[int]) -> dict[int, int]:
    with Local(jobs).open(partial(begin, folder)) as spread:
        return dict(spread(numbers, lambda number: f"Number {number}"))


def begun(folder: Path) -> set[str]:
    return {path.name for path in folder.glob("begun-*")}


def test_one_is_this_process_and_begins_when_there_is_something_to_do(tmp_path: Path) -> None:
    assert doubled(tmp_path, 1, []) == {}
    assert begun(tmp_path) == set()
    assert doubled(tmp_path, 1, [1, 2, 3]) == {1: 2, 2: 4, 3: 6}
    assert begun(tmp_path) == {f"begun-{os.getpid()}"}
    with pytest.raises(ZeroDivisionError):
        doubled(tmp_path, 1, [14])


def test_two_are_other_processes_that_begin_once(tmp_path: Path) -> None:
    with Local(2).open(partial(begin, tmp_path)) as spread:
        for numbers in ([1, 2, 3, 4], [5, 6]):
            assert dict(spread(numbers, str)) == {number: 2 * number for number in numbers}
    assert 1 <= len(begun(tmp_path)) <= 2
    assert f"begun-{os.getpid()}" not in begun(tmp_path)


def test_errors_of_others_name_their_task(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"^Number 13: 13 brings no luck"):
        doubled(tmp_path, 2, [1, 13])
    with pytest.raises(
        WorkerError,
        match=r"^Number 14 failed on .*workers\.py, line \d+\): ZeroDivisionError: 14\.$",
    ):
        doubled(tmp_path, 2, [14])
    with pytest.raises(
        WorkerError, match=r"^Number 16: the process .* was ended from outside.*use fewer --jobs"
    ):
        doubled(tmp_path, 2, [16])
    with (
        pytest.raises(ConfigError, match=r"^Number 1: There is nothing to begin with"),
        Local(2).open(refuse) as spread,
    ):
        list(spread([1], lambda number: f"Number {number}"))


@pytest.mark.parametrize(
    "command",
    [
        ["eval", "run", "{0}/matrix.toml", "--texts", "{0}/texts.csv"],
        ["train", "corpus", "--train", "{0}/texts.csv"],
    ],
)
def test_a_cluster_needs_ray(
    command: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    (tmp_path / "texts.csv").write_text("a|One two.\n", encoding="utf-8")
    (tmp_path / "matrix.toml").write_text(
        'count = 1\n[[conditions]]\nname = "k1"\n[[clocks]]\nname = "llm"\nkind = "tokens"\n',
        encoding="utf-8",
    )
    out = [str(tmp_path / "out")] if command[0] == "train" else ["-o", str(tmp_path / "out")]
    given = [part.format(tmp_path) for part in command]
    assert main([*given[:2], *out, *given[2:], "--on", "ray"]) != 0
    assert "--on ray needs Ray: pip install 'sayahead[ray]'." in capsys.readouterr().err
