"""Short words that are no abbreviations: the lists [vocabulary common] of a language's data file.

    python lab/benchmarks/common_words.py WORDFREQ de,en [--most 20000] [--write]

WORDFREQ is the unpacked wheel of wordfreq. A full stop behind one of these words waits for nothing.
What a table of the language's file has as a short form, and what has no vowel, is none of them;
what the list has already stays. With ``--write`` the data files get the lists.
"""

from __future__ import annotations

import argparse
import gzip
import re
import textwrap
from pathlib import Path

import msgpack
from sayahead.text.reading.language import Language, language_of
from sayahead.text.reading.words import MAX_SHORT

DATA = Path(__file__).parents[2] / "src/sayahead/text/languages/data"
SHORTEST = 4
"""Letters of the shortest word that is added: shorter ones are short forms as often."""


def frequent(folder: Path, tag: str, most: int) -> list[str]:
    """The most frequent words of a language, in their order."""
    with gzip.open(folder / f"wordfreq/data/large_{tag}.msgpack.gz") as opened:
        buckets = msgpack.load(opened, raw=False)[1:]
    return [word for bucket in buckets for word in bucket][:most]


def is_common(word: str, language: Language, short: frozenset[str]) -> bool:
    """Whether a full stop behind a word can only end a sentence."""
    fits = SHORTEST <= len(word) <= MAX_SHORT and word.isalpha()
    return fits and word not in short and not language.is_cut(word)


def short_forms(language: Language) -> frozenset[str]:
    """All that a language's file has as a form with a full stop, without it."""
    record = language.record
    tables = (
        record.abbreviations,
        record.units,
        record.scales,
        record.suffixes,
        record.vocabularies.get("short", ()),
    )
    forms = {form for table in tables for form in table if form.endswith(".")}
    return frozenset(form.rstrip(".").lower() for form in forms)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("languages")
    parser.add_argument("--most", type=int, default=20_000)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    for tag in arguments.languages.split(","):
        language = language_of(tag)
        short = short_forms(language)
        words = frequent(arguments.folder, tag, arguments.most)
        common = language.common | {word for word in words if is_common(word, language, short)}
        print(f"{tag}: {len(language.common):,} words before, {len(common):,} now")
        if arguments.write:
            path = DATA / f"{tag}.txt"
            lines = textwrap.fill(" ".join(sorted(common)), 119, break_on_hyphens=False)
            text = path.read_text(encoding="utf-8")
            path.write_text(
                re.sub(r"(?<=\[vocabulary common\]\n)[^\[]*?(?=\n\n|\n*\Z)", lines, text),
                encoding="utf-8",
            )


if __name__ == "__main__":
    main()
