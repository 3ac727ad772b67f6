"""Adds voices to the user's folder and removes them, completely or not at all."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from sayahead.config import nearest
from sayahead.errors import ConfigError, VoiceError
from sayahead.extensions import OURS
from sayahead.voice import load_voice
from sayahead.voices import VoiceConfig, installed_voices, read_config
from sayahead.voices.install.archives import ENDINGS, is_archive, unpack, write_archive
from sayahead.voices.install.catalogue import (
    KOKORO,
    KOKORO_LICENCE,
    archives,
    catalogue,
    community,
    download,
)
from sayahead.voices.install.fetch import Digest, Progress, fetch, is_address
from sayahead.voices.install.kokoro.files import is_kokoro
from sayahead.voices.install.kokoro.voice import add_kokoro
from sayahead.voices.install.onnx.graph import read_graph
from sayahead.voices.install.trial import Measured, keep, measure
from sayahead.voices.install.vits.voice import add_piper
from sayahead.voices.leftovers import owner, sweep
from sayahead.voices.locations import (
    ELSEWHERE,
    VARIABLE,
    added_voices,
    home,
    package_of,
    packaged_voices,
)
from sayahead.voices.write import DESCRIPTION, DOCUMENTS, change_voice, copy_files

MADE = "voice"
"""Name of the folder inside a workplace that becomes the voice."""
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,79}")
NOT_FOR_TRADE = re.compile(
    r"(?i)\bNC\b|non-?commercial|research (?:use|purposes?) only|academic use"
)

Maker = Callable[[Path, Path | None, Path], None]
"""Converts a foreign voice: (its file, the description beside it, the new folder)."""


def add_graph(onnx: Path, config: Path | None, folder: Path) -> None:
    """Convert a Kokoro or Piper voice, depending on the inputs of its graph."""
    kokoro = onnx.is_file() and is_kokoro(set(read_graph(onnx).inputs))
    (add_kokoro if kokoro else add_piper)(onnx, config, folder)


MAKERS: dict[str, Maker] = {".onnx": add_graph}
"""Converters by file suffix."""


@dataclass(frozen=True, slots=True)
class Added:
    """The result of adding a voice."""

    folder: Path
    """Its folder."""
    config: VoiceConfig
    """Its description."""
    measured: Measured
    """Its cost and loudness on this machine."""


def for_trade(license: str) -> bool:
    """Return whether a licence allows commercial use, as far as its name tells."""
    return not NOT_FOR_TRADE.search(license.replace("_", "-"))


def add(
    source: str,
    *,
    name: str | None = None,
    config: Path | None = None,
    sha256: str | None = None,
    replace: bool = False,
    progress: Progress | None = None,
) -> Added:
    """Add a voice: a foreign file, a folder, an archive, a URL, or a name in the catalogue.

    ``name``: its new name, by default its own; ``config``: the description of a foreign file, by
    default ``FILE.json``; ``sha256``: required for a URL; ``replace``: whether it may replace a
    voice of the same name.

    The voice is loaded and tried before it is installed. ConfigError for wrong arguments,
    VoiceError for a file that is not a voice; in both cases nothing has changed.
    """
    with workplace() as work:
        make(place(source, work, sha256, progress), config, work / MADE)
        if source == KOKORO and not Path(source).exists():
            change_voice(work / MADE, {"license": KOKORO_LICENCE})
        return settle(work, name, replace=replace)


@contextmanager
def workplace() -> Iterator[Path]:
    """Create a hidden folder next to the added voices, and delete it with its contents at the
    end."""
    parent = home()
    try:
        parent.mkdir(parents=True, exist_ok=True)
        sweep(parent)
        work = Path(tempfile.mkdtemp(prefix=f".adding-{owner()}-", dir=parent))
    except OSError as error:
        raise ConfigError(
            f"{parent}, the folder of voices, cannot be written: {error}. {VARIABLE} names another."
        ) from error
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)


def settle(work: Path, name: str | None, *, replace: bool) -> Added:
    """Try the voice in a workplace, and move it to its final folder."""
    folder = work / MADE
    voice_name = checked_name(folder, name, replace=replace)
    measured = try_voice(folder, voice_name)
    keep(folder, measured)
    target = work.parent / voice_name
    if replace and target.exists():
        target.rename(work / "before")
    try:
        # A folder cannot be renamed onto one with files.
        folder.rename(target)
    except OSError as error:
        raise ConfigError(
            f"The voice {voice_name!r} was added meanwhile, by somebody else: choose another name,"
            " or replace it (--replace)."
        ) from error
    return Added(target, read_config(target), measured)


def remove(name: str) -> Path:
    """Delete an added voice; return the folder that it had. VoiceError if there is none, or it
    belongs to a package."""
    if name in packaged_voices():
        package = package_of(packaged_voices()[name])
        how = "stays" if package == "sayahead" else f"goes with it: pip uninstall {package}"
        raise VoiceError(f"The voice {name!r} came with {package} and {how}.")
    voices = added_voices()
    if name not in voices:
        raise VoiceError(
            "There is no added voice"
            f" {name!r}{nearest(name, voices) if voices else ': none was added'}."
        )
    # Renamed first, so that nobody loads a partial voice.
    sweep(voices[name].parent)
    trash = voices[name].with_name(f".removed-{owner()}-{name}")
    voices[name].rename(trash)
    shutil.rmtree(trash)
    return voices[name]


def place(source: str, work: Path, sha256: str | None, progress: Progress | None) -> Path:
    """Return the path of the file or folder that ``source`` means, downloading it if necessary."""
    if is_address(source):
        if sha256 is None or not re.fullmatch("[0-9a-fA-F]{64}", sha256):
            raise ConfigError(
                f"{source} is a download: give the SHA-256 of the file, 64 hexadecimal digits"
                " (--sha256)."
            )
        path = work / (Path(urlsplit(source).path).name or "download")
        fetch(source, path, Digest("sha256", sha256), progress)
        return path
    if sha256 is not None:
        raise ConfigError(f"A digest belongs to a download, but {source!r} is not an address.")
    path = Path(source).expanduser()
    if path.exists():
        return path
    if files := download(source, work, progress):
        return files[0]
    raise ConfigError(f"There is no file or folder {source!r}, and {unknown(source)}")


def unknown(name: str) -> str:
    """Return the end of an error for a name that is not in the catalogue."""
    hint = nearest(name, [*catalogue(), *community(), *archives(), KOKORO])
    return f"no voice of this name in the catalogue{hint}: sayahead voices catalogue lists them."


def make(source: Path, config: Path | None, folder: Path) -> None:
    """Create a voice's folder from a file or folder in any supported form."""
    if source.is_dir():
        copy(within(source), folder)
        return
    if is_archive(source):
        opened = folder.with_name("opened")
        opened.mkdir()
        unpack(source, opened)
        make(within(opened), config, folder)
        return
    if source.suffix.lower() not in MAKERS:
        endings = ", ".join([*MAKERS, *ENDINGS])
        raise ConfigError(
            f"{source} is not a voice that can be added: it must be a folder or end in {endings}."
        )
    MAKERS[source.suffix.lower()](source, config, folder)


