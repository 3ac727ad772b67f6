"""Usage is what was sent, whoever asks meanwhile and whatever becomes of the file it is kept in."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from support.servers import serving

from sayahead.client import AsyncClient
from sayahead.server.operation.counters import PerClient, SharedCounters
from sayahead.server.operation.keys import Terms
from sayahead.server.operation.metrics import Metrics
from sayahead.server.operation.owner import BusyError, Owner, Worker
from sayahead.server.operation.siblings import Siblings
from sayahead.server.operation.transport import PIECE, Gathered
from sayahead.server.operation.usage import SOUND_FREE_S, SOUND_PER_S, Usage
from sayahead.server.operation.usage_file import File, Used, months_before, today

TEXT = "Hello there, how are you today? I am fine. "


class Held(File):
    """A store that writes only while it may."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(name)
        self.may = threading.Event()
        self.asked = threading.Event()

    def add(self, rows: list[Used]) -> None:
        self.asked.set()
        assert self.may.wait(60)
        super().add(rows)


def characters(usage: Usage) -> int:
    return sum(row.characters for row in usage.rows("2000-01-01", today()))


def test_who_asks_while_others_speak_changes_no_bill(tmp_path: Path) -> None:
    """The reader wrote what was owed while the event loop did: it was billed twice, or not at
    all."""
    usage = Usage(File(str(tmp_path / "usage.db")), Metrics())
    over = threading.Event()
    seen = list[list[int]]()

    def ask() -> None:
        own = list[int]()
        while not over.is_set():
            own.append(characters(usage))
        seen.append(own)

    askers = [threading.Thread(target=ask) for _ in range(4)]
    for asker in askers:
        asker.start()
    for number in range(3000):
        usage.add("acme", f"protocol-{number % 7}", "toy", characters=1)
        if not number % 10:
            usage.settle()
    over.set()
    for asker in askers:
        asker.join()
    assert characters(usage) == usage.totals("acme")[0] == 3000
    # And what was told while it grew never shrank, nor was it more than there was.
    assert all(own == sorted(own) and own[-1] <= 3000 for own in seen)
    usage.close()


def test_a_bill_has_what_is_noted_and_not_written() -> None:
    store = Held()
    usage = Usage(store, Metrics())
    usage.add("acme", "native", "toy", characters=5)
    store.may.set()
    assert usage.settle()
    store.may.clear()
    store.asked.clear()
    usage.add("acme", "native", "toy", characters=7)
    assert usage.totals("acme") == (12, 12)
    assert usage.refusal("acme", Terms(characters_per_day=12), 1) is not None
    assert sum(row.characters for row in usage._unwritten) == 7
    store.may.set()
    usage.close()


def test_nothing_waits_for_a_store_that_ends_with_the_server() -> None:
    store = Held()
    usage = Usage(store, Metrics(), lasting=False)
    usage.add("acme", "native", "toy", characters=5)
    sent = list[str]()
    usage.after(lambda: sent.append("sound"))
    assert sent == ["sound"]
    store.may.set()
    assert usage.settle()
    assert characters(usage) == 5
    usage.close()


def test_what_another_process_has_not_written_counts(tmp_path: Path) -> None:
    """A quota missed it for a second."""
    counted = tmp_path / "counters"
    SharedCounters.make(counted, 2)
    name = str(tmp_path / "usage.db")
    stores = File(name), Held(name)
    counters = [SharedCounters(2, index=index, path=counted) for index in range(2)]
    here, other = (
        Usage(store, Metrics(), Siblings(own)) for store, own in zip(stores, counters, strict=True)
    )
    other.add("acme", "native", "toy", characters=60)
    assert here.totals("acme") == (60, 60)
    here._refresh()
    assert here.totals("acme") == (60, 60)
    stores[1].may.set()
    assert other.settle()
    assert here.totals("acme") == (60, 60)
    here._refresh()
    assert here.totals("acme") == (60, 60)
    other.close()
    here.close()
    for own in counters:
        own.close()


