"""``sayahead read``: how a voice reads a text, word by word, without sound."""

from __future__ import annotations

import argparse
import contextlib
import functools
import importlib.metadata
import json
import urllib.parse
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sayahead.cli import number
from sayahead.cli.console import Console
from sayahead.cli.say import LEXICON_HELP, SSML_HELP, open_source
from sayahead.errors import ConfigError, SayaheadError

if TYPE_CHECKING:
    from sayahead.text import FrontEnd, Normalizer
    from sayahead.text.why import Watch, Why
    from sayahead.types import Word
    from sayahead.voices import VoiceConfig

ISSUES = "https://github.com/sayahead/sayahead/issues/new"
EPILOG = """examples:
  sayahead read 'Dr. Lee paid $5.50 on 3/15.'
  sayahead read -f story.txt --voice mohan-lj
  sayahead read --language de 'Am 3. März um 14:30 Uhr kostet es 12,50 €.'
  llm 'Tell me a story.' | sayahead read --json
  sayahead read --why 'It weighs 5 kg.'
  sayahead read --report 'Take 1/2 tab. q8h.'      an issue about a wrong reading, to be filled in and filed

Columns: where the word starts and ends in the text, and its characters; the word as spoken; its phonemes (or letters),
given the lookahead that the voice waits for; "|" at the end of a sentence; how many more characters, white space
included, had to arrive before nothing could change the word ("end": only the end of the text settled it).
"""  # noqa: E501


@dataclass(frozen=True, slots=True)
class Reading:
    """One word as a voice reads it."""

    word: Word
    source: str
    """The part of the text that it stands for."""
    sound: str
    """Its phonemes, or its letters if the voice reads letters."""
    late: int | None
    """Characters that arrived after its own before it was final; None if only the end of the text
    made it final."""
    why: Why | None = None
    """What produced the reading, if that was asked for and the word is not read as written."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("text", nargs="*", metavar="TEXT", help="what to read; without it, standard input")
    add(
        "-f",
        "--file",
        metavar="FILE",
        help="read a text file (UTF-8, or UTF-16 with its mark; - is standard input)",
    )
    add("--voice", metavar="NAME", help="a voice's name or folder (default: heart)")
    add(
        "--language",
        metavar="TAG",
        help="instead of a voice: a language (de, pt-BR), with phonemes of its own",
    )
    add(
        "-k",
        "--lookahead",
        type=number(int, 0),
        metavar="N",
        help="words of lookahead (default: the voice's)",
    )
    add("--lexicon", metavar="FILE", help=LEXICON_HELP)
    add("--ssml", action="store_true", help=SSML_HELP)
    add("--json", action="store_true", help="one line of JSON per word")
    add(
        "--why",
        action="store_true",
        help="below each word the rule that read it, and the lines of the tables it used",
    )
    add(
        "--report",
        action="store_true",
        help="an issue about a wrong reading, with its address, instead of the table",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the words; return the exit code."""
    from sayahead.text.why import Watch
    from sayahead.voices import located, read_config

    check(arguments)
    name = arguments.voice or "heart"
    config = read_config(located(name))
    console = Console(quiet=False)
    front = front_of(arguments.language, config)
    source, is_typed = open_source(arguments, console)
    if is_typed:
        console.note("Type; Ctrl-D ends.")
    text = "".join(fragment for fragment in source.fragments() if fragment)
    language = arguments.language or config.language
    watch = Watch(language) if arguments.why or arguments.report else None
    rows = list(
        readings(
            text,
            normalizer_of(arguments, config, front),
            sounds_of(arguments, config, front, console.warn),
            warn=console.warn,
            watch=watch,
        )
    )
    if not rows:
        reason = "the text has no words that can be spoken" if text.strip() else "the text is empty"
        console.warn(f"Nothing to read: {reason}.")
    elif arguments.report:
        print(report(text, rows, arguments.language or f"{config.language}, voice {name}"))
    else:
        as_text = as_json if arguments.json else as_line
        print(*map(as_text, rows), sep="\n")
    return 0


def check(arguments: argparse.Namespace) -> None:
    """Raise ConfigError for options that cannot be combined."""
    if arguments.text and arguments.file is not None:
        raise ConfigError("Give TEXT or --file, not both.")
    if arguments.voice is not None and arguments.language is not None:
        raise ConfigError(
            "--language reads without a voice, with the language's phonemes: leave out --voice or"
            " --language."
        )


