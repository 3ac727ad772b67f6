"""The classes of errors that sayahead raises on purpose. Each message is a sentence, where it is
raised: what, where, what to do."""

import sys
import warnings


class SayaheadError(Exception):
    """Base of all errors that a caller may want to catch."""


class ConfigError(SayaheadError, ValueError):
    """A wrong setting, option or configuration file; the message names its path and the nearest
    known name."""


class VoiceError(SayaheadError):
    """A voice that is missing, damaged or made for another version."""


class TextError(SayaheadError):
    """Text that cannot be accepted (not text at all, or over a stated limit)."""


class SessionError(SayaheadError):
    """A session used after its end, or out of order."""


def renamed(old: str, new: str) -> None:
    """Warn whoever called this package by a name that goes with version 0.3."""
    frame = sys._getframe()
    depth = 1
    while frame.f_back is not None and frame.f_globals["__name__"].split(".")[0] == "sayahead":
        frame = frame.f_back
        depth += 1
    message = f"{old} is {new} now; the old name goes with version 0.3."
    warnings.warn(message, DeprecationWarning, stacklevel=depth)
