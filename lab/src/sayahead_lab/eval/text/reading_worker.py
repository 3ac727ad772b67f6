"""What one front end reads, in a process of its own: a script that needs nothing but the front
end's package.

    python reading_worker.py read FRONT LANGUAGE < TEXTS.jsonl > READINGS.jsonl
    python reading_worker.py cost FRONT LANGUAGE REPEATS < TEXTS.jsonl
    python reading_worker.py cold FRONT LANGUAGE

FRONT is ``module:attribute``: a front end, or what makes one of a language's tag. A line of TEXTS
has ``text``, and may have ``tag`` (a variant of the language) and ``phonemes`` (whether they are
wanted)."""

from __future__ import annotations

import functools
import importlib
import json
import resource
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

ENDS = 1
CONTINUES = 2
"""Bits of a word's flags."""
SYMBOLS = ';:,.!?—…"()“” AIOQWYabcdefhijklmnopqrstuvwxyzæçðŋɐɑɒɔəɛɜɡɪɹɾʃʊʌʒʔθχˈˌːʤʧᵊᵻTS'
"""What phonemes are written in, as in the tests of readings."""


def front_of(path: str, language: str) -> Any:
    """The front end at ``module:attribute`` for a language."""
    module, _, attribute = path.partition(":")
    found = getattr(importlib.import_module(module), attribute)
    return (
        found if hasattr(found, "normalizer") and not isinstance(found, type) else found(language)
    )


def megabytes() -> float:
    """The most memory that this process has held; Linux's ``getrusage`` has that of its parent,
    too."""
    try:
        with open("/proc/self/status", encoding="ascii") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def by_characters(front: Any, text: str) -> tuple[list[Any], list[int], list[Any]]:
    """Words, how many characters beyond its end each needed, and what was skipped.

    The end of the text counts as one more character.
    """
    normalizer = front.normalizer()
    words: list[Any] = []
    late: list[int] = []
    for count, char in enumerate(text, 1):
        for word in normalizer.push(char):
            words.append(word)
            late.append(count - word.end)
    for word in normalizer.flush():
        words.append(word)
        late.append(len(text) + 1 - word.end)
    return words, late, list(normalizer.skipped)


def whole(front: Any, text: str) -> list[Any]:
    """The words of a text that comes at once."""
    normalizer = front.normalizer()
    words: list[Any] = normalizer.push(text) + normalizer.flush()
    return words


@functools.cache
def phonemizer_of(front: Any) -> Any:
    """What makes phonemes in all symbols."""
    return front.phonemizer({char: place for place, char in enumerate(SYMBOLS)}, stand_in="people")


def phonemes_of(front: Any, words: list[Any]) -> list[str]:
    """The phonemes of each word, the last one ending its sentence."""
    words = [*words[:-1], *(replace(word, ends=True) for word in words[-1:])]
    made = phonemizer_of(front).phonemize(words, left=[])
    return ["".join(SYMBOLS[symbol] for symbol in one.ids) for one in made]


def reading(front: Any, row: dict[str, Any]) -> dict[str, Any]:
    """What is read of a text, or the error that it raises."""
    text = row["text"]
    try:
        words, late, skipped = by_characters(front, text)
        found: dict[str, Any] = {
            "words": [
                [
                    word.text,
                    word.start,
                    word.end,
                    ENDS * word.ends + CONTINUES * word.continues,
                    wait,
                ]
                for word, wait in zip(words, late, strict=True)
            ]
        }
        if skipped:
            found["skipped"] = skipped
        if whole(front, text) != words:
            found["split"] = True
        if row.get("phonemes") and words:
            found["phonemes"] = phonemes_of(front, words)
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}", "words": []}
    return found


def read(fronts: Callable[[str], Any], language: str) -> None:
    """Answer every line of the input with one of the output; the last line is the memory."""
    known: dict[str, Any] = {}
    for line in sys.stdin:
        row = json.loads(line)
        tag = row.get("tag", language)
        if tag not in known:
            known[tag] = fronts(tag)
        print(json.dumps(reading(known[tag], row), ensure_ascii=False))
    print(json.dumps({"memory_mb": megabytes()}))


def seconds(front: Any, texts: Iterable[str], read_one: Callable[[Any, str], Any]) -> float:
    """Processor seconds to read all texts."""
    begin = time.process_time()
    for text in texts:
        read_one(front, text)
    return time.process_time() - begin


def cost(front: Any, repeats: int) -> None:
    """Microseconds a word of each repeat, whole texts and character by character, by set of
    texts."""
    sets: dict[str, list[str]] = {}
    for line in sys.stdin:
        row = json.loads(line)
        sets.setdefault(row["set"], []).append(row["text"])
    answer: dict[str, Any] = {}
    for name, texts in sets.items():
        words = sum(len(whole(front, text)) for text in texts)
        for way, read_one in (("whole", whole), ("characters", by_characters)):
            turns = [seconds(front, texts, read_one) for _ in range(repeats)]
            answer[f"{name}, {way}"] = [round(1e6 * turn / words, 2) for turn in turns]
    print(json.dumps(answer))


def main() -> None:
    wall = time.perf_counter()
    processor = time.process_time()
    memory = megabytes()
    command, path, language, *rest = sys.argv[1:]
    if command == "read":
        read(lambda tag: front_of(path, tag), language)
        return
    front = front_of(path, language)
    whole(front, "OK 1.")
    if command == "cost":
        cost(front, int(rest[0]))
        return
    cold = {
        "processor_ms": 1e3 * (time.process_time() - processor),
        "wall_ms": 1e3 * (time.perf_counter() - wall),
        "memory_mb": megabytes() - memory,
    }
    print(json.dumps({name: round(value, 2) for name, value in cold.items()}))


if __name__ == "__main__":
    main()
