"""A peer: an engine in a process of its own that speaks protocol 2 (see ``worker``), and how its
text is cut.

Writing text never waits for the engine: its process reads in a thread of its own, and so does this
one, so a text keeps its time while sound comes.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, NoReturn

import numpy as np
from sayahead.errors import SayaheadError
from sayahead.types import Floats

from sayahead_lab.eval.experiment.clock import words_with_space_behind
from sayahead_lab.eval.peers import worker
from sayahead_lab.eval.peers.fragment import Fragment, by_sentence, first_fragment_early

PINGS = 5
"""How often the two processes' clocks are compared."""


class PeerError(SayaheadError):
    """A peer that is not installed, failed, or gave no answer."""


def whole(text: str) -> list[Fragment]:
    """All of a text, which is there when it ends."""
    return [Fragment(0, len(text), len(text))] if text.strip() else []


def by_word(text: str) -> list[Fragment]:
    """Words with the space behind each, which tells that it is complete."""
    return running(words_with_space_behind(text))


def by_letter(text: str) -> list[Fragment]:
    """Letters: for engines that take text of any size, so that all that they wait for is seen."""
    return running(list(text))


def running(pieces: list[str]) -> list[Fragment]:
    """Pieces that join to a text."""
    ends = [int(end) for end in np.cumsum([len(piece) for piece in pieces])]
    return [Fragment(end - len(piece), end, end) for piece, end in zip(pieces, ends, strict=True)]


CUTS: dict[str, Callable[[str], list[Fragment]]] = {
    "whole": whole,
    "sentence": by_sentence,
    "fragment": first_fragment_early,
    "word": by_word,
    "token": by_letter,
}
"""How a text is cut for engines, by name; ``token``: not at all, it goes in as it arrives."""


@dataclass(frozen=True, slots=True)
class Engine:
    """How to start a peer."""

    name: str
    """Its name in the tables."""
    adapter: str
    """``FILE.py:FUNCTION`` (see ``worker``)."""
    text: str = "sentence"
    """How its text is cut: a name of ``CUTS``."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """The function's arguments."""
    python: str = sys.executable
    """The Python that has the engine."""
    missing: Callable[[], str | None] = lambda: None
    """What to install, in a sentence; None if it can run."""
    timeout_s: float = 120.0
    """A silence that is longer ends the process."""


@dataclass(frozen=True, slots=True)
class Event:
    """What a peer's process said."""

    kind: str
    """``wants``, ``took``, ``audio``, ``told``, ``done``."""
    at_s: float
    """When, on this process's monotonic clock."""
    data: dict[str, Any]
    """The message."""
    samples: Floats | None = None
    """Samples (S,) of an ``audio``."""


