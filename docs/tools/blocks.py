"""Run every command and block of Python of pages, in a bare environment, as a reader would.

    python docs/tools/blocks.py [PAGE ...] [--uv UV] [--list]
    python docs/tools/blocks.py --small lab/docs/papers/commands.toml --file test.csv=TEXTS ...

Without pages: README, tutorial, how-tos and integrations. Each page is read in a folder of its own,
with a clone of this checkout (``git clone`` of the repository's address gives the same) and an
environment with nothing in it. Indented blocks are commands for bash; blocks of Python share their
names, page by page. A line before a block changes that:

    <!-- not run: REASON -->    it is listed, not run
    <!-- serves -->             its last command goes on; what follows waits until it answers

A page with ``git clone`` makes its own environment, the others are given one with ``pip install
'.[play]'``. With ``--small`` the pages of a TOML file are read one after the other in one folder,
command by command, each made small as the file says; ``--file`` gives their names files of this
machine, and ``-o`` writes a table of what became of each. With ``--folder`` that folder is kept:
the same command again goes on where it was stopped, and tries again what failed."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

ROOT = Path(__file__).parents[2]
ADDRESS = "https://github.com/sayahead/sayahead"
PATTERNS = (
    "README.md",
    "docs/tutorial.md",
    "docs/server.md",
    "docs/conversation.md",
    "docs/policies.md",
    "docs/how-to/*.md",
    "integrations/*/README.md",
)
BLOCK = re.compile(
    r"(?:<!-- (?P<mark>not run|serves|example)(?:: (?P<reason>[^\n]*?))? -->\n)?"
    r"(?:```(?P<language>\w*)\n(?P<fenced>.*?)^```$|(?<=\n)(?P<indented>(?: {4}[^\n]*\n|\n(?="
    r" {4}))+))",
    re.MULTILINE | re.DOTALL,
)
BLOCK_S = 600
SMALL_S = 1800
RECORD = "ran.json"
"""What became of commands, and their seconds, in a folder that is kept."""
SERVER_S = 120
DRIVER = """
import json, sys, traceback
names = {"__name__": "__main__"}
for line in sys.stdin:
    where, code = json.loads(line)
    try:
        exec(compile(code, where, "exec"), names)
        print("\\x00ran", flush=True)
    except BaseException:
        traceback.print_exc()
        print("\\x00failed", flush=True)
