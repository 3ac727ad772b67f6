"""One text on one connection: fed by commands, spoken chunk by chunk, each made once the last was
sent."""

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
from sayahead.server.json_messages import joined
from sayahead.server.operation.usage import Bill
from sayahead.server.outbox import Outbox
from sayahead.server.synthesis import messages as m
from sayahead.server.synthesis.pacing import Pacing
from sayahead.server.synthesis.threads import EncodedChunk, Speaking
from sayahead.speech import early_s
from sayahead.types import WordTiming

log = logging.getLogger("sayahead.server")
# How much longer a chunk may wait for each further text of its client.
PATIENCE_S = 0.1
GRACE_S = 0.01
"""Time in which a busy event loop can read text that arrived before a breath was due."""
CLOSING = ")]}»”’\"'"  # Goes with the word before it.


class Utterance:
    """A stream of text on its way through a voice to the peer."""

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
        """``leave`` is called with the outcome once it is over."""
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
        # When a breath is due, unless more text comes; None: all was flushed.
        self._breath_at: float | None = None
        self.unheard_s = 0.0
        # What came and was not yet passed on to the session; of revisions, how many, and when each
        # came.
        self._inbox: deque[str | m.Flush | m.Revise | m.Deliver | m.Speaker] = deque()
        self._revisions = deque[float]()
        self._wake = asyncio.Event()
        # Text that leaves fewer characters waiting than these wakes nobody.
        self._enough = 0
        # The text from `_reported_end` on, which no chunk has reported yet; how long all of it is,
        # and how much came.
        self._text = ""
        self._reported_end = 0
        self._characters = 0
        self._received = 0
        # How long it will be once the revisions that wait are carried out.
        self._expected = 0
        # The first half of a character, which the next text completes.
        self._half = ""
        # End of the last word that was sent; blanks after it may have been reported, too.
        self._spoken_end = 0
        self._waiting = 0
        self._flushes = 0
        # Words whose audio an encoder still holds, and how long that is.
        self._held = list[m.SpokenWord]()
        self._held_s = 0.0
        # Until there is a word after the last flush: what the voice cannot read, and the sound that
        # waits for a word.
        self._wordless = True
        self._unread = list[str]()
        self._mute = list[EncodedChunk]()
        # The flush whose text is being spoken, and whether the rest of all text is.
        self._flush: m.Flush | None = None
        self._ending = False
        self._over = False
        self._resting = False
        self._loop = asyncio.get_running_loop()
        self._pacing = Pacing(hub.metrics, self._loop, hub.lateness, lease.account)
        self._last_sign = self._loop.time()
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
        """Take in text; the reason if it is too much."""
        if (refusal := self._too_much(text)) is not None:
            return refusal
        text, self._half = joined(self._half + text)
        if text:
            self._take(text)
            self._inbox.append(text)
            self._text += text
            self._characters += len(text)
            self._waiting += len(text)
            self._expect(self._expected + len(text))
            self._pacing.text(self._characters)
            if self._waiting >= self._enough:
                self._wake.set()
        return None

    def revise(self, revision: m.Revise) -> str | None:
        """Take in a revision; the reason if it has too much text."""
        if (refusal := self._too_much(revision.text)) is not None:
            return refusal
        text, self._half = joined(revision.text)
        self._take(text)
        self._inbox.append(replace(revision, text=text))
        self._revisions.append(self._last_sign)
        self._waiting += len(text)
        self._expect(max(self._spoken_end, revision.at + len(text)))
        self._wake.set()
        return None

    def more(self, command: m.Text | m.Revise) -> int:
        """How many characters more would wait to be spoken: a revision replaces those that wait
        from a place on."""
        if isinstance(command, m.Text):
            return len(command.text)
        return max(self._spoken_end, command.at + len(command.text)) - self._expected

    def _expect(self, characters: int) -> None:
        """The text will have so many characters."""
        self._expected = characters
        self.bill.expect(characters)

    def _take(self, text: str) -> None:
        """Text came."""
        if self._hub.settings.log_text:
            log.info("text", extra={"session": self._lease.id, "context": self.name, "text": text})
        self._received += len(text)
        self._breath_at = self._last_sign + self._breath_s if self._breath_s else None
        self._hub.metrics.characters.labels(self._lease.protocol).inc(len(text))

    def _too_much(self, text: str) -> str | None:
        """The limit that a text would break, as a sentence."""
        self.touch()
        return self._hub.limits.too_much(len(text), waiting=self._waiting, received=self._received)

    def change(self, change: m.Deliver | m.Speaker) -> None:
        """Say the text that follows in another way, or have somebody else say it."""
        self.touch()
        self._inbox.append(change)

    def flush(self, flush: m.Flush) -> str | None:
        """Speak all so far; the reason if too many flushes wait."""
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
        """Speak all, then end. Harmless when repeated."""
        self.finishing = True
        self._pacing.settled()
        self._wake.set()

    def played(self, played_s: float) -> str | None:
        """The listener has played so much; why that cannot be."""
        try:
            self._pacing.played(played_s)
        except ConfigError as error:
            return str(error)
        self._wake.set()
        return None

    def touch(self) -> None:
        """A sign of life."""
        self._last_sign = self._loop.time()

    def idle(self, now: float) -> bool:
        """Whether no text came for too long, while nothing is left to speak."""
        quiet_s = now - max(self._last_sign, self._pacing.last_sent)
        return self._resting and not self._wake.is_set() and quiet_s > self.idle_s

    async def cancel(self, played_s: float | None, *, live: bool = False) -> None:
        """Fall silent at once, and report what was heard by a player that has come so far.

        None: to the end; or if ``live``, as far as one that plays in real time what it gets.
        """
        if live and played_s is None:
            # In whole milliseconds, as protocols tell it: the words must be those of that time.
            played_s = round(self._pacing.playback.played_s(self._loop.time()), 3)
        await self._close(lambda: self._cancelled(played_s), "cancelled")

    def _cancelled(self, played_s: float | None) -> m.Cancelled:
        message = None if played_s is None else beyond(played_s, self.sent_s)
        played_s = self.sent_s if played_s is None else min(played_s, self.sent_s)
        # What a thread is adding right now comes after all that was sent.
        heard = self._speaking.session.heard(played_s) if self._speaking else Heard(0, 0, "", 0.0)
        return m.Cancelled(self.name, heard, message)

    async def fail(self, code: str, message: str) -> None:
        """Report why the utterance ends, and end it."""
        await self._close(lambda: m.Failed(code, message, self.name, gone=True), code)
        if self._options.sole:
            self._outbox.end(code, message)

    async def _close(self, last: Callable[[], m.Event], outcome: str) -> None:
        """Send the last event and free the name; harmless when repeated."""
        async with self._outbox.turn():
            if self._over:
                return
            self._over = True
            try:
                await self._outbox.send_next(last())
            finally:
                # Who has left gets no event, but nobody else knows of the task from now on.
                self._leave(self, outcome)
                self._end_task()
        await self.stop()

    async def stop(self) -> None:
        """End the task; what a thread is making is thrown away."""
        self._over = True
        if (task := self._end_task()) is not None:
            await asyncio.gather(task, return_exceptions=True)
        # It keeps how it was cancelled, with all frames up to here: a circle, which would be
        # collected much later.
        self._task = None

    def _end_task(self) -> asyncio.Task[None] | None:
        """Cancel the task and return it, if it is another than the one that runs."""
        if self._task is None or self._task is asyncio.current_task():
            return None
        self._task.cancel()
        return self._task

    # Speaking.

    async def _run(self) -> None:
        try:
            # Those of a client who begins too many wait, and hold up nothing else of it; who is
            # cancelled is no burden.
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
        while True:
            await self._take_commands(speaking)
            is_all = self._flush is not None or self._ending
            patience_s = 0.0 if is_all else self._patience_s(speaking)
            if patience_s and self._waiting < speaking.batch_size.enough:
                self._enough = speaking.batch_size.enough
                await self._woken(self._loop.time() + patience_s)
                self._enough = 0
                continue
            speaking.session.follow(self._pacing.playback, self._loop.time())
            chunk = await speaking.pull(deadline=self._deadline(), patient=patience_s > 0)
            await self._tell_skipped(speaking)
            if chunk is not None:
                await self._give_spoken(chunk, speaking.sample_rate)
                await self._stay_near()
            elif speaking.session.hungry:
                await self._until_fed(patience_s)
            elif self._flush is not None:
                await self._warn_unreadable()
                await self._send(m.Flushed(self.name, self._flush.mark, self.sent_s))
                self._flush = None
            elif self._ending:
                await self._end()
                return
            elif not (self._inbox or self.finishing):
                await self._rest(speaking)

    async def _take_commands(self, speaking: Speaking) -> None:
        """Carry out what came, up to the next flush, or to the end."""
        while self._revisions:
            await self._revise(speaking)
        if self._flush is None and not self._ending:
            self._flush = self._feed(speaking)
            self._ending = self.finishing and self._flush is None

    def _patience_s(self, speaking: Speaking) -> float:
        """How long more text may be awaited, so that more words are said in one step."""
        if speaking.session.keeps_up:
            return 0.0
        return self._pacing.patience_s(speaking.batch_size)

    async def _until_fed(self, patience_s: float) -> None:
        """Wait for text, but not for longer than that."""
        if not self._inbox:
            await self._woken(self._loop.time() + patience_s)

    async def _stay_near(self) -> None:
        """Far ahead of playback, wait: a text that is cancelled then costs little. Whoever has sent
        all of it, such as for a file, has it as fast as it is made and read."""
        ahead_s = self._pacing.buffered_s() - self._hub.limits.buffered_audio_s
        if ahead_s > 0 and not self.finishing:
            await asyncio.sleep(ahead_s)

    async def _tell_skipped(self, speaking: Speaking) -> None:
        while speaking.session.skipped:
            skipped = m.Skipped(self.name, *speaking.session.skipped.popleft())
            await self._send(skipped)
            if not self._options.hears_skipped:
                self._unread.append(skipped.text)

    async def _end(self) -> None:
        """All of the text is spoken, or none of it can be."""
        if self._wordless and self._unread and not self.sent_s:
            await self.fail("unreadable", unreadable(self.bill.voice, self._unread))
        else:
            await self._warn_unreadable()
            await self._close(self._finished, "done")

    def _finished(self) -> m.Finished:
        self.unheard_s = self._pacing.buffered_s()
        self.bill.spoken(self._characters, self.sent_s, over=True)
        return m.Finished(self.name, self.sent_s, self._characters)

    def note(self, lease: Lease, outcome: str) -> None:
        """What the log and traces are to say of this text, which is over."""
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
        whose = {
            "session": lease.id,
            "protocol": lease.protocol,
            "key": lease.caller.name,
            "voice": self.bill.voice,
        }
        self._hub.traces.tell(lease.caller.trace, self._pacing, outcome, whose | figures)

    def _deadline(self) -> float:
        """When the next chunk is needed; later for who has many texts, so that one who has few
        waits for none of them. What is late already has no precedence over what is needed now."""
        needed = max(self._pacing.deadline(), self._loop.time())
        return needed + PATIENCE_S * (self._hub.texts_of(self._lease) - 1)

    def _feed(self, speaking: Speaking) -> m.Flush | None:
        """Pass on the text up to the next flush, which is returned, or all of it, and the end if
        that came."""
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
        """Carry out the next revision, and all that came before it.

        Flushes that wait are taken back with what they were to speak, and answered, unless the
        revision is refused."""
        session = speaking.session
        inbox = list(self._inbox)
        place = next(i for i, item in enumerate(inbox) if isinstance(item, m.Revise))
        before = inbox[:place]
        revision = inbox[place]
        time = self._revisions.popleft()
        assert isinstance(revision, m.Revise)
        del self._inbox[place]
        most = len(session.text) + sum(len(item) for item in before if isinstance(item, str))
        if revision.at > most:
            self._waiting -= len(revision.text)
            self._expect_known()
            message = (
                f"at is {revision.at}, but the text has {most} characters: nothing was revised."
            )
            await self._send(m.Failed("invalid_option", message, self.name, mark=revision.mark))
            return
        flushes = [] if self._flush is None else [self._flush]
        self._flush = None
        for item in before:
            self._inbox.popleft()
            if isinstance(item, m.Flush):
                self._flushes -= 1
                flushes.append(item)
            elif isinstance(item, str | m.Deliver | m.Speaker):
                pass_on(item, session)
        at = await speaking.revise(revision.at, revision.text)
        later = "".join(item for item in self._inbox if isinstance(item, str))
        text = session.text
        self._reported_end = min(self._reported_end, at)
        self._text = text[self._reported_end :] + later
        self._characters = len(text) + len(later)
        self._waiting = self._characters - self._spoken_end
        self._expect_known()
        self._pacing.revised(at, len(text), time)
        for item in flushes:
            await self._send(m.Flushed(self.name, item.mark, self.sent_s))
        await self._send(m.Revised(self.name, revision.mark, at, text[at:]))

    def _expect_known(self) -> None:
        """Where no revision waits, it is known how long the text is."""
        if not self._revisions:
            self._expect(self._characters)

    async def _woken(self, until: float) -> bool:
        """Wait for a command; whether one came in time."""
        self._wake.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout_at(None if math.isinf(until) else until):
                await self._wake.wait()
        return self._wake.is_set()

    async def _rest(self, speaking: Speaking) -> None:
        """Wait for a command, or until it is time for a breath: all text so far was read."""
        self._waiting = 0
        surplus = len(self._text) - self._hub.limits.pending_characters
        if surplus > 0:
            # Text without words, such as blanks without end, is not kept.
            self._text = self._text[surplus:]
            self._reported_end = self._reported_end + surplus
        self._resting = True
        breath_at = math.inf if self._breath_at is None else self._breath_at
        early_at = self._loop.time() + early_s(speaking.session)
        if not await self._woken(min(breath_at, early_at)) and breath_at <= early_at:
            await asyncio.sleep(GRACE_S)
            if not self._wake.is_set():
                speaking.session.flush(end=False)
                self._breath_at = None
                self._pacing.settled()
        self._resting = False

    async def _send(self, event: m.Event) -> None:
        async with self._outbox.turn():
            if not self._over:
                await self._outbox.send_next(event)

    async def _give_spoken(self, chunk: EncodedChunk, rate: int) -> None:
        """Send a chunk. Where all so far cannot be read, it waits for a word: there may be none."""
        self._wordless = self._wordless and not chunk.words
        if self._wordless and self._unread:
            self._mute.append(chunk)
            return
        mute = self._mute
        self._mute = []
        for each in (*mute, chunk):
            await self._give(each, rate)

    async def _warn_unreadable(self) -> None:
        """Tell that nothing could be read since the last flush."""
        if self._wordless and self._unread:
            why = unreadable(self.bill.voice, self._unread)
            await self._send(m.Failed("unreadable", why, self.name, gone=False))
        self._wordless = True
        self._unread.clear()
        self._mute.clear()

    async def _give(self, chunk: EncodedChunk, rate: int) -> None:
        """Send a chunk, in frames if the client wants them."""
        words = [spoken_word(word, rate) for word in chunk.words]
        self._held = [*self._held, *words]
        if not chunk.data:
            # An encoder fills a frame first: the words go with its audio.
            self._held_s += chunk.samples / rate
            return
        if words:
            self._waiting = min(self._waiting, self._characters - words[-1].end)
        width = self._options.format.width
        out_rate = self._options.format.sample_rate or rate
        chunk_s = (
            len(chunk.data) / width / out_rate if width else self._held_s + chunk.samples / rate
        )
        step = len(chunk.data)
        before_s = self.sent_s
        self._held_s = 0.0
        if width and self._options.frame_s is not None:
            step = width * max(1, round(self._options.frame_s * out_rate))
        try:
            await self._outbox.send_each(self._frames(chunk.data, chunk_s, step))
        finally:
            self._hub.metrics.audio.labels(self._lease.protocol).inc(self.sent_s - before_s)
        if not self._over:
            self._pacing.sent(chunk, duration_s=chunk_s)

    def _frames(self, chunk: bytes, chunk_s: float, step: int) -> Iterator[m.Audio]:
        """A chunk's bytes in frames of so many, until the utterance is over."""
        for at in range(0, len(chunk), step):
            if self._over:
                return
            data = chunk[at : at + step]
            duration_s = chunk_s * len(data) / len(chunk)
            yield self._audio(
                data, duration_s, self.sent_s + duration_s if at + step < len(chunk) else math.inf
            )

    def _audio(self, data: bytes, duration_s: float, end_s: float) -> m.Audio:
        """Audio with the words that begin before ``end_s``; from now on it counts as sent."""
        # A sum of seconds is not exact: who begins where this ends, comes next.
        words = tuple(word for word in self._held if word.onset_s < end_s - 1e-5)
        self._held = self._held[len(words) :]
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
    """Why a text of which nothing can be read is an error."""
    text = " ".join(parts)
    return (
        f"The voice {voice} can read nothing of this text, {shown(text)}: choose a voice of its"
        " language."
    )


def spoken_word(word: WordTiming, rate: int) -> m.SpokenWord:
    """A word as protocols get it, its times in seconds."""
    times = (word.onset_samples / rate, word.offset_samples / rate)
    return m.SpokenWord(
        word.text,
        word.start,
        word.end,
        *times,
        speaker=word.speaker,
        written=word.written,
        ends=word.ends,
    )


def pass_on(item: str | m.Deliver | m.Speaker, session: Session) -> None:
    """Give a session a piece of its text, or who says the next one, or how. VoiceError for
    nobody."""
    match item:
        case m.Deliver(_, delivery):
            session.deliver(delivery)
        case m.Speaker(_, voice):
            session.take(Speaker(voice))
        case str():
            session.push(item)
