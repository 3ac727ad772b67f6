"""From fragments of text to final words: the normalizer of every language that has rules.

Characters pass the markup's filters, become tokens by the longest match of the language's
automaton, and tokens become words. A token is final when the automaton cannot go on, so nobody says
what waits."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from sayahead.text import Skipped
from sayahead.text.markup import Text
from sayahead.text.parts import parted
from sayahead.text.reading.automaton import DEAD
from sayahead.text.reading.characters import Filters
from sayahead.text.reading.context import START, UNHEARD, Context, Match, Reading
from sayahead.text.reading.grammar import LETTER, Rule, is_letter
from sayahead.text.reading.language import Language, language_of
from sayahead.text.reading.long_readings import portions
from sayahead.text.reading.pattern import SENTENCE_END, SPACE, WHITE
from sayahead.text.reading.trace import TokenTrace, open_traces
from sayahead.text.reading.unspaced import numeral_portions, segments_of
from sayahead.types import Delivery, Word

MAX_TOKEN = 160
"""Characters after which a token is decided, whatever could still follow."""
MAX_RUN = 60
"""Characters of a run that has no white space, and of one of letters and figures; a longer one is
cut."""
MAX_SPOKEN_WORDS = 8
"""Spoken words of one word; a longer reading is cut into portions of half as many."""
BETWEEN = WHITE + SENTENCE_END
"""What parts tokens."""
STRENGTH = ("", ",", "—", ";", ":", ".", "…", "!", "?")
CARRIED = frozenset(
    "phone dialled code label pressure wind pulse version electrical after:electrical expiry setting".split()  # noqa: E501
)
"""What a cue announces across short words and commas: "Telefon ist: 0171"."""
WEEKDAY = frozenset(("weekday", "after:weekday_forms"))
PAUSED = CARRIED | WEEKDAY | {"capital"}
"""What goes on across a comma or a colon: "Mo., 3. Feb."."""
QUESTION = Delivery(pitch_range=0.4, rise=6.0)
"""The last word of a question that is answered with yes or no: its fall becomes a rise."""
ENDINGS = {("?", False): QUESTION}
"""How a sentence's last word is said, by its mark and whether a question falls."""
MAX_OPENING = 40
"""Characters of a clause in which a question word may begin it."""
QUOTES = {'"': '"', "“": '"', "”": '"', "'": "'"}
"""Quotation marks, each as that which closes what it opens."""
QUOTED = {'"': frozenset({"quoted"}), "'": frozenset({"quoted", "ticked"})}
"""The tags of a token after a quotation mark that is open."""
GLUED = frozenset({"glued"})
"""The tag of a token with nothing between it and the word before."""
FIRST = frozenset({"first"})
"""The tag of a sentence's first word."""
MARKED = frozenset({"marked"})
"""That of one with nothing between it and a mark before."""

