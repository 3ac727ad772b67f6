"""Several words in one step: what the policy decides one by one, said at once where nobody needs
the first alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.servers import toy_voice

from sayahead.engine.policy import Read, View
from sayahead.engine.session import Session
from sayahead.research import READ, Speak
from sayahead.voice import Voice

TEXT = (
    "We were told that it rains, here and there. So what? Take all of them with you when you go. "
)


def said(session: Session, together: Sequence[int]) -> list[list[str]]:
    """The words of each chunk, of steps that may say so many words; the last number goes on."""
    chunks = list[list[str]]()
    turns = list(together)
    while True:
        session.prepare(together=turns.pop(0) if len(turns) > 1 else turns[0])
        if (chunk := session.pull()) is None:
            return chunks
        chunks.append([word.text for word in chunk.words])


def test_words_that_are_there_are_one_step_up_to_their_sentence() -> None:
    session = toy_voice().session()
    session.push(TEXT)
    session.finish()
    assert said(session, [1, 4]) == [
        ["We"],
        "were told that it".split(),
        "rains, here and there.".split(),
        "So what?".split(),
        "Take all of them".split(),
        "with you when you".split(),
        ["go."],
    ]


def test_nothing_is_awaited_for_it() -> None:
    """With a word of lookahead, the last word that is there is seen and not said."""
    session = toy_voice().session()
    session.push("One two three four")
    assert said(session, [6]) == [["One", "two"]]
    session.push(" five ")
    assert said(session, [6]) == [["three", "four"]]
    session.flush()
    assert said(session, [6]) == [["five"]]


@given(
    st.lists(st.integers(1, 16), min_size=1, max_size=12),
    st.lists(st.integers(1, 40), max_size=12),
    st.sampled_from(
        ("lookahead:k=0", "lookahead:k=2", "lookahead:k=1,words=2", "opportunistic", "wait-all")
    ),
)
@settings(max_examples=60)
def test_every_word_is_said_once_and_in_order(
    together: list[int], cuts: list[int], policy: str
) -> None:
    session = toy_voice().session(policy=policy)
    at = 0
    words = list[str]()
    for size in cuts:
        session.push(TEXT[at : at + size])
        at += size
        words += [word for chunk in said(session, together) for word in chunk]
    session.push(TEXT[at:])
    session.finish()
    words += [word for chunk in said(session, together) for word in chunk]
    assert words == TEXT.split()


def test_a_policy_sees_what_it_would_see_step_by_step() -> None:
    class Seeing:
        unit = "words"

        def __init__(self) -> None:
            self.views = list[tuple[bool, tuple[str, ...], str, int]]()

        def decide(self, view: View) -> Read | Speak:
            self.views.append((view.first, view.past, view.pending[0].text, view.seen))
            return Speak(1, 2) if len(view.pending) > 2 or view.pending[-1].ends else READ

    views = list[set[tuple[bool, tuple[str, ...], str, int]]]()
    for together in (1, 5):
        policy = Seeing()
        session = toy_voice().session(policy=policy)
        session.push(TEXT)
        session.finish()
        said(session, [together])
        views.append(set(policy.views))
    assert views[1] == views[0]


def test_a_step_of_several_words_stays_short(heart: Voice) -> None:
    session = heart.session()
    session.push(
        "Internationalization characteristically misunderstandings incomprehensibilities. "
    )
    assert max(map(len, said(session, [16]))) < 4
    with_pauses = heart.session(markup="ssml")
    with_pauses.push("<speak>one two <break time='200ms'/> three four five.</speak>")
    with_pauses.finish()
    assert said(with_pauses, [6]) == [["one", "two"], [], ["three", "four", "five."]]


def test_a_pace_that_is_kept_up_goes_word_by_word() -> None:
    chunks = []
    for together in (1, 6):
        session = toy_voice().session(keep_up=True)
        session.push(TEXT)
        session.finish()
        chunks.append(said(session, [together]))
    assert chunks[0] == chunks[1]


def test_what_was_not_said_can_be_revised() -> None:
    session = toy_voice().session()
    session.push("One two three four five six ")
    assert session.prepare(together=3)
    assert session.revise(4, "TWO and no more.") == 4
    session.finish()
    assert [
        word for chunk in said(session, [6]) for word in chunk
    ] == "One TWO and no more.".split()


@pytest.mark.parametrize("policy", ["lookahead:k=1", "learned"])
def test_it_sounds_like_the_sentence(heart: Voice, policy: str) -> None:
    """Words in one step are as long as where each is a step of its own, or nearer to the whole
    sentence."""

    def ends(together: Sequence[int], policy: str = policy) -> np.ndarray:
        session = heart.session(policy=policy)
        session.push("The birch canoe slid on the smooth planks of the old wooden pier.")
        session.finish()
        times = list[int]()
        while True:
            session.prepare(together=together[0])
            if (chunk := session.pull()) is None:
                return np.diff(times) / heart.sample_rate
            times += [word.onset_samples for word in chunk.words]

    whole = ends([1], "wait-all")
    single = ends([1])
    several = ends([6])
    assert np.abs(several - whole).mean() <= np.abs(single - whole).mean() + 0.005
