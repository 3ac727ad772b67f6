"""A page that reads along: a text becomes one HTML file with its speech, each word marked while it
is heard.

pip install '.[codecs]'
python examples/read_along.py -o story.html "Click a word, and it is read from there."
"""

import argparse
import base64
import html
import json
import sys
from pathlib import Path

from sayahead import Voice, WordTiming, load_voice

PAGE = """<!DOCTYPE html>
<html lang="{language}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
  body {{ max-width: 40em; margin: 2em auto; padding: 0 1em; font: 1.25em/1.6 serif; color-scheme: light dark; }}
  p {{ white-space: pre-wrap; }}
  button {{ all: unset; cursor: pointer; border-radius: .2em; }}
  button:focus-visible {{ outline: 2px solid; }}
  button[aria-current] {{ background: #ffd54a; color: #000; }}
  audio {{ width: 100%; }}
</style>
<audio controls src="data:audio/mpeg;base64,{sound}"></audio>
<p>{text}</p>
<script>
  const times = {times};
  const audio = document.querySelector("audio"), words = [...document.querySelectorAll("button")];
  words.forEach((word, at) => word.addEventListener("click", () => {{ audio.currentTime = times[at]; audio.play(); }}));
  let last = null;
  function mark() {{
    const at = times.findLastIndex((time) => time <= audio.currentTime + 0.02);
    const word = audio.currentTime > 0 && at >= 0 ? words[at] : null;
    if (word !== last) {{
      last?.removeAttribute("aria-current");
      word?.setAttribute("aria-current", "true");
      last = word;
    }}
    requestAnimationFrame(mark);
  }}
  mark();
</script>
"""  # noqa: E501


def marked(text: str, words: list[WordTiming]) -> str:
    """The text as HTML, with a button for each place that is heard. Words that are read together
    share one."""
    parts = []
    at = 0
    for word in words:
        parts += [
            html.escape(text[at : word.start]),
            f"<button>{html.escape(text[word.start : word.end])}</button>",
        ]
        at = word.end
    return "".join(parts) + html.escape(text[at:])


def page(voice: Voice, text: str) -> str:
    """The page, with its sound in it."""
    speech = voice.speak(text)
    sound = b"".join(chunk.data for chunk in speech.encoded("mp3"))
    words: list[WordTiming] = []
    for word in speech.words:
        # "$5" is one place, and several words: five, dollars.
        if word.end > word.start and (not words or word.start >= words[-1].end):
            words.append(word)
    return PAGE.format(
        language=voice.config.language,
        title=html.escape(" ".join(text.split())[:60]),
        sound=base64.b64encode(sound).decode(),
        text=marked(text, words),
        times=json.dumps([round(word.onset / speech.sample_rate, 3) for word in words]),
    )


def main() -> None:
    """Write a page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("text", nargs="*", help="default: standard input")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE.html")
    parser.add_argument("--voice", default="heart")
    arguments = parser.parse_args()
    text = " ".join(arguments.text) or sys.stdin.read()
    arguments.output.write_text(page(load_voice(arguments.voice), text), encoding="utf-8")


if __name__ == "__main__":
    main()
