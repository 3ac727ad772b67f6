"""The package itself: its public names, and what it must not pull in."""

from __future__ import annotations

import ast
import asyncio
import inspect
import re
import subprocess
import sys
import zlib
from importlib import import_module
from importlib.metadata import requires
from pathlib import Path

import pytest
from support.servers import serving, toy_voice

import sayahead
from sayahead import VoiceError, client, extensions, research, types
from sayahead.cli import main

pytestmark = pytest.mark.smoke

ROOT = Path(__file__).parents[1]
MAX_BYTES = 15_000_000
"""Of the wheel."""


def test_every_public_name_is_there_for_programs_and_for_type_checkers() -> None:
    imports = [
        node
        for node in ast.walk(ast.parse(inspect.getsource(sayahead)))
        if isinstance(node, ast.ImportFrom)
    ]
    seen = {
        name.name: node.module
        for node in imports
        for name in node.names
        if f"{node.module}".startswith("sayahead.")
    }
    assert sorted(seen) == sayahead.__all__
    for name, module in seen.items():
        assert getattr(sayahead, name) is getattr(import_module(str(module)), name)
    shown = {name for name in dir(sayahead) if not name.startswith("__")}
    assert shown == set(sayahead.__all__)


def test_few_names_are_for_everyone_and_researchers_have_theirs() -> None:
    assert len(sayahead.__all__) <= 25
    assert not set(sayahead.__all__) & set(research.__all__)


@pytest.mark.parametrize("name", research.__all__)
def test_programs_of_the_last_version_find_its_names(name: str) -> None:
    with pytest.warns(DeprecationWarning, match=f"sayahead.research.{name}"):
        assert getattr(sayahead, name) is getattr(research, name)


def test_models_of_the_last_version_find_the_record_that_they_return() -> None:
    with pytest.warns(DeprecationWarning, match="SynthesizedAudio"):
        assert types.Speech is types.SynthesizedAudio  # type: ignore[attr-defined]


def test_calls_of_the_last_version_warn_and_work() -> None:
    voice = toy_voice()
    with pytest.warns(DeprecationWarning, match="open_speech"):
        speech = voice.speech(idle_s=None)
    speech.write("One two.")
    assert [word.text for chunk in speech for word in chunk.words] == ["One", "two."]
    with pytest.warns(DeprecationWarning, match="Client"):
        assert client.blocking.SyncClient is client.Client

    async def run(url: str) -> list[str]:
        async with client.Client(url) as old:
            return [word.text async for chunk in old.stream("One two.") for word in chunk.words]

    with serving() as server, pytest.warns(DeprecationWarning, match="AsyncClient"):
        assert asyncio.run(run(server.ws)) == ["One", "two."]


def test_speaking_imports_no_torch_and_help_no_numpy() -> None:
    code = (
        "import sys, sayahead; sayahead.load_voice().synthesize('Hi.'); sys.exit('torch' in"
        " sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    code = "import sys, sayahead.cli; sayahead.cli.overview(); sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_base_install_needs_three_packages() -> None:
    base = [line for line in requires("sayahead") or [] if "extra ==" not in line]
    assert sorted(line.split("=")[0].split(">")[0] for line in base) == [
        "hibari-tts",
        "numpy",
        "onnxruntime",
    ]


def test_the_wheel_stays_small_and_holds_no_laboratory() -> None:
    folder = ROOT / "src" / "sayahead"
    files = [
        path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts
    ]
    assert sum(len(zlib.compress(path.read_bytes(), 1)) for path in files) <= MAX_BYTES
    strangers = {
        "training",
        "eval",
        "aligner.onnx",
        "blind_test.html",
        "ma-lj",
        "saeki-lj",
        "mohan-lj",
    }
    assert not strangers & {part for path in files for part in path.relative_to(folder).parts}


@pytest.mark.parametrize("name", ["heart-low", "heart-bright"])
def test_a_shaped_voice_carries_its_bases_papers(name: str) -> None:
    voices = ROOT / "src" / "sayahead" / "voices"
    assert all(
        (voices / name / f).read_bytes() == (voices / "heart" / f).read_bytes()
        for f in ("LICENSE", "NOTICE")
    )


@pytest.mark.parametrize("folder", [".", "lab", "voices/papers", "voices/family"])
def test_a_notice_names_files_that_are_there(folder: str) -> None:
    notice = ROOT / folder / "NOTICE"
    if not notice.is_file():
        pytest.skip(f"Only the repository has {folder}.")
    paths = re.findall(r"\b(?:src|web)/[\w./-]*\w", notice.read_text(encoding="utf-8"))
    assert paths
    assert [path for path in paths if not (notice.parent / path).exists()] == []


@pytest.mark.parametrize("package", extensions.OURS)
def test_what_another_package_brings_says_how_to_install_it(package: str) -> None:
    folder = extensions.OURS[package]
    assert f"pip install ./{folder}. Elsewhere, clone" in extensions.not_installed("That", package)
    if (ROOT / "lab").is_dir():
        assert f'name = "{package}"' in (ROOT / folder / "pyproject.toml").read_text(
            encoding="utf-8"
        )


def test_a_missing_command_names_its_package(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(extensions, "entry_points", lambda group: {})
    assert main(["train", "--help"]) == 1
    assert (
        "sayahead train is part of sayahead-lab, which is not installed" in capsys.readouterr().err
    )
    with pytest.raises(VoiceError, match="is part of sayahead-voices-papers"):
        sayahead.load_voice("ma-lj")
