"""A voice for agents: the queue, its turns, and the tools as MCP's own client calls them."""

from __future__ import annotations

import asyncio
import itertools
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.servers import toy_voice

from sayahead.cli import mcp as command
from sayahead.cli.narrator import NOTHING, Narrator
from sayahead.errors import ConfigError, SessionError, VoiceError
from sayahead.sound.files import OutputError
from sayahead.sound.speaker_lock import turn
from sayahead.types import Floats
from sayahead.voice import Voice

SPEED_OF_TIME = 40
"""The loudspeaker of these tests plays so many times faster than a real one."""


class Loudspeaker:
    """Keeps what it plays, and when."""

    log: list[tuple[float, float, int]]

    def __init__(self, rate: int) -> None:
        self._rate = rate
        self._samples = 0
        self._closed = False
        self._begun = time.monotonic()

    def write(self, samples: Floats) -> None:
        self._samples += len(samples)

    def played(self) -> int:
        return min(
            self._samples, int((time.monotonic() - self._begun) * self._rate * SPEED_OF_TIME)
        )

    def drain(self) -> None:
        while not self._closed and self.played() < self._samples:
            time.sleep(0.002)

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self.log.append((self._begun, time.monotonic(), self._samples))


@pytest.fixture
def loudspeakers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[tuple[float, float, int]]:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    log: list[tuple[float, float, int]] = []
    monkeypatch.setattr(Loudspeaker, "log", log, raising=False)
    return log


def voices(name: str) -> Voice:
    if name != "heart":
        raise VoiceError(f"There is no voice {name}.")
    return toy_voice()


@pytest.fixture
def narrator(loudspeakers: list[tuple[float, float, int]]) -> Iterator[Narrator]:
    narrator = Narrator(voices, Loudspeaker)
    yield narrator
    narrator.close()


LONG = "word " * 400


def test_texts_are_spoken_one_after_another(
    narrator: Narrator, loudspeakers: list[tuple[float, float, int]]
) -> None:
    jobs = [narrator.speak(text, "heart") for text in ("One two three.", "Four.", "Five six.")]
    heard = [job.heard.result(20) for job in jobs]
    assert [each.text for each in heard] == ["One two three.", "Four.", "Five six."]
    assert [samples for _, _, samples in loudspeakers] == [
        len(toy_voice().synthesize(text)) for text in ("One two three.", "Four.", "Five six.")
    ]
    assert all(end <= begin for (_, end, _), (begin, _, _) in itertools.pairwise(loudspeakers))


def test_stop_tells_what_was_heard_and_drops_the_rest(narrator: Narrator) -> None:
    jobs = [narrator.speak(LONG, "heart"), narrator.speak("Never heard.", "heart")]
    time.sleep(0.2)
    heard, dropped = narrator.stop()
    assert 0 < heard.word_count < 400
    assert LONG.startswith(heard.text)
    assert dropped == 1
    assert jobs[1].heard.result(1) == NOTHING
    # And it goes on.
    assert narrator.speak("Go on.", "heart").heard.result(20).text == "Go on."
    assert narrator.stop() == (NOTHING, 0)


def test_two_programs_never_speak_at_once(
    narrator: Narrator, loudspeakers: list[tuple[float, float, int]]
) -> None:
    other = Narrator(voices, Loudspeaker)
    try:
        jobs = [
            each.speak("Some ten words " * 10, "heart")
            for each in (narrator, other, narrator, other)
        ]
        for job in jobs:
            job.heard.result(30)
    finally:
        other.close()
    spoken = sorted(loudspeakers)
    assert len(spoken) == 4
    assert all(end <= begin for (_, end, _), (begin, _, _) in itertools.pairwise(spoken))


def test_who_waits_for_a_turn_can_be_stopped(narrator: Narrator) -> None:
    with turn() as mine:
        assert mine
        job = narrator.speak("Not now.", "heart")
        time.sleep(0.1)
        assert narrator.stop()[0] == NOTHING
        assert job.heard.done()


def test_the_turn_of_a_program_that_was_killed_is_free(tmp_path: Path) -> None:
    path = tmp_path / "turn"
    script = (
        "import sys, time\nfrom pathlib import Path\nfrom sayahead.sound.speaker_lock import turn\n"
    )
    script += (
        "with turn(path=Path(sys.argv[1])):\n    print('mine', flush=True)\n    time.sleep(60)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline().strip() == b"mine"
    with turn(lambda: True, path=path) as mine:
        assert not mine
    process.kill()
    process.wait()
    process.stdout.close()
    with turn(path=path) as mine:
        assert mine


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_a_turn_is_not_kept_behind_a_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OutputError, match="cannot be opened"), turn(path=tmp_path / "link"):
        pass
    assert not (tmp_path / "elsewhere").exists()


