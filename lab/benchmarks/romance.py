"""How often the rules of Romance languages make espeak-ng's phonemes, on prose; and the list of
words that they miss.

    python lab/benchmarks/romance.py FOLDER [--languages es it] [--write] [--results \
        FILE.md]

FOLDER holds Debian's documents, which are downloaded into it. A source's words are measured with a
list that was made from the other sources; ``--write`` puts the list of all of them in its place.
Where a language is read by a tree that was learned, all sources but two teach it, and these are
measured; what is measured is what ``--write`` puts there."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path

from sayahead import __version__
from sayahead.text.saying.clauses import clauses
from sayahead.text.saying.espeak.client import ESPEAK
from sayahead.text.saying.espeak.front_end import EspeakFrontEnd
from sayahead.text.saying.espeak.phonemizer import EspeakSounds
from sayahead.text.saying.romance import LANGUAGES, LEARNED, WORDS, orthography
from sayahead.text.saying.romance.reading import RomanceSounds
from sayahead.text.saying.romance.tree import read_tree

from sayahead_lab.results import Rows, keep, options, table, tell
from sayahead_lab.training.lexicons.debian_prose import fetch, packages, sentences
from sayahead_lab.training.lexicons.romance_words import SpokenClause, listed, spoken, tree_of

HELD = ("reference", "stories")
"""Sources that teach no tree and are in none of the lists beside one."""
MOST = 12_000
MAX_LEARNED = 5_000
"""Sentences of a source; of one that teaches a tree."""
SEED = 32
ABOUT_TREE = (
    "// What letters sound like by those around them: made by lab/benchmarks/romance.py from"
    " espeak-ng's sounds."
)
ABOUT = (
    "// Words that the rules miss, with their sounds: made by lab/benchmarks/romance.py from"
    " espeak-ng's."
)
MEASURED = ("es", "it", "fr", "pt-br")
"""Languages by espeak-ng's names."""


Texts = Sequence[list[SpokenClause]]
"""Sentences by their clauses."""


def read(folder: Path, language: str, source: str) -> Texts:
    """Clauses of a source's sentences, a sample of them where there are many; kept in the
    folder."""
    kept = folder / f"{language}-{source}.json"
    if not kept.is_file():
        front = EspeakFrontEnd(language)
        espeak = EspeakSounds(language, "")
        found = sentences(folder, language, source)
        found = random.Random(SEED).sample(
            found, min(MAX_LEARNED if language in LEARNED else MOST, len(found))
        )
        made = []
        for text in found:
            normalizer = front.normalizer()
            words = [word.text for word in [*normalizer.push(text), *normalizer.flush()]]
            asked = [
                [token.bare for token in clause.tokens]
                for clause in clauses(words, ends=True)[1]
                if clause.tokens
            ]
            made.append([(words, espeak.clause(words, closed=True)) for words in asked])
        kept.write_text(json.dumps(made, ensure_ascii=False), encoding="utf-8")
    return [
        [SpokenClause(*clause) for clause in sentence]
        for sentence in json.loads(kept.read_text("utf-8"))
    ]


def agreement(texts: Texts, sounds: RomanceSounds) -> tuple[int, int, int, int]:
    """Words; how many of them have espeak-ng's sounds and stress; secondary stress aside; all
    stress aside."""
    total = 0
    right = 0
    main = 0
    plain = 0
    for clause in (clause for sentence in texts for clause in sentence):
        said = sounds.clause(clause.words, closed=True)
        total += len(said)
        for a, b in zip(said, clause.sounds, strict=True):
            right += a == b
            a = a.replace("ˌ", "")
            b = b.replace("ˌ", "")
            main += a == b
            plain += a.replace("ˈ", "") == b.replace("ˈ", "")
    return total, right, main, plain


def unstable(texts: Texts, sounds: RomanceSounds, ahead: int) -> int:
    """Words that sound otherwise where only so many words after them are visible."""
    wrong = 0
    for clause in (clause for sentence in texts for clause in sentence):
        whole = sounds.clause(clause.words, closed=True)
        count = len(clause.words)
        for place in range(count):
            seen = clause.words[: place + 1 + ahead]
            wrong += sounds.clause(seen, closed=len(seen) == count)[place] != whole[place]
    return wrong


