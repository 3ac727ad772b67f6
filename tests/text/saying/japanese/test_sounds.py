"""How Japanese sounds: kana, OpenJTalk's readings, Latin words as they are said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.other_readings import cases_of, words_of

from sayahead import voices
from sayahead.errors import ConfigError
from sayahead.text import front_end
from sayahead.text.saying.japanese import openjtalk
from sayahead.text.saying.japanese.front_end import Japanese
from sayahead.text.saying.japanese.kana import moras, phonemes, table
from sayahead.text.saying.japanese.sounds import kana_of, latin, readings, spoken

HEART = Path(voices.__file__).parent / "heart" / "voice.json"
SYMBOLS: dict[str, int] = json.loads(HEART.read_text(encoding="utf-8"))["phonemes"]
needs_openjtalk = pytest.mark.skipif(not openjtalk.is_installed(), reason="needs [ja]")


@pytest.mark.parametrize(
    ("kana", "sounds"),
    [
        ("シンブン", "ɕimbɯɴ"),
        ("シンカン", "ɕiŋkaɴ"),
        ("コンニチワ", "koɲɲiʨiβa"),
        ("アンナイ", "annai"),
        ("ニッポン", "ɲiʔpoɴ"),
        ("パーティー", "paːtʲiː"),
        ("キャク", "kʲakɯ"),
        ("ファイル", "ɸaiɾɯ"),
    ],
)
def test_kana_are_read_as_voices_learned_them(kana: str, sounds: str) -> None:
    assert phonemes(kana) == sounds


def test_every_kana_has_phonemes_that_voices_know() -> None:
    said = {*table(), *(mora for kana in spoken().values() for mora in moras(kana))}
    assert all(phonemes(kana) for kana in said)
    assert {symbol for kana in said for symbol in phonemes(kana)} <= SYMBOLS.keys()


@pytest.mark.parametrize(
    ("word", "kana"),
    [("AI", "エーアイ"), ("CEO", "シーイーオー"), ("Wi-Fi", "ワイファイ"), ("Python", "パイソン")],
)
def test_latin_words_are_said_as_speakers_say_them(word: str, kana: str) -> None:
    assert latin(word) == kana


@needs_openjtalk
@pytest.mark.parametrize(
    ("text", "kana"),
    [
        ("三本", "サンボン"),
        ("三階の", "サンガイノ"),
        ("二十八歳です", "ニジューハッサイデス"),
        ("四日", "ヨッカ"),
        ("今日は", "キョーワ"),
        ("AIの話", "エーアイノハナシ"),
        ("二十パーセント引き", "ニジュッパーセントビキ"),
    ],
)
def test_readings_are_openjtalk_s(text: str, kana: str) -> None:
    assert kana_of(text) == kana


@needs_openjtalk
def test_a_reading_goes_to_the_word_that_has_it() -> None:
    words = ["ゼロサン", "イチニーサンヨン", "です。"]
    assert [len("".join(parts)) for parts in readings(words)] == [4, 8, 2]


@needs_openjtalk
def test_one_word_of_lookahead_is_nearly_as_good_as_the_sentence() -> None:
    phonemizer = Japanese("ja").phonemizer(SYMBOLS)
    wrong = total = 0
    for case in cases_of("ja"):
        words = words_of("ja", case.text)
        first = next((place for place, word in enumerate(words, 1) if word.ends), len(words))
        whole = phonemizer.phonemize(words[:first], left=[])
        for place in range(first):
            seen = words[place : min(place + 2, first)]
            left = [word.text for word in words[:place]]
            one = phonemizer.phonemize(seen, left=left)[0]
            total += 1
            wrong += one.ids.tolist() != whole[place].ids.tolist()
    assert wrong <= total * 0.01


def test_the_front_end_is_its_own() -> None:
    assert isinstance(front_end("ja-JP"), Japanese)
    with pytest.raises(ConfigError, match="do not know those of the language"):
        front_end("ja").speller()
