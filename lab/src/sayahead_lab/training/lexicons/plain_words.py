"""Words of a language that are read as something else: those that a short form is written like.

    python -m sayahead_lab.training.lexicons.plain_words WORDFREQ.whl SIMPLEMMA.whl fr [--most N]

The words are those of SIMPLEMMA's dictionary (simplemma 1.1.2) that WORDFREQ (wordfreq 3.1.1) has
most often. Each is read within a sentence and at its end. What is printed is a short form
("Prof.") or belongs into ``[vocabulary whole_words]`` of the language's data file.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from sayahead.text import front_end

from sayahead_lab.training.lexicons.mixed_words import forms, frequencies

NEIGHBOURS = {
    "de": ("wir sehen die", "hier mit", "Die Frau"),
    "en": ("they saw the", "here with", "The house"),
    "es": ("ellos ven la", "aquí con", "La casa"),
    "fr": ("ils ont la", "ici avec", "La maison"),
    "it": ("hanno visto la", "qui con", "La casa"),
    "nl": ("wij zien de", "hier met", "De vrouw"),
    "pt": ("eles viram a", "aqui com", "A casa"),
}
"""Plain words before and behind one, and the beginning of a next sentence."""


def commonest(wordfreq: Path, simplemma: Path, tag: str, most: int) -> list[str]:
    """The words of a dictionary that are met most often, the commonest first."""
    often = frequencies(wordfreq, tag)
    known = forms(simplemma, tag)
    ranked = sorted(filter(str.isalpha, often), key=often.__getitem__, reverse=True)[:most]
    return [word for word in ranked if word in known or word.capitalize() in known]


def misread(tag: str, words: list[str]) -> Iterator[tuple[str, str]]:
    """Texts that are read otherwise than they are written, each with its words."""
    before, behind, start = NEIGHBOURS[tag]
    front = front_end(tag)
    for frame in (f"{before} {{}} {behind}", f"{before} {{}}. {start}"):
        for word in words:
            text = frame.format(word)
            normalizer = front.normalizer()
            said = " ".join(one.text for one in (*normalizer.push(text), *normalizer.flush()))
            if said.rstrip(".") != text:
                yield text, said


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("wordfreq", type=Path)
    parser.add_argument("simplemma", type=Path)
    parser.add_argument("tag", choices=NEIGHBOURS)
    parser.add_argument(
        "--most", type=int, default=40_000, metavar="N", help="words (default: %(default)s)"
    )
    arguments = parser.parse_args()
    words = commonest(arguments.wordfreq, arguments.simplemma, arguments.tag, arguments.most)
    found = list(misread(arguments.tag, words))
    for text, said in found:
        print(f"{text}\n    {said}")
    print(f"{len(found)} of {2 * len(words)} texts")


if __name__ == "__main__":
    main()
