"""Evaluations and corpora on a local Ray cluster: what one machine makes, and what happens when a
worker is lost."""

from __future__ import annotations

import hashlib
import logging
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from lab_support.fake_workers import begin, refuse
from lab_support.noise_teacher import ToySpec
from sayahead import __version__
from sayahead.errors import ConfigError

from sayahead_lab.cluster import WAITING, Cluster, begun, workers
from sayahead_lab.eval.experiment.conditions import load_matrix
from sayahead_lab.eval.experiment.folder import measured_traces
from sayahead_lab.eval.experiment.run import run
from sayahead_lab.scripts import read_texts
from sayahead_lab.training.corpus.making import make_corpus
from sayahead_lab.workers import Local, WorkerError, Workers

TEXTS = {
    "train": [(f"T{i:02d}", "word " * (1 + i % 3)) for i in range(11)],
    "val": [("V00", "one two")],
}
MATRIX = """
count = 3
[[conditions]]
name = "k1"
policy = "lookahead:k=1"
[[conditions]]
name = "k0"
policy = "lookahead:k=0"
[[clocks]]
name = "llm"
kind = "tokens"
"""


def test_who_works() -> None:
    assert (workers(None, None).count, workers(None, 3).count, workers(None, 3).place) == (
        1,
        3,
        "here",
    )


def test_a_machine_of_another_version_is_told(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigError, match=f"has sayahead {__version__}, and the command is of 0.0.0"
    ):
        begun(partial(begin, tmp_path), "0.0.0", str(tmp_path))


class BusyRay:
    """A cluster of four cores, some of them free: of all workers asked for, only so many ever
    start."""

    exceptions = SimpleNamespace(RayError=OSError)

    def __init__(self, free: int) -> None:
        self.free = free
        self.waits = 0

    def is_initialized(self) -> bool:
        return True

    def available_resources(self) -> dict[str, float]:
        return {"CPU": float(max(0, self.free))}

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": 4.0}

    def remote(self, **_: Any) -> Any:
        return lambda kind: SimpleNamespace(remote=lambda *given: self.worker(kind(*given)))

    def worker(self, member: Any) -> Any:
        placed = self.free > 0
        self.free = self.free - 1

        def call(method: Callable[..., Any]) -> Any:
            return SimpleNamespace(remote=lambda *given: (placed, method, given))

        return SimpleNamespace(ready=call(member.ready), carry_out=call(member.carry_out))

    def wait(
        self, asked: Sequence[Any], *, num_returns: int, timeout: float | None
    ) -> tuple[list[Any], list[Any]]:
        done = [each for each in asked if each[0]]
        if not done:
            assert timeout is not None, "It would wait for ever for who never starts."
            self.waits += 1
            if self.waits == 2:
                raise KeyboardInterrupt
        return done[:1], []

    def get(self, asked: Any) -> Any:
        return asked[1](*asked[2])

    def kill(self, member: Any) -> None:
        pass


def test_only_who_has_a_core_gets_a_task(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "ray", BusyRay(2))
    assert (Cluster().count, Cluster(3).count, Cluster(9).count) == (2, 3, 4)
    # Two of the four never start.
    assert doubled(Cluster(4), tmp_path, [1, 2, 3, 4, 5]) == {1: 2, 2: 4, 3: 6, 4: 8, 5: 10}
    assert not caplog.records
    monkeypatch.setitem(sys.modules, "ray", BusyRay(0))
    with pytest.raises(KeyboardInterrupt):
        doubled(Cluster(), tmp_path, [1, 2])
    assert caplog.messages == [WAITING % (4, 0)]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    ray = pytest.importorskip("ray", reason="needs the extra ray")
    folder = Path(__file__).parents[2]
    os.environ["RAY_AUTH_MODE"] = "disabled"
    # Ray's processes would compile all modules anew, which on a loaded machine takes longer than
    # Ray waits.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    places = ("src", "tests", "lab/src", "lab/tests")
    source = [*(str(folder / place) for place in places), os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(source)
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield Cluster()
    ray.shutdown()


def doubled(by: Workers, folder: Path, numbers: Sequence[int]) -> dict[int, int]:
    with by.open(partial(begin, folder)) as spread:
        return dict(spread(numbers, lambda number: f"Number {number}"))


def digests(path: Path) -> dict[str, str]:
    files = sorted(file for file in path.rglob("*") if file.is_file())
    return {
        str(file.relative_to(path)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files
    }


@pytest.mark.slow
def test_a_corpus_is_the_same_to_the_byte_and_goes_on(cluster: Cluster, tmp_path: Path) -> None:
    make: Any = partial(make_corpus, spec=ToySpec(), splits=TEXTS, shard_texts=4)
    make(tmp_path / "here")
    # Cut off after three texts of the second shard.
    with pytest.raises(KeyboardInterrupt):
        make_corpus(tmp_path / "ray", ToySpec("T06"), TEXTS, shard_texts=4)
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "ray").glob("*/0*/mel.npy")}
    assert len(kept) == 2
    notes = list[str]()
    make(tmp_path / "ray", workers=cluster, note=notes.append)
    assert digests(tmp_path / "ray") == digests(tmp_path / "here")
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert len(notes) == 2


