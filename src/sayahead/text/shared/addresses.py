"""Addresses of the web, of mail and in a computer: files, methods, ports."""

from __future__ import annotations

import re

from sayahead.text.shared.amounts import number
from sayahead.text.shared.record import Record

_ADDRESS = re.compile(r"(?:https?://|www\.)\S+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+|(?:[\w-]+\.)+[a-z]{2,6}(?:/\S*)?", re.ASCII)
_PATH = re.compile(
    r"(?:\.{1,2}|~)?/[\w.-]+(?:/[\w.-]+)*/?|[A-Za-z]:(?:\\[\w.-]+)+\\?|"
    r"(?:[\w-]+/)+[\w-]+(?:\.[\w-]+)*\.([a-z0-9]{2,4})|\.[a-z][\w.-]{2,}",
    re.ASCII,
)
"""Files: ``./src/main.rs``, ``C:\\Temp\\a.txt``, ``.env``."""
_CODE = re.compile(
    r"(?:[A-Za-z_]\w*\.)+[A-Za-z_]\w*\([\w., ]*\)?|"
    r"(?:[\w-]+/)*[\w-]+\.[a-z]{1,4}:[0-9]+(?::[0-9]+)?|"
    r"(?:localhost|[0-9]{1,3}(?:\.[0-9]{1,3}){3}|[a-z][\w.-]*\.[a-z]+):[0-9]{2,5}",
    re.ASCII,
)
"""Calls of methods, and ports: ``foo.bar()``, ``localhost:3000``."""
_TOP = frozenset(
    """
    com org net de fr es it pt br ch at be io dev ai app info eu gov edu uk us mx ar cl
    md pdf txt html htm css js ts py sh bat rs go java php sql json toml yaml yml xml csv tsv log cfg ini conf lock env
    doc docx xls xlsx ppt pptx odt png jpg jpeg gif svg webp mp3 mp4 wav ogg flac avi mov mkv zip tar gz bz2 exe dll so
    """.split()
)


def spelled(core: str, record: Record) -> str:
    """An address, a path or a call with its signs by name; nothing if it is none."""
    path = _PATH.fullmatch(core)
    if (path and (path[1] is None or path[1] in _TOP)) or _CODE.fullmatch(core):
        return _pieces(core, record)
    if not _ADDRESS.fullmatch(core) or not any(map(str.isalpha, core)):
        return ""
    bare = core.startswith(("http", "www.")) or "@" in core
    if not bare and core.split("/")[0].rsplit(".", 1)[-1] not in _TOP:
        return ""
    return _pieces(re.sub(r"^(?:https?://)?(?:www\.)?", "", core).rstrip("/"), record)


def _pieces(text: str, record: Record) -> str:
    words = [record.address.get(piece) or _piece(piece, record) for piece in re.findall(r"\d+|[^\W\d_]+|\S", text)]
    return " ".join(filter(None, words))


def _piece(piece: str, record: Record) -> str:
    if piece.isdecimal():
        return number(piece, record)
    return record.signs.get(piece, piece if piece.isalpha() else "")