_CLAUSE = re.compile(r"\A.*[,;:—] ")
_RUN = re.compile(rf"{LETTER}{{1,{MAX_RUN}}}|.", re.DOTALL)


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
        self.skipped: Skipped = []
        self._language = language
        self._grammar = language.grammar
        self._filter = Filters(language.record, self.skipped, start)
        self._cut: Callable[[str], Sequence[str]] = few_words
        if language.record.dotted_letters:
            self._cut = portions
        elif language.record.segmenter:
            self._cut = numeral_portions
        self._segments = None if language.record.spaced else segments_of(language.record)
        self._text = ""
        self._places: list[tuple[int, int]] = []
        self._at = 0
        self._last_end = start
        self._words: list[Word] = []
        """Final ones that are still to be handed out."""
        self._complete: list[tuple[int, int]] = []
        """The ends of what rules accept of a token, each with the automaton's state."""
        self._quotes: set[str] = set()
        self._is_open = False
        self._is_paused = False
        self._is_aside = False
        self._new_sentence()
        self._start_token()

    # ---- the normalizer's methods --------------------------------------------------------------

    def push(self, fragment: str) -> list[Word]:
        """The words that became final through this fragment."""
        self._take(self._filter.push(fragment))
        return self._read(over=False)

    def flush(self) -> list[Word]:
        """The words still pending, the last one ending its sentence."""
        words = self._finish(SENTENCE_END)
        if words:
            words[-1] = replace(words[-1], ends=True)
        self._new_sentence()
        self._filter.end_line()
        return words

    def breathe(self) -> list[Word]:
        """The words still pending, as they stand; the sentence goes on with what is pushed next."""
        return self._finish(SPACE)

    def forget_spoken(self, *, begun: bool, over: bool) -> list[Word]:
        """Take all the text so far for spoken; returns the words that were still waiting.

        Where the last one was begun, it is handed out with later text.
        """
        if begun:
            self._take(self._filter.flush() + self._last(SPACE))
            return []
        words = self.breathe()
        if over:
            self._new_sentence()
        return words

    def _finish(self, last: str) -> list[Word]:
        """The words of all characters so far, as if ``last`` followed them."""
        self._take(self._filter.flush() + self._last(last))
        words = self._read(over=True)
        self._at += 1
        self._start_token()
        self._emit(ends=last == SENTENCE_END and self._pending is not None)
        return words + self._handed_out()

    # ---- characters ----------------------------------------------------------------------------

    def _last(self, char: str) -> Text:
        """A character that is not in the source, behind all that is."""
        return Text(char, [(self._filter.place, self._filter.place)])

    def _take(self, text: Text) -> None:
        if self._at > MAX_TOKEN:
            self._text = self._text[self._at :]
            del self._places[: self._at]
            self._scanned -= self._at
            self._complete = [(end - self._at, state) for end, state in self._complete]
            self._at = 0
        if self._segments is not None:
            text = Text.made_of(self._segments.push(text.characters()))
        self._text += text.chars
        self._places += text.places

    # ---- characters to tokens ------------------------------------------------------------------

    def _new_sentence(self) -> None:
        """Start a sentence: no word waits, no mark is open, and nothing is known of what came
        before."""
        self._pending: _Pending | None = None
        self._opens = ""
        self._opens_at = -1
        self._end_sentence()

    def _start_token(self, touching: frozenset[str] = frozenset()) -> None:
        """Start a token at ``_at``; none of its characters has been looked at. ``touching``: tags
        of what stands directly before it."""
        self._touching = touching
        self._is_begun = False
        self._scanned = self._at
        self._complete = []

    def _begin_token(self) -> None:
        tags = self._context.tags
        if self._touching or self._quotes:
            tags = tags.union(self._touching, *(QUOTED[mark] for mark in self._quotes))
        self._states = self._grammar.automaton.states()
        self._state = self._states.start(self._grammar.counting(tags))
        self._is_begun = True

    def _read(self, *, over: bool) -> list[Word]:
        """The words that the characters so far make final; where they are ``over``, all but the
        last one."""
        last = len(self._text) - over
        while self._at < last:
            char = self._text[self._at]
            if char in BETWEEN:
                self._reach(self._places[self._at][0])
                self._emit(ends=char == SENTENCE_END)
                self._at += 1
                self._start_token()
            elif self._is_decided(over=over):
                self._token()
            else:
                break
        return self._handed_out()

    def _handed_out(self) -> list[Word]:
        words = self._words
        self._words = []
        return words

    def _is_decided(self, *, over: bool) -> bool:
        """Follow the automaton; whether no rule can make a longer token of what may still come."""
        if not self._is_begun:
            self._begin_token()
        if self._state != DEAD and self._is_followed():
            return True
        goes_on = self._state != DEAD and (self._states.is_open[self._state] or self._may_grow())
        return over or not (goes_on or (is_letter(self._text[-1]) and self._is_in_run()))

    def _is_followed(self) -> bool:
        """Take the automaton through what has come of a token; whether more of it never counts."""
        for size in (MAX_RUN, MAX_TOKEN):
            end = min(len(self._text), self._at + size)
            self._state, self._scanned = self._states.follow(
                self._state, self._text, self._scanned, end, self._complete
            )
            if self._state == DEAD:
                return False
            if self._states.is_final[self._state] or self._is_cut(end):
                return True
            if self._scanned == len(self._text):
                return False
        return True

    def _may_grow(self) -> bool:
        """Whether a letter or figure behind all that there is would make it another token."""
        return is_letter(self._text[-1]) and not self._grammar.closed.issuperset(
            self._states.accepts[self._state]
        )

    def _is_in_run(self) -> bool:
        """Whether the letters or figures with which the token begins go on to the text's end."""
        return self._run_end() == len(self._text)

    def _run_end(self) -> int:
        """Where a token may end at the earliest: not between two letters or figures."""
        run = _RUN.match(self._text, self._at)
        return run.end() if run else self._at + 1

    def _is_cut(self, end: int) -> bool:
        """Whether letters and figures are too many to be one token, so that it ends among them.

        ``MAX_RUN`` of them are not yet: only when the character at ``end`` is another one.
        """
        return (
            end - self._at == MAX_RUN
            and len(self._text) > end
            and self._text[self._at : end + 1].isalnum()
        )

    def _token(self) -> None:
        """Read the token at hand by the longest rule that means it, or as it is written."""
        candidates = self._candidates()
        refused: list[Rule] = []
        for match in candidates:
            reading = self._language.say(match)
            if reading is not None:
                self._trace(match, reading, refused, candidates)
                self._say(match.rule, match.text, reading)
                return
            refused.append(match.rule)
        text = self._text[self._at : self._run_end()]
        self._say(None, text, self._language.unruled(text))

    def _candidates(self) -> Iterator[Match]:
        """What the token may be: the longest match first, of equal ones the rule that comes first.

        Of right context a rule sees all that its pattern takes, so no token is offered it twice.
        """
        offered: set[tuple[int, int]] = set()
        most = self._run_end()
        text = self._text[:most] if self._is_cut(most) else self._text
        for end, state in reversed(self._complete):
            for number in self._states.accepts[state] if end <= len(text) else ():
                found = self._grammar.match(number, text, self._at, end)
                if found is None or (number, len(found[0])) in offered:
                    continue
                token, groups = found
                offered.add((number, len(token)))
                rule = self._grammar.rules[number]
                yield Match(rule, self._language, self._context, token, groups)

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

    def _say(self, rule: Rule | None, text: str, reading: Reading) -> None:
        """Take in a token with its reading."""
        start = self._places[self._at][0]
        self._at += len(text)
        end = self._places[self._at - 1][1]
        if reading.text:
            self._word(text, reading, start, end)
        elif reading.mark:
            self._mark(reading, start, end, at_once=rule is not None and rule.at_once)
        elif UNHEARD in reading.tags or (self._pending is None and any(map(str.isalnum, text))):
            self.skipped.append((start, end, text))
        else:
            self._reach(end)
        if text in QUOTES:
            self._quote(QUOTES[text], text)
        self._context = self._after(rule, text, reading)
        self._start_token(GLUED if reading.text else MARKED if reading.mark else self._touching)

    def _quote(self, closing: str, mark: str) -> None:
        """Take in a quotation mark: it closes what is open, or opens where nothing touches it."""
        if closing in self._quotes:
            self._quotes.discard(closing)
        elif mark != "”" and not (mark == "'" and self._touching == GLUED):
            self._quotes.add(closing)

    def _word(self, text: str, reading: Reading, start: int, end: int) -> None:
        """Take in what is said for a token: a word, or more of the one that it touches."""
        word = self._pending
        if word is not None and (word.is_over or word.end - word.start >= MAX_RUN):
            self._emit()
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

    def _mark(self, reading: Reading, start: int, end: int, *, at_once: bool) -> None:
        """Take in punctuation: it belongs to the word before it, a bracket that opens to the next
        one.

        ``at_once``: the word waits for no more marks.
        """
        word = self._pending
        if reading.mark == "(":
            if word is None or word.is_over:
                self._emit()
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
                self._emit()
        elif self._is_open:
            self._lone_mark(reading, start, end)

    def _close(self, end: int) -> None:
        """Close a bracket: one that no word has followed yet is forgotten, one around an aside is
        put behind its last word."""
        if self._opens:
            self._opens = ""
            return
        if self._pending is not None and self._is_aside:
            self._pending.closes = ")"
        self._is_aside = False
        self._reach(end)

    def _lone_mark(self, reading: Reading, start: int, end: int) -> None:
        """A mark by itself: a pause, or the end of a sentence whose last word is out already."""
        self._opens = ""
        if reading.ends:
            self._words.append(self._asked(Word(reading.mark, start, end, ends=True), reading.mark))
            self._end_sentence()
        elif not self._is_paused:
            self._words.append(Word(reading.mark, start, end))
            self._is_paused = True
            self._clause = ""
            self._last_end = end

    def _emit(self, *, ends: bool = False) -> None:
        """Hand out the pending word; with ``ends`` the sentence is over."""
        word = self._pending
        self._pending = None
        if word is None:
            if ends and self._is_open:
                self._words.append(Word(".", self._last_end, self._last_end, ends=True))
                self._end_sentence()
            return
        is_last = ends or word.ends
        mark = word.shown or word.mark or "." * (is_last and word.is_dotted)
        text = word.text + word.closes
        text += "" if mark == "." and text.endswith(".") else mark
        self._is_open = True
        self._is_paused = False
        self._last_end = word.end
        self._clause_goes_on(text)
        parts = self._cut(text)
        whole = Word(parts[0], word.start, word.end, ends=is_last)
        *others, last = [whole] if len(parts) == 1 else parted(whole, parts)
        self._words += [*others, self._asked(last, word.mark)]
        if is_last:
            self._end_sentence()

    def _asked(self, last: Word, mark: str) -> Word:
        """The last word of a sentence, as its mark wants it said."""
        delivery = ENDINGS.get((mark, self._falls))
        return replace(last, delivery=delivery) if delivery else last

    def _clause_goes_on(self, text: str) -> None:
        """Look whether the clause begins with a question word."""
        self._clause = _CLAUSE.sub("", f"{self._clause}{text.lower()} ")[:MAX_OPENING]
        self._falls |= self._language.falling.match(self._clause) is not None

    def _end_sentence(self) -> None:
        self._clause = ""
        """How it begins, in small letters."""
        self._falls = False
        """Whether a question falls: a clause of it began with a question word."""
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
        cues = self._language.tags_after(before.word, word)
        tags = cues.union(reading.tags, {kind} - CARRIED)
        if START in before.tags:
            tags |= FIRST
        if kind == "word" and self._carries(word):
            tags |= before.tags & CARRIED
        return Context(
            tags,
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
        return is_short or word in self._language.record.table("linking")


def few_words(text: str) -> list[str]:
    """A reading in portions of a few words, where it is long."""
    spoken = text.split()
    if len(spoken) <= MAX_SPOKEN_WORDS:
        return [text]
    step = MAX_SPOKEN_WORDS // 2
    return [" ".join(spoken[at : at + step]) for at in range(0, len(spoken), step)]


def new_reader(start: int = 0, tag: str = "en") -> TokenReader:
    """A reader of a language for text that begins at a place of the source."""
    return TokenReader(language_of(tag), start)


def normalize(text: str, tag: str = "en") -> list[Word]:
    """The words of a whole text, the last one ending its sentence."""
    reader = new_reader(tag=tag)
    words = reader.push(text) + reader.flush()
    return [replace(word, ends=word.ends or word is words[-1]) for word in words]