@pytest.mark.slow
def test_an_evaluation_sounds_the_same_and_goes_on(cluster: Cluster, tmp_path: Path) -> None:
    (tmp_path / "matrix.toml").write_text(MATRIX, encoding="utf-8")
    (tmp_path / "texts.csv").write_text(
        "a|One two three.\nb|Four, five.\nc|Six.\n", encoding="utf-8"
    )
    matrix = load_matrix(tmp_path / "matrix.toml")
    scripts = read_texts(tmp_path / "texts.csv")
    run(matrix, scripts, tmp_path / "here")
    # What is there is left as it is.
    run(matrix, scripts[:1], tmp_path / "ray")
    before = (tmp_path / "ray/k1/measured.jsonl").read_text(encoding="utf-8")
    lines = list[str]()
    run(matrix, scripts, tmp_path / "ray", workers=cluster, progress=lines.append)
    assert len(lines) == 4
    assert (tmp_path / "ray/k1/measured.jsonl").read_text(encoding="utf-8").startswith(before)
    for name in ("k0", "k1"):
        assert digests(tmp_path / "ray" / name / "wav") == digests(tmp_path / "here" / name / "wav")
        here, there = (
            measured_traces(tmp_path / place / name, scripts) for place in ("here", "ray")
        )
        assert [trace.name for trace in there] == ["a", "b", "c"]
        assert [[word.onset_samples for word in trace.words] for trace in there] == [
            [word.onset_samples for word in trace.words] for trace in here
        ]


@pytest.mark.slow
def test_an_evaluation_waits_for_a_core_and_says_so(
    cluster: Cluster,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    ray = sys.modules["ray"]
    monkeypatch.setattr("sayahead_lab.cluster.TELL_S", 0.5)
    other = ray.remote(num_cpus=2)(Holder).remote()
    assert ray.get(other.hold.remote()) == "held"
    results = dict[int, int]()
    working = threading.Thread(
        target=lambda: results.update(doubled(Cluster(2), tmp_path, [1, 2, 3]))
    )
    with caplog.at_level(logging.WARNING):
        working.start()
        working.join(5)
    assert working.is_alive()
    assert WAITING % (2, 0) in caplog.messages
    ray.kill(other)
    working.join(60)
    assert results == {1: 2, 2: 4, 3: 6}


class Holder:
    """What has the cluster's cores."""

    def hold(self) -> str:
        return "held"


@pytest.mark.slow
def test_who_is_lost_is_replaced_and_errors_name_their_task(
    cluster: Cluster, tmp_path: Path
) -> None:
    assert doubled(cluster, tmp_path, [1, 2, 15, 3]) == {1: 2, 2: 4, 15: 30, 3: 6}
    assert (tmp_path / "died").exists()
    with pytest.raises(ConfigError, match=r"^Number 13: 13 brings no luck"):
        doubled(cluster, tmp_path, [1, 13])
    with pytest.raises(
        WorkerError,
        match=r"^Number 14 failed on .*workers\.py, line \d+\): ZeroDivisionError: 14\.$",
    ):
        doubled(cluster, tmp_path, [14])
    with pytest.raises(
        WorkerError, match=r"^Number 16: its worker was lost 3 times .*use fewer --jobs"
    ):
        doubled(cluster, tmp_path, [16])
    with (
        pytest.raises(ConfigError, match=r"^Number 1: There is nothing to begin with"),
        cluster.open(refuse) as spread,
    ):
        list(spread([1], lambda number: f"Number {number}"))
    # The cluster serves others afterwards.
    assert doubled(cluster, tmp_path, [4]) == {4: 8}
    assert Local().count == 1
