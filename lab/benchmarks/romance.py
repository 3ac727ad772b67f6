"""How often the rules of Romance languages make espeak-ng's phonemes, on prose; and the list of
words that they miss.

    python lab/benchmarks/romance.py FOLDER [--languages es it] [--choose] [--write] [--results \
        FILE.md]

FOLDER holds Debian's documents, which are downloaded into it. A source's words are measured with a
list that was made from the other sources; ``--write`` puts the list of all of them in its place.
Where a language is read by a tree that was learned, all sources but two teach it, and these are
measured; what is measured is what ``--write`` puts there."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Sequence
from pathlib import Path

from output import options, tell
from sayahead import __version__
from sayahead.text.saying.clauses import clauses
from sayahead.text.saying.espeak.client import ESPEAK
from sayahead.text.saying.espeak.front_end import EspeakFrontEnd
from sayahead.text.saying.espeak.phonemizer import EspeakSounds
from sayahead.text.saying.romance import LANGUAGES, LEARNED, WORDS, orthography
from sayahead.text.saying.romance.reading import RomanceSounds
from sayahead.text.saying.romance.tree import read_tree

from sayahead_lab.training.lexicons.debian_prose import fetch, packages, sentences
from sayahead_lab.training.lexicons.romance_words import SpokenClause, listed, spoken, tree_of

HELD = ("reference", "stories")
"""Sources that teach no tree and are in none of the lists beside one."""
CHOSEN_BY = ("edu", "fortunes", "fillets")
"""Sources that settings were chosen by: ``--choose`` measures these, with what the others teach."""
MOST = 12_000
MAX_LEARNED = 5_000
"""Sentences of a source; of one that teaches a tree."""
SEED = 32
ABOUT_TREE = (
    "// What letters sound like by those around them: made by lab/benchmarks/romance.py from"
    " espeak-ng's sounds."
)
ABOUT = (
    "# Words that the rules miss, with their sounds: made by lab/benchmarks/romance.py from"
    " espeak-ng's."
)
MEASURED = ("es", "it", "fr", "pt-br")
"""Languages by espeak-ng's names."""


def read(folder: Path, language: str, source: str) -> list[list[SpokenClause]]:
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


def agreement(
    texts: Iterable[list[SpokenClause]], sounds: RomanceSounds
) -> tuple[int, int, int, int]:
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


def unstable(texts: Iterable[list[SpokenClause]], sounds: RomanceSounds, ahead: int) -> int:
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
    language: str, texts: Sequence[list[SpokenClause]], told: dict[str, str], folder: Path
) -> tuple[RomanceSounds, RomanceSounds, list[str]]:
    """What reads the language by a list from these texts and from words ``told`` apart, the same
    without the list, and the list's lines; what was learned is in the folder.
    """
    tree = None
    if language in LEARNED:
        file = folder / f"{language}.tree"
        file.write_text("\n".join([ABOUT_TREE, *tree_of(language, told)]) + "\n", encoding="utf-8")
        tree = read_tree(file, LEARNED[language].vowels, LEARNED[language].accents)
    rules = RomanceSounds(orthography(language, tree), {}, EspeakFrontEnd(language).stand_in)
    found = listed(language, texts, told, rules)
    return rules.with_words(found), rules, [f"{word}\t{said}" for word, said in found.items()]


def measured(folder: Path, language: str, *, write: bool, choose: bool) -> list[str]:
    """Rows of the table, one a source."""
    fetch(folder, language)
    texts = {source: read(folder, language, source) for source in packages(language)}
    learned = language in LEARNED
    rows = list[str]()
    kept = list[str]()
    beside = [source for source in texts if source in HELD or (choose and source in CHOSEN_BY)]
    taught = [source for source in texts if source not in beside]
    told = spoken(folder, language, taught) if learned else {}
    for source in texts:
        if learned and source not in (CHOSEN_BY if choose else HELD):
            continue
        if not (learned and rows):
            others = taught if learned else [other for other in texts if other != source]
            place = WORDS if write and learned else folder
            sounds, rules, kept = made(
                language, [one for other in others for one in texts[other]], told, place
            )
        rows.append(row(language, source, texts[source], sounds, rules, len(kept)))
    if write:
        if not learned:
            *_, kept = made(language, [one for own in texts.values() for one in own], told, WORDS)
        (WORDS / f"{LANGUAGES[language]}.txt").write_text(
            "\n".join([ABOUT, *kept]) + "\n", encoding="utf-8"
        )
    return rows


def row(
    language: str,
    source: str,
    own: Sequence[list[SpokenClause]],
    sounds: RomanceSounds,
    rules: RomanceSounds,
    size: int,
) -> str:
    """A source's row."""
    (total, bare, *_), (_, *right) = agreement(own, rules), agreement(own, sounds)
    sample = own[:300]
    words = sum(len(clause.words) for sentence in sample for clause in sentence)
    moved = [100 * unstable(sample, sounds, ahead) / words for ahead in (0, 1)]
    shares = " | ".join(f"{100 * count / total:.2f}" for count in (*right[1:], bare))
    return (
        f"| {language} | {source} | {total:,} | **{100 * right[0] / total:.2f}** | {shares} |"
        f" {size:,} | {moved[0]:.2f} | {moved[1]:.2f} |"
    )


def table(folder: Path, languages: Sequence[str], *, write: bool, choose: bool) -> list[str]:
    """The table's lines."""
    version, _ = ESPEAK.about()
    command = "python lab/benchmarks/romance.py FOLDER" + " --choose" * choose
    lines = [
        f"`{command}`, sayahead {__version__}, espeak-ng {version}.",
        "",
        (
            "Percent of running words whose phonemes, with stress, are espeak-ng's: by the rules"
            " and a list of words made"
        ),
        (
            "from the other sources; the same but for secondary stress, and for all stress; by the"
            " rules alone; how many"
        ),
        (
            "words that list has; percent of words that change when more is seen than k words after"
            " them."
        ),
        "",
        (
            "| | source | words | agree | but for secondary | but for stress | rules alone | list |"
            " k = 0 | k = 1 |"
        ),
        "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    return lines + [
        row
        for language in languages
        for row in measured(folder, language, write=write, choose=choose)
    ]


def main() -> None:
    parser = options(__doc__, "--results")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--languages", nargs="+", choices=MEASURED, default=MEASURED)
    parser.add_argument(
        "--write", action="store_true", help="write the lists of words into the package"
    )
    parser.add_argument(
        "--choose", action="store_true", help="measure the sources that settings are chosen by"
    )
    arguments = parser.parse_args()
    lines = table(
        arguments.folder, arguments.languages, write=arguments.write, choose=arguments.choose
    )
    tell(lines, arguments.results)


if __name__ == "__main__":
    main()
