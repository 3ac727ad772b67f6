"""EPUBs for tests: pages by name, and what may be wrong with them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from urllib.parse import unquote

META = """<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>The Title</dc:title>
<dc:creator>Ann Author</dc:creator><dc:language>en-GB</dc:language></metadata>"""
CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="OEBPS/p.opf"/></rootfiles></container>'
)


def epub(
    pages: Mapping[str, str | bytes | None],
    *,
    contents: Sequence[tuple[str, str]] = (),
    version: int = 3,
    hrefs: Mapping[str, str] | None = None,
    skipped: Sequence[str] = (),
    locked: Sequence[str] = (),
    cover: bytes = b"",
) -> bytes:
    """The bytes of a book.

    ``pages``: names, as links have them, and what is there; None: the page is missing.
    ``contents``: links and titles, nested one in another. ``hrefs``: other links to pages.
    ``skipped``: pages that are not read in order. ``locked``: names that are said to
    be encrypted."""
    items = []
    spine = []
    for number, name in enumerate(pages):
        items.append(f'<item id="p{number}" href="{(hrefs or {}).get(name, name)}"/>')
        linear = ' linear="no"' if name in skipped else ""
        spine.append(f'<itemref idref="p{number}"{linear}/>')
    items.append('<item id="nav" href="nav.xhtml" properties="nav"/>' * (version == 3))
    items.append('<item id="ncx" href="toc.ncx"/>')
    items.append('<item id="c" href="c.png" media-type="image/png" properties="cover-image"/>')
    spine.append('<itemref idref="nav"/>' * (version == 3))
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        file.writestr("META-INF/container.xml", CONTAINER)
        if locked:
            names = "".join(f'<CipherReference URI="{name}"/>' for name in locked)
            file.writestr("META-INF/encryption.xml", f"<encryption>{names}</encryption>")
        package = (
            f'<package xmlns="http://www.idpf.org/2007/opf">{META}'
            f"<manifest>{''.join(items)}</manifest>"
            f'<spine toc="ncx">{"".join(spine)}</spine></package>'
        )
        file.writestr("OEBPS/p.opf", package)
        links = "".join(f'<li><a href="{link}">{title}</a><ol>' for link, title in contents)
        links += "</ol></li>" * len(contents)
        if version == 3:
            page = f'<nav epub:type="toc"><ol>{links}</ol></nav><nav epub:type="landmarks">'
            file.writestr("OEBPS/nav.xhtml", f'{page}<a href="no">no</a></nav>')
        points = "".join(
            f'<navPoint><navLabel><text>{title}</text></navLabel><content src="{link}"/>'
            for link, title in contents
        )
        points += "</navPoint>" * len(contents)
        file.writestr("OEBPS/toc.ncx", f'<ncx xmlns="x"><navMap>{points}</navMap></ncx>')
        for name, content in pages.items():
            if content is not None:
                file.writestr(f"OEBPS/{unquote(name)}", content)
        if cover:
            file.writestr("OEBPS/c.png", cover)
    return out.getvalue()
