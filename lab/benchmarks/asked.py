"""What an agent asks for, measured: emphasis, questions, lists, digits, spelled names, backchannels
and a sentence that goes on.

    python lab/benchmarks/asked.py [--voices heart] [--results FILE]

Durations and pitch are the voice's own (``sayahead_lab.eval.measures.prosody``), of the text word
by word with one word of lookahead. Each row compares what was asked for with the same words said
plainly. Pitch is in semitones; that of the family's speakers is recorded before emphasis and styles
change it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from output import tell
from sayahead import Voice, load_voice
from sayahead.types import Floats

from sayahead_lab.eval.measures.prosody import VOICED_HZ, AcousticRecorder, Recording, recorded

EMPHASIS = (
    ("I really want to go home now.", 1),
    ("She never told me about the letter.", 1),
    ("We need four chairs for the guests.", 2),
    ("The green door leads to the garden.", 1),
    ("You should read this page before lunch.", 3),
    ("They painted the whole room on Monday.", 3),
)
"""Sentences, and which of their words is stressed."""
STATEMENTS = (
    "You are coming home tomorrow",
    "The meeting is at nine",
    "She left the keys on the table",
    "They have never been to London",
    "It takes an hour to get there",
    "You would like a cup of tea",
)
LISTS = (
    "We have apples, pears, oranges, and plums.",
    "She speaks English, Spanish, French, and Polish.",
    "Bring a hammer, a ladder, a bucket, and a rope.",
    "I called Anna, Peter, Laura, and Michael.",
)
DIGITS = (
    ("4071", "four zero seven one"),
    ("58316", "five eight three one six"),
    ("902", "nine zero two"),
)
SPELLED = ("Meyer", "Kowalski", "Nguyen")
BACKCHANNELS = ("Mm-hm.", "Uh-huh.", "Mhm.", "Hmm.", "Right.", "I see.")
GOES_ON = (
    ("I will look that up ", "and tell you what I find."),
    ("Let me check the calendar ", "for the first week of May."),
    ("The weather in Paris today ", "is sunny and rather warm."),
    ("One moment while I ask ", "whether the table is free."),
)
LAST_S = 0.12
"""Of a word, what is its end."""


class Measured:
    """A voice, and what it records of a text."""

    def __init__(self, voice: Voice) -> None:
        self._voice: Voice
        self._recorder: AcousticRecorder[Any]
        self._voice, self._recorder = recorded(voice)

    def say(
        self, text: str, *, breaks: tuple[str, bool] | None = None, **options: Any
    ) -> Recording:
        """Speak a text word by word. ``breaks``: text after a flush, and whether that ends the
        sentence."""
        session = self._voice.session(**options)
        parts = [text] if breaks is None else [text, breaks[0]]
        for number, part in enumerate(parts):
            for word in part.split(" "):
                session.push(f"{word} ")
            if number < len(parts) - 1 and breaks is not None:
                session.flush(end=breaks[1])
        session.finish()
        while session.pull() is not None:
            pass
        return self._recorder.recording


def semitones(hertz: Floats) -> Floats:
    """The voiced frames' pitch."""
    return np.asarray(12 * np.log2(hertz[hertz > VOICED_HZ] / 100), np.float32)


def middle(found: Recording, word: int) -> float:
    """A word's median pitch."""
    first, end = found.words[word]
    return float(np.median(semitones(found.pitch[first:end])))


def ending(found: Recording, word: int) -> float:
    """The pitch at a word's end, above the median of all that was said."""
    first, end = found.words[word]
    voiced = semitones(found.pitch[first:end])[-round(LAST_S / found.frame_s) :]
    return float(np.median(voiced) - np.median(semitones(found.pitch)))


def length(found: Recording, word: int) -> float:
    """Seconds of a word."""
    first, end = found.words[word]
    return (end - first) * found.frame_s


def starred(text: str, word: int) -> str:
    words = text.split(" ")
    words[word] = f"*{words[word]}*"
    return " ".join(words)


def emphasis(voice: Measured) -> Sequence[tuple[str, float, float, str]]:
    rows = []
    for text, word in EMPHASIS:
        plain = voice.say(text)
        strong = voice.say(starred(text, word))
        rows.append(
            (length(plain, word), length(strong, word), middle(plain, word), middle(strong, word))
        )
    before_s, after_s, low, high = np.mean(rows, axis=0)
    return [
        ("`*word*`: length of the word, s", before_s, after_s, ".2f"),
        ("`*word*`: pitch of the word", 0.0, high - low, "+.1f"),
    ]