def made(
    language: str, texts: Texts, told: dict[str, str], folder: Path
) -> tuple[RomanceSounds, RomanceSounds, list[str]]:
    """What reads the language by a list from these texts and from words ``told`` apart, the same
    without the list, and the list's lines; what was learned is in the folder.
    """
    tree = None
    if language in LEARNED:
        file = folder / f"{language}.tree"
        keep([ABOUT_TREE, *tree_of(language, told)], file)
        tree = read_tree(file, LEARNED[language].vowels, LEARNED[language].accents)
    rules = RomanceSounds(orthography(language, tree), {}, EspeakFrontEnd(language).stand_in)
    found = listed(language, texts, told, rules)
    return rules.with_words(found), rules, [f"{word}\t{said}" for word, said in found.items()]


def measured(folder: Path, language: str, *, write: bool) -> Rows:
    """Rows of the table, one a source."""
    fetch(folder, language)
    texts = {source: read(folder, language, source) for source in packages(language)}
    if language in LEARNED:
        return by_tree(folder, language, texts, write=write)
    rows = Rows()
    for source, own in texts.items():
        others = [one for other in texts if other != source for one in texts[other]]
        rows.append(row(language, source, own, *made(language, others, {}, folder)))
    if write:
        *_, words = made(language, [one for own in texts.values() for one in own], {}, WORDS)
        write_list(language, words)
    return rows


def by_tree(folder: Path, language: str, texts: Mapping[str, Texts], *, write: bool) -> Rows:
    """The same for a language that is read by a tree, which all sources but two teach."""
    taught = [source for source in texts if source not in HELD]
    told = spoken(folder, language, taught)
    others = [one for source in taught for one in texts[source]]
    readers = made(language, others, told, WORDS if write else folder)
    if write:
        write_list(language, readers[2])
    return [row(language, source, texts[source], *readers) for source in texts if source in HELD]


def write_list(language: str, words: Sequence[str]) -> None:
    """Put a language's list of words into the package."""
    keep([ABOUT, *words], WORDS / f"{LANGUAGES[language]}.txt")


def row(
    language: str,
    source: str,
    own: Texts,
    sounds: RomanceSounds,
    rules: RomanceSounds,
    words: Sequence[str],
) -> list[str]:
    """A source's row: what the sounds, with a list of these words, and the rules alone agree in."""
    (total, bare, *_), (_, *right) = agreement(own, rules), agreement(own, sounds)
    sample = own[:300]
    count = sum(len(clause.words) for sentence in sample for clause in sentence)
    first, *shares = (f"{100 * same / total:.2f}" for same in (*right, bare))
    moved = [f"{100 * unstable(sample, sounds, ahead) / count:.2f}" for ahead in (0, 1)]
    return [language, source, f"{total:,}", f"**{first}**", *shares, f"{len(words):,}", *moved]


HEADING = "|source|words|agree|but for secondary|but for stress|rules alone|list|k = 0|k = 1"
EXPLAINED = (
    "Percent of running words whose phonemes, with stress, are espeak-ng's: by the rules and a list"
    " of words made from the other sources; the same but for secondary stress, and for all stress;"
    " by the rules alone; how many words that list has; percent of words that change when more is"
    " seen than k words after them."
)


def main() -> None:
    parser = options(__doc__, "FOLDER", "results", write=False)
    parser.add_argument("--languages", nargs="+", choices=MEASURED, default=MEASURED)
    asked = parser.parse_args()
    version, _ = ESPEAK.about()
    command = "python lab/benchmarks/romance.py FOLDER"
    rows = [
        row
        for language in asked.languages
        for row in measured(asked.folder, language, write=asked.write)
    ]
    about = f"`{command}`, sayahead {__version__}, espeak-ng {version}."
    tell([about, "", EXPLAINED, "", *table(HEADING, rows, words=2)], asked.results)


if __name__ == "__main__":
    main()
