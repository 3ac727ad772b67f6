"""Word timings as JSON, SubRip (.srt) or WebVTT (.vtt)."""

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
"""The number of a list item, which belongs to the item's first line."""
UNSPACED = re.compile("[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]")
"""Chinese and Japanese characters and punctuation, which have no spaces between words."""
INITIALS = re.compile(r"(?:\w\.){2,}")
"""Abbreviations with full stops inside: a.m., U.S."""


def timings_json(
    words: Sequence[WordTiming], *, sample_rate: int, each_word: bool = False, spoken: bool = False
) -> str:
    """Return everything known about each word as JSON: spoken and written form, position in the
    text, times in samples and seconds."""
    rows = [asdict(word) | seconds(word, sample_rate) for word in words]
    for row in rows:
        for name in ("onset", "offset"):
            # The names in the file are fixed, since other programs read them.
            row[name] = row.pop(f"{name}_samples")
        if not row["speaker"]:
            del row["speaker"]
    return (
        json.dumps({"sample_rate": sample_rate, "words": rows}, ensure_ascii=False, indent=1) + "\n"
    )


def seconds(word: WordTiming, sample_rate: int) -> dict[str, float]:
    """Return the times of a word in seconds."""
    return {
        "onset_s": round(word.onset_samples / sample_rate, 4),
        "offset_s": round(word.offset_samples / sample_rate, 4),
    }


def timings_srt(
    words: Sequence[WordTiming], *, sample_rate: int, each_word: bool = False, spoken: bool = False
) -> str:
    """Return numbered subtitles, each of one line or one word."""
    blocks = []
    for number, line in enumerate(cues(shown(words, spoken=spoken), each_word), start=1):
        start = clock(line[0].onset_samples / sample_rate, ",")
        end = clock(line[-1].offset_samples / sample_rate, ",")
        speaker = f"{line[0].speaker}: " if line[0].speaker else ""
        blocks.append(f"{number}\n{start} --> {end}\n{speaker}{text_of(line)}\n")
    return "\n".join(blocks)


def timings_vtt(
    words: Sequence[WordTiming], *, sample_rate: int, each_word: bool = False, spoken: bool = False
) -> str:
    """Return subtitles of one line, with a time stamp before every word for players to follow, or
    of one word."""
    blocks = ["WEBVTT\n"]
    for line in cues(shown(words, spoken=spoken), each_word):
        start = clock(line[0].onset_samples / sample_rate, ".")
        end = clock(line[-1].offset_samples / sample_rate, ".")
        text = escape(line[0].text)
        for before, word in pairwise(line):
            stamp = clock(word.onset_samples / sample_rate, ".")
            text += f"{between(before, word)}<{stamp}>{escape(word.text)}"
        speaker = f"<v {escape(line[0].speaker)}>" if line[0].speaker else ""
        blocks.append(f"{start} --> {end}\n{speaker}{text}\n")
    return "\n".join(blocks)


@dataclass(frozen=True, slots=True)
class Caption:
    """A word as it is shown."""

    text: str
    onset_samples: int
    offset_samples: int
    ends: bool
    """Whether it ends a sentence."""
    speaker: str = ""
    """The speaker, if there are several."""


def shown(words: Sequence[WordTiming], *, spoken: bool) -> list[Caption]:
    """Return the words as captions, as they are written or as they are spoken.

    A written form that is spoken as several words ("$1,234.56") is one caption. A lone punctuation
    mark joins the word before it.
    """
    captions: list[Caption] = []
    for word in words:
        text = word.text if spoken else word.written
        has_end_mark = word.text[-1:] in SENTENCE_ENDS and not INITIALS.fullmatch(word.written)
        ends = (word.ends or has_end_mark) and not ITEM.fullmatch(word.written)
        is_continuation = not text and word.start == word.end
        if captions and (is_continuation or not re.search(r"\w", word.text)):
            last = captions[-1]
            captions[-1] = replace(
                last,
                text=f"{last.text} {text}".rstrip(),
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
    """Group captions into subtitles."""
    return ([word] for word in words) if each_word else lines(words)


def lines(words: Sequence[Caption]) -> Iterator[list[Caption]]:
    """Group captions into lines: a new one after each sentence, for another speaker, and when a
    line is full."""
    line: list[Caption] = []
    for word in words:
        must_break = bool(line) and (line[-1].ends or line[-1].speaker != word.speaker)
        if line and (must_break or len(text_of([*line, word])) > LINE):
            yield line
            line = []
        line.append(word)
    if line:
        yield line


def text_of(line: Sequence[Caption]) -> str:
    """Return the text of a line."""
    gaps = [between(before, word) for before, word in pairwise(line)]
    return "".join(gap + word.text for gap, word in zip(["", *gaps], line, strict=True))


def between(before: Caption, word: Caption) -> str:
    """Return the separator between two captions; empty in scripts without spaces."""
    return "" if UNSPACED.search(f"{before.text[-1:]}{word.text[:1]}") else " "


def clock(seconds: float, point: str) -> str:
    """Format a time like ``00:01:02,345``; ``point`` is the decimal separator."""
    ms = round(seconds * 1000)
    return f"{ms // 3_600_000:02}:{ms // 60_000 % 60:02}:{ms // 1000 % 60:02}{point}{ms % 1000:03}"


def escape(text: str) -> str:
    """Escape a text for WebVTT."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


FORMS: dict[str, Callable[..., str]] = {
    ".json": timings_json,
    ".srt": timings_srt,
    ".vtt": timings_vtt,
}
"""Functions that format timings, by file suffix."""


def form_of(path: Path) -> Callable[..., str]:
    """Return the function that formats timings, by the file's suffix. ConfigError for an unknown
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
    """Write word timings in the format of the file's suffix.

    ``each_word``: one subtitle per word; ``spoken``: "nine thirty" instead of the text's "9:30".
    """
    try:
        text = form_of(path)(words, sample_rate=sample_rate, each_word=each_word, spoken=spoken)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        fail(str(path), error)
