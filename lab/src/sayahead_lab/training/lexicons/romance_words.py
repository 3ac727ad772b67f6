"""What espeak-ng makes of words, apart and in running text; and the list of those that a tree or
rules miss."""

from __future__ import annotations

import collections
import json
import random
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sayahead.text.saying.espeak.client import ESPEAK
from sayahead.text.saying.espeak.phonemizer import BETWEEN, FLAG
from sayahead.text.saying.romance import LEARNED
from sayahead.text.saying.romance.portuguese import weighed
from sayahead.text.saying.romance.reading import RomanceSounds, initials
from sayahead.text.saying.romance.rules import END, PRIMARY, TIE, VOWELS

from sayahead_lab.training.lexicons.debian_prose import dictionary, english, sentences
from sayahead_lab.training.lexicons.romance_tree import grown, lines_of

LEAST = 2
RARE = 4
"""How often a word is met that a list keeps; where a tree was learned, once is enough for words of
so many letters."""
OFTEN = 3
SHARE = 0.6
"""How often a word has other sounds after another word, and for what share of these, for both to be
in a list."""
WORD = re.compile("[A-Za-zÀ-ÖØ-öø-ɏ]+(?:['-][A-Za-zÀ-ÖØ-öø-ɏ]+)*'?")
"""What may be in a list."""
MAX_TAUGHT = 120_000
MAX_MET = 20_000
SEED = 32
"""Words that teach a tree, a sample of all that it may be taught, and how many of those met most
often are in it."""
TOGETHER = 60
CARRIER = "ta"
"""Words that are asked for at once, and what is said between them."""
UNTAUGHT = {"it": "ˌ əɒæʌɜθðɹ", "fr": "ˌ ɹɪʊʌɒɜðθæhɐ", "pt-br": " ɒʌɜθðɹhː"}
"""In the sounds of words that teach a tree nothing: letters that are named, words of English."""

ENGLISH_LENGTH = re.compile("[iuɑɔɜ]ː")
"""The same: long vowels of English."""


@dataclass(frozen=True, slots=True)
class SpokenClause:
    """A clause as espeak-ng says it."""

    words: list[str]
    sounds: list[str]


def spoken(folder: Path, language: str, sources: Sequence[str]) -> dict[str, str]:
    """Words of these sources, of a dictionary and of English with their sounds, as if nothing were
    beside them; kept in the folder.
    """
    kept = folder / f"{language}-apart-{'-'.join(sources)}.json"
    if not kept.is_file():
        found = collections.Counter[str]()
        for text in (text for source in sources for text in sentences(folder, language, source)):
            found.update(word if initials(word) else word.lower() for word in WORD.findall(text))
        met_often = [word for word, count in found.most_common() if count >= LEAST]
        words = list(dict.fromkeys([*met_often, *dictionary(folder, language), *english(folder)]))
        said = dict[str, str]()
        for start in range(0, len(words), TOGETHER):
            said.update(apart(language, words[start : start + TOGETHER]))
        kept.write_text(json.dumps(said, ensure_ascii=False), encoding="utf-8")
    return dict(json.loads(kept.read_text("utf-8")))


