"""A lock for the loudspeaker: of all programs of a user that wait for it, one speaks at a time."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from sayahead.sound.files import OutputError

POLL_S = 0.05


def place() -> Path:
    """Return the lock file: in the user's runtime folder, or the temporary one."""
    folder = os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()
    user = os.getuid() if sys.platform != "win32" else os.environ.get("USERNAME", "")
    return Path(folder) / f"sayahead-{user}.turn"


@contextlib.contextmanager
def turn(leave: Callable[[], bool] = lambda: False, *, path: Path | None = None) -> Iterator[bool]:
    """Wait for the lock and hold it while inside; yields False, without the lock, as soon as
    ``leave()`` is true.

    The operating system releases the lock when the program ends, however it ends. OutputError if
    the file cannot be opened.
    """
    path = path or place()
    try:
        file = os.fdopen(
            os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600), "r+b"
        )
    except OSError as error:
        raise OutputError(
            f"Taking turns needs {path}, which cannot be opened: {error.strerror or error}."
        ) from error
    with file:
        while not (has_lock := _try_lock(file)) and not leave():
            time.sleep(POLL_S)
        try:
            yield has_lock
        finally:
            if has_lock:
                _release(file)


if sys.platform == "win32":
    import msvcrt

    def _try_lock(file: IO[bytes]) -> bool:
        try:
            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _release(file: IO[bytes]) -> None:
        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _try_lock(file: IO[bytes]) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _release(file: IO[bytes]) -> None:
        fcntl.flock(file, fcntl.LOCK_UN)
