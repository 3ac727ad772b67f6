"""A server of several processes: the supervisor owns its ports, hands out connections, and starts,
restarts and ends the other processes.

A Python interpreter uses little more than one core, so there is a process for each core. The
supervisor accepts connections and passes each to the process with the fewest, which balances them
even if there are few. It loads the voices before it forks, so that the processes share their
memory.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import functools
import json
import logging
import multiprocessing
import os
import secrets
import shutil
import signal
import socket
import sys
import tempfile
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sayahead.errors import SayaheadError
from sayahead.server.hub import Hub, store_of
from sayahead.server.operation import logs, malloc
from sayahead.server.operation.access import Access
from sayahead.server.operation.counters import Process, SharedCounters
from sayahead.server.operation.metrics import Samples, lasting, merged
from sayahead.server.operation.passed_logs import Lines, Passed, record_of
from sayahead.server.operation.settings import Settings
from sayahead.server.operation.siblings import ALIVE_S
from sayahead.server.process.child import ANSWER_S, AT_ONCE, LINE_BYTES, Child, address
from sayahead.server.process.run import (
    MEANINGLESS,
    Server,
    bind,
    check_ports,
    reserve,
    tell_address,
)
from sayahead.server.reload import taken_over
from sayahead.server.synthesis.capacity import (
    cost_of,
    places_for,
    processes_for,
    processors_for,
    threads_for,
)
from sayahead.server.voices import Voices
from sayahead.text.saying.lexicon import Lexicon

log = logging.getLogger("sayahead.server")
BACKLOG = 1024
"""Connections that may wait to be accepted."""
FULL = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
PAUSE_S = 0.1
"""Pause of accepting when no file descriptor is free."""
BACKOFF_S = 0.1
"""Delay of the first restart of a process; doubled each time."""
MAX_BACKOFF_S = 5.0
"""Longest delay of a restart."""
STEADY_S = 60.0
"""After this lifetime, a process's delay starts again with the first one."""
END_S = 2.0
"""Time for processes to end before they are killed."""


def processes_of(settings: Settings) -> int:
    """Return how many processes a server has; one if this system cannot pass connections between
    processes."""
    wanted = processes_for(settings)
    if wanted > 1 and not (hasattr(socket, "send_fds") and hasattr(socket, "AF_UNIX")):
        log.warning("One process with threads: this system hands no connections to others.")
        return 1
    return wanted


@dataclass(slots=True)
class Shared:
    """What the supervisor passes to every process it starts."""

    settings: Settings
    config: Path | None
    reread: Callable[[], Settings]
    index: int
    processes: int
    name: str
    secret: bytes
    folder: Path
    measured: int
    numbers: dict[str, int]
    voices: Voices | None
    """The loaded voices, if the processes are forked."""
    given: bool
    """Whether these replace the voices of the settings, for tests."""


@dataclass(slots=True)
class ServerProcess:
    """A process as the supervisor sees it."""

    index: int
    process: Any
    door: socket.socket
    line: socket.socket
    log: socket.socket
    start_time: float
    started: bool = False
    """Whether it serves."""
    connections: int = 0
    """Connections that it was handed in its life."""
    writer: asyncio.StreamWriter | None = None
    lines: Lines = field(default_factory=Lines)
    waiting: deque[tuple[str, socket.socket]] = field(default_factory=deque)
    """(address, socket) of connections that wait because its socket is full."""
    sent: deque[tuple[str, socket.socket]] = field(default_factory=deque)
    """(address, socket) of connections that it has not acknowledged."""
    tasks: list[asyncio.Task[Any]] = field(default_factory=list)

    def write(self, row: dict[str, Any]) -> None:
        """Send it a message."""
        if self.writer is not None and not self.writer.is_closing():
            self.writer.write(json.dumps(row).encode() + b"\n")


class Answers:
    """The answers of several processes to one question, by their numbers."""

    def __init__(self, wanted: int) -> None:
        self._wanted = wanted
        self.values = dict[int, Any]()
        self.complete = asyncio.Event()
        if not wanted:
            self.complete.set()

    def add(self, index: int, value: Any) -> None:
        """Record an answer."""
        self.values[index] = value
        if len(self.values) >= self._wanted:
            self.complete.set()


