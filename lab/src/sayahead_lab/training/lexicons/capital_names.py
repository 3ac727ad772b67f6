"""Common words that the English lexicon lacks: read as words where they are written in capitals.

    python -m sayahead_lab.training.lexicons.capital_names [--write]

Capitals are letters only where they are no word. The phonemizer asks the lexicon; of what that
lacks, most are names, which it would spell. [vocabulary capital_names] of ``en.txt`` are those of
[vocabulary common] with four letters or more, without [vocabulary acronyms]. With ``--write`` the
file gets them.
"""

from __future__ import annotations

import argparse
import re
import textwrap
from pathlib import Path

import sayahead.text
from sayahead.text.reading.language import Language, language_of
from sayahead.text.saying.english import hibari_tables

FILE = Path(sayahead.text.__file__).parent / "languages" / "data" / "en.txt"
SHORTEST = 4
"""Letters of the shortest: fewer are letters as often."""


def names(language: Language) -> list[str]:
    """The words, in capitals."""
    lexicon = hibari_tables.front_end(british=False).lexicon
    letters = frozenset(language.record.vocabularies["acronyms"])

    def is_known(word: str) -> bool:
        forms = (word, word.title())
        return any(form in lexicon.golds or form in lexicon.silvers for form in forms)

    lacking = [word for word in language.common if len(word) >= SHORTEST and not is_known(word)]
    return sorted({word.upper() for word in lacking} - letters)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    language = language_of("en")
    found = names(language)
    before = language.record.vocabularies["capital_names"]
    print(f"{len(before):,} words before, {len(found):,} now")
    if arguments.write:
        lines = textwrap.fill(" ".join(found), 119, break_on_hyphens=False)
        text = FILE.read_text(encoding="utf-8")
        table = r"(?<=\[vocabulary capital_names\]\n)[^\[]*?(?=\n\n|\n*\Z)"
        FILE.write_text(re.sub(table, lines, text), encoding="utf-8")


if __name__ == "__main__":
    main()
