"""How Mandarin sounds: readings of words, tones beside others, Latin words as they are said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.other_readings import cases_of, words_of

from sayahead import voices
from sayahead.errors import ConfigError
from sayahead.text import front_end
from sayahead.text.saying.espeak.front_end import EspeakFrontEnd
from sayahead.text.saying.mandarin.dictionary import dictionary
from sayahead.text.saying.mandarin.front_end import Mandarin
from sayahead.text.saying.mandarin.sounds import MandarinSounds, spoken
from sayahead.text.saying.mandarin.syllables import phonemes
from sayahead.types import Word

HEART = Path(voices.__file__).parent / "heart" / "voice.json"
SYMBOLS: dict[str, int] = json.loads(HEART.read_text(encoding="utf-8"))["phonemes"]
NAMES = {number: symbol for symbol, number in SYMBOLS.items()}


def sound(text: str) -> str:
    """The phonemes of a text whose words have spaces between them."""
    return " ".join(MandarinSounds().clause(text.split(), closed=True))


def pinyin(text: str) -> str:
    """The phonemes that syllables with figures stand for."""
    return " ".join("".join(map(phonemes, word.split("-"))) for word in text.split())


@pytest.mark.parametrize(
    ("text", "syllables"),
    [
        (
            "银行 行长 觉得 这样 行 不行",
            "yin2-hang2 hang2-zhang3 jue2-de5 zhe4-yang4 xing2 bu4-xing2",
        ),
        ("孩子 长大 了 头发 很 长", "hai2-zi5 zhang3-da4 le5 tou2-fa4 hen3 chang2"),
        ("重新 调整 音调 重 了", "chong2-xin1 tiao2-zheng3 yin1-diao4 zhong4 le5"),
        ("了解 都 市", "liao2-jie3 dou1 shi4"),
        ("覺得 銀行", "jue2-de5 yin2-hang2"),
    ],
)
def test_characters_of_several_readings_are_read_by_their_word(text: str, syllables: str) -> None:
    assert sound(text) == pinyin(syllables)


@pytest.mark.parametrize(
    ("text", "syllables"),
    [
        ("一个 人", "yi2-ge4 ren2"),
        ("一 天", "yi4 tian1"),
        ("第一 次", "di4-yi1 ci4"),
        ("一月 一号", "yi1-yue4 yi1-hao4"),
        ("十一 个", "shi2-yi1 ge4"),
        ("不 去 不 好", "bu2 qu4 bu4 hao3"),
        ("你好", "ni2-hao3"),
        ("我 想 买 水果", "wo2 xiang2 mai3 shui2-guo3"),
        ("展览馆", "zhan2-lan2-guan3"),
        ("小 老鼠", "xiao3 lao2-shu3"),
        ("好 玩具", "hao3 wan2-ju4"),
    ],
)
def test_tones_change_beside_others(text: str, syllables: str) -> None:
    assert sound(text) == pinyin(syllables)


def test_a_clause_ends_what_tones_lean_on() -> None:
    spoken_words = [Word("很，", 0, 2), Word("好。", 2, 4, ends=True)]
    ids = Mandarin("zh").phonemizer(SYMBOLS).phonemize(spoken_words, left=[])
    assert ["".join(NAMES[number] for number in one.ids.tolist()).strip() for one in ids] == [
        "xə↓n,",
        "xau↓.",
    ]


@pytest.mark.parametrize(
    ("word", "syllables"),
    [
        ("AI", "ei1-ai4"),
        ("CEO", "xi1-yi4-ou1"),
        ("PPT", "pi4-pi4-ti4"),
        ("App", "ei1-pi4-pi4"),
        ("WiFi", "wai1-fai1"),
        ("A", "ei1"),
    ],
)
def test_latin_words_are_said_as_speakers_say_them(word: str, syllables: str) -> None:
    assert sound(word) == pinyin(syllables)


def test_other_latin_words_are_english() -> None:
    assert sound("Instagram") == "ˈɪnstəɡɹˌæm"


def test_every_syllable_has_phonemes_that_voices_know() -> None:
    known = {one for syllables in dictionary().readings.values() for one in syllables}
    known |= {one for syllables in spoken().values() for one in syllables}
    silent = {one for one in known if not phonemes(one)}
    assert not silent
    assert {symbol for one in known for symbol in phonemes(one)} <= SYMBOLS.keys()


def test_one_word_of_lookahead_is_as_good_as_the_sentence() -> None:
    phonemizer = Mandarin("zh").phonemizer(SYMBOLS)
    for case in cases_of("zh"):
        words = words_of("zh", case.text)
        first = next((place for place, word in enumerate(words, 1) if word.ends), len(words))
        whole = phonemizer.phonemize(words[:first], left=[])
        for place in range(first):
            seen = words[place : min(place + 2, first)]
            one = phonemizer.phonemize(seen, left=[word.text for word in words[:place]])[0]
            assert one.ids.tolist() == whole[place].ids.tolist(), case.text


@pytest.mark.parametrize(
    ("tag", "kind"), [("zh", Mandarin), ("zh-TW", Mandarin), ("cmn-Hans-CN", Mandarin)]
)
def test_the_front_end_is_that_of_the_tag(tag: str, kind: type) -> None:
    assert isinstance(front_end(tag), kind)


def test_cantonese_is_another_language() -> None:
    assert isinstance(front_end("zh-HK"), EspeakFrontEnd)


def test_voices_that_read_letters_are_refused_in_a_sentence() -> None:
    with pytest.raises(ConfigError, match="do not know those of the language"):
        front_end("zh").speller()
