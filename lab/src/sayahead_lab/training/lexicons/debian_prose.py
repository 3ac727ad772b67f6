"""Sentences of Debian's documents, by language and source; nothing of them is shipped.

    python -m sayahead_lab.training.lexicons.debian_prose FOLDER --language fr -o TEXTS

``fetch`` downloads the packages by ``apt-get`` and unpacks them into FOLDER. Writes
``TEXTS/LANGUAGE.train``, ``.val`` and ``.test`` for ``sayahead train corpus``: sentences of words
that the language's dictionary has, each in one of them."""

from __future__ import annotations

import argparse
import gettext
import gzip
import random
import re
import subprocess
from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from pathlib import Path

HANDBOOK = {"es": "es-ES", "fr": "fr-FR", "it": "it-IT", "pt-br": "pt-BR"}
FORTUNES = {"es": "es", "it": "it", "pt-br": "br"}
STORIES = ("httt", "utbs", "low", "trow", "nr", "dm")
"""Campaigns of the game Wesnoth: stories and what people say in them, by the names of their
packages."""
DICTIONARIES = {"it": "witalian", "fr": "wfrench", "pt-br": "wbrazilian", "pt": "wportuguese"}
"""Packages of words without sounds."""
FOREIGN = re.compile(
    "the of and is for with from this that you your to be are by will can it not".replace(" ", "|")
)
"""Words of English: sentences in which there are two are not translated."""
ENGLISH = "wamerican"
"""A package of words of English."""
_OPAQUE = {"code", "pre", "tt", "kbd", "table", "script", "style"}
_BLOCKS = {"p", "div", "td", "li", "h1", "h2", "h3", "dt", "dd"}
_SENTENCE = re.compile(r"(?<=[.!?…])[\"”»’')]*\s+(?=[\"“«¿¡(—–-]*[A-ZÀ-ÖØ-Þ])")
_LEAST = 3
_MOST = 40
SPOKEN = re.compile(r"[A-ZÀ-ÖØ-ÞŒ][a-zß-öø-ÿœ' ,-]{24,99}[.!?]")
"""Sentences for a corpus: letters and plain marks, so that every listener would write them
alike."""
SOURCES = {
    "fr": {
        "stories": 3000,
        "littre": 2000,
        "help": 1000,
        "handbook": 1000,
        "fillets": 1000,
        "edu": 1000,
    }
}
"""Sources of a language's corpus, and sentences of each at most."""
SPLITS = {"test": 200, "val": 60}
"""Sentences of the splits; the rest is to learn from."""


def packages(language: str) -> dict[str, list[str]]:
    """Names of packages by what they are called here."""
    found = {
        "help": [f"libreoffice-help-{language}"],
        "reference": [f"debian-reference-{language}"],
    }
    if language in HANDBOOK:
        found["handbook"] = ["debian-handbook"]
    if language in FORTUNES:
        found["fortunes"] = [f"fortunes-{FORTUNES[language]}"]
    if language in ("it", "fr", "pt-br"):
        found["stories"] = [f"wesnoth-1.16-{story}" for story in STORIES]
    if language in ("fr", "pt-br"):
        found["edu"] = [f"debian-edu-doc-{language}"]
    if language == "fr":
        found |= {"littre": ["stardict-xmlittre"], "fillets": ["fillets-ng-data"]}
    return found


def fetch(folder: Path, language: str) -> None:
    """Download and unpack what is not there yet, each package into a folder of its name."""
    folder.mkdir(parents=True, exist_ok=True)
    words = [DICTIONARIES[language], ENGLISH] if language in DICTIONARIES else []
    for package in [*(one for some in packages(language).values() for one in some), *words]:
        if not (folder / package).is_dir():
            subprocess.run(
                ["apt-get", "download", package], cwd=folder, check=True, capture_output=True
            )
            [archive] = folder.glob(f"{package}_*.deb")
            subprocess.run(["dpkg-deb", "-x", archive, folder / package], check=True)


