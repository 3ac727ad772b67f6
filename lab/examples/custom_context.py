"""Write your own context predictor: here the application knows what comes next.

    python lab/examples/custom_context.py

A form letter is read aloud while its blanks are being filled in. The text after each blank is known
and takes the place of lookahead, so every word is spoken at once and still sounds as if the
sentence went on."""

from collections.abc import Sequence

from sayahead import load_voice
from sayahead.research import LookaheadK, NoContext, Prediction

LETTER = "Dear customer, your parcel arrives between nine and ten o'clock on Tuesday."


class Script:
    """Predicts the next words of a known text, as long as the words so far match it."""

    def __init__(self, text: str, words: int = 3) -> None:
        self._script = text.split()
        self._words = words

    def predict(self, words: Sequence[str]) -> Prediction:
        if list(words) != self._script[: len(words)]:
            return Prediction()
        return Prediction(tuple(self._script[len(words) : len(words) + self._words]))


def main() -> tuple[int, int]:
    """Numbers of samples with the script and without it."""
    voice = load_voice("heart")
    contexts = Script(LETTER), NoContext()
    lengths = [
        len(voice.synthesize(LETTER, policy=LookaheadK(0), context=context)) for context in contexts
    ]
    print(
        f"with the script {lengths[0] / voice.sample_rate:.2f} s, without"
        f" {lengths[1] / voice.sample_rate:.2f} s"
    )
    return lengths[0], lengths[1]


if __name__ == "__main__":
    main()
