"""The load test: it sees what it says it sees."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sayahead import Voice
from sayahead.cli import main
from support.servers import serving, toy_voice
from websockets.asyncio.client import ClientConnection

from sayahead_lab.cli.loadtest import following, passed
from sayahead_lab.eval.experiment.clock import ReadingClock, Tokens
from sayahead_lab.eval.speed.load import PlayedTurn, Tally, TurnScript, load, row, script

RATE = 8000
LOUD = np.full(800, 9000, "<i2").tobytes()
QUIET = bytes(1600)


class FakeSocket:
    """Gives messages after pauses, takes all."""

    def __init__(self, messages: list[tuple[float, str | bytes]]) -> None:
        self._messages = iter(messages)
        self.sent = list[dict[str, Any]]()

    async def recv(self) -> str | bytes:
        pause_s, message = next(self._messages)
        await asyncio.sleep(pause_s)
        return message

    async def send(self, message: str) -> None:
        self.sent.append(json.loads(message))


def turn(said: TurnScript, messages: list[tuple[float, str | bytes]]) -> Tally:
    socket = FakeSocket([*messages, (0.0, '{"type":"speech.done"}')])
    tally = Tally()

    async def run() -> None:
        made = PlayedTurn(socket, said, RATE)  # type: ignore[arg-type]
        await made.run()
        made.count(tally)

    asyncio.run(run())
    return tally


def test_a_late_piece_is_a_stall_where_its_text_was_there() -> None:
    said = TurnScript((("Hello there. ", 0.0),), ((800, 0.0), (1600, 0.0)), 0.0)
    tally = turn(said, [(0.0, LOUD), (0.4, LOUD)])
    assert tally.audio_s == pytest.approx(0.2)
    assert len(tally.stalls_s) == 1
    assert 0.2 < tally.stalls_s[0] < 20
    assert turn(said, [(0.0, LOUD), (0.0, LOUD)]).stalls_s == []


def test_a_late_piece_is_no_stall_where_its_text_was_late() -> None:
    said = TurnScript((("Hello ", 0.0), ("there. ", 0.4)), ((800, 0.0), (1600, 0.4)), 0.0)
    assert turn(said, [(0.0, LOUD), (0.4, LOUD)]).stalls_s == []


def test_silence_is_no_first_sound() -> None:
    said = TurnScript((("Hello there. ", 0.0),), ((1600, 0.0),), 0.0)
    tally = turn(said, [(0.0, QUIET), (0.1, QUIET[:800] + LOUD)])
    # Behind 50 ms of silence in its message.
    assert 0.14 < tally.first_s[0] < 20


def test_a_script_knows_what_its_text_lets_out() -> None:
    made = script(toy_voice(), "Hello there, how are you?", ReadingClock(60.0))
    assert "".join(text for text, _ in made.fragments) == "Hello there, how are you?"
    assert [at for _, at in made.released] == sorted(at for _, at in made.released)
    # With one word of lookahead the first sound needs the second word and the blank behind it.
    assert made.settled_s == made.fragments[1][1]
    assert made.released[-1][0] == len(toy_voice().synthesize("Hello there, how are you?"))


def test_sessions_are_counted_and_refused() -> None:
    scripts = [script(toy_voice(), "Hello there.", Tokens(500.0))]
    with serving(limits={"sessions": 3}) as server:
        url = server.ws + "/v1/stream"
        tally = asyncio.run(load(url, scripts, sessions=5, seconds=2.0, warm_s=0.5))
        server.settle()
    assert tally.refused == len(tally.refused_s) == 2
    assert 0 < max(tally.refused_s) < 20
    assert tally.broken == []
    assert tally.turns == len(tally.first_s) >= 3
    seen = row(tally, 5)
    assert not passed(seen, "llm")


def test_who_is_refused_asks_again_and_gets_a_place_that_is_free() -> None:
    scripts = [script(toy_voice(), "Hello there.", Tokens(500.0))]
    with serving(limits={"sessions": 1}) as server:
        url = server.ws + "/v1/stream"

        async def both() -> list[Tally]:
            times: dict[str, Any] = {"warm_s": 0.0, "again_s": 0.1}
            first = asyncio.create_task(load(url, scripts, sessions=1, seconds=0.5, **times))
            await asyncio.sleep(0.2)
            return [await load(url, scripts, sessions=1, seconds=3.0, **times), await first]

        late, early = asyncio.run(both())
        server.settle()
    assert early.refused == 0
    assert late.refused >= 1
    assert late.turns >= 1


@pytest.mark.parametrize("holds", [1, 7, 8, 50, 100, 1000, 10_000])
def test_the_most_sessions_that_pass_are_looked_for(holds: int) -> None:
    rounds = list[dict[str, Any]]()
    while sessions := following(None, rounds):
        rounds.append({"sessions": sessions, "passed": sessions <= holds})
    best = max(row["sessions"] for row in rounds if row["passed"])
    assert best <= holds
    assert best >= min(4096, holds - holds // 7)
    assert len(rounds) < 20


def test_sessions_that_are_given_end_with_the_first_that_fail() -> None:
    def row(sessions: int, passed: bool) -> dict[str, Any]:
        return {"sessions": sessions, "passed": passed}

    assert following([4, 9], []) == 4
    assert following([4, 9], [row(4, True)]) == 9
    assert following([4, 9], [row(4, False)]) == 0
    assert following([4, 9], [row(4, True), row(9, True)]) == 0


@pytest.mark.parametrize("breath", [True, False])
def test_a_server_does_not_breathe_where_the_scripts_do_not(
    breath: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is spoken in a pause is other speech: its samples came later than the script says, which
    were no stalls."""
    sent = list[Any]()
    send = ClientConnection.send

    async def noted(self: ClientConnection, message: Any) -> None:
        sent.append(message)
        await send(self, message)

    monkeypatch.setattr(ClientConnection, "send", noted)
    scripts = [script(toy_voice(), "Hello there.", Tokens(500.0))]
    with serving() as server:
        tally = asyncio.run(
            load(
                server.ws + "/v1/stream",
                scripts,
                sessions=1,
                seconds=0.1,
                warm_s=0.0,
                voice="toy",
                breath=breath,
            )
        )
        server.settle()
    assert tally.broken == []
    updates = [json.loads(message)["session"] for message in sent if "session.update" in message]
    assert updates == [{"voice": "toy"} if breath else {"voice": "toy", "breath_s": 0.0}]


