"""Cleans up hidden folders next to the added voices that killed processes left behind while they
added or removed a voice."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
import time
from pathlib import Path

ABANDONED_S = 3600.0
"""A hidden folder counts as abandoned when it was not modified for this long."""


def owner() -> str:
    """Return a name for this process on this machine."""
    return f"{re.sub('[^A-Za-z0-9]', '_', socket.gethostname())}-{os.getpid()}"


def is_left(path: Path) -> bool:
    """Return whether a hidden folder is abandoned: its process on this machine has ended, or it is
    old."""
    _, host, process, _ = [*path.name.split("-", 3), "", "", ""][:4]
    if host == owner().rpartition("-")[0] and process.isdecimal() and hasattr(os, "getuid"):
        try:
            os.kill(int(process), 0)
        except ProcessLookupError:
            return True
        except OSError:
            return False
    return path.stat().st_mtime < time.time() - ABANDONED_S


def sweep(parent: Path) -> None:
    """Delete abandoned hidden folders. Called whenever a voice is added or removed, and when a
    server starts."""
    for path in (*parent.glob(".adding-*"), *parent.glob(".removed-*")):
        with contextlib.suppress(OSError, OverflowError):
            if is_left(path):
                shutil.rmtree(path, ignore_errors=True)
