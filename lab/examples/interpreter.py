"""Live interpreting: what a translator of speech writes, and takes back, is spoken while it comes.

    python lab/examples/interpreter.py

``SpokenOutput`` is the speech end of simulstream (SimulEval's heir, pip install simulstream): it takes the outputs of
any of its speech processors, or anything with their two fields. ``Phrasebook`` stands in for one here: it has a
recognizer's German words with their ends, and a table. Prints what is heard when, and the average token delay (ATD).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from sayahead import AudioChunk, Session, load_voice

from sayahead_lab.eval.measures.simuleval import average_token_delay


class TextOutput(Protocol):
    """simulstream's IncrementalOutput, as far as it is needed."""

    new_string: str
    deleted_string: str


class SpokenOutput:
    """Speaks the text of a speech processor; what was deleted is taken back as far as it was not spoken."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def take(self, output: TextOutput) -> list[AudioChunk]:
        """The sound that is ready after an output."""
        written, deleted = self._session.text, len(output.deleted_string)
        if deleted:
            self._session.revise(len(written) - deleted, output.new_string)
        else:
            self._session.push(output.new_string)
        return list(self._session.chunks())

    def end(self) -> list[AudioChunk]:
        """The rest of the sound, after the last output."""
        self._session.finish()
        return list(self._session.chunks())


@dataclass
class Written:
    """An output."""

    new_string: str
    deleted_string: str = ""


PHRASES = {
    "guten": "good",
    "guten tag": "good afternoon",
    "meine": "my",
    "meine damen": "ladies",
    "und": "and",
    "herren": "gentlemen.",
}


class Phrasebook:
    """Translates words as they end by a table of phrases; a longer phrase takes a shorter one's translation back."""

    def __init__(self) -> None:
        self._phrase, self._said = "", ""

    def process(self, word: str) -> Written:
        """What a recognized word adds."""
        longer = f"{self._phrase} {word}".strip()
        if longer in PHRASES:
            new, old = PHRASES[longer] + " ", self._said
        else:
            longer, new, old = word, PHRASES.get(word, word) + " ", ""
        self._phrase, self._said = longer, new
        return Written(new, old)


def interpret(words: Sequence[tuple[str, float]], session: Session) -> tuple[float, list[tuple[float, str]]]:
    """The ATD in ms of speech from recognized words with their ends in s; and when which words came."""
    phrasebook, speech = Phrasebook(), SpokenOutput(session)
    delays, durations, heard = list[float](), list[float](), list[tuple[float, str]]()
    outputs = [(end_s, speech.take(phrasebook.process(word))) for word, end_s in words]
    for end_s, chunks in [*outputs, (words[-1][1], speech.end())]:
        for chunk in chunks:
            delays.append(1000 * end_s)
            durations.append(1000 * chunk.duration_s)
            heard.append((end_s, " ".join(word.text for word in chunk.words)))
    return average_token_delay(delays, durations), heard


def main() -> float:
    """Interpret one greeting."""
    german = [("guten", 0.4), ("tag", 0.7), ("meine", 1.2), ("damen", 1.6), ("und", 1.8), ("herren", 2.3)]
    delay_ms, heard = interpret(german, load_voice("heart").session())
    for end_s, words in heard:
        print(f"{end_s:.1f} s: {words}")
    print(f"ATD {delay_ms:.0f} ms")
    return delay_ms


if __name__ == "__main__":
    main()
