"""Hidden folders beside the added voices, in which a voice is made or deleted: what killed
processes left of them."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
import time
from pathlib import Path

ABANDONED_S = 3600.0
"""A workplace in which nothing was made for so long is nobody's."""


def owner() -> str:
    """Which process of which machine a hidden folder belongs to."""
    return f"{re.sub('[^A-Za-z0-9]', '_', socket.gethostname())}-{os.getpid()}"


def is_left(path: Path) -> bool:
    """Whether a hidden folder belongs to a process of this machine that is gone, or was not touched
    for long."""
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
    """Delete what was left by processes that were killed: whenever a voice is added, removed, or a
    server starts."""
    for path in (*parent.glob(".adding-*"), *parent.glob(".removed-*")):
        with contextlib.suppress(OSError, OverflowError):
            if is_left(path):
                shutil.rmtree(path, ignore_errors=True)
