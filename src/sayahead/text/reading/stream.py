"""From fragments of text to final words: the normalizer of every language that has rules.

Characters pass the markup's filters, become tokens by the longest match of the language's
automaton, and tokens become words. A token is final when the automaton cannot go on, so nobody says
what waits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from sayahead.text.reading.automaton import DEAD
from sayahead.text.reading.characters import Filters
from sayahead.text.reading.context import START, UNHEARD, Context, Match, Reading
from sayahead.text.reading.grammar import Rule, is_boundary
from sayahead.text.reading.language import Language, language_of
from sayahead.text.reading.long_readings import in_portions
from sayahead.text.reading.pattern import NEWLINE, SENTENCE_END, SPACE, WHITE
from sayahead.text.reading.trace import TokenTrace, open_traces
from sayahead.text.reading.unspaced import numeral_portions, segments_of
from sayahead.types import Word

MAX_TOKEN = 160
"""Characters after which a token is decided, whatever could still follow."""
MAX_RUN = 60
"""Characters of a run that has no white space, and of one of letters and figures; a longer one is
cut."""
MAX_SPOKEN_WORDS = 8
"""Spoken words of one word; a longer reading is cut into portions of half as many."""
ENDING = ".!?…"
STRENGTH = ("", ",", "—", ";", ":", ".", "…", "!", "?")
CARRIED = frozenset(
    "phone code label pressure wind pulse version electrical after:electrical expiry setting".split()  # noqa: E501
)
"""What a cue announces across short words and commas: "Telefon ist: 0171"."""
WEEKDAY = frozenset(("weekday", "after:weekday_forms"))
PAUSED = CARRIED | WEEKDAY | {"capital"}
"""What goes on across a comma or a colon: "Mo., 3. Feb."."""
QUOTES = {'"': '"', "“": '"', "”": '"', "'": "'"}
"""Quotation marks, each as that which closes what it opens."""
QUOTED = {'"': frozenset({"quoted"}), "'": frozenset({"quoted", "ticked"})}
"""The tags of a token after a quotation mark that is open."""
GLUED = frozenset({"glued"})
"""The tag of a token with nothing between it and the word before."""
MARKED = frozenset({"marked"})
"""That of one with nothing between it and a mark before."""


@dataclass(slots=True)
class _Pending:
    """A word whose punctuation may still follow."""

    text: str
    start: int
    end: int
    mark: str = ""
    shown: str = ""
    """The mark as its script writes it, where that is another."""
    closes: str = ""
    ends: bool = False
    is_dotted: bool = False
    """Whether it ends with a full stop of its own, which at the end of a sentence is also that
    one's."""

    @property
    def is_over(self) -> bool:
        """Whether what touches it is another word."""
        return bool(self.mark or self.closes)


