"""Downloads, each checked against a known digest."""

from __future__ import annotations

import hashlib
import http.client
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from sayahead.errors import VoiceError

MAX_BYTES = 4 << 30
PIECE = 1 << 18
TIMEOUT_S = 30.0
Progress = Callable[[str, int, int | None], None]
"""Called with the name of a file, the bytes received, and the total if it is known."""


@dataclass(frozen=True, slots=True)
class Digest:
    """The expected digest of a file."""

    algorithm: str
    """``sha256``, or ``md5`` where its publisher gives no other."""
    value: str
    """Hexadecimal."""


def is_address(source: str) -> bool:
    """Return whether a source is a URL."""
    try:
        return urlsplit(source).scheme in ("http", "https")
    except ValueError:
        return False


def fetch(address: str, target: Path, digest: Digest, progress: Progress | None = None) -> None:
    """Download a file to ``target``. VoiceError if it cannot be downloaded, is too large, or has
    another digest."""
    name = Path(urlsplit(address).path).name or "the file"
    size = 0
    hasher = hashlib.new(digest.algorithm, usedforsecurity=digest.algorithm != "md5")
    request = urllib.request.Request(address, headers={"User-Agent": "sayahead"})
    try:
        with (
            urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer,
            target.open("wb") as file,
        ):
            length = answer.headers.get("Content-Length")
            total = int(length) if length and length.isdigit() else None
            while piece := answer.read(PIECE):
                size += len(piece)
                if size > MAX_BYTES:
                    raise VoiceError(
                        f"{address} is larger than {MAX_BYTES >> 30} GiB, which no voice is."
                    )
                hasher.update(piece)
                file.write(piece)
                if progress is not None:
                    progress(name, size, total)
    except (urllib.error.URLError, http.client.HTTPException, OSError, ValueError) as error:
        target.unlink(missing_ok=True)
        why = getattr(error, "reason", None) or error
        raise VoiceError(f"{address} cannot be downloaded: {why}. Nothing was added.") from error
    if hasher.hexdigest() != digest.value.lower():
        target.unlink(missing_ok=True)
        raise VoiceError(
            f"{address} is not what was promised: its {digest.algorithm.upper()} is"
            f" {hasher.hexdigest()}, not {digest.value.lower()}. Nothing was added."
        )
