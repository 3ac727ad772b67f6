r"""The words of Mandarin with their readings; writes src/sayahead/text/saying/mandarin/words.xz.

    pip install --no-deps --target FOLDER \
        jieba==0.42.1 pypinyin==0.55.0 opencc-python-reimplemented==0.1.7
    python -m sayahead_lab.training.lexicons.mandarin_words FOLDER

Words and their frequencies are jieba's: all that occur four times, and those whose reading is not
that of their characters. Readings are pypinyin's. The simplified form of each traditional character
is OpenCC's. ``sayahead.text.saying.mandarin.dictionary`` says how the file is laid out.
"""

from __future__ import annotations

import importlib
import lzma
import math
import re
import sys
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from sayahead.text.saying.mandarin.dictionary import DATA, LEVELS, ZERO

LEAST = 4
"""How often a word occurs at least in what jieba was counted on; many of the rest occur three
times."""
FIRST, LAST = "一", "鿿"
"""The block of characters of which each has a reading."""
_HAN = re.compile(f"[{FIRST}-{LAST}]+")


def frequencies(folder: Path) -> dict[str, int]:
    """How often each word of Chinese characters occurs."""
    rows = map(str.split, (folder / "jieba/dict.txt").read_text(encoding="utf-8").splitlines())
    return {row[0]: int(row[1]) for row in rows if _HAN.fullmatch(row[0])}


def front_coded(words: list[str]) -> Iterator[str]:
    """Each word as how many characters it begins with that the one before does, and the rest."""
    for before, word in pairwise(["", *words]):
        shared = 0
        while shared < min(len(before), len(word)) and before[shared] == word[shared]:
            shared += 1
        yield chr(ZERO + shared) + word[shared:]


def by_reading(characters: Mapping[str, str]) -> str:
    """A line for each syllable, with its characters."""
    groups: dict[str, str] = {}
    for character, syllable in sorted(characters.items()):
        groups[syllable] = groups.get(syllable, "") + character
    return "\n".join(f"{syllable} {group}" for syllable, group in sorted(groups.items()))


def simplified(folder: Path) -> str:
    """Traditional characters, each before its simplified form."""
    text = (folder / "opencc/dictionary/TSCharacters.txt").read_text(encoding="utf-8")
    pairs = ["".join(line.split()[:2]) for line in text.splitlines()]
    return "".join(pair for pair in pairs if _HAN.fullmatch(pair) and pair[0] != pair[1])


def main() -> None:
    """Write the file."""
    folder = Path(sys.argv[1])
    sys.path.insert(0, str(folder))
    pypinyin: Any = importlib.import_module("pypinyin")

    def read(word: str) -> list[str]:
        style = pypinyin.Style.TONE3
        return list(
            pypinyin.lazy_pinyin(word, style=style, neutral_tone_with_five=True, errors="ignore")
        )

    characters: dict[str, str] = {}
    for code in range(ord(FIRST), ord(LAST) + 1):
        for syllable in read(chr(code)):
            characters[chr(code)] = syllable
    counts = frequencies(folder)
    odd: dict[str, str] = {}
    for word in counts:
        syllables = read(word)
        if len(word) > 1 and syllables != [characters.get(char, "") for char in word]:
            odd[word] = " ".join(syllables)
    words = sorted(
        word for word, count in counts.items() if count >= LEAST or len(word) == 1 or word in odd
    )
    levels = "".join(chr(ZERO + round(LEVELS * math.log(counts[word] + 1))) for word in words)
    readings = "\n".join(f"{word} {odd[word]}" for word in words if word in odd)
    parts = (
        "".join(front_coded(words)),
        levels,
        by_reading(characters),
        readings,
        simplified(folder),
    )
    data = lzma.compress("\n\n".join(parts).encode(), preset=9 | lzma.PRESET_EXTREME)
    DATA.write_bytes(data)
    print(f"{len(words):,} words, {len(odd):,} of them with readings of their own")
    print(f"{len(characters):,} characters; {len(data):,} bytes")


if __name__ == "__main__":
    main()
