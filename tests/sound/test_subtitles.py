"""Subtitles of languages that have no spaces between their words."""

from __future__ import annotations

from sayahead.sound.subtitles import timings_srt, timings_vtt
from sayahead.types import WordTiming

WORDS = [
    WordTiming("我", 0, 1, 0, 2400, "我"),
    WordTiming("有", 1, 2, 2400, 4800, "有"),
    WordTiming("两", 2, 3, 4800, 7200, "2"),
    WordTiming("个", 3, 4, 7200, 9600, "个"),
    WordTiming("AI。", 4, 7, 9600, 12000, "AI。", ends=True),
    WordTiming("Hello", 7, 12, 12000, 14400, "Hello"),
    WordTiming("there.", 13, 19, 14400, 16800, "there.", ends=True),
]


def test_chinese_words_have_no_spaces_between_them() -> None:
    lines = timings_srt(WORDS, sample_rate=24000).splitlines()
    assert [lines[2], lines[6]] == ["我有2个AI。", "Hello there."]
    spoken = timings_srt(WORDS, sample_rate=24000, spoken=True).splitlines()
    assert spoken[2] == "我有两个AI。"


def test_stamps_stand_between_them() -> None:
    assert "我<00:00:00.100>有<00:00:00.200>2<" in timings_vtt(WORDS, sample_rate=24000)
    assert "Hello <00:00:00.600>there." in timings_vtt(WORDS, sample_rate=24000)
