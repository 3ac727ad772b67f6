"""The command line: in this process, or where signals, pipes and exits matter in one of its own."""

from __future__ import annotations

import functools
import subprocess
import sys
from pathlib import Path
from typing import Any, Protocol

import pytest

from sayahead.cli import main
from sayahead.voice import Voice, load_voice
from sayahead.voices import chosen

ENTRY = [sys.executable, "-m", "sayahead"]


class Command(Protocol):
    """Runs ``sayahead`` with arguments, and asserts that it ends with ``code`` and no traceback."""

    def __call__(self, *arguments: str, stdin: bytes = b"", code: int = 0) -> tuple[bytes, str]:
        """What it wrote to standard output and to standard error."""


def in_process(
    capture: pytest.CaptureFixture[bytes], patch: pytest.MonkeyPatch, folder: Path
) -> Command:
    """The command line within the test's process: no interpreter to start, and voices stay
    loaded."""
    patch.setattr("sayahead.voice.load_voice", once_loaded)

    def sayahead(*arguments: str, stdin: bytes = b"", code: int = 0) -> tuple[bytes, str]:
        typed = folder / "stdin"
        typed.write_bytes(stdin)
        with typed.open() as file, patch.context() as during:
            during.setattr(sys, "stdin", file)
            try:
                ended = main(arguments)
            except SystemExit as error:
                ended = int(str(error.code))
        stdout, stderr = capture.readouterr()
        return checked(ended, code, stdout, stderr)

    return sayahead


def spawned(
    *arguments: str, stdin: bytes = b"", code: int = 0, **options: Any
) -> tuple[bytes, str]:
    """The command line in a process of its own; ``options`` are subprocess.run's."""
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    ended = subprocess.run(
        [*ENTRY, *arguments], input=stdin, timeout=120, check=False, **(pipes | options)
    )
    return checked(ended.returncode, code, ended.stdout or b"", ended.stderr)


def start(*arguments: str, **options: Any) -> subprocess.Popen[bytes]:
    """A command that runs on, with pipes that are not buffered; ``options`` are Popen's."""
    pipes: dict[str, Any] = {
        "stdin": subprocess.PIPE,
        "stdout": subprocess.PIPE,
        "stderr": subprocess.PIPE,
    }
    return subprocess.Popen([*ENTRY, *arguments], bufsize=0, text=False, **(pipes | options))


def end(process: subprocess.Popen[bytes]) -> tuple[bytes, str]:
    """Close a command's input; what it wrote until its end."""
    stdout, stderr = process.communicate(timeout=120)
    assert b"Traceback" not in stderr
    return stdout, stderr.decode()


def checked(ended: int, code: int, stdout: bytes, stderr: bytes) -> tuple[bytes, str]:
    told = stderr.decode()
    assert ended == code, told
    assert "Traceback" not in told
    return stdout, told


@functools.cache
def kept(name: str | Path) -> Voice:
    """An installed voice or a folder's, loaded once a process."""
    return load_voice(name)


def once_loaded(
    name: str | Path | None = None,
    *,
    language: str | None = None,
    gender: str | None = None,
    **options: Any,
) -> Voice:
    """``load_voice`` for commands that may share a voice: the same voice again."""
    return kept(name or chosen(language, gender))
