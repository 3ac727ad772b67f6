"""The texts of the family of voices: of each speaker other sentences to learn from, the same to
validate and to test.

    python lab/benchmarks/family_texts.py LJSPEECH SENTENCES -o TEXTS

``LJSPEECH`` has ``train.csv``, ``val.csv`` and ``test.csv`` (name|text); ``SENTENCES`` has
``LANGUAGE.sentences`` and ``LANGUAGE.val`` of the other languages, in the same form
(``debian_prose.py``). Writes ``TEXTS/SPEAKER.train``, ``.val`` and ``.test`` for ``sayahead train
corpus``.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

ENGLISH = {
    "am_michael": 120,
    "bf_emma": 60,
    "af_bella": 60,
    "am_fenrir": 120,
    "bm_george": 60,
    "af_sarah": 60,
    "am_puck": 60,
}
"""Speakers of English and how many sentences they learn from, in the order in which they take turns
with the texts."""
OTHERS = {
    "es": ["ef_dora", "em_alex"],
    "fr": ["ff_siwis"],
    "it": ["if_sara", "im_nicola"],
    "pt-br": ["pf_dora", "pm_alex"],
}
OTHER_SENTENCES = {"fr": 100}
"""Of the other languages, 70 sentences but for these."""
TURNS = 16
VALIDATION = 8
TESTS = 24


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("ljspeech", type=Path)
    parser.add_argument("sentences", type=Path)
    parser.add_argument("-o", "--out", type=Path, required=True)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    train, val, test = (
        lines(arguments.ljspeech / f"{split}.csv") for split in ("train", "val", "test")
    )
    train = [line for line in train if 7 <= words(line) <= 18]
    val, test = ([line for line in split if 6 <= words(line) <= 18] for split in (val, test))
    for number, (speaker, count) in enumerate(ENGLISH.items()):
        own = spread(train[number::TURNS], 120)
        own = (own[::3] + own[1::3] + own[2::3])[:count]
        write(arguments.out, speaker, own, val[:VALIDATION], spread(test, TESTS))
    for language, speakers in OTHERS.items():
        known = lines(arguments.sentences / f"{language}.sentences")
        count = OTHER_SENTENCES.get(language, 70)
        step = 4 if language in OTHER_SENTENCES else max(2, len(known) // count)
        learned = {speaker: known[number::step][:count] for number, speaker in enumerate(speakers)}
        left = [line for line in known if not any(line in own for own in learned.values())]
        held = lines(arguments.sentences / f"{language}.val")[:VALIDATION]
        for speaker, own in learned.items():
            write(arguments.out, speaker, own, held, spread(left, TESTS))
    return 0


def lines(path: Path) -> list[str]:
    """The lines of a file."""
    return path.read_text(encoding="utf-8").splitlines()


def words(line: str) -> int:
    """Words of a line's text."""
    return len(line.split("|", 1)[1].split())


def spread(texts: Sequence[str], count: int) -> list[str]:
    """So many of the texts, evenly."""
    return list(texts[:: max(1, len(texts) // count)][:count])


def write(folder: Path, speaker: str, train: list[str], val: list[str], test: list[str]) -> None:
    """Write a speaker's three lists."""
    for split, texts in (("train", train), ("val", val), ("test", test)):
        (folder / f"{speaker}.{split}").write_text("\n".join(texts) + "\n", encoding="utf-8")


if __name__ == "__main__":
    raise SystemExit(main())