def apart(language: str, words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Words with their sounds, each before a consonant; those that are said as several are asked
    for alone."""
    asked = f"{BETWEEN}{CARRIER}{BETWEEN}".join([*words, ""])
    said = unicodedata.normalize(
        "NFD", FLAG.sub("", " ".join(ESPEAK.clauses(language, asked)))
    ).split()
    if len(said) == 2 * len(words):
        yield from (
            (word, neutral(language, one, word)) for word, one in zip(words, said[::2], strict=True)
        )
    elif len(words) == 1:
        yield words[0], neutral(language, " ".join(said[:-1]), words[0])
    else:
        half = len(words) // 2
        yield from apart(language, words[:half])
        yield from apart(language, words[half:])


def neutral_spanish(said: str, word: str) -> str:
    """A word of running text as it is where nothing beside it has an influence."""
    bare = said.lstrip("ˈˌ")
    if bare[:2] == "dʒ" and word[:1] == "y":
        said = said.replace("dʒ", "ʝ", 1)
    elif bare[:1] in ("b", "d", "ɡ") and bare[:2] not in ("dw", "dʒ"):
        said = said.replace(bare[0], {"b": "β", "d": "ð", "ɡ": "ɣ"}[bare[0]], 1)
    for letters, heard, alone in (
        ("n", "mŋ", "n"),
        ("d", "ð", "d"),
        ("bv", "β", "b"),
        ("g", "ɣ", "ɡ"),
    ):
        if word[-1:] in letters and said[-1:] and said[-1] in heard:
            said = said[:-1] + alone
    return said


def neutral_portuguese(said: str, word: str) -> str:
    """The same of Portuguese."""
    for letters, heard, alone in (
        ("sz", "z", "s"),
        ("e", "j", "y"),
        ("o", "w", "ʊ"),
        ("r", "ɾɹ", "r"),
    ):
        if word[-1:] in letters and said[-1:] and said[-1] in heard:
            return said[:-1] + alone
    return said


NEUTRAL = {"es": neutral_spanish, "pt-br": neutral_portuguese}
"""What words are by themselves, in languages whose words adapt to their neighbours."""


def neutral(language: str, said: str, word: str) -> str:
    """A word of running text as it is by itself."""
    return NEUTRAL[language](said, word.lower()) if language in NEUTRAL else said


@dataclass(slots=True)
class WordSounds:
    """How often a word has which sounds."""

    plain: collections.Counter[str] = field(default_factory=collections.Counter)
    """Where no vowel follows, as it is by itself."""
    tied: collections.Counter[str] = field(default_factory=collections.Counter)
    """Before a vowel, as it is there."""
    last: collections.Counter[str] = field(default_factory=collections.Counter)
    """At the end of a clause."""

    def sounds(self) -> tuple[str, int]:
        """What it mostly sounds like by itself, and how often that was heard; "" for never."""
        return next(iter(self.plain.most_common(1)), ("", 0))


@dataclass(frozen=True, slots=True)
class WordInClause:
    """A word in a clause: its name in a list, the word before it, the sounds after it and its
    own."""

    name: str
    before: str
    after: str
    said: str


def met(texts: Iterable[list[SpokenClause]]) -> Iterator[WordInClause]:
    """Words of texts in small letters; capitals that are read as letters keep these."""
    for clause in (clause for sentence in texts for clause in sentence):
        before = ""
        for place, (word, said) in enumerate(zip(clause.words, clause.sounds, strict=True)):
            after = clause.sounds[place + 1] if place + 1 < len(clause.words) else ""
            name = word if initials(word) else word.lower()
            if WORD.fullmatch(word) and said:
                yield WordInClause(name, before, after, said)
            before = name.lower()


def heard(language: str, texts: Iterable[list[SpokenClause]]) -> dict[str, WordSounds]:
    """Sounds of words."""
    found = collections.defaultdict[str, WordSounds](WordSounds)
    for one in met(texts):
        counts = found[one.name]
        if not one.after:
            counts.last[one.said] += 1
        if one.after.lstrip("ˈˌ")[:1] in VOWELS and one.after and language in LEARNED:
            counts.tied[one.said] += 1
        elif one.after or len(one.name) > 7:
            # A word that may lean on others is stressed at the end of a clause.
            counts.plain[neutral(language, one.said, one.name)] += 1
    return found


def tree_of(language: str, words: Mapping[str, str]) -> list[str]:
    """The file of a tree that reads these words."""
    made = LEARNED[language]
    taught = dict[str, str]()
    vowels = set(made.vowels)
    for word, said in words.items():
        plain = said.replace("ˌ", "") if language == "pt-br" else said
        foreign = set(plain) & set(UNTAUGHT[language]) or ENGLISH_LENGTH.search(plain)
        regular = (
            plain.count(PRIMARY) == 1
            and not foreign
            and (language != "pt-br" or weighed(plain) == said)
        )
        if regular and len(word) > 1 and word.islower() and vowels & set(word):
            taught[word] = plain
    first = list(taught)[:MAX_MET]
    others = list(taught)[MAX_MET:]
    some = [*first, *random.Random(SEED).sample(others, min(MAX_TAUGHT - len(first), len(others)))]
    return lines_of(grown({word: taught[word] for word in some}, made.accents))


def listed(
    language: str,
    texts: Sequence[list[SpokenClause]],
    told: Mapping[str, str],
    rules: RomanceSounds,
) -> dict[str, str]:
    """Words that the rules alone miss, with their sounds, in order; ``told``: words' sounds apart
    from texts."""
    words = heard(language, texts)
    found = dict[str, str]()
    plain = {name: one.sounds() for name, one in words.items()}
    alone = {name: (said, RARE) for name, said in told.items() if name.isalpha()}
    for name, (said, often) in {**alone, **plain}.items():
        if often < LEAST and name in told:
            said = told[name]
            often = RARE
        rare = often < LEAST and (language not in LEARNED or len(name) < RARE)
        if WORD.fullmatch(name) and said and not rare and said != rules.word(name):
            found[name] = said
    if language in LEARNED:
        found = varied(language, texts, found, rules)
        found |= after_others(language, texts, rules.with_words(found))
    return dict(sorted(found.items()))


def held_beside(
    texts: Iterable[list[SpokenClause]], sounds: RomanceSounds
) -> Iterator[tuple[WordInClause, str]]:
    """Words of clauses of plain words, each with what is made of it."""
    for clause in (clause for sentence in texts for clause in sentence):
        if all(map(WORD.fullmatch, clause.words)) and all(clause.sounds):
            yield from zip(met([[clause]]), sounds.clause(clause.words, closed=True), strict=True)


def varied(
    language: str,
    texts: Sequence[list[SpokenClause]],
    found: Mapping[str, str],
    rules: RomanceSounds,
) -> dict[str, str]:
    """A list of words with what these are before a vowel and at the end of a clause, where rules do
    not tell."""
    out = dict(found)
    sounds = rules.with_words(found)
    words = heard(language, texts)
    missed = {"tied": collections.Counter[str](), "last": collections.Counter[str]()}
    for one, made in held_beside(texts, sounds):
        if one.said != made and (not one.after or one.after.lstrip("ˈˌ")[:1] in VOWELS):
            missed["tied" if one.after else "last"][one.name] += 1
    for kind, counts in missed.items():
        for name, count in counts.items():
            heard_so: collections.Counter[str] = getattr(words[name], kind)
            said, often = heard_so.most_common(1)[0]
            plain = out.get(name) or sounds.word(name)
            if often >= LEAST and 2 * count > sum(heard_so.values()) and END not in plain:
                if kind == "last":
                    out[name] = plain + END + said
                elif TIE not in plain:
                    out[name] = plain + TIE + (said if said != plain else "")
    return out


def after_others(
    language: str, texts: Sequence[list[SpokenClause]], sounds: RomanceSounds
) -> dict[str, str]:
    """Pairs of words of which the second one has other sounds than it has otherwise, with these."""
    seen = collections.defaultdict[str, collections.Counter[tuple[str, bool]]](collections.Counter)
    for one, made in held_beside(texts, sounds):
        if one.after and one.after.lstrip("ˈˌ")[:1] not in VOWELS:
            said = neutral(language, one.said, one.name)
            seen[f"{one.before} {one.name.lower()}"][said, one.said == made] += 1
    out = dict[str, str]()
    for pair, counts in seen.items():
        (said, right), often = counts.most_common(1)[0]
        if not right and often >= OFTEN and often > SHARE * sum(counts.values()):
            out[pair] = said
    return out