class TokenReader:
    """Turns fragments of any size into words that no later text can change (``Normalizer``)."""

    def __init__(self, language: Language, start: int = 0) -> None:
        """``start``: the place of the first character in the source text."""
        self.skipped: list[tuple[int, int, str]] = []
        self._language = language
        self._grammar = language.grammar
        self._filter = Filters(language.record, self.skipped, start)
        self._cut: Callable[[Word], Iterable[Word]] = portions
        if language.record.dotted_letters:
            self._cut = in_portions
        elif language.record.segmenter:
            self._cut = numeral_portions
        self._segments = None if language.record.spaced else segments_of(language.record)
        self._text = ""
        self._places: list[tuple[int, int]] = []
        self._at = 0
        self._last_end = start
        self._complete: list[tuple[int, int]] = []
        self._new_sentence()
        self._begin_token()

    # ---- the normalizer's methods --------------------------------------------------------------

    def push(self, fragment: str) -> list[Word]:
        """The words that became final through this fragment."""
        self._take(self._filter.push(fragment))
        return list(self._read(over=False))

    def flush(self) -> list[Word]:
        """The words still pending, the last one ending its sentence."""
        words = self._finish(SENTENCE_END)
        words += self._emit(ends=self._pending is not None)
        if words:
            words[-1] = replace(words[-1], ends=True)
        self._new_sentence()
        self._filter.end_line()
        self._begin_token()
        return words

    def breathe(self) -> list[Word]:
        """The words still pending, as they stand; the sentence goes on with what is pushed next."""
        words = self._finish(SPACE)
        words += self._emit()
        self._begin_token()
        return words

    def forget_spoken(self, *, begun: bool, over: bool) -> list[Word]:
        """Take all the text so far for spoken; returns the words that were still waiting.

        Where the last one was begun, it is handed out with later text.
        """
        if begun:
            self._take([*self._filter.flush(), (SPACE, self._filter.place, self._filter.place)])
            return []
        words = self.breathe()
        if over:
            self._new_sentence()
            self._begin_token()
        return words

    def _finish(self, last: str) -> list[Word]:
        """The words of all characters so far, as if ``last`` followed them."""
        place = self._filter.place
        self._take([*self._filter.flush(), (last, place, place)])
        words = list(self._read(over=True))
        self._at += 1
        return words

    # ---- characters ----------------------------------------------------------------------------

    def _take(self, characters: list[tuple[str, int, int]]) -> None:
        if self._at > MAX_TOKEN:
            self._text = self._text[self._at :]
            del self._places[: self._at]
            self._scanned -= self._at
            self._complete = [(end - self._at, state) for end, state in self._complete]
            self._at = 0
        if self._segments is not None:
            characters = self._segments.push(characters)
        self._text += "".join(char for char, _, _ in characters)
        self._places += ((start, end) for _, start, end in characters)

    # ---- characters to tokens ------------------------------------------------------------------

    def _new_sentence(self) -> None:
        self._context = Context()
        self._pending: _Pending | None = None
        self._opens = ""
        self._opens_at = -1
        self._quotes: set[str] = set()
        self._is_open = False
        self._is_paused = False
        self._is_aside = False

    def _begin_token(self, touching: frozenset[str] = frozenset()) -> None:
        """Nothing of the token at ``_at`` has been looked at."""
        tags = self._context.tags
        self._touching = touching
        self._states = self._grammar.automaton.states()
        self._state = self._states.start(self._grammar.counting(tags | touching))
        self._scanned = self._at
        self._complete = []

    def _read(self, *, over: bool) -> Iterator[Word]:
        """The words that the characters so far make final; where they are ``over``, all but the
        last one."""
        while self._at < len(self._text) - over:
            char = self._text[self._at]
            if char in WHITE + SENTENCE_END:
                self._reach(self._places[self._at][0])
                yield from self._emit(ends=char == SENTENCE_END)
                self._at += 1
                self._begin_token()
                continue
            if not self._is_decided(over=over):
                return
            yield from self._token()

    def _is_decided(self, *, over: bool) -> bool:
        """Follow the automaton; whether no rule can make a longer token of what may still come."""
        while self._state != DEAD and self._scanned < len(self._text):
            size = self._scanned - self._at
            if size == MAX_TOKEN or (size == MAX_RUN and self._is_cut(self._scanned)):
                return True
            self._state = self._states.step(self._state, self._text[self._scanned])
            if self._state == DEAD:
                break
            self._scanned += 1
            accepted = self._states.accepts[self._state]
            if accepted and self._scanned - self._at < MAX_TOKEN:
                self._complete.append((self._scanned, self._state))
                if accepted[0] in self._grammar.at_once:
                    return True
        goes_on = self._state != DEAD and (self._states.is_open[self._state] or self._may_grow())
        is_cut = self._text[-1].isalnum() and self._run_end() == len(self._text)
        return over or not (goes_on or is_cut)

    def _may_grow(self) -> bool:
        """Whether a letter or figure behind all that there is would make it another token."""
        return self._text[-1].isalnum() and not self._grammar.closed.issuperset(
            self._states.accepts[self._state]
        )

    def _run_end(self) -> int:
        """Where a token may end at the earliest: not between two letters or figures."""
        end = self._at + 1
        most = min(len(self._text), self._at + MAX_RUN)
        while end < most and not is_boundary(self._text, end):
            end += 1
        return end

    def _is_cut(self, end: int) -> bool:
        """Whether letters and figures are too many to be one token, so that it ends among them."""
        return (
            end - self._at == MAX_RUN
            and self._text[self._at : end + 1].isalnum()
            and len(self._text) > end
        )

    def _token(self) -> Iterator[Word]:
        """Read the token at hand by the longest rule that means it, or as it is written."""
        candidates = self._candidates()
        refused: list[Rule] = []
        for match in candidates:
            reading = self._language.say(match)
            if reading is not None:
                self._trace(match, reading, refused, candidates)
                yield from self._say(match.rule, match.text, reading)
                return
            refused.append(match.rule)
        text = self._text[self._at : self._run_end()]
        yield from self._say(None, text, self._language.unruled(text))

    def _candidates(self) -> Iterator[Match]:
        """What the token may be: the longest match first, of equal ones the rule that comes first.

        Of right context a rule sees all that its pattern takes, so no token is offered it twice.
        """
        offered: set[tuple[int, int]] = set()
        most = self._run_end()
        text = self._text[:most] if self._is_cut(most) else self._text
        for end, state in reversed(self._complete):
            for number in self._states.accepts[state]:
                found = (
                    self._grammar.match(number, text, self._at, end) if end <= len(text) else None
                )
                if (
                    found is not None
                    and found.end() > self._at
                    and (number, found.end()) not in offered
                ):
                    offered.add((number, found.end()))
                    groups = {name: _in_line(part) for name, part in found.groupdict("").items()}
                    yield Match(
                        self._grammar.rules[number],
                        self._language,
                        self._context,
                        _in_line(found[0]),
                        groups,
                    )

    def _trace(
        self, match: Match, reading: Reading, refused: list[Rule], others: Iterator[Match]
    ) -> None:
        """Tell who asks why the token is read as it is."""
        traces = open_traces()
        if traces is None:
            return
        start = self._places[self._at][0]
        end = self._places[self._at + len(match.text) - 1][1]
        losers = (*refused, *(other.rule for other in others))
        captured = {name: text for name, text in match.groups.items() if text}
        traces.append(TokenTrace(start, end, match.rule, captured, reading.text, losers))

    # ---- tokens to words -----------------------------------------------------------------------

    def _say(self, rule: Rule | None, text: str, reading: Reading) -> Iterator[Word]:
        """Take in a token with its reading."""
        start = self._places[self._at][0]
        self._at += len(text)
        end = self._places[self._at - 1][1]
        if reading.text:
            yield from self._word(text, reading, start, end)
        elif reading.mark:
            yield from self._mark(reading, start, end, at_once=rule is not None and rule.at_once)
        elif UNHEARD in reading.tags or (self._pending is None and any(map(str.isalnum, text))):
            self.skipped.append((start, end, text))
        else:
            self._reach(end)
        if text in QUOTES:
            self._quote(QUOTES[text], text)
        context = self._after(rule, text, reading)
        quoted = frozenset[str]().union(*(QUOTED[mark] for mark in self._quotes))
        self._context = replace(context, tags=(context.tags - QUOTED["'"]) | quoted)
        self._begin_token(GLUED if reading.text else MARKED if reading.mark else self._touching)

    def _quote(self, closing: str, mark: str) -> None:
        """Take in a quotation mark: it closes what is open, or opens where nothing touches it."""
        if closing in self._quotes:
            self._quotes.discard(closing)
        elif mark != "”" and not (mark == "'" and self._touching == GLUED):
            self._quotes.add(closing)

    def _word(self, text: str, reading: Reading, start: int, end: int) -> Iterator[Word]:
        """Take in what is said for a token: a word, or more of the one that it touches."""
        word = self._pending
        if word is not None and (word.is_over or word.end - word.start >= MAX_RUN):
            yield from self._emit()
            word = None
        if word is None:
            first = self._opens_at if self._opens else start
            word = _Pending(self._opens + reading.text, first, end)
            self._pending = word
            self._is_aside = self._is_aside or bool(self._opens)
            self._opens = ""
        else:
            word.text += ("" if "'" in (word.text[-1], reading.text[0]) else " ") + reading.text
            word.end = end
        word.mark = reading.mark
        word.ends = reading.ends
        word.is_dotted = text.endswith(".")

    def _reach(self, end: int) -> None:
        """The word at hand goes to a place of the source: what is silent there belongs to it."""
        if self._pending is not None:
            self._pending.end = max(self._pending.end, end)

    def _mark(self, reading: Reading, start: int, end: int, *, at_once: bool) -> Iterator[Word]:
        """Take in punctuation: it belongs to the word before it, a bracket that opens to the next
        one.

        ``at_once``: the word waits for no more marks.
        """
        word = self._pending
        if reading.mark == "(":
            if word is None or word.is_over:
                yield from self._emit()
                self._opens = "("
                self._opens_at = start
        elif reading.mark == ")":
            self._close(end)
        elif word is not None:
            word.end = end
            if STRENGTH.index(reading.mark) > STRENGTH.index(word.mark):
                word.mark = reading.mark
                word.shown = reading.shown
            word.ends = word.ends or reading.ends
            if at_once or (reading.mark in ",;—" and not word.ends):
                yield from self._emit()
        elif self._is_open:
            yield from self._lone_mark(reading, start, end)

    def _close(self, end: int) -> None:
        """Close a bracket that was opened before a word."""
        if self._opens:
            self._opens = ""
            return
        if self._pending is not None and self._is_aside:
            self._pending.closes = ")"
        self._is_aside = False
        self._reach(end)

    def _lone_mark(self, reading: Reading, start: int, end: int) -> Iterator[Word]:
        """A mark by itself: a pause, or the end of a sentence whose last word is out already."""
        self._opens = ""
        if reading.ends:
            yield Word(reading.mark, start, end, ends=True)
            self._end_sentence()
        elif not self._is_paused:
            yield Word(reading.mark, start, end)
            self._is_paused = True
            self._last_end = end

    def _emit(self, *, ends: bool = False) -> Iterator[Word]:
        """Hand out the pending word; with ``ends`` the sentence is over."""
        word = self._pending
        self._pending = None
        if word is None:
            if ends and self._is_open:
                yield Word(".", self._last_end, self._last_end, ends=True)
                self._end_sentence()
            return
        is_last = ends or word.ends
        mark = word.shown or word.mark or ("." if is_last and word.is_dotted else "")
        text = word.text + word.closes
        text += "" if mark == "." and text.endswith(".") else mark
        self._is_open = True
        self._is_paused = False
        self._last_end = word.end
        yield from self._cut(Word(text, word.start, word.end, ends=is_last))
        if is_last:
            self._end_sentence()

    def _end_sentence(self) -> None:
        self._quotes = set()
        self._is_open = False
        self._is_paused = False
        self._is_aside = False
        self._context = Context()

    def _after(self, rule: Rule | None, text: str, reading: Reading) -> Context:
        """What the token means for the next."""
        before = self._context
        if reading.ends:
            return Context()
        kind = rule.kind if rule is not None else "word"
        if not reading.text:
            return self._after_silence(kind, reading)
        word = reading.word or text
        both = self._language.tags_of(f"{before.word}-{word}") if before.word else frozenset[str]()
        tags = {kind, *reading.tags, *self._language.tags_of(word), *both, *shape_of(word)}
        if START in before.tags:
            tags.add("first")
        if kind == "word" and self._carries(word):
            tags |= before.tags & CARRIED
        return Context(
            frozenset(tags),
            word,
            before.word,
            is_one=reading.is_one,
            is_million=reading.is_million,
            form=reading.form or (before.form if "ordinal" in before.tags else ""),
            noun=reading.noun,
        )

    def _after_silence(self, kind: str, reading: Reading) -> Context:
        """What is kept after a mark, and after what is not heard."""
        before = self._context
        if not reading.mark:
            return replace(before, tags=before.tags | reading.tags)
        kept = before.tags & PAUSED if reading.mark in ",:" else frozenset()
        word = "" if kept.isdisjoint(WEEKDAY) else before.before
        return Context(frozenset({kind, *kept, *reading.tags}), word, before.word)

    def _carries(self, word: str) -> bool:
        """Whether what a cue announced is still to come after a word: "Die PIN lautet 4711"."""
        if self._context.word[-1:].isdecimal():
            return "version" in self._context.tags
        is_short = word.isalpha() and (word.islower() or word.isupper()) and len(word) < 5
        return is_short or word in self._language.record.linking


