"""A server of several processes is one to its users: places, quotas, keys, counters, its end."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from support.toy_server import ToyServer
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
PROCESSES = 3
KEYS = """
[few]
key = "key-of-the-few"
sessions = 2

[counted]
key = "key-of-the-counted"
requests_per_minute = 5

[poor]
key = "key-of-the-poor"
characters_per_day = 200

[boss]
key = "key-of-the-boss"
admin = true
"""


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("keys") / "keys.toml"
    path.write_text(KEYS, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def server(keys: Path) -> Iterator[ToyServer]:
    with running(keys_file=str(keys), limits={"sessions": 64}) as one:
        yield one


@pytest.fixture(scope="module")
def slow_server(keys: Path) -> Iterator[ToyServer]:
    """Speaks long enough for something to happen meanwhile."""
    with running(keys_file=str(keys), step_s=0.01, drain_s=60.0) as one:
        yield one


@contextlib.contextmanager
def running(**settings: Any) -> Iterator[ToyServer]:
    """A server of several processes."""
    one = ToyServer(**{"processes": PROCESSES} | settings)
    one.start()
    try:
        yield one
    finally:
        one.kill(signal.SIGTERM)


def key_of(name: str) -> dict[str, str]:
    return {"Authorization": f"Bearer key-of-the-{name}"}


def speak(server: ToyServer, name: str, text: str = "Hello there. ") -> httpx.Response:
    body = {"model": "tts-1", "voice": "alloy", "input": text, "response_format": "pcm"}
    url = f"{server.http}/v1/audio/speech"
    return httpx.post(url, json=body, headers=key_of(name), timeout=60)


def opened(server: ToyServer, name: str, query: str = "") -> ClientConnection | None:
    """A conversation that was admitted; None: it was not."""
    entered = contextlib.ExitStack()
    address = f"{server.ws}/v1/stream{query}"
    try:
        socket = entered.enter_context(connect(address, additional_headers=key_of(name)))
    except InvalidStatus:
        return None
    if json.loads(socket.recv(20))["type"] == "session.created":
        entered.pop_all()
        return socket
    entered.close()
    return None


def sample(server: ToyServer, name: str) -> float:
    """The sum of a metric over its labels."""
    text = httpx.get(f"{server.http}/metrics", timeout=20).text
    return sum(map(float, re.findall(rf"^{name}(?:{{.*}})? (\S+)$", text, re.MULTILINE)))


def eventually(true: Callable[[], bool], seconds: float = 30.0) -> None:
    """Wait until something is so."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "It never came to that."
        time.sleep(0.05)


def sockets_of(process: int) -> int:
    """How many sockets a process has open."""
    count = 0
    for name in os.listdir(f"/proc/{process}/fd"):
        with contextlib.suppress(OSError):
            count += os.readlink(f"/proc/{process}/fd/{name}").startswith("socket:")
    return count


def test_connections_spread_evenly_however_few(server: ToyServer) -> None:
    before = {process: sockets_of(process) for process in server.processes()}
    assert len(before) == PROCESSES
    with contextlib.ExitStack() as stack:
        for _ in range(2 * PROCESSES):
            socket = opened(server, "boss")
            assert socket is not None
            stack.callback(socket.close)
        more = [sockets_of(process) - before[process] for process in before]
        assert more == [2] * PROCESSES
        ready = httpx.get(f"{server.http}/ready").json()
        assert (ready["taken"], ready["connections"]) == (2 * PROCESSES, 2 * PROCESSES)
    eventually(lambda: httpx.get(f"{server.http}/ready").json()["taken"] == 0)


def test_a_key_has_its_places_once(server: ToyServer) -> None:
    """However many ask at the same moment, of all processes."""
    for _ in range(3):
        with ThreadPoolExecutor(12) as pool:
            sockets = list(pool.map(lambda _: opened(server, "few"), range(12)))
        admitted = [socket for socket in sockets if socket is not None]
        for socket in admitted:
            socket.close()
        assert len(admitted) == 2
        eventually(lambda: httpx.get(f"{server.http}/ready").json()["taken"] == 0)


def test_texts_of_a_minute_are_counted_once(server: ToyServer) -> None:
    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(lambda _: speak(server, "counted").status_code, range(10)))
    assert sorted(answers) == [200] * 5 + [429] * 5


def test_a_quota_and_a_bill_are_those_of_all(server: ToyServer) -> None:
    text = "Hello there, how are you today? "
    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(lambda _: speak(server, "poor", text), range(12)))
    fine = sum(answer.status_code == 200 for answer in answers)
    assert fine == 200 // len(text)
    bill = httpx.get(f"{server.http}/v1/usage", headers=key_of("poor")).json()
    assert bill["today"]["characters"] == fine * len(text)
    (row,) = bill["rows"]
    assert row["characters"] == fine * len(text)
    assert row["requests"] >= fine


