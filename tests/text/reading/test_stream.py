"""What no rule can break: splits, breaths, spans, hostile texts, in every language that rules
read."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.effort import examples
from support.other_readings import LANGUAGES, cases_of

from sayahead.text.reading.automaton import AutomatonStates
from sayahead.text.reading.language import language_of
from sayahead.text.reading.stream import MAX_TOKEN, TokenReader
from sayahead.types import Word

ODD = (
    "0123456789.,:;-–—/()[]{}'\"„“%€$£°ºª²½①٣xXhIVeErR"
    " &@+<>=*_#~`|\\\n\r\u00a0«»¿!?…äéñпривет你\u2029\u200b"
)
TEXTS = st.text(st.sampled_from(ODD), max_size=40) | st.text(max_size=20)
HOSTILE = [
    *"a1.(*<[$\\`-'\"|>&\n\u0661\u00b2\u00e9\u4f60",
    *("1.", "a'", "a-", "a.", "z. ", "\n#", "```\n", "- ", "1 ", "<a ", "](", "5 €", "(a "),
]


def read(language: str, *fragments: str) -> list[Word]:
    reader = TokenReader(language_of(language))
    words = [word for fragment in fragments for word in reader.push(fragment)]
    return words + reader.flush()


def golden(language: str) -> st.SearchStrategy[str]:
    return st.sampled_from([case.text for case in cases_of(language)])


def pieces(text: str, cuts: list[int]) -> list[str]:
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    return [text[start:end] for start, end in itertools.pairwise(places)]


CUTS = st.lists(st.integers(0, 80), max_size=6)


@pytest.mark.parametrize("language", LANGUAGES)
def test_any_split_gives_the_same_words(language: str) -> None:
    @settings(max_examples=examples(150))
    @given(golden(language) | TEXTS, CUTS)
    def check(text: str, cuts: list[int]) -> None:
        whole = read(language, text)
        assert read(language, *text) == whole
        assert read(language, *pieces(text, cuts)) == whole

    check()


@pytest.mark.parametrize("language", LANGUAGES)
def test_all_that_can_be_heard_belongs_to_a_word_or_is_told(language: str) -> None:
    """Words keep their order in the source, and each letter and figure is in one of them or was
    skipped."""

    @settings(max_examples=examples(150))
    @given(st.text(st.sampled_from(ODD.translate({ord(c): None for c in "<[]`|\\&#@*-"}))))
    def check(text: str) -> None:
        reader = TokenReader(language_of(language))
        words = reader.push(text) + reader.flush()
        assert all(0 <= word.start <= word.end <= len(text) for word in words)
        assert all(one.end <= other.start for one, other in itertools.pairwise(words))
        spans = [(word.start, word.end) for word in words] + [
            skipped[:2] for skipped in reader.skipped
        ]
        for place, char in enumerate(text):
            if char.isalnum():
                assert any(start <= place < end for start, end in spans), (text, place)

    check()


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_breath_leaves_nothing_waiting_and_ends_no_sentence(language: str) -> None:
    @settings(max_examples=examples(100))
    @given(golden(language), CUTS)
    def check(text: str, cuts: list[int]) -> None:
        reader = TokenReader(language_of(language))
        words: list[Word] = []
        for piece in pieces(text, cuts):
            words += reader.push(piece)
            words += reader.breathe()
            assert reader.breathe() == []
        words += reader.flush()
        assert reader.flush() == []
        assert all(one.end <= other.start for one, other in itertools.pairwise(words))

    check()


def test_a_sentence_goes_on_after_a_breath_and_not_after_a_flush() -> None:
    reader = TokenReader(language_of("de"))
    assert [(word.text, word.ends) for word in reader.push("Ich weiß") + reader.breathe()] == [
        ("Ich", False),
        ("weiß", False),
    ]
    assert [(word.text, word.ends) for word in reader.push(" nicht. ")] == [("nicht.", True)]
    assert [(word.text, word.ends) for word in reader.push("Ja ") + reader.flush()] == [
        ("Ja", False)
    ]
    assert [(word.text, word.ends) for word in reader.push("so") + reader.flush()] == [("so", True)]


@pytest.mark.parametrize("over", [False, True])
def test_what_was_spoken_is_not_handed_out_again(over: bool) -> None:
    reader = TokenReader(language_of("de"))
    reader.push("Das ist gut. Und das ")
    reader.push("auch")
    assert [word.text for word in reader.forget_spoken(begun=False, over=over)] == ["auch"]
    words = reader.push(", oder. ") + reader.flush()
    assert [word.text for word in words] == ["oder."] if over else [",", "oder."]


def test_what_was_begun_comes_with_later_text() -> None:
    reader = TokenReader(language_of("de"))
    reader.push("Ein Wort")
    assert reader.forget_spoken(begun=True, over=False) == []
    assert [word.text for word in reader.push(" mehr ")] == ["Wort", "mehr"]


@pytest.mark.parametrize("unit", HOSTILE)
def test_work_grows_with_the_text_and_no_faster(unit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Characters that the automaton looks at, for a text and for one four times as long."""
    steps = 0
    step = AutomatonStates.step

    def counted(self: AutomatonStates, state: int, char: str) -> int:
        nonlocal steps
        steps += 1
        return step(self, state, char)

    monkeypatch.setattr(AutomatonStates, "step", counted)
    counts = []
    for size in (4000, 16000):
        steps = 0
        words = read("de", unit * (size // len(unit)))
        counts.append(steps)
        assert all(one.end <= other.start for one, other in itertools.pairwise(words))
    assert counts[1] <= 8 * counts[0] + 8000


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("That works.", 2),
        ("Let me check that for you.", 6),
        ("Really?", 1),
        ("Steps:", 1),
        ("I ", 1),
    ],
)
def test_nothing_waits_behind_a_rule_that_is_final_at_once(text: str, words: int) -> None:
    reader = TokenReader(language_of("en"))
    assert len(reader.push(text)) == words


