"""Archives of voices and training runs: written reproducibly, unpacked with limits."""

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
# Weights look random to a compressor, so it need not model the context of a byte.
XZ = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "lc": 0, "lp": 0, "pb": 0}]


def is_archive(path: Path) -> bool:
    """Return whether a file name has an archive's suffix."""
    return path.name.lower().endswith(ENDINGS)


def unpack(archive: Path, folder: Path) -> None:
    """Unpack regular files into ``folder``. VoiceError for a damaged archive, or one with paths
    outside of the folder."""
    try:
        if archive.name.lower().endswith(".zip"):
            with zipfile.ZipFile(archive) as zipped:
                check([(entry.filename, entry.file_size) for entry in zipped.infolist()], archive)
                zipped.extractall(folder)
        else:
            with opened(archive) as raw:
                untar(Bounded(raw), archive, folder)
    except DAMAGES as error:
        # tarfile's further lines say how each compression failed.
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
"""Exceptions of the libraries for a damaged archive."""


class Bounded:
    """A file with a limit on how much may be read: tarfile reads names of whatever length the
    archive claims."""

    def __init__(self, raw: IO[bytes]) -> None:
        self._raw = raw
        self._allowed = 0
        self.seek = raw.seek
        self.tell = raw.tell

    def allow(self, size: int) -> None:
        """Set how many bytes may be read from now on."""
        self._allowed = size

    def read(self, size: int) -> bytes:
        """Read ``size`` bytes. tarfile.TarError if that exceeds the limit."""
        self._allowed -= size
        if not size >= 0 or self._allowed < 0:
            raise tarfile.HeaderError("a file's head is longer than any voice's")
        return self._raw.read(size)


def opened(archive: Path) -> IO[bytes]:
    """Open a tar, decompressed according to its suffix."""
    ending = archive.suffix.lower()
    if ending in (".gz", ".tgz"):
        return cast(IO[bytes], gzip.open(archive))
    return cast(IO[bytes], lzma.open(archive)) if ending == ".xz" else archive.open("rb")


def untar(file: Bounded, archive: Path, folder: Path) -> None:
    """Unpack a tar; each entry is checked before the next header is read."""
    file.allow(MAX_HEAD)
    with tarfile.open(fileobj=cast(IO[bytes], file), mode="r:") as packed:
        entries = list[tuple[str, int]]()
        while (entry := packed.next()) is not None:
            entries.append((entry.name, entry.size))
            check(entries, archive)
            file.allow(entry.size + MAX_HEAD)
            packed.extract(entry, folder, filter="data")
            file.allow(MAX_HEAD)


def check(entries: list[tuple[str, int]], archive: Path) -> None:
    """Raise VoiceError for too many files, too many bytes, or paths that lead elsewhere."""
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
    """Write all files below a folder into an archive, sorted and without times; the suffix selects
    the format.

    ConfigError if it exists, or its suffix is unknown.
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
    """Wrap a file in the compression of a suffix, without a time."""
    if ending in (".gz", ".tgz"):
        return cast(IO[bytes], gzip.GzipFile("", "wb", fileobj=raw, mtime=0))
    return cast(IO[bytes], lzma.LZMAFile(raw, "wb", filters=XZ)) if ending == ".xz" else raw


def plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """Remove owner and time from an entry."""
    entry.uid = 0
    entry.gid = 0
    entry.mtime = 0
    entry.uname = ""
    entry.gname = ""
    return entry
