"""Check every link to a file or heading in the repository's Markdown, and every path in its prose:
python docs/tools/check_links.py

Addresses elsewhere are not asked. Exits with 1, and a line for each link or path that leads nowhere
and each PNG that no document shows.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
HTML = re.compile(r"""(?:src|href)=["']([^"']+)["']""")
FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`\n]*`")
SPAN = re.compile(r"`([^`\n]+)`")
PATH = re.compile(r"[\w.{},-]+(/[\w.{},-]+)+/?|[\w.-]+/")
PLACEHOLDER = re.compile(r"[A-Z]{3,}")
PROSE = ("README.md", "CONTRIBUTING.md", "docs/*.md", "lab/docs/*.md")
"""Documents whose paths are checked; others are of their time, as the changelog is."""
ROOTS = (
    "",
    "src",
    "src/sayahead",
    "src/sayahead/text",
    "tests",
    "lab",
    "lab/src/sayahead_lab",
    "lab/tests",
    "lab/benchmarks",
    "lab/benchmarks/results",
)
"""Folders from which documents name files."""
TREES = ("src/", "tests/", "docs/", "examples/", "integrations/", "deploy/", "lab/")
"""What begins with these is a path whatever its ending."""
ENDINGS = ("/", ".html", ".js", ".json", ".jsonl", ".md", ".onnx", ".py", ".toml", ".tsv", ".txt")
"""What ends with these is a path, if it has a folder."""
MADE = ("runs/", "out/", "aligned/", "fig5/", "web/site/", ".claude/")
"""Folders that the commands of the documents write, or that belong to a reader's own project."""
HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*$", re.MULTILINE)


def anchors(path: Path) -> set[str]:
    """The headings of a document, as addresses."""
    text = FENCE.sub("", path.read_text(encoding="utf-8"))
    found = set(re.findall(r"""(?:id|name)=["']([^"']+)["']""", text))
    for heading in HEADING.findall(text):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
        found.add(re.sub(r"[^\w\- ]", "", plain.strip().lower()).replace(" ", "-"))
    return found


def wrong(path: Path) -> list[str]:
    """The links of a document that lead nowhere."""
    text = CODE.sub("", FENCE.sub("", path.read_text(encoding="utf-8")))
    bad = []
    for link in [*LINK.findall(text), *HTML.findall(text)]:
        if "://" in link or link.startswith(("mailto:", "{", "data:")):
            continue
        name, _, anchor = link.partition("#")
        target = (path.parent / name).resolve() if name else path
        missing = not target.exists()
        if missing or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
            bad.append(f"{path.relative_to(ROOT)}: {link}")
    return bad


def paths(text: str) -> list[str]:
    """The paths of files and folders that a document's prose names in backquotes, each of
    ``{a,b}.py`` by itself; patterns, and names that stand for others (``NAME.py``), are none."""
    words = (word for span in SPAN.findall(FENCE.sub("", text)) for word in span.split())
    return [
        one.rstrip("/")
        for word in words
        if PATH.fullmatch(word) and not PLACEHOLDER.search(word) and not word.startswith(MADE)
        if word.endswith(ENDINGS) or word.startswith(TREES)
        for one in expanded(word)
    ]


def expanded(word: str) -> list[str]:
    """``a/{b,c}.py`` as ``a/b.py`` and ``a/c.py``."""
    braces = re.search(r"\{([^{}]*)\}", word)
    if braces is None:
        return [word]
    start = word[: braces.start()]
    end = word[braces.end() :]
    return [one for part in braces[1].split(",") for one in expanded(start + part + end)]


def dead(text: str, folder: Path) -> list[str]:
    """The paths in the prose of a document in a folder at which there is nothing."""
    roots = [*(ROOT / root for root in ROOTS), folder]
    return [name for name in paths(text) if not any((root / name).exists() for root in roots)]


def known(*patterns: str) -> list[Path]:
    """The files that git knows, or would."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns]
    names = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    return [ROOT / name for name in names if (ROOT / name).exists()]


def unseen(documents: list[Path]) -> list[str]:
    """The pictures that no document shows: they can be drawn again, and need not be kept."""
    texts = [(path, path.read_text(encoding="utf-8")) for path in documents]
    shown = {
        (path.parent / link).resolve()
        for path, text in texts
        for link in LINK.findall(text) + HTML.findall(text)
    }
    return [
        f"{path.relative_to(ROOT)}: no document shows it"
        for path in known("*.png")
        if path not in shown
    ]


def main() -> int:
    """Check all documents that git knows."""
    files = known("*.md")
    bad = [line for path in files for line in wrong(path)] + unseen(files)
    bad += [
        f"{path.relative_to(ROOT)}: there is no {name}"
        for path in known(*PROSE)
        for name in dead(path.read_text(encoding="utf-8"), path.parent)
    ]
    print(*bad, sep="\n")
    print(f"{len(files)} documents, {len(bad)} faults")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
