"""Hooks of the site: links to files beside the documentation lead to the repository, recordings
have a player, and llms.txt lists every page.

The documents are read in the repository as well as on the site, so their links are those of the
repository."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
LINK = re.compile(r"(\]\()([^)\s#]+)((?:#[^)\s]*)?\))")
RECORDING = re.compile(r"\[mp3\]\((samples/[^)]+)\)")
PLAYER = r'<audio controls preload="none" src="\1"></audio> \g<0>'
"""What the site has for a link to a recording."""
HEADING = re.compile(r"^#\s+(.+)$", re.MULTILINE)

pages: dict[str, tuple[str, str]] = {}
"""Every page's address: its title and its source."""


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Lead links out of ``docs/`` to the repository, and keep the page for llms.txt."""
    folder = posixpath.dirname(f"docs/{page.file.src_uri}")

    def outside(match: re.Match[str]) -> str:
        target = match.group(2)
        if "://" in target or target.startswith(("mailto:", "/")):
            return match.group()
        path = posixpath.normpath(posixpath.join(folder, target))
        in_docs = path.startswith("docs/") and not path.endswith(".py")
        if in_docs or not (ROOT / path).exists():
            return match.group()
        kind = "tree" if (ROOT / path).is_dir() else "blob"
        return f"{match.group(1)}{config['repo_url']}/{kind}/main/{path}{match.group(3)}"

    markdown = RECORDING.sub(PLAYER, markdown)
    # A page is a folder on the site; Markdown's links are led there, those of HTML are not.
    markdown = markdown.replace(' src="samples/', ' src="../samples/')
    title = HEADING.search(markdown)
    pages[page.file.src_uri] = (title.group(1) if title else page.file.src_uri, markdown)
    return LINK.sub(outside, markdown)


def on_post_build(config: Any) -> None:
    """Write llms.txt, and each page as Markdown beside its HTML, for programs that read
    documentation."""
    site = Path(config["site_dir"])
    lines = [f"# {config['site_name']}", "", f"> {config['site_description']}", "", "## Pages", ""]
    for uri, (title, markdown) in sorted(pages.items()):
        target = site / uri
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(markdown, encoding="utf-8")
        lines.append(f"- [{title}]({config['site_url']}{uri})")
    (site / "llms.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (site / "llms-full.txt").write_text(
        "\n\n".join(markdown for _, (_, markdown) in sorted(pages.items())), encoding="utf-8"
    )
