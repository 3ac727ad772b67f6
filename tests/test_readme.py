"""What the README shows works."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import sayahead

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")


def test_the_python_blocks_run_one_after_the_other(capsys: Any) -> None:
    played = []
    names: dict[str, Any] = {"play": lambda samples, rate: played.append((len(samples), rate))}
    blocks = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len(blocks) >= 2
    for block in blocks:
        exec(compile(block, "README.md", "exec"), names)
    assert sum(length for length, _ in played) > 10_000
    assert capsys.readouterr().out.split()[0] == "The"
    assert names["chunks"][0].words[0].text == "Doctor"


def test_the_tutorials_program_runs(capsys: Any) -> None:
    tutorial = (Path(__file__).parent.parent / "docs" / "tutorial.md").read_text(encoding="utf-8")
    program = re.findall(r"```python\n(.*?)```", tutorial, re.DOTALL)[0]
    exec(compile(program, "tutorial.md", "exec"), {})
    assert "s of sound: ['Sure!'" in capsys.readouterr().out


def test_every_link_leads_somewhere() -> None:
    root = Path(__file__).parent.parent
    for name in ("README.md", *(str(path.relative_to(root)) for path in root.glob("docs/*.md"))):
        text = (root / name).read_text(encoding="utf-8")
        for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", re.sub(r"`[^`]*`", "", text)):
            assert target.startswith("http") or (root / name).parent.joinpath(target).exists(), (name, target)


def test_the_public_names_it_uses_exist() -> None:
    for name in re.findall(r"`(\w+)\(.*?\)`", README):
        assert hasattr(sayahead, name) or hasattr(sayahead.Voice, name) or hasattr(sayahead.Session, name), name
