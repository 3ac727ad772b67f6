"""Phonemes word by word against those of the whole sentence, and readings against accepted ones, by
language.

    python lab/benchmarks/languages.py [--results FILE.md]

The sentences are those of ``data/sentences.tsv``, written for this. A word is asked for
with everything before it in its sentence, k words after it, and the language's stand-in word after
these where the sentence goes on; its phonemes are held to those of the whole sentence. "In one
piece" is what voices were trained on: espeak-ng merges some words then ("of the"), so spaces do not
count, and a sentence is right or not. Readings are those of ``tests/text/readings``.
``SAYAHEAD_ESPEAK`` chooses the library of espeak-ng."""

from __future__ import annotations

import time
import unicodedata
from pathlib import Path

import with_tests  # noqa: F401
from sayahead import __version__
from sayahead.text import front_end
from sayahead.text.languages import record_of
from sayahead.text.saying.espeak.client import ESPEAK
from sayahead.text.saying.espeak.front_end import EspeakFrontEnd
from sayahead.text.saying.espeak.phonemizer import FLAG, EspeakPhonemizer
from support.other_readings import LANGUAGES, cases_of, right

from sayahead_lab.results import Rows, options, table, tell

VOICES = {"en": "en-us", "de": "de", "fr": "fr", "es": "es", "it": "it", "pt": "pt", "hi": "hi"}
CONDITIONS = ((0, False), (0, True), (1, False), (1, True), (2, True))


def sentences(measurement: str, language: str) -> list[str]:
    """The texts of a language that a measurement speaks, of ``data/sentences.tsv``."""
    path = Path(__file__).parent / "data" / "sentences.tsv"
    rows = (line.split("\t") for line in path.read_text(encoding="utf-8").splitlines())
    return [text for name, tag, text in rows if (name, tag) == (measurement, language)]


def spoken(language: str) -> Rows:
    """Words as spoken, by sentence."""
    made: list[list[str]] = []
    for line in sentences("languages", language):
        normalizer = front_end(language, espeak=VOICES[language]).normalizer()
        words = normalizer.push(line) + normalizer.flush()
        made.append([word.text for word in words])
    return made


def phonemizer(language: str, *, dummy: bool) -> EspeakPhonemizer:
    """The language's, with its stand-in word or with none."""
    stand_in = record_of(language).stand_in if dummy else ""
    return EspeakPhonemizer(VOICES[language], {}, stand_in=stand_in)


def compared(language: str) -> tuple[int, list[float], float]:
    """Number of words, percent of them that differ by condition, percent of sentences as espeak-ng
    reads one text."""
    texts = spoken(language)
    whole = [phonemizer(language, dummy=False).read(words) for words in texts]
    count = sum(map(len, texts))
    shares = []
    for k, dummy in CONDITIONS:
        asked = phonemizer(language, dummy=dummy)
        wrong = 0
        for words, expected in zip(texts, whole, strict=True):
            for i, one in enumerate(expected):
                seen = words[: i + 1 + k]
                wrong += asked.read(seen, first=i, ends=len(seen) == len(words))[0] != one
        shares.append(100 * wrong / count)
    alike = 0
    for words, expected in zip(texts, whole, strict=True):
        text = unicodedata.normalize(
            "NFD", FLAG.sub("", "".join(ESPEAK.clauses(VOICES[language], " ".join(words))))
        )
        alike += "".join(text.split()) == "".join("".join(sound for sound, _ in expected).split())
    return count, shares, 100 * alike / len(texts)


def waits(language: str) -> tuple[int, int, int]:
    """Words of the readings' texts: all, those final later than a character after them, their most
    characters."""
    total = 0
    late = 0
    most = 0
    for case in cases_of(language):
        normalizer = front_end(language).normalizer()
        for count, char in enumerate(case.text, start=1):
            for word in normalizer.push(char):
                total += 1
                late += count - word.end > 1
                most = max(most, count - word.end)
        total += len(normalizer.flush())
    return total, late, most


def tables() -> list[str]:
    """Both tables in Markdown."""
    version, _ = ESPEAK.about()
    head = "|".join(f"k = {k}{' + stand-in' if dummy else ''}" for k, dummy in CONDITIONS)
    apart = Rows()
    for language in VOICES:
        count, shares, alike = compared(language)
        cells = (f"{share:.2f}" for share in shares)
        apart.append([language, str(count), *cells, f"{alike:.0f}"])
    readings = Rows()
    for language in LANGUAGES:
        cases = cases_of(language)
        good = sum(right(language, case) for case in cases)
        readings.append([language, *map(str, (len(cases), good, *waits(language)))])
    return [
        f"`python lab/benchmarks/languages.py`, sayahead {__version__}, espeak-ng {version}.",
        "",
        "Percent of words whose phonemes are not those of the whole sentence; last, percent of"
        " sentences that are what\nespeak-ng makes of them in one piece, spaces aside:",
        "",
        *table(f"|words|{head}|in one piece", apart),
        "",
        "Readings that a person accepts, and words of their texts that wait longer than one"
        " character after them:",
        "",
        *table("|texts|right|words|wait|most characters", readings),
        "",
        cost(),
    ]


def cost() -> str:
    """What word by word costs against whole sentences, side by side: the least of five, with an
    empty cache."""
    texts = spoken("de")
    least = [float("inf")] * 2
    for _ in range(5):
        for which in (0, 1):
            ESPEAK.forget_answers()
            asked = EspeakFrontEnd("de").phonemizer({})
            start = time.perf_counter()
            for words in texts:
                if which == 0:
                    asked.read(words)
                for i in range(len(words) if which else 0):
                    asked.read(words[: i + 2], first=i, ends=i + 2 >= len(words))
            least[which] = min(least[which], time.perf_counter() - start)
    total = sum(map(len, texts))
    sentence = 1000 * least[0] / len(texts)
    word = 1000 * least[1] / total
    return (
        f"A German word at k = 1, its clause so far read again, takes {word / sentence:.2f} times"
        f" what a whole\nsentence of {total / len(texts):.0f} words takes (here {word:.2f} and"
        f" {sentence:.2f} ms)."
    )


def main() -> None:
    arguments = options(__doc__, "results").parse_args()
    tell(tables(), arguments.results)


if __name__ == "__main__":
    main()
