"""Names of signs in each language, from CLDR's annotations; prints
src/sayahead/text/languages/signs.txt.

apt-get download unicode-cldr-core && dpkg-deb -x unicode-cldr-core_*.deb cldr
python -m sayahead_lab.training.lexicons.sign_names cldr/usr/share/unicode/cldr/common >
src/sayahead/text/languages/signs.txt"""

from __future__ import annotations

import re
import sys
import unicodedata
from pathlib import Path
from xml.etree import ElementTree

from sayahead.text.languages.signs import is_picture, is_silent

LANGUAGES = ("da", "de", "es", "fr", "hi", "it", "ja", "nl", "pl", "pt", "sv", "zh")
HEAD = """\
// Names of signs, where [signs] of a language's file has none: CLDR's annotations, by sayahead_lab.training.lexicons.sign_names.
// Copyright 1991-2022 Unicode, Inc.; signs.LICENSE.txt has the terms."""  # noqa: E501
_EXTRA = re.compile(r"\s*\([^)]*\)|[“”„\"«»]")


def names(folder: Path, language: str) -> dict[str, str]:
    """What a language calls each sign that is said."""
    tree = ElementTree.parse(folder / "annotations" / f"{language}.xml")
    spoken = {
        note.get("cp", ""): note.text or ""
        for note in tree.iter("annotation")
        if note.get("type") == "tts"
    }
    return {char: plain(name) for char, name in spoken.items() if is_said(char)}


def is_said(char: str) -> bool:
    """Whether it is one sign, neither silent nor a picture, and more than a mark of a letter."""
    kind = unicodedata.category(char) if len(char) == 1 else ""
    return (
        kind in ("Sm", "Sc", "So")
        and not char.isascii()
        and not is_silent(char)
        and not is_picture(char)
    )


def plain(name: str) -> str:
    """A name without what stands in brackets or quotation marks."""
    return " ".join(_EXTRA.sub("", name).replace("’", "'").replace("/", " ").split())


def main() -> None:
    """Print the table."""
    tables = [names(Path(sys.argv[1]), language) for language in LANGUAGES]
    print(HEAD)
    print("\t".join(("sign", *LANGUAGES)))
    for char in sorted(set().union(*tables)):
        print("\t".join((char, *(table.get(char, "") for table in tables))))


if __name__ == "__main__":
    main()
