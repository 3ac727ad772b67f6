"""How often running words have the British phonemes of misaki's lexicon, which Kokoro learned from,
and of espeak-ng.

    python lab/benchmarks/british.py MISAKI.whl TEXTS.csv [--results FILE.md]

MISAKI is the wheel of misaki 0.9.4 from PyPI, of which the lexicon alone is read; TEXTS are texts
of a corpus, a line ``name|text`` each. A word agrees whose phonemes, without the r that links it to
the next, are one of the lexicon's for it; "sounds" leaves out stress. Words that misaki reads by
rule ("the", "to") have the forms that it gives them. Before is the American front end, as British
voices were read until now. espeak-ng's are those of its British voice in misaki's spelling;
``SAYAHEAD_ESPEAK`` chooses its library.
"""

from __future__ import annotations

import argparse
import collections
import json
import re
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from output import tell
from sayahead import __version__
from sayahead.text import Phonemizer, front_end
from sayahead.text.saying.espeak.client import ESPEAK
from sayahead.text.saying.espeak.misaki import spelled
from sayahead.text.saying.espeak.phonemizer import EspeakSounds
from sayahead.types import Word
from sayahead.voice import load_voice

from sayahead_lab.scripts import read_texts

RULED = {
    "a": "ɐ",
    "an": "ɐn",
    "am": "am ɐm",
    "to": "tuː tə tʊ",
    "in": "ɪn",
    "the": "ðə ði",
    "i": "I",
    "by": "bI",
}
"""Words that misaki reads by rule, with the sounds of their forms."""
WORD = re.compile(r"[a-z]+(?:'[a-z]+)?")
MARKS = ' ,.;:!?—…“”"()'
SHOWN = 20


def sounds(phonemes: str) -> str:
    """Phonemes without stress."""
    return phonemes.replace("ˈ", "").replace("ˌ", "")


def gold_of(wheel: Path) -> dict[str, frozenset[str]]:
    """The readings of each word of misaki's British lexicon."""
    with zipfile.ZipFile(wheel) as archive:
        entries: dict[str, Any] = json.loads(archive.read("misaki/data/gb_gold.json"))
    made = collections.defaultdict[str, set[str]](set)
    for word, value in entries.items():
        made[word.lower()] |= {
            said for said in (value.values() if isinstance(value, dict) else [value]) if said
        }
    return {word: frozenset(said | set(RULED.get(word, "").split())) for word, said in made.items()}


def sentences(texts: Sequence[str]) -> list[list[Word]]:
    """The words of each sentence."""
    made = list[list[Word]]()
    for text in texts:
        normalizer = front_end("en-GB").normalizer()
        sentence = list[Word]()
        for word in [*normalizer.push(text), *normalizer.flush()]:
            sentence.append(word)
            if word.ends:
                made.append(sentence)
                sentence = []
        made += [sentence] if sentence else []
    return made


class Read:
    """What a front end says, as symbols."""

    def __init__(self, language: str, table: dict[str, int]) -> None:
        self._symbols = {number: symbol for symbol, number in table.items()}
        self._phonemizer: Phonemizer = front_end(language).phonemizer(table, stand_in="people")

    def __call__(self, words: Sequence[Word]) -> list[str]:
        made = self._phonemizer.phonemize(words, left=[])
        return [
            "".join(self._symbols[number] for number in one.ids.tolist()).strip(MARKS)
            for one in made
        ]


def agrees(said: str, word: str, readings: frozenset[str]) -> tuple[bool, bool]:
    """Whether a word has one of the readings, and whether it has its sounds."""
    forms = {said, said.removesuffix("ɹ")} if word.endswith(("r", "re")) else {said}
    alike = {sounds(form) for form in forms} & {sounds(reading) for reading in readings}
    return bool(forms & readings), bool(alike)


def share(count: int, total: int) -> str:
    return f"{100 * count / max(1, total):.2f}"


def changed(read: Read, texts: Sequence[Sequence[Word]], ahead: int) -> int:
    """Words that sound otherwise where only so many words after them are visible."""
    wrong = 0
    for words in texts:
        whole = read(words)
        wrong += sum(read(words[: i + 1 + ahead])[i] != said for i, said in enumerate(whole))
    return wrong


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("misaki", type=Path, metavar="MISAKI.whl")
    parser.add_argument("texts", type=Path, metavar="TEXTS.csv")
    parser.add_argument("--results", type=Path, metavar="FILE.md")
    args = parser.parse_args()
    texts = sentences([text for _, text in read_texts(args.texts)])
    gold = gold_of(args.misaki)
    table = load_voice().config.phonemes
    espeak = EspeakSounds("en", "")
    total = 0
    known = 0
    asked = 0
    counts = collections.Counter[tuple[str, str]]()
    missed = collections.Counter[tuple[str, str]]()
    readers = {"before": Read("en-US", table), "after": Read("en-GB", table)}
    for words in texts:
        said = {name: read(words) for name, read in readers.items()}
        theirs = [
            sounds(spelled(one, "en-GB"))
            for one in espeak.clause([word.text for word in words], closed=True)
        ]
        for i, word in enumerate(words):
            text = word.text.strip(MARKS).lower()
            total += 1
            asked += bool(WORD.fullmatch(text))
            known += bool(WORD.fullmatch(text) and text in gold)
            for name in readers:
                counts[name, "espeak"] += (
                    bool(WORD.fullmatch(text)) and sounds(said[name][i]) == theirs[i]
                )
                if WORD.fullmatch(text) and text in gold:
                    whole, alike = agrees(said[name][i], text, gold[text])
                    counts[name, "whole"] += whole
                    counts[name, "sounds"] += alike
                    missed[text, said[name][i]] += name == "after" and not alike
    rows = list[str]()
    for name, read in readers.items():
        found = [share(counts[name, "whole"], known), share(counts[name, "sounds"], known)]
        found += [
            share(counts[name, "espeak"], asked),
            *(share(changed(read, texts, k), total) for k in (0, 1)),
        ]
        rows.append(f"| {name} | {' | '.join(found)} |")
    others = ", ".join(
        f"{word} {said} ({count})" for (word, said), count in missed.most_common(SHOWN) if count
    )
    lines = [
        (
            f"`python lab/benchmarks/british.py MISAKI.whl {args.texts.name}`, sayahead"
            f" {__version__}, espeak-ng {ESPEAK.about()[0]}."
        ),
        "",
        (
            f"{total:,} running words, of which misaki's British lexicon has {share(known, total)}"
            " %. Percent with its"
        ),
        (
            "phonemes, of those that it has; of plain words with the sounds of espeak-ng's British"
            " voice; and of all words"
        ),
        "that change when more is seen than k words after them:",
        "",
        "| | misaki's, with stress | misaki's sounds | espeak-ng's sounds | k = 0 | k = 1 |",
        "|---|--:|--:|--:|--:|--:|",
        *rows,
        "",
        f"With other sounds than misaki's, the most frequent first: {others or 'none'}.",
    ]
    tell(lines, args.results)


if __name__ == "__main__":
    main()
