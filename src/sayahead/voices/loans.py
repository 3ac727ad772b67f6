"""What a voice takes from another one in place: voices that share parts need not bring them
along."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from sayahead.engine.files import Borrowed, check_file, inside
from sayahead.errors import VoiceError
from sayahead.voices.locations import located


def lent(loan: Borrowed, folder: Path, what: str, names: Iterable[str] = ()) -> Path:
    """The folder that lends ``what`` to the voice in ``folder``, with the files ``names``.

    VoiceError where it is not there, has other files, or the loan does not tell the digest of one
    that is named."""
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
