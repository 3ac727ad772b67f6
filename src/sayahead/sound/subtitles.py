"""Word timings in formats that editors and players read: JSON, SubRip (.srt), WebVTT (.vtt)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from sayahead.errors import ConfigError
from sayahead.sound.files import fail
from sayahead.types import WordTiming

LINE = 42
"""Longest line of a subtitle in characters, unless one word is longer."""


def timings_json(words: Sequence[WordTiming], *, sample_rate: int, each_word: bool = False) -> str:
    """Everything known about each word: spoken text, place in the source text (characters), samples and seconds."""
    rows = [asdict(word) | seconds(word, sample_rate) for word in words]
    return json.dumps({"sample_rate": sample_rate, "words": rows}, ensure_ascii=False, indent=1) + "\n"


def seconds(word: WordTiming, sample_rate: int) -> dict[str, float]:
    """Where a word begins and ends in the sound, in seconds."""
    return {f"{key}_s": round(getattr(word, key) / sample_rate, 4) for key in ("onset", "offset")}


def timings_srt(words: Sequence[WordTiming], *, sample_rate: int, each_word: bool = False) -> str:
    """Numbered subtitles of one line each, or of one word each."""
    blocks = []
    for number, line in enumerate(cues(words, each_word), start=1):
        start, end = clock(line[0].onset / sample_rate, ","), clock(line[-1].offset / sample_rate, ",")
        blocks.append(f"{number}\n{start} --> {end}\n{' '.join(word.text for word in line)}\n")
    return "\n".join(blocks)


def timings_vtt(words: Sequence[WordTiming], *, sample_rate: int, each_word: bool = False) -> str:
    """Subtitles of one line each, with a time stamp before every word, so that players can follow; or of one word."""
    blocks = ["WEBVTT\n"]
    for line in cues(words, each_word):
        start, end = clock(line[0].onset / sample_rate, "."), clock(line[-1].offset / sample_rate, ".")
        text = [escape(line[0].text)]
        text += [f"<{clock(word.onset / sample_rate, '.')}>{escape(word.text)}" for word in line[1:]]
        blocks.append(f"{start} --> {end}\n{' '.join(text)}\n")
    return "\n".join(blocks)


def cues(words: Sequence[WordTiming], each_word: bool) -> Iterator[list[WordTiming]]:
    """The words of each subtitle."""
    return ([word] for word in words) if each_word else lines(words)


def lines(words: Sequence[WordTiming]) -> Iterator[list[WordTiming]]:
    """The words in lines: a new one after each sentence, and when the line is full."""
    line: list[WordTiming] = []
    for word in words:
        if line and (line[-1].text[-1:] in ".!?" or len(" ".join(w.text for w in (*line, word))) > LINE):
            yield line
            line = []
        line.append(word)
    if line:
        yield line


def clock(seconds: float, point: str) -> str:
    """``00:01:02,345``."""
    ms = round(seconds * 1000)
    return f"{ms // 3_600_000:02}:{ms // 60_000 % 60:02}:{ms // 1000 % 60:02}{point}{ms % 1000:03}"


def escape(text: str) -> str:
    """The text, escaped for WebVTT."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


FORMS: dict[str, Callable[..., str]] = {".json": timings_json, ".srt": timings_srt, ".vtt": timings_vtt}
"""How timings are written, by the extension of the file's name."""


def form_of(path: Path) -> Callable[..., str]:
    """What writes the word times in the format that the extension names; ConfigError for an unknown one."""
    if path.suffix.lower() not in FORMS:
        raise ConfigError(f"{path}: unsupported extension {path.suffix!r}; use {', '.join(FORMS)}.")
    return FORMS[path.suffix.lower()]


def write_timings(path: Path, words: Sequence[WordTiming], *, sample_rate: int, each_word: bool = False) -> None:
    """Write the word times in the format that the extension names; ``each_word``: a subtitle for each."""
    try:
        path.write_text(form_of(path)(words, sample_rate=sample_rate, each_word=each_word), encoding="utf-8")
    except OSError as error:
        fail(str(path), error)
