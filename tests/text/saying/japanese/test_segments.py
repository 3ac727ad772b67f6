"""Phrases of Japanese: where they end, as soon as the next one begins."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.effort import examples
from support.other_readings import cases_of

from sayahead.errors import ConfigError
from sayahead.text import front_end
from sayahead.text.reading.language import language_of
from sayahead.text.reading.stream import TokenReader
from sayahead.text.saying.japanese import openjtalk, segments
from sayahead.text.saying.japanese.openjtalk import morphemes
from sayahead.types import Word

LETTERS = sorted(set("".join(case.text for case in cases_of("ja"))))
TEXTS = st.text(st.sampled_from(LETTERS), max_size=25)
needs_openjtalk = pytest.mark.skipif(not openjtalk.is_installed(), reason="needs [ja]")


@pytest.fixture
def by_form(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if OpenJTalk were not installed."""
    monkeypatch.setattr(segments, "is_installed", lambda: False)


def read(*fragments: str) -> list[Word]:
    reader = TokenReader(language_of("ja"))
    words = [word for fragment in fragments for word in reader.push(fragment)]
    return words + reader.flush()


def shown(text: str) -> str:
    return " ".join(word.text for word in read(text))


@needs_openjtalk
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("東京タワーへ行き、お茶を飲みました。", "東京タワーへ 行き、 お茶を 飲みました。"),
        ("りんごを2個と水を3本買う", "りんごを 二個と 水を 三本 買う"),
        ("CEOがAIの話をした。", "CEOが AIの 話をした。"),
        ("「こんにちは」と言った。", "こんにちは と 言った。"),
        ("全長1,250kmの道", "全長 千二百五十 キロメートルの 道"),
    ],
)
def test_words_are_accent_phrases(text: str, words: str) -> None:
    assert shown(text) == words


@pytest.mark.usefixtures("by_form")
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("今日は天気がいい。", "今日は 天気がいい。"),
        ("東京タワーへ。お茶を", "東京 タワーへ。 お茶を"),
        ("りんごを2個と水を3本", "りんごを 二個と 水を 三本"),
    ],
)
def test_without_openjtalk_words_end_where_scripts_tell(text: str, words: str) -> None:
    assert shown(text) == words


@pytest.mark.usefixtures("by_form")
def test_words_stream_where_there_are_no_spaces() -> None:
    normalizer = front_end("ja").normalizer()
    assert [len(normalizer.push(char)) for char in "今日は天気が東"] == [0, 0, 0, 1, 0, 0, 1]


@needs_openjtalk
def test_a_phrase_goes_out_when_the_next_one_begins() -> None:
    normalizer = front_end("ja").normalizer()
    waits = [[word.text for word in normalizer.push(char)] for char in "東京へ行きました"]
    assert waits == [[], [], [], ["東京へ"], [], [], [], []], waits


@pytest.mark.usefixtures("by_form")
@settings(max_examples=examples(100))
@given(TEXTS)
def test_any_split_gives_the_same_words(text: str) -> None:
    assert read(*text) == read(text)


@needs_openjtalk
@settings(max_examples=examples(50), deadline=None)
@given(TEXTS)
def test_any_split_gives_the_same_phrases(text: str) -> None:
    assert read(*text) == read(text)


@needs_openjtalk
@settings(max_examples=examples(50), deadline=None)
@given(TEXTS, st.data())
def test_a_phrase_that_is_out_is_never_changed_by_later_text(
    text: str, data: st.DataObject
) -> None:
    cut = data.draw(st.integers(0, len(text)))
    early = TokenReader(language_of("ja")).push(text[:cut])
    assert read(text)[: len(early)] == early


def test_without_openjtalk_a_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openjtalk, "MODULE", "no_such_module")
    openjtalk._openjtalk.cache_clear()
    morphemes.cache_clear()
    with pytest.raises(ConfigError, match=r"pip install 'sayahead\[ja\]'"):
        front_end("ja").phonemizer({})
    openjtalk._openjtalk.cache_clear()
    morphemes.cache_clear()