@pytest.mark.parametrize("text", ["Try you.com", "npm.", "https:", "Yahoo!", "Well."])
def test_a_mark_that_may_go_on_waits(text: str) -> None:
    words = TokenReader(language_of("en")).push(text)
    assert not any(word.ends or word.text[-1] in ":!" for word in words)


@pytest.mark.parametrize(
    ("language", "text"), [("sv", "Ja visst."), ("de", "Ja, Obg."), ("it", "Ecco fatto.")]
)
def test_a_full_stop_at_the_end_of_a_line_waits_for_nothing(language: str, text: str) -> None:
    reader = TokenReader(language_of(language))
    assert [word.ends for word in reader.push(f"{text}\n")] == [False, True]
    assert reader.flush() == []


@pytest.mark.parametrize(
    ("language", "text"), [("sv", "kl.\n"), ("de", "Dr.\n"), ("de", "z.\n"), ("es", "pág.\n")]
)
def test_what_can_only_be_short_waits_beyond_the_line(language: str, text: str) -> None:
    assert TokenReader(language_of(language)).push(text) == []


def test_words_may_be_parted_by_a_line_break() -> None:
    texts = [
        " ".join(word.text for word in read("de", f"Das z.{gap}B. am 3.{gap}Mai um 5{gap}km."))
        for gap in " \n"
    ]
    assert texts == ["Das zum Beispiel am dritten Mai um fünf Kilometer."] * 2


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("unit", ["x", "9", "ab1", "a.b-", "1/", "é_"])
def test_text_without_white_space_is_handed_out_piece_by_piece(language: str, unit: str) -> None:
    reader = TokenReader(language_of(language))
    assert reader.push(unit * 200)
    whole = read(language, unit * 200)
    assert read(language, *(unit * 200)) == whole


def test_a_long_run_of_letters_is_cut() -> None:
    assert [word.end - word.start for word in read("sv", "x" * 150)] == [60, 60, 30]
    assert [word.end - word.start for word in read("sv", "x" * 61)] == [60, 1]
    assert [word.end - word.start for word in read("sv", "x" * 60)] == [60]


@pytest.mark.parametrize("first", ["", "e", "1"])
def test_marks_that_belong_to_nothing_are_not_kept(first: str) -> None:
    """However many come, what the reader holds is no more than one fragment and one token."""
    reader = TokenReader(language_of("nl"))
    reader.push(first)
    for _ in range(10):
        words = reader.push("\u0301" * 1000)
        assert sum(len(word.text) for word in words) <= 2000
        assert len(reader._text) <= 1000 + 2 * MAX_TOKEN
        assert reader._pending is None or len(reader._pending.text) <= 2 * MAX_TOKEN


@pytest.mark.parametrize(
    ("text", "last"), [("ES90 8524 7882 0552 ", "seven eight eight two"), ("about 40 l", "forty")]
)
def test_a_number_waits_for_no_more_than_may_change_it(text: str, last: str) -> None:
    """Groups of an account do not wait for each other, nor a number for a scale behind it."""
    words = TokenReader(language_of("en")).push(text)
    assert last in [word.text for word in words]


@pytest.mark.parametrize(
    ("language", "rising", "falling"),
    [
        (
            "en",
            ("Is it true?", "You are leaving already?", "Yes?", "Well, do you know what it is?"),
            ("What is it?", "And what now?", "Who's there?", "Hello there, how are you?", "No."),
        ),
        ("es", ("¿Vienes a casa?", "¿Sabe usted qué hora es?"), ("¿Y qué?", "¿De dónde eres?")),
        (
            "fr",
            ("Est-ce que tu viens ?", "Tu viens?"),
            ("Qu'est-ce que c'est ?", "À quelle heure?"),
        ),
        ("it", ("Vieni a casa?",), ("Cos'è?", "Dov'è?", "E quando?")),
        ("pt", ("Você vem?",), ("O que é isso?", "Onde está?")),
        ("pl", (), ("Czy to prawda?",)),
    ],
)
def test_questions_without_a_question_word_rise(
    language: str, rising: tuple[str, ...], falling: tuple[str, ...]
) -> None:
    for text in rising + falling:
        words = read(language, *text)
        rises = [word.delivery.rise > 0 for word in words]
        assert rises == [False] * (len(words) - 1) + [text in rising], text
        assert words == read(language, text)


@pytest.mark.parametrize("language", ["en", "de", "es", "hi"])
@pytest.mark.parametrize(
    "text", ["\u0c02D", "\u0d40x", "1\u0940a", "x\u0c48 \u0c48", "Use a <di\n> twice"]
)
def test_a_mark_beside_a_letter_is_read_alike_however_it_comes(language: str, text: str) -> None:
    """Marks of Indian scripts were letters to the rules, and none to the reader."""
    whole, split = (TokenReader(language_of(language)) for _ in range(2))
    words = [*whole.push(text), *whole.flush()]
    assert [word for char in text for word in split.push(char)] + split.flush() == words
    assert split.skipped == whole.skipped
