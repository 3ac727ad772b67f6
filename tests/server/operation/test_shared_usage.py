"""Usage of two servers in one real PostgreSQL, which comes and goes."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.servers import free_port

from sayahead.errors import ConfigError
from sayahead.server.operation.keys import Terms
from sayahead.server.operation.metrics import Metrics
from sayahead.server.operation.shared_usage import Shared
from sayahead.server.operation.usage import Usage
from sayahead.server.operation.usage_file import File, today

pytest.importorskip("pg8000", reason="needs sayahead[postgres]")


class Postgres:
    """A database of its own in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        # PostgreSQL does not run as root.
        self.user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        self.bin = max(
            Path("/usr/lib/postgresql").glob("*/bin"),
            default=Path(shutil.which("initdb") or "x").parent,
        )
        folder.mkdir()
        if self.user:
            shutil.chown(folder, "postgres")
        self.run("initdb", "-D", str(folder), "-A", "trust", "-U", "postgres", "-N")
        self.url = f"postgresql://postgres@127.0.0.1:{self.port}/postgres"

    def run(self, name: str, *arguments: str) -> None:
        command = [*self.user, str(self.bin / name), *arguments]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd="/", timeout=60)

    def start(self) -> None:
        options = (
            f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off"
        )
        log = str(self.folder / "log")
        self.run("pg_ctl", "-D", str(self.folder), "-w", "-l", log, "-o", options, "start")

    def stop(self) -> None:
        self.run("pg_ctl", "-D", str(self.folder), "-w", "-m", "fast", "stop")


@pytest.fixture
def database() -> Iterator[Postgres]:
    if not (Path("/usr/lib/postgresql").exists() or shutil.which("initdb")):
        pytest.skip("needs PostgreSQL")
    # pytest's own folders are closed to others.
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        running = Postgres(Path(folder) / "data")
        running.start()
        yield running
        running.stop()


def used(usage: Usage) -> dict[str, int]:
    sums: Counter[str] = Counter()
    for row in usage.rows("2000-01-01", today()):
        sums[row.key] += row.characters
    return dict(sums)


def test_a_fleet_adds_up(database: Postgres, tmp_path: Path) -> None:
    def server(name: str) -> Usage:
        return Usage(Shared(File(str(tmp_path / name)), database.url), Metrics())

    one = server("one.db")
    two = server("two.db")
    one.add("acme", "native", "heart", requests=1, characters=40)
    two.add("acme", "openai", "heart", requests=1, characters=2)
    two.add("other", "openai", "heart", characters=5)
    assert one.settle()
    assert two.settle()
    for usage in (one, two, one):
        usage.store.tend()
    assert used(one) == used(two) == {"acme": 42, "other": 5}
    # What others used is asked for again once a key is in use.
    one.totals("acme")
    one._refresh()
    assert one.totals("acme") == (42, 42)
    assert one.refusal("acme", Terms(characters_per_day=45), 4) is not None
    assert one.refusal("acme", Terms(characters_per_day=45), 3) is None
    # Told again, after a crash, it is the same; while the database is away, it is kept.
    one = server("one.db")
    one.store.tend()
    assert used(two) == {"acme": 42, "other": 5}
    database.stop()
    one.add("acme", "native", "heart", characters=100)
    assert one.settle()
    with pytest.raises(OSError, match="the database"):
        one.store.tend()
    with pytest.raises(OSError, match="the database"):
        one.rows("2000-01-01", today())
    assert one.refusal("acme", Terms(characters_per_day=145), 4) is not None
    database.start()
    one.store.tend()
    # The other one finds its connection broken, as its thread does within a second, and makes a new
    # one.
    with contextlib.suppress(OSError):
        two.store.tend()
    assert used(two) == {"acme": 142, "other": 5}
    one.close()
    two.close()


def test_a_fleet_knows_its_places(database: Postgres) -> None:
    one, two = (Shared(File(None), database.url) for _ in range(2))
    assert one.meet("one", {"acme": 3, "other": 1}) == {}
    assert two.meet("two", {"acme": 2}) == {"acme": 3, "other": 1}
    assert one.meet("one", {"acme": 4}) == {"acme": 2}
    assert two.meet("two", {}) == {"acme": 4}
    assert one.meet("one", {"acme": 4}) == {}
    one.close()
    two.close()


def test_what_is_no_database_is_told() -> None:
    for address in ("mysql://host/name", "postgresql://host", "postgresql:///name"):
        with pytest.raises(ConfigError, match="must be postgresql://"):
            Shared(File(None), address)