def test_counters_are_those_of_all(server: ToyServer) -> None:
    before = sample(server, "tts_sessions_total")
    for _ in range(2 * PROCESSES):
        assert speak(server, "boss").status_code == 200
    # Whoever is asked.
    for _ in range(PROCESSES):
        assert sample(server, "tts_sessions_total") == before + 2 * PROCESSES
        assert sample(server, "tts_sessions_limit") == 64
        time.sleep(0.11)


def test_a_token_is_good_once(server: ToyServer) -> None:
    """A token that was used on one process was good on each of the others."""
    url = f"{server.http}/v1/single-use-token/tts_websocket"
    token = httpx.post(url, headers={"xi-api-key": "key-of-the-boss"}).json()["token"]
    path = f"{server.ws}/v1/text-to-speech/toy/stream-input?single_use_token={token}"
    with connect(path):
        pass
    for _ in range(PROCESSES):
        with pytest.raises(InvalidStatus), connect(path):
            pass


def test_a_text_is_resumed_on_any_process_and_once(server: ToyServer) -> None:
    with connect(f"{server.ws}/v1/stream", additional_headers=key_of("boss")) as socket:
        resume = json.loads(socket.recv(20))["resume"]
    again = opened(server, "boss", f"?resumed={resume}")
    assert again is not None
    again.close()


def test_a_dictionary_is_known_to_all(server: ToyServer) -> None:
    base = f"{server.http}/v1/pronunciation-dictionaries"
    rule = {"type": "alias", "string_to_replace": "SQL", "alias": "sequel"}
    body = {"name": "words", "rules": [rule]}
    made = httpx.post(f"{base}/add-from-rules", json=body, headers=key_of("boss")).json()
    for number in range(2 * PROCESSES):
        told = httpx.get(f"{base}/{made['id']}", headers=key_of("boss")).json()
        assert (told["name"], told["version_rules_num"]) == ("words", 1 + number)
        more = {"rules": [{**rule, "string_to_replace": f"word{number}"}]}
        answer = httpx.post(f"{base}/{made['id']}/add-rules", json=more, headers=key_of("boss"))
        assert answer.json()["version_rules_num"] == 2 + number
    httpx.patch(f"{base}/{made['id']}", json={"archived": True}, headers=key_of("boss"))
    for _ in range(PROCESSES):
        assert httpx.get(f"{base}/{made['id']}", headers=key_of("boss")).status_code == 400


def test_a_revoked_key_is_refused_by_all_within_a_second(server: ToyServer, keys: Path) -> None:
    beside = keys.with_suffix(".new")
    beside.write_text(KEYS + '\n[gone]\nkey = "key-of-the-gone"\n', encoding="utf-8")
    beside.replace(keys)
    eventually(lambda: all(speak(server, "gone").status_code == 200 for _ in range(PROCESSES)))
    beside.write_text(KEYS, encoding="utf-8")
    beside.replace(keys)
    revoked = time.monotonic()
    eventually(lambda: all(speak(server, "gone").status_code == 401 for _ in range(PROCESSES)))
    # By a wide margin for a busy machine.
    assert time.monotonic() - revoked < 10
    assert all(speak(server, "boss").status_code == 200 for _ in range(PROCESSES))


def test_a_full_server_lets_who_is_idle_go_on_any_process() -> None:
    """Who is idle may be on another process than who comes."""
    with running(keys=["a:key-of-the-a", "b:key-of-the-b"], limits={"sessions": 4}) as server:
        # One of the four is left to others.
        idle = [opened(server, "a") for _ in range(3)]
        assert None not in idle
        newcomers = list[ClientConnection]()
        for _ in range(2):
            eventually(lambda: came(server, newcomers))
        lost = 0
        for socket in idle:
            assert socket is not None
            with contextlib.suppress(ConnectionClosed, TimeoutError):
                lost += json.loads(socket.recv(10)).get("code") == "overloaded"
            socket.close()
        for each in newcomers:
            each.close()
        assert lost >= 1


def came(server: ToyServer, admitted: list[ClientConnection]) -> bool:
    """Whether another client was admitted, which is kept."""
    socket = opened(server, "b")
    admitted += [] if socket is None else [socket]
    return socket is not None


