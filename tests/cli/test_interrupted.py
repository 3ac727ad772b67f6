"""Ctrl-C at defined moments of every command: silence or a line, status 130, and whole files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import wave
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals"),
    pytest.mark.usefixtures("interruptible"),
]
PROGRAM = Path(__file__).parents[1] / "support" / "interrupted.py"
TEXT = "# One\n\nIt begins.\n\n# Two\n\nIt ends.\n"
COMMANDS = {
    "say": ("say", "-o", "a.wav", "--timings", "a.json", "Hello there, all of you."),
    "typed": ("say", "-o", "a.wav", "-f", "-"),
    "book": ("book", "text.md", "-o", "a.m4b", "--read-along", "a.html"),
    "read": ("read", "It costs $5."),
    "voices": ("voices",),
    "serve": ("serve", "--port", "0", "--set", "processes=1"),
    "processes": ("serve", "--port", "0", "--set", "processes=2"),
    "help": ("--help",),
}
MOMENTS = {
    "say": (
        "2",
        "200",
        "20000",
        "200000",
        "1000000",
        "2000000",
        "sayahead.voice:load_voice",
        "sayahead.engine.session:push",
        "sayahead.sound.files:write",
        "sayahead.sound.files:close",
        "sayahead.sound.subtitles:write_timings",
    ),
    "typed": ("sayahead.cli.text_source:fragments",),
    "book": (
        "sayahead.books.files:read_book",
        "sayahead.books.audio:show",
        "sayahead.books.audio:finished_chapter",
        "sayahead.books.m4b:write_m4b",
        "sayahead.books.m4b:chapter_marks",
        "sayahead.books.read_along:write_page",
    ),
    "read": ("100000", "1500000"),
    "voices": ("20000", "500000"),
    "serve": (
        "400000",
        "sayahead.server.hub:start",
        "sayahead.server.process.run:bind",
        "sayahead.server.process.run:tell_address",
    ),
    "processes": (
        "sayahead.server.process.supervisor:_prepare",
        "sayahead.server.process.supervisor:_begin",
    ),
    "help": ("10", "30000"),
}
QUICK = {
    "2",
    "10",
    "20000",
    "100000",
    "sayahead.sound.files:write",
    "sayahead.books.m4b:write_m4b",
    "sayahead.server.hub:start",
}
"""Moments that are tried in each run."""
CASES = [
    pytest.param(name, moment, marks=() if moment in QUICK else pytest.mark.slow)
    for name, moments in MOMENTS.items()
    for moment in moments
]


def stopped(folder: Path, name: str, moment: str) -> subprocess.CompletedProcess[str]:
    """A command that is given Ctrl-C at a moment, and has ended."""
    (folder / "text.md").write_text(TEXT, encoding="utf-8")
    command = [sys.executable, str(PROGRAM), moment, *COMMANDS[name]]
    return subprocess.run(
        command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300
    )


@pytest.mark.parametrize(("name", "moment"), CASES)
def test_a_command_ends_quietly(tmp_path: Path, name: str, moment: str) -> None:
    done = stopped(tmp_path, name, moment)
    assert done.returncode == 130, done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    if name not in ("serve", "processes"):
        # A server tells more in its log.
        assert done.stderr.count("\n") <= 1, done.stderr
    files_are_whole(tmp_path)


def files_are_whole(folder: Path) -> None:
    """What has its name can be read to its end."""
    if (folder / "a.wav").exists():
        with wave.open(str(folder / "a.wav"), "rb") as file:
            assert len(file.readframes(file.getnframes())) == 2 * file.getnframes()
    for path in folder.glob("*.json"):
        json.loads(path.read_text(encoding="utf-8"))
    if (folder / "a.html").exists():
        assert (folder / "a.html").read_text(encoding="utf-8").rstrip().endswith("</html>")
    assert not list(folder.glob("*.part"))


def test_the_package_itself_imports_nothing() -> None:
    """What is imported before the command line handles Ctrl-C would show a traceback."""
    code = (
        "import __future__, os, sys; before = set(sys.modules); import sayahead.__main__;"
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["sayahead", "sayahead.__main__"]
