"""A peer's process: it loads one engine, and speaks texts that come in pieces until its input ends.

    python -P worker.py ADAPTER.py:FUNCTION '{"option": 1}'

This file imports nothing of sayahead, so that any Python that has the engine can run it. The
function of the adapter is called with the options and returns ``(about, speak)``:

- ``about``, a dictionary: ``rate`` in Hz, and what a card says of the engine: ``version``,
  ``licence``, ``device``, ``threads``, ``set`` (how it was set, in words), ``files`` (its weights,
  which are told by their digests); ``flushes``: whether it is told of flushes; ``simulates``: false
  where sound comes while the engine waits for text, or depends on when that came.
- ``speak(text, whole, seed)``, a generator of samples (S,) in [-1, 1]. ``text`` is an iterator of
  the pieces as they arrive, of which "" is a flush; taking the next one waits for it. With
  ``whole``, the one piece is the whole text, to be spoken as the engine speaks at its best. It may
  also yield a dictionary: ``{"gpu_s": 0.2}``.

Protocol 2 is lines of JSON. In: ``{"clock": 1}``, ``{"open": {"whole", "seed"}}``, ``{"text":
...}``, ``{"finish": 1}``, ``{"cancel": 1}``. Out, each with the time of this process's monotonic
clock in ``at`` and the processor time that it has taken in ``cpu``: ``{"ready": about}``,
``clock``, ``wants`` and ``took`` (the engine waits for a piece, and has it), ``{"audio": S}`` and
that many little-endian float32 samples, ``told``, ``{"done": ..., "cpu_s", "rss_mb"}``, ``error``.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

with suppress(ImportError):  # Windows has none.
    import resource


Speak: TypeAlias = Callable[[Iterator[str], bool, int], Iterator[Any]]
Loaded: TypeAlias = tuple[dict[str, Any], Speak]
"""What an adapter returns."""


class NotWantedError(Exception):
    """Raised when an engine asks for more of a cancelled text."""


class AnswerStream:
    """This process's output, shared by its threads."""

    def __init__(self) -> None:
        # Engines and their libraries may print anything: only answers may reach the reader.
        self._output = os.fdopen(os.dup(1), "wb")
        os.dup2(2, 1)
        self._lock = threading.Lock()

    def tell(self, kind: str, value: Any, sound: bytes = b"", **rest: Any) -> None:
        """Write one message, stamped now."""
        line = (
            json.dumps({kind: value, "at": time.monotonic(), "cpu": spent_s(), **rest}).encode()
            + b"\n"
        )
        with self._lock:
            self._output.write(line + sound)
            self._output.flush()


class IncomingText:
    """The pieces of one utterance as they arrive."""

    def __init__(self, wire: AnswerStream, *, flushes: bool) -> None:
        self.waiting: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        """Pieces that have arrived; None is the end."""
        self.cancelled = False
        """Whether the utterance was cancelled."""
        self._wire = wire
        self._flushes = flushes
        self._taken = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        self._wire.tell("wants", self._taken)
        while True:
            piece = self.waiting.get()
            if self.cancelled:
                raise NotWantedError
            if piece == "" and not self._flushes:
                continue
            self._taken += piece is not None
            self._wire.tell("took", self._taken, ended=piece is None)
            if piece is None:
                raise StopIteration
            return piece


class EngineProcess:
    """Reads what to speak in one thread, and speaks in the main one."""

    def __init__(self, load: Callable[[], Loaded]) -> None:
        self._load = load
        self._wire = AnswerStream()
        self._opened: queue.SimpleQueue[tuple[IncomingText, dict[str, Any]] | None] = (
            queue.SimpleQueue()
        )
        self._text: IncomingText | None = None
        self._flushes = False

    def serve(self) -> None:
        """Answer until the input ends."""
        try:
            about, speak = self._load()
            about["files"] = {Path(path).name: digest(path) for path in about.get("files", ())}
            self._flushes = bool(about.get("flushes"))
            threading.Thread(target=self._read, daemon=True).start()
            self._wire.tell("ready", about)
            while (asked := self._opened.get()) is not None:
                self._speak(speak, *asked)
        except BrokenPipeError:
            return
        except Exception as error:
            self._wire.tell("error", one_line(error))

    def _read(self) -> None:
        """Read messages until the input ends: the second thread. Clocks are answered at once, other
        messages are passed to the main thread."""
        for line in sys.stdin.buffer:
            message = json.loads(line)
            text = self._text
            if "clock" in message:
                self._wire.tell("clock", message["clock"])
            elif "open" in message:
                self._text = IncomingText(self._wire, flushes=self._flushes)
                self._opened.put((self._text, message["open"]))
            elif text is not None:
                text.cancelled |= "cancel" in message
                text.waiting.put(message.get("text"))
        self._opened.put(None)

    def _speak(self, speak: Speak, text: IncomingText, asked: dict[str, Any]) -> None:
        begun_s = spent_s()
        try:
            sounds = speak(text, bool(asked.get("whole")), int(asked.get("seed", 0)))
            try:
                for sound in sounds:
                    if text.cancelled:
                        raise NotWantedError
                    if isinstance(sound, dict):
                        self._wire.tell("told", sound)
                    elif len(sound):
                        samples = np.asarray(sound, "<f4").reshape(-1)
                        self._wire.tell("audio", len(samples), samples.tobytes())
            finally:
                sounds.close()  # type: ignore[attr-defined]
        except NotWantedError:
            pass
        except BrokenPipeError:
            raise
        except Exception as error:
            self._wire.tell("error", one_line(error))
            return
        self._wire.tell("done", text.cancelled, cpu_s=spent_s() - begun_s, rss_mb=most_memory_mb())


def spent_s() -> float:
    """Processor time of this process and of its children that have ended, in seconds."""
    return time.process_time() + children_s()


def children_s() -> float:
    """Processor time of the children that have ended."""
    if "resource" not in sys.modules:
        return sum(os.times()[2:4])
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def most_memory_mb() -> float:
    """The most memory that this process has had, in MB; 0 where the system does not tell."""
    if "resource" not in sys.modules:
        return 0.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (
        1e6 if sys.platform == "darwin" else 1e3
    )


def digest(path: str | Path) -> str:
    """The SHA-256 of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def one_line(error: Exception) -> str:
    """An error as the reader reports it."""
    return " ".join(f"{type(error).__name__}: {error}".split()).rstrip(".")


def adapter(place: str) -> Callable[..., Loaded]:
    """The function of an adapter: ``FILE.py:FUNCTION``."""
    file, _, name = place.rpartition(":")
    spec = importlib.util.spec_from_file_location("adapter", file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is no module")
    module = importlib.util.module_from_spec(spec)
    sys.modules["adapter"] = module
    spec.loader.exec_module(module)
    function: Callable[..., Loaded] = getattr(module, name)
    return function


if __name__ == "__main__":
    EngineProcess(lambda: adapter(sys.argv[1])(**json.loads(sys.argv[2]))).serve()
