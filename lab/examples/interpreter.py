"""Live interpreting: a recording in another language is heard, translated and spoken while it still
goes on.

pip install faster-whisper
python lab/examples/interpreter.py speech.flac both.wav --whisper FOLDER --language de --phrases
phrases.json

The recognizer and the clock are those of shadow.py. The translator here is a table of phrases, to
be replaced by a model: it makes English of the words so far, and may make something else of them
when more have come; what was not spoken yet is then taken back. Printed are what simultaneous
translation is measured by: YAAL, of when words begin to be heard, and ATD, both with the computing
in it. Without arguments it interprets a greeting from its transcript.

``SpokenOutput`` is the speech end of simulstream (SimulEval's heir, pip install simulstream): it
takes the outputs of any of its speech processors.
"""

import argparse
import json
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from sayahead import AudioChunk, load_voice
from sayahead.research import Session
from shadow import RECOGNITION_RATE, Playback, Whisper, Word, plain, save, shadow

from sayahead_lab.eval.measures.simuleval import average_token_delay, yet_another_average_lagging

PHRASES = {
    "guten": "good",
    "guten tag": "good afternoon",
    "meine": "my",
    "meine damen": "ladies",
    "und": "and",
    "herren": "gentlemen.",
}
GREETING = [
    ("Guten", 0.4),
    ("Tag,", 0.7),
    ("meine", 1.2),
    ("Damen", 1.6),
    ("und", 1.8),
    ("Herren.", 2.3),
]


class Phrasebook:
    """Translates by a table: the longest phrase first, and what is in none as it is."""

    def __init__(self, phrases: Mapping[str, str]) -> None:
        self._phrases = phrases
        self._longest = max(len(phrase.split()) for phrase in phrases)

    def __call__(self, words: list[Word]) -> list[Word]:
        """The translation of all words so far; a phrase has the time of its last word."""
        at = 0
        out = list[Word]()
        while at < len(words):
            for end in range(min(len(words), at + self._longest), at, -1):
                said = self._phrases.get(" ".join(plain(word.text) for word in words[at:end]))
                if said is not None or end == at + 1:
                    out.append(
                        Word(words[at].text if said is None else said, words[end - 1].time_s)
                    )
                    at = end
                    break
        return out


def latencies(playback: Playback, source_s: float) -> dict[str, float]:
    """YAAL and ATD in ms of what was played of a recording of ``source_s``; nan where nothing came
    before its end."""
    onsets = [1000 * word.time_s for word in playback.words]
    durations = [1000 * len(samples) / playback.sample_rate for _, samples in playback.chunks]
    begins = [1000 * begin_s for begin_s, _ in playback.chunks]
    reads = [1000 * one for one in playback.reads_s]
    return {
        "YAAL": yet_another_average_lagging(onsets, 1000 * source_s, len(onsets)),
        "ATD": average_token_delay(reads, durations, ready=begins),
    }


class TextOutput(Protocol):
    """simulstream's IncrementalOutput, as far as it is needed."""

    new_string: str
    deleted_string: str


class SpokenOutput:
    """Speaks the text of a speech processor; what was deleted is taken back as far as it was not
    spoken."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def take(self, output: TextOutput) -> list[AudioChunk]:
        """The sound that is ready after an output."""
        written = self._session.text
        deleted = len(output.deleted_string)
        if deleted:
            self._session.revise(len(written) - deleted, output.new_string)
        else:
            self._session.push(output.new_string)
        return list(self._session.chunks())

    def end(self) -> list[AudioChunk]:
        """The rest of the sound, after the last output."""
        self._session.finish()
        return list(self._session.chunks())


def transcript(words: Sequence[tuple[str, float]]) -> Callable[[NDArray[np.float32]], list[Word]]:
    """A recognizer that knows the words and their ends in s."""
    return lambda samples: [
        Word(word, end) for word, end in words if end <= len(samples) / RECOGNITION_RATE
    ]


def main(arguments: list[str] | None = None) -> dict[str, float]:
    """Interpret a recording, or the greeting; the latencies."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("recording", nargs="?", help="speech, in any format that PyAV reads")
    parser.add_argument(
        "output", nargs="?", help="a .wav: the recording left, the interpreter right"
    )
    parser.add_argument("--whisper", metavar="FOLDER", help="a Whisper model for faster-whisper")
    parser.add_argument(
        "--language", default="de", help="what is spoken in the recording (default: de)"
    )
    parser.add_argument(
        "--phrases",
        metavar="FILE",
        type=Path,
        help="a JSON of phrases, in small letters, and English",
    )
    parser.add_argument(
        "--busy",
        action="store_true",
        help="count processor time: this machine has other work to do",
    )
    args = parser.parse_args(arguments)
    phrases = json.loads(args.phrases.read_text(encoding="utf-8")) if args.phrases else PHRASES
    session = load_voice("heart").session()
    if args.recording is None:
        recording = np.zeros(round(2.4 * RECOGNITION_RATE), np.float32)
        recognizer = transcript(GREETING)
    else:
        from faster_whisper import decode_audio

        recording = decode_audio(args.recording)
        recognizer = Whisper(args.whisper, args.language)
        recognizer(recording[: 2 * RECOGNITION_RATE])  # its first call is slow
    timer = time.process_time if args.busy else time.perf_counter
    playback, heard, revisions = shadow(
        recording, recognizer, session, timer=timer, translate=Phrasebook(phrases)
    )
    if args.output:
        save(
            args.output,
            decode_audio(args.recording, playback.sample_rate),
            playback,
            playback.sample_rate,
        )
    print("heard: ", " ".join(word.text for word in heard))
    for word in playback.words:
        print(f"{word.time_s:7.2f} s  {word.text}")
    found = latencies(playback, len(recording) / RECOGNITION_RATE)
    told = ", ".join(f"{name} {value:.0f} ms" for name, value in found.items())
    print(f"{told}; text was taken back {revisions} times")
    return found


if __name__ == "__main__":
    main()
