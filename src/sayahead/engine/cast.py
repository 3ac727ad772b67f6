"""A text with several speakers: one session after the other, each with its voice, as if they were
one.

``[voice:NAME]`` in the text, or in SSML ``<voice name="NAME">``, says who speaks from there on. A
change of speakers ends the sentence.
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
"""Characters of a tag, beyond which it is text."""
MAX_OPEN = 64
"""Elements that are open at once."""
_BRACKETS = r"\[(?:(?P<back>/)voice|voice\s*[:=]\s*[\"']?(?P<name>[^\[\]\"'\n]{1,80}?)[\"']?)\s*\]"
_ELEMENT = r"<(?:(?P<closing>/)voice|voice(?=\s)[^<>]*?\sname\s*=\s*[\"'](?P<named>[^\"'<>]{1,80})[\"'][^<>]*)\s*>"  # noqa: E501
_STARTS = "[voice", "[/voice", "<voice", "</voice"


class Tags:
    """What says who speaks in a text that comes in pieces."""

    def __init__(self, *, elements: bool = False, lines: Collection[str] = ()) -> None:
        """``elements``: ``<voice>`` does, too; ``lines``: names that do where a line begins with
        one and a colon."""
        self._marks = "[<" if elements else "["
        self._lines = {name.lower(): name for name in lines}
        kinds = [_BRACKETS, *([_ELEMENT] if elements else [])]
        if lines:
            names = "|".join(map(re.escape, sorted(lines, key=len, reverse=True)))
            kinds.append(rf"(?<![^\n])[ \t]*(?P<line>{names})[ \t]*:[ \t]*")
        self._tag = re.compile("|".join(kinds), re.I)

    def find(self, text: str, *, opens_line: bool) -> list[tuple[int, int, str | None]]:
        """Where tags begin and end in a text, and whom they name; None: whoever spoke before.

        ``opens_line``: whether a line begins where the text does.
        """
        found = list[tuple[int, int, str | None]]()
        for tag in self._tag.finditer(("\n" if opens_line else " ") + text, 1):
            groups = tag.groupdict()
            name = (
                groups["name"]
                or groups.get("named")
                or self._lines.get((groups.get("line") or "").lower())
            )
            found.append((tag.start() - 1, tag.end() - 1, name.strip() if name else None))
        return found

    def begun(self, text: str, *, opens_line: bool) -> int:
        """Where a tag may have begun that the text's end has cut; the text's length if there is
        none."""
        for mark in self._marks:
            at = text.rfind(mark, max(0, len(text) - MAX_TAG))
            rest = text[at:].lower()
            is_open = at >= 0 and not any(char in rest for char in "]>\n")
            if is_open and any(start.startswith(rest[: len(start)]) for start in _STARTS):
                return at
        line = text.rfind("\n") + 1
        rest = text[line:].strip(" \t").lower()
        if (
            self._lines
            and (line or opens_line)
            and any(name.startswith(rest) for name in self._lines)
        ):
            return line
        return len(text)


@dataclass(slots=True)
class Part:
    """What one speaker says, up to the next change."""

    name: str
    begin: int
    """Where it begins in the source."""
    waiting: list[str | Flush | Delivery] = field(default_factory=list)
    """What the session gets once it is made."""
    session: Session | None = None
    first: int = 0
    """Its first sample."""
    characters: int = 0
    places: Places = field(default_factory=Places)
    """Where its text is in the source."""

    def give(self, item: str | Flush | Delivery) -> None:
        """Pass on a piece of its text, or what stands between pieces."""
        if isinstance(item, str):
            self.characters += len(item)
        if self.session is None:
            self.waiting.append(item)
        elif isinstance(item, Delivery):
            self.session.deliver(item)
        else:
            self.session.take(item)

    def timed(self, word: WordTiming) -> WordTiming:
        """A word of its session at its place in the whole."""
        start = self.places.start(word.start)
        end = self.places.start(max(word.start, word.end - 1)) + 1
        end = end if word.end > word.start else start
        onset = word.onset_samples + self.first
        offset = word.offset_samples + self.first
        return replace(
            word,
            start=start,
            end=end,
            onset_samples=onset,
            offset_samples=offset,
            speaker=self.name,
        )


class Cast(Session):
    """One stream of speech with several voices."""

    def __init__(
        self,
        opened: Callable[[str], Session],
        knows: Callable[[str], bool],
        *,
        sample_rate: int,
        first: str = "",
        tags: Tags | None = None,
        step_words: int | None = None,
    ) -> None:
        """``opened`` makes the session of a name that it ``knows``; all have the ``sample_rate``.

        ``first``: who speaks before anybody is named; ``tags``: what names somebody in the text.
        """
        self._opened = opened
        self._knows = knows
        self._rate = sample_rate
        self._tags = tags or Tags()
        self.step_words = step_words
        self.hungry = False
        self.transcript = Transcript()
        self.skipped = deque[tuple[int, int, str]](maxlen=MAX_SKIPPED)
        self._parts = [Part(first, 0)]
        self._active = 0
        # Who spoke before the elements that are open.
        self._before = deque[str](maxlen=MAX_OPEN)
        self._held = ""
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
        over = not last.characters if last.session is None else last.session.spoken
        return self._ended and self._active == len(self._parts) - 1 and over

    @property
    def complete(self) -> bool:
        session = self._parts[-1].session
        return self.spoken and (session is None or session.complete)

    def open(self) -> None:
        """Make the session of who speaks first now, so that its errors come now."""
        self._session(self._parts[0])

    # ---- the text --------------------------------------------------------------------------------

    def take(self, item: Item) -> None:
        if isinstance(item, Speaker):
            if not self._knows(item.name):
                raise VoiceError(
                    f"There is nobody called {item.name!r} to speak: use a voice's name, or the"
                    " cast's."
                )
            self._literal()
            self._change(item.name, self.transcript.characters)
        elif isinstance(item, Revision):
            self.revise(item.at, item.text)
        else:
            super().take(item)

    def push(self, fragment: str) -> None:
        self._check_open("push", fragment)
        start = self.transcript.characters - len(self._held)
        self.transcript.write(fragment)
        self._read_tags(self._held + fragment, start)

    def _read_tags(self, text: str, start: int) -> None:
        """Give each speaker the text that is theirs; ``start``: where it is in the source."""
        opens = self._opens_line(start)
        at = 0
        for begin, end, name in self._tags.find(text, opens_line=opens):
            self._give(text[at:begin], start + at)
            self._tagged(name, start + begin, start + end)
            at = end
            opens = False
        cut = at + self._tags.begun(text[at:], opens_line=opens)
        self._give(text[at:cut], start + at)
        self._held = text[cut:]

    def _opens_line(self, at: int) -> bool:
        """Whether a line begins at a place of the source."""
        return not at or self.transcript.part(at - 1, at) == "\n"

    def _tagged(self, name: str | None, start: int, end: int) -> None:
        if name is None:
            self._change(self._before.pop() if self._before else self._parts[0].name, end)
            return
        self._before.append(self._parts[-1].name)
        if self._knows(name):
            self._change(name, end)
        else:
            self.skipped.append((start, end, f"[voice:{name}]"))

    def _change(self, name: str, at: int) -> None:
        """Another one speaks from a place of the source on."""
        last = self._parts[-1]
        if name == last.name:
            return
        if last.characters or last.session is not None:
            last.give(Flush.END)
            self._parts.append(last := Part(name, at))
        last.name = name
        last.begin = at
        if self._delivery != PLAIN:
            last.give(self._delivery)

    def _give(self, text: str, start: int) -> None:
        if text:
            part = self._parts[-1]
            part.places.add(part.characters, start)
            part.give(text)

    def _literal(self) -> None:
        """What may have become a tag is text."""
        self._give(self._held, self.transcript.characters - len(self._held))
        self._held = ""

    def deliver(self, delivery: Delivery) -> None:
        self._literal()
        self._delivery = delivery
        self._parts[-1].give(delivery)

    def flush(self, *, end: bool = True) -> None:
        if not (self._cancelled or self._ended):
            self._literal()
            self._parts[-1].give(Flush.END if end else Flush.BREATH)

    def finish(self) -> None:
        if not (self._cancelled or self._ended):
            self._literal()
            self._ended = True
            self.transcript.ended = True
            if (session := self._parts[-1].session) is not None:
                session.finish()

    def revise(self, at: int, text: str) -> int:
        self._check_open("revise", text)
        source = self.text
        at = check_whole("at", at, 0, len(source))
        begins = [part.begin for part in self._parts]
        index = max(self._active, bisect.bisect_right(begins, at) - 1)
        del self._parts[index + 1 :]
        # What others have said before stays.
        at = max(at, self._parts[index].begin) if index else at
        part = self._parts[index]
        self._held = ""
        self._before.clear()
        session = self._session(part)
        opens = self._opens_line(at)
        tags = self._tags.find(text, opens_line=opens)
        cut = tags[0][0] if tags else self._tags.begun(text, opens_line=opens)
        place = min(self._place(part, max(at, part.begin)), part.characters)
        position = session.revise(place, text[:cut])
        at = at if position == place else part.places.start(position)
        rest = session.text[position:]
        part.characters = position
        self.transcript.rewrite(source[:at] + rest + text[cut:])
        part.places.cut(position)
        part.places.add(position, at)
        part.characters = position + len(rest)
        self._read_tags(text[cut:], at + len(rest))
        return at

    def _place(self, part: Part, at: int) -> int:
        """Where a character of the source is in the text of a part."""
        stretch = bisect.bisect_right(part.places.source, at) - 1
        if stretch < 0:
            return 0
        place = part.places.text[stretch] + at - part.places.source[stretch]
        after = part.places.text[stretch + 1 :]
        return min([place, *after[:1]])

    # ---- the sound -------------------------------------------------------------------------------

    def _session(self, part: Part) -> Session:
        """The session of a part, made where it is needed first."""
        if part.session is None:
            part.session = self._opened(part.name)
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
        while not self._cancelled:
            session = self._session(self._parts[self._active])
            size = session.prepare(characters, together=together, patient=patient)
            self.hungry = session.hungry
            if size != 0 or not self._next_part():
                return size
        return 0

    def pull(self) -> AudioChunk | None:
        while not self._cancelled:
            part = self._parts[self._active]
            session = self._session(part)
            chunk = session.pull()
            self.skipped += [
                (part.places.start(start), part.places.start(max(start, end - 1)) + 1, text)
                for start, end, text in session.skipped
            ]
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
        """Go on to the next speaker, if there is one."""
        if self._active == len(self._parts) - 1:
            return False
        # What was said is kept by the transcript.
        self._parts[self._active].session = None
        self._active += 1
        return True

    # ---- how far it is ---------------------------------------------------------------------------

    @property
    def _only(self) -> Session | None:
        """The session of a text that has had one speaker so far."""
        return self._parts[0].session if len(self._parts) == 1 else None

    @property
    def keeps_up(self) -> bool:
        """With several speakers nothing does."""
        return self._only is not None and self._only.keeps_up

    @property
    def unplayed_s(self) -> float:
        return self._only.unplayed_s if self._only is not None else 0.0

    @property
    def unspoken(self) -> int:
        if self._only is not None:
            return self._only.unspoken + len(self._held)
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
