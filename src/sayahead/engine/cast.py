"""A text with several speakers, spoken by one session after the other as if they were one.

``[voice:NAME]`` in the text, or ``<voice name="NAME">`` in SSML, names the speaker of what follows.
A change of speakers ends the sentence.
"""

from __future__ import annotations

import bisect
import re
from collections import deque
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace

from sayahead.config import check_whole
from sayahead.engine.heard import Heard, Transcript
from sayahead.engine.playback import Playback
from sayahead.engine.session import MAX_SKIPPED, Flush, Item, Revision, Session, Speaker
from sayahead.errors import VoiceError
from sayahead.text.ssml.untagged import Places
from sayahead.types import PLAIN, AudioChunk, Delivery, WordTiming

MAX_TAG = 120
"""Longest tag in characters; anything longer is text."""
MAX_OPEN = 64
"""Most ``<voice>`` elements that may be open at once."""
_BRACKETS = r"\[(?:(?P<back>/)voice|voice\s*[:=]\s*[\"']?(?P<name>[^\[\]\"'\n]{1,80}?)[\"']?)\s*\]"
_ELEMENT = r"<(?:(?P<closing>/)voice|voice(?=\s)[^<>]*?\sname\s*=\s*[\"'](?P<named>[^\"'<>]{1,80})[\"'][^<>]*)\s*>"  # noqa: E501
_STARTS = "[voice", "[/voice", "<voice", "</voice"


class Tags:
    """Finds the tags that name speakers, in a text that arrives in fragments."""

    def __init__(self, *, elements: bool = False, lines: Collection[str] = ()) -> None:
        """``elements``: whether ``<voice>`` elements are tags; ``lines``: names that are tags at
        the start of a line, with a colon after them."""
        self._marks = "[<" if elements else "["
        self._lines = {name.lower(): name for name in lines}
        kinds = [_BRACKETS, *([_ELEMENT] if elements else [])]
        if lines:
            names = "|".join(map(re.escape, sorted(lines, key=len, reverse=True)))
            kinds.append(rf"(?<![^\n])[ \t]*(?P<line>{names})[ \t]*:[ \t]*")
        self._tag = re.compile("|".join(kinds), re.I)

    def find(self, text: str, *, opens_line: bool) -> list[tuple[int, int, str | None]]:
        """Return (start, end, speaker) of each tag in a text; the speaker of a closing tag is None.

        ``opens_line``: whether the text begins at the start of a line.
        """
        tags = list[tuple[int, int, str | None]]()
        # The character put before the text tells the pattern whether this is a line's start.
        for tag in self._tag.finditer(("\n" if opens_line else " ") + text, 1):
            groups = tag.groupdict()
            name = (
                groups["name"]
                or groups.get("named")
                or self._lines.get((groups.get("line") or "").lower())
            )
            tags.append((tag.start() - 1, tag.end() - 1, name.strip() if name else None))
        return tags

    def partial_start(self, text: str, *, opens_line: bool) -> int:
        """Return where the unfinished tag at the end of ``text`` starts, which later text may
        complete; ``len(text)`` if there is none.

        ``opens_line``: whether the text begins at the start of a line.
        """
        for mark in self._marks:
            start = text.rfind(mark, max(0, len(text) - MAX_TAG))
            if start >= 0 and may_become_tag(text[start:]):
                return start
        # A last line that begins as a speaker's name does may still get its colon.
        line_start = text.rfind("\n") + 1
        begins_line = line_start > 0 or opens_line
        line = text[line_start:].strip(" \t").lower()
        if begins_line and any(name.startswith(line) for name in self._lines):
            return line_start
        return len(text)


def may_become_tag(text: str) -> bool:
    """Return whether a tag may begin with ``text``, which is not a whole tag yet."""
    is_closed = any(char in text for char in "]>\n")
    # Either may be the longer one: "[vo" and "[voice: An" can both become tags.
    return not is_closed and any(start.startswith(text[: len(start)].lower()) for start in _STARTS)