def within(folder: Path) -> Path:
    """Return the only voice in a folder or below: a folder with voice.json, or a graph."""
    for pattern in ("voice.json", "*/voice.json"):
        for path in sorted(folder.glob(pattern)):
            return path.parent
    graphs = sorted(path for ending in MAKERS for path in folder.rglob(f"*{ending}"))
    if len(graphs) != 1:
        raise VoiceError(
            f"{folder.name} holds no voice.json, and {len(graphs)} graphs where one would be a"
            " voice."
        )
    return graphs[0]


def copy(source: Path, folder: Path) -> None:
    """Copy a voice's own files, ignoring links; files that packaged voices have, too, may be
    missing."""
    if not source.is_dir():
        make(source, None, folder)
        return
    config = read_config(source)
    packaged = packaged_files()
    folder.mkdir()
    copy_files(source, folder, (*config.files, DESCRIPTION, *DOCUMENTS))
    for name, digest in config.files.items():
        if not (folder / name).exists() and not (source / name).exists():
            if digest not in packaged:
                package = ELSEWHERE["ma-lj"]
                raise VoiceError(
                    f"The voice {config.name} lacks {name}, which is a packaged voice's: install"
                    f" that package first, such as pip install ./{OURS[package]} in a checkout, or"
                    f" pip install {package}."
                )
            shutil.copyfile(packaged[digest], folder / name)


def packaged_files() -> dict[str, Path]:
    """Return the files of packaged voices by SHA-256, according to their descriptions."""
    return {
        digest: folder / name
        for folder in packaged_voices().values()
        for name, digest in read_config(folder).files.items()
    }


def pack(voice: Path, archive: Path) -> list[str]:
    """Write a voice as an archive for ``add``, without files that packaged voices have; return the
    names of those.

    ConfigError if the archive exists, or its suffix is unknown.
    """
    config = read_config(voice)
    packaged = packaged_files()
    omitted = [name for name, digest in config.files.items() if digest in packaged]
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work) / config.name
        folder.mkdir()
        copy_files(voice, folder, (*(config.files.keys() - omitted), DESCRIPTION, *DOCUMENTS))
        write_archive(Path(work), archive)
    return omitted


def checked_name(folder: Path, name: str | None, *, replace: bool) -> str:
    """Check and return the voice's name, and write it into the description."""
    original = read_config(folder).name
    name = original if name is None else name
    check_name(name, replace=replace)
    if name != original:
        change_voice(folder, {"name": name})
    return name


def check_name(name: str, *, replace: bool) -> None:
    """Raise ConfigError for an invalid name, or for one in use that may not be replaced."""
    if not NAME.fullmatch(name):
        raise ConfigError(
            f"{name!r} is not a name for a voice: letters, digits and . _ + - make one."
        )
    if name in packaged_voices():
        package = package_of(packaged_voices()[name])
        raise ConfigError(
            f"{name!r} is the name of a voice that came with {package}: choose another one."
        )
    if name in installed_voices() and not replace:
        raise ConfigError(
            f"There is a voice {name!r} already: choose another name, or replace it (--replace)."
        )


def try_voice(folder: Path, name: str) -> Measured:
    """Load the voice, try it and set its gain. VoiceError if it is silent."""
    voice = load_voice(folder)
    measured = measure(voice)
    if measured.lufs == float("-inf"):
        raise VoiceError(
            f"The voice {name!r} loads, but a sentence of its language is silent: it was not added."
        )
    if voice.config.gain == 1.0:
        change_voice(folder, {"gain": round(measured.gain, 4)})
    return measured
