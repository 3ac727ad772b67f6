"""axe-core, which finds what keeps people out of a page: names that are missing, colours too faint,
wrong roles.

Only tests use it (MPL-2.0). npm downloads it once, and pytest's cache keeps it.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

import pytest
from playwright.sync_api import Page

VERSION = "4.14.1"
DIGEST = "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c"
RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")


def axe(config: pytest.Config) -> str:
    """Its source. The test is skipped, with the reason, where it cannot be had."""
    assert config.cache is not None
    path = Path(config.cache.mkdir("axe")) / f"axe-{VERSION}.min.js"
    if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != DIGEST:
        if shutil.which("npm") is None:
            pytest.skip("axe-core is not here: no npm is on PATH (apt-get install npm).")
        with tempfile.TemporaryDirectory() as folder:
            command = [
                "npm",
                "pack",
                f"axe-core@{VERSION}",
                "--silent",
                "--pack-destination",
                folder,
            ]
            done = subprocess.run(
                command, cwd=folder, capture_output=True, text=True, check=False, timeout=300
            )
            if done.returncode:
                said = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]
                pytest.skip(
                    f"axe-core is not here: npm pack axe-core@{VERSION} failed:"
                    f" {' '.join(said)[:200]}"
                )
            with tarfile.open(next(Path(folder).glob("*.tgz"))) as archive:
                member = archive.extractfile("package/axe.min.js")
                assert member is not None
                path.write_bytes(member.read())
        assert hashlib.sha256(path.read_bytes()).hexdigest() == DIGEST, (
            f"axe-core {VERSION} is another than was pinned."
        )
    return path.read_text(encoding="utf-8")


def complaints(page: Page, source: str) -> list[str]:
    """What axe finds wrong with the page as it is now: the rule, the element, and why."""
    page.evaluate(source)
    found = page.evaluate("(tags) => axe.run(document, { runOnly: tags })", list(RULES))
    return sorted(
        f"{each['id']}: {node['html'][:120]}: {node['failureSummary'].splitlines()[-1].strip()}"
        for each in found["violations"]
        for node in each["nodes"]
    )