"""
"""Runs blocks of Python, one line of JSON each, in one set of names."""
SHELL = """
pip() {{ if [ "$1" = install ]; then shift; {uv} pip install --quiet "$@"; else command pip "$@"; fi; }}
set -eo pipefail
"""  # noqa: E501
INSTALL = f"""
git clone --quiet {ADDRESS} && cd sayahead
python3 -m venv --without-pip .venv && . .venv/bin/activate
pip install '.[play]'
"""
"""What has been done before a page begins."""


@dataclass(frozen=True, slots=True)
class Block:
    """A block of a page."""

    where: str
    """The page and its line."""
    language: str
    """``bash`` or ``python``; others are not run."""
    code: str
    """What it holds."""
    mark: str
    """What stands before it: ``not run``, ``serves`` or nothing."""
    reason: str
    """Why it is not run."""

    @property
    def key(self) -> str:
        """Its page, without the line, and what it holds."""
        return f"{self.where.partition(':')[0]}: {self.code}"


def blocks(page: Path) -> Iterator[Block]:
    """The blocks of a page in order."""
    text = page.read_text(encoding="utf-8")
    for match in BLOCK.finditer(text):
        where = f"{page.relative_to(ROOT)}:{text[: match.start()].count(chr(10)) + 1}"
        indented = match["indented"]
        if indented is not None and in_list(text[: match.start()]):
            continue
        code = match["fenced"] if indented is None else re.sub(r"(?m)^    ", "", indented)
        given = {"sh": "bash", "py": "python"}.get(match["language"] or "", match["language"] or "")
        language = given if indented is None else "bash"
        yield Block(where, language, code, match["mark"] or "", (match["reason"] or "").strip())


@dataclass(frozen=True, slots=True)
class Small:
    """How the commands of pages are run in minutes."""

    pages: tuple[Path, ...]
    """In the order in which they are read."""
    install: str
    """What makes the environment."""
    replace: tuple[tuple[str, str], ...]
    """Patterns, and what takes their places."""
    skip: tuple[tuple[str, str], ...]
    """Patterns of commands that are not run, and why."""
    files: tuple[tuple[str, str], ...]
    """Names in the commands, and the files of this machine that are meant."""

    @classmethod
    def read(cls, path: Path, files: Mapping[str, str]) -> Small:
        """What a TOML file says; ``files`` are named in the commands."""
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        return cls(
            tuple(path.with_name(f"{name}.md").resolve() for name in table["pages"]),
            table["install"],
            tuple((one["pattern"], one["text"]) for one in table["replace"]),
            tuple((one["pattern"], one["reason"]) for one in table["skip"]),
            tuple(files.items()),
        )

    def here(self, block: Block) -> Block:
        """A command with this machine's files in the places of the documents' names."""
        code = block.code
        for name, path in self.files:
            code = re.sub(rf"(?<![\w./-]){re.escape(name)}\b", path, code)
        return replace(block, code=code)

    def commands(self, block: Block) -> Iterator[Block]:
        """The commands of a block, each a block of its own, made small."""
        code = block.code if "<<" in block.code else re.sub(r"\\\n\s*", "", block.code)
        lines = [code] if "<<" in code else [line for line in code.splitlines() if line.strip()]
        for line in lines:
            skipped = [reason for pattern, reason in self.skip if re.search(pattern, line)]
            if skipped:
                yield replace(block, code=line, mark="not run", reason=skipped[0])
                continue
            for pattern, text in self.replace:
                line = re.sub(pattern, text, line)
            yield replace(block, code=line + "\n")


def in_list(before: str) -> bool:
    """Whether an indented block continues an item of a list."""
    lines = [line for line in before.splitlines() if line.strip()]
    return bool(lines) and bool(re.match(r"\s*([-*]|\d+\.) ", lines[-1]))


class Reader:
    """Somebody who follows a page in a new folder."""

    def __init__(self, folder: Path, uv: str, repository: Path, limit_s: int = BLOCK_S) -> None:
        self._folder = folder
        self._uv = uv
        self._limit_s = limit_s
        self._python = None
        self._processes: list[subprocess.Popen[bytes]] = []
        self._talk: subprocess.Popen[str] | None = None
        self._place = folder / "place"
        if not self._place.exists():
            self._place.write_text(str(folder))
        self._environment = {
            **{
                name: value
                for name, value in os.environ.items()
                if name not in ("VIRTUAL_ENV", "PYTHONPATH", "PYTHONHOME")
            },
            "SAYAHEAD_DEVICE": "null",
            "GIT_CONFIG_COUNT": "1",
            # A path, not a file:// address: git then links the files instead of packing them.
            "GIT_CONFIG_KEY_0": f"url.{repository}.insteadOf",
            "GIT_CONFIG_VALUE_0": ADDRESS,
        }

    def run(self, block: Block) -> str:
        """What went wrong; nothing where it ran."""
        if block.language == "python":
            return self._speak(block)
        if block.mark == "serves":
            return self._serve(block)
        log = self._folder / "log"
        with log.open("wb") as output, contextlib.ExitStack() as stack:
            process = self._started(block.code, output)
            stack.callback(end, process)
            try:
                code = process.wait(self._limit_s)
            except subprocess.TimeoutExpired:
                return f"took longer than {self._limit_s} s"
        return "" if code == 0 else f"ended with {code}:\n{log.read_text(errors='replace')[-2000:]}"

    @property
    def _here(self) -> str:
        return self._place.read_text().strip()

    def _started(self, code: str, output: IO[bytes]) -> subprocess.Popen[bytes]:
        """Commands, whose output goes to a file."""
        command = self._command(code)
        none = subprocess.DEVNULL
        return subprocess.Popen(
            command,
            env=self._environment,
            stdin=none,
            stdout=output,
            stderr=output,
            cwd=self._here,
            start_new_session=True,
        )

    def _command(self, code: str) -> list[str]:
        """Bash with the folder and environment that the block before left, which leaves its own."""
        state = self._folder / "state"
        restore = (
            f"source {shlex.quote(str(state))} 2>/dev/null || true\n" if state.exists() else ""
        )
        kept = f"export -p | grep -E ' [A-Z_]+=' > {shlex.quote(str(state))}"
        leave = f"\npwd > {shlex.quote(str(self._place))}; {kept}"
        return ["bash", "-c", restore + SHELL.format(uv=shlex.quote(self._uv)) + code + leave]

    def _serve(self, block: Block) -> str:
        if block.code.count("\n") > 1 or "&&" in block.code:
            # All but the last command is run to its end.
            *before, last = [
                line for line in re.split(r"\n|&&", re.sub(r"#.*", "", block.code)) if line.strip()
            ]
            for line in before:
                if failure := self.run(Block(block.where, "bash", line.strip() + "\n", "", "")):
                    return failure
            code = last
        else:
            code = block.code
        port = int((re.findall(r"--port (\d+)", code) or ["8000"])[0])
        if reached(port):
            return f"port {port} is taken on this machine"
        log = self._folder / "server.log"
        process = self._started(code, log.open("wb"))
        self._processes.append(process)
        end_s = time.monotonic() + SERVER_S
        while not reached(port):
            if process.poll() is not None or time.monotonic() > end_s:
                return f"does not answer on port {port}:\n{log.read_text(errors='replace')[-2000:]}"
            time.sleep(0.2)
        return ""

    def _speak(self, block: Block) -> str:
        if self._talk is None:
            driver = self._folder / "driver.py"
            driver.write_text(DRIVER)
            log = (self._folder / "python.log").open("w")
            # The process reads blocks from its standard input, in the environment that the commands
            # have made.
            command = self._command(f"exec python {shlex.quote(str(driver))}")
            pipe = subprocess.PIPE
            self._talk = subprocess.Popen(
                command,
                env=self._environment,
                cwd=self._here,
                stdin=pipe,
                stdout=pipe,
                stderr=log,
                text=True,
                start_new_session=True,
            )
        assert self._talk.stdin is not None
        assert self._talk.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._talk.stdin.write(json.dumps([block.where, block.code]) + "\n")
            self._talk.stdin.flush()
        for line in self._talk.stdout:
            if line.endswith("\x00ran\n"):
                return ""
            if line.endswith("\x00failed\n"):
                break
        return (self._folder / "python.log").read_text(errors="replace")[-2000:] or "Python ended"

    def close(self) -> None:
        """End what still runs."""
        for process in [*self._processes, *([self._talk] if self._talk else [])]:
            end(process)


def reached(port: int) -> bool:
    """Whether somebody listens on a port of this machine."""
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False


def end(process: subprocess.Popen[bytes] | subprocess.Popen[str]) -> None:
    """End a process and those it has started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def follow(page: Path, uv: str, repository: Path) -> Iterator[tuple[Block, str, float]]:
    """Each block of a page with what became of it (run, marked, or what failed) and the seconds it
    took."""
    every = [block for block in blocks(page) if block.language in ("bash", "python")]
    folder = Path(tempfile.mkdtemp(prefix="blocks-"))
    reader = Reader(folder, uv, repository)
    try:
        failed = False
        if any(block.mark != "not run" for block in every) and not any(
            "git clone" in block.code for block in every
        ):
            first = Block(f"{page.relative_to(ROOT)}:0", "bash", INSTALL, "", "")
            if failure := reader.run(first):
                failed = True
                yield first, f"the environment cannot be made: {failure}", 0.0
        for block in every:
            if block.mark == "not run" or failed:
                yield block, "marked" if block.mark == "not run" else "not reached", 0.0
                continue
            begun = time.monotonic()
            outcome = reader.run(block)
            failed = bool(outcome)
            yield block, outcome or "run", time.monotonic() - begun
    finally:
        reader.close()
        shutil.rmtree(folder, ignore_errors=True)


