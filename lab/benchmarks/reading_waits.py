"""How long the words of each class of the grammar wait: results/reading/waits.md.

    python lab/benchmarks/reading_waits.py [--languages en,de] [--write]

A class is a file of rules. Golden texts of the tests are read character by character; a word waits
for the characters behind its end that had to come before it was final, the white space among them.
``--write`` writes the table.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import with_tests  # noqa: F401
from sayahead.text.classes import CLASSES
from sayahead.text.reading.language import language_of
from sayahead.text.reading.stream import TokenReader
from sayahead.text.reading.trace import TokenTrace, traced
from support import readings

from sayahead_lab.results import Rows, options, table, tell

ROOT = Path(__file__).parents[2]
TABLE = Path(__file__).parent / "results" / "reading" / "waits.md"
LANGUAGES = "en,de,fr,es,it,pt,nl,pl,sv,da"
SILENT = frozenset(("bare", "punctuation"))
"""Classes that make no words of their own."""


def golden(language: str) -> Iterator[str]:
    """Texts of the tests that have accepted readings."""
    folder = ROOT / "tests" / "text"
    tag = "pt-br" if language == "pt" else language
    own = "readings.tsv" if language == "en" else f"readings/{language}.tsv"
    for name in (own, f"fresh/{tag}.tsv", f"last/{tag}.tsv"):
        if (folder / name).exists():
            yield from (case.text for case in readings.cases(folder / name))
    if language == "en":
        names = (folder / "names.tsv").read_text(encoding="utf-8").splitlines()[1:]
        yield from (f"I saw {line.split(chr(9))[1]} there." for line in names)


def waits(language: str) -> Iterator[tuple[str, int, str]]:
    """The class, the wait and the text of each word of the golden texts that a rule says."""
    for text in golden(language):
        reader = TokenReader(language_of(language))
        final: list[tuple[int, int]] = []
        with traced() as traces:
            for at, char in enumerate(text, 1):
                final += [(word.end, at) for word in reader.push(char)]
            final += [(word.end, len(text)) for word in reader.flush()]
        kinds = {
            trace.end: trace.rule.kind
            for trace in traces
            if isinstance(trace, TokenTrace) and trace.said
        }
        for end, at in final:
            if end in kinds:
                yield kinds[end], at - end, text[:at]


def waits_table(languages: list[str]) -> list[str]:
    """The lines of the table."""
    found: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for language in languages:
        for kind, wait, text in waits(language):
            found[kind].append((wait, text))
    rows = Rows()
    for kind in CLASSES:
        some = found[kind]
        if kind in SILENT or not some:
            continue
        most, text = max(some, key=lambda pair: pair[0])
        shown = re.sub(r"[|`\n]", " ", text[-28:]).strip()
        mean = sum(wait for wait, _ in some) / len(some)
        link = f"[{kind}](../../../../src/sayahead/text/classes/{kind}.rules)"
        rows.append([link, f"{len(some):,}", f"{mean:.2f}", f"{most}: `{shown}`"])
    return table("class|words|mean wait|longest", rows)


def main() -> None:
    arguments = options(__doc__, languages=LANGUAGES, write=False).parse_args()
    lines = waits_table(arguments.languages.split(","))
    tell(lines, TABLE if arguments.write else None)


if __name__ == "__main__":
    main()