def questions(voice: Measured) -> Sequence[tuple[str, float, float, str]]:
    ways: dict[str, dict[str, Any]] = {
        "one word of lookahead": {},
        "no lookahead": {"policy": "lookahead:k=0"},
        "the whole sentence": {"policy": "wait-all"},
    }
    rows = []
    for name, options in ways.items():
        ends = [
            [ending(voice.say(text + mark, **options), -1) for mark in ".?"] for text in STATEMENTS
        ]
        said, asked = np.mean(ends, axis=0)
        rows.append((f"`?` for `.`, {name}: pitch at the end", said, asked, "+.1f"))
    return rows


def lists(voice: Measured) -> Sequence[tuple[str, float, float, str]]:
    rows = []
    for text in LISTS:
        found = voice.say(text)
        items = [n for n, word in enumerate(text.split(" ")) if word.endswith(",")]
        gaps = [found.words[n + 1][0] - found.words[n][1] for n in items]
        last = ending(found, -1)
        rows.append(
            (
                last,
                float(np.mean([ending(found, n) for n in items])),
                float(np.mean(gaps)) * found.frame_s,
            )
        )
    last, item, gap_s = np.mean(rows, axis=0)
    return [
        ("a list: pitch at the end of an item, beside the last one's", last, item, "+.1f"),
        ("a list: silence after an item, s", 0.0, gap_s, ".2f"),
    ]


def each_s(found: Recording, count: int) -> float:
    """Seconds from one to the next of the last words."""
    onsets = [first for first, _ in found.words[-count:]]
    return float(np.diff(onsets).mean()) * found.frame_s


def digits(voice: Measured) -> Sequence[tuple[str, float, float, str]]:
    rows = []
    for figures, words in DIGITS:
        tagged = f'<say-as interpret-as="digits">{figures}</say-as>'
        slow = f'<prosody rate="slow">{tagged}</prosody>'
        rows.append(
            [
                each_s(voice.say(text, markup="ssml"), len(figures))
                for text in (f"It is {words}", f"It is {tagged}", f"It is {slow}")
            ]
        )
    plain, tag, slow_s = np.mean(rows, axis=0)
    return [
        ("`say-as` digits: from one digit to the next, s", plain, tag, ".2f"),
        ('the same within `<prosody rate="slow">`, s', plain, slow_s, ".2f"),
    ]


def spelled(voice: Measured) -> Sequence[tuple[str, float, float, str]]:
    rows = []
    for name in SPELLED:
        tagged = f'<say-as interpret-as="characters">{name}</say-as>'
        letters = " ".join(name.upper())
        rows.append(
            [
                each_s(voice.say(text, markup="ssml"), len(name))
                for text in (f"That is {letters}", f"That is {tagged}")
            ]
        )
    plain, tag = np.mean(rows, axis=0)
    return [("`say-as` characters: from one letter to the next, s", plain, tag, ".2f")]


def backchannels(voice: Measured) -> Sequence[tuple[str, float, float, str]]:
    found = [voice.say(text) for text in BACKCHANNELS]
    lengths = [(each.words[-1][1] - each.words[0][0]) * each.frame_s for each in found]
    return [
        (f"{text} length, s", 0.0, length_s, ".2f")
        for text, length_s in zip(BACKCHANNELS, lengths, strict=True)
    ]


def goes_on(voice: Measured) -> Sequence[tuple[str, float, float, str]]:
    ends = []
    for before, after in GOES_ON:
        last = len(before.split()) - 1
        ends.append([ending(voice.say(before, breaks=(after, end)), last) for end in (True, False)])
    closed, kept = np.mean(ends, axis=0)
    return [("`flush(end=False)` for `flush()`: pitch before the break", closed, kept, "+.1f")]


PARTS: Sequence[Callable[[Measured], Sequence[tuple[str, float, float, str]]]] = (
    emphasis,
    questions,
    lists,
    digits,
    spelled,
    backchannels,
    goes_on,
)


def main() -> int:
    """Measure; the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--voices", nargs="+", default=["heart"], metavar="NAME")
    parser.add_argument("--results", type=Path, help="write the table here (Markdown)")
    arguments = parser.parse_args()
    voices = [Measured(load_voice(name)) for name in arguments.voices]
    lines = [
        f"| what | {' | '.join(f'{name}, plain | asked for' for name in arguments.voices)} |",
        "|---|" + "---:|---:|" * len(voices),
    ]
    for part in PARTS:
        for same in zip(*(part(voice) for voice in voices), strict=True):
            cells = [f"{value:{form}}" for _, *values, form in same for value in values]
            lines.append(f"| {same[0][0]} | {' | '.join(cells)} |")
    tell(lines, arguments.results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