class Listener:
    """Speaks a long text, and hears whether it comes to its end."""

    def __init__(self, server: ToyServer, words: int) -> None:
        self.outcome = ""
        self._thread = threading.Thread(target=self._hear, args=(server, words), daemon=True)
        self._thread.start()

    def _hear(self, server: ToyServer, words: int) -> None:
        try:
            with connect(f"{server.ws}/v1/stream", additional_headers=key_of("boss")) as socket:
                text = {"type": "input_text.append", "text": "Hello there. " * words}
                socket.send(json.dumps(text))
                socket.send('{"type": "input_text.end"}')
                while True:
                    message = socket.recv(60)
                    if isinstance(message, str) and json.loads(message)["type"] == "speech.done":
                        self.outcome = "done"
                        return
        except Exception as error:
            self.outcome = type(error).__name__

    def wait(self) -> str:
        """How it ended."""
        self._thread.join(120)
        return self.outcome


def requests_of(server: ToyServer) -> int:
    """How many requests are on the bills of all keys."""
    bill = httpx.get(f"{server.http}/v1/usage?all=true", headers=key_of("boss")).json()
    return sum(row["requests"] for row in bill["rows"])


def test_a_process_that_is_killed_takes_only_its_own_along(slow_server: ToyServer) -> None:
    """The others' listeners notice nothing, it is started again, and what was counted stays."""
    server = slow_server
    before = requests_of(server)
    assert speak(server, "boss").status_code == 200
    counted = sample(server, "tts_sessions_total")
    listeners = [Listener(server, 40) for _ in range(2 * PROCESSES)]
    eventually(lambda: httpx.get(f"{server.http}/ready").json()["taken"] == 2 * PROCESSES)
    victim = server.processes()[1]
    os.kill(victim, signal.SIGKILL)
    outcomes = sorted(listener.wait() for listener in listeners)
    assert outcomes == ["ConnectionClosedError"] * 2 + ["done"] * (2 * PROCESSES - 2)
    eventually(lambda: len(server.processes()) == PROCESSES)
    assert victim not in server.processes()
    assert sample(server, "tts_sessions_total") >= counted
    eventually(lambda: httpx.get(f"{server.http}/ready").json()["taken"] == 0)
    # All processes serve, the new one, too.
    assert all(speak(server, "boss").status_code == 200 for _ in range(2 * PROCESSES))
    # Of what is cut off before its first sound there may be no bill.
    texts = 1 + 4 * PROCESSES
    assert texts - 2 <= requests_of(server) - before <= texts


def test_a_process_may_be_sent_away_by_itself(slow_server: ToyServer) -> None:
    """One process after the other gives way to a new one, and no text ends."""
    server = slow_server
    listeners = [Listener(server, 30) for _ in range(PROCESSES)]
    eventually(lambda: httpx.get(f"{server.http}/ready").json()["taken"] == PROCESSES)
    before = server.processes()
    for process in before:
        os.kill(process, signal.SIGTERM)
    assert [listener.wait() for listener in listeners] == ["done"] * PROCESSES
    eventually(lambda: len(set(server.processes()) - set(before)) == PROCESSES)
    assert speak(server, "boss").status_code == 200


def test_texts_end_before_the_server_does(keys: Path) -> None:
    server = ToyServer(processes=PROCESSES, keys_file=str(keys), step_s=0.01, drain_s=60.0)
    server.start()
    listeners = [Listener(server, 20) for _ in range(PROCESSES)]
    eventually(lambda: httpx.get(f"{server.http}/ready").json()["taken"] == PROCESSES)
    assert server.kill(signal.SIGTERM) == 0
    assert [listener.wait() for listener in listeners] == ["done"] * PROCESSES


def test_processes_end_when_their_supervisor_has_gone() -> None:
    server = ToyServer(processes=2)
    server.start()
    processes = server.processes()
    server.kill(signal.SIGKILL)
    eventually(lambda: not any(os.path.exists(f"/proc/{process}") for process in processes))


@pytest.mark.slow
def test_one_text_sounds_the_same_on_every_process_and_under_load(keys: Path) -> None:
    """32 requests of one text at once, and alone: the same bytes."""
    text = "The birch canoe slid on the smooth planks, and the glue stuck to the sheet. " * 2
    with running(keys_file=str(keys), step_s=0.002, limits={"sessions": 64}) as server:
        alone = speak(server, "boss", text).content
        assert len(alone) > 10_000
        with ThreadPoolExecutor(32) as pool:
            sounds = {pool.submit(speak, server, "boss", text) for _ in range(32)}
            assert {each.result().content for each in sounds} == {alone}


@pytest.mark.slow
def test_spawned_processes_serve_as_forked_ones_do(tmp_path: Path) -> None:
    """As on systems where a process cannot be forked safely."""
    with running(method="spawn", processes=2) as server:
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda _: speak(server, "nobody"), range(8)))
        assert {answer.status_code for answer in answers} == {200}
        assert len({answer.content for answer in answers}) == 1