def test_what_a_process_could_not_write_ends_with_it(tmp_path: Path) -> None:
    counted = tmp_path / "counters"
    SharedCounters.make(counted, 2)
    counters = SharedCounters(2, index=1, path=counted)
    counters.add(PerClient.CHARACTERS, "acme", 60)
    counters.clear(1)
    assert counters.sum(PerClient.CHARACTERS, "acme") == counters.sum(PerClient.WRITTEN, "acme")
    counters.close()


def test_what_another_thread_touches_is_told() -> None:
    usage = Usage(File(None), Metrics())
    usage.add("acme", "native", "toy", characters=5)
    caught = list[BaseException]()

    def touch() -> None:
        try:
            usage.add("acme", "native", "toy", characters=5)
        except AssertionError as error:
            caught.append(error)

    thread = threading.Thread(target=touch)
    thread.start()
    thread.join()
    assert "another thread owns" in str(caught[0])
    assert characters(usage) == 5
    usage.close()


class Wire:
    """A transport that notes what leaves, beside what was billed then."""

    def __init__(self, store: File) -> None:
        self._store = store
        self.sent = list[tuple[bytes, int]]()
        self.closed = False

    def write(self, data: bytes) -> None:
        self.sent.append(
            (data, sum(row.characters for row in self._store.rows("2000-01-01", today())))
        )

    def close(self) -> None:
        self.closed = True


def on_loop(run: Callable[[], Any]) -> None:
    asyncio.run(run(), debug=True)


@pytest.mark.parametrize("size", [10, PIECE + 1], ids=["gathered", "large"])
def test_nothing_leaves_before_it_is_billed(size: int) -> None:
    """Large messages left at once, and small ones by a flush of the turn before: a crash lost what
    they cost."""
    store = File(None)
    wire = Wire(store)

    async def run() -> None:
        usage = Usage(store, Metrics())
        out: Any = Gathered(wire, asyncio.get_running_loop(), usage)  # type: ignore[arg-type]
        for number in range(20):
            usage.add("acme", "native", "toy", characters=1)
            out.write(bytes([number]) * size)
            if number % 3 == 0:
                await asyncio.sleep(0)
        out.close()
        await usage.settled()
        while not wire.closed:
            await asyncio.sleep(0.001)
        usage.close()

    on_loop(run)
    left = b"".join(data for data, _ in wire.sent)
    assert left == b"".join(bytes([number]) * size for number in range(20))
    for data, billed in wire.sent:
        assert billed >= data[-1] + 1


def test_a_store_that_hangs_holds_up_no_sound(caplog: pytest.LogCaptureFixture) -> None:
    """Another program's lock on the file cost each turn of the event loop 50 ms."""
    store = Held()
    wire = Wire(store)

    async def run() -> None:
        usage = Usage(store, Metrics())
        loop = asyncio.get_running_loop()
        out: Any = Gathered(wire, loop, usage)  # type: ignore[arg-type]
        usage.add("acme", "native", "toy", characters=5)
        out.write(b"first")
        while not wire.sent:
            await asyncio.sleep(0.001)
        # From now on nothing waits at all.
        for _ in range(100):
            usage.add("acme", "native", "toy", characters=1)
            out.write(b"more")
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            assert wire.sent[-1][0] == b"more"
            wire.sent.pop()
        assert usage.totals("acme") == (105, 105)
        store.may.set()
        assert await asyncio.to_thread(usage.settle)
        assert characters(usage) == 105
        while not usage.current or usage._is_stalled:
            await asyncio.sleep(0.001)
        # And what comes later waits again.
        store.may.clear()
        usage.add("acme", "native", "toy", characters=1)
        assert usage._settled_count < usage._noted_count
        store.may.set()
        usage.close()

    on_loop(run)
    assert "too slowly" in caplog.text


