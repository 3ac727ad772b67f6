"""A page that shows a book and marks each word while it is heard, without a server."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import quote

from sayahead.books.audio import SpokenChapter
from sayahead.books.book import Book, Passage
from sayahead.sound.files import fail
from sayahead.types import WordTiming

PAGE = """<!DOCTYPE html>
<html lang="{language}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
  :root {{ color-scheme: light dark; }}
  body {{ max-width: 38em; margin: 0 auto; padding: 1em 1em 8em; font: 1.2em/1.6 serif; }}
  p {{ white-space: pre-line; }}
  nav li {{ margin: .2em 0; }}
  b {{ font-weight: inherit; cursor: pointer; border-radius: .2em; }}
  b[aria-current] {{ background: #ffd54a; color: #000; }}
  footer {{ position: fixed; inset: auto 0 0; padding: .5em; background: Canvas; }}
  audio {{ display: block; width: 100%; max-width: 46em; margin: 0 auto; }}
</style>
<h1>{title}</h1>
<p>{author}</p>
<nav aria-label="{title}"><ol>
{contents}
</ol></nav>
<main>
{chapters}
</main>
<footer><audio controls preload="metadata" src="{sound}"></audio></footer>
<script>
  const times = {times};
  const audio = document.querySelector("audio");
  const words = [...document.querySelectorAll("main b")];
  const places = new Map(words.map((word, at) => [word, at]));
  document.querySelector("main").addEventListener("click", (event) => {{
    const at = places.get(event.target);
    if (at === undefined) return;
    audio.currentTime = times[at];
    audio.play();
  }});
  let last = null;
  function mark() {{
    const now = audio.currentTime + 0.02;
    let low = 0;
    let high = times.length;
    while (low < high) {{
      const middle = (low + high) >> 1;
      if (times[middle] <= now) low = middle + 1;
      else high = middle;
    }}
    const word = audio.currentTime > 0 && low > 0 ? words[low - 1] : null;
    if (word !== last) {{
      last?.removeAttribute("aria-current");
      word?.setAttribute("aria-current", "true");
      if (!audio.paused) word?.scrollIntoView({{ block: "center", behavior: "smooth" }});
      last = word;
    }}
    requestAnimationFrame(mark);
  }}
  mark();
</script>
"""


def write_page(
    path: Path, sound: str, book: Book, spoken: Sequence[SpokenChapter], *, sample_rate: int
) -> None:
    """Write the page. ``sound``: the whole book's file, by its address as seen from the page."""
    times = list[float]()
    chapters = list[str]()
    at = 0
    for number, chapter in enumerate(spoken, start=1):
        places = heard_places(chapter.words)
        times += [round((at + word.onset_samples) / sample_rate, 3) for word in places]
        at += chapter.samples
        chapters.append(f'<section id="c{number}">\n{section(chapter, places)}\n</section>')
    contents = (
        f'<li><a href="#c{number}">{html.escape(chapter.chapter.title or str(number))}</a></li>'
        for number, chapter in enumerate(spoken, start=1)
    )
    page = PAGE.format(
        language=html.escape(book.language or "en"),
        title=html.escape(book.title),
        author=html.escape(book.author),
        contents="\n".join(contents),
        chapters="\n".join(chapters),
        sound=html.escape(quote(sound)),
        times=json.dumps(times),
    )
    try:
        path.write_text(page, encoding="utf-8")
    except OSError as error:
        fail(str(path), error)


def heard_places(words: Sequence[WordTiming]) -> list[WordTiming]:
    """Return the words that begin a new place in the text: "$5" is two words at one place."""
    places = list[WordTiming]()
    for word in words:
        if word.end > word.start and (not places or word.start >= places[-1].end):
            places.append(word)
    return places


def section(chapter: SpokenChapter, places: Sequence[WordTiming]) -> str:
    """Return a chapter as HTML, with an element around each of ``places`` (``heard_places``)."""
    text = chapter.chapter.text
    remaining = iter(places)
    word = next(remaining, None)
    blocks = []
    for begin, block in chapter.chapter.places():
        parts = list[str]()
        position = begin
        end = begin + len(block.text)
        while word is not None and word.start < end:
            parts.append(html.escape(text[position : word.start]))
            parts.append(f"<b>{html.escape(text[word.start : word.end])}</b>")
            position = word.end
            word = next(remaining, None)
        parts.append(html.escape(text[position:end]))
        blocks.append("".join(tagged(block, parts)))
    return "\n".join(blocks)


def tagged(block: Passage, parts: Sequence[str]) -> Iterator[str]:
    """Yield the HTML of a block with this content."""
    tag = "h2" if block.heading else "p"
    yield f"<{tag}>"
    yield from parts
    yield f"</{tag}>"
