"""What the page without a server consists of: complete, pinned, and the same bytes for the same
sources."""

from __future__ import annotations

import posixpath
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.browser_tab import WEB, script


@pytest.fixture(scope="module")
def build() -> Any:
    return script("build")


def test_every_file_of_others_is_pinned_by_its_digest(build: Any) -> None:
    pinned = build.pins()
    digests = [digest for files in pinned["npm"].values() for digest in files.values()]
    assert digests
    assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in digests)
    assert all(re.fullmatch(r"[a-z-]+@\d+\.\d+\.\d+", package) for package in pinned["npm"])
    licences = (WEB / "LICENCES.md").read_text(encoding="utf-8")
    for package in pinned["npm"]:
        assert package.partition("@")[2] in licences


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
    package = {
        path.relative_to(WEB / "package").as_posix(): path
        for path in (WEB / "package").rglob("*.js")
    }
    made = {
        "files.js",
        "voices.js",
        *(f"runtime/{Path(name).name}" for names in build.pins()["npm"].values() for name in names),
    }
    page = {name: build.SERVER_PAGE / name for name in build.SHARED} | {
        path.name: path for path in (WEB / "page").glob("*.js")
    }
    there = {f"page/{name}" for name in page} | {
        f"{build.NAME}/{name}" for name in {*package, *made}
    }
    files = {f"page/{name}": path for name, path in page.items()}
    for name, path in (
        files | {f"{build.NAME}/{name}": path for name, path in package.items()}
    ).items():
        if path.suffix != ".js":
            continue
        for place in re.findall(
            r'(?:from|import|URL\()\s*"(\.[^"]+\.m?js)"', path.read_text(encoding="utf-8")
        ):
            assert posixpath.normpath(f"{posixpath.dirname(name)}/{place}") in there, (
                f"{name} wants {place}"
            )
    assert {"page/speaker.js", "page/ring.worklet.js", "sayahead-web/worker.js"} <= there


def test_the_page_hears_all_that_the_shared_modules_tell(build: Any) -> None:
    told = {
        name
        for file in ("speaker.js", "track.js")
        for name in re.findall(
            r"this\.told\.(\w+)\(", (build.SERVER_PAGE / file).read_text(encoding="utf-8")
        )
    }
    main = (WEB / "page" / "main.js").read_text(encoding="utf-8")
    heard = main[main.index("new Speaker(") : main.index("new Sheet(")]
    assert told <= set(re.findall(r"^  (\w+): \(", heard, re.MULTILINE))
    assert "opens" in told


@pytest.mark.parametrize("page", ["web", "server"])
def test_a_page_has_every_element_that_its_scripts_ask_for(build: Any, page: str) -> None:
    folder = WEB / "page" if page == "web" else build.SERVER_PAGE
    scripts = [folder / "main.js", build.SERVER_PAGE / "sheet.js"]
    asked = {
        name
        for path in scripts
        for name in re.findall(r'\bget\("([\w-]+)"\)', path.read_text(encoding="utf-8"))
    }
    there = set(re.findall(r'\bid="([\w-]+)"', (folder / "index.html").read_text(encoding="utf-8")))
    assert asked <= there
    assert {"editor", "play", "wav", "speed"} <= asked


@pytest.mark.parametrize(("voices", "last"), [("heart", "heart-low"), ("portuguese", "pm_alex")])
def test_python_in_the_page_holds_nothing_that_only_others_need(
    voices: str, last: str, build: Any
) -> None:
    names = [name for name, _ in build.sources(build.VOICES[voices])]
    assert len(names) == len(set(names))
    assert {
        "web_voices.py",
        "desk.py",
        "numpy/__init__.py",
        "hibari/g2p/oov.py",
        "sayahead/text/classes/date.rules",
        f"voices/{last}/voice.json",
    } <= {*names}
    assert not [
        name for name in names if name.endswith((".onnx", ".npz", ".gz")) or "/server/" in name
    ]


def test_the_pages_numpy_is_numpy_for_what_a_session_asks_of_it() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SAME, str(WEB / "python")], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


SAME = """
import sys
import numpy as real
here = {name: module for name, module in sys.modules.items() if name.split(".")[0] == "numpy"}
for name in here:
    del sys.modules[name]
sys.path.insert(0, sys.argv[1])
import numpy as own
from sounds import Sound
assert own.__file__ != real.__file__

def told(np):
    clues = np.zeros(9, np.float32)
    row = clues[2:6]
    row[0], row[1:3] = 1.5, np.array([2, 3], np.float32)
    clues[7:] = 4.0
    halved = clues / np.float32(2)
    halved[:3] /= np.float32(2)
    weight, bias = np.array([[1.0, -2.0], [0.5, 3.0]]), np.array([0.25, 1.0])
    layer = weight @ np.maximum(np.array([-1.0, 2.0]), 0.0) + bias
    ids = np.concatenate([np.zeros(0, np.int64), np.array([3, 4], np.int64), clues[:1]])
    speeds = np.repeat(np.array([1.0, 2.0], np.float32), np.diff([0, 2, 5]))
    several = np.ones(2), np.full(3, 2.0, np.float32), layer * 2.0, ids, speeds, halved, clues
    nan = float("nan")
    larger = [float(np.fmax(*both)) for both in ((nan, 2.0), (3.0, nan), (1.0, 2.0))]
    return [list(map(float, array.tolist())) for array in several], larger, weight.shape

assert told(own) == told(real), (told(own), told(real))
sound = own.concatenate([Sound([[0.5, 0.25]]), own.zeros(3, own.float32)]) * own.float32(0.5)
assert (len(sound), sound.gain, sound.pieces) == (5, 0.5, ([0.5, 0.25], 3))
try:
    own.fft.rfft([1.0])
except AttributeError as error:
    assert "fft.rfft" in str(error)
else:
    raise AssertionError
"""
