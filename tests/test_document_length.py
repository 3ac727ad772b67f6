"""The documents stay short enough to be read."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]
MAX_WORDS = 75_000
"""Words of all Markdown outside measured results."""


def test_documents_have_no_more_words_than_the_cap() -> None:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"]
    names = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    pages = [ROOT / name for name in set(names) if not name.startswith("lab/benchmarks/results/")]
    counts = {
        str(page.relative_to(ROOT)): len(page.read_text(encoding="utf-8").split())
        for page in pages
        if page.exists()
    }
    longest = sorted(counts.items(), key=lambda item: -item[1])[:10]
    assert sum(counts.values()) <= MAX_WORDS, f"the longest documents: {longest}"
