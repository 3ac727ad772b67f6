"""How often the rules of Romance languages make espeak-ng's phonemes, on prose; and the list of words that they miss.

    python lab/benchmarks/romance.py FOLDER [--languages es it] [--write] [--results FILE.md]

FOLDER holds Debian's documents, which are downloaded into it. A source's words are measured with a list that was made
from the other sources; ``--write`` puts the list of all of them in its place. Words that a list keeps were met at least
twice.
"""

from __future__ import annotations

import argparse
import collections
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from debian_prose import fetch, packages, sentences
from output import tell
from sayahead import __version__
from sayahead.text.clauses import clauses
from sayahead.text.espeak.client import ESPEAK
from sayahead.text.espeak.front_end import EspeakFrontEnd
from sayahead.text.espeak.phonemizer import EspeakSounds
from sayahead.text.romance import LANGUAGES, WORDS
from sayahead.text.romance.reading import RomanceSounds, initials

LEAST = 2
"""How often a word is met that a list keeps."""
MOST = 12_000
"""Sentences of a source."""
SEED = 32
ABOUT = "# Words that the rules miss, with their sounds: made by lab/benchmarks/romance.py from espeak-ng's."
MEASURED = {"es": "es", "it": "it", "fr": "fr", "pt-br": "pt-br", "pt": "pt"}
"""Languages by espeak-ng's names."""


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause as espeak-ng says it."""

    words: list[str]
    sounds: list[str]


def read(folder: Path, language: str, source: str) -> list[list[Clause]]:
    """Clauses of a source's sentences, a sample of them where there are many."""
    front, espeak = EspeakFrontEnd(language), EspeakSounds(language, "")
    found = sentences(folder, language, source)
    found = random.Random(SEED).sample(found, min(MOST, len(found)))
    made = []
    for text in found:
        normalizer = front.normalizer()
        words = [word.text for word in [*normalizer.push(text), *normalizer.flush()]]
        asked = [[token.bare for token in clause.tokens] for clause in clauses(words, ends=True)[1] if clause.tokens]
        made.append([Clause(words, espeak.clause(words, closed=True)) for words in asked])
    return made


def neutral_spanish(said: str, word: str) -> str:
    """A word of running text as it is where nothing beside it has an influence."""
    bare = said.lstrip("ˈˌ")
    if bare[:2] == "dʒ" and word[:1] == "y":
        said = said.replace("dʒ", "ʝ", 1)
    elif bare[:1] in ("b", "d", "ɡ") and bare[:2] not in ("dw", "dʒ"):
        said = said.replace(bare[0], {"b": "β", "d": "ð", "ɡ": "ɣ"}[bare[0]], 1)
    for letters, heard, alone in (("n", "mŋ", "n"), ("d", "ð", "d"), ("bv", "β", "b"), ("g", "ɣ", "ɡ")):
        if word[-1:] in letters and said[-1:] and said[-1] in heard:
            said = said[:-1] + alone
    return said


NEUTRAL: dict[str, Callable[[str, str], str]] = {"es": neutral_spanish}


def listed(language: str, texts: Iterable[list[Clause]], rules: RomanceSounds) -> dict[str, str]:
    """Words that the rules alone miss, with the sound that they mostly have, in order."""
    heard = collections.defaultdict[str, collections.Counter[str]](collections.Counter)
    for clause in (clause for sentence in texts for clause in sentence):
        for place, (word, said) in enumerate(zip(clause.words, clause.sounds, strict=True)):
            # A word that may lean on others is stressed at the end of a clause.
            if word.isalpha() and (place + 1 < len(clause.words) or len(word) > 7):
                name = word if initials(word) else word.lower()
                heard[name][NEUTRAL[language](said, name.lower())] += 1
    found = {}
    for word, counts in heard.items():
        said, often = counts.most_common(1)[0]
        if often >= LEAST and " " not in word and rules.word(word) != said:
            found[word] = said
    return dict(sorted(found.items()))


def agreement(texts: Iterable[list[Clause]], sounds: RomanceSounds) -> tuple[int, int]:
    """Words, and how many of them have espeak-ng's sounds."""
    total = right = 0
    for clause in (clause for sentence in texts for clause in sentence):
        said = sounds.clause(clause.words, closed=True)
        total += len(said)
        right += sum(a == b for a, b in zip(said, clause.sounds, strict=True))
    return total, right


def unstable(texts: Iterable[list[Clause]], sounds: RomanceSounds, ahead: int) -> int:
    """Words that sound otherwise where only so many words after them are visible."""
    wrong = 0
    for clause in (clause for sentence in texts for clause in sentence):
        whole, count = sounds.clause(clause.words, closed=True), len(clause.words)
        for place in range(count):
            seen = clause.words[: place + 1 + ahead]
            wrong += sounds.clause(seen, closed=len(seen) == count)[place] != whole[place]
    return wrong


def measured(folder: Path, language: str, *, write: bool) -> list[str]:
    """Rows of the table, one a source."""
    fetch(folder, language)
    texts = {source: read(folder, language, source) for source in packages(language)}
    maker, name = LANGUAGES[language]
    stand_in = EspeakFrontEnd(language).stand_in
    rules = RomanceSounds(maker(), {})
    rows = []
    for source, own in texts.items():
        others = listed(language, (one for other in texts if other != source for one in texts[other]), rules)
        sounds = RomanceSounds(maker(), others, stand_in)
        (total, bare), (_, right) = agreement(own, rules), agreement(own, sounds)
        sample = own[:500]
        words = sum(len(clause.words) for sentence in sample for clause in sentence)
        shares = [100 * right / total, 100 * bare / total]
        moved = [100 * unstable(sample, sounds, ahead) / words for ahead in (0, 1)]
        rows.append(
            f"| {language} | {source} | {total:,} | **{shares[0]:.2f}** | {shares[1]:.2f} | {len(others):,} | "
            f"{moved[0]:.2f} | {moved[1]:.2f} |"
        )
    if write:
        found = listed(language, (one for own in texts.values() for one in own), rules)
        lines = [ABOUT, *(f"{word}\t{said}" for word, said in found.items())]
        (WORDS / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return rows


def table(folder: Path, languages: Sequence[str], *, write: bool) -> list[str]:
    """The table's lines."""
    version, _ = ESPEAK.about()
    lines = [
        f"`python lab/benchmarks/romance.py FOLDER`, sayahead {__version__}, espeak-ng {version}.",
        "",
        "Percent of running words whose phonemes, with stress, are espeak-ng's: by the rules and a list of words made",
        "from the other sources, and by the rules alone; how many words that list has; percent of words that change",
        "when more is seen than k words after them.",
        "",
        "| | source | words | agree | rules alone | list | k = 0 | k = 1 |",
        "|---|---|--:|--:|--:|--:|--:|--:|",
    ]
    return lines + [row for language in languages for row in measured(folder, language, write=write)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--languages", nargs="+", choices=sorted(MEASURED), default=sorted(MEASURED))
    parser.add_argument("--write", action="store_true", help="write the lists of words into the package")
    parser.add_argument("--results", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    tell(table(arguments.folder, arguments.languages, write=arguments.write), arguments.results)


if __name__ == "__main__":
    main()
