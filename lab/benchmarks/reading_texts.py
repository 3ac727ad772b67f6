"""The texts that reading is judged on: golden ones, the generator's, and prose, as one file for
each language.

    python lab/benchmarks/reading_texts.py OUT DEBIAN [--languages de,nl]

OUT gets ``LANGUAGE.jsonl.gz``, so that what is compared later has the same texts, whatever becomes
of the tests. DEBIAN is a folder for the packages that prose is taken from: manuals and stories;
they are downloaded where missing."""

from __future__ import annotations

import argparse
import gettext
import gzip
import json
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from losses import prose as manual_of
from sayahead.types import Word

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
from support import form_values, forms, readings

ROOT = Path(__file__).parents[2]
LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl")
TAGS = {"en": "en-US", "pt": "pt-br"}
"""The variant whose translations are read."""
CAMPAIGNS = ("httt", "utbs", "low", "trow", "nr", "dm")
"""Campaigns of the game Wesnoth by their packages' names: prose and talk in every language."""
ANSWERS = ROOT / "lab/src/sayahead_lab/eval/experiment/texts/answers.jsonl"
Row = dict[str, Any]


def golden(language: str) -> Iterator[Row]:
    """Texts of the tests with what is accepted for them, and names."""
    folder = ROOT / "tests" / "text"
    own = folder / "readings.tsv" if language == "en" else folder / "readings" / f"{language}.tsv"
    tag = TAGS["pt"] if language == "pt" else language
    files = {"readings": (language, own)}
    files |= {name: (tag, folder / name / f"{tag}.tsv") for name in ("fresh", "last")}
    for name, (variant, path) in files.items():
        for case in readings.cases(path) if path.exists() else ():
            row: Row = {"set": f"golden {name}", "tag": variant, "text": case.text}
            row |= {"category": case.category, "accepted": case.accepted}
            yield row | ({"phonemes": True} if language == "en" else {})
    if language == "en":
        for line in (folder / "names.tsv").read_text(encoding="utf-8").splitlines()[1:]:
            group, name, *_ = line.split("\t")
            text = f"I saw {name} there."
            yield {
                "set": "golden names",
                "tag": "en",
                "text": text,
                "category": group,
                "phonemes": True,
            }


def generated(language: str, count: int) -> Iterator[Row]:
    """Distinct texts that the generator of the tests reads; none where it does not have the
    language."""
    if language not in forms.LANGUAGES:
        return
    texts: dict[str, str] = {}
    spoken = forms.words_of
    chance = random.Random(35)
    kind = ""

    def listening(language: str, text: str) -> list[Word]:
        texts.setdefault(text, kind)
        return spoken(language, text)

    forms.words_of = listening
    try:
        while len(texts) < count:
            for kind in form_values.KINDS:
                list(forms.broken(language, kind, chance))
    finally:
        forms.words_of = spoken
    chosen = random.Random(1).sample(sorted(texts.items()), count)
    for text, category in chosen:
        yield {"set": "generator", "tag": language, "category": category, "text": text}


def packages(language: str) -> dict[str, list[str]]:
    """Names of Debian's packages by what is in them."""
    manual = f"libreoffice-help-{TAGS.get(language, language).lower()}"
    return {"manual": [manual], "stories": [f"wesnoth-1.16-{name}" for name in CAMPAIGNS]}


def fetch(folder: Path, language: str) -> None:
    """Download and unpack the packages that are not there."""
    folder.mkdir(parents=True, exist_ok=True)
    for package in (one for some in packages(language).values() for one in some):
        if not (folder / package).is_dir():
            subprocess.run(["apt-get", "download", package], cwd=folder, check=True)
            [archive] = folder.glob(f"{package}_*.deb")
            subprocess.run(["dpkg-deb", "-x", archive, folder / package], check=True)


def stories(folder: Path, language: str) -> Iterator[str]:
    """Paragraphs of stories: translations, or for English what was translated."""
    name = {"en": "de", "pt": "pt_BR"}.get(language, language)
    pattern = f"usr/share/games/wesnoth/*/locale/{name}/LC_MESSAGES/*.mo"
    for package in packages(language)["stories"]:
        for path in sorted((folder / package).glob(pattern)):
            with path.open("rb") as opened:
                catalog: dict[Any, str] = vars(gettext.GNUTranslations(opened))["_catalog"]
            for source, translation in catalog.items():
                text = source if language == "en" else translation
                if isinstance(text, str) and source:
                    yield from text.partition("^")[2 * ("^" in text)].split("\n")


def prose(folder: Path, language: str, characters: int) -> Iterator[Row]:
    """Lines of manuals, as many characters of stories, and answers of an assistant."""
    fetch(folder, language)
    told = dict.fromkeys(line.strip() for line in stories(folder, language) if "<" not in line)
    tales = random.Random(1).sample(list(told), len(told))
    manual = manual_of(folder / packages(language)["manual"][0], characters).splitlines()
    rows = [("stories", tales), ("manual", random.Random(1).sample(manual, len(manual)))]
    left = characters
    for share, (category, lines) in zip((2, 1), rows, strict=True):
        goal = left - left // share
        for line in lines:
            if left <= goal:
                break
            if len(line) > 1:
                left -= len(line)
                yield {"set": "prose", "tag": language, "category": category, "text": line}
    for text in answers(language):
        yield {"set": "prose", "tag": language, "category": "answers", "text": text}


def answers(language: str) -> list[str]:
    """What an assistant says, and the laboratory's sentences of a language."""
    if language == "en":
        lines = ANSWERS.read_text(encoding="utf-8").splitlines()
        return [json.loads(line)["text"] for line in lines]
    path = Path(__file__).parent / "languages" / f"{language}.txt"
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("debian", type=Path)
    parser.add_argument("--languages", default=",".join(LANGUAGES))
    parser.add_argument("--generated", type=int, default=20_000, help="texts of the generator")
    parser.add_argument("--characters", type=int, default=1_000_000, help="of prose")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    for language in arguments.languages.split(","):
        rows = [
            *golden(language),
            *generated(language, arguments.generated),
            *prose(arguments.debian, language, arguments.characters),
        ]
        with gzip.open(arguments.out / f"{language}.jsonl.gz", "wt", encoding="utf-8") as opened:
            opened.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        sizes: dict[str, int] = {}
        for row in rows:
            sizes[row["set"]] = sizes.get(row["set"], 0) + 1
        print(language, sizes, flush=True)


if __name__ == "__main__":
    main()
