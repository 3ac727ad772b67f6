"""Asterisk's prompts as recordings of one person, from which a voice learns her.

    python lab/benchmarks/ma/prompts.py sounds/en_US_f_Allison core-sounds-en.txt.gz -o \
        corpus/prompts-recorded

The prompts are those of Debian's asterisk-core-sounds-en and -en-g722 (CC-BY-SA 3.0). Writes
wavs/NAME.wav (16 kHz, from G.722: pip install 'sayahead[codecs]') of those of three words or more,
and train.csv, val.csv and test.csv. Test prompts are one sentence of eight words or more; what is
much like one of them in its words is in no other list."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from sayahead.errors import ConfigError
from sayahead.sound.files import write_wav
from word_ends import PROMPT_RATE, decoded, prompts  # type: ignore[import-not-found]

from sayahead_lab.results import options

TEST = 30
VAL = 8
"""Prompts of the test and of the validation split."""
ALIKE = 0.6
"""Share of words in one order from which on two prompts are alike."""
Prompt = tuple[str, str]


def spaced(of: Sequence[Prompt], count: int) -> list[Prompt]:
    """So many, evenly spaced."""
    return [of[number * len(of) // count] for number in range(min(count, len(of)))]


def alike(one: str, other: str) -> bool:
    """Whether most words of two texts are the same, in one order."""
    words, others = (
        text.lower().replace(",", "").replace(".", "").split() for text in (one, other)
    )
    return difflib.SequenceMatcher(None, words, others, autojunk=False).ratio() >= ALIKE


def splits(found: Sequence[Prompt], sentences: Sequence[Prompt]) -> dict[str, list[Prompt]]:
    """Prompts by split, those of the test among the sentences; what is like one of these is left
    out of the others."""
    test = spaced(sentences, TEST)
    rest = [
        one for one in found if one not in test and not any(alike(one[1], text) for _, text in test)
    ]
    val = spaced(rest, VAL)
    return {"train": [one for one in rest if one not in val], "val": val, "test": test}


def main(given: Sequence[str] | None = None) -> None:
    arguments = options(__doc__, "SOUNDS", "TEXTS", "out").parse_args(given)
    there = {one.stem: one for one in arguments.sounds.rglob("*.g722")}
    found = [
        one
        for one in prompts(arguments.texts, least_words=3, one_sentence=False)
        if one[0] in there
    ]
    if not found:
        raise ConfigError(f"{arguments.sounds} has no recording of these texts.")
    (arguments.out / "wavs").mkdir(parents=True, exist_ok=True)
    for split, members in splits(
        found, [one for one in prompts(arguments.texts) if one in found]
    ).items():
        seconds = 0.0
        for name, _ in members:
            samples = decoded(there[name])
            seconds += len(samples) / PROMPT_RATE
            write_wav(arguments.out / "wavs" / f"{name}.wav", samples, PROMPT_RATE)
        lines = "".join(f"{name}|{text}\n" for name, text in members)
        (arguments.out / f"{split}.csv").write_text(lines, encoding="utf-8")
        print(f"{split}: {len(members)} prompts, {seconds / 60:.1f} min")


if __name__ == "__main__":
    main()
