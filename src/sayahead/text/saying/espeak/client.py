"""Asks espeak-ng, which runs in a process of its own: one for all threads, started when first
wanted."""

from __future__ import annotations

import atexit
import contextlib
import functools
import importlib.util
import json
import os
import queue
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from sayahead.errors import ConfigError, VoiceError

LIBRARY = "SAYAHEAD_ESPEAK"
"""Environment variable: the file of the espeak-ng library to load, before all others."""
INSTALL = (
    "install it with pip install 'sayahead[espeak]', or as a package of the system (Debian and"
    " Ubuntu: apt install libespeak-ng1; Fedora: dnf install espeak-ng; macOS: brew install"
    " espeak-ng)"
)
START_S = 20.0
ANSWER_S = 2.0
"""How long the worker may take to start, and to answer."""
LONGEST = 4000
"""Most characters of one request; no word or clause of a normalizer comes near it."""
_SYSTEM = (
    "libespeak-ng.so.1",
    "libespeak-ng.so",
    "libespeak-ng.1.dylib",
    "/opt/homebrew/lib/libespeak-ng.1.dylib",
    "/usr/local/lib/libespeak-ng.1.dylib",
    r"C:\Program Files\eSpeak NG\libespeak-ng.dll",
)


class WorkerDiedError(Exception):
    """The worker is gone, or does not answer in time."""


def candidates() -> list[str]:
    """Pairs of a library and the folder of its data, in the order in which the worker tries them.

    The one that ``SAYAHEAD_ESPEAK`` names alone; without it, that of the package espeakng-loader,
    then the system's."""
    if named := os.environ.get(LIBRARY):
        beside = Path(named).absolute().parent / "espeak-ng-data"
        return [named, str(beside) if beside.is_dir() else ""]
    result = []
    package = importlib.util.find_spec("espeakng_loader")
    if package and package.origin:
        folder = Path(package.origin).parent
        libraries = sorted(
            path for ext in ("so", "dylib", "dll") for path in folder.glob(f"*espeak-ng*.{ext}")
        )
        result = [
            text for path in libraries for text in (str(path), str(folder / "espeak-ng-data"))
        ]
    return result + [text for name in _SYSTEM for text in (name, "")]


class Worker:
    """One process with espeak-ng loaded. It is used by one thread at a time; ``Espeak`` sees to
    that."""

    def __init__(self) -> None:
        """Start it. ConfigError where there is no espeak-ng; WorkerDiedError where it does not come
        up."""
        command = [
            sys.executable,
            "-I",
            "-S",
            str(Path(__file__).with_name("worker.py")),
            *candidates(),
        ]
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
        except OSError as error:
            raise WorkerDiedError(str(error)) from error
        self._answers = queue.SimpleQueue[dict[str, Any] | None]()
        threading.Thread(target=self._listen, name="espeak-ng", daemon=True).start()
        try:
            hello = self._wait(START_S)
        except WorkerDiedError:
            self.close()
            raise
        if "missing" in hello:
            self.close()
            # That a system has it at none of its places is no news; that one does not load is.
            named = LIBRARY in os.environ
            failed = [why for why in hello["missing"] if named or "No such file" not in why]
            tried = f" ({'; '.join(failed)})" if failed else ""
            raise ConfigError(
                "Phonemes of this voice are made by espeak-ng, which is not there:"
                f" {INSTALL}.{tried}"
            )
        self.version: str = hello["version"]
        self.library: str = hello["library"]

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._process.pid

    def ask(self, request: dict[str, Any], timeout_s: float) -> dict[str, Any]:
        """The answer to a request; WorkerDiedError where none comes in time: then it is of no more
        use."""
        line = json.dumps(request, ensure_ascii=False) + "\n"
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line.encode("utf-8", "replace"))
        except OSError as error:
            raise WorkerDiedError(str(error)) from error
        return self._wait(timeout_s)

    def close(self) -> None:
        """End the process; it ends by itself when its input does, and is made to where it is
        stuck."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(0.5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def forget(self) -> None:
        """In a forked child: let go of the parent's process without ending it."""
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
        self._process.returncode = 0

    def _wait(self, timeout_s: float) -> dict[str, Any]:
        try:
            message = self._answers.get(timeout=timeout_s)
        except queue.Empty:
            raise WorkerDiedError(f"no answer within {timeout_s:g} s") from None
        if message is None:
            raise WorkerDiedError("the process ended")
        return message

    def _listen(self) -> None:
        """Pass answers on until there are no more."""
        assert self._process.stdout is not None
        with (
            self._process.stdout as raw,
            contextlib.suppress(OSError, ValueError),
            open(raw.fileno(), "rb", closefd=False) as stream,
        ):
            for line in stream:
                self._answers.put(json.loads(line))
        self._answers.put(None)


class Espeak:
    """espeak-ng for any number of threads; a worker that dies is replaced, and its request asked
    again."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._worker: Worker | None = None
        self._cached = functools.lru_cache(maxsize=8192)(self._ask)

    def clauses(self, voice: str, text: str) -> tuple[str, ...]:
        """IPA with stress of each clause of a text, by a voice of espeak-ng ("de", "en-us").

        ConfigError where there is no espeak-ng or no such voice, VoiceError where it fails twice
        over the same text."""
        return self._cached(voice, text)

    def about(self) -> tuple[str, str]:
        """Version and file of the library; ConfigError where there is none, VoiceError where it
        does not start."""
        with self._lock:
            try:
                worker = self._running()
            except WorkerDiedError as error:
                raise VoiceError(f"espeak-ng does not start: {error}.") from error
            return worker.version, worker.library

    def close(self) -> None:
        """End the worker; it is started again when wanted."""
        with self._lock:
            if self._worker is not None:
                self._worker.close()
                self._worker = None

    def forget_answers(self) -> None:
        """Empty the cache."""
        self._cached.cache_clear()

    def after_fork(self) -> None:
        """In a forked child: leave the worker to the parent, which may have been using it."""
        self._lock = threading.Lock()
        if self._worker is not None:
            self._worker.forget()
            self._worker = None

    def _running(self) -> Worker:
        if self._worker is None:
            self._worker = Worker()
        return self._worker

    def _ask(self, voice: str, text: str) -> tuple[str, ...]:
        """Ask the worker; one that dies is replaced once, as the text may be what kills it."""
        failures = []
        for _ in range(2):
            with self._lock:
                try:
                    answer = self._running().ask({"voice": voice, "text": text[:LONGEST]}, ANSWER_S)
                except WorkerDiedError as error:
                    failures.append(str(error))
                    if self._worker is not None:
                        self._worker.close()
                        self._worker = None
                    continue
            if "error" in answer:
                raise ConfigError(f"espeak-ng cannot read this: {answer['error']}.")
            return tuple(answer["clauses"])
        raise VoiceError(
            f"espeak-ng failed twice over {text[:60]!r} ({voice}): {', '.join(failures)}."
        )


ESPEAK = Espeak()
"""The one that this process shares."""

atexit.register(ESPEAK.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=ESPEAK.after_fork)