class Supervisor:
    """Runs the processes of one server."""

    def __init__(
        self,
        settings: Settings,
        processes: int,
        *,
        config: Path | None = None,
        reread: Callable[[], Settings] | None = None,
        voices: Voices | None = None,
        method: str | None = None,
    ) -> None:
        """``voices`` replace those of the settings, for tests.

        ``method``: the start method of ``multiprocessing``; None for fork on Linux, where it is
        safe, and spawn elsewhere.
        """
        self._settings, self._config = settings, config
        self._reread = reread or functools.partial(same, settings)
        self._count = processes
        self._voices = voices
        self._has_given_voices = voices is not None
        self._context: Any = multiprocessing.get_context(
            method or ("fork" if sys.platform == "linux" else "spawn")
        )
        self._forks = self._context.get_start_method() == "fork"
        self._folder = Path(tempfile.mkdtemp(prefix="sayahead-", dir=memory_folder()))
        self._path = self._folder / "counters"
        SharedCounters.make(self._path, processes)
        self._counters = SharedCounters(processes, path=self._path)
        self._name, self._secret = secrets.token_hex(8), secrets.token_bytes(32)
        self._listeners = dict[str, socket.socket]()
        self._reserved = list[socket.socket]()
        self._numbers = dict[str, int]()
        self._measured = 0
        self._members = dict[int, ServerProcess]()
        self._failures = [0] * processes
        self._accepting = False
        self._draining = self._failed = False
        self.interrupted = False
        """Whether Ctrl-C was pressed."""
        self._over = asyncio.Event()
        self._open_questions = dict[int, Answers]()
        # The last known metrics of each process, and the sums of those that have ended.
        self._last_metrics = dict[int, Samples]()
        self._ended_metrics: Samples = {}
        self._came_up = False
        self._question_count = 0
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def port(self) -> int:
        """The port for HTTP."""
        return self._numbers[address(self._settings.host, self._settings.port)]

    def run(self) -> int:
        """Serve until a signal; return the exit code.

        OutputError if a port cannot be opened, VoiceError if a voice cannot be loaded.
        """
        try:
            voices = self._check_settings()
            self._open()
            self._prepare(voices)
            asyncio.run(self._serve())
        finally:
            self._counters.close()
            for listener in (*self._listeners.values(), *self._reserved):
                listener.close()
            shutil.rmtree(self._folder, ignore_errors=True)
        return int(self._failed)

    def _open(self) -> None:
        """Listen on every address whose connections are handed over, and reserve those that each
        process opens.

        How connections to a protocol's own address reach the processes is its ``spread``.
        """
        settings = self._settings
        # Opens all ports at once: only that shows whether one is used twice.
        check_ports(settings)
        places = [
            (own.spread, place) for own in settings.protocols for place in own.addresses(settings)
        ]
        handed_places = {place for spread, place in places if spread == "handed"}
        handed_places.add((settings.host, settings.port))
        for host, port in handed_places:
            listener = bind(host, port)
            listener.setblocking(False)
            listener.listen(BACKLOG)
            self._listeners[address(host, port)] = listener
            self._numbers[address(host, port)] = listener.getsockname()[1]
        for spread, (host, port) in places:
            if spread == "reused":
                reserved = reserve(host, port)
                self._reserved.append(reserved)
                self._numbers[address(host, port)] = reserved.getsockname()[1]
            elif not spread:
                # The first process opens it.
                bind(host, port).close()

    def _check_settings(self) -> Voices:
        """Return the voices. ConfigError for settings with which no process could serve."""
        settings = self._settings
        Access(settings)
        if settings.lexicon is not None:
            Lexicon.of(settings.lexicon)
        store_of(settings, self._folder).close()
        return self._voices or Voices(settings.voices)

    def _prepare(self, voices: Voices) -> None:
        """Load voices, and measure how many texts the machine can speak at once, before anybody
        connects."""
        settings = self._settings
        for name in voices.configs if settings.preload else (voices.default,):
            voices.load(name)
        if settings.measure_s and not settings.limits.sessions:
            cost = cost_of(voices.load(voices.default), settings.measure_s)
            processors = processors_for(threads_for(settings, self._count), self._count)
            self._measured = places_for(cost, processors)
            row = {"places": self._measured, "at_most": self._measured}
            log.info("measured", extra=row | {"ms_per_s": round(1000 * cost, 1)})
        self._voices = voices if self._forks else None
        malloc.keep()

    async def _serve(self) -> None:
        """Start all processes and run until the end."""
        self._loop = asyncio.get_running_loop()
        with self._signals(self._loop):
            for index in range(self._count):
                self._start_process(index)
            await self._over.wait()

    @contextlib.contextmanager
    def _signals(self, loop: asyncio.AbstractEventLoop) -> Iterator[None]:
        """Handle signals while inside."""
        handlers: dict[int, Callable[[], None]] = {
            signal.SIGTERM: self._end,
            signal.SIGINT: self._interrupt,
            signal.SIGHUP: self._reload,
        }
        for name in MEANINGLESS:
            if hasattr(signal, name):
                number = getattr(signal, name)
                handlers[number] = lambda number=number: self._log_status(number)  # type: ignore[misc]
        for number, handler in handlers.items():
            loop.add_signal_handler(number, handler)
        try:
            yield
        finally:
            for number in handlers:
                loop.remove_signal_handler(number)

    # What operators want.

    def _interrupt(self) -> None:
        self.interrupted = True
        self._end()

    def _end(self) -> None:
        """Drain at the first signal; end at once at the second."""
        if self._draining:
            self._broadcast("end")
            assert self._loop is not None
            self._loop.call_later(END_S, self._kill)
            return
        self._draining = True
        taken = int(self._counters.all(Process.CONNECTIONS).sum())
        log.info("draining", extra={"connections": taken})
        self._broadcast("drain")
        if not self._members:
            self._over.set()

    def _kill(self) -> None:
        for member in self._members.values():
            member.process.kill()

    def _reload(self) -> None:
        """Make all processes adopt changed files."""
        self._broadcast("reload")

    def _log_status(self, number: int) -> None:
        """Log the server's state, on a signal that would end a process that does not handle it."""
        row = {"signal": signal.Signals(number).name, "processes": len(self._members)}
        row["places"] = int(self._counters.all(Process.TAKEN).sum())
        row["connections"] = int(self._counters.all(Process.CONNECTIONS).sum())
        log.info("signal", extra=row)

    def _broadcast(self, what: str) -> None:
        """Send a message without a value to all processes."""
        for member in self._members.values():
            member.write({"what": what, "value": None})

    # Processes.

    def _start_process(self, index: int) -> None:
        """Start process number ``index`` and connect it to this one."""
        assert self._loop is not None
        self._counters.clear(index)
        kind = socket.SOCK_SEQPACKET if sys.platform == "linux" else socket.SOCK_DGRAM
        door, their_door = socket.socketpair(socket.AF_UNIX, kind)
        line, their_line = socket.socketpair()
        lines, their_log = socket.socketpair()
        theirs = (their_door, their_line, their_log)
        inherited = list[socket.socket]()
        if self._forks:
            inherited = [door, line, lines, *self._listeners.values(), *self._reserved]
            inherited += [
                each for one in self._members.values() for each in (one.door, one.line, one.log)
            ]
        # The open file of the counters is inherited, too; each process maps it itself.
        process = self._context.Process(
            target=main, args=(self._shared(index), *theirs, inherited), daemon=False
        )
        with warnings.catch_warnings():
            # Python warns of forking with threads; the only one here is the log's, and the child
            # starts its own.
            warnings.simplefilter("ignore", DeprecationWarning)
            process.start()
        for each in theirs:
            each.close()
        for each in (door, lines):
            each.setblocking(False)
        member = ServerProcess(index, process, door, line, lines, time.monotonic())
        self._members[index] = member
        self._loop.add_reader(process.sentinel, self._on_process_ended, member)
        self._loop.add_reader(door, self._on_acknowledged, member)
        self._loop.add_reader(lines, self._on_log, member)
        member.tasks.append(self._loop.create_task(self._listen(member)))

    def _shared(self, index: int) -> Shared:
        """Return what a process gets at its start."""
        try:
            # A restarted process gets the settings that the others have adopted meanwhile.
            self._settings, _ = taken_over(self._settings, self._reread())
        except (SayaheadError, OSError) as error:
            log.warning(
                "A process begins with the settings that were good last.", extra={"why": str(error)}
            )
        return Shared(
            self._settings,
            self._config,
            self._reread,
            index,
            self._count,
            self._name,
            self._secret,
            self._folder,
            self._measured,
            self._numbers,
            self._voices,
            self._has_given_voices,
        )

    def _on_process_ended(self, member: ServerProcess) -> None:
        """Clean up after a process, and restart it unless the server is ending."""
        assert self._loop is not None
        self._loop.remove_reader(member.process.sentinel)
        member.process.join()
        self._on_log(member)
        for each in (member.door, member.log):
            self._loop.remove_reader(each)
        self._loop.remove_writer(member.door)
        for task in member.tasks:
            task.cancel()
        del self._members[member.index]
        self._counters.clear(member.index)
        self._ended_metrics = merged(
            [self._ended_metrics, lasting(self._last_metrics.pop(member.index, {}))]
        )
        unserved = [*member.sent, *member.waiting]
        member.door.close()
        member.log.close()
        (member.line if member.writer is None else member.writer).close()
        code = member.process.exitcode
        if self._draining:
            # The remaining processes tell these clients that the server is shutting down.
            for name, peer in unserved:
                self._hand_over(name, peer)
            if not self._members:
                self._over.set()
            return
        level = logging.ERROR if code else logging.INFO
        row = {"number": member.index, "code": code, "pid": member.process.pid}
        log.log(level, "a process ended", extra=row)
        if not self._came_up:
            # It failed at its first start, so another try would fail, too.
            self._failed = self._draining = True
            self._broadcast("end")
            self._drop(unserved)
            if not self._members:
                self._over.set()
            return
        lived_s = time.monotonic() - member.start_time
        self._failures[member.index] = 1 if lived_s > STEADY_S else self._failures[member.index] + 1
        wait_s = min(MAX_BACKOFF_S, BACKOFF_S * 2 ** (self._failures[member.index] - 1))
        self._loop.call_later(wait_s, self._restart, member.index)
        self._update_accepting()
        for name, peer in unserved:
            # No process has read from these connections, so another one can serve them.
            self._hand_over(name, peer)

    def _restart(self, index: int) -> None:
        if not self._draining:
            self._start_process(index)

    @staticmethod
    def _drop(lost: list[tuple[str, socket.socket]]) -> None:
        for _, peer in lost:
            peer.close()

    # Connections.

    def _update_accepting(self) -> None:
        """Accept connections if and only if some process is there to serve them."""
        assert self._loop is not None
        should_accept = self._came_up and any(member.started for member in self._members.values())
        if should_accept == self._accepting:
            return
        self._accepting = should_accept
        for name, listener in self._listeners.items():
            if should_accept:
                self._loop.add_reader(listener, self._accept, name, listener)
            else:
                self._loop.remove_reader(listener)

    def _accept(self, name: str, listener: socket.socket) -> None:
        """Accept waiting connections and hand them over."""
        for _ in range(AT_ONCE):
            try:
                peer, _ = listener.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                if error.errno not in FULL:
                    raise
                self._pause(name, listener)
                return
            self._hand_over(name, peer)

    def _pause(self, name: str, listener: socket.socket) -> None:
        """Stop accepting for a moment."""
        assert self._loop is not None
        loop = self._loop
        loop.remove_reader(listener)

        def resume() -> None:
            if self._accepting:
                loop.add_reader(listener, self._accept, name, listener)

        loop.call_later(PAUSE_S, resume)

    def _hand_over(self, name: str, peer: socket.socket) -> None:
        """Give a connection to the process with the fewest; to one that is late or silent only if
        all are."""
        members = [member for member in self._members.values() if member.started]
        if not members:
            peer.close()
            return
        stale = time.monotonic() - ALIVE_S
        counters = self._counters

        def load(member: ServerProcess) -> tuple[bool, bool, float]:
            index = member.index
            is_silent = counters.of(Process.BEAT, index) < stale
            is_late = counters.of(Process.LATE, index) > 0
            open_count = member.connections - counters.of(Process.CLOSED, index)
            return is_silent, is_late, open_count

        member = min(members, key=load)
        member.connections += 1
        member.waiting.append((name, peer))
        self._flush(member)

    def _flush(self, member: ServerProcess) -> None:
        """Send a process its waiting connections until its socket is full."""
        assert self._loop is not None
        while member.waiting:
            name, peer = member.waiting[0]
            try:
                socket.send_fds(member.door, [name.encode()], [peer.fileno()])
            except (BlockingIOError, InterruptedError):
                self._loop.add_writer(member.door, self._flush, member)
                return
            except OSError:
                # The process has ended; its sentinel reports that, and its connections go to
                # others.
                return
            member.sent.append(member.waiting.popleft())
        self._loop.remove_writer(member.door)

    def _on_acknowledged(self, member: ServerProcess) -> None:
        """Close this process's copies of connections that a process has received."""
        with contextlib.suppress(OSError, ValueError):
            for _ in range(int(member.door.recv(64) or b"0")):
                member.sent.popleft()[1].close()

    # Messages.

    async def _listen(self, member: ServerProcess) -> None:
        """Read a process's messages until it ends."""
        reader, member.writer = await asyncio.open_connection(sock=member.line, limit=LINE_BYTES)
        with contextlib.suppress(OSError, ValueError):
            while line := await reader.readline():
                self._on_message(member, json.loads(line))

    def _on_message(self, member: ServerProcess, row: dict[str, Any]) -> None:
        """Handle a message: an answer, the start, a question to the others, or a message to one of
        them."""
        if "answer" in row:
            if (answers := self._open_questions.get(row["answer"])) is not None:
                answers.add(member.index, row["value"])
        elif row["what"] == "started":
            self._on_started(member)
        elif row.get("ask") is not None:
            assert self._loop is not None
            member.tasks.append(self._loop.create_task(self._ask_others(member, row)))
        elif (other := self._members.get(row.get("to", -1))) is not None:
            other.write({"what": row["what"], "value": row["value"]})

    async def _ask_others(self, member: ServerProcess, row: dict[str, Any]) -> None:
        """Ask all other processes on behalf of one, and send it the answers that come in time."""
        others = [each for each in self._members.values() if each is not member and each.started]
        self._question_count += 1
        number = self._question_count
        answers = self._open_questions[number] = Answers(len(others))
        for each in others:
            each.write({"what": row["what"], "value": row["value"], "ask": number})
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(answers.complete.wait(), ANSWER_S)
        del self._open_questions[number]
        values = list(answers.values.values())
        if row["what"] == "metrics":
            values = self._with_known(member.index, answers.values | {member.index: row["value"]})
        member.write({"answers": row["ask"], "values": values})

    def _with_known(self, asking: int, metrics: dict[int, Samples]) -> list[Samples]:
        """Return the metrics of all processes but the asking one.

        Includes the last known values of those that did not answer or have ended, so that no sum
        ever decreases.
        """
        self._last_metrics |= {index: row for index, row in metrics.items() if row}
        others = [row for index, row in self._last_metrics.items() if index != asking]
        return [*others, self._ended_metrics]

    def _on_started(self, member: ServerProcess) -> None:
        """A process serves: once all do, begin to accept connections."""
        member.started = True
        if self._came_up:
            log.info("a process began", extra={"number": member.index, "pid": member.process.pid})
        elif sum(each.started for each in self._members.values()) == self._count:
            # Connections wait until now, so that they are spread over all processes.
            self._came_up = True
            row = {"processes": self._count, "threads": threads_for(self._settings, self._count)}
            log.info("processes", extra=row)
            tell_address(self._settings, self.port, open_to_all=Access(self._settings).open)
        self._update_accepting()
        if self._draining:
            member.write({"what": "drain", "value": None})

    def _on_log(self, member: ServerProcess) -> None:
        """Write a process's log records."""
        data = b""
        with contextlib.suppress(OSError):
            while part := member.log.recv(1 << 16):
                data += part
                if len(part) < 1 << 16:
                    break
        for line in member.lines.push(data):
            with contextlib.suppress(ValueError):
                record = record_of(line)
                logging.getLogger(record.name).handle(record)


