"""English words that texts of other languages have in English: which they are, by language.

    python -m sayahead_lab.training.lexicons.mixed_words WORDFREQ.whl SIMPLEMMA.whl \
        [--write] [--show 200]

WORDFREQ (wordfreq 3.1.1) has how often words are met in each language, SIMPLEMMA (simplemma 1.1.2)
the forms of each language's dictionary. A word is taken for English where the other language's
dictionary lacks it and English has it at least ten times as often; short words and words of the
dictionary need more. After an English word, one that the other language has, too, is English if
English has it more often. ``mixed.txt`` has what a person adds and forbids. ``--write`` writes
``text/saying/english/abroad.txt``; ``--show`` prints the words of each language that are met most
often there, to look through.
"""

from __future__ import annotations

import argparse
import functools
import gzip
import lzma
import pickle
import unicodedata
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgpack
from sayahead.text.saying.english.foreign import AFTER, WORDS, languages_abroad
from sayahead.text.saying.english.hibari_tables import front_end

HAND = Path(__file__).with_name("mixed.txt")
ALL = "all"
"""The languages of a line of that file: every one."""
LEAST = 3.2
"""Words that English has at least so often: the logarithm of how often in a billion."""
MOST_ABROAD = 5.0
MOST_LISTED = 4.0
"""Words that another language has so often are its own, with those of its dictionary first."""
MARGINS = {2: 2.0, 3: 2.0, 4: 1.5}
MARGIN = 1.0
MARGIN_LISTED = 2.2
"""How much more often English must have a word, by its letters, others, and those of the
dictionary."""
LETTERS_AFTER = 3
MOST_AFTER = 5.0
MOST_LISTED_AFTER = 4.5
MARGIN_AFTER = 0.0
MARGIN_LISTED_AFTER = 0.7
"""The same for words that come after an English one."""
WIDTH = 100


def plain(word: str) -> str:
    """A word without the marks on its letters, as it is often typed."""
    return "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c))


def frequencies(wheel: Path, language: str) -> dict[str, float]:
    """How often a language has each word."""
    with zipfile.ZipFile(wheel) as archive:
        packed = archive.read(f"wordfreq/data/large_{language}.msgpack.gz")
    bins = msgpack.unpackb(gzip.decompress(packed), raw=False)[1:]
    return {word: 9 - centibels / 100 for centibels, words in enumerate(bins) for word in words}


def forms(wheel: Path, language: str) -> set[str]:
    """The words of a language's dictionary."""
    folder = "simplemma/strategies/dictionaries/data"
    with zipfile.ZipFile(wheel) as archive:
        pairs = pickle.loads(lzma.decompress(archive.read(f"{folder}/{language}.plzma")))
    return {word.decode() for pair in pairs.items() for word in pair}


@dataclass(frozen=True, slots=True)
class Abroad:
    """A language that English words are met in."""

    often: Mapping[str, float]
    """How often it has each word; those with marks count for the plain ones, too."""
    listed: set[str]

    def takes(self, word: str, english: float) -> bool:
        """Whether a word is English there, which English has so often."""
        here = self.often.get(word, 0.0)
        if word in self.listed or word.title() in self.listed:
            return here < MOST_LISTED and english - here >= MARGIN_LISTED
        return here < MOST_ABROAD and english - here >= MARGINS.get(len(word), MARGIN)

    def takes_after(self, word: str, english: float) -> bool:
        """Whether a word is English there after an English one."""
        here = self.often.get(word, 0.0)
        if len(word) < LETTERS_AFTER:
            return False
        if word in self.listed or word.title() in self.listed:
            return here < MOST_LISTED_AFTER and english - here >= MARGIN_LISTED_AFTER
        return here < MOST_AFTER and english - here >= MARGIN_AFTER


def abroad(wordfreq: Path, simplemma: Path, language: str) -> Abroad:
    """What is known of a language."""
    often = frequencies(wordfreq, language)
    for word, count in list(often.items()):
        bare = plain(word)
        if bare != word:
            often[bare] = max(count, often.get(bare, 0.0))
    listed = forms(simplemma, language)
    return Abroad(often, listed | {plain(word) for word in listed})


def by_hand() -> Iterator[tuple[str, str, list[str]]]:
    """Language (or ``all``), what its words are (``english``, ``after`` an English word, ``own``),
    and the words."""
    for line in HAND.read_text(encoding="utf-8").splitlines():
        head, _, words = line.partition(":")
        if words and not line.startswith("#"):
            language, _, verdict = head.partition(" ")
            yield language, verdict, words.split()


def known(word: str) -> bool:
    """Whether the English lexicon has a word."""
    lexicon = _lexicon()
    return any(
        form in lexicon.golds or form in lexicon.silvers for form in (word, word.capitalize())
    )


@functools.cache
def _lexicon() -> Any:
    return front_end(british=False).lexicon


def chosen(wordfreq: Path, simplemma: Path) -> dict[str, set[str]]:
    """The English words of each language, and those that are English after one (``after de``)."""
    english = {
        word: count
        for word, count in frequencies(wordfreq, "en").items()
        if count >= LEAST and len(word) > 1 and word.isascii() and word.isalpha() and known(word)
    }
    words: dict[str, set[str]] = {}
    for language in languages_abroad():
        there = abroad(wordfreq, simplemma, language)
        sure = {word for word, often in english.items() if there.takes(word, often)}
        after = {word for word, often in english.items() if there.takes_after(word, often)}
        for verdict, hand in verdicts(language):
            sure = sure | hand if verdict == "english" else sure - hand
            after = after | hand if verdict == "after" else after - hand
        words[language] = sure
        words[f"{AFTER} {language}"] = after - sure
    return words


def verdicts(language: str) -> Iterator[tuple[str, set[str]]]:
    """What a person says of words in a language, in order."""
    for head, verdict, words in by_hand():
        if head in (ALL, language):
            yield verdict, set(words)


def lines(words: Mapping[str, set[str]]) -> Iterator[str]:
    """The file: words by the languages in which they are English, and in which they are after an
    English word."""
    yield "// English words in texts of other languages, by these, and after an English word:"
    yield "// sayahead_lab.training.lexicons.mixed_words"
    groups: dict[str, list[str]] = {}
    for word in sorted(set().union(*words.values())):
        heads = [head for head in words if word in words[head]]
        sure = [head for head in heads if not head.startswith(AFTER)]
        after = [head.removeprefix(f"{AFTER} ") for head in heads if head.startswith(AFTER)]
        groups.setdefault(" ".join([*sure, *([AFTER, *after] if after else [])]), []).append(word)
    for where in sorted(groups, key=lambda where: (-len(where), where)):
        yield f"[{where}]"
        line = ""
        for word in groups[where]:
            if len(line) + len(word) >= WIDTH:
                yield line
                line = ""
            line = f"{line} {word}".strip()
        yield line


def main() -> None:
    """Count, show or write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("wordfreq", type=Path)
    parser.add_argument("simplemma", type=Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--show", type=int, default=0)
    arguments = parser.parse_args()
    words = chosen(arguments.wordfreq, arguments.simplemma)
    for language, own in words.items():
        print(language, len(own))
        if arguments.show:
            often = frequencies(arguments.wordfreq, language.split()[-1])
            met = sorted(own, key=lambda word: -often.get(word, 0.0))
            print(" ", *met[: arguments.show])
    if arguments.write:
        WORDS.write_text("\n".join([*lines(words), ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
