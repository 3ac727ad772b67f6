"""Passages of several sentences, for what shows only over time: lists of name|text from a list of
sentences.

    python lab/benchmarks/pace/passages.py test.csv --sentences 40 --each 8 > passages.csv

The sentences are evenly spaced over the list, sorted by name so that neighbours come from one book
where they can; each passage has ``--each`` of them in that order.
"""

from __future__ import annotations

from sayahead_lab.results import options
from sayahead_lab.scripts import read_texts, strided


def main() -> None:
    arguments = options(__doc__, "TEXTS", sentences=40, each=8).parse_args()
    # LJ Speech cuts long sentences at commas: only those that end are taken.
    whole = [text for text in read_texts(arguments.texts) if text.text.rstrip('"')[-1:] in ".!?"]
    chosen = strided(sorted(whole, key=lambda text: text.name), arguments.sentences)
    for at in range(0, len(chosen), arguments.each):
        passage = chosen[at : at + arguments.each]
        print(f"{passage[0].name}+{len(passage)}|{' '.join(text.text for text in passage)}")


if __name__ == "__main__":
    main()