def same(settings: Settings) -> Settings:
    """Return the settings unchanged. A named function, because a spawned process cannot receive a
    lambda."""
    return settings


def memory_folder() -> str | None:
    """Return a folder in memory if the system has one, else None for the default temporary
    folder."""
    shm = "/dev/shm"
    return shm if sys.platform == "linux" and os.access(shm, os.W_OK | os.X_OK) else None


def main(
    shared: Shared,
    door: socket.socket,
    line: socket.socket,
    lines: socket.socket,
    inherited: list[socket.socket],
) -> None:
    """Run one process from its start to its end.

    ``door``: receives connections; ``line``: carries messages; ``lines``: takes the log;
    ``inherited``: the supervisor's sockets, which a fork closes.
    """
    # A fork inherits the supervisor's event loop, signal handlers and sockets.
    asyncio.events._set_running_loop(None)
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    for each in inherited:
        each.close()
    settings = shared.settings
    logs.set_up(settings.log, text=settings.log_text, to=lines.fileno(), formatter=Passed())
    malloc.bound_heaps(threads_for(settings, shared.processes))
    counters = SharedCounters(shared.processes, index=shared.index, path=shared.folder / "counters")
    siblings = Child(
        counters,
        door=door,
        line=line,
        numbers=shared.numbers,
        name=shared.name,
        secret=shared.secret,
        folder=shared.folder,
        measured=shared.measured,
    )
    hub = Hub(
        settings,
        voices=shared.voices if shared.given else None,
        loaded=None if shared.given else shared.voices,
        config=shared.config,
        reread=shared.reread,
        siblings=siblings,
    )
    server = Server(hub)
    with contextlib.suppress(KeyboardInterrupt):
        server.run([])
    logging.getLogger("sayahead").handlers[0].flush()
    os._exit(0 if server.started else 1)
