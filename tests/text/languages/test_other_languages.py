"""Languages without a record of their own: words, sentences and scripts; figures are left to
espeak-ng."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.effort import examples

from sayahead.text import front_end
from sayahead.types import Word

TEXTS = {
    "ru-RU": "Привет, мир! Это стр. 5 и hello. Число 25. Да…  Нет?\n\n- один\n- два",
    "zh-CN": "你好，世界。今天天气很好，我们去公园玩吧！好吗？(是) 2024年",
    "ja": "今日は天気がいいですね。東京タワーへ行き、お茶とコーヒーを2杯飲みました！iPhone",
    "ar": "مرحبا بالعالم، كيف حالك؟ نعم. شكرا",
    "hi-IN": "नमस्ते दुनिया। आप कैसे हैं? ठीक है।",
    "pl-PL": "Dnia 3. maja byłem w domu. Potem wyszedłem (np. do kina).",
    "nl": "De 3 biggetjes en привет zijn er. Dhr. Jansen komt\nmorgen!",
}


def read(language: str, text: str) -> list[Word]:
    normalizer = front_end(language).normalizer()
    return normalizer.push(text) + normalizer.flush()


def shown(language: str, text: str) -> str:
    return " ".join(word.text + ("|" if word.ends else "") for word in read(language, text))


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("ru", "Это стр. 5. Да! Нет", "Это стр 5.| Да!| Нет|"),
        ("cs", "Dne 3. května. Potom", "Dne 3 května.| Potom|"),
        ("pl", "Dnia 3. maja. Potem", "Dnia trzeciego maja.| Potem|"),
        ("zh", "你好，世界。今天好吗？", "你好， 世界。| 今天 好 吗？|"),
        ("hi", "नमस्ते दुनिया। आप कैसे हैं?", "नमस्ते दुनिया।| आप कैसे हैं?|"),
        ("ar", "كيف حالك؟ نعم", "كيف حالك؟| نعم|"),
        ("sv", "Hej 😀 *du* — sa han\n\nNy rad", "Hej du — sa han| Ny rad|"),
        ("nl", "# Titel\n- een\n- twee", "Titel| een| twee|"),
        ("el", "Τι κάνεις; Καλά.", "Τι κάνεις?| Καλά.|"),
        ("nl", "Zie [de docs](https://x.org/a_(b)). Goed", "Zie de docs.| Goed|"),
        (
            "zh",
            "我们的生活方式。不了解3个iPhone手机",
            "我们 的 生活 方式。| 不 了解 三 个 iPhone 手机|",
        ),
        ("th", "สวัสดีครับวันนี้อากาศดี", "สวัสดีครั บวันนี้อา กาศดี|"),
        ("sv", "- [x] ett\nord\ntill\n\n> - citat", "ett| ord till| citat|"),
    ],
)
def test_words_and_sentences(language: str, text: str, expected: str) -> None:
    assert shown(language, text) == expected


def test_words_stream_where_there_are_no_spaces() -> None:
    normalizer = front_end("zh").normalizer()
    waits = [len(normalizer.push(char)) for char in "人工智能正在改变生活"]
    assert waits == [0, 0, 0, 0, 1, 0, 1, 0, 0, 1]
    normalizer = front_end("yue").normalizer()
    waits = [len(normalizer.push(char)) for char in "人工智能正在改變生活"]
    assert waits == [0, 0, 0, 1, 0, 0, 1, 0, 0, 1]


def test_a_full_stop_at_the_end_of_a_line_waits_for_nothing() -> None:
    normalizer = front_end("sv").normalizer()
    assert [word.ends for word in normalizer.push("Ja visst.\n")] == [False, True]
    assert normalizer.push("kl.\n") == []


def test_another_script_is_skipped_and_told() -> None:
    normalizer = front_end("nl").normalizer()
    found = normalizer.push("De привет en 你好 zijn") + normalizer.flush()
    assert [word.text for word in found] == ["De", "en", "zijn"]
    assert normalizer.skipped == [(3, 9, "привет"), (13, 15, "你好")]
    russian = front_end("ru").normalizer()
    assert russian.push("Это hello. ")
    assert not russian.skipped


@pytest.mark.parametrize("language", TEXTS)
def test_any_split_gives_the_same_words(language: str) -> None:
    whole = read(language, TEXTS[language])

    @settings(max_examples=examples(60))
    @given(st.lists(st.integers(0, len(TEXTS[language])), max_size=8))
    def split(cuts: list[int]) -> None:
        normalizer = front_end(language).normalizer()
        places = [0, *sorted(cuts), len(TEXTS[language])]
        found = [
            word
            for start, end in itertools.pairwise(places)
            for word in normalizer.push(TEXTS[language][start:end])
        ]
        assert found + normalizer.flush() == whole

    split()


def test_spans_are_those_of_the_source() -> None:
    for language, text in TEXTS.items():
        words = read(language, text)
        for word in words:
            assert 0 <= word.start <= word.end <= len(text)
        assert all(a.end <= b.start for a, b in itertools.pairwise(words)), language


def test_breathe_keeps_the_sentence_open() -> None:
    normalizer = front_end("sv").normalizer()
    found = normalizer.push("Jag vet")
    found += normalizer.breathe()
    assert [(word.text, word.ends) for word in found] == [("Jag", False), ("vet", False)]
    found = normalizer.push(" inte. ") + normalizer.flush()
    assert [(word.text, word.ends) for word in found] == [("inte.", True)]


def test_a_long_piece_is_cut() -> None:
    words = read("sv", "x" * 150)
    assert [word.end - word.start for word in words] == [60, 60, 30]
