"""Peers: engines that speak a sentence or a fragment at a time, measured on the same texts and clocks as ours.

Each runs in a process of its own (see ``peer_worker``), one fragment after the other; silence at the joins stays as
the engine leaves it. Its trace is the same record as ours, so all metrics apply to it. A peer of your own is a
worker and a ``WorkerPeer``: see lab/examples/custom_peer.py.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.util
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import IO, Any, NoReturn, Protocol

import numpy as np
from sayahead.config import nearest
from sayahead.errors import ConfigError, SayaheadError
from sayahead.sound.files import write_wav
from sayahead.sound.pcm import audible
from sayahead.types import Floats, WordTiming

from sayahead_lab.eval.experiment import peer_worker
from sayahead_lab.eval.experiment.conditions import Matrix
from sayahead_lab.eval.experiment.folder import keep, recorded, unmeasured, wav_path
from sayahead_lab.eval.experiment.fragment import Fragment, Fragmenter, by_sentence, first_fragment_early
from sayahead_lab.eval.experiment.run import Countdown, Progress, on_clocks, silent
from sayahead_lab.eval.experiment.trace import Trace, TracedChunk, TracedFragment
from sayahead_lab.scripts import ScriptLine


class PeerError(SayaheadError):
    """A peer that is not installed, failed, or gave no answer."""


@dataclass(frozen=True, slots=True)
class FragmentSound:
    """A fragment's sound."""

    samples: Floats
    """(S,) in [-1, 1]."""
    sample_rate: int
    """Samples per second."""
    generation_s: float
    """Computing time, measured in the peer's process."""


class Peer(Protocol):
    """An engine that speaks fragments."""

    @property
    def name(self) -> str:
        """Its name in the tables."""
        ...

    @property
    def fragments(self) -> Fragmenter:
        """How its text is cut."""
        ...

    def missing(self) -> str | None:
        """What to install, in a sentence; None if it can run."""
        ...

    def start(self) -> None:
        """Load, and speak once to warm up; PeerError where that fails."""
        ...

    def speak(self, text: str) -> FragmentSound:
        """Speak one fragment; PeerError where that fails."""
        ...

    def close(self) -> None:
        """Stop it; harmless when repeated."""
        ...


