"""Write your own policy: wait for the end of a phrase.

python lab/examples/custom_policy.py "When the rain stops, and it will, we go out."
"""

import sys
from dataclasses import dataclass

from sayahead import load_voice
from sayahead.research import READ, Read, Speak, View


@dataclass(frozen=True, slots=True)
class WaitPhrase:
    """Speaks up to each comma or full stop once it has arrived, or after ``most`` words without
    one."""

    most: int = 6
    unit = "words"

    def decide(self, view: View) -> Read | Speak:
        for number, word in enumerate(view.pending, start=1):
            if word.ends or word.text[-1] in ",;:—" or number == self.most:
                return Speak(number, lookahead=0)
        return READ


def main(text: str) -> list[list[str]]:
    """The words that begin in each chunk."""
    voice = load_voice("heart")
    fragments = (word + " " for word in text.split())
    phrases = []
    for chunk in voice.stream(fragments, policy=WaitPhrase()):
        phrases.append([word.text for word in chunk.words])
        print(f"{chunk.start_samples / chunk.sample_rate:5.2f} s", *phrases[-1])
    return phrases


if __name__ == "__main__":
    main(" ".join(sys.argv[1:]) or "When the rain stops, and it will, we go out.")
