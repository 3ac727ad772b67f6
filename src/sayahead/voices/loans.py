"""Borrowed files: voices that share parts use them from another voice's folder."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from sayahead.engine.files import Borrowed, check_file, inside
from sayahead.errors import VoiceError
from sayahead.voices.locations import located


def lent(loan: Borrowed, folder: Path, what: str, names: Iterable[str] = ()) -> Path:
    """Return the folder of the voice that lends ``what`` to the voice in ``folder``, after checking
    its files.

    ``names``: files that must be among the borrowed ones. VoiceError if the lender is missing, a
    file differs, or a named one has no digest.
    """
    places = inside(folder.parent, loan.voice), located(loan.voice)
    lender = next((place for place in places if (place / "voice.json").is_file()), None)
    if lender is None:
        raise VoiceError(
            f"The voice in {folder} needs {what} of the voice {loan.voice!r}, which is not there."
        )
    for file in names:
        if file not in loan.files:
            raise VoiceError(
                f"{folder / 'voice.json'}: {file[:80]!r} is borrowed, but its SHA-256 is not told."
            )
    for file, digest in loan.files.items():
        check_file(inside(lender, file), digest)
    return lender
