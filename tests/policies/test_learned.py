"""The learned policy: what it looks at, what it asks for, and its file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.effort import examples
from support.tagger import ToyTagger
from support.texts import splits, texts
from support.toy import toy_session

from sayahead import ConfigError, Voice, VoiceError
from sayahead.cli import main
from sayahead.policies.learned import MOST, TERMS, Clues, LearnedPolicy, Network, terms
from sayahead.research import READ, Read, Speak, View, Word
from sayahead.text.reading.stream import normalize
from sayahead.types import Floats

WORDS = ("the", "of", "people")


def network(seed: int = 0, *, bias: float = 0.0) -> Network:
    draw = np.random.default_rng(seed)
    vectors = draw.normal(size=(len(WORDS), 2)).astype(np.float32)
    size = Clues(ToyTagger(), {}, vectors).size + TERMS
    layers = tuple(
        (draw.normal(size=(out, size)).astype(np.float32), np.full(out, bias, np.float32))
        for size, out in ((size, 6), (6, 1))
    )
    return Network(layers, WORDS, vectors)


def policy(seed: int = 0, *, bias: float = 0.0, price: float = 1.0) -> LearnedPolicy:
    made = network(seed, bias=bias)
    return LearnedPolicy(made, made.clues(ToyTagger()), price)


def constant(logit: float) -> LearnedPolicy:
    """A policy that always wants more, or never."""
    made = network()
    layers = tuple(
        (np.zeros_like(weight), np.full_like(bias, logit)) for weight, bias in made.layers
    )
    made = Network(layers, made.words, made.vectors)
    return LearnedPolicy(made, made.clues(ToyTagger()))


def view(text: str, *, past: str = "", seen: int = 0) -> View:
    pending = tuple(Word(word, i, i + 1, word.endswith(".")) for i, word in enumerate(text.split()))
    return View(pending, not past, lambda word: len(word.text), past=tuple(past.split()), seen=seen)


@pytest.mark.parametrize(
    ("wants", "text", "seen", "expected"),
    [
        (-1, "", 0, READ),
        (-1, "a", 0, Speak(1, 0)),
        (-1, "a b c", 0, Speak(1, 0)),
        (-1, "a b c", 2, Speak(1, 1)),
        (-1, "a b.", 2, Speak(1, 1)),
        (1, "a b c", 0, READ),
        (1, "a b c d", 0, Speak(1, 3)),
        (1, "a b c d e", 0, Speak(1, 3)),
        (1, "a b.", 0, Speak(1, 1)),
        (1, "a.", 0, Speak(1, 0)),
    ],
)
def test_it_waits_for_three_words_at_most_and_shows_what_it_asked_for(
    wants: int, text: str, seen: int, expected: Read | Speak
) -> None:
    assert constant(wants).decide(view(text, seen=seen)) == expected


@given(st.integers(0, 99), st.integers(1, 5), st.integers(0, 3))
def test_words_that_it_did_not_ask_for_change_nothing(seed: int, more: int, seen: int) -> None:
    words = ["the", "people,", "of", "Rome", "read", "it", "today", "or", "not"]
    learned = policy(seed)
    action = learned.decide(view(" ".join(words), past="so", seen=seen))
    assert isinstance(action, Speak)
    read = max(1, seen, action.lookahead + 1)
    assert learned.decide(view(" ".join(words[: read + more]), past="so", seen=seen)) == action
    for fewer in range(max(1, seen), action.lookahead + 1):
        assert learned.decide(view(" ".join(words[:fewer]), past="so", seen=seen)) == READ


@settings(max_examples=examples(100), suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_any_split_gives_the_same_audio(data: st.DataObject) -> None:
    text = data.draw(texts())
    learned = policy(data.draw(st.integers(0, 9)))
    made = list[Floats]()
    for fragments in ([text], data.draw(splits(text)), list(text)):
        session = toy_session(learned)
        sound = list[Floats]()
        for fragment in fragments:
            session.push(fragment)
            sound += [chunk.samples for chunk in session.chunks()]
        session.finish()
        sound += [chunk.samples for chunk in session.chunks()]
        assert session.finished
        made.append(np.concatenate([np.zeros(0, np.float32), *sound]))
    assert np.array_equal(made[0], made[1])
    assert np.array_equal(made[0], made[2])


def test_clues_tell_words_by_place_and_kind() -> None:
    own = network()
    clues = own.clues(ToyTagger())
    each = (clues.size - MOST - 4) // 4
    made = clues(["so,"], [Word("The", 0, 3), Word("read", 4, 8)], lambda word: 7)
    last, first, second, third = (made[at * each : (at + 1) * each] for at in range(4))
    assert first[0] == 1  # a determiner
    assert np.array_equal(first[-2:], own.vectors[0])
    assert (last[12], first[12]) == (1, 0)  # a mark behind it
    assert (first[14], second[14]) == (0, 1)  # read in several ways
    assert (last[13], first[13]) == (0, np.float32(0.7))
    assert not third.any()
    assert made[4 * each :][:MOST].tolist() == [0, 1, 0]


def test_a_network_is_kept_to_half_precision_and_its_file_is_always_the_same(
    tmp_path: Path,
) -> None:
    own = network(3)
    own.save(tmp_path / "one.npz")
    read = Network.load(tmp_path / "one.npz")
    read.save(tmp_path / "two.npz")
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()
    assert read.words == WORDS
    inputs = np.random.default_rng(0).normal(size=own.layers[0][0].shape[1:]).astype(np.float32)
    assert read(inputs) == pytest.approx(own(inputs), rel=0.01)


def test_the_network_is_three_matrices_with_relu_between() -> None:
    layers = (
        (np.array([[1, 0], [0, -1]], np.float32), np.array([0, 1], np.float32)),
        (np.array([[2, 3]], np.float32), np.array([-1], np.float32)),
    )
    assert (
        Network(layers, (), np.zeros((0, 0), np.float32))(np.array([2, 5], np.float32))
        == 2 * 2 + 3 * 0 - 1
    )


def test_terms_are_logarithms() -> None:
    assert terms(1.0, 180, 0) == (0, 0, 0)
    assert terms(np.e, 180 * np.e, MOST) == pytest.approx((1, 1, 1))


def test_what_does_not_fit_is_said(tmp_path: Path) -> None:
    own = network()
    with pytest.raises(ConfigError, match="price is 0, but must be a number from"):
        LearnedPolicy(own, own.clues(ToyTagger()), price=0)
    with pytest.raises(ConfigError, match="words_per_min is 1000000000"):
        LearnedPolicy(own, own.clues(ToyTagger()), words_per_min=1e9)
    (tmp_path / "bad.npz").write_bytes(b"no zip")
    with pytest.raises(VoiceError, match="is not a learned policy"):
        Network.load(tmp_path / "bad.npz")
    with pytest.raises(VoiceError, match="takes"):
        Network(own.layers, WORDS, np.zeros((3, 5), np.float32)).clues(ToyTagger())


def test_the_default_voice_waits_more_where_waiting_is_cheap(heart: Voice) -> None:
    text = "When the council met on Tuesday, Mr. Whitfield read the long report to them again."
    lookahead = dict[float, list[int]]()
    for price in (0.05, 20.0):
        learned: Any = heart.policy("learned", price=price)
        pending = list[Word]()
        seen = 0
        said = list[str]()
        for word in normalize(text):
            pending.append(word)
            while pending:
                action = learned.decide(
                    View(
                        tuple(pending),
                        not said,
                        heart.phonemizer.phonemes,
                        past=tuple(said),
                        seen=seen,
                    )
                )
                if not isinstance(action, Speak):
                    break
                lookahead.setdefault(price, []).append(action.lookahead)
                said.append(pending.pop(0).text)
                seen = action.lookahead
    assert sum(lookahead[20.0]) < sum(lookahead[0.05])
    assert len(lookahead[20.0]) == len(lookahead[0.05]) == len(normalize(text))


def test_a_voice_without_one_says_so(heart: Voice) -> None:
    other = Voice(heart.config, heart.loaded)
    with pytest.raises(ConfigError, match="no policy 'learned'"):
        other.policy("learned")


def test_price_and_pace_are_options_of_the_learned_policy(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, heart: Voice
) -> None:
    wrong = ["say", "--policy", "lookahead:price=2", "-o", str(tmp_path / "a.wav"), "Hello."]
    assert main(wrong) == 2
    assert "policy 'lookahead': unknown option 'price'" in capsys.readouterr().err
    for spec in (
        "learned:price=2,words_per_min=1900",
        {"name": "learned", "price": 2, "words_per_min": 1900},
    ):
        assert heart.policy(spec) == heart.policy("learned", price=2.0, words_per_min=1900.0)
    right = [
        "say",
        "--policy",
        "learned:price=2,words_per_min=1900",
        "-q",
        "-o",
        str(tmp_path / "a.wav"),
        "Hello.",
    ]
    assert main(right) == 0
    assert (tmp_path / "a.wav").stat().st_size > 10_000
