"""Where the words of a text are in any engine's sound: by the package's aligner, never by the
engine's own times."""

from __future__ import annotations

import functools

import numpy as np
import soxr
from sayahead.errors import ConfigError
from sayahead.text.reading.stream import normalize
from sayahead.text.saying.english.phonemizer import PAUSES, EnglishPhonemizer
from sayahead.types import Floats, Word, WordTiming

from sayahead_lab.training.aligner.alignment import LEAST, load_aligner
from sayahead_lab.training.aligner.sounds import FRONT_END
from sayahead_lab.training.corpus.teacher import inventory, load_reader, split


def word_times(samples: Floats, rate: int, text: str) -> list[WordTiming] | None:
    """The sounding words of an English text in samples (S,) at a rate; None where they do not sound
    like the text."""
    reader, symbols = tools()
    words = list[tuple[Word, int, int]]()
    spoken = list[str]()
    for sentence in split(normalize(text)):
        for word, said in zip(sentence, reader.phonemize(sentence, left=[]), strict=True):
            own = [symbols[int(number)] for number in said.ids]
            if any(symbol not in PAUSES for symbol in own):
                words.append((word, len(spoken) + said.first, len(spoken) + said.end))
            spoken += own
        spoken.append(" ")
    if not words:
        return None
    sound = (
        samples
        if rate == FRONT_END.sample_rate
        else soxr.resample(samples, rate, FRONT_END.sample_rate)
    )
    try:
        found = load_aligner().align(FRONT_END.log_mel(np.asarray(sound, np.float32)), spoken)
    except ConfigError:
        return None
    if found.score < LEAST:
        return None
    return [
        WordTiming(
            word.text,
            word.start,
            word.end,
            round(float(found.begin_s[first]) * rate),
            round(float(found.end_s[end - 1]) * rate),
        )
        for word, first, end in words
    ]


@functools.cache
def tools() -> tuple[EnglishPhonemizer, dict[int, str]]:
    """What reads words as the aligner's classes, and the symbol of each number."""
    return load_reader(inner_punctuation=False), {
        number: symbol for symbol, number in inventory()[0].items()
    }
