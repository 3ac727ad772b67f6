"""Archives of voices and runs: written the same every time, unpacked with bounds."""

from __future__ import annotations

import gzip
import lzma
import tarfile
import zipfile
import zlib
from pathlib import Path, PurePosixPath
from typing import IO, cast

from sayahead.errors import ConfigError, VoiceError

ENDINGS = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.xz")
MAX_FILES = 200
MAX_BYTES = 4 << 30
MAX_HEAD = 1 << 20
# Weights are noise to a compressor: what a byte follows tells nothing of it.
XZ = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "lc": 0, "lp": 0, "pb": 0}]


def is_archive(path: Path) -> bool:
    """Whether a file's name is that of an archive."""
    return path.name.lower().endswith(ENDINGS)


def unpack(archive: Path, folder: Path) -> None:
    """Unpack plain files into ``folder``. VoiceError for a damaged archive, or one that reaches out
    of its place."""
    try:
        if archive.name.lower().endswith(".zip"):
            with zipfile.ZipFile(archive) as zipped:
                check([(entry.filename, entry.file_size) for entry in zipped.infolist()], archive)
                zipped.extractall(folder)
        else:
            with opened(archive) as raw:
                untar(Bounded(raw), archive, folder)
    except DAMAGES as error:
        # tarfile tells on further lines how each way of packing failed.
        reason = (str(error) or type(error).__name__).splitlines()[0].rstrip(":.")
        raise VoiceError(f"{archive} cannot be unpacked: {reason}.") from error


DAMAGES = (
    zipfile.BadZipFile,
    tarfile.TarError,
    lzma.LZMAError,
    zlib.error,
    EOFError,
    OSError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    IndexError,
)
"""How the libraries say that an archive is damaged."""


class Bounded:
    """A file of which only so much may be read until more is allowed: tarfile reads names as long
    as they say."""

    def __init__(self, raw: IO[bytes]) -> None:
        self._raw = raw
        self._left = 0
        self.seek = raw.seek
        self.tell = raw.tell

    def allow(self, size: int) -> None:
        """Let so many bytes be read."""
        self._left = size

    def read(self, size: int) -> bytes:
        """So many bytes. tarfile.TarError where that is more than allowed."""
        self._left -= size
        if not size >= 0 or self._left < 0:
            raise tarfile.HeaderError("a file's head is longer than any voice's")
        return self._raw.read(size)


def opened(archive: Path) -> IO[bytes]:
    """A tar's content, by the ending of its name."""
    ending = archive.suffix.lower()
    if ending in (".gz", ".tgz"):
        return cast(IO[bytes], gzip.open(archive))
    return cast(IO[bytes], lzma.open(archive)) if ending == ".xz" else archive.open("rb")


def untar(file: Bounded, archive: Path, folder: Path) -> None:
    """Unpack a tar, each file checked before the next one's head is read."""
    file.allow(MAX_HEAD)
    with tarfile.open(fileobj=cast(IO[bytes], file), mode="r:") as packed:
        seen = list[tuple[str, int]]()
        while (entry := packed.next()) is not None:
            seen.append((entry.name, entry.size))
            check(seen, archive)
            file.allow(entry.size + MAX_HEAD)
            packed.extract(entry, folder, filter="data")
            file.allow(MAX_HEAD)


def check(entries: list[tuple[str, int]], archive: Path) -> None:
    """VoiceError for too many files, too many bytes, or names that lead elsewhere."""
    if len(entries) > MAX_FILES or sum(size for _, size in entries) > MAX_BYTES:
        raise VoiceError(
            f"{archive} holds more than {MAX_FILES} files or {MAX_BYTES >> 30} GiB: it is no voice."
        )
    for name, _ in entries:
        path = PurePosixPath(name.replace("\\", "/"))
        if path.is_absolute() or ".." in path.parts or ":" in path.parts[:1]:
            raise VoiceError(
                f"{archive} holds {name[:80]!r}, which lies outside of it: it was not unpacked."
            )


def write_archive(folder: Path, archive: Path) -> None:
    """Write all files below a folder into an archive, its format by its name, in order and without
    times.

    ConfigError where it is there already, or its name is not that of an archive.
    """
    if not is_archive(archive):
        raise ConfigError(
            f"{archive} is no name of an archive: it must end in {', '.join(ENDINGS)}."
        )
    if archive.exists():
        raise ConfigError(f"{archive} is there already: name another file, or remove it.")
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    partial = archive.with_name(f".{archive.name}")
    if archive.name.lower().endswith(".zip"):
        with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as zipped:
            for path in files:
                entry = zipfile.ZipInfo(path.relative_to(folder).as_posix())
                zipped.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED)
    else:
        with (
            partial.open("wb") as raw,
            compressed(raw, archive.suffix.lower()) as file,
            tarfile.open(fileobj=file, mode="w") as packed,
        ):
            for path in files:
                packed.add(path, path.relative_to(folder).as_posix(), filter=plain)
    partial.replace(archive)


def compressed(raw: IO[bytes], ending: str) -> IO[bytes]:
    """A file whose content is written compressed, by the ending of its name, and without a time."""
    if ending in (".gz", ".tgz"):
        return cast(IO[bytes], gzip.GzipFile("", "wb", fileobj=raw, mtime=0))
    return cast(IO[bytes], lzma.LZMAFile(raw, "wb", filters=XZ)) if ending == ".xz" else raw


def plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """An entry without owner and time."""
    entry.uid = 0
    entry.gid = 0
    entry.mtime = 0
    entry.uname = ""
    entry.gname = ""
    return entry
