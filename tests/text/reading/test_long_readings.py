"""Long readings, and what is said of runs of one sign."""

from __future__ import annotations

import itertools

import pytest
from support import readings

from sayahead.text.parts import parted
from sayahead.text.reading.long_readings import AT_ONCE, portions
from sayahead.text.reading.stream import normalize
from sayahead.types import Word

HOSTILE = {
    "signs": "≤≥" * 30,
    "roots": "√2" * 30,
    "digits": "9" * 60,
    "letters": "W" * 60,
    "path": "/a/b/c" * 10,
    "version": "1.1." * 14 + "1.1",
    "address": "https://example.com/a/b/c/d/e/f/g/h/i/j/k?x=1&y=2&z=3&long=abc",
    "hash": "d41d8cd98f00b204e9800998ecf8427e",
    "abbreviations": "A.B." * 15,
    "hyphens": "a-b-" * 15,
    "genitives": "s's" * 20,
    "amounts": "£9" * 30,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_token_is_handed_out_in_words_that_are_short_to_say(text: str) -> None:
    """It was one word, and one step of up to 69 seconds of sound."""
    words = normalize(f"Look at {text} now.")[2:-1]
    assert len(words) > 3
    assert max(len(word.text.split()) for word in words) <= AT_ONCE
    assert max(len(word.text) for word in words) <= 48
    assert [word.ends for word in words] == [False] * len(words)
    # They share the token's span, in order.
    assert (words[0].start, words[-1].end) == (8, 8 + len(text))
    assert all(a.start <= b.start <= a.end <= b.end for a, b in itertools.pairwise(words))
    # Of more portions than characters some have none: two with the same one would say it twice.
    assert all(one.end == other.start for one, other in itertools.pairwise(words))


@pytest.mark.parametrize(
    ("sign", "reading"), [("≤", "less than or equal to"), ("%", "percent"), ("½", "one half")]
)
def test_a_run_of_one_sign_is_said_once(sign: str, reading: str) -> None:
    """Sixty of them were its name sixty times, in one breath."""
    assert [word.text for word in normalize(f"Look {sign * 60} here.")] == [
        "Look",
        reading,
        "here.",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "word",
        "supercalifragilisticexpialidocious",
        "state-of-the-art",
        "March third, twenty twenty-four.",
        "twelve dollars and fifty cents",
        "five hundred thousand two hundred",
        "(N.A.S.A.)",
        "INTERNATIONALIZATION",
    ],
)
def test_ordinary_readings_stay_whole(text: str) -> None:
    assert portions(text) == (text,)


def test_nothing_is_lost_between_portions() -> None:
    for text in HOSTILE.values():
        assert "".join("".join(portions(text)).split()) == "".join(text.split())


@pytest.mark.parametrize(
    "carrier", ["{}", "It left—{}—at noon", "seventy-five cents—{}–", "({}— said"]
)
def test_no_word_of_the_lexicon_is_divided(carrier: str) -> None:
    """Whatever mark touches it, and however many vowels or consonants follow each other in it."""
    lexicon = readings.lexicon().lexicon
    words = [
        word
        for table in (lexicon.golds.d, lexicon.silvers.d)
        for word in table
        if len(word) > 9 and word.isalpha()
    ]
    assert len(words) > 40_000
    divided = [
        word
        for word in words
        if not any(word in portion for portion in portions(carrier.format(word)))
    ]
    assert divided == []


@pytest.mark.parametrize("dash", "—–")
def test_words_about_a_dash_are_said_as_words(dash: str) -> None:
    words = [
        word.text
        for word in normalize(f"It left{dash}unexpectedly{dash}at noon for $19.75{dash}a steal.")
    ]
    said = " ".join(words).replace("—", " ").split()
    assert (
        said
        == "It left unexpectedly at noon for nineteen dollars and seventy-five cents a steal.".split()  # noqa: E501
    )


@pytest.mark.parametrize("size", range(6))
def test_more_portions_than_characters_stay_in_order(size: int) -> None:
    word = Word("zero signwriting hand fist thumb between index middle ring finger", 3, 3 + size)
    parts = parted(word, portions(word.text))
    assert len(parts) > 2
    places = [place for part in parts for place in (part.start, part.end)]
    assert places == sorted(places)
    assert (places[0], places[-1]) == (word.start, word.end)
    assert all(one.end == other.start for one, other in itertools.pairwise(parts))
