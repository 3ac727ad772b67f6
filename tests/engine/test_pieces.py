"""No step of the synthesizer is larger than what is stated, whoever made its words: text, lexicon,
markup, policy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sayahead.engine.pieces import MAX_CHARACTERS, MAX_PHONEMES, MAX_SYMBOLS, in_pieces
from sayahead.types import Floats, Rendering, Segment, SynthesizedAudio, Word
from sayahead.voice import Voice

OWN = "[x](/" + "bæ" * 1500 + "/) yes. "
WORDS = "the quick brown fox jumps over it " * 40


class Weighing:
    """A synthesizer that says nothing, and keeps the size of every step."""

    sample_rate = 24000

    def __init__(self) -> None:
        self.sizes = list[int]()

    def initial(self, rendering: Rendering) -> None:
        return None

    def step(self, segment: Segment, state: None) -> tuple[SynthesizedAudio, None]:
        self.sizes.append(len(segment.ids))
        return SynthesizedAudio(
            np.zeros(1, np.float32), tuple((0, 1) for _ in segment.spans), ended=segment.ends
        ), None


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (OWN, {}),
        ("x yes.", {"lexicon": {"x": "/" + "bæ" * 1500 + "/"}}),
        ("x yes.", {"lexicon": {"x": "one " * 1000}}),
        ("<phoneme alphabet='ipa' ph='" + "bæ" * 450 + "'>x</phoneme> yes.", {"markup": "ssml"}),
        ("<sub alias='" + "one " * 400 + "'>x</sub> yes.", {"markup": "ssml"}),
        ("<say-as interpret-as='characters'>" + "w" * 400 + "</say-as> yes.", {"markup": "ssml"}),
        (WORDS, {"policy": "wait-all"}),
        (OWN * 2, {"policy": {"name": "lookahead", "k": 16, "words": 16}}),
        (OWN * 2, {"policy": {"name": "independent", "words": 16}}),
    ],
    ids="text lexicon alias phoneme sub say-as wait-all lookahead independent".split(),
)
def test_no_step_is_larger_than_stated(heart: Voice, text: str, options: dict[str, Any]) -> None:
    """3,000 characters were one step of 7 s of processor, 188 s of sound, and 0.7 GB."""
    weighing = Weighing()
    session = heart.with_synthesizer(weighing).session(**options)
    session.push(text)
    session.finish()
    words = [word for chunk in session.chunks() for word in chunk.words]
    # Blanks are no phonemes.
    # Ids of stress, length and blanks come on top of what is counted.
    most = MAX_PHONEMES * 3 // 2 if "policy" in options else 7 * MAX_SYMBOLS // 2
    assert max(weighing.sizes) <= most
    assert sum(weighing.sizes) > most or "policy" not in options
    assert [(word.start, word.end) for word in words] == sorted(
        (word.start, word.end) for word in words
    )
    assert words[-1].end == len(text.rstrip())


def test_what_is_short_to_say_is_one_piece(heart: Voice) -> None:
    for text in ("Hello,", "antidisestablishmentarianism", "w " * (MAX_CHARACTERS // 2)):
        assert in_pieces(Word(text, 0, 5)) == [Word(text, 0, 5)]
    assert in_pieces(Word("Nguyen", 0, 6, phonemes="wˈɪn")) == [
        Word("Nguyen", 0, 6, phonemes="wˈɪn")
    ]


def test_pieces_say_all_and_end_where_the_word_ends() -> None:
    phonemes = "bæ" * 40 + " " + "kˈʌ" * 20
    pieces = in_pieces(Word("long,", 3, 8, ends=True, phonemes=phonemes))
    assert "".join(piece.phonemes for piece in pieces) == phonemes
    assert [piece.text for piece in pieces] == ["long"] * (len(pieces) - 1) + ["long,"]
    # Cut after a vowel.
    assert all(piece.phonemes[-1] in "æʌ " for piece in pieces)
    assert [piece.ends for piece in pieces] == [False] * (len(pieces) - 1) + [True]
    assert (pieces[0].start, pieces[-1].end) == (3, 8)
    said = in_pieces(Word("one two " * 100 + "x" * 500, 0, 900))
    assert max(len(piece.text) for piece in said) <= MAX_CHARACTERS
    assert " ".join(piece.text for piece in said).replace(" ", "") == "onetwo" * 100 + "x" * 500


def test_the_vocoder_makes_no_more_at_once_than_stated(heart: Voice) -> None:
    session = heart.session(policy="wait-all", speed=0.5)
    session.push(WORDS[:280])
    session.finish()
    chunks = list(session.chunks())
    assert max(len(chunk.samples) for chunk in chunks) <= 12.1 * heart.sample_rate
    assert len(chunks) > 1
    whole: Floats = np.concatenate([chunk.samples for chunk in chunks])
    assert np.isfinite(whole).all()


def test_what_a_pull_costs_is_known_before(heart: Voice) -> None:
    """Reading is in bites, too: dashes without a word were one pull of 1.4 s for 20,000 of them."""
    session = heart.session()
    assert session.prepare() == 0
    session.push("— " * 500 + "Hello there, you. ")
    waits = 0
    while (size := session.prepare(240)) is None:
        waits += 1
    assert waits >= 3
    assert 1 < size < 40
    assert session.prepare() == size
    # A revision takes it back.
    session.revise(0, "Yes.")
    session.finish()
    assert [word.text for chunk in session.chunks() for word in chunk.words] == ["Yes."]