class WorkerPeer:
    """A peer in a process of its own that speaks ``peer_worker``'s protocol."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        *,
        fragments: Fragmenter = by_sentence,
        missing: Callable[[], str | None] = lambda: None,
        timeout_s: float = 120.0,
    ) -> None:
        """``command`` starts the worker; a request that takes longer than ``timeout_s`` ends it."""
        self.name, self.fragments, self.missing = name, fragments, missing
        self._command, self._timeout_s = list(command), timeout_s
        self._process: subprocess.Popen[bytes] | None = None
        self._complaints: IO[bytes] | None = None

    def start(self) -> None:
        if self._process is not None:
            return
        missing = self.missing()
        if missing is not None:
            raise PeerError(f"Peer {self.name}: {missing}")
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the process runs
        try:
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._complaints
            )
        except OSError as error:
            self.close()
            raise PeerError(f"Peer {self.name}: {self._command[0]} cannot be started: {error.strerror}.") from error
        try:
            self._answer(b"")
            self.speak("A word or two, to begin with.")
        except PeerError:
            self.close()
            raise

    def speak(self, text: str) -> FragmentSound:
        if self._process is None:
            raise PeerError(f"Peer {self.name} does not run: start it first.")
        header, sound = self._answer(json.dumps({"text": text}).encode() + b"\n")
        samples = np.frombuffer(sound, "<f4").astype(np.float32)
        try:
            return FragmentSound(samples, int(header["sample_rate"]), float(header["generation_s"]))
        except (KeyError, TypeError, ValueError):
            self._fail(f"its process answered {header}")

    def close(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            with contextlib.suppress(OSError):
                process.stdin.close()  # type: ignore[union-attr]
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            process.stdout.close()  # type: ignore[union-attr]
        if self._complaints is not None:
            self._complaints.close()
            self._complaints = None

    def _answer(self, request: bytes) -> tuple[dict[str, Any], bytes]:
        """Send a request and read the answer; without one the process is ended."""
        process, expired = self._process, threading.Event()
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None

        def expire() -> None:
            expired.set()
            process.kill()

        late = threading.Timer(self._timeout_s, expire)
        late.start()
        line = sound = b""
        try:
            process.stdin.write(request)
            process.stdin.flush()
            line = process.stdout.readline()
            header = json.loads(line)
            size = 4 * int(header.get("samples", 0))
            sound = process.stdout.read(size)
        except (OSError, ValueError, TypeError, AttributeError):
            header, size = {}, 1
        finally:
            late.cancel()
        if len(sound) < size:
            if expired.is_set():
                self._fail(f"no answer within {self._timeout_s:g} s")
            self._fail(f"its process answered {line[:60]!r}" if line and not header else "")
        if "error" in header:
            raise PeerError(f"Peer {self.name}: {header['error']}.")
        return header, sound

    def _fail(self, why: str) -> NoReturn:
        """End the process and raise PeerError with the reason (empty: it ended) and the last of its error output."""
        process, complaints, self._complaints = self._process, self._complaints, None
        assert process is not None
        assert complaints is not None
        self.close()
        with complaints:
            complaints.seek(0)
            last = complaints.read().decode(errors="replace").strip().splitlines()[-1:]
        why = why or f"its process ended (exit code {process.returncode})"
        raise PeerError(": ".join([f"Peer {self.name}: {why}", *last]).rstrip(".") + ".")


def measure_peer(peer: Peer, text: str, *, index: int = 0, name: str = "") -> tuple[Trace, Floats]:
    """A started peer's trace and all its samples (S,), as from ``trace.measure``: all letters there at time 0.

    A chunk is one fragment's whole sound; ``read`` are the characters that must have arrived before it is cut.
    Word times are estimates, as these engines report none: a fragment's words share its audible part by letters.
    """
    chunks, words, sounds = list[TracedChunk](), list[WordTiming](), list[Floats]()
    rate, begin, now_s, unheard_s = 0, 0, 0.0, 0.0
    for piece in peer.fragments(text):
        fragment = " ".join(text[piece.start : piece.end].split())
        if not any(map(str.isalnum, fragment)):
            continue
        answer = peer.speak(fragment)
        if rate not in (0, answer.sample_rate):
            raise PeerError(f"Peer {peer.name}: its sample rate changed from {rate} to {answer.sample_rate} Hz.")
        rate, length = answer.sample_rate, len(answer.samples)
        now_s += answer.generation_s
        unheard_s += answer.generation_s
        if not length:
            continue
        loud = audible(answer.samples)
        onset, offset = (int(loud[0]), int(loud[-1]) + 1) if len(loud) else (0, length)
        first_loud = onset if len(loud) else None
        chunks.append(TracedChunk(begin, length, 0.0, now_s, unheard_s, piece.read, first_loud))
        words += spread(text, piece, begin + onset, begin + offset)
        sounds.append(answer.samples)
        begin, unheard_s = begin + length, 0.0
    if not sounds:
        raise PeerError(f"Peer {peer.name} gave no sound for {text[:60]!r}.")
    letters = tuple(TracedFragment(at, at + 1, 0.0) for at in range(len(text)))
    trace = Trace(index, text, rate, letters, tuple(chunks), tuple(words), name, peer.name, "measured")
    return trace, np.concatenate(sounds)


def spread(text: str, piece: Fragment, onset: int, offset: int) -> list[WordTiming]:
    """The fragment's words over the samples from ``onset`` to ``offset``, each with its share of the letters."""
    words = [match for match in re.finditer(r"\S+", text[piece.start : piece.end]) if any(map(str.isalnum, match[0]))]
    shares = np.cumsum([0, *(sum(map(str.isalnum, word[0])) for word in words)])
    places = [int(place) for place in np.rint(onset + (offset - onset) * shares / shares[-1])]
    return [
        WordTiming(word[0], piece.start + word.start(), piece.start + word.end(), begin, end)
        for word, (begin, end) in zip(words, itertools.pairwise(places), strict=True)
    ]


def run_peer(
    peer: Peer, matrix: Matrix, texts: Sequence[ScriptLine], out: Path, *, progress: Progress = silent
) -> None:
    """All texts by one peer, measured and timed on the matrix's clocks, in files as ``run.run`` writes: OUT/<peer>/."""
    if any(condition.name == peer.name for condition in matrix.conditions):
        raise ConfigError(f"Peer {peer.name} has the name of a condition: rename that in the matrix.")
    folder, settings = out / peer.name, {"name": peer.name}
    tasks = unmeasured(folder, texts, settings)
    countdown = Countdown(len(tasks), progress)
    try:
        if tasks:
            peer.start()
            with recorded(folder, settings, 1):
                for number, text in tasks:
                    trace, samples = measure_peer(peer, text.text, index=number, name=text.name)
                    write_wav(wav_path(folder, text.name), samples, trace.sample_rate)
                    keep(trace, folder)
                    countdown.done(peer.name)
    finally:
        peer.close()
    on_clocks(matrix, texts, folder)


