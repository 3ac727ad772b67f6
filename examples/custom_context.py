"""A context predictor of one's own: the application knows what will be said next.

    python examples/custom_context.py

A form letter is read aloud while its blanks are still being filled in: what follows a blank is known, and stands in
for the lookahead, so that every word is spoken at once and still sounds as if the sentence went on.
"""

from collections.abc import Sequence

from sayahead import LookaheadK, NoContext, Prediction, load_voice

LETTER = "Dear customer, your parcel arrives between nine and ten o'clock on Tuesday."


class Script:
    """Predicts the words of a text that is known to be likely, as long as the words so far agree with it."""

    def __init__(self, text: str, words: int = 3) -> None:
        self._script, self._words = text.split(), words

    def predict(self, words: Sequence[str]) -> Prediction:
        if list(words) != self._script[: len(words)]:
            return Prediction()
        return Prediction(tuple(self._script[len(words) : len(words) + self._words]))


def main() -> tuple[int, int]:
    """Samples spoken with the script's help and without it."""
    voice = load_voice("heart")
    contexts = Script(LETTER), NoContext()
    lengths = [len(voice.synthesize(LETTER, policy=LookaheadK(0), context=context)) for context in contexts]
    print(f"with the script {lengths[0] / voice.sample_rate:.2f} s, without {lengths[1] / voice.sample_rate:.2f} s")
    return lengths[0], lengths[1]


if __name__ == "__main__":
    main()