class WorkerPeer:
    """A peer that can be started, spoken to, and closed; harmless when closed again. PeerError says
    what failed."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.name = engine.name
        self.about = dict[str, Any]()
        self._process: subprocess.Popen[bytes] | None = None
        self._complaints: IO[bytes] | None = None
        self._said: queue.SimpleQueue[Event | None] = queue.SimpleQueue()
        self._ahead_s = 0.0
        self.rss_mb = 0.0
        """The most memory that its process has had."""

    def missing(self) -> str | None:
        """What to install, in a sentence; None if it can run."""
        return self.engine.missing()

    def pieces(self, text: str) -> list[Fragment]:
        """The text as this peer gets it; pieces without a letter or a digit are left out where it
        gets pieces."""
        cut = CUTS[self.engine.text](text)
        if self.engine.text == "token":
            return cut
        return [piece for piece in cut if any(map(str.isalnum, text[piece.start : piece.end]))]

    def start(self) -> None:
        """Start its process, compare the clocks, and speak once to warm up."""
        if self._process is not None:
            return
        missing = self.missing()
        if missing is not None:
            raise PeerError(f"Peer {self.name}: {missing}")
        engine = self.engine
        command = [
            engine.python,
            "-P",
            worker.__file__,
            engine.adapter,
            json.dumps(dict(engine.options)),
        ]
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the process runs
        try:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._complaints
            )
        except OSError as error:
            self.close()
            raise PeerError(
                f"Peer {self.name}: {command[0]} cannot be started: {error.strerror}."
            ) from error
        self._said = queue.SimpleQueue()
        threading.Thread(target=self._read, args=(self._process, self._said), daemon=True).start()
        try:
            self.about = self.hear("ready").data["ready"]
            self._rate = int(self.about["rate"])
            self._compare_clocks()
            self.open()
            self.push("A word or two, to begin with. ")
            self.finish()
            list(self.events())
        except (KeyError, TypeError, ValueError):
            self._fail(f"its process answered {self.about}")
        except PeerError:
            self.close()
            raise

    @property
    def rate(self) -> int:
        """Samples per second."""
        return self._rate

    def open(self, *, whole: bool = False, seed: int = 0) -> None:
        """Begin an utterance; ``whole``: its one piece is the whole text, spoken as the engine
        speaks at its best."""
        self._send(open={"whole": whole, "seed": seed})

    def push(self, text: str) -> float:
        """Give it text; returns when that was, on the monotonic clock."""
        self._send(text=text)
        return time.monotonic()

    def flush(self) -> None:
        """Have what is there spoken, where the engine knows that."""
        self._send(text="")

    def finish(self) -> None:
        """End the text."""
        self._send(finish=1)

    def cancel(self) -> None:
        """End the utterance; its sound is not wanted any more."""
        self._send(cancel=1)

    def events(self) -> Iterator[Event]:
        """What it says of the utterance, up to ``done``."""
        while True:
            event = self.hear()
            yield event
            if event.kind == "done":
                self.rss_mb = float(event.data["rss_mb"])
                return

    def hear(self, kind: str | None = None) -> Event:
        """The next of its messages, which must be of that kind if one is named."""
        try:
            event = self._said.get(timeout=self.engine.timeout_s)
        except queue.Empty:
            self._fail(f"no answer within {self.engine.timeout_s:g} s")
        if event is None:
            self._fail("")
        if event.kind == "error":
            raise PeerError(f"Peer {self.name}: {event.data['error']}.")
        if event.kind == "garbage" or kind not in (None, event.kind):
            self._fail(f"its process answered {event.data}")
        return event

    def close(self) -> None:
        """Stop it."""
        process = self._process
        self._process = None
        if process is not None:
            assert process.stdin is not None
            with contextlib.suppress(OSError):
                process.stdin.close()
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        if self._complaints is not None:
            self._complaints.close()
            self._complaints = None

    def _compare_clocks(self) -> None:
        """Take the offset of the round trip that was shortest."""
        trips = []
        for number in range(PINGS):
            begun = time.monotonic()
            self._send(clock=number)
            told = self.hear("clock").data["at"]
            ended = time.monotonic()
            trips.append((ended - begun, (begun + ended) / 2 - told))
        self._ahead_s = min(trips)[1]

    def _send(self, **message: Any) -> None:
        if self._process is None:
            raise PeerError(f"Peer {self.name} does not run: start it first.")
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()
        except OSError:
            self._fail("")

    def _read(
        self, process: subprocess.Popen[bytes], said: queue.SimpleQueue[Event | None]
    ) -> None:
        """Take what a process says, until it ends."""
        assert process.stdout is not None
        with process.stdout as output:
            for line in output:
                try:
                    data = json.loads(line)
                    kind = next(iter(data))
                    at_s = float(data["at"]) + self._ahead_s
                    sound = output.read(4 * int(data["audio"])) if kind == "audio" else b""
                except (ValueError, TypeError, KeyError, StopIteration):
                    said.put(Event("garbage", 0.0, {"line": line[:60].decode(errors="replace")}))
                    break
                samples = (
                    np.frombuffer(sound, "<f4").astype(np.float32) if kind == "audio" else None
                )
                said.put(Event(kind, at_s, data, samples))
        said.put(None)

    def _fail(self, why: str) -> NoReturn:
        """End the process and raise PeerError with the reason (empty: it ended) and the last of its
        error output."""
        process = self._process
        complaints = self._complaints
        self._complaints = None
        assert process is not None
        assert complaints is not None
        if why:
            process.kill()
        self.close()
        with complaints:
            complaints.seek(0)
            last = complaints.read().decode(errors="replace").strip().splitlines()[-1:]
        why = why or f"its process ended (exit code {process.returncode})"
        raise PeerError(": ".join([f"Peer {self.name}: {why}", *last]).rstrip(".") + ".")


def has_module(python: str, name: str) -> bool:
    """Whether a Python has a package, without importing it here."""
    if python == sys.executable:
        return importlib.util.find_spec(name) is not None
    look = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({name!r}) is None)"
    try:
        return (
            subprocess.run(
                [python, "-P", "-c", look], capture_output=True, check=False, timeout=60
            ).returncode
            == 0
        )
    except (OSError, subprocess.TimeoutExpired):
        return False


def beside(file: str) -> str:
    """Path of an adapter of this package."""
    return str(Path(__file__).parent / "adapters" / file)
