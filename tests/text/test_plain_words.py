"""What is a word of the language is read as that word, whatever short forms are written like it."""

from __future__ import annotations

import pytest

from sayahead.text import front_end
from sayahead.text.reading.language import language_of

STARTERS = {
    "de": "Die Frau",
    "en": "The house",
    "es": "La casa",
    "fr": "La maison",
    "it": "La casa",
    "nl": "De vrouw",
    "pt": "A casa",
}
"""How a next sentence begins."""
VERBS = ("was", "would", "shall", "saw", "read", "bought", "never", "erected", "didn't")


def said(tag: str, text: str) -> str:
    """How a text is read."""
    normalizer = front_end(tag).normalizer()
    return " ".join(word.text for word in (*normalizer.push(text), *normalizer.flush()))


@pytest.mark.parametrize("tag", STARTERS)
def test_a_word_like_a_short_form_ends_a_sentence(tag: str) -> None:
    """ "Il arrive à la fin." was "finances", "in der Schweiz." was "schweizerisch"."""
    words = language_of(tag).vocabularies["whole_words"]
    assert words
    texts = [f"xa {word}. {STARTERS[tag]}" for word in words]
    assert [said(tag, text) for text in texts] == texts


@pytest.mark.parametrize(
    ("tag", "text"),
    [
        ("nl", "De stoel is comfortabel. De vrouw"),
        ("nl", "Hij wordt vervolgt. De vrouw"),
        ("nl", "Een nieuw meubel. De vrouw"),
        ("de", "Sie ist begabt. Die Frau"),
        ("de", "Das war unangenehm. Die Frau"),
        ("en", "They bid for the house"),
        ("en", "I'll take that bet. The house"),
        ("en", "They left the pub. The house"),
    ],
)
def test_no_word_is_cut_into_a_short_form(tag: str, text: str) -> None:
    """ "Comfortabel." was a "comfortabelasting", a bid "B I D"."""
    assert said(tag, text) == text


def test_i_is_a_person_after_a_word_that_has_numbers() -> None:
    """ "The book I read" was "the book one read"."""
    cues = language_of("en").record.cues
    words = [word for word, kind in cues.items() if kind in ("label", "roman") and word.isalpha()]
    assert len(words) > 100
    texts = [f"the {word} I {verb} it" for word in words for verb in VERBS]
    wrong = [text for text in texts if said("en", text).split()[-3] != "I"]
    assert wrong == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("World War I ended in May.", "World War one ended in May."),
        ("Chapter I describes it.", "Chapter one describes it."),
        ("a phase I trial", "a phase one trial"),
        ("type I and type II", "type one and type two"),
        ("among the number, as I shall show", "among the number, as I shall show"),
        ("Take 5 mg bid.", "Take five milligrams B I D."),
    ],
)
def test_a_number_after_a_part_stays_one(text: str, words: str) -> None:
    assert said("en", text) == words