@dataclass(slots=True)
class Part:
    """A stretch of the text with one speaker."""

    name: str
    begin: int
    """Where it begins in the source text."""
    waiting: list[str | Flush | Delivery] = field(default_factory=list)
    """Items that the session receives once it is opened."""
    session: Session | None = None
    first: int = 0
    """Number of its first sample in the whole."""
    characters: int = 0
    """Length of its text so far."""
    places: Places = field(default_factory=Places)
    """Maps positions in its text to positions in the source text."""

    def give(self, item: str | Flush | Delivery) -> None:
        """Pass an item to its session, or queue it until the session is opened."""
        if isinstance(item, str):
            self.characters += len(item)
        if self.session is None:
            self.waiting.append(item)
        elif isinstance(item, Delivery):
            self.session.deliver(item)
        else:
            self.session.take(item)

    def place(self, at: int) -> int:
        """Return the position in its text of position ``at`` of the source; that of the next
        character for a position inside a tag."""
        index = bisect.bisect_right(self.places.source, at) - 1
        if index < 0:
            return 0
        position = self.places.text[index] + at - self.places.source[index]
        # Inside a tag, ``at`` is beyond the stretch of text before the tag.
        stretch_end = [*self.places.text, self.characters][index + 1]
        return min(position, stretch_end, self.characters)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return where the characters from ``start`` to ``end`` of its text stand in the source."""
        source_start = self.places.start(start)
        # The end is that of the last character: a tag after it is not part of the span.
        return source_start, self.places.start(end - 1) + 1 if end > start else source_start

    def timed(self, word: WordTiming) -> WordTiming:
        """Return a timing of its session with positions and samples of the whole text."""
        start, end = self.span(word.start, word.end)
        return replace(
            word,
            start=start,
            end=end,
            onset_samples=word.onset_samples + self.first,
            offset_samples=word.offset_samples + self.first,
            speaker=self.name,
        )


class Cast(Session):
    """One stream of speech with several voices: a session for each ``Part``, opened when its turn
    comes."""

    def __init__(
        self,
        open_session: Callable[[str], Session],
        knows: Callable[[str], bool],
        *,
        sample_rate: int,
        first: str = "",
        tags: Tags | None = None,
        step_words: int | None = None,
    ) -> None:
        """``open_session`` opens a speaker's session, ``knows`` tells whether a speaker exists.

        All sessions have the ``sample_rate``. ``first``: the speaker before any is named; ``tags``:
        finds the tags in the text.
        """
        self._open_session = open_session
        self._knows = knows
        self._rate = sample_rate
        self._tags = tags or Tags()
        self.step_words = step_words
        self.hungry = False
        self.transcript = Transcript()
        self.skipped = deque[tuple[int, int, str]](maxlen=MAX_SKIPPED)
        self._parts = [Part(first, 0)]
        self._active = 0
        # The speakers outside of the open elements, innermost last.
        self._outer_speakers = deque[str](maxlen=MAX_OPEN)
        self._held_text = ""
        self._delivery = PLAIN
        self._samples = 0
        self._spoken_end = 0
        self._ended = False
        self._cancelled = False

    @property
    def sample_rate(self) -> int:
        return self._rate

    @property
    def spoken(self) -> bool:
        last = self._parts[-1]
        is_last_spoken = not last.characters if last.session is None else last.session.spoken
        return self._ended and self._active == len(self._parts) - 1 and is_last_spoken

    @property
    def complete(self) -> bool:
        session = self._parts[-1].session
        return self.spoken and (session is None or session.complete)

    def open(self) -> None:
        """Open the first speaker's session now, so that its errors are raised now."""
        self._session(self._parts[0])

    # ---- the text --------------------------------------------------------------------------------

    def take(self, item: Item) -> None:
        if isinstance(item, Speaker):
            if not self._knows(item.name):
                raise VoiceError(
                    f"There is nobody called {item.name!r} to speak: use a voice's name, or the"
                    " cast's."
                )
            self._release_held_text()
            self._change_speaker(item.name, self.transcript.characters)
        elif isinstance(item, Revision):
            self.revise(item.at, item.text)
        else:
            super().take(item)

    def push(self, fragment: str) -> None:
        self._check_open("push", fragment)
        start = self.transcript.characters - len(self._held_text)
        self.transcript.write(fragment)
        self._read_tags(self._held_text + fragment, start)

    def _read_tags(self, text: str, start: int) -> None:
        """Split a text at its tags and give each speaker its part.

        ``start``: position of the text in the source. An unfinished tag at the end is held back
        until more text comes.
        """
        opens_line = self._opens_line(start)
        text_start = 0
        for tag_start, tag_end, name in self._tags.find(text, opens_line=opens_line):
            self._give_text(text[text_start:tag_start], start + text_start)
            self._apply_tag(name, start + tag_start, start + tag_end)
            text_start = tag_end
            opens_line = False
        held_start = text_start + self._tags.partial_start(text[text_start:], opens_line=opens_line)
        self._give_text(text[text_start:held_start], start + text_start)
        self._held_text = text[held_start:]

    def _opens_line(self, at: int) -> bool:
        """Return whether position ``at`` of the source is the start of a line."""
        return not at or self.transcript.part(at - 1, at) == "\n"

    def _apply_tag(self, name: str | None, start: int, end: int) -> None:
        """Carry out a tag at ``start`` to ``end`` of the source: None closes an element, an unknown
        name is skipped."""
        if name is None:
            self._change_speaker(
                self._outer_speakers.pop() if self._outer_speakers else self._parts[0].name, end
            )
            return
        self._outer_speakers.append(self._parts[-1].name)
        if self._knows(name):
            self._change_speaker(name, end)
        else:
            self.skipped.append((start, end, f"[voice:{name}]"))

    def _change_speaker(self, name: str, at: int) -> None:
        """Let ``name`` speak from position ``at`` of the source on."""
        last = self._parts[-1]
        if name == last.name:
            return
        if last.characters or last.session is not None:
            last.give(Flush.END)
            last = Part(name, at)
            self._parts.append(last)
        else:
            # Nothing was said: the part is the next speaker's.
            last.name = name
            last.begin = at
        if self._delivery != PLAIN:
            last.give(self._delivery)

    def _give_text(self, text: str, start: int) -> None:
        """Give the current speaker a text from position ``start`` of the source."""
        if text:
            part = self._parts[-1]
            part.places.add(part.characters, start)
            part.give(text)

    def _release_held_text(self) -> None:
        """Pass on the held text as text: it did not become a tag."""
        self._give_text(self._held_text, self.transcript.characters - len(self._held_text))
        self._held_text = ""

    def deliver(self, delivery: Delivery) -> None:
        self._release_held_text()
        self._delivery = delivery
        self._parts[-1].give(delivery)

    def flush(self, *, end: bool = True) -> None:
        if not (self._cancelled or self._ended):
            self._release_held_text()
            self._parts[-1].give(Flush.END if end else Flush.BREATH)

    def finish(self) -> None:
        """Declare the text complete, with what is held back of it."""
        if not (self._cancelled or self._ended):
            self._release_held_text()
            self._ended = True
            self.transcript.ended = True
            if (session := self._parts[-1].session) is not None:
                session.finish()

    def revise(self, at: int, text: str) -> int:
        """Replace the text from ``at`` on, as ``Session.revise`` does.

        The part in which ``at`` lies gets the new text up to its first tag, and the later parts are
        dropped. The rest is read as if it were pushed. Parts before the active one are over, so
        they stay.
        """
        self._check_open("revise", text)
        source = self.text
        at = check_whole("at", at, 0, len(source))
        begins = [part.begin for part in self._parts]
        index = max(self._active, bisect.bisect_right(begins, at) - 1)
        del self._parts[index + 1 :]
        part = self._parts[index]
        if index:
            at = max(at, part.begin)
        self._held_text = ""
        self._outer_speakers.clear()
        session = self._session(part)
        opens_line = self._opens_line(at)
        tags = self._tags.find(text, opens_line=opens_line)
        cut = tags[0][0] if tags else self._tags.partial_start(text, opens_line=opens_line)
        wanted = part.place(max(at, part.begin))
        position = session.revise(wanted, text[:cut])
        if position != wanted:
            # The session has spoken beyond ``at``.
            at = part.places.start(position)
        new_text = session.text[position:]
        self.transcript.rewrite(source[:at] + new_text + text[cut:])
        part.places.cut(position)
        part.places.add(position, at)
        part.characters = position + len(new_text)
        self._read_tags(text[cut:], at + len(new_text))
        return at

    # ---- the sound -------------------------------------------------------------------------------

    def _session(self, part: Part) -> Session:
        """Return a part's session; open it and deliver the queued items if this is the first
        use."""
        if part.session is None:
            part.session = self._open_session(part.name)
            part.first = self._samples
            for item in part.waiting:
                if isinstance(item, Delivery):
                    part.session.deliver(item)
                else:
                    part.session.take(item)
            part.waiting.clear()
        if self._ended and part is self._parts[-1]:
            part.session.finish()
        return part.session

    def prepare(
        self, characters: int | None = None, *, together: int = 1, patient: bool = False
    ) -> int | None:
        """``Session.prepare`` of the part whose turn it is; the next part's once nothing of it is
        left, and 0 when no part is left."""
        while not self._cancelled:
            session = self._session(self._parts[self._active])
            size = session.prepare(characters, together=together, patient=patient)
            self.hungry = session.hungry
            if size != 0 or not self._next_part():
                return size
        return 0

    def pull(self) -> AudioChunk | None:
        """Return the next chunk of the part whose turn it is, with the times of the whole."""
        while not self._cancelled:
            part = self._parts[self._active]
            session = self._session(part)
            chunk = session.pull()
            self.skipped += [(*part.span(start, end), text) for start, end, text in session.skipped]
            session.skipped.clear()
            if chunk is not None:
                words = tuple(part.timed(word) for word in chunk.words)
                self.transcript.add(words)
                self._spoken_end = words[-1].end if words else self._spoken_end
                chunk = replace(chunk, start_samples=self._samples, words=words)
                self._samples += len(chunk.samples)
                return chunk
            if not self._next_part():
                return None
        return None

    def _next_part(self) -> bool:
        """Go on to the next part; return whether there is one."""
        if self._active == len(self._parts) - 1:
            return False
        # The transcript keeps what the session has spoken.
        self._parts[self._active].session = None
        self._active += 1
        return True

    # ---- how far it is ---------------------------------------------------------------------------

    @property
    def _only(self) -> Session | None:
        """The session of a text that has had only one speaker so far, else None."""
        return self._parts[0].session if len(self._parts) == 1 else None

    @property
    def keeps_up(self) -> bool:
        """Only a text with one speaker can follow the pace of its writer."""
        return self._only is not None and self._only.keeps_up

    @property
    def unplayed_s(self) -> float:
        return self._only.unplayed_s if self._only is not None else 0.0

    @property
    def unspoken(self) -> int:
        if self._only is not None:
            return self._only.unspoken + len(self._held_text)
        return self.transcript.characters - self._spoken_end

    @property
    def lag_s(self) -> float:
        return self._only.lag_s if self._only is not None else 0.0

    def played(self, played_s: float) -> None:
        if self._only is not None:
            self._only.played(played_s)

    def follow(self, playback: Playback, now: float) -> None:
        if self._only is not None:
            self._only.follow(playback, now)

    def cancel(self, played_s: float | None = None) -> Heard:
        for part in self._parts:
            if part.session is not None:
                part.session.cancel()
        return super().cancel(played_s)
