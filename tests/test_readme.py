"""What the README and the tutorial show works: their Python here, their commands in .ci/run
(docs/tools/blocks.py)."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import pytest

import sayahead
from sayahead.errors import SayaheadError

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS: dict[str, Any] = runpy.run_path(str(ROOT / "docs" / "tools" / "blocks.py"))


def test_the_readme_makes_sound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SAYAHEAD_DEVICE", "null")
    names: dict[str, Any] = {}
    for block in BLOCKS["blocks"](ROOT / "README.md"):
        if block.language == "python":
            exec(compile(block.code, block.where, "exec"), names)
    assert (tmp_path / "hello.wav").stat().st_size > 40_000
    assert capsys.readouterr().out.split() == "The quick brown fox jumps.".split()


def test_every_block_of_the_pages_is_found_and_what_is_not_run_has_a_reason() -> None:
    found = [
        block
        for pattern in BLOCKS["PATTERNS"]
        for page in ROOT.glob(pattern)
        for block in BLOCKS["blocks"](page)
    ]
    assert len(found) > 60
    assert [
        block.where for block in found if block.mark == "not run" and len(block.reason) < 10
    ] == []
    tutorial = [block for block in found if block.where.startswith("docs/tutorial.md")]
    assert {block.mark for block in tutorial} == {"", "serves"}
    assert len(tutorial) >= 9


def test_no_page_installs_by_a_name_that_no_index_has() -> None:
    wrong = [
        block.where
        for pattern in BLOCKS["PATTERNS"]
        for page in ROOT.glob(pattern)
        for block in BLOCKS["blocks"](page)
        if re.search(r"pip install [^\n&|]*(?<![\w./-])'?\w*-?sayahead", block.code)
    ]
    assert wrong == []


def test_every_link_leads_somewhere() -> None:
    for name in ("README.md", *(str(path.relative_to(ROOT)) for path in ROOT.glob("docs/**/*.md"))):
        text = (ROOT / name).read_text(encoding="utf-8")
        for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", re.sub(r"`[^`]*`", "", text)):
            assert target.startswith("http") or (ROOT / name).parent.joinpath(target).exists(), (
                name,
                target,
            )


def test_the_public_names_it_uses_exist() -> None:
    assert issubclass(sayahead.OutputError, SayaheadError)
    for name in re.findall(r"`(?:voice|speech)\.(\w+)\(", README):
        assert any(hasattr(kind, name) for kind in (sayahead.Voice, sayahead.Speech)), name
