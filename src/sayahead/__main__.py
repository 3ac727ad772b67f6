"""``python -m sayahead``, and the command ``sayahead``."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType

INTERRUPTED = 130


def run() -> int:
    """Run the command line; the exit code. Ctrl-C shows no traceback, whenever it comes.

    So nothing is imported before it is handled, and at the end it ends the program at once."""
    try:
        sys.unraisablehook = raise_later
        import signal

        from sayahead.cli import main

        try:
            return main()
        finally:
            # A shell's background process ignores it, and must continue to.
            if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
                signal.signal(signal.SIGINT, lambda number, frame: os._exit(INTERRUPTED))
    except KeyboardInterrupt:
        os._exit(INTERRUPTED)


def raise_later(unraisable: sys.UnraisableHookArgs) -> None:
    """Keep a Ctrl-C that came where Python drops exceptions, as in a weak reference's callback
    (each import has one)."""
    if issubclass(unraisable.exc_type, KeyboardInterrupt):
        sys.setprofile(raise_now)
    else:
        sys.__unraisablehook__(unraisable)


def raise_now(frame: FrameType, event: str, argument: object) -> None:
    """Raise Ctrl-C where the next function is called or returns."""
    if frame.f_code is not raise_later.__code__:
        sys.setprofile(None)
        raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(run())
