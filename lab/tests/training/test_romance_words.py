"""Lists of words: what rules miss, what is otherwise before a vowel, at the end of a clause and
after another word."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from sayahead.text.saying.espeak.client import ESPEAK
from sayahead.text.saying.romance.reading import RomanceSounds
from sayahead.text.saying.romance.rules import TIE, VOWELS, Orthography

from sayahead_lab.training.lexicons import romance_words as maker


class Spelled(Orthography):
    """A language whose words sound as they are written, stressed on their first letter."""

    vowels = "aeiou"

    def word(self, text: str) -> str:
        return "ˈ" + text

    letters = word

    def readable(self, text: str) -> bool:
        return True

    def running(self, sounds: Sequence[str], words: Sequence[str]) -> list[str]:
        out = []
        for i, sound in enumerate(sounds):
            said, listed, tied = sound.partition(TIE)
            after = sounds[i + 1].lstrip("ˈ")[:1] if i + 1 < len(sounds) else ""
            out.append(tied if listed and tied and after and after in VOWELS else said)
        return out


def texts(*clauses: str) -> list[list[Any]]:
    """Clauses of words, each written ``word/sounds``."""
    pairs = [[one.split("/") for one in clause.split()] for clause in clauses]
    return [
        [
            maker.SpokenClause([word for word, _ in clause], [said for _, said in clause])
            for clause in pairs
        ]
    ]


def rules() -> RomanceSounds:
    return RomanceSounds(Spelled(), {})


def test_words_that_rules_miss_are_listed() -> None:
    heard = texts("tata/ˈtata goga/ˈɡoɡa tata/ˈtata goga/ˈɡoɡa tata/ˈtata")
    found = maker.listed("fr", heard, {"kaka": "kˈaka", "tata": "tatˈa", "lala": "ˈlala"}, rules())
    assert found == {"goga": "ˈɡoɡa", "kaka": "kˈaka"}


def test_what_is_otherwise_before_a_vowel_and_at_the_end_is_listed() -> None:
    clause = "les/le- tata/ˈtata les/le-z ami/ˈami les/lˈɛ"
    found = maker.listed("fr", texts(*[clause] * 3), {}, rules())
    assert found["les"] == "le-‿le-z|lˈɛ"
    sounds = rules().with_words(found)
    assert sounds.clause(["les", "tata", "les", "ami", "les"], closed=True) == clause_sounds(clause)


def clause_sounds(clause: str) -> list[str]:
    return [one.split("/")[1] for one in clause.split()]


def test_what_is_otherwise_after_another_word_is_listed() -> None:
    often = ["de/də- son/sˈɔ̃ bas/ˈbas", "par/ˈpar son/sɔ̃ bas/ˈbas", "tu/ˈtu son/sɔ̃ bas/ˈbas"]
    found = maker.listed("fr", texts(*often * 3), {}, rules())
    assert found["son"] == "sɔ̃"
    assert found["de son"] == "sˈɔ̃"
    assert "par son" not in found


def test_one_hearing_tells_nothing_of_neighbours() -> None:
    found = maker.listed(
        "fr", texts("les/ˈles ami/ˈami", "les/ˈles tata/ˈtata", "les/lez ami/ˈami"), {}, rules()
    )
    assert found == {}


def test_words_are_asked_apart_and_by_themselves_where_some_are_several(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = []

    def clauses(voice: str, text: str) -> list[str]:
        asked.append(text)
        return ["  ".join(text.replace("|", " ").replace("bc", "b c").split())]

    monkeypatch.setattr(ESPEAK, "clauses", clauses)
    assert dict(maker.apart("fr", ["a", "bc", "d"])) == {"a": "a", "bc": "b c", "d": "d"}
    assert asked[0] == "a | ta | bc | ta | d | ta | "


@pytest.mark.parametrize(
    ("word", "said", "alone"),
    [
        ("os", "ʊz", "ʊs"),
        ("dez", "dˈɛz", "dˈɛs"),
        ("de", "dʒj", "dʒy"),
        ("como", "kˌomw", "kˌomʊ"),
        ("de", "dʒy", "dʒy"),
    ],
)
def test_portuguese_words_by_themselves(word: str, said: str, alone: str) -> None:
    assert maker.neutral("pt-br", said, word) == alone
    assert maker.neutral("fr", said, word) == said
