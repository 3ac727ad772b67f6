"""Files that a digest identifies: arrays whose bytes depend only on the arrays, and a voice's own
files."""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sayahead.errors import VoiceError


@dataclass(frozen=True, slots=True)
class Borrowed:
    """Files that lie in another voice's folder."""

    voice: str
    """The other voice's name: a folder beside this voice's, or one that came with the package."""
    files: dict[str, str]
    """Its files to the SHA-256 of their content."""


def save_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write an ``.npz`` file for ``numpy.load``; the same arrays give the same bytes."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, array in arrays.items():
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, array, allow_pickle=False)
            file.writestr(zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0)), buffer.getvalue())


def inside(folder: Path, name: str) -> Path:
    """Return the path of a file of a folder.

    VoiceError if the name or a link leads out of the folder.
    """
    path = folder / name
    if (
        not name
        or name != path.name
        or "\\" in name
        or "\0" in name
        or path.resolve().parent != folder.resolve()
    ):
        raise VoiceError(
            f"{name[:80]!r} is no file of the folder {folder}: a voice reads only its own."
        )
    return path


def sha256(path: Path) -> str:
    """The SHA-256 of a file's content, hexadecimal."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def check_file(path: Path, digest: str | None) -> None:
    """VoiceError if the file is missing or its SHA-256 differs from ``digest``."""
    if not path.is_file():
        raise VoiceError(f"{path} is missing: install the voice again.")
    if digest is not None:
        actual = sha256(path)
        if actual != digest:
            raise VoiceError(
                f"{path} is damaged: its SHA-256 is {actual}, but voice.json says {digest}. Install"
                " the voice again."
            )
