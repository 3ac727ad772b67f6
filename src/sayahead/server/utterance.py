"""One text on one connection: commands add to it, and it is spoken chunk by chunk; a chunk is made
once the previous one was sent."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace

from sayahead.config import shown
from sayahead.engine.heard import Heard
from sayahead.engine.playback import beyond
from sayahead.engine.session import Session, Speaker
from sayahead.errors import ConfigError, SayaheadError
from sayahead.server.hub import Hub, Lease
from sayahead.server.json_messages import without_half
from sayahead.server.operation.usage import Bill
from sayahead.server.outbox import Outbox
from sayahead.server.synthesis import messages as m
from sayahead.server.synthesis.pacing import Pacing
from sayahead.server.synthesis.threads import EncodedChunk, Speaking
from sayahead.speech import early_s
from sayahead.types import WordTiming

log = logging.getLogger("sayahead.server")
# Seconds by which a chunk's deadline moves for each further text of the same client.
PATIENCE_S = 0.1
GRACE_S = 0.01
"""Time for a busy event loop to read text that arrived before a breath was due."""
CLOSING = ")]}»”’\"'"  # Goes with the word before it.


class Utterance:
    """A text that a client sends and that it gets back as audio."""

    def __init__(
        self,
        name: str,
        options: m.Options,
        hub: Hub,
        lease: Lease,
        outbox: Outbox,
        bill: Bill,
        *,
        leave: Callable[[Utterance, str], None],
    ) -> None:
        """``leave``: called with the utterance and its outcome at its end."""
        self.name = name
        self.finishing = False
        self.bill = bill
        self._options = options
        self._hub = hub
        self._lease = lease
        self._outbox = outbox
        self._leave = leave
        limits = hub.limits
        self.idle_s = min(options.idle_s or limits.idle_s, limits.idle_most_s)
        self._breath_s = hub.settings.breath_s if options.breath_s is None else options.breath_s
        # Time at which a breath is due unless more text comes; None if everything was flushed.
        self._breath_at: float | None = None
        self.unheard_s = 0.0
        # Items that were received and not passed to the session, and the arrival times of the
        # revisions among them.
        self._inbox: deque[str | m.Flush | m.Revise | m.Deliver | m.Speaker] = deque()
        self._revisions = deque[float]()
        self._wake = asyncio.Event()
        # New text wakes the task only if at least this many characters wait.
        self._wake_size = 0
        # The text from position `_reported_end` on, which no chunk has reported; the length of the
        # whole text, and the number of characters received, revisions included.
        self._text = ""
        self._reported_end = 0
        self._characters = 0
        self._received = 0
        # Length of the text once all waiting revisions are carried out.
        self._expected = 0
        # The first half of a surrogate pair, which the next text completes.
        self._partial_pair = ""
        # End of the last word sent; spaces after it may have been reported, too.
        self._spoken_end = 0
        self._waiting = 0
        self._flushes = 0
        # Words whose audio an encoder still holds, and its duration.
        self._held_words = list[m.SpokenWord]()
        self._held_s = 0.0
        # Since the last flush: whether no word came, what the voice cannot read, and chunks that
        # wait for a word.
        self._has_no_word = True
        self._unreadable_parts = list[str]()
        self._waiting_chunks = list[EncodedChunk]()
        # The flush up to which text is being spoken; and whether the rest of the text is.
        self._flush: m.Flush | None = None
        self._is_last_part = False
        self._is_over = False
        self._is_resting = False
        self._loop = asyncio.get_running_loop()
        self._pacing = Pacing(hub.metrics, self._loop, hub.lateness, lease.account)
        self._last_active = self._loop.time()
        self._task: asyncio.Task[None] | None = None
        self._speaking: Speaking | None = None

    @property
    def sent_s(self) -> float:
        """Seconds of sound that were sent."""
        return self._pacing.playback.given_s

    # Commands; none of them waits for speech.

    def start(self) -> None:
        """Begin to speak."""
        self._task = asyncio.ensure_future(self._run())

    def push(self, text: str) -> str | None:
        """Take in text; return why not if it exceeds a limit."""
        if (refusal := self._too_much(text)) is not None:
            return refusal
        text, self._partial_pair = without_half(self._partial_pair + text)
        if text:
            self._on_text_received(text)
            self._inbox.append(text)
            self._text += text
            self._characters += len(text)
            self._waiting += len(text)
            self._set_expected_length(self._expected + len(text))
            self._pacing.text(self._characters)
            if self._waiting >= self._wake_size:
                self._wake.set()
        return None

    def revise(self, revision: m.Revise) -> str | None:
        """Take in a revision; return why not if its text exceeds a limit."""
        if (refusal := self._too_much(revision.text)) is not None:
            return refusal
        text, self._partial_pair = without_half(revision.text)
        self._on_text_received(text)
        self._inbox.append(replace(revision, text=text))
        self._revisions.append(self._last_active)
        self._waiting += len(text)
        self._set_expected_length(max(self._spoken_end, revision.at + len(text)))
        self._wake.set()
        return None

    def more(self, command: m.Text | m.Revise) -> int:
        """Return by how many characters a command would lengthen the text; a revision replaces text
        that waits."""
        if isinstance(command, m.Text):
            return len(command.text)
        return max(self._spoken_end, command.at + len(command.text)) - self._expected

    def _set_expected_length(self, characters: int) -> None:
        """Set the length that the text will have, which is reserved in the bill."""
        self._expected = characters
        self.bill.expect(characters)

    def _on_text_received(self, text: str) -> None:
        """Count and log text that was received, and postpone the breath."""
        if self._hub.settings.log_text:
            log.info("text", extra={"session": self._lease.id, "context": self.name, "text": text})
        self._received += len(text)
        self._breath_at = self._last_active + self._breath_s if self._breath_s else None
        self._hub.metrics.characters.labels(self._lease.protocol).inc(len(text))

    def _too_much(self, text: str) -> str | None:
        """Return which limit a text would exceed, as a sentence, or None."""
        self.touch()
        return self._hub.limits.too_much(len(text), waiting=self._waiting, received=self._received)

    def change(self, change: m.Deliver | m.Speaker) -> None:
        """Change the delivery or the speaker of the text that follows."""
        self.touch()
        self._inbox.append(change)

    def flush(self, flush: m.Flush) -> str | None:
        """Speak everything so far without waiting; return why not if too many flushes wait."""
        self.touch()
        if self._flushes >= self._hub.limits.flushes:
            return f"{self._flushes} flushes are pending, the limit: wait for their answers."
        self._inbox.append(flush)
        self._flushes += 1
        self._breath_at = None
        self._pacing.settled()
        self._wake.set()
        return None

    def finish(self) -> None:
        """Speak everything and then end. Calling it again does nothing."""
        self.finishing = True
        self._pacing.settled()
        self._wake.set()

    def played(self, played_s: float) -> str | None:
        """Take the listener's report of its playback; return why it cannot be true, or None."""
        try:
            self._pacing.played(played_s)
        except ConfigError as error:
            return str(error)
        self._wake.set()
        return None

    def touch(self) -> None:
        """Record that the client is active."""
        self._last_active = self._loop.time()

    def idle(self, now: float) -> bool:
        """Return whether no text has come for too long while there is nothing left to speak."""
        quiet_s = now - max(self._last_active, self._pacing.last_sent)
        return self._is_resting and not self._wake.is_set() and quiet_s > self.idle_s

    async def cancel(self, played_s: float | None, *, live: bool = False) -> None:
        """Stop at once and report what was heard.

        ``played_s``: how far the client's player is. None stands for all that was sent or, with
        ``live``, for the position of a player that plays in real time.
        """
        if live and played_s is None:
            # In whole milliseconds, as protocols report it, so that the heard words match the
            # reported time.
            played_s = round(self._pacing.playback.played_s(self._loop.time()), 3)
        await self._close(lambda: self._cancelled(played_s), "cancelled")

    def _cancelled(self, played_s: float | None) -> m.Cancelled:
        """Return the event that answers a cancel."""
        refusal = None if played_s is None else beyond(played_s, self.sent_s)
        played_s = self.sent_s if played_s is None else min(played_s, self.sent_s)
        # A step that is running on a thread adds only words after those already sent.
        heard = self._speaking.session.heard(played_s) if self._speaking else Heard(0, 0, "", 0.0)
        return m.Cancelled(self.name, heard, refusal)

    async def fail(self, code: str, message: str) -> None:
        """Report an error to the client and end the utterance."""
        await self._close(lambda: m.Failed(code, message, self.name, gone=True), code)
        if self._options.sole:
            self._outbox.end(code, message)

    async def _close(self, make_event: Callable[[], m.Event], outcome: str) -> None:
        """Send the last event and end the utterance. Calling it again does nothing."""
        async with self._outbox.turn():
            if self._is_over:
                return
            self._is_over = True
            try:
                await self._outbox.send_next(make_event())
            finally:
                # If the peer has left, it gets no event, but the task must still be ended here.
                self._leave(self, outcome)
                self._end_task()
        await self.stop()

    async def stop(self) -> None:
        """End the task; a chunk that is being made is discarded."""
        self._is_over = True
        if (task := self._end_task()) is not None:
            await asyncio.gather(task, return_exceptions=True)
        # A cancelled task keeps its traceback, whose frames refer back to this object: break the
        # cycle now.
        self._task = None

    def _end_task(self) -> asyncio.Task[None] | None:
        """Cancel the task and return it, unless it is the running one."""
        if self._task is None or self._task is asyncio.current_task():
            return None
        self._task.cancel()
        return self._task

    # Speaking.

    async def _run(self) -> None:
        """Speak the text: the task of this utterance."""
        try:
            # A client that begins too many texts waits here, before it uses a place; a cancelled
            # wait costs nothing.
            await self._lease.account.texts.turn()
            self._speaking = await self._hub.speaking(
                self._options, self._lease.account, self._lease.caller
            )
            await self._speak(self._speaking)
        except m.GoneError:
            return
        except SayaheadError as error:
            with contextlib.suppress(m.GoneError):
                await self.fail(m.code_of(error, otherwise="failed"), str(error))
        except Exception as error:
            log.exception("An utterance failed", extra={"session": self._lease.id})
            with contextlib.suppress(m.GoneError):
                await self.fail(
                    "failed", f"Internal error ({type(error).__name__}): the text is not at fault."
                )

    async def _speak(self, speaking: Speaking) -> None:
        """Make and send one chunk after the other until the text ends."""
        while True:
            await self._take_commands(speaking)
            is_all = self._flush is not None or self._is_last_part
            patience_s = 0.0 if is_all else self._patience_s(speaking)
            if patience_s and self._waiting < speaking.batch_size.enough:
                self._wake_size = speaking.batch_size.enough
                await self._wait_for_wake(self._loop.time() + patience_s)
                self._wake_size = 0
                continue
            speaking.session.follow(self._pacing.playback, self._loop.time())
            chunk = await speaking.pull(deadline=self._deadline(), patient=patience_s > 0)
            await self._report_skipped(speaking)
            if chunk is not None:
                await self._send_chunk_or_wait(chunk, speaking.sample_rate)
                await self._throttle()
            elif speaking.session.hungry:
                await self._wait_while_empty(patience_s)
            elif self._flush is not None:
                await self._warn_unreadable()
                await self._send(m.Flushed(self.name, self._flush.mark, self.sent_s))
                self._flush = None
            elif self._is_last_part:
                await self._end()
                return
            elif not (self._inbox or self.finishing):
                await self._wait_for_text(speaking)

    async def _take_commands(self, speaking: Speaking) -> None:
        """Pass the received items to the session, up to the next flush or the end."""
        while self._revisions:
            await self._revise(speaking)
        if self._flush is None and not self._is_last_part:
            self._flush = self._feed(speaking)
            self._is_last_part = self.finishing and self._flush is None

    def _patience_s(self, speaking: Speaking) -> float:
        """Return how long to wait for more text, so that one step speaks more words."""
        if speaking.session.keeps_up:
            return 0.0
        return self._pacing.patience_s(speaking.batch_size)

    async def _wait_while_empty(self, patience_s: float) -> None:
        """Wait for a command for at most ``patience_s`` if none is there."""
        if not self._inbox:
            await self._wait_for_wake(self._loop.time() + patience_s)

    async def _throttle(self) -> None:
        """Wait while the audio is too far ahead of playback, so that a cancelled text wastes
        little.

        A client that has sent the whole text gets it as fast as possible.
        """
        ahead_s = self._pacing.buffered_s() - self._hub.limits.buffered_audio_s
        if ahead_s > 0 and not self.finishing:
            await asyncio.sleep(ahead_s)

    async def _report_skipped(self, speaking: Speaking) -> None:
        """Report the characters that the voice cannot read."""
        while speaking.session.skipped:
            skipped = m.Skipped(self.name, *speaking.session.skipped.popleft())
            await self._send(skipped)
            if not self._options.hears_skipped:
                self._unreadable_parts.append(skipped.text)

    async def _end(self) -> None:
        """Finish the text, or fail if nothing of it could be read."""
        if self._has_no_word and self._unreadable_parts and not self.sent_s:
            await self.fail("unreadable", unreadable(self.bill.voice, self._unreadable_parts))
        else:
            await self._warn_unreadable()
            await self._close(self._finished, "done")

    def _finished(self) -> m.Finished:
        """Bill the whole text and return the event that ends it."""
        self.unheard_s = self._pacing.buffered_s()
        self.bill.spoken(self._characters, self.sent_s, over=True)
        return m.Finished(self.name, self.sent_s, self._characters)

    def note(self, lease: Lease, outcome: str) -> None:
        """Close the bill of this text, which is over, and record its figures in the lease and the
        trace."""
        self.bill.spoken(self._spoken_end, self.sent_s)
        self.bill.close()
        lease.texts = lease.texts + 1
        lease.underruns = lease.underruns + self._pacing.underruns
        if lease.first_audio_s is None:
            lease.first_audio_s = self._pacing.first_audio_s
        figures = {
            "characters": self._characters,
            "audio_s": self.sent_s,
            "underruns": self._pacing.underruns,
        }
        labels = {
            "session": lease.id,
            "protocol": lease.protocol,
            "key": lease.caller.name,
            "voice": self.bill.voice,
        }
        self._hub.traces.tell(lease.caller.trace, self._pacing, outcome, labels | figures)

    def _deadline(self) -> float:
        """Return when the next chunk is needed.

        It is later for clients with many texts, so that those with few do not wait for them. A
        chunk that is late already has no precedence over one that is needed now.
        """
        needed_at = max(self._pacing.deadline(), self._loop.time())
        return needed_at + PATIENCE_S * (self._hub.texts_of(self._lease) - 1)

    def _feed(self, speaking: Speaking) -> m.Flush | None:
        """Pass text to the session up to the next flush, and return that; or all of it, and the end
        if it came."""
        while self._inbox:
            item = self._inbox.popleft()
            if isinstance(item, m.Flush):
                self._flushes -= 1
                speaking.session.flush(end=item.end)
                return item
            if isinstance(item, str | m.Deliver | m.Speaker):
                pass_on(item, speaking.session)
        if self.finishing:
            speaking.session.finish()
        return None

    async def _revise(self, speaking: Speaking) -> None:
        """Carry out the next revision of the inbox.

        What was received before it goes to the session first; flushes among that are answered at
        once, as the revision replaces text that they were to speak. A revision beyond the end of
        the text is refused, and changes nothing.
        """
        session = speaking.session
        inbox = list(self._inbox)
        index = next(i for i, item in enumerate(inbox) if isinstance(item, m.Revise))
        earlier = inbox[:index]
        revision = inbox[index]
        received_at = self._revisions.popleft()
        assert isinstance(revision, m.Revise)
        del self._inbox[index]
        length = len(session.text) + sum(len(item) for item in earlier if isinstance(item, str))
        if revision.at > length:
            self._waiting -= len(revision.text)
            self._update_expected_length()
            message = (
                f"at is {revision.at}, but the text has {length} characters: nothing was revised."
            )
            await self._send(m.Failed("invalid_option", message, self.name, mark=revision.mark))
            return
        flushes = [] if self._flush is None else [self._flush]
        self._flush = None
        for item in earlier:
            self._inbox.popleft()
            if isinstance(item, m.Flush):
                self._flushes -= 1
                flushes.append(item)
            elif isinstance(item, str | m.Deliver | m.Speaker):
                pass_on(item, session)
        start = await speaking.revise(revision.at, revision.text)
        rest = "".join(item for item in self._inbox if isinstance(item, str))
        text = session.text
        self._reported_end = min(self._reported_end, start)
        self._text = text[self._reported_end :] + rest
        self._characters = len(text) + len(rest)
        self._waiting = self._characters - self._spoken_end
        self._update_expected_length()
        self._pacing.revised(start, len(text), received_at)
        for item in flushes:
            await self._send(m.Flushed(self.name, item.mark, self.sent_s))
        await self._send(m.Revised(self.name, revision.mark, start, text[start:]))

    def _update_expected_length(self) -> None:
        """Expect the length of the received text, if no revision waits."""
        if not self._revisions:
            self._set_expected_length(self._characters)

    async def _wait_for_wake(self, end_time: float) -> bool:
        """Wait for a command until time ``end_time``; return whether one came."""
        self._wake.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout_at(None if math.isinf(end_time) else end_time):
                await self._wake.wait()
        return self._wake.is_set()

    async def _wait_for_text(self, speaking: Speaking) -> None:
        """Wait for a command; all text so far has been read.

        If none comes until a breath is due, speak the pending words (``flush(end=False)``). Return
        earlier if the session may then have sound without more text (``early_s``)."""
        self._waiting = 0
        surplus = len(self._text) - self._hub.limits.pending_characters
        if surplus > 0:
            # Text without words, such as endless spaces, is not kept.
            self._text = self._text[surplus:]
            self._reported_end = self._reported_end + surplus
        self._is_resting = True
        breath_at = math.inf if self._breath_at is None else self._breath_at
        early_at = self._loop.time() + early_s(speaking.session)
        if not await self._wait_for_wake(min(breath_at, early_at)) and breath_at <= early_at:
            await asyncio.sleep(GRACE_S)
            if not self._wake.is_set():
                speaking.session.flush(end=False)
                self._breath_at = None
                self._pacing.settled()
        self._is_resting = False

    async def _send(self, event: m.Event) -> None:
        """Send an event unless the utterance is over."""
        async with self._outbox.turn():
            if not self._is_over:
                await self._outbox.send_next(event)

    async def _send_chunk_or_wait(self, chunk: EncodedChunk, rate: int) -> None:
        """Send a chunk, unless the text since the last flush has characters that the voice cannot
        read, and no word yet.

        Such chunks wait for the first word. If none comes, the text was unreadable: they are
        dropped, as silence, and an error is sent."""
        self._has_no_word = self._has_no_word and not chunk.words
        if self._has_no_word and self._unreadable_parts:
            self._waiting_chunks.append(chunk)
            return
        waiting = self._waiting_chunks
        self._waiting_chunks = []
        for ready in (*waiting, chunk):
            await self._send_chunk(ready, rate)

    async def _warn_unreadable(self) -> None:
        """Tell the client if nothing could be read since the last flush."""
        if self._has_no_word and self._unreadable_parts:
            why = unreadable(self.bill.voice, self._unreadable_parts)
            await self._send(m.Failed("unreadable", why, self.name, gone=False))
        self._has_no_word = True
        self._unreadable_parts.clear()
        self._waiting_chunks.clear()

    async def _send_chunk(self, chunk: EncodedChunk, rate: int) -> None:
        """Send a chunk, split into frames if the client wants them."""
        words = [spoken_word(word, rate) for word in chunk.words]
        self._held_words = [*self._held_words, *words]
        if not chunk.data:
            # An encoder waits for a full frame: the words are sent with its audio.
            self._held_s += chunk.samples / rate
            return
        if words:
            self._waiting = min(self._waiting, self._characters - words[-1].end)
        width = self._options.format.width
        out_rate = self._options.format.sample_rate or rate
        chunk_s = (
            len(chunk.data) / width / out_rate if width else self._held_s + chunk.samples / rate
        )
        frame_bytes = len(chunk.data)
        before_s = self.sent_s
        self._held_s = 0.0
        if width and self._options.frame_s is not None:
            frame_bytes = width * max(1, round(self._options.frame_s * out_rate))
        try:
            await self._outbox.send_each(self._frames(chunk.data, chunk_s, frame_bytes))
        finally:
            self._hub.metrics.audio.labels(self._lease.protocol).inc(self.sent_s - before_s)
        if not self._is_over:
            self._pacing.sent(chunk, duration_s=chunk_s)

    def _frames(self, chunk: bytes, chunk_s: float, frame_bytes: int) -> Iterator[m.Audio]:
        """Yield a chunk as frames of ``frame_bytes`` bytes, until the utterance is over."""
        for start in range(0, len(chunk), frame_bytes):
            if self._is_over:
                return
            data = chunk[start : start + frame_bytes]
            duration_s = chunk_s * len(data) / len(chunk)
            yield self._audio(
                data,
                duration_s,
                self.sent_s + duration_s if start + frame_bytes < len(chunk) else math.inf,
            )

    def _audio(self, data: bytes, duration_s: float, end_s: float) -> m.Audio:
        """Return an audio event with the words that begin before ``end_s``, and count it as
        sent."""
        # Tolerance for rounding: a word that begins exactly at the end belongs to the next frame.
        words = tuple(word for word in self._held_words if word.onset_s < end_s - 1e-5)
        self._held_words = self._held_words[len(words) :]
        start_s = self.sent_s
        start = self._reported_end
        text = ""
        if words:
            self._spoken_end = max(self._spoken_end, words[-1].end)
            rest = self._text[max(0, self._spoken_end - start) :].lstrip(CLOSING).lstrip()
            text = self._text[: len(self._text) - len(rest)]
            self._text = rest
            self._reported_end = start + len(text)
        self._pacing.give(duration_s)
        self.bill.spoken(self._spoken_end, self.sent_s)
        return m.Audio(self.name, data, start_s, duration_s, words, text, start)


def unreadable(voice: str, parts: list[str]) -> str:
    """Return the error message for a text of which nothing can be read."""
    text = " ".join(parts)
    return (
        f"The voice {voice} can read nothing of this text, {shown(text)}: choose a voice of its"
        " language."
    )


def spoken_word(word: WordTiming, rate: int) -> m.SpokenWord:
    """Return a word as protocols need it, with its times in seconds."""
    bounds_s = (word.onset_samples / rate, word.offset_samples / rate)
    return m.SpokenWord(
        word.text,
        word.start,
        word.end,
        *bounds_s,
        speaker=word.speaker,
        written=word.written,
        ends=word.ends,
    )


def pass_on(item: str | m.Deliver | m.Speaker, session: Session) -> None:
    """Pass text, a delivery or a change of speaker to a session. VoiceError for an unknown
    speaker."""
    match item:
        case m.Deliver(_, delivery):
            session.deliver(delivery)
        case m.Speaker(_, voice):
            session.take(Speaker(voice))
        case str():
            session.push(item)