def front_of(language: str | None, config: VoiceConfig) -> FrontEnd:
    """Return the front end of a voice, or of a language without one."""
    from sayahead.text import front_end

    if language is not None:
        return language_front_end(language)
    espeak = str(config.model.get("espeak", ""))
    return front_end(config.reads or config.language, espeak=espeak)


def normalizer_of(
    arguments: argparse.Namespace, config: VoiceConfig, front: FrontEnd
) -> Normalizer:
    """Return the normalizer, with the lexicon and markup from the options."""
    from sayahead.text.saying.lexicon import Lexicon
    from sayahead.text.saying.pronouncing import Pronunciations, pronouncing
    from sayahead.text.saying.transcription import IPA
    from sayahead.text.ssml.reader import Markup, Resources
    from sayahead.text.ssml.say_as import say_as_of

    pronunciations = Pronunciations(
        Lexicon.of(arguments.lexicon) if arguments.lexicon else None,
        normalizer=front.normalizer,
        symbols=config.phonemes if arguments.language is None else IPA,
        language=config.reads or config.language,
    )
    words = functools.partial(pronouncing, front.normalizer, pronunciations)
    if not arguments.ssml:
        return words(0)
    say_as = say_as_of(arguments.language or config.language)
    return Markup(Resources(words, pronunciations, say_as, (config.speed[0], config.speed[-1])))(0)


def sounds_of(
    arguments: argparse.Namespace, config: VoiceConfig, front: FrontEnd, warn: Callable[[str], None]
) -> Callable[[list[Word]], Iterator[str]]:
    """Return a function from a sentence's words to their phonemes, or letters."""
    k = config.defaults.lookahead if arguments.lookahead is None else arguments.lookahead
    if arguments.language is None:
        return sounds(config, front, k)
    return language_sounds(arguments.language, front, k, warn)


def readings(
    text: str,
    normalizer: Normalizer,
    sounds: Callable[[list[Word]], Iterator[str]],
    *,
    warn: Callable[[str], None],
    watch: Watch | None = None,
) -> Iterator[Reading]:
    """Yield the readings of a text that arrives character by character."""
    rows = list(silent_readings(text, normalizer, watch))
    for start, end, skipped in normalizer.skipped:
        warn(f"Skipped {skipped!r} (characters {start} to {end}): this voice cannot read it.")
    begin = 0
    for end, last in enumerate(rows, start=1):
        if last.word.ends or end == len(rows):
            words = [each.word for each in rows[begin:end]]
            sounding = sounds(words)
            for at, row in enumerate(rows[begin:end]):
                with watch.watching() if watch else contextlib.nullcontext():
                    sound = next(sounding)
                why = row.why or (watch.choice(words, at) if watch else None)
                yield replace(row, sound=sound, why=why)
            begin = end


def silent_readings(text: str, normalizer: Normalizer, watch: Watch | None) -> Iterator[Reading]:
    """Yield the words as they become final, without sounds."""
    for count, character in enumerate([*text, ""], start=1):
        with watch.watching() if watch else contextlib.nullcontext():
            words = normalizer.push(character) if character else normalizer.flush()
        for word in words:
            source = text[word.start : word.end]
            late = count - word.end if character else None
            yield Reading(word, source, "", late, watch.why(word, source) if watch else None)
        if watch and words:
            watch.forget()


def sounds(config: VoiceConfig, front: FrontEnd, k: int) -> Callable[[list[Word]], Iterator[str]]:
    """Return a function from a sentence's words to their phonemes, each with ``k`` words of
    lookahead; for some voices, to letters."""
    if not config.phonemes:
        speller = front.speller()
        return lambda words: (
            speller.spelled(word.text) + (speller.final_mark(word.text) if word.ends else "")
            for word in words
        )
    from sayahead.text import pronounced

    symbols = {number: symbol for symbol, number in config.phonemes.items()}
    phonemizer = front.phonemizer(
        config.phonemes, stand_in=config.stand_in, inner_punctuation=config.inner_punctuation
    )

    def phonemes(words: list[Word]) -> Iterator[str]:
        for i, word in enumerate(words):
            if word.pause_s:
                yield ""
                continue
            left = [word.text for word in words[:i]]
            pronunciation = pronounced(phonemizer, words[i : i + 1 + k], left=left)[0]
            yield "".join(symbols[int(symbol)] for symbol in pronunciation.ids).strip()

    return phonemes


