"""Work for tests of those who do it."""

from __future__ import annotations

import os
import signal
from functools import partial
from pathlib import Path

from sayahead.errors import ConfigError

from sayahead_lab.workers import Work


def begin(folder: Path) -> Work:
    """Doubles numbers; leaves a file in the folder for each process that begins."""
    (folder / f"begun-{os.getpid()}").touch()
    return partial(double, folder)


def refuse() -> Work:
    """Cannot begin."""
    raise ConfigError("There is nothing to begin with.")


def double(folder: Path, number: int) -> int:
    """13 is refused, 14 is a mistake, 15 ends the process the first time, 16 always."""
    if number == 13:
        raise ConfigError("13 brings no luck: leave it out.")
    if number == 14:
        raise ZeroDivisionError("14")
    if number == 16 or (number == 15 and not (folder / "died").exists()):
        (folder / "died").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return 2 * number