def test_another_programs_lock_is_waited_for_by_the_writer_alone(tmp_path: Path) -> None:
    usage = Usage(File(str(tmp_path / "usage.db")), Metrics())
    usage.add("acme", "native", "toy", characters=5)
    assert usage.settle()
    other = sqlite3.connect(tmp_path / "usage.db", isolation_level=None)
    other.execute("begin immediate")
    begun = time.thread_time()
    spent = list[float]()
    for _ in range(200):
        at = time.perf_counter()
        usage.add("acme", "native", "toy", characters=1)
        assert usage.refusal("acme", Terms(characters_per_day=1000), 1) is None
        spent.append(time.perf_counter() - at)
    # Not one of them waited for the lock, and a bill has them all.
    assert sorted(spent)[len(spent) // 2] < 0.005
    assert time.thread_time() - begun < 1.0
    assert characters(usage) == usage.totals("acme")[0] == 205
    other.execute("rollback")
    other.close()
    usage.close()
    assert [row.characters for row in File(str(tmp_path / "usage.db")).rows("", today())] == [205]


@pytest.mark.parametrize("how", ["deleted", "replaced"])
def test_a_file_that_is_gone_is_made_anew(
    tmp_path: Path, how: str, caplog: pytest.LogCaptureFixture
) -> None:
    """All usage went to the deleted file, until the end of the process, without a word."""
    path = tmp_path / "usage.db"
    usage = Usage(File(str(path)), Metrics())
    usage.add("acme", "native", "toy", characters=66)
    assert usage.settle()
    usage.store.tend()
    if how == "deleted":
        path.unlink()
    else:
        File(str(tmp_path / "other.db")).close()
        os.replace(tmp_path / "other.db", path)
    usage.add("acme", "native", "toy", characters=7)
    assert usage.settle()
    usage.store.tend()
    assert "removed or replaced" in caplog.text
    usage.add("acme", "native", "toy", characters=1)
    assert usage.settle()
    # What a crash leaves now.
    assert [row.characters for row in File(str(path)).rows("", today())] == [8]
    usage.close()


def test_months_that_are_long_over_are_one_row_each(tmp_path: Path) -> None:
    store = File(str(tmp_path / "usage.db"))
    days = [f"2020-{month:02}-{day:02}" for month in (1, 2) for day in range(1, 29)]
    rows = [
        Used(key, day, "native", "toy", 1, 10, 0.5)
        for key in ("a", "b")
        for day in [*days, today()]
    ]
    store.add(rows)
    store.fold(months_before(today(), 13))
    folded = store.rows("2020-01-01", "2020-12-31")
    assert [(row.key, row.day, row.requests, row.characters, row.audio_s) for row in folded] == [
        (key, day, 28, 280, 14.0) for key in ("a", "b") for day in ("2020-01-01", "2020-02-01")
    ]
    assert [row.characters for row in store.rows(today(), today())] == [10, 10]
    # Once more changes nothing, nor does one that adds to it.
    store.fold(months_before(today(), 13))
    store.add([Used("a", "2020-01-05", "native", "toy", 0, 1)])
    store.fold(months_before(today(), 13))
    assert [row.characters for row in store.rows("2020-01-01", "2020-01-31", "a")] == [281]
    store.close()


def test_months_before() -> None:
    assert months_before("2026-12-31", 13) == "2025-11-01"
    assert months_before("2026-01-15", 1) == "2025-12-01"


def test_questions_about_a_key_are_answered_by_the_index(tmp_path: Path) -> None:
    """Each was a scan of all rows, on the event loop."""
    from sayahead.server.operation import usage_file

    store = File(str(tmp_path / "usage.db"))
    base = sqlite3.connect(tmp_path / "usage.db")
    for query, values in (
        (usage_file.OF_KEY, ("a", "2026-01-01", "2026-02-01")),
        (usage_file.TOTALS, ("2026-01-02", "a", "2026-01-01", "2026-01-02")),
        (usage_file.ALL, ("2026-01-01", "2026-02-01")),
        (usage_file.OLD_MONTHS, ("2026-01-01",)),
    ):
        plan = " ".join(str(row[-1]) for row in base.execute(f"explain query plan {query}", values))
        assert "SEARCH" in plan, (query, plan)
    base.close()
    store.close()


def test_a_large_bill_comes_in_pages(tmp_path: Path) -> None:
    path = str(tmp_path / "usage.db")
    store = File(path)
    store.add(
        [Used(f"key-{number:05}", today(), "native", "toy", 1, number) for number in range(25)]
    )
    store.close()
    with serving(usage=path) as server:
        seen = list[int]()
        after = ""
        for _ in range(4):
            query = {"all": "true", "limit": "10", **({"after": after} if after else {})}
            told = httpx.get(f"{server.http}/v1/usage", params=query).json()
            seen += [row["characters"] for row in told["rows"]]
            after = told["next"] or ""
            if not after:
                break
        assert seen == list(range(25))
        for wrong in ({"limit": "0"}, {"limit": "x"}, {"after": "!"}):
            assert httpx.get(f"{server.http}/v1/usage", params=wrong).status_code == 400
        assert len(httpx.get(f"{server.http}/v1/usage?all=true&format=csv").text.splitlines()) == 26


def test_who_asks_for_usage_waits_a_second_and_learns_nothing_of_the_database(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The answer had host and port of the database; and all that used asyncio's threads waited
    behind it."""
    with serving() as server:
        held = threading.Event()

        def hang(*_: Any, **__: Any) -> list[Used]:
            held.wait(60)
            raise OSError("host 127.0.0.1 and port 1")

        def broken(*_: Any, **__: Any) -> list[Used]:
            raise OSError("host 127.0.0.1 and port 1")

        server.hub.usage.rows = broken  # type: ignore[method-assign]
        answer = httpx.get(f"{server.http}/v1/usage")
        assert (answer.status_code, "port" in answer.text) == (503, False)
        assert "port 1" in str([vars(record).get("why") for record in caplog.records])
        server.hub.usage.rows = hang  # type: ignore[method-assign]
        answer = httpx.get(f"{server.http}/v1/usage")
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")
        # Nothing else waits.
        assert httpx.get(f"{server.http}/health").status_code == 200
        held.set()


def test_a_worker_waits_behind_no_other_and_has_a_bound() -> None:
    async def run() -> None:
        slow = Worker("slow")
        quick = Worker("quick")
        gate = threading.Event()
        waiting = [asyncio.ensure_future(slow.run(lambda: gate.wait(60)))]
        await asyncio.sleep(0)
        with pytest.raises(BusyError, match="did not answer"):
            await slow.run(lambda: None, most_s=0.01)
        assert await quick.run(lambda: 5, most_s=10) == 5
        with contextlib.suppress(BusyError):
            for _ in range(40):
                slow.submit(lambda: None)
        with pytest.raises(BusyError, match="are waiting"):
            slow.submit(lambda: None)
        gate.set()
        assert await waiting[0]
        with pytest.raises(ZeroDivisionError):
            await quick.run(lambda: 1 / 0)
        slow.close()
        quick.close()

    asyncio.run(run())


def test_the_first_thread_to_touch_it_owns_it() -> None:
    owner = Owner()
    owner.check()
    owner.check()


# What counts.


def test_a_text_counts_at_least_as_its_sound() -> None:
    """Ten characters whose lexicon says a thousand were ten."""
    usage = Usage(File(None), Metrics())
    bill = usage.bill("acme", Terms(), "native", "toy")
    bill.spoken(10, 3.0)
    assert usage.totals("acme") == (10, 10)
    bill.spoken(10, 55.0)
    most = int(SOUND_PER_S * (55.0 - SOUND_FREE_S))
    assert usage.totals("acme") == (most, most)
    # And a text of many characters is not counted twice.
    bill.spoken(200, 60.0, over=True)
    assert usage.totals("acme") == (200, 200)
    usage.close()


def test_only_what_waits_is_reserved() -> None:
    usage = Usage(File(None), Metrics())
    terms = Terms(characters_per_day=100)
    bill = usage.bill("acme", terms, "native", "toy")
    bill.expect(80)
    assert usage.refusal("acme", terms, 21) is not None
    for _ in range(40):
        # A revision replaces what waits.
        bill.expect(70)
    assert usage.refusal("acme", terms, 30) is None
    bill.spoken(40, 1.0)
    assert usage.refusal("acme", terms, 31) is not None
    assert usage.refusal("acme", terms, 30) is None
    bill.close()
    bill.close()
    assert usage.refusal("acme", terms, 60) is None
    assert usage._counters.sum(PerClient.WAITING, "acme") == 0
    usage.close()


def test_revisions_use_up_no_quota(tmp_path: Path) -> None:
    """Forty revisions of a text of a hundred characters left 16 of 3,000."""
    keys = tmp_path / "keys.toml"
    keys.write_text('[acme]\nkey = "acme-secret"\ncharacters_per_day = 300\n', encoding="utf-8")

    async def run(ws: str) -> int:
        async with AsyncClient(ws, key="acme-secret") as client:
            speech = client.open_speech()
            await speech.push(TEXT)
            for number in range(40):
                await speech.revise(20, f"you today? I am {'very ' * (number % 4)}fine. ")
            await speech.finish()
            return len([chunk async for chunk in speech])

    with serving(keys_file=str(keys)) as server:
        assert asyncio.run(run(server.ws))
        headers = {"Authorization": "Bearer acme-secret"}
        server.settle()
        told = httpx.get(f"{server.http}/v1/usage", headers=headers).json()
        assert 0 < told["today"]["characters"] < 100
        body = {"model": "x", "voice": "toy", "input": "x" * 190, "response_format": "pcm"}
        assert (
            httpx.post(f"{server.http}/v1/audio/speech", headers=headers, json=body).status_code
            == 200
        )


def test_what_is_refused_is_not_reserved(tmp_path: Path) -> None:
    keys = tmp_path / "keys.toml"
    keys.write_text('[acme]\nkey = "acme-secret"\ncharacters_per_day = 300\n', encoding="utf-8")
    with serving(keys_file=str(keys), limits={"message_characters": 100}) as server:
        import json

        from websockets.sync.client import connect

        with connect(
            server.ws + "/v1/stream", additional_headers={"Authorization": "Bearer acme-secret"}
        ) as socket:
            for _ in range(5):
                socket.send(json.dumps({"type": "input_text.append", "text": "x" * 101}))
            socket.send(json.dumps({"type": "input_text.append", "text": TEXT}))
            socket.send(json.dumps({"type": "input_text.end"}))
            events = list[dict[str, Any]]()
            while not events or events[-1]["type"] != "speech.done":
                message = socket.recv(20)
                events += [json.loads(message)] if isinstance(message, str) else []
        codes = {event["code"] for event in events if event["type"] == "error"}
        assert codes == {"too_much_text"}


def test_every_second_of_sound_is_billed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The last piece of each text was not, nor was one that began no word."""

    async def run(ws: str) -> float:
        async with AsyncClient(ws) as client:
            return sum([chunk.duration_s async for chunk in client.stream([TEXT])])

    with caplog.at_level(logging.INFO), serving() as server:
        received_s = asyncio.run(run(server.ws))
        server.settle()
        (row,) = httpx.get(f"{server.http}/v1/usage").json()["rows"]
        assert row["audio_s"] == pytest.approx(received_s, abs=1e-3)
        assert (row["requests"], row["characters"]) == (1, len(TEXT))
