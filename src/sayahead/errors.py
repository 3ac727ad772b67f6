"""Every error that sayahead raises on purpose. Each message is a sentence: what, where, what to
do."""

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
    """Warn whoever called our caller by a name that goes with version 0.3."""
    message = f"{old} is {new} now; the old name goes with version 0.3."
    warnings.warn(message, DeprecationWarning, stacklevel=3)