class _Paragraphs(HTMLParser):
    """Paragraphs without code in them."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._text: list[str] = []
        self._opaque = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _BLOCKS:
            self.close_paragraph()
        self._opaque = self._opaque or tag in _OPAQUE

    def handle_endtag(self, tag: str) -> None:
        if tag in _BLOCKS:
            self.close_paragraph()

    def handle_data(self, data: str) -> None:
        self._text.append(data)

    def close_paragraph(self) -> None:
        text = " ".join("".join(self._text).split())
        if text and not self._opaque:
            self.found.append(text)
        self._text = []
        self._opaque = False


def _of_html(folder: Path, language: str) -> Iterator[str]:
    for file in sorted(folder.rglob("*.html")):
        if HANDBOOK.get(language, "") in file.parts or "debian-handbook" not in str(file):
            parser = _Paragraphs()
            parser.feed(file.read_text("utf-8", "replace"))
            parser.close_paragraph()
            yield from parser.found


def _of_fortunes(folder: Path, language: str) -> Iterator[str]:
    """Sayings; a package has those of one language."""
    for file in sorted((folder / "usr/share/games/fortunes").rglob("*")):
        if file.is_file() and file.suffix != ".dat" and "off" not in file.parts:
            raw = file.read_bytes()
            try:
                text = raw.decode()
            except UnicodeDecodeError:
                text = raw.decode("latin-1")
            for one in re.split(r"^%.*$", text, flags=re.MULTILINE):
                yield " ".join(re.sub(r"\n\s*(--|—|\().*$", "", one, flags=re.DOTALL).split())


def _of_stories(folder: Path, language: str) -> Iterator[str]:
    name = re.sub("-(.*)", lambda country: f"_{country[1].upper()}", language)
    for file in sorted(folder.glob(f"usr/share/games/wesnoth/*/locale/{name}/LC_MESSAGES/*.mo")):
        with file.open("rb") as opened:
            translations = gettext.GNUTranslations(opened)
        for text in translations._catalog.values():  # type: ignore[attr-defined]
            yield from (part for part in text.split("\n") if not set(part) & set("<>=$|{}_*"))


def _of_littre(folder: Path, language: str) -> Iterator[str]:
    """Definitions and quotations of Littré's dictionary, without names of authors and books."""
    with gzip.open(
        folder / "usr/share/stardict/dic/XMLittre.dict.dz", "rt", encoding="utf-8"
    ) as opened:
        for line in opened:
            text = re.sub('<span foreground="#(?:B22222|556B2F)">[^<]*</span>', " ", line)
            yield from (" ".join(part.split()) for part in re.split("</?[a-z][^>]*>", text))


def _of_fillets(folder: Path, language: str) -> Iterator[str]:
    """What the fish of a game say to each other."""
    for file in sorted(folder.glob(f"usr/share/games/fillets-ng/script/*/dialogs_{language}.lua")):
        yield from re.findall(r'^dialogStr\("(.*)"\)', file.read_text("utf-8"), flags=re.MULTILINE)


def sentences(folder: Path, language: str, source: str) -> list[str]:
    """Sentences of 3 to 40 words, each once, that end in a mark, in order; those in English are
    left out."""
    readers = {
        "fortunes": _of_fortunes,
        "stories": _of_stories,
        "littre": _of_littre,
        "fillets": _of_fillets,
    }
    reader = readers.get(source, _of_html)
    found = dict[str, None]()
    for paragraph in (
        one for package in packages(language)[source] for one in reader(folder / package, language)
    ):
        for sentence in _SENTENCE.split(paragraph):
            text = sentence.strip().strip('"“”«»—–- ').replace("’", "'")
            words = text.split()
            foreign = sum(FOREIGN.fullmatch(word) is not None for word in words)
            if (
                _LEAST <= len(words) <= _MOST
                and text[-1] in ".!?…"
                and text[:1] in "¿¡" + text[:1].upper()
                and foreign < 2
            ):
                found[text] = None
    return list(found)


def dictionary(folder: Path, language: str) -> list[str]:
    """Words of a language in small letters, in order."""
    return _words(folder / DICTIONARIES[language])


def english(folder: Path) -> list[str]:
    """Words of English in small letters, in order."""
    return _words(folder / ENGLISH)


def corpus(folder: Path, language: str, *, seed: int = 0) -> dict[str, list[str]]:
    """Sentences by split, of all sources mixed; none is in two of them."""
    known = set(dictionary(folder, language))
    found = dict[str, None]()
    for source, most in SOURCES[language].items():
        there = [text for text in sentences(folder, language, source) if SPOKEN.fullmatch(text)]
        listed = [text for text in there if _listed(text, known)]
        found.update(dict.fromkeys(random.Random(seed).sample(listed, min(most, len(listed)))))
    texts = random.Random(seed).sample(list(found), len(found))
    made = dict[str, list[str]]()
    for split, count in SPLITS.items():
        made[split] = texts[:count]
        texts = texts[count:]
    return {"train": texts, **made}


def _listed(text: str, known: set[str]) -> bool:
    """Whether all words of a sentence are known, between apostrophes and hyphens; single letters
    are elisions."""
    words = re.findall(r"[^\W\d_]+", text.lower())
    return all(
        word in known or len(word) == 1 or word in ("qu", "jusqu", "lorsqu", "puisqu")
        for word in words
    )


def _words(package: Path) -> list[str]:
    found = set[str]()
    for file in (package / "usr/share/dict").iterdir():
        if file.is_file() and not file.is_symlink():
            raw = file.read_bytes()
            try:
                text = raw.decode()
            except UnicodeDecodeError:
                text = raw.decode("latin-1")
            found.update(word for word in text.split() if word.isalpha() and word.islower())
    return sorted(found)


def main(given: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--language", choices=SOURCES, default="fr")
    parser.add_argument("-o", "--out", type=Path, required=True)
    arguments = parser.parse_args(given)
    fetch(arguments.folder, arguments.language)
    arguments.out.mkdir(parents=True, exist_ok=True)
    for split, texts in corpus(arguments.folder, arguments.language).items():
        lines = (
            f"{arguments.language}-{split}-{number:04d}|{text}\n"
            for number, text in enumerate(texts)
        )
        (arguments.out / f"{arguments.language}.{split}").write_text(
            "".join(lines), encoding="utf-8"
        )
        print(f"{split}: {len(texts)} sentences, {sum(map(len, texts))} characters")


if __name__ == "__main__":
    main()
