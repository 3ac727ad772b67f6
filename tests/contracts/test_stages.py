"""What acoustic models, vocoders and their pair promise: the toy ones, the default voice's, tiny
networks."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from support.toy import HOP, ToyAcoustic, ToyVocoder
from support.toy_voices import toy

from sayahead import Voice
from sayahead.engine.synthesizer import Pauses, TwoStage
from sayahead.types import Floats, Rendering, Segment
from sayahead.vocoders.heart import HeartVocoder

RENDERING = Rendering(hold_back_s=0.1)


def stages(name: str, heart: Voice) -> tuple[Any, Any]:
    """Acoustic model and vocoder."""
    if name == "toy":
        return ToyAcoustic(), ToyVocoder()
    synthesizer: Any = (heart if name == "heart" else toy(name)).synthesizer
    if name == "heart":
        # The voice gives its decoder ten provisional frames; the contract is about all that it can
        # see.
        return synthesizer.acoustic, HeartVocoder(synthesizer.vocoder.graph)
    return synthesizer.acoustic, synthesizer.vocoder


def features(name: str, frames: int) -> Floats:
    """Frames as the vocoder gets them."""
    draw = np.random.default_rng(1)
    made = draw.normal(size=(frames, {"toy": 1, "heart": 130, "vits": 8}.get(name, 80))).astype(
        np.float32
    )
    if name in ("toy", "heart"):
        made[:, 0 if name == "toy" else 128] = draw.uniform(100, 300, frames)
    return made


def segment(ids: list[int], speak: int, *, ends: bool) -> Segment:
    return Segment(np.array(ids, np.int64), speak, ((0, speak),), ends)


SENTENCE = [50, 83, 54, 156, 31, 16, 81, 156, 86, 123, 4]
TOYS = (
    "ma",
    "ma-clarinet",
    "ma-wavernn",
    "ma-wavernn-in-bands",
    "ma-waveglow-in-bands",
    "saeki",
    "vits",
)
VOICES = pytest.mark.parametrize("name", ["toy", "heart", *TOYS])


def same(a: Any, b: Any) -> bool:
    """Deep equality of states, arrays included."""
    if dataclasses.is_dataclass(a):
        return all(same(getattr(a, f.name), getattr(b, f.name)) for f in dataclasses.fields(a))
    if isinstance(a, np.ndarray):
        return np.array_equal(a, b)
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(value, b[name]) for name, value in a.items())
    return bool(a == b)


@VOICES
def test_acoustic_steps_twice_from_one_state_give_one_result(name: str, heart: Voice) -> None:
    acoustic, _ = stages(name, heart)
    _, state = acoustic.step(
        segment(SENTENCE, 5, ends=True), acoustic.initial(), RENDERING, hold_back=3
    )
    one = acoustic.step(segment(SENTENCE[5:], 6, ends=True), state, RENDERING, hold_back=3)
    two = acoustic.step(segment(SENTENCE[5:], 6, ends=True), state, RENDERING, hold_back=3)
    assert same(one, two)
    fresh = acoustic.initial()
    if hasattr(fresh, "token"):
        # It goes on numbering the session's tokens, which key its noise.
        fresh = dataclasses.replace(fresh, token=one[1].token)
    assert same(one[1], fresh)


@VOICES
def test_frames_add_up_and_words_lie_in_them(name: str, heart: Voice) -> None:
    acoustic, _ = stages(name, heart)
    state = acoustic.initial()
    total = 0
    ends = [0]
    for a, b, last in ((0, 5, False), (5, 8, False), (8, 11, True)):
        made, state = acoustic.step(
            segment(SENTENCE[a:], b - a, ends=True), state, RENDERING, hold_back=4
        )
        total += len(made.final)
        assert made.ended == last
        if a:
            assert made.words[0][0] == ends[-1]
        ends.append(made.words[0][1])
    assert ends == sorted(ends)
    assert ends[-1] <= total


@VOICES
def test_hold_back_keeps_that_much_and_no_more(name: str, heart: Voice) -> None:
    acoustic, _ = stages(name, heart)
    free, _ = acoustic.step(
        segment(SENTENCE, 5, ends=True), acoustic.initial(), RENDERING, hold_back=0
    )
    held, _ = acoustic.step(
        segment(SENTENCE, 5, ends=True), acoustic.initial(), RENDERING, hold_back=4
    )
    assert len(free.final) - len(held.final) == 4
    assert np.allclose(free.final[: len(held.final)], held.final, atol=1e-4)


@VOICES
@pytest.mark.parametrize("sizes", [[40], [1] * 40, [3, 0, 17, 20], [39, 1]])
def test_vocoder_step_by_step_equals_whole(name: str, heart: Voice, sizes: list[int]) -> None:
    if "wavernn" in name:
        # It goes sample by sample, and sees a few frames.
        sizes = [-(-size // 3) for size in sizes][:14]
    count = sum(sizes)
    (_, vocoder) = stages(name, heart)
    given = features(name, count)

    def render(parts: list[int]) -> Floats:
        state = vocoder.initial(0)
        at = 0
        out = []
        for i, size in enumerate(parts):
            final = given[at : at + size]
            right = given[at + size :]
            samples, state = vocoder.step(final, right, state, seed=3, ended=i == len(parts) - 1)
            at += size
            assert len(samples) == size * vocoder.hop_length
            out.append(samples)
        return np.concatenate(out)

    whole = render([count])
    parts = render(sizes)
    assert len(whole) == len(parts) == count * vocoder.hop_length
    # Close to the end a step is not given as many following frames as it can use, and cannot know
    # that there are none.
    assert np.abs(whole - parts)[: -6 * vocoder.hop_length].max() < 1e-4


@VOICES
def test_vocoder_leaves_the_state_as_it_was(name: str, heart: Voice) -> None:
    (_, vocoder) = stages(name, heart)
    given = features(name, 20)
    _, state = vocoder.step(given, given[:0], vocoder.initial(5), seed=0, ended=False)
    one = vocoder.step(given, given[:0], state, seed=0, ended=False)
    two = vocoder.step(given, given[:0], state, seed=0, ended=False)
    assert same(one, two)


def test_k2_waits_for_as_many_speaks() -> None:
    """Ma, Eq. 7: with k2 = 1 a word's sound comes when the next word's frames are final."""
    pauses = Pauses(lead_in=10**9, pause=0)
    synthesizer = TwoStage(ToyAcoustic(), ToyVocoder(), sample_rate=8000, pauses=pauses)
    lengths = {}
    for k2 in (0, 1, 2):
        state = synthesizer.initial(Rendering(hold_back_s=0.0, k2=k2))
        out = []
        for a, b in ((0, 5), (5, 8), (8, 11)):
            speech, state = synthesizer.step(segment(SENTENCE[a:], b - a, ends=True), state)
            out.append(len(speech.samples))
        lengths[k2] = out
    assert sum(lengths[0]) == sum(lengths[1]) == sum(lengths[2])
    assert lengths[1][0] == 0
    assert lengths[1][1] == lengths[0][0]
    assert lengths[2][:2] == [0, 0]


def test_silence_around_a_sentence_is_bounded() -> None:
    class Quiet(ToyVocoder):
        def step(self, final: Floats, right: Floats, state: Any, *, seed: int, ended: bool) -> Any:
            samples, kept = super().step(final, right, state, seed=seed, ended=ended)
            return np.where(np.repeat(np.arange(len(samples) // HOP) == 0, HOP), samples, 0).astype(
                np.float32
            ), kept

    synthesizer = TwoStage(
        ToyAcoustic(), Quiet(), sample_rate=8000, pauses=Pauses(lead_in=10, pause=333)
    )
    speech, state = synthesizer.step(
        segment(SENTENCE, 11, ends=True), synthesizer.initial(RENDERING)
    )
    audible = np.flatnonzero(np.abs(speech.samples) > 10 ** (-50 / 20))
    assert audible[0] <= 10
    assert len(speech.samples) - 1 - audible[-1] == 333
    assert state.progress.origin == state.progress.emitted == len(speech.samples)
