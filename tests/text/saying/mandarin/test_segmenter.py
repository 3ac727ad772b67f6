"""Words of Mandarin: the likeliest ones, each as soon as nothing can change it."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.effort import examples
from support.other_readings import cases_of

from sayahead.text.reading.language import language_of
from sayahead.text.reading.stream import TokenReader
from sayahead.text.saying.mandarin.dictionary import MOST, dictionary
from sayahead.text.saying.mandarin.segmenter import LONGEST, Segmenter
from sayahead.types import Word

TEXT = "中国人民银行宣布下调存款准备金率，他昨天晚上没睡好。CEO在PPT里介绍了2个AI项目。"
HAN = st.text(
    st.sampled_from(sorted(set("".join(case.text for case in cases_of("zh"))) | set(TEXT))),
    max_size=30,
)


def read(*fragments: str) -> list[Word]:
    reader = TokenReader(language_of("zh"))
    words = [word for fragment in fragments for word in reader.push(fragment)]
    return words + reader.flush()


def likeliest(text: str) -> list[str]:
    """The same words from the whole text."""
    costs = dictionary().costs
    best: list[tuple[int, list[str]]] = [(0, [])]
    for end in range(1, len(text) + 1):
        options = [(best[end - 1][0] + MOST, end - 1)]
        starts = range(max(0, end - LONGEST), end)
        options += [
            (best[start][0] + costs[text[start:end]], start)
            for start in starts
            if text[start:end] in costs
        ]
        cost, start = min(options)
        best.append((cost, [*best[start][1], text[start:end]]))
    return best[-1][1]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("中国人民银行宣布下调存款准备金率。", "中国人民银行 宣布 下调 存款 准备金率。"),
        ("科学家发现了一种新的材料", "科学家 发现 了 一种 新 的 材料"),
        ("他说：“你好”，（很好）用AI写《红楼梦》。", "他 说： 你好， (很 好) 用 AI 写 红楼梦。"),
        ("请打开WiFi下载APP", "请 打开 WiFi 下载 APP"),
        ("有2个人", "有 两 个 人"),
    ],
)
def test_words_are_those_of_a_dictionary(text: str, words: str) -> None:
    assert " ".join(word.text for word in read(text)) == words


@settings(max_examples=examples(100))
@given(HAN)
def test_words_are_the_likeliest_of_the_whole_run(text: str) -> None:
    text = "".join(char for char in text if "一" <= char <= "鿿")
    text = text.translate(dictionary().simple)
    segmenter = Segmenter(dictionary())
    lengths = [length for char in text for length in segmenter.push(char)]
    lengths += segmenter.finish()
    places = itertools.accumulate(lengths, initial=0)
    words = [text[start:end] for start, end in itertools.pairwise(places)]
    assert words == likeliest(text)


@settings(max_examples=examples(100))
@given(HAN)
def test_any_split_gives_the_same_words(text: str) -> None:
    assert read(*text) == read(text)


@settings(max_examples=examples(100))
@given(HAN, st.data())
def test_a_word_that_is_out_is_never_changed_by_later_text(text: str, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(text)))
    reader = TokenReader(language_of("zh"))
    early = reader.push(text[:cut])
    assert read(text)[: len(early)] == early


def test_a_word_goes_out_with_the_first_character_that_is_none_of_its_own() -> None:
    reader = TokenReader(language_of("zh"))
    waits = [[word.text for word in reader.push(char)] for char in "今天天气不错，我们走"]
    assert waits == [[], [], [], ["今天"], [], ["天气"], ["不错，"], [], [], ["我们"]]


def test_words_have_the_places_of_the_source() -> None:
    for word in read(TEXT):
        bare = word.text.strip("，。")
        assert bare in ("两",) or bare in TEXT[word.start : word.end]


def test_traditional_characters_are_the_same_words() -> None:
    assert [word.text for word in read("我覺得這個軟體很好用")][:2] == ["我", "覺得"]


def test_the_words_of_a_long_run_come_one_by_one() -> None:
    reader = TokenReader(language_of("zh"))
    assert len(reader.push("中华人民共和国" * 100)) == 99
