"""The command line, with Ctrl-C at a defined moment: ``python interrupted.py MOMENT ARGUMENT ...``.

A moment is a number, of calls and returns of functions since the command began, or
``MODULE:FUNCTION``, the first call of a function. After it, or at its end without one, the command
goes on as it will. With moment 0, Ctrl-C does not come, and the number of moments is the last line
of standard error."""

from __future__ import annotations

import signal
import sys
from types import FrameType
from typing import Any

from sayahead.__main__ import run

moment = sys.argv.pop(1)
count = 0


def watch(frame: FrameType, event: str, argument: Any) -> None:
    """Count what happens; Ctrl-C at the moment."""
    global count
    count += 1
    if moment.isdecimal():
        is_here = count == int(moment)
    else:
        called = f"{frame.f_globals.get('__name__')}:{frame.f_code.co_name}"
        is_here = event == "call" and called == moment
    if is_here:
        sys.setprofile(None)
        signal.raise_signal(signal.SIGINT)


sys.setprofile(watch)
code = run()
sys.setprofile(None)
if moment == "0":
    print(count, file=sys.stderr)
sys.exit(code)
