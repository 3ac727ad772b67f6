"""How a text should be read, and a judge of how it is: readings in words, or phonemes for a single
word.

A file of readings has a header and lines of category, text and accepted readings, parted by tabs.
Readings are parted by " | ", sentences in them by " / ", and words that may stand for each other
are in braces: ``{five|oh five}``; ``word/phonemes/`` wants phonemes of one word. ``\\n`` in a text
is a line break."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hibari.g2p import G2P

from sayahead.text.reading.stream import normalize
from sayahead.text.saying.english.phonemizer import EnglishPhonemizer
from sayahead.types import Word

SYMBOLS = ';:,.!?—…"()“” AIOQWYabcdefhijklmnopqrstuvwxyzæçðŋɐɑɒɔəɛɜɡɪɹɾʃʊʌʒʔθχˈˌːʤʧᵊᵻTS'
_SCALES = ("hundred", "thousand", "million", "billion", "trillion")
_SAME = {"mr": "mister", "mrs": "missus", "etc": "etcetera", "oh": "o", "okay": "ok"}
_REDUCED = (
    ("ᵻ", "ɪ"),
    ("ᵊ", "ə"),
    ("ʌ", "ə"),
    ("ɐ", "ə"),
    ("ɜ", "ə"),
    ("T", "t"),
    ("O", "o"),
    ("j", "j"),
)


@dataclass(frozen=True, slots=True)
class Case:
    """A text and the readings that are right."""

    category: str
    text: str
    accepted: tuple[str, ...]


def cases(path: Path, language: str = "") -> list[Case]:
    """The cases of a file; of one language, where the file's first column names languages."""
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()[1:]]
    if language:
        rows = [row for tag, *row in rows if tag == language]
    return [
        Case(
            category,
            text.replace("\\n", "\n"),
            tuple(itertools.chain(*map(spread, said.split(" | ")))),
        )
        for category, text, said in rows
    ]


def spread(reading: str) -> list[str]:
    """A reading for each choice of the words in its braces."""
    parts = [part.split("|") for part in re.split(r"[{}]", reading)]
    return [" ".join("".join(choice).split()) for choice in itertools.product(*parts)]


@functools.cache
def phonemizer() -> EnglishPhonemizer:
    """The front end under test, with every symbol."""
    return EnglishPhonemizer(
        {symbol: number for number, symbol in enumerate(SYMBOLS)}, stand_in="people"
    )


@functools.cache
def lexicon() -> G2P:
    """hibari by itself, without a normalizer."""
    return G2P()


def bare(phonemes: str) -> str:
    """Phonemes without stress, marks and spaces; "the", "to" and "a" in one form."""
    for form, other in (("ði", "ðə"), ("tʊ ", "tə "), ("tu ", "tə ")):
        phonemes = re.sub(rf"(?<!\w){form}", other, phonemes)
    return re.sub(r"[^\w]", "", phonemes.replace("ˈ", "").replace("ˌ", ""))


@functools.cache
def sound(text: str) -> str:
    """The bare phonemes of a text as it stands."""
    return bare(lexicon()(" ".join(text.split()), normalize_text=False))


@functools.cache
def canonical(text: str) -> list[str]:
    """The words of a reading that count: no case, no marks, no "and" within a number."""
    words = [
        _SAME.get(w, w) for w in re.findall(r"[^\W_]+(?:'[^\W_]+)*", text.lower().replace("’", "'"))
    ]
    out: list[str] = []
    for word in (word.replace("'", "") for word in words):
        if not (word == "and" and out and out[-1] in _SCALES):
            out.append(word)
    return out


def alike(said: str, readings: Sequence[str]) -> bool:
    """Whether a text has the words of one of these, or sounds as one does with single letters
    spelled.

    Words are compared with all of them first: sounds take a hundred times as long."""
    wanted = [canonical(reading) for reading in readings]
    return (
        canonical(said) in wanted
        or canonical(re.sub(r"\b[A-Z]{2,}\b", _letters, said)) in wanted
        or any(sounds_alike(said, reading) for reading in readings)
    )


def sounds_alike(said: str, wanted: str) -> bool:
    """Whether two texts sound the same with single letters spelled."""
    letters = [
        word.upper() if len(word) == 1 and word not in "ai" else word for word in wanted.split()
    ]
    # An "a" may be a letter or an article.
    options = [
        ("a", "A.") if word == "a" and letters.count("a") < 5 else (word,) for word in letters
    ]
    return sound(said) in (sound(" ".join(choice)) for choice in itertools.product(*options))


def _letters(initials: re.Match[str]) -> str:
    """Capitals as their letters, where the voice spells them."""
    apart = " ".join(initials[0])
    return apart if sound(initials[0]) == sound(apart) else initials[0]


def sentences(words: list[Word]) -> list[str]:
    """The texts of the sentences."""
    out = [""]
    for word in words:
        out[-1] = f"{out[-1]} {word.text}".strip()
        if word.ends:
            out.append("")
    return [text for text in out if canonical(text)]


@functools.cache
def right(case: Case) -> bool:
    """Whether a case is read as one of its readings."""
    words = normalize(case.text)
    made = phonemizer().phonemize(words, left=[]) if of_sounds(case) else []
    return accepts(case, words, ["".join(SYMBOLS[symbol] for symbol in one.ids) for one in made])


def of_sounds(case: Case) -> bool:
    """Whether a case is about the phonemes of a word."""
    return re.fullmatch(r"[^/]+/[^/]+/", case.accepted[0]) is not None


def accepts(case: Case, words: list[Word], phonemes: Sequence[str]) -> bool:
    """Whether these words, or the phonemes of each, are one of a case's readings."""
    if of_sounds(case):
        wanted = {_reduced(reading.split("/")[1]) for reading in case.accepted}
        return any(_reduced(one) in wanted for one in _spoken(case, words, phonemes))
    said = sentences(words)
    if case.category != "sentence ends":
        return alike(" ".join(said), case.accepted)
    return any(
        len(said) == len(wanted)
        and all(alike(one, [other]) for one, other in zip(said, wanted, strict=True))
        for wanted in (reading.split(" / ") for reading in case.accepted)
    )


def right_alone(case: Case) -> bool:
    """Whether hibari reads it so with no normalizer at all; only for cases of words."""
    return "/" not in case.accepted[0] and alike(case.text, case.accepted)


def _spoken(case: Case, words: list[Word], phonemes: Sequence[str]) -> Sequence[str]:
    """The phonemes of the word that a case is about."""
    target = case.accepted[0].split("/")[0].lower()
    pairs = zip(words, phonemes, strict=True)
    return [
        one for word, one in pairs if re.sub(r"[^\w' -]", "", word.text).lower() == target
    ] or phonemes


def _reduced(phonemes: str) -> str:
    """Bare phonemes with reduced vowels made one."""
    text = bare(phonemes)
    for a, b in _REDUCED:
        text = text.replace(a, b)
    return re.sub("ɔ(?!ɹ)", "ɑ", text)
