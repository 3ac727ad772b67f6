"""Word timings in formats that editors and players read: JSON, SubRip (.srt), WebVTT (.vtt)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path

from sayahead.errors import ConfigError
from sayahead.sound.files import fail
from sayahead.types import WordTiming

LINE = 42
"""Longest line of a subtitle in characters, unless one word is longer."""
SENTENCE_ENDS = (".", "!", "?", "。", "！", "？")
ITEM = re.compile(r"\(?(?:\d{1,3}|[A-Za-z]|[IVXivx]+)[.)]")
"""The number of an item, which is on the item's line."""
UNSPACED = re.compile("[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]")
"""Characters and marks of Chinese and Japanese, which have no spaces between words."""
INITIALS = re.compile(r"(?:\w\.){2,}")
"""What has full stops of its own: a.m., U.S."""


def timings_json(
    words: Sequence[WordTiming], *, sample_rate: int, each_word: bool = False, spoken: bool = False
) -> str:
    """Everything known about each word: as it is spoken and written, its place in the text
    (characters), its times in samples and seconds."""
    rows = [asdict(word) | seconds(word, sample_rate) for word in words]
    for row in rows:
        for name in ("onset", "offset"):
            # The file's own names, which other programs read.
            row[name] = row.pop(f"{name}_samples")
        if not row["speaker"]:
            del row["speaker"]
    return (
        json.dumps({"sample_rate": sample_rate, "words": rows}, ensure_ascii=False, indent=1) + "\n"
    )


def seconds(word: WordTiming, sample_rate: int) -> dict[str, float]:
    """Where a word begins and ends in the sound, in seconds."""
    return {
        "onset_s": round(word.onset_samples / sample_rate, 4),
        "offset_s": round(word.offset_samples / sample_rate, 4),
    }


def timings_srt(
    words: Sequence[WordTiming], *, sample_rate: int, each_word: bool = False, spoken: bool = False
) -> str:
    """Numbered subtitles of one line each, or of one word each."""
    blocks = []
    for number, line in enumerate(cues(shown(words, spoken=spoken), each_word), start=1):
        start = clock(line[0].onset_samples / sample_rate, ",")
        end = clock(line[-1].offset_samples / sample_rate, ",")
        who = f"{line[0].speaker}: " if line[0].speaker else ""
        blocks.append(f"{number}\n{start} --> {end}\n{who}{text_of(line)}\n")
    return "\n".join(blocks)


def timings_vtt(
    words: Sequence[WordTiming], *, sample_rate: int, each_word: bool = False, spoken: bool = False
) -> str:
    """Subtitles of one line each, with a time stamp before every word, so that players can follow;
    or of one word."""
    blocks = ["WEBVTT\n"]
    for line in cues(shown(words, spoken=spoken), each_word):
        start = clock(line[0].onset_samples / sample_rate, ".")
        end = clock(line[-1].offset_samples / sample_rate, ".")
        text = escape(line[0].text)
        for before, word in pairwise(line):
            stamp = clock(word.onset_samples / sample_rate, ".")
            text += f"{between(before, word)}<{stamp}>{escape(word.text)}"
        who = f"<v {escape(line[0].speaker)}>" if line[0].speaker else ""
        blocks.append(f"{start} --> {end}\n{who}{text}\n")
    return "\n".join(blocks)


@dataclass(frozen=True, slots=True)
class Caption:
    """A word as it is shown, and its times in samples."""

    text: str
    onset_samples: int
    offset_samples: int
    ends: bool
    """Whether a sentence ends after it."""
    speaker: str = ""
    """Who says it, where there are several."""


def shown(words: Sequence[WordTiming], *, spoken: bool) -> list[Caption]:
    """The words as they are written, or spoken. What several are spoken for is written once:
    "$1,234.56". A mark that stands alone, such as a dash, goes with the word before it."""
    captions: list[Caption] = []
    for word in words:
        text = word.text if spoken else word.written
        marked = word.text[-1:] in SENTENCE_ENDS and not INITIALS.fullmatch(word.written)
        ends = (word.ends or marked) and not ITEM.fullmatch(word.written)
        continues = not text and word.start == word.end
        if captions and (continues or not re.search(r"\w", word.text)):
            before = captions[-1]
            captions[-1] = replace(
                before,
                text=f"{before.text} {text}".rstrip(),
                offset_samples=word.offset_samples,
                ends=ends,
            )
        else:
            captions.append(
                Caption(
                    text or word.text, word.onset_samples, word.offset_samples, ends, word.speaker
                )
            )
    return captions


def cues(words: Sequence[Caption], each_word: bool) -> Iterator[list[Caption]]:
    """The words of each subtitle."""
    return ([word] for word in words) if each_word else lines(words)


def lines(words: Sequence[Caption]) -> Iterator[list[Caption]]:
    """The words in lines: a new one after each sentence, for another speaker, and when the line is
    full."""
    line: list[Caption] = []
    for word in words:
        over = bool(line) and (line[-1].ends or line[-1].speaker != word.speaker)
        if line and (over or len(text_of([*line, word])) > LINE):
            yield line
            line = []
        line.append(word)
    if line:
        yield line


def text_of(line: Sequence[Caption]) -> str:
    """The words of a line as they stand in it."""
    gaps = [between(before, word) for before, word in pairwise(line)]
    return "".join(gap + word.text for gap, word in zip(["", *gaps], line, strict=True))


def between(before: Caption, word: Caption) -> str:
    """What stands between two words: nothing beside a script that has no spaces."""
    return "" if UNSPACED.search(f"{before.text[-1:]}{word.text[:1]}") else " "


def clock(seconds: float, point: str) -> str:
    """``00:01:02,345``."""
    ms = round(seconds * 1000)
    return f"{ms // 3_600_000:02}:{ms // 60_000 % 60:02}:{ms // 1000 % 60:02}{point}{ms % 1000:03}"


def escape(text: str) -> str:
    """The text, escaped for WebVTT."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


FORMS: dict[str, Callable[..., str]] = {
    ".json": timings_json,
    ".srt": timings_srt,
    ".vtt": timings_vtt,
}
"""How timings are written, by the extension of the file's name."""


def form_of(path: Path) -> Callable[..., str]:
    """What writes the word times in the format that the extension names; ConfigError for an unknown
    one."""
    if path.suffix.lower() not in FORMS:
        raise ConfigError(f"{path}: unsupported extension {path.suffix!r}; use {', '.join(FORMS)}.")
    return FORMS[path.suffix.lower()]


def write_timings(
    path: Path,
    words: Sequence[WordTiming],
    *,
    sample_rate: int,
    each_word: bool = False,
    spoken: bool = False,
) -> None:
    """Write the word times in the format that the extension names.

    ``each_word``: a subtitle for each. ``spoken``: subtitles say "nine thirty" where the text says
    "9:30"."""
    try:
        text = form_of(path)(words, sample_rate=sample_rate, each_word=each_word, spoken=spoken)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        fail(str(path), error)
