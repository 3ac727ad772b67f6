"""How often the rules of Romance languages make espeak-ng's phonemes, on prose; and the list of words that they miss.

    python lab/benchmarks/romance.py FOLDER [--languages es it] [--write] [--results FILE.md]

FOLDER holds Debian's documents, which are downloaded into it. A source's words are measured with a list that was made
from the other sources; ``--write`` puts the list of all of them in its place. Where a language is read by a tree that
was learned, all sources but one teach it, and that one is measured; what is measured is what ``--write`` puts there.
"""

from __future__ import annotations

import argparse
import collections
import json
import random
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from debian_prose import dictionary, fetch, packages, sentences
from output import tell
from romance_tree import grown, lines_of
from sayahead import __version__
from sayahead.text.clauses import clauses
from sayahead.text.espeak.client import ESPEAK
from sayahead.text.espeak.front_end import EspeakFrontEnd
from sayahead.text.espeak.phonemizer import FLAG, EspeakSounds
from sayahead.text.romance import LANGUAGES, LEARNED, WORDS, orthography, vowels_of
from sayahead.text.romance.french import TIE, tied
from sayahead.text.romance.reading import RomanceSounds, initials
from sayahead.text.romance.rules import PRIMARY, VOWELS
from sayahead.text.romance.tree import read_tree

LEAST, RARE = 2, 4
"""How often a word is met that a list keeps; where a tree was learned, once is enough for words of so many letters."""
HELD = "reference"
"""The source that teaches no tree and is in none of the lists beside one."""
MOST, MOST_LEARNED = 12_000, 5_000
"""Sentences of a source; of one that teaches a tree."""
MOST_WORDS, TOGETHER = 40_000, 100
"""Words of a dictionary that teach a tree, and how many of them are asked for at once."""
SEED = 32
WORD = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*'?")
"""What may be in a list."""
UNTAUGHT = {"it": "ˌ əɒæʌɜθðɹ", "fr": "ˌ ɹɪʊʌɒɜðθæːhɐ", "pt-br": " əɒʌɜθðɹ", "pt": " ɒʌɜθ"}
"""In the sounds of words that teach a tree nothing: letters that are named, words of English."""
ABOUT_TREE = (
    "// What letters sound like by those around them: made by lab/benchmarks/romance.py from espeak-ng's sounds."
)
ABOUT = "# Words that the rules miss, with their sounds: made by lab/benchmarks/romance.py from espeak-ng's."
MEASURED = ("es", "it", "fr", "pt-br")
"""Languages by espeak-ng's names."""


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause as espeak-ng says it."""

    words: list[str]
    sounds: list[str]


def read(folder: Path, language: str, source: str) -> list[list[Clause]]:
    """Clauses of a source's sentences, a sample of them where there are many; kept in the folder."""
    kept = folder / f"{language}-{source}.json"
    if not kept.is_file():
        front, espeak = EspeakFrontEnd(language), EspeakSounds(language, "")
        found = sentences(folder, language, source)
        found = random.Random(SEED).sample(found, min(MOST_LEARNED if language in LEARNED else MOST, len(found)))
        made = []
        for text in found:
            normalizer = front.normalizer()
            words = [word.text for word in [*normalizer.push(text), *normalizer.flush()]]
            asked = [
                [token.bare for token in clause.tokens] for clause in clauses(words, ends=True)[1] if clause.tokens
            ]
            made.append([(words, espeak.clause(words, closed=True)) for words in asked])
        kept.write_text(json.dumps(made, ensure_ascii=False), encoding="utf-8")
    return [[Clause(*clause) for clause in sentence] for sentence in json.loads(kept.read_text("utf-8"))]


def spoken(folder: Path, language: str) -> dict[str, str]:
    """Words of a dictionary, a sample of them, with the sounds that they have alone; kept in the folder."""
    kept = folder / f"{language}-words.json"
    if not kept.is_file():
        words = dictionary(folder, language)
        words = random.Random(SEED).sample(words, min(MOST_WORDS, len(words)))
        found = dict[str, str]()
        for start in range(0, len(words), TOGETHER):
            some = words[start : start + TOGETHER]
            said = ESPEAK.clauses(language, ", ".join(some) + ".")
            if len(said) == len(some):
                found.update(zip(some, (unicodedata.normalize("NFD", FLAG.sub("", one)) for one in said), strict=True))
        kept.write_text(json.dumps(found, ensure_ascii=False), encoding="utf-8")
    return dict(json.loads(kept.read_text("utf-8")))


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


def neutral_portuguese(said: str, word: str) -> str:
    """The same of Portuguese."""
    for letters, heard, alone in (("s", "z", "s"), ("e", "j", "y"), ("o", "w", "ʊ"), ("r", "ɾɹ", "r")):
        if word[-1:] in letters and said[-1:] and said[-1] in heard:
            return said[:-1] + alone
    return said


NEUTRAL = {"es": neutral_spanish, "pt-br": neutral_portuguese}
"""What words are by themselves, in languages whose words adapt to their neighbours."""