def follow_small(
    small: Small, uv: str, repository: Path, kept: Path | None = None, limit_s: float = float("inf")
) -> Iterator[tuple[Block, str, float]]:
    """Each command of small pages with what became of it, and its seconds; one that fails ends
    nothing. In a folder that is kept, those that ran before are not run again. After ``limit_s``
    none is begun."""
    folder = kept or Path(tempfile.mkdtemp(prefix="blocks-"))
    folder.mkdir(parents=True, exist_ok=True)
    record = folder / RECORD
    ended: dict[str, tuple[str, float]] = json.loads(record.read_text()) if record.exists() else {}
    end_s = time.monotonic() + limit_s
    reader = Reader(folder, uv, repository, SMALL_S)
    bare = INSTALL.rpartition("pip install")[0] + small.install
    try:
        first = Block("environment", "bash", bare, "", "")
        every = (
            command
            for page in small.pages
            for block in blocks(page)
            if block.language == "bash"
            for command in small.commands(block)
        )
        for block in (first, *every):
            if block.mark == "not run":
                yield block, "marked", 0.0
                continue
            outcome, seconds = ended.get(block.key, ("not reached", 0.0))
            begun = time.monotonic()
            if outcome != "run" and begun < end_s:
                outcome = reader.run(small.here(block)) or "run"
                seconds = time.monotonic() - begun
                ended[block.key] = (outcome, seconds)
                record.write_text(json.dumps(ended))
            yield block, outcome, seconds
    finally:
        reader.close()
        if kept is None:
            shutil.rmtree(folder, ignore_errors=True)