def test_the_command_measures_a_server(
    heart: Voice,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        "sayahead_lab.eval.speed.bench.sentences",
        lambda words, number: ["Hello there, my friend."] * number,
    )
    # Where the system does not say which cores a process may use, no figures are lost.
    monkeypatch.delattr("os.sched_getaffinity", raising=False)
    target = tmp_path / "load.json"
    with serving(voice=heart) as server:
        code = main(
            [
                "loadtest",
                "--url",
                server.http,
                "--sessions",
                "2",
                "--seconds",
                "1",
                "--json",
                str(target),
            ]
        )
    result = json.loads(target.read_text(encoding="utf-8"))
    assert result["largest"] == (2 if code == 0 else 0)
    assert result["rounds"][0]["audio_s"] > 1
    assert result["machine"]["cores"] == os.cpu_count()
    assert result["rounds"][0]["broken"] == []
    assert "2 sessions: first audible sample" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("change", "fine"),
    [
        ({}, True),
        ({"stalls": 1}, False),
        ({"refused": 1}, False),
        ({"broken": ["x"]}, False),
        ({"first_ms": {"p95": 131.0}}, False),
        ({"first_ms": {"p95": None}}, False),
    ],
)
def test_what_passes(change: dict[str, Any], fine: bool) -> None:
    seen = {
        "stalls": 0,
        "refused": 0,
        "broken": [],
        "first_ms": {"p95": 129.0},
        "after_its_text_ms": {"p95": 40.0},
    }
    assert passed(seen | change, "llm") == fine


def test_what_cannot_be_measured_is_refused() -> None:
    assert main(["loadtest", "--url", "ws://127.0.0.1:1", "--overload", "5"]) == 2
    assert main(["loadtest", "--url", "127.0.0.1:8000", "--sessions", "1"]) == 2