@dataclass(slots=True)
class Heard:
    """How often a word has which sounds."""

    plain: collections.Counter[str] = field(default_factory=collections.Counter)
    """Where no vowel follows, as it is by itself."""
    tied: collections.Counter[str] = field(default_factory=collections.Counter)
    """Before a vowel."""

    def sounds(self) -> tuple[str, int]:
        """What it mostly sounds like, and how often that was heard."""
        return (self.plain or self.tied).most_common(1)[0]


def heard(language: str, texts: Iterable[list[Clause]]) -> dict[str, Heard]:
    """Sounds of words in small letters; capitals that are read as letters keep these."""
    found = collections.defaultdict[str, Heard](Heard)
    for clause in (clause for sentence in texts for clause in sentence):
        count = len(clause.words)
        for place, (word, said) in enumerate(zip(clause.words, clause.sounds, strict=True)):
            # A word that may lean on others is stressed at the end of a clause.
            if WORD.fullmatch(word) and (place + 1 < count or len(word) > 7) and said:
                name = word if initials(word) else word.lower()
                after = clause.sounds[place + 1].lstrip("ˈˌ")[:1] if place + 1 < count else ""
                neutral = NEUTRAL[language](said, name.lower()) if language in NEUTRAL else said
                one = found[name]
                (one.tied if language == "fr" and after and after in VOWELS else one.plain)[neutral] += 1
    return found


def tree_of(language: str, words: Mapping[str, Heard], more: Mapping[str, str]) -> list[str]:
    """The file of a tree that reads these words, and ``more``."""
    vowels, taught = vowels_of(language), {}
    for word, said in {**more, **{word: one.sounds()[0] for word, one in words.items() if one.plain}}.items():
        english = set(said) & set(UNTAUGHT[language])
        if len(word) > 1 and not initials(word) and said.count(PRIMARY) == 1 and not english:
            taught[word] = said
    taught = {word: said for word, said in taught.items() if not set(vowels).isdisjoint(word)}
    return lines_of(grown(taught))


def listed(language: str, words: Mapping[str, Heard], rules: RomanceSounds) -> dict[str, str]:
    """Words that the rules alone miss, with the sound that they mostly have, in order."""
    found = {}
    for word, one in words.items():
        said, often = one.sounds()
        liaison = ""
        rare = often < LEAST and (language not in LEARNED or len(word) < RARE)
        if one.plain and one.tied:
            before, _ = one.tied.most_common(1)[0]
            added = before.removeprefix(said) if before.startswith(said) else ""
            liaison = TIE + added if added != tied(word, said) else ""
        elif one.tied:
            liaison = TIE
        if not rare and (rules.word(word) != said or liaison):
            found[word] = said + liaison
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


def made(
    language: str, texts: Iterable[list[Clause]], source: Path, folder: Path
) -> tuple[RomanceSounds, RomanceSounds, list[str]]:
    """What reads the language by a list from these texts, the same without the list, and the list's lines; what was
    learned is in the folder; the words of a dictionary are in ``source``.
    """
    words = heard(language, texts)
    tree = None
    if language in LEARNED:
        file = folder / f"{language}.tree"
        file.write_text(
            "\n".join([ABOUT_TREE, *tree_of(language, words, spoken(source, language))]) + "\n", encoding="utf-8"
        )
        tree = read_tree(file, vowels_of(language))
    rules = RomanceSounds(orthography(language, tree), {})
    found = listed(language, words, rules)
    sounds = RomanceSounds(orthography(language, tree), found, EspeakFrontEnd(language).stand_in)
    return sounds, rules, [f"{word}\t{said}" for word, said in found.items()]


def measured(folder: Path, language: str, *, write: bool) -> list[str]:
    """Rows of the table, one a source."""
    fetch(folder, language)
    texts = {source: read(folder, language, source) for source in packages(language)}
    rows = []
    for source in [HELD] if language in LEARNED else texts:
        own, others = texts[source], (one for other in texts if other != source for one in texts[other])
        place = WORDS if write and language in LEARNED else folder
        sounds, rules, lines = made(language, others, folder, place)
        (total, bare), (_, right) = agreement(own, rules), agreement(own, sounds)
        sample = own[:300]
        words = sum(len(clause.words) for sentence in sample for clause in sentence)
        shares = [100 * right / total, 100 * bare / total]
        moved = [100 * unstable(sample, sounds, ahead) / words for ahead in (0, 1)]
        rows.append(
            f"| {language} | {source} | {total:,} | **{shares[0]:.2f}** | {shares[1]:.2f} | {len(lines):,} | "
            f"{moved[0]:.2f} | {moved[1]:.2f} |"
        )
    if write:
        if language not in LEARNED:
            *_, lines = made(language, (one for own in texts.values() for one in own), folder, WORDS)
        (WORDS / f"{LANGUAGES[language]}.txt").write_text("\n".join([ABOUT, *lines]) + "\n", encoding="utf-8")
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
    parser.add_argument("--languages", nargs="+", choices=MEASURED, default=MEASURED)
    parser.add_argument("--write", action="store_true", help="write the lists of words into the package")
    parser.add_argument("--results", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    tell(table(arguments.folder, arguments.languages, write=arguments.write), arguments.results)


if __name__ == "__main__":
    main()