def _in_line(text: str) -> str:
    """A text as it is without line breaks."""
    return text.replace(NEWLINE, SPACE)


def shape_of(word: str) -> list[str]:
    """What the form of a word is for the rules of the next token."""
    shapes = {
        "letter": len(word) == 1 and word.isalpha(),
        "capital": word[:1].isupper(),
        "acronym": len(word) > 1 and word.isupper(),
        "figures": word[-1:].isdecimal(),
    }
    return [name for name, is_so in shapes.items() if is_so]


def portions(word: Word) -> Iterator[Word]:
    """A word, or more where its reading is long, each with its share of the source."""
    spoken = word.text.split()
    size = word.end - word.start
    step = MAX_SPOKEN_WORDS // 2 if len(spoken) > MAX_SPOKEN_WORDS else MAX_SPOKEN_WORDS
    parts = [" ".join(spoken[i : i + step]) for i in range(0, len(spoken), step)]
    for number, part in enumerate(parts, 1):
        start = word.start - (-size * (number - 1) // len(parts))
        end = word.start - (-size * number // len(parts))
        is_last = number == len(parts)
        yield Word(part, start, end, word.ends and is_last, continues=not is_last)


def new_reader(start: int = 0, tag: str = "en") -> TokenReader:
    """A reader of a language for text that begins at a place of the source."""
    return TokenReader(language_of(tag), start)


def normalize(text: str, tag: str = "en") -> list[Word]:
    """The words of a whole text, the last one ending its sentence."""
    reader = new_reader(tag=tag)
    words = reader.push(text) + reader.flush()
    return [replace(word, ends=word.ends or word is words[-1]) for word in words]