def test_a_stop_while_another_thread_closes(
    loudspeakers: list[tuple[float, float, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It took the end of the queue for a text, and ``close`` waited for ever."""
    is_playing = threading.Event()
    is_closed = threading.Event()

    class Held(Loudspeaker):
        """Plays nothing until it is closed."""

        def write(self, samples: Floats) -> None:
            is_playing.set()
            assert is_closed.wait(20)

        def close(self) -> None:
            is_closed.set()
            super().close()

    narrator = Narrator(voices, Held)
    stop = narrator.stop
    thread = narrator._thread
    join = thread.join

    def stop_and_speak() -> None:
        stop()
        narrator.speak(LONG, "heart")
        assert is_playing.wait(20)

    def stop_and_join() -> None:
        stop()
        join(20)

    monkeypatch.setattr(narrator, "stop", stop_and_speak)
    monkeypatch.setattr(thread, "join", stop_and_join)
    narrator.close()
    assert not thread.is_alive()


def test_errors_come_when_a_text_is_queued(
    narrator: Narrator, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ConfigError, match="speed is 9"):
        narrator.speak("Hello.", "heart", speed=9.0)
    with pytest.raises(VoiceError):
        narrator.speak("Hello.", "nobody")
    with pytest.raises(SessionError, match="wait, or stop them"):
        all(narrator.speak(LONG, "heart") for _ in range(Narrator.MAX_JOBS + 2))


def test_a_device_that_fails_harms_one_text(loudspeakers: list[tuple[float, float, int]]) -> None:
    fails = iter([True, False])

    def output(rate: int) -> Loudspeaker:
        if next(fails):
            raise OutputError("No sound device could be opened.")
        return Loudspeaker(rate)

    narrator = Narrator(voices, output)
    try:
        first = narrator.speak("One.", "heart")
        second = narrator.speak("Two.", "heart")
        with pytest.raises(OutputError):
            first.heard.result(20)
        assert second.heard.result(20).text == "Two."
    finally:
        narrator.close()


def call(narrator: Narrator, *calls: tuple[str, dict[str, Any]]) -> list[tuple[bool, str]]:
    """What the tools answer, by MCP's own client: whether it is an error, and the text."""
    pytest.importorskip("mcp", reason="needs sayahead[mcp]")
    # A second of imports, for the process that calls it alone.
    from mcp import Client

    async def main() -> list[tuple[bool, str]]:
        answers = []
        async with Client(command.make_server(narrator, "heart")) as client:
            for name, arguments in calls:
                result = await client.call_tool(name, arguments)
                texts = [block.text for block in result.content if block.type == "text"]
                answers.append((bool(result.is_error), " ".join(texts)))
        return answers

    return asyncio.run(main())


def test_the_tools(narrator: Narrator) -> None:
    spoken, queued, stopped, known = call(
        narrator,
        ("speak", {"text": "The build has finished.", "wait": True}),
        ("speak", {"text": LONG}),
        ("stop", {}),
        ("voices", {}),
    )
    assert spoken == (False, "Spoken.")
    assert queued == (False, "Queued.")
    assert stopped[1].startswith("Stopped. The user heard")
    assert "heart" in known[1]


def test_an_interruption_is_heard_at_once(narrator: Narrator) -> None:
    begun = time.monotonic()
    first, second = call(
        narrator,
        ("speak", {"text": LONG * 10}),
        ("speak", {"text": "Stop! The disk is full.", "interrupt": True, "wait": True}),
    )
    assert (first, second) == ((False, "Queued."), (False, "Spoken."))
    assert time.monotonic() - begun < len(toy_voice().synthesize(LONG)) * 10 / 8000 / SPEED_OF_TIME


def test_the_tools_say_what_is_wrong(narrator: Narrator) -> None:
    answers = call(
        narrator,
        ("speak", {"text": "  "}),
        ("speak", {"text": "x" * 20_001}),
        ("speak", {"text": "Hello.", "voice": "/etc"}),
        ("speak", {"text": "Hello.", "speed": 9}),
        ("speak", {}),
    )
    assert all(wrong for wrong, _ in answers)
    sentences = [
        "text is empty",
        "at most 20000",
        "There is no voice '/etc': ",
        "speed is 9",
        "text",
    ]
    for (_, answer), sentence in zip(answers, sentences, strict=True):
        assert sentence in answer


def test_without_the_package(monkeypatch: pytest.MonkeyPatch, narrator: Narrator) -> None:
    monkeypatch.setitem(sys.modules, "mcp.server", None)
    with pytest.raises(ConfigError, match=r"pip install 'sayahead\[mcp\]'"):
        command.make_server(narrator, "heart")


def test_a_tool_is_described_in_plain_paragraphs(narrator: Narrator) -> None:
    """The source's line breaks and indentation were part of it."""
    pytest.importorskip("mcp", reason="needs sayahead[mcp]")
    tools = asyncio.run(command.make_server(narrator, "heart").list_tools())
    about = {tool.name: tool.description or "" for tool in tools}
    assert about.keys() == {"speak", "stop", "voices"}
    assert "  " not in "".join(about.values())
    first, second = about["speak"].split("\n\n")
    assert first == "Speak a text to the user, after those that are still being spoken."
    assert "\n" not in second


@pytest.mark.slow
def test_a_client_starts_the_command(tmp_path: Path) -> None:
    pytest.importorskip("mcp", reason="needs sayahead[mcp]")
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters

    async def main() -> None:
        environment = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}
        arguments = ["-m", "sayahead", "mcp", "--device", "null"]
        parameters = StdioServerParameters(command=sys.executable, args=arguments, env=environment)
        async with Client(parameters) as client:
            tools = {tool.name for tool in (await client.list_tools()).tools}
            assert tools == {"speak", "stop", "voices"}
            begun = time.monotonic()
            result = await client.call_tool(
                "speak", {"text": "All tests have passed.", "wait": True}
            )
            assert not result.is_error
            # In real time: some two seconds of speech.
            assert time.monotonic() - begun > 1.0

    asyncio.run(main())
