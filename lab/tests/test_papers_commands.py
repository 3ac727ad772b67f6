"""The commands on the papers' pages, and at the heads of experiments and recipes, are commands."""

from __future__ import annotations

import re
import runpy
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sayahead import cli

from sayahead_lab.training.loop.recipe import load_recipe

ROOT = Path(__file__).parents[2]
BLOCKS: dict[str, Any] = runpy.run_path(str(ROOT / "docs" / "tools" / "blocks.py"))
REMAKE: dict[str, Any] = runpy.run_path(str(ROOT / "lab" / "benchmarks" / "papers" / "remake.py"))
SMALL = BLOCKS["Small"].read(ROOT / "lab" / "docs" / "papers" / "commands.toml", {"test.csv": "a"})
HEADS = [
    path
    for folder in ("benchmarks", "recipes")
    for paper in ("ma", "mohan", "saeki")
    for path in sorted((ROOT / "lab" / folder / paper).glob("*.toml"))
]


class ParsedError(Exception):
    """What a command was understood as, which is not carried out."""


def understood(line: str) -> Any:
    """The arguments of a command; ParsedError is all that it comes to."""
    with pytest.raises(ParsedError) as found:
        cli.command(shlex.split(line, comments=True)[1:])
    return found.value.args[0]


def single(line: str) -> Iterator[str]:
    """The commands of sayahead in a line of bash; a variable is any word."""
    for part in re.split(r"&&|\|\||;|\bdo\b", line):
        words = re.sub(r"^(\w+=\S+ )+", "", part.strip())
        if words.startswith("sayahead ") and " ... " not in f"{words} ":
            words = re.sub(r"--seed \S+", "--seed 0", words)
            yield re.sub(r"\$\{?\w+\}?|\bROW\b", "*", words)


@pytest.fixture(autouse=True)
def parse_only(monkeypatch: pytest.MonkeyPatch) -> None:
    parse = cli.Parser.parse_all

    def parsed(parser: Any, words: Any) -> None:
        raise ParsedError(parse(parser, words))

    monkeypatch.setattr(cli.Parser, "parse_all", parsed)


@pytest.mark.parametrize("page", SMALL.pages, ids=lambda page: page.stem)
def test_a_page_s_commands_are_understood_at_full_and_at_small_size(page: Path) -> None:
    found = 0
    for block in BLOCKS["blocks"](page):
        joined = re.sub(r"\\\n\s*", "", block.code).splitlines()
        small = [command.code for command in SMALL.commands(block)]
        for line in (*joined, *small) if block.language == "bash" else ():
            for command in single(line):
                found += 1
                checked(command)
    assert found


@pytest.mark.parametrize("head", HEADS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_the_commands_at_a_head_are_understood(head: Path) -> None:
    for line in REMAKE["commands"](head.read_text(encoding="utf-8")):
        for command in single(line):
            checked(command)


def checked(command: str) -> None:
    """A command of a document: its options are there, its recipe is and takes what is set."""
    arguments = understood(command)
    if (recipe := getattr(arguments, "recipe", None)) is not None:
        meant = list(ROOT.glob(str(recipe)))
        assert meant, recipe
        for path in meant:
            load_recipe(path, arguments.set or ())


def test_a_command_is_made_small_and_given_this_machine_s_files() -> None:
    block = BLOCKS["Block"]
    code = "sayahead train corpus corpus/ma --train train.csv --test test.csv   # hours\n"
    (small,) = SMALL.commands(block("page.md:1", "bash", code, "", ""))
    assert small.code.strip().endswith("--test test.csv --count train=64,val=16,test=4")
    assert "--train train.csv --test a --count" in SMALL.here(small).code


def test_what_cannot_be_run_says_why() -> None:
    code = "sayahead train import waveglow.pt --corpus corpus/released -o runs/waveglow\n"
    (one,) = SMALL.commands(BLOCKS["Block"]("page.md:1", "bash", code, "", ""))
    assert one.mark == "not run"
    assert BLOCKS["table"]([(one, "marked", 0.0)]).endswith(f"| – | not run: {one.reason} |\n")


def test_a_folder_that_is_kept_goes_on_with_what_failed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(BLOCKS["blocks"].__globals__, "ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text("\n    echo ran >> log\n    test -e there\n")
    (tmp_path / "repository").mkdir()
    subprocess.run(["git", "init", "-q"], cwd=tmp_path / "repository", check=True)
    small = BLOCKS["Small"]((page,), "true", (), (), ())

    def outcomes(limit_s: float) -> list[str]:
        places = (tmp_path / "repository", tmp_path / "kept")
        followed = BLOCKS["follow_small"](small, "uv", *places, limit_s)
        return [outcome[:12] for _, outcome, _ in followed]

    assert outcomes(0) == ["not reached"] * 3
    assert outcomes(60) == ["run", "run", "ended with 1"]
    clone = tmp_path / "kept" / "sayahead"
    (clone / "there").touch()
    assert outcomes(0) == ["run", "run", "ended with 1"]
    assert outcomes(60) == ["run", "run", "run"]
    assert (clone / "log").read_text() == "ran\n"
