"""Shadowing: repeat a recording behind a streaming recognizer, whose hypotheses change while it
listens.

pip install faster-whisper
python lab/examples/shadow.py recording.flac shadowed.wav --whisper FOLDER    (Whisper in
CTranslate2's format)

The words on which two successive hypotheses agree (local agreement, Liu et al. 2020) go to the
voice; where a later hypothesis differs, ``revise`` takes back what has not been spoken. The stereo
file has the recording on the left and the speech on the right, on one clock that includes the time
recognition takes. A word's lag is from its end in the recording to its onset in the speech.
"""

import argparse
import difflib
import re
import time
import wave
from collections.abc import Callable
from dataclasses import dataclass
from itertools import takewhile

import numpy as np
from numpy.typing import NDArray
from sayahead import KeepUp, load_voice
from sayahead.research import Session

RECOGNITION_RATE = 16000
STEP_S = 0.4
"""Seconds of new sound before the recognizer listens again."""
BUFFER_S = 0.3
"""Seconds of speech made before they are played: what is not made yet can be revised."""
LONGEST_S = 20.0
"""Seconds of sound that the recognizer hears at once."""


@dataclass(frozen=True)
class Word:
    """A word, and a time in seconds: its end in the recording, or its onset in the speech."""

    text: str
    time_s: float


Recognizer = Callable[[NDArray[np.float32]], list[Word]]
"""From samples (S,) at 16 kHz, all since the beginning, to the words heard in them."""


def plain(word: str) -> str:
    """A word without its punctuation and case, which recognizers change their minds about."""
    return re.sub(r"\W", "", word).lower()


class Whisper:
    """Whisper as a streaming recognizer: it hears the sound again from the last sentence or so
    on."""

    def __init__(self, folder: str, language: str = "en") -> None:
        from faster_whisper import WhisperModel

        self._model = WhisperModel(folder, compute_type="int8", cpu_threads=1)
        self._language = language
        # Words that are not heard again, and the second where they end.
        self._past = list[Word]()
        self._past_s = 0.0

    def __call__(self, samples: NDArray[np.float32]) -> list[Word]:
        begin_s = self._past_s
        heard, _ = self._model.transcribe(
            samples[round(begin_s * RECOGNITION_RATE) :],
            language=self._language,
            beam_size=1,
            word_timestamps=True,
            condition_on_previous_text=False,
            initial_prompt=" ".join(word.text for word in self._past[-40:]) or None,
        )
        segments = [
            [Word(w.word.strip(), begin_s + w.end) for w in segment.words] for segment in heard
        ]
        before = list(self._past)
        if len(samples) / RECOGNITION_RATE - begin_s > LONGEST_S and len(segments) > 1:
            self._past += [word for segment in segments[:-1] for word in segment]
            self._past_s = self._past[-1].time_s
        return before + [word for segment in segments for word in segment]


class Agreement:
    """The words at the beginning of a hypothesis on which it agrees with the one before."""

    def __init__(self) -> None:
        self._last = list[Word]()

    def __call__(self, words: list[Word]) -> list[Word]:
        pairs = zip(words, self._last, strict=False)
        self._last = words
        return [
            word
            for word, _ in takewhile(lambda pair: plain(pair[0].text) == plain(pair[1].text), pairs)
        ]