def language_front_end(language: str) -> FrontEnd:
    """Return the front end of a language without a voice, which reads by clauses; for English, that
    of espeak-ng."""
    from sayahead.text import front_end
    from sayahead.text.saying.english.front_end import English
    from sayahead.text.saying.espeak.front_end import EspeakFrontEnd

    front = front_end(language)
    return EspeakFrontEnd(language) if isinstance(front, English) else front


def language_sounds(
    language: str, front: FrontEnd, k: int, warn: Callable[[str], None]
) -> Callable[[list[Word]], Iterator[str]]:
    """Return a function from a sentence's words to IPA, for a language without a voice.

    ``k``: lookahead in words. If the language's phonemizer is not installed, ``warn`` is called,
    and the function returns only the phonemes that words bring along.
    """
    from sayahead.text.saying.clauses import LEFT_WORDS, ClausePhonemizer
    from sayahead.text.saying.espeak.client import INSTALL

    try:
        phonemizer = front.phonemizer({})
    except SayaheadError as error:
        reason = str(error) if INSTALL not in str(error) else f"espeak-ng makes them: {INSTALL}"
        warn(f"No phonemes of {language} are shown: {reason.rstrip('.')}.")
        return lambda words: (word.phonemes or "" for word in words)
    assert isinstance(phonemizer, ClausePhonemizer)

    def phonemes(words: list[Word]) -> Iterator[str]:
        for i, word in enumerate(words):
            # The left context is limited as in a session.
            first = max(0, i - LEFT_WORDS)
            seen = [word.text for word in words[first : i + 1 + k]]
            sound, mark = phonemizer.read(seen, first=i - first, ends=i + 1 + k >= len(words))[0]
            yield "" if word.pause_s else (word.phonemes or sound) + mark

    return phonemes


def as_line(reading: Reading) -> str:
    """Return a row of the table."""
    word = reading.word
    late = "end" if reading.late is None else f"+{reading.late}"
    end = "|" if word.ends else " "
    spoken = f"(silence, {word.pause_s:g} s)" if word.pause_s else word.text
    spoken += f" (speed {word.speed:g})" if word.speed != 1.0 else ""
    line = (
        f"{word.start:>5} {word.end:>5}  {reading.source!r:24} {spoken:32} {reading.sound:32} {end}"
        f" {late:>4}"
    )
    return "\n".join([line, *(f"{'':13}{reason}" for reason in reasons(reading))])


def reasons(reading: Reading) -> list[str]:
    """Return the lines that explain a reading."""
    why = reading.why
    return [f"{why.kind}: {why.rule} ({why.where})", *why.lines] if why else []


def report(text: str, readings: list[Reading], language: str) -> str:
    """Return an issue about a wrong reading, and the URL for filing it."""
    spoken = " ".join(reading.word.text for reading in readings)
    rows = []
    for reading in readings:
        rows += [f"- `{reading.source}`: {reading.word.text}"] if reading.why else []
        rows += [f"  - {line}" for line in reasons(reading)]
    version = importlib.metadata.version("sayahead")
    body = "\n".join(
        [
            f"Text ({language}):\n\n```\n{text.strip()}\n```\n",
            f"is read as\n\n> {spoken}\n",
            "It should be read as\n\n> ...\n",
            f"sayahead {version} read it so by these rules:\n",
            *(rows or ["- every word as it is written"]),
        ]
    )
    query = urllib.parse.urlencode(
        {"title": f"Reading: {' '.join(text.split())[:60]}", "body": body}
    )
    return f"{body}\n\nTo file it: {ISSUES}?{query}"


def as_json(reading: Reading) -> str:
    """Return a line of JSON."""
    word = reading.word
    row = {
        "start": word.start,
        "end": word.end,
        "source": reading.source,
        "words": word.text,
        "sound": reading.sound,
        "ends": word.ends,
        "late": reading.late,
    }
    if reading.why:
        why = reading.why
        row |= {"kind": why.kind, "rule": why.rule, "where": why.where, "lines": why.lines}
    if word.pause_s:
        row["silence_s"] = word.pause_s
    if word.speed != 1.0:
        row["speed"] = word.speed
    return json.dumps(row, ensure_ascii=False)
