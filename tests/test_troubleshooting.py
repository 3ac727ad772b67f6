"""What the documents quote is there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
GAP = "…"


def sentences(path: Path) -> Iterator[str]:
    """All strings in a module, with ``…`` for what is put into them."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.JoinedStr):
            yield "".join(
                str(part.value) if isinstance(part, ast.Constant) else GAP for part in node.values
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield re.sub(r"%[sd]|{\w*}", GAP, node.value)


def test_troubleshooting_quotes_messages_that_there_are() -> None:
    sources = [*(ROOT / "src").rglob("*.py"), *(ROOT / "lab" / "src").rglob("*.py")]
    said = "\n".join(sentence for path in sources for sentence in sentences(path))
    page = (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
    quoted = [
        quote
        for line in page.splitlines()
        for quote in re.findall(r"(?<!\w)\*([^*]+)\*", line.split(" | ")[0])
    ]
    assert len(quoted) > 10
    assert [quote for quote in quoted if quote not in said] == []
