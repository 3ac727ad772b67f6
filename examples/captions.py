"""Live captions spoken: a recognizer's or an interpreter's text, whose end still changes, is spoken
as it settles.

your_recognizer | python examples/captions.py                    # a line is the whole text so far
printf 'I live\nI live in Berlim\nI live in Berlin now.\n' | python examples/captions.py -o
captions.wav

Where a line differs from the one before it, what was not spoken is taken back; what was spoken is
never spoken twice. Speech follows the pace of the text (`keep_up`).
"""

import argparse
import sys
import threading
from collections.abc import Iterable
from itertools import takewhile

from sayahead import Speech, Voice, load_voice


def follow(speech: Speech, lines: Iterable[str]) -> int:
    """Make the text of a speech that of each line in turn, then finish; how often text was taken
    back."""
    revisions = 0
    for line in lines:
        text = line.rstrip("\n")
        same = sum(
            1
            for _ in takewhile(
                lambda pair: pair[0] == pair[1], zip(speech.text, text, strict=False)
            )
        )
        if same == len(speech.text):
            speech.push(text[same:])
        else:
            speech.revise(same, text[same:])
            revisions += 1
    speech.finish()
    return revisions


def captions(voice: Voice, lines: Iterable[str], output: str | None = None) -> Speech:
    """Speak lines as they come: on the sound device, or into a file."""
    # A word is spoken when it is complete, and nothing waits for a pause: the next line may be long
    # in coming.
    speech = voice.open_speech(policy="lookahead:k=0", keep_up=True)
    following = threading.Thread(target=follow, args=(speech, lines), daemon=True)
    following.start()
    if output is None:
        speech.play()
    else:
        speech.save(output)
    following.join()
    return speech


def main() -> None:
    """Speak standard input."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("-o", "--output", help="a file instead of the sound device")
    parser.add_argument("--voice", default="heart")
    arguments = parser.parse_args()
    speech = captions(load_voice(arguments.voice), sys.stdin, arguments.output)
    print(" ".join(word.text for word in speech.words))


if __name__ == "__main__":
    main()
