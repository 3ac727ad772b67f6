"""Whatever was pushed and revised, what is spoken is what a session says that was given the valid
text alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.effort import examples
from support.servers import toy_voice
from support.toy import toy_session

from sayahead import ConfigError, SessionError, TextError, Voice
from sayahead.engine.pieces import MAX_PHONEMES
from sayahead.research import Independent, LookaheadK, Policy, Session, WaitAll, WaitEnd, WaitKSteps
from sayahead.text.revision import unspoken
from sayahead.types import Segment, WordTiming

POLICIES: list[Policy] = [LookaheadK(0), LookaheadK(1), LookaheadK(2), WaitAll(), Independent(2)]
# What is an abbreviation before a figure ("b. 212": born) is read otherwise before another word.
WORDS = st.text(st.sampled_from("abc"), min_size=1, max_size=4).filter(
    lambda word: word not in ("b", "c", "ca")
)
ENDS = st.sampled_from([" ", " ", " ", ", ", ". "])
# Their readings are long, and spoken in portions.
LONG = st.sampled_from(
    ["abc.com/a/long/way/to/go/on ", "123,456,789,123. ", "www.abc.com/it/is/a/long/way/to/go "]
)
FRAGMENTS = st.lists(st.tuples(WORDS, ENDS).map("".join) | LONG, min_size=1, max_size=5).map(
    "".join
)


def watched(session: Session) -> list[Segment]:
    """The segments that a session gives its synthesizer from now on: they and nothing else make its
    sound."""
    segments = list[Segment]()
    synthesizer = session._synthesizer
    step = synthesizer.step

    class Watching:
        sample_rate = synthesizer.sample_rate

        def step(self, segment: Segment, state: object) -> object:
            segments.append(segment)
            return step(segment, state)

    session._synthesizer = Watching()  # type: ignore[assignment]
    return segments


def spoken_of(session: Session, text: str, *, over: bool = False) -> list[Segment]:
    """The segments of a fresh session that is given a text at once."""
    segments = watched(session)
    session.push(text)
    if over:
        session.finish()
    list(session.chunks())
    return segments


def same(one: Segment, other: Segment) -> bool:
    """Whether two segments sound the same."""
    fields = ("speak", "spans", "ends", "predicted", "steps", "breath")
    return one.ids.tolist() == other.ids.tolist() and all(
        getattr(one, f) == getattr(other, f) for f in fields
    )


def was_cut(segment: Segment) -> bool:
    """Whether a sentence had too many phonemes for one step: a long one that ends before what it is
    shown."""
    return MAX_PHONEMES // 2 < segment.speak < len(segment.ids)


def phonemes(segments: list[Segment]) -> list[int]:
    """All that segments speak."""
    return [number for segment in segments for number in segment.ids[: segment.speak].tolist()]


def check_spoken(
    before: list[Segment], now: list[Segment], fresh: list[Segment], *, over: bool = False
) -> None:
    """What is spoken now is what a fresh session says behind what was spoken before; if it is over,
    all of that."""
    if any(map(was_cut, before)):
        # A sentence that became shorter behind a cut has none in the fresh session: that has other
        # segments.
        said = phonemes(now)
        rest = phonemes(fresh)[len(phonemes(before)) :]
        assert said == (rest if over else rest[: len(said)])
        return
    wanted = fresh[len(before) :] if over else fresh[len(before) : len(before) + len(now)]
    if over and len(now) == len(wanted) + 1 and not now[-1].speak:
        # All was spoken while more seemed to come: what ends the sentence then is a segment without
        # words.
        now = now[:-1]
    assert all(same(one, other) for one, other in zip(now, wanted, strict=True))


def check_history(fresh: Callable[[], Session], data: st.DataObject, *, most: int) -> None:
    """Push and revise at random; each segment must be the one that a session makes of the text
    valid by then."""
    session = fresh()
    segments = watched(session)
    checked = 0
    for _ in range(data.draw(st.integers(1, most))):
        if data.draw(st.booleans()):
            session.push(data.draw(FRAGMENTS))
        else:
            at = data.draw(st.integers(0, len(session.text)))
            assert at <= session.revise(at, data.draw(FRAGMENTS)) <= len(session.text)
        for _ in range(data.draw(st.integers(0, 3))):
            session.pull()
        # What was spoken now was spoken of the text as it is now.
        check_spoken(segments[:checked], segments[checked:], spoken_of(fresh(), session.text))
        checked = len(segments)
    text = session.text
    session.finish()
    list(session.chunks())
    check_spoken(
        segments[:checked], segments[checked:], spoken_of(fresh(), text, over=True), over=True
    )


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
@settings(max_examples=examples(200), suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_history_says_the_valid_text_once(policy: Policy, data: st.DataObject) -> None:
    check_history(lambda: toy_session(policy), data, most=6)


def test_a_sentence_that_becomes_shorter_behind_a_cut_is_gone_on_with() -> None:
    """Only a long sentence is cut; of the shorter one, what was not spoken is."""
    session = toy_session(WaitAll())
    segments = watched(session)
    session.push("abca " * 90 + "abca! ")
    session.pull()
    assert [was_cut(segment) for segment in segments] == [True]
    words = len(segments[0].spans)
    assert session.revise(5 * words, "aa. ") == 5 * words
    text = session.text
    session.finish()
    list(session.chunks())
    fresh = spoken_of(toy_session(WaitAll()), text, over=True)
    assert (len(segments), len(fresh)) == (2, 1)
    check_spoken(segments[:1], segments[1:], fresh, over=True)
    assert phonemes(segments[1:]) == [ord(letter) for letter in " aa."]


@pytest.mark.parametrize("policy", [WaitEnd(), WaitKSteps(2)], ids=repr)
@settings(max_examples=examples(100), suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_voices_that_read_characters_can_be_corrected(policy: Policy, data: st.DataObject) -> None:
    session = toy_session(policy)
    words = list[WordTiming]()
    for _ in range(data.draw(st.integers(1, 4))):
        session.push(data.draw(FRAGMENTS))
        words += [word for chunk in [session.pull()] if chunk for word in chunk.words]
        session.revise(data.draw(st.integers(0, len(session.text))), data.draw(FRAGMENTS))
    session.finish()
    words += [word for chunk in session.chunks() for word in chunk.words]
    spoken = "".join(session.text[word.start : word.end] for word in words)
    assert "".join(spoken.split()) == "".join(session.text.split())


@pytest.mark.parametrize(
    ("text", "pulls", "more", "rest"),
    [
        (
            "Call 212-555-1234567 now. ",
            3,
            "Bye.",
            ["one two three four", "five six seven", "now.", "Bye."],
        ),
        ("It cost $25.46 ", 3, "then.", ["twenty-five dollars and forty-six cents", "then."]),
        (
            "It cost $25.46 ",
            3,
            "million then.",
            ["twenty-five point four six million dollars", "then."],
        ),
        (
            "Mail 123,456,789,123 now. ",
            3,
            "Bye.",
            [
                "fifty-six million seven",
                "hundred eighty-nine thousand",
                "one hundred twenty-three",
                "now.",
                "Bye.",
            ],
        ),
    ],
)
def test_what_was_begun_is_spoken_to_its_end_whatever_is_revised(
    text: str, pulls: int, more: str, rest: list[str]
) -> None:
    session = toy_session(LookaheadK(0))
    session.push(text)
    for _ in range(pulls):
        session.pull()
    # The rest of a number is no number of its own: from within it, the change begins behind it.
    at = session.revise(len(text), more)
    assert at == len(text)
    session.finish()
    assert said(session) == rest


def said(session: Session) -> list[str]:
    return [word.text for chunk in session.chunks() for word in chunk.words]


def test_a_correction_of_what_waits_is_spoken_and_one_of_what_was_said_is_not() -> None:
    session = toy_session(LookaheadK(1))
    session.push("I live in Berlim ")
    assert said(session) == ["I", "live", "in"]
    assert session.revise(10, "Paris now.") == 10
    assert session.text == "I live in Paris now."
    session.revise(2, "lived in")
    assert session.text == "I live in"
    session.revise(7, "in Rome.")
    session.finish()
    assert said(session) == ["Rome."]
    assert session.heard().text == "I live in Rome."


def test_what_was_spoken_of_what_begins_like_a_tag_is_not_said_again() -> None:
    session = toy_session(LookaheadK(0))
    session.push("a<b the fo")
    assert said(session) == ["a less than b", "the"]
    session.revise(8, "end.")
    session.finish()
    assert said(session) == ["end."]


@pytest.mark.parametrize(
    "token", ['<sub alias="Big One">B1</sub>', "**so**", "$x$", "3.14", "&amp;"]
)
def test_what_a_flush_cut_in_two_stays_cut(token: str) -> None:
    for cut in range(1, len(token)):
        spoken: list[list[str]] = []
        for revised in (False, True):
            session = toy_voice().session(policy=LookaheadK(0), markup="ssml")
            session.push("It is " + token[:cut])
            session.flush()
            words = said(session)
            session.push(token[cut:-1])
            behind = said(session)
            if revised:
                session.revise(len(session.text), "")
            session.push(token[-1] + " for all.")
            session.finish()
            # Where nothing behind the flush was spoken, it is taken back.
            spoken.append([*words, *behind, *said(session)] if behind else [])
        assert spoken[0] == spoken[1], cut


@pytest.mark.parametrize(
    ("rest", "words"), [("> 5 ", ["greater than", "five"]), ("```x y ", ["x", "y"])]
)
def test_what_goes_on_in_a_line_opens_none(rest: str, words: list[str]) -> None:
    session = toy_session(LookaheadK(0))
    session.push("It is. But")
    assert said(session) == ["It", "is."]
    session.revise(7, rest)
    session.finish()
    assert said(session) == words
    other = toy_session(LookaheadK(0))
    other.push("It is. " + rest)
    other.finish()
    assert said(other)[2:] == words


def test_letters_that_would_lengthen_a_spoken_word_stay_silent() -> None:
    session = toy_session(LookaheadK(0))
    session.push("one two ")
    assert said(session) == ["one", "two"]
    assert session.revise(7, "fold three ") == 7
    assert said(session) == ["three"]
    assert session.text == "one two three "


def test_a_sign_behind_a_spoken_word_is_not_taken_for_a_word() -> None:
    session = toy_session(LookaheadK(1))
    session.push("the block books which were the ")
    assert said(session) == ["the", "block", "books", "which", "were"]
    assert session.revise(15, ", which were the true ") == 26
    assert session.text == "the block books which were the true "
    session.revise(6, "ody of books which were the false ")
    assert session.text == "the block books which were the false "
    session.finish()
    assert said(session) == ["the", "false"]


@pytest.mark.parametrize(
    ("at", "text", "left"),
    [
        (0, "one two three four", " four"),
        (4, "to three four", " four"),  # a word was misheard
        (4, "or two three four", " four"),  # one was missed
        (4, "three four", " four"),  # one was invented
        (4, "too. Three, four", " four"),
        (0, "seven eight nine ten", " ten"),  # all is new
        (8, "tree", ""),
        (13, "s four", " four"),
        (5, "", ""),
        (4, "   ", "   "),
    ],
)
def test_what_stands_for_the_spoken_words_is_left_out(at: int, text: str, left: str) -> None:
    source = "one two three"
    assert unspoken(source[:at], source[at:], text) == left


def test_bad_revisions_are_named_and_lose_nothing() -> None:
    session = toy_session()
    session.push("one two three ")
    for at, text, error, message in (
        (15, "x", ConfigError, "at is 15, but must be a whole number from 0 to 14"),
        (-1, "x", ConfigError, "at is -1"),
        (1.5, "x", ConfigError, "at is 1.5"),
        (3, b"x", TextError, r"revise\(\) takes text"),
    ):
        with pytest.raises(error, match=message):
            session.revise(at, text)  # type: ignore[arg-type]
    session.finish()
    with pytest.raises(SessionError, match=r"revise\(\) after finish"):
        session.revise(3, " four")
    assert said(session) == ["one", "two", "three"]


@pytest.mark.slow
@settings(max_examples=examples(50), suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_the_default_voice_says_the_valid_text_once(heart: Voice, data: st.DataObject) -> None:
    policy = heart.policy(data.draw(st.sampled_from(["lookahead:k=0", "lookahead:k=1", "learned"])))
    check_history(lambda: heart.session(policy=policy), data, most=4)


def test_what_touches_the_mark_of_a_spoken_word_is_a_word_of_its_own() -> None:
    session = toy_session(LookaheadK(0))
    session.push("Well,")
    assert said(session) == ["Well,"]
    assert session.revise(5, "then go.") == 5
    session.finish()
    assert said(session) == ["then", "go."]


FILL = "One two three four. " * 60


@pytest.mark.parametrize(
    "rest", ["# hash it. Bye.", "> than that. Bye.", "3) three. Bye.", "=== x", "```a b``` c. Bye."]
)
def test_a_long_line_is_gone_on_with(rest: str) -> None:
    """It was read as a new one, once its sentences had more than 1,000 characters."""
    check_revised(FILL, "Wro", rest)


@pytest.mark.parametrize("opening", ["1. ", "- ", "## ", "> ", "| ", "* > 2) ", ""])
def test_a_long_line_stays_what_it_is(opening: str) -> None:
    check_revised(opening + FILL, "Wro", "it ends\nhere or\nthere.")


def test_a_line_of_code_stays_one() -> None:
    for code in (
        "```\nx = 1\n",
        "Say:\n\n```py\nx = 1\n",
        "```\nx\n```\nNot so.\n",
        f"```\n{FILL}",
    ):
        check_revised(code, "Wro", "y = two\nz = three\n```\nThe end\nof it.")


@pytest.mark.parametrize("tag", ["<prosody rate='slow'> ", "<prosody rate='slow'>", "</prosody> "])
def test_a_tag_before_a_long_rest_of_a_line_is_known_once(tag: str) -> None:
    text = f"<prosody rate='fast'>{FILL}{tag}" + FILL[:1000] + "{}"
    check_revised(text.replace("{}", ""), "Wro", "rest of it.", markup="ssml")


def check_revised(text: str, wrong: str, right: str, *, markup: str = "none") -> None:
    """What is spoken of a text whose end was revised is what is spoken of the right one."""
    session = toy_voice().session(policy=LookaheadK(0), markup=markup)
    segments = watched(session)
    session.push(text + wrong)
    list(session.chunks())
    assert session.revise(len(text), right) == len(text)
    session.finish()
    list(session.chunks())
    wanted = spoken_of(
        toy_voice().session(policy=LookaheadK(0), markup=markup), text + right, over=True
    )
    assert len(segments) == len(wanted)
    assert all(same(one, other) for one, other in zip(segments, wanted, strict=True))


@pytest.mark.parametrize("text", ["i—n 2h ", "x—y—z yes!no, ", "a,b “wow!” he—said so;what "])
def test_a_text_revised_to_itself_loses_nothing(text: str) -> None:
    """A word behind a dash, or a mark, whose first half was spoken was left out: ``i— 2h``."""
    whole = [word for chunk in spoken_chunks(text, pulls=0) for word in chunk]
    for pulls in range(1, 5):
        assert [word for chunk in spoken_chunks(text, pulls=pulls) for word in chunk] == whole


def spoken_chunks(text: str, *, pulls: int) -> list[str]:
    """The letters and figures of the words of each chunk, of a text that is revised to itself after
    some chunks."""
    session = toy_voice().session()
    session.push(text)
    chunks = [chunk for _ in range(pulls) if (chunk := session.pull()) is not None]
    session.revise(0, text)
    session.finish()
    return [
        "".join(filter(str.isalnum, word.text))
        for chunk in [*chunks, *session.chunks()]
        for word in chunk.words
    ]