class Playback:
    """Speech on a clock: made just before it is played."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._now_s = 0.0
        self._end_s = 0.0
        self.sample_rate = session.sample_rate
        self.chunks = list[tuple[float, NDArray[np.float32]]]()
        """When each is played, in s, and its samples (S,)."""
        self.words = list[Word]()
        self.heard_s = 0.0
        self.reads_s = list[float]()
        """Seconds of the recording from which the text was made: now, and when each chunk was."""

    def until(self, time_s: float) -> None:
        """Play what the text so far allows, up to a moment."""
        while (due_s := max(self._now_s, self._end_s - BUFFER_S)) <= time_s:
            chunk = self._session.pull()
            if chunk is None:
                break
            begin_s = max(self._end_s, due_s)
            for word in chunk.words:
                at_s = begin_s + (word.onset_samples - chunk.start_samples) / chunk.sample_rate
                self.words.append(Word(self._session.text[word.start : word.end], at_s))
            self.chunks.append((begin_s, chunk.samples))
            self.reads_s.append(self.heard_s)
            self._now_s = due_s
            self._end_s = begin_s + chunk.duration_s
        self._now_s = max(self._now_s, time_s)


def revise(session: Session, words: list[Word]) -> bool:
    """Make the text that of these words; whether text was taken back, not only added."""
    text = "".join(word.text + " " for word in words)
    pairs = zip(session.text, text, strict=False)
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    if same == len(session.text):
        session.push(text[same:])
        return False
    session.revise(same, text[same:])
    return True


def shadow(
    recording: NDArray[np.float32],
    recognizer: Recognizer,
    session: Session,
    *,
    timer: Callable[[], float] = time.perf_counter,
    translate: Callable[[list[Word]], list[Word]] = list,
) -> tuple[Playback, list[Word], int]:
    """Repeat a recording (S,) at 16 kHz: the speech, the last hypothesis, and how often text was
    taken back.

    ``translate`` makes what is said of the words that are agreed upon so far.
    """
    playback = Playback(session)
    agreement = Agreement()
    revisions = 0
    now_s = 0.0
    heard = 0
    while heard < len(recording):
        # While it was busy, more was recorded.
        heard = min(
            len(recording),
            max(heard + round(STEP_S * RECOGNITION_RATE), int(now_s * RECOGNITION_RATE)),
        )
        begun = timer()
        words = recognizer(recording[:heard])
        now_s = max(now_s, heard / RECOGNITION_RATE) + timer() - begun
        playback.until(now_s)
        agreed = agreement(words) if heard < len(recording) else words
        revisions += revise(session, translate(agreed))
        playback.heard_s = heard / RECOGNITION_RATE
    session.finish()
    playback.until(float("inf"))
    return playback, words, revisions


def lags(spoken: list[Word], heard: list[Word]) -> list[tuple[str, float]]:
    """Each word that is in both, and how many seconds after its end in the recording its speech
    begins."""
    one, other = ([plain(word.text) for word in words] for words in (spoken, heard))
    blocks = difflib.SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks()
    pairs = [(spoken[a + i], heard[b + i]) for a, b, size in blocks for i in range(size)]
    return [(said.text, said.time_s - word.time_s) for said, word in pairs]


def save(path: str, left: NDArray[np.float32], playback: Playback, rate: int) -> None:
    """A stereo file: the recording (S,), and the speech beside it."""
    ends = [round(begin_s * rate) + len(samples) for begin_s, samples in playback.chunks]
    both = np.zeros((max([len(left), *ends]), 2), np.float32)
    both[: len(left), 0] = left
    for begin_s, samples in playback.chunks:
        at = round(begin_s * rate)
        both[at : at + len(samples), 1] = samples
    with wave.open(path, "wb") as file:
        file.setnchannels(2)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes((np.clip(both, -1, 1) * 32767).astype("<i2").tobytes())


def main(arguments: list[str] | None = None) -> None:
    """Shadow a file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("recording", help="speech, in any format that PyAV reads")
    parser.add_argument("output", help="a .wav: the recording left, the speech right")
    parser.add_argument(
        "--whisper", required=True, metavar="FOLDER", help="a Whisper model for faster-whisper"
    )
    parser.add_argument("--voice", default="heart")
    parser.add_argument(
        "--policy", default="lookahead:k=1", help="when to speak (default: one word of lookahead)"
    )
    parser.add_argument("--keep-up", action="store_true", help="speak faster while text waits")
    parser.add_argument(
        "--busy",
        action="store_true",
        help="count processor time: this machine has other work to do",
    )
    args = parser.parse_args(arguments)
    from faster_whisper import decode_audio

    voice = load_voice(args.voice)
    recording = decode_audio(args.recording, sampling_rate=RECOGNITION_RATE)
    whisper = Whisper(args.whisper)
    whisper(recording[: 2 * RECOGNITION_RATE])  # its first call is slow
    timer = time.process_time if args.busy else time.perf_counter
    session = voice.session(policy=args.policy, keep_up=KeepUp() if args.keep_up else None)
    playback, heard, revisions = shadow(recording, whisper, session, timer=timer)
    save(
        args.output,
        decode_audio(args.recording, sampling_rate=voice.sample_rate),
        playback,
        voice.sample_rate,
    )
    print("heard: ", " ".join(word.text for word in heard))
    print("spoken:", " ".join(word.text for word in playback.words))
    rows = lags(playback.words, heard)
    for text, lag_s in rows:
        print(f"{lag_s:7.2f} s  {text}")
    if rows:
        median_s = float(np.median([lag_s for _, lag_s in rows]))
        print(
            f"{median_s:7.2f} s  median lag of {len(rows)} words; text was taken back {revisions}"
            " times"
        )


if __name__ == "__main__":
    main()
