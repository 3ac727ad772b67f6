"""Check every link to a file or heading in the repository's Markdown: python
docs/tools/check_links.py

Addresses elsewhere are not asked. Exits with 1, and a line for each link that leads nowhere and
each PNG that no document shows.
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


def known(pattern: str) -> list[Path]:
    """The files that git knows, or would."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", pattern]
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
    print(*bad, sep="\n")
    print(f"{len(files)} documents, {len(bad)} faults")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
