"""When a person ends each word of recordings, for shadowing (Ma et al. 2020, 5.3.2): the package's
aligner tells.

    python lab/benchmarks/ma/word_ends.py LJSpeech-1.1 train.csv val.csv test.csv -o word_ends
    python lab/benchmarks/ma/word_ends.py sounds/en_US_f_Allison core-sounds-en.txt.gz -o word_ends

The texts are lines of name|text, or the list of Asterisk's prompts (Debian's
asterisk-core-sounds-en and -en-g722, one person, CC-BY-SA 3.0; G.722 is read by PyAV: pip install
'sayahead[codecs]'). Recordings that are not there are passed over, and prompts that are not one
sentence of eight words or more; recordings that do not sound like their text are listed. The folder
gets a NAME.json for each recording and ``texts.csv``, as the clock ``word-ends`` and ``sayahead
eval run`` take them.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sayahead.errors import ConfigError
from sayahead.text.reading.stream import normalize
from sayahead.types import Floats

from sayahead_lab.eval.experiment.word_ends import sounding_ends
from sayahead_lab.results import keep, options
from sayahead_lab.scripts import read_texts
from sayahead_lab.training.aligner.sounds import FRONT_END
from sayahead_lab.training.aligner.words import word_times
from sayahead_lab.training.corpus.recordings import read_recording
from sayahead_lab.training.corpus.teacher import split

MIN_WORDS = 8
"""Of a prompt: shorter ones are no sentences."""
PROMPT_RATE = 16000
"""Samples a second of G.722."""


def prompts(
    path: Path, *, least_words: int = MIN_WORDS, one_sentence: bool = True
) -> Iterator[tuple[str, str]]:
    """Names and texts of Asterisk's list that are a sentence; those with a remark in brackets are
    not all said."""
    for line in gzip.decompress(path.read_bytes()).decode().splitlines():
        name, _, text = line.partition(": ")
        words = len(text.split())
        said = not line.startswith(";") and "[" not in text and words >= least_words
        if said and (not one_sentence or len(split(normalize(text))) == 1):
            yield name, text.strip()


def recordings(folder: Path, lists: list[Path]) -> Iterator[tuple[str, str, Floats, int]]:
    """Name, text, samples (S,) and rate of each recording that is there."""
    for path in lists:
        if path.suffix == ".gz":
            there = {one.stem: one for one in folder.rglob("*.g722")}
            for name, text in prompts(path):
                if name in there:
                    yield name, text, decoded(there[name]), PROMPT_RATE
        else:
            there = {one.stem: one for one in (*folder.rglob("*.wav"), *folder.rglob("*.flac"))}
            for line in read_texts(path):
                if line.name in there:
                    rate = FRONT_END.sample_rate
                    yield (
                        line.name,
                        line.text,
                        read_recording(there[line.name].parent, line.name, rate),
                        rate,
                    )


def decoded(path: Path) -> Floats:
    """Samples (S,) in [-1, 1] of a file of G.722, at 16 kHz."""
    import av

    with av.open(str(path), format="g722") as opened:
        parts = [frame.to_ndarray().reshape(-1) for frame in opened.decode(audio=0)]
    return np.concatenate(parts).astype(np.float32) / np.float32(32768)


def main() -> None:
    arguments = options(__doc__, "RECORDINGS", "TEXTS...", "out").parse_args()
    kept = list[str]()
    words = 0
    seconds = 0.0
    for name, text, samples, rate in recordings(arguments.recordings, arguments.texts):
        timed = word_times(samples, rate, text)
        if timed is None:
            print(f"{name} does not sound like its text: {text[:60]!r}")
            continue
        ends = sounding_ends(text, timed, rate)
        keep([json.dumps([round(end, 3) for end in ends])], arguments.out / f"{name}.json")
        kept.append(f"{name}|{text}")
        words = words + len(ends)
        seconds = seconds + ends[-1]
    if not kept:
        raise ConfigError(f"{arguments.recordings} has no recording of these texts.")
    keep(kept, arguments.out / "texts.csv")
    print(f"{len(kept)} recordings, {words} words, {60 * words / seconds:.0f} words a minute")


if __name__ == "__main__":
    main()
