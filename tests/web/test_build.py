"""What the page without a server consists of: complete, pinned, and the same bytes for the same sources."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.browser_tab import WEB, script

from sayahead import Voice

TEXT = "Hello there, how are you?"
SPEAK = """
import os, sys
archive, packages, out, text = sys.argv[1:]
os.environ["SAYAHEAD_CACHE"] = f"{archive}/cache"
sys.path[:0] = [archive]
sys.path.append(packages)
import numpy as np
from sayahead.voice import load_voice
import desk
assert desk.__file__.startswith(archive), desk.__file__
samples = load_voice("heart").synthesize(text)
for name, module in sys.modules.items():
    assert name.split(".")[0] not in ("sayahead", "hibari") or archive in module.__file__, module.__file__
np.save(out, samples)
"""


@pytest.fixture(scope="module")
def build() -> Any:
    return script("build")


@pytest.fixture(scope="module")
def archive(build: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("web") / "voice.zip"
    build.pack(path)
    return path


def test_every_file_of_others_is_pinned_by_its_digest(build: Any) -> None:
    pinned = build.pins()
    digests = [digest for files in pinned["npm"].values() for digest in files.values()]
    assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in [*digests, pinned["numpy"]["sha256"]])
    assert all(re.fullmatch(r"[a-z-]+@\d+\.\d+\.\d+", package) for package in pinned["npm"])
    licences = (WEB / "LICENCES.md").read_text(encoding="utf-8")
    for package in pinned["npm"]:
        assert package.partition("@")[2] in licences
    assert pinned["numpy"]["file"].split("-")[1] in licences


def test_a_file_that_is_another_is_refused_and_not_kept(build: Any, tmp_path: Path) -> None:
    path = tmp_path / "pyodide.mjs"
    path.write_bytes(b"another")
    with pytest.raises(build.BuildError, match=r"pyodide\.mjs is not the file"):
        build.check(path, "0" * 64)
    assert not path.exists()


def test_a_folder_with_other_things_stays_as_it_is(build: Any, tmp_path: Path) -> None:
    (tmp_path / "precious.txt").write_text("mine")
    with pytest.raises(build.BuildError, match="holds something else"):
        build.build(tmp_path, tmp_path / "cache")
    assert (tmp_path / "precious.txt").read_text() == "mine"


def test_scripts_import_only_what_the_page_has(build: Any) -> None:
    own = {path.name for path in (WEB / "page").glob("*.js")}
    files = {name: build.SERVER_PAGE / name for name in build.SHARED} | {name: WEB / "page" / name for name in own}
    runtime = {Path(member).name for members in build.pins()["npm"].values() for member in members}
    for name, path in files.items():
        if path.suffix != ".js":
            continue
        wanted = re.findall(r'(?:from|import|URL\()\s*"(\.[^"]+)"', path.read_text(encoding="utf-8"))
        for place in wanted:
            folder, _, file = place.rpartition("/")
            known = {".": set(files), "../runtime": runtime | {""}, "..": {"voice.zip"}}[folder]
            assert file in known, f"{name} wants {place}"
    assert {"worker.js", "speaker.js", "ring.worklet.js"} <= set(files)


def test_the_page_hears_all_that_the_shared_modules_tell(build: Any) -> None:
    told = {
        name
        for file in ("speaker.js", "track.js")
        for name in re.findall(r"this\.told\.(\w+)\(", (build.SERVER_PAGE / file).read_text(encoding="utf-8"))
    }
    main = (WEB / "page" / "main.js").read_text(encoding="utf-8")
    heard = main[main.index("new Speaker(") : main.index("new Sheet(")]
    assert told <= set(re.findall(r"^  (\w+): \(", heard, re.MULTILINE))
    assert "opens" in told


@pytest.mark.parametrize("page", ["web", "server"])
def test_a_page_has_every_element_that_its_scripts_ask_for(build: Any, page: str) -> None:
    folder = WEB / "page" if page == "web" else build.SERVER_PAGE
    scripts = [folder / "main.js", build.SERVER_PAGE / "sheet.js"]
    asked = {name for path in scripts for name in re.findall(r'\bget\("([\w-]+)"\)', path.read_text(encoding="utf-8"))}
    there = set(re.findall(r'\bid="([\w-]+)"', (folder / "index.html").read_text(encoding="utf-8")))
    assert asked <= there
    assert {"editor", "play", "wav", "speed"} <= asked


def test_the_archive_is_the_same_for_the_same_sources(build: Any, archive: Path, tmp_path: Path) -> None:
    build.pack(tmp_path / "again.zip")
    assert (tmp_path / "again.zip").read_bytes() == archive.read_bytes()


def test_the_archive_holds_licences_and_nothing_that_only_others_need(archive: Path) -> None:
    with zipfile.ZipFile(archive) as opened:
        names = opened.namelist()
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert "sayahead/voices/heart/LICENSE" in names
    assert not [name for name in names if "/training/" in name or "lexicon_" in name or name.endswith("hibari.onnx")]
    assert archive.stat().st_size < 16e6


def test_python_in_the_page_has_all_that_it_imports(archive: Path, heart: Voice, tmp_path: Path) -> None:
    with zipfile.ZipFile(archive) as opened:
        opened.extractall(tmp_path / "packages")
    # Only the page has graphs.js: here the runtime itself takes the place of what calls it.
    (tmp_path / "packages" / "onnxruntime.py").unlink()
    command = [sys.executable, "-I", "-S", "-c", SPEAK, str(tmp_path / "packages"), str(Path(np.__file__).parents[1])]
    done = subprocess.run([*command, str(tmp_path / "x.npy"), TEXT], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    np.testing.assert_array_equal(np.load(tmp_path / "x.npy"), heart.synthesize(TEXT))