def table(rows: Iterable[tuple[Block, str, float]]) -> str:
    """What became of commands, as Markdown."""
    lines = ["| command | seconds | result |", "| --- | ---: | --- |"]
    for block, outcome, seconds in rows:
        page = Path(block.where).name.partition(".")[0]
        command = block.code.strip().splitlines()[-1].replace("|", "\\|")
        known = {"marked": f"not run: {block.reason}", "run": "ran", "not reached": "not reached"}
        result = known.get(outcome, "**failed**")
        time_s = f"{seconds:.0f}" if seconds else "–"
        lines.append(f"| {page}: `{command}` | {time_s} | {result} |")
    return "\n".join(lines) + "\n"


def named_file(text: str) -> tuple[str, str]:
    """NAME=PATH."""
    name, equals, path = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{text} is not NAME=PATH")
    return name, str(Path(path).resolve())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the blocks; 1 if one of them failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("pages", nargs="*", type=Path)
    parser.add_argument(
        "--uv", default=shutil.which("uv") or "uv", help="what installs packages, in seconds"
    )
    parser.add_argument("--list", action="store_true", help="run nothing")
    parser.add_argument(
        "--small", type=Path, help="a TOML file that says how to be done in minutes"
    )
    parser.add_argument("--file", type=named_file, action="append", default=[], metavar="NAME=PATH")
    parser.add_argument("--install", help="what makes the environment of --small, if not its file")
    parser.add_argument("--folder", type=Path, help="where --small works; it is kept")
    until = "begin no command of --small after so many minutes"
    parser.add_argument("--minutes", type=float, default=float("inf"), help=until)
    parser.add_argument("-o", "--out", type=Path, help="where the table of --small goes")
    given = parser.parse_args(arguments)
    pages = [page.resolve() for page in given.pages] or [
        page for one in PATTERNS for page in sorted(ROOT.glob(one))
    ]
    counts = {"run": 0, "marked": 0, "not reached": 0, "failed": 0}
    with tempfile.TemporaryDirectory() as passing:
        repository = Path(passing) / "repository"
        if not given.list:
            copy(repository)
        if given.small:
            small = Small.read(given.small, dict(given.file))
            if given.install:
                small = replace(small, install=given.install)
            folder = given.folder and given.folder.resolve()
            limit_s = 60 * given.minutes
            reading = [follow_small(small, given.uv, repository, folder, limit_s)]
        elif given.list:
            reading = [((block, "listed", 0.0) for block in blocks(page)) for page in pages]
        else:
            reading = [follow(page, given.uv, repository) for page in pages]
        rows = list[tuple[Block, str, float]]()
        for every in reading:
            for block, outcome, seconds in every:
                said = f"marked: {block.reason}" if outcome == "marked" else outcome
                print(
                    f"{block.where} ({block.language})"
                    f" {said}{f', {seconds:.1f} s' if seconds else ''}",
                    flush=True,
                )
                counts[outcome if outcome in counts else "failed"] += 1
                if block.where != "environment":
                    rows.append((block, outcome, seconds))
                if given.out:
                    given.out.write_text(table(rows), encoding="utf-8")
    if given.list:
        return 0
    print(", ".join(f"{name}: {count}" for name, count in counts.items()))
    return 1 if counts["failed"] else 0


def copy(target: Path) -> None:
    """A repository of one commit with the files of this checkout, uncommitted changes included."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout
    names = listed.decode().split("\0")
    for name in names:
        if name and (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, target / name)
    author = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
    for command in (
        ["init", "--quiet"],
        ["add", "--force", "."],
        [*author, "commit", "--quiet", "-m", "Read"],
    ):
        subprocess.run(["git", *command], cwd=target, check=True)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # So that commands end, too.
    sys.exit(main())
