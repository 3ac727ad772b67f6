"""Characters as phonemes, for voices that read plain text."""

from __future__ import annotations

from sayahead.text.saying.code_points import LettersPhonemizer
from sayahead.types import Word

TABLE = {symbol: number for number, symbol in enumerate(" ,.abcdeñ\u0308uU", start=3)}


def read(*words: str, left: tuple[str, ...] = ()) -> list[str]:
    symbols = {number: symbol for symbol, number in TABLE.items()}
    made = LettersPhonemizer(TABLE).phonemize([Word(word, 0, 0) for word in words], left=left)
    return ["".join(symbols[int(number)] for number in word.ids) for word in made]


def test_words_begin_with_a_space_but_the_first_of_a_sentence() -> None:
    assert read("abc", "de,", "a.") == ["abc", " de,", " a."]
    assert read("abc", left=("a",)) == [" abc"]


def test_characters_are_decomposed_and_of_any_case() -> None:
    assert read("Aü") == ["au\u0308"]
    assert read("UB") == ["Ub"]


def test_what_a_voice_has_no_id_for_is_left_out() -> None:
    assert read("a9b", "9", "c") == ["ab", "", " c"]
    assert read("9", "c") == ["", "c"]


def test_the_sounding_part_ends_before_the_marks() -> None:
    (word,) = LettersPhonemizer(TABLE).phonemize([Word("ab.,", 0, 0)], left=("a",))
    assert (word.first, word.end, len(word.ids)) == (1, 3, 5)
    assert LettersPhonemizer(TABLE).phonemes(Word("ab.", 0, 0)) == 3