def hibari(name: str = "hibari", fragments: Fragmenter = by_sentence) -> WorkerPeer:
    """hibari-tts, which is always installed: its default voice."""
    return WorkerPeer(name, [sys.executable, "-P", peer_worker.__file__, "hibari"], fragments=fragments)


def piper(
    name: str = "piper", fragments: Fragmenter = by_sentence, *, voice: Path | None = None, python: str | None = None
) -> WorkerPeer:
    """Piper with a voice from a folder with one ``.onnx`` and its ``.onnx.json``, or from that file.

    None: SAYAHEAD_PIPER_VOICE, and for the Python that has piper-tts SAYAHEAD_PIPER_PYTHON or this one. The package is
    under the GPL and never imported here; without it, the ``piper`` command loads its voice for every fragment.
    """
    folder = voice or Path(os.environ.get("SAYAHEAD_PIPER_VOICE", "") or "no voice is set")
    python = python or os.environ.get("SAYAHEAD_PIPER_PYTHON") or sys.executable
    model = next(iter(sorted(folder.glob("*.onnx"))), None) if folder.is_dir() else folder

    def missing() -> str | None:
        if not has_module(python, "piper") and shutil.which("piper") is None:
            return (
                "install Piper (pip install piper-tts, under the GPL) here, or in another environment whose Python "
                "SAYAHEAD_PIPER_PYTHON names."
            )
        if model is None or not model.is_file() or not Path(f"{model}.json").is_file():
            return f"set SAYAHEAD_PIPER_VOICE to a folder with a voice's .onnx and .onnx.json (now: {folder})."
        return None

    command = [python, "-P", peer_worker.__file__, "piper", str(model)]
    return WorkerPeer(name, command, fragments=fragments, missing=missing)


def espeak_ng(name: str = "espeak-ng", fragments: Fragmenter = by_sentence) -> WorkerPeer:
    """The espeak-ng command: one process per sentence."""

    def missing() -> str | None:
        if shutil.which("espeak-ng"):
            return None
        return "install espeak-ng (apt install espeak-ng, brew install espeak-ng)."

    command = [sys.executable, "-P", peer_worker.__file__, "espeak-ng"]
    return WorkerPeer(name, command, fragments=fragments, missing=missing)


def has_module(python: str, name: str) -> bool:
    """Whether a Python has a package, without importing it here."""
    if python == sys.executable:
        return importlib.util.find_spec(name) is not None
    look = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({name!r}) is None)"
    try:
        return subprocess.run([python, "-P", "-c", look], capture_output=True, check=False, timeout=60).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


PEERS: dict[str, Callable[..., Peer]] = {
    "hibari": hibari,
    "piper": piper,
    "espeak-ng": espeak_ng,
    "hibari+fragments": functools.partial(hibari, "hibari+fragments", first_fragment_early),
    "piper+fragments": functools.partial(piper, "piper+fragments", first_fragment_early),
}
"""The peers of this package by name, each with its constructor."""


def make_peer(name: str) -> Peer:
    """A peer by its name, or one of your own: ``path/to/file.py:make`` or ``module:make``, where make() returns it.

    ConfigError where there is no such thing.
    """
    place, colon, attribute = name.rpartition(":")
    if not colon:
        if name not in PEERS:
            raise ConfigError(f"Peer {name!r} is not known{nearest(name, PEERS)}; one of your own is FILE.py:FUNCTION.")
        return PEERS[name]()
    try:
        make = getattr(load_module(place), attribute)
        peer: Peer = make()
        folder = peer.name
    except Exception as error:
        raise ConfigError(f"Peer {name!r} cannot be made: {peer_worker.one_line(error)}.") from error
    if not folder or set(folder) & set("/\\"):
        raise ConfigError(f"Peer {name!r}: its name, {folder!r}, cannot be the name of a folder.")
    return peer


def load_module(place: str) -> ModuleType:
    """A module by its file or name; whatever its import raises."""
    if not place.endswith(".py"):
        return importlib.import_module(place)
    path = Path(place).resolve(strict=True)
    spec = importlib.util.spec_from_file_location(f"sayahead_peer_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no module")
    # Dataclasses look up their module.
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
